"""Stored catalogues are sound; which sentences they lack is a list until a release."""

from __future__ import annotations

import os
import re
import string
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError
from django.conf import settings
from django.utils import translation

from catalog.item_words import agreed
from parallax.catalogues import compiled_catalogues
from tests.translations import ROOT, catalogue, messages, texts_of, to_do

pytestmark = pytest.mark.unit

TRANSLATED = [code for code, _name in settings.LANGUAGES if code != "en"]


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


def test_sentences_that_are_missing_fuzzy_or_left_over_are_listed() -> None:
    written = Catalog("it")
    written.add("Yes", "Sì")
    written.add("Perhaps", "Magari", flags=["fuzzy"])
    written.add("Gone", "Andato")
    written.add(("%(n)s film", "%(n)s films"), ("%(n)s film", ""))
    wanted = {("Yes",): "a.html", ("Perhaps",): "a.html", ("No",): "b.py", ("%(n)s film", "%(n)s films"): "c.py"}
    assert to_do(wanted, written) == [
        "missing, from b.py: No",
        "missing, from c.py: %(n)s film",
        "fuzzy: Perhaps",
        "left over: Gone",
    ]


def test_the_list_fails_in_a_release_alone() -> None:
    lines = [line for language in TRANSLATED for line in to_do(messages(), catalogue(language))]
    for options, expected in (([], 0), (["--release"], int(bool(lines)))):
        listed = subprocess.run(
            [sys.executable, "-m", "tests.translations", *options],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert listed.returncode == expected, listed.stderr
        assert all(line in listed.stdout for line in lines)


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_keep_the_names_they_are_filled_with(language: str) -> None:
    for row in catalogue(language):
        if row.id:
            most = max((places(text) for text in texts_of(row.id)), key=len)
            for text in texts_of(row.string):
                assert set(places(text)) <= set(most), row.id
            assert places(texts_of(row.string)[-1]) == most, row.id
            ends = {texts_of(row.id)[-1][-1:], agreed(texts_of(row.string)[-1], "")[-1:]}
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
