from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.commands import ParallaxCommand
from parallax.backup.archive import check_digest
from parallax.backup.encryption import decrypted, scratch_folder
from parallax.backup.trial import try_restore


class Command(ParallaxCommand):
    help = (
        "Try a backup: compare it with the digest beside it, decrypt it, restore it into a temporary folder (and a "
        "temporary PostgreSQL database), and check the integrity of its data. Nothing remains of it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a file that `backup` has written")
        parser.add_argument("--key", type=Path, help="the private key, as `age-keygen` wrote it")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"].absolute()
        try:
            check_digest(path)
            with scratch_folder() as folder:
                problems = try_restore(decrypted(path, options["key"], folder), folder / "trial", self.stdout.write)
        except FileNotFoundError as refusal:
            raise CommandError(str(refusal)) from refusal
        if problems:
            raise CommandError("\n".join([f"{path} has {len(problems)} problems:", *problems]))
        self.stdout.write(f"{path}: no problems found.")
