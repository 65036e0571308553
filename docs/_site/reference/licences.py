"""Licences of the packages that an installation has, from their own metadata.

PYTHONPATH=docs/_site python -m reference.licences var/licences.md
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from reference.markdown import code, table

ROOT = Path(__file__).resolve().parents[3]
REQUIREMENTS = "requirements.txt"
NOT_INSTALLED, NOT_STATED = "not installed", "not stated"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s#]+)", re.MULTILINE)


def pins() -> dict[str, str]:
    """The pinned version of every package at run time, by name."""
    text = (ROOT / REQUIREMENTS).read_text(encoding="utf-8")
    return dict(sorted(_PIN.findall(text), key=lambda pin: pin[0].lower()))


def licence_of(name: str) -> str:
    """The licence that an installed package states: its expression, its classifiers, the name in words, or the text."""
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        return NOT_INSTALLED
    first_lines = (text.strip().split("\n", 1)[0].strip() for text in _statements(installed))
    return next(filter(None, first_lines), NOT_STATED)


def _statements(installed: Distribution) -> Iterator[str]:
    metadata = installed.metadata
    yield from metadata.get_all("License-Expression", [])
    classifiers = [line.split(" :: ") for line in metadata.get_all("Classifier", [])]
    yield ", ".join(parts[-1] for parts in classifiers if parts[0] == "License" and parts[-1] != "OSI Approved")
    yield from metadata.get_all("License", [])
    yield from (file.read_text() for file in installed.files or () if "licenses" in file.parts)


def entries() -> str:
    """A table of every pinned package with its licence.

    Raises ValueError if a package is not installed or states none.
    """
    licences = {name: licence_of(name) for name in pins()}
    if unknown := [name for name, licence in licences.items() if licence in {NOT_INSTALLED, NOT_STATED}]:
        raise ValueError(f"No licence is known of {', '.join(unknown)}.")
    rows = [(code(name), version, licences[name]) for name, version in pins().items()]
    return table(("package", "version", "licence"), rows)


def main(arguments: list[str]) -> None:
    """Write the table to a file, or print it."""
    text = f"# Licences of the packages in {REQUIREMENTS}\n\n{entries()}\n"
    if arguments:
        Path(arguments[0]).parent.mkdir(parents=True, exist_ok=True)
        Path(arguments[0]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
