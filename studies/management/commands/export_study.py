from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import ParallaxError
from studies.exports import FORMATS, export_files, write_files
from studies.models import Study


class Command(BaseCommand):
    help = "Write a study's data with codebook, counts and checksums to a folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument(
            "--format", choices=FORMATS, default="long", help="a row for each item, or each participant"
        )
        parser.add_argument("--out", required=True, type=Path, help="folder; made where it is missing")
        parser.add_argument("--include-simulated", action="store_true", help="with simulated participants, marked")
        parser.add_argument("--with-identifying", action="store_true", help="with the participants' codes")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.select_related("dataset_version__dataset").filter(slug=options["slug"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['slug']}.")
        try:
            files = export_files(
                study,
                options["format"],
                include_simulated=options["include_simulated"],
                with_identifying=options["with_identifying"],
            )
            write_files(files, options["out"])
        except ParallaxError as refusal:
            raise CommandError(str(refusal)) from refusal
        except OSError as problem:
            raise CommandError(f"{options['out']} cannot be written: {problem.strerror}.") from problem
        for file in files:
            rows = "" if file.n_rows is None else str(file.n_rows)
            self.stdout.write(f"{file.name:<48}{rows:>8}  {file.sha256[:12]}")
