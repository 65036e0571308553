from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import fields
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from studies.data.exports.export_files import FORMATS, write_export
from studies.data.exports.tables import Options
from studies.management.study_command import StudyCommand
from studies.monitoring.services.blinding import note_export


class Command(StudyCommand):
    help = "Write a study's data with codebook, counts, checksums, allocation log and flow to a folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument(
            "--format",
            choices=FORMATS,
            default="long",
            help="long: one row per participant and item; wide: one row per participant; psych-ds: a complete package",
        )
        parser.add_argument("--out", required=True, type=Path, help="folder; created if missing")
        parser.add_argument("--include-simulated", action="store_true", help="with simulated participants, marked")
        parser.add_argument(
            "--include-external-ids",
            "--with-identifying",
            action="store_true",
            help="include codes, ids of other sites and identifying answers; the files are named identifiable-true",
        )
        parser.add_argument(
            "--without-excluded",
            action="store_true",
            help="omit participants that analyses exclude, by hand or by the plan (default: include and mark them)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["slug"])
        chosen = Options(**{option.name: options[option.name] for option in fields(Options)})
        try:
            files = write_export(study, options["format"], options["out"], chosen)
        except OSError as problem:
            raise CommandError(f"{options['out']} cannot be written: {problem.strerror}.") from problem
        note_export(study=study, kind=options["format"], with_external_ids=chosen.include_external_ids)
        for file in files:
            rows = "" if file.n_rows is None else str(file.n_rows)
            self.stdout.write(f"{file.name:<64}{rows:>8}  {file.sha256[:12]}")
        if next((file.n_rows for file in files if file.n_rows is not None), None) == 0:
            hint = "" if chosen.include_simulated else " Simulated participants need `--include-simulated`."
            self.stderr.write(self.style.WARNING(f"Warning: no participant's data are in this export.{hint}"))
