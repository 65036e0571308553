"""Download a public MovieLens dataset."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings

from catalog.importers.download import LICENCE, SETS, address_of, download
from core.commands import ParallaxCommand

SECONDS_BETWEEN_LINES = 0.2
LINE_WIDTH = 60


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
        self._written_at = 0.0
        try:
            result = download(
                options["url"] or address_of(name), folder, checksum=options["checksum"], progress=self._progress
            )
        finally:
            self._end_line()
        kind = "SHA-256" if len(result.checksum) == 64 else "MD5"
        what = "Already present" if result.was_there else "Downloaded"
        self.stdout.write(f"{result.path}\n  {result.n_bytes:,} bytes. {what}; {kind} {result.checksum} matches.")
        self.stdout.write(f"  {LICENCE}")
        self.stdout.write(f"  Import it with: .venv/bin/python manage.py import_dataset {result.path} --name {name}")

    def _progress(self, there: int, total: int | None) -> None:
        """Overwrite one progress line; write nothing if the output is not a terminal."""
        if not self.stdout.isatty() or time.monotonic() - self._written_at < SECONDS_BETWEEN_LINES:
            return
        self._written_at = time.monotonic()
        of = f" of {total / 1e6:,.1f}" if total is not None else ""
        self.stdout.write(f"\r{f'{there / 1e6:,.1f}{of} MB':<{LINE_WIDTH}}", ending="")
        self.stdout.flush()

    def _end_line(self) -> None:
        if self._written_at:
            self.stdout.write("\r" + " " * LINE_WIDTH + "\r", ending="")
