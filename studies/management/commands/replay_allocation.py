from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from studies.allocation.selectors.allocations import replayed_log
from studies.allocation.selectors.assignment_seed import seed_sentence
from studies.enums import Mode
from studies.management.study_command import StudyCommand


class Command(StudyCommand):
    help = "Recompute every assignment of a study from its seed, method and arrival order, and compare it with the log."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["slug"])
        problems = []
        for mode in (Mode.LIVE, Mode.SIMULATED):  # a preview may precede the launch, when the design still changes
            replay = replayed_log(study, mode)
            self.stdout.write(f"{mode.label}: {replay.n_lines:,} lines replayed, {replay.n_holding:,} slots held.")
            if replay.problem:
                problems.append(f"{mode.label}: {replay.problem}")
        self.stdout.write(seed_sentence(study))
        if problems:
            raise CommandError("\n".join(problems))
        self.stdout.write("Every assignment matches the log.")
