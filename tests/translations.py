"""The sentences that participants can meet, and those that a language's catalogue lacks.

    .venv/bin/python -m tests.translations [--release]

lists them by language; with --release, the exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = ("templates/base.html", "templates/participant/**/*.html")
CODE = (
    "studies/participation/views/*.py",
    "studies/*/services/*.py",
    "studies/*/selectors/*.py",
    "studies/instrument/questionnaires/**/*.py",
    "parallax/error_pages.py",
)
CALLS = {"_", "gettext", "gettext_lazy", "gettext_noop"}
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
    from django.utils.translation.template import templatize

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
    """The stored catalogue of a language. Raises PoFileError if it is damaged."""
    with (ROOT / "locale" / language / "LC_MESSAGES" / "django.po").open("rb") as text:
        return read_po(text, abort_invalid=True)


def texts_of(text: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


def to_do(wanted: dict[Message, str], written: Catalog) -> list[str]:
    """A line for each sentence that is missing, fuzzy or left over."""
    lines = [
        f"missing, from {where}: {message[0]}"
        for message, where in wanted.items()
        if not (row := written.get(message[0])) or not row.string or not all(texts_of(row.string))
    ]
    known = {message[0] for message in wanted}
    for row in written:
        if row.id and row.fuzzy:
            lines.append(f"fuzzy: {texts_of(row.id)[0]}")
        if row.id and texts_of(row.id)[0] not in known:
            lines.append(f"left over: {texts_of(row.id)[0]}")
    return lines + [f"obsolete: {name}" for name in written.obsolete]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--release", action="store_true", help="fail if there is something to do")
    is_release = asked.parse_args().release
    languages = sorted(folder.name for folder in (ROOT / "locale").iterdir())
    found = {language: to_do(messages(), catalogue(language)) for language in languages}
    for language, lines in found.items():
        print(f"{language}: {len(lines)} to do", *lines, sep="\n  ")  # noqa: T201 -- a program of the command line
    if is_release and any(found.values()):
        sys.exit("Translate these sentences in locale/, and remove those left over, before the release.")


if __name__ == "__main__":
    main()
