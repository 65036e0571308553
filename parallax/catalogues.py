"""Message catalogues: the .po files of the project, compiled where the installation may write.

A fresh machine has no gettext, and an image may be read-only; so the catalogues are compiled in Python at the first
start, into a folder named by their content, and a new release never meets the catalogue of an old one.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


def compiled_catalogues(source: Path, target: Path) -> Path:
    """Return the folder under `target` that holds every catalogue of `source` compiled, making it where it lacks.

    Processes that start at the same instant write the same bytes; each file appears whole or not at all.
    """
    catalogues = sorted(source.glob("*/LC_MESSAGES/*.po"))
    digest = hashlib.sha256()
    for catalogue in catalogues:
        digest.update(f"{catalogue.relative_to(source)}\n".encode() + catalogue.read_bytes())
    folder = target / digest.hexdigest()[:16]
    for catalogue in catalogues:
        compiled = (folder / catalogue.relative_to(source)).with_suffix(".mo")
        if not compiled.exists():
            compiled.parent.mkdir(parents=True, exist_ok=True)
            _compile(catalogue, compiled)
    return folder


def _compile(catalogue: Path, compiled: Path) -> None:
    # Only the first start of a release compiles; the others need not load the compiler.
    from babel.messages.mofile import write_mo  # noqa: PLC0415 -- see above
    from babel.messages.pofile import read_po  # noqa: PLC0415 -- see above

    with catalogue.open("rb") as text:
        messages = read_po(text, abort_invalid=True)
    descriptor, temporary = tempfile.mkstemp(dir=compiled.parent, suffix=".part")
    with os.fdopen(descriptor, "wb") as binary:
        write_mo(binary, messages)
    Path(temporary).replace(compiled)
