from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.commands import ParallaxCommand
from parallax.backup.restoration import restore_backup


class Command(ParallaxCommand):
    help = "Restore a backup into an empty installation. Stop the web server and all workers first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a file that `backup` has written")
        parser.add_argument("--replace", action="store_true", help="delete the data of this installation")

        parser.add_argument("--key", type=Path, help="the private key of an encrypted backup, as `age-keygen` wrote it")
        erasures = "a list of erasures (erasures.txt) from beside a later backup; that of PARALLAX_VAR is read anyway"
        parser.add_argument("--erasures", type=Path, action="append", default=[], help=erasures)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = restore_backup(
                options["file"].absolute(),
                is_replacing=options["replace"],
                progress=self.stdout.write,
                key=options["key"],
                erasure_lists=options["erasures"],
            )
        except FileNotFoundError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Restored the backup of {manifest.created_at}. Run check_integrity to verify the data.")
        if "artefacts" not in manifest.storages:
            self.stdout.write("The backup holds no artefacts: the storage must be the one of that installation.")
