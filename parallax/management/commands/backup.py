from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import ParallaxError
from parallax.backup.creation import create_backup


class Command(BaseCommand):
    help = (
        "Back up the database, stored files and the secret key into one file (ZIP), while Parallax is running. The "
        "file holds personal data and the secret key: store it as safely as the installation."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the new file, such as parallax-2026-11-25.zip")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"].absolute()
        try:
            manifest = create_backup(path, self.stdout.write)
        except ParallaxError as refusal:
            raise CommandError(str(refusal)) from refusal
        rows = sum(manifest.database.counts.values())
        self.stdout.write(f"{path}: {rows:,} rows and {len(manifest.files) - 2:,} files.")
