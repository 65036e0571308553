from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from studies.enums import Mode
from studies.models import Study
from studies.selectors.allocation import replayed_log
from studies.selectors.assignment_seed import seed_sentence


class Command(BaseCommand):
    help = "Make every assignment of a study again from its seed, method and order of arrival, and compare."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['slug']}.")
        problems = []
        for mode in (Mode.LIVE, Mode.SIMULATED):  # a preview may precede the launch, when the design still changes
            found = replayed_log(study, mode)
            self.stdout.write(f"{mode.label}: {found.n_lines:,} lines replayed, {found.n_holding:,} slots held.")
            if found.problem:
                problems.append(f"{mode.label}: {found.problem}")
        self.stdout.write(seed_sentence(study))
        if problems:
            raise CommandError("\n".join(problems))
        self.stdout.write("Every assignment came out as it was logged.")
