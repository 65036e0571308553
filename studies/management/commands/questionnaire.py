"""Check a questionnaire's document, export a study's, import one into a draft."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.errors import ParallaxError
from studies.design.services.questionnaires import import_questionnaire
from studies.instrument.questionnaires.core import core_problems
from studies.instrument.questionnaires.document import DocumentProblems, read_document, write_document
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.management.study_command import StudyCommand


class Command(StudyCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        check = acts.add_parser("check", help="List the errors of a document by line.")
        check.add_argument("file", type=Path)
        export = acts.add_parser("export", help="Write a study's questionnaire as YAML.")
        export.add_argument("slug")
        export.add_argument("--out", type=Path, help="The file to write (default: standard output).")
        take = acts.add_parser("import", help="Replace a draft's questionnaire with a document.")
        take.add_argument("slug")
        take.add_argument("file", type=Path)

    def sentence(self, refusal: ParallaxError) -> str:
        return "\n".join(refusal.problems)

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['act']}")(**options)

    def _text(self, file: Path) -> str:
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise CommandError(f"{file} cannot be read: {problem}. Give a text file in UTF-8.") from problem

    def _check(self, *, file: Path, **_options: Any) -> None:
        try:
            data = read_document(self._text(file))
        except DocumentProblems as problem:
            raise CommandError(f"{file}:\n{problem}") from problem
        parsed = questionnaire_from(data)
        for lack in core_problems(parsed):
            self.stdout.write(f"Note: {lack}")
        n, m = len(parsed.questions), len(parsed.scales)
        self.stdout.write(f"{file} is valid: {n} questions and {m} scales.")

    def _export(self, *, slug: str, out: Path | None, **_options: Any) -> None:
        text = write_document(self.study(slug).questionnaire)
        if out is None:
            self.stdout.write(text, ending="")
            return
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as problem:
            raise CommandError(f"{out} cannot be written: {problem}.") from problem
        self.stdout.write(f"Wrote {out}.")

    def _import(self, *, slug: str, file: Path, **_options: Any) -> None:
        study = self.study(slug)
        import_questionnaire(study=study, text=self._text(file))
        self.stdout.write(f"The questionnaire of {slug} was replaced by {file}.")
