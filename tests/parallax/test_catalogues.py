"""Every string that a participant can meet is in each catalogue, translated and current."""

from __future__ import annotations

import ast
import os
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po
from django.conf import settings
from django.utils import translation
from django.utils.translation.template import templatize

from catalog.item_words import agreed
from parallax.catalogues import compiled_catalogues

pytestmark = pytest.mark.unit

ROOT = Path(settings.BASE_DIR)
TEMPLATES = ("templates/base.html", "templates/participant/**/*.html")
CODE = (
    "studies/participation/views/*.py",
    "studies/participation/forms.py",
    "studies/*/services/*.py",
    "studies/*/selectors/*.py",
    "parallax/refusals.py",
    "parallax/error_pages.py",
)
CALLS = {"_", "gettext", "gettext_lazy", "gettext_noop"}
TRANSLATED = [code for code, _name in settings.LANGUAGES if code != "en"]
Message = tuple[str, ...]  # a text, or a singular and a plural


def in_python(source: str) -> Iterator[Message]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            texts = tuple(a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str))
            if node.func.id in CALLS and texts:
                yield texts[:1]
            elif node.func.id in {"ngettext", "ngettext_lazy"}:
                yield texts[:2]


def in_template(source: str) -> Iterator[Message]:
    literal = r"""(u?'(?:[^'\\]|\\.)*'|u?"(?:[^"\\]|\\.)*")"""
    for found in re.finditer(rf"\b(n?gettext|_)\({literal}(?:, {literal})?", templatize(source)):
        # Outside blocktranslate Django looks a text up as it stands, without doubled per cents.
        texts = tuple(ast.literal_eval(text) for text in found.groups()[1:] if text)
        yield texts if found[1] == "ngettext" else texts[:1]


def messages() -> dict[Message, str]:
    """Every message that participants can meet, and a file that says it."""
    found: dict[Message, str] = {}
    for patterns, extract in ((TEMPLATES, in_template), (CODE, in_python)):
        for file in sorted(file for pattern in patterns for file in ROOT.glob(pattern)):
            for message in extract(file.read_text(encoding="utf-8")):
                found.setdefault(message, str(file.relative_to(ROOT)))
    return found


def catalogue(language: str) -> Catalog:
    with (ROOT / "locale" / language / "LC_MESSAGES" / "django.po").open("rb") as text:
        return read_po(text, abort_invalid=True)


def places(text: str) -> list[str]:
    """What a text leaves open, by name."""
    return sorted(re.findall(r"%\(\w+\)[sd]", text))


def test_the_extraction_sees_templates_and_code() -> None:
    found = messages()
    assert len(found) > 90
    assert ("Take part",) in found
    assert ("Clear",) in found
    assert ("Rate %(rated_items)s you know",) in found
    assert ("%(shown)s result", "%(shown)s results") in found
    assert ("A rating is a point of the scale from %(low)s to %(high)s.",) in found


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_message_is_translated_and_none_is_left_over(language: str) -> None:
    wanted, written = messages(), catalogue(language)
    lacking = [
        (where, message)
        for message, where in wanted.items()
        if not (row := written.get(message[0])) or not row.string or not all(_as_tuple(row.string))
    ]
    assert lacking == []
    assert [row.id for row in written if row.id and row.fuzzy] == []
    known = {message[0] for message in wanted}
    assert [row.id for row in written if row.id and _as_tuple(row.id)[0] not in known] == []
    assert len(written.obsolete) == 0


def _as_tuple(text: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_keep_the_names_they_are_filled_with(language: str) -> None:
    for row in catalogue(language):
        if row.id:
            most = max((places(text) for text in _as_tuple(row.id)), key=len)
            for text in _as_tuple(row.string):
                assert set(places(text)) <= set(most), row.id
            assert places(_as_tuple(row.string)[-1]) == most, row.id
            ends = {_as_tuple(row.id)[-1][-1:], agreed(_as_tuple(row.string)[-1], "")[-1:]}
            assert len(ends & set(string.punctuation)) in (0, len(ends)), row.id


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_installation_speaks_it(language: str) -> None:
    with translation.override(language):
        assert translation.gettext("Take part") == catalogue(language).get("Take part").string != "Take part"


def _po(folder: Path, text: str) -> Path:
    file = folder / "it" / "LC_MESSAGES" / "django.po"
    file.parent.mkdir(parents=True, exist_ok=True)
    head = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    file.write_text(head + text, encoding="utf-8")
    return folder


def test_catalogues_are_compiled_once_for_each_content(tmp_path: Path) -> None:
    source, target = _po(tmp_path / "source", 'msgid "Yes"\nmsgstr "Sì"\n'), tmp_path / "target"
    first = compiled_catalogues(source, target)
    made = first / "it" / "LC_MESSAGES" / "django.mo"
    assert "Sì".encode() in made.read_bytes()
    os.utime(made, (1, 1))
    assert compiled_catalogues(source, target) == first
    assert made.stat().st_mtime == 1
    second = compiled_catalogues(_po(source, 'msgid "Yes"\nmsgstr "Certo"\n'), target)
    assert second != first
    assert made.exists()
    assert [file.name for file in second.rglob("*") if file.is_file()] == ["django.mo"]


def test_a_damaged_catalogue_stops_the_start(tmp_path: Path) -> None:
    source = _po(tmp_path / "source", 'msgid "Yes"\nmsgstr "Sì\nmsgid\n')
    with pytest.raises(PoFileError):
        compiled_catalogues(source, tmp_path / "target")
    assert not list((tmp_path / "target").rglob("*.mo"))
