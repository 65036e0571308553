"""Licences of the packages that an installation has, from their own metadata.

python -m parallax.reference.licence_entries var/licences.md
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from parallax.reference.markdown import code, table

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = "requirements.txt"
NOT_INSTALLED = "not installed"
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
    expression = _stated(installed, "License-Expression")
    return expression or _classified(installed) or _worded(installed) or _in_file(installed) or "not stated"


def _classified(installed: Distribution) -> str:
    classifiers = installed.metadata.get_all("Classifier") or []
    names = [line.rsplit(" :: ", 1)[-1] for line in classifiers if line.startswith("License :: ")]
    return ", ".join(name for name in names if name != "OSI Approved")


def _worded(installed: Distribution) -> str:
    lines = _stated(installed, "License").strip().splitlines()
    return lines[0].strip() if lines else ""


def _in_file(installed: Distribution) -> str:
    """The title of the licence's text."""
    files = (file for file in installed.files or () if "licenses" in file.parts)
    return next((file.read_text().split("\n", 1)[0].strip() for file in files), "")


def _stated(installed: Distribution, field: str) -> str:
    return installed.metadata[field] if field in installed.metadata else ""  # noqa: SIM401 -- its type has no get


def entries() -> str:
    """A table of every pinned package with its licence."""
    rows = [(code(name), version, licence_of(name)) for name, version in pins().items()]
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
