"""Download a public MovieLens dataset."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings

from catalog.importers.download import LICENCE, SETS, address_of, download
from catalog.management.version_command import ImportLine
from core.commands import ParallaxCommand


class Command(ParallaxCommand):
    help = (
        "Download a MovieLens dataset and verify its published checksum. Run again to resume an interrupted download."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        sets = "; ".join(f"{name}: {what}" for name, what in SETS.items())
        parser.add_argument("set", choices=SETS, metavar="SET", help=sets)
        parser.add_argument("--url", help="another address of the same archive; its checksum is read from URL.md5")
        parser.add_argument("--checksum", metavar="HEX", help="MD5 or SHA-256, if URL.md5 does not contain it")
        parser.add_argument("--dir", type=Path, help="target folder (default: downloads in the data folder)")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["set"]
        folder: Path = options["dir"] or Path(settings.VAR_DIR) / "downloads"
        line = ImportLine(self.stdout)
        try:
            result = download(
                options["url"] or address_of(name),
                folder,
                checksum=options["checksum"],
                progress=partial(line.update, f"Downloading {name}"),
            )
        finally:
            line.clear()
        kind = "SHA-256" if len(result.checksum) == 64 else "MD5"
        what = "Already present" if result.was_there else "Downloaded"
        self.stdout.write(f"{result.path}\n  {result.n_bytes:,} bytes. {what}; {kind} {result.checksum} matches.")
        self.stdout.write(f"  {LICENCE}")
        self.stdout.write(f"  Import it with: .venv/bin/python manage.py import_dataset {result.path} --name {name}")
