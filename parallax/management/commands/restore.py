from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import ParallaxError
from parallax.backup.restoration import restore_backup


class Command(BaseCommand):
    help = "Restore a backup into an empty installation. Stop the web server and all workers first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a file that `backup` has written")
        parser.add_argument("--replace", action="store_true", help="delete the data of this installation")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = restore_backup(options["file"], is_replacing=options["replace"], progress=self.stdout.write)
        except ParallaxError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Restored the backup of {manifest.created_at}. Run check_integrity to verify the data.")
        if "artefacts" not in manifest.storages:
            self.stdout.write("The backup holds no artefacts: the storage must be the one of that installation.")
