"""Fetch a public MovieLens set: whole and checked, or not at all."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from catalog.importers.download import LICENCE, SETS, DownloadFailed, address_of, download
from core.errors import ParameterError

SECONDS_BETWEEN_LINES = 0.2
LINE_WIDTH = 60


class Command(BaseCommand):
    help = "Download a MovieLens set, checked against its published sum; run again, it goes on where it ended."

    def add_arguments(self, parser: ArgumentParser) -> None:
        sets = "; ".join(f"{name}: {what}" for name, what in SETS.items())
        parser.add_argument("set", choices=SETS, metavar="SET", help=sets)
        parser.add_argument("--url", help="another address of the same archive; its sum is looked for at URL.md5")
        parser.add_argument("--checksum", metavar="HEX", help="MD5 or SHA-256, where URL.md5 does not hold it")
        parser.add_argument("--dir", type=Path, help="where to (default: downloads under the installation's var)")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["set"]
        folder: Path = options["dir"] or Path(settings.VAR_DIR) / "downloads"
        self._said = 0.0
        try:
            found = download(
                options["url"] or address_of(name), folder, checksum=options["checksum"], progress=self._progress
            )
        except (DownloadFailed, ParameterError) as problem:
            self._end_line()
            raise CommandError(str(problem)) from problem
        self._end_line()
        kind = "SHA-256" if len(found.checksum) == 64 else "MD5"
        what = "It was there already and is" if found.was_there else "Downloaded and"
        self.stdout.write(f"{found.path}\n  {found.n_bytes:,} bytes. {what} right by its {kind} {found.checksum}.")
        self.stdout.write(f"  {LICENCE}")
        self.stdout.write(f"  Import it by: .venv/bin/python manage.py import_dataset {found.path} --name {name}")

    def _progress(self, there: int, total: int | None) -> None:
        """One line that is written over; nothing where the output is no terminal."""
        if not self.stdout.isatty() or time.monotonic() - self._said < SECONDS_BETWEEN_LINES:
            return
        self._said = time.monotonic()
        of = f" of {total / 1e6:,.1f}" if total is not None else ""
        self.stdout.write(f"\r{f'{there / 1e6:,.1f}{of} MB':<{LINE_WIDTH}}", ending="")
        self.stdout.flush()

    def _end_line(self) -> None:
        if self._said:
            self.stdout.write("\r" + " " * LINE_WIDTH + "\r", ending="")
