from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from core.commands import ParallaxCommand
from parallax.backup.creation import create_backup


class Command(ParallaxCommand):
    help = (
        "Back up the database, stored files and the secret key into one file, while Parallax is running: restored once "
        "as a trial, encrypted to the public key in PARALLAX_BACKUP_RECIPIENT, and copied to PARALLAX_BACKUP_S3. "
        "Without a public key the file is a ZIP that anyone can read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            help="the new file, such as parallax-2026-11-25.zip; .age is appended to an encrypted one",
        )
        parser.add_argument(
            "--skip-trial", action="store_true", help="skip the trial restore, for which the data are stored twice"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"].absolute()
        if settings.BACKUP_RECIPIENT and path.suffix != ".age":
            path = path.with_name(f"{path.name}.age")
        manifest, problems = create_backup(path, self.stdout.write, is_tried=not options["skip_trial"])
        rows = sum(manifest.database.counts.values())
        self.stdout.write(f"{path}: {rows:,} rows and {len(manifest.files) - 2:,} files.")
        if not settings.BACKUP_RECIPIENT:
            self.stderr.write(
                "The backup is not encrypted, and holds personal data and the secret key. Set "
                "PARALLAX_BACKUP_RECIPIENT to a public key of age."
            )
        if problems:
            raise CommandError("\n".join(["The backup is complete. Its trial restore found problems:", *problems]))
