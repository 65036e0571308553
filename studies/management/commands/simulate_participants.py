from __future__ import annotations

import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import CommandError
from django.db.models import QuerySet

from core.errors import ParallaxError, ParameterError
from core.site_address import running_site
from studies.allocation.selectors.allocations import n_occasions
from studies.design.services.trials import remove_simulated
from studies.enums import Mode, ParticipantStatus
from studies.instrument.flow import questionnaire_of
from studies.management.study_command import StudyCommand
from studies.models import Participant, Study
from studies.monitoring.selectors.exclusions import by_frequency, exclusions, planned_rule
from studies.monitoring.selectors.outcomes import outcomes_of, scale_means_of
from studies.settings import SCALE_PREFIX
from studies.simulation.answer_model import Effect
from studies.simulation.planted_effects import causes_of, effects_from, planted_sentence
from studies.simulation.services.pilot import Progress, walk_group


class Command(StudyCommand):
    help = (
        "Walk simulated participants through the real pages of a study, over HTTP, launched or a draft that could be. "
        "They answer from the ratings of users reserved from every model; what is modelled is marked, and none of it "
        "is evidence about people."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--per-condition", type=int, default=30)
        parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same people and answers")
        parser.add_argument("--parallel", type=int, default=8, help="participants at the same time")
        parser.add_argument("--base-url", help="address of the site (default: the one that runs here)")
        parser.add_argument(
            "--effects",
            type=Path,
            help="YAML of shifts to plant: condition, then accuracy, satisfaction, fon, son or scale.KEY",
        )
        parser.add_argument("--remove", action="store_true", help="remove every simulated participant instead")

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["slug"])
        if options["parallel"] < 1:
            raise CommandError("At least one participant has to walk: --parallel is 1 or more.")
        if options["remove"]:
            n = remove_simulated(study=study)
            self.stdout.write(f"{n} simulated participants of {study.slug} are removed.")
            return
        effects = self.effects(options["effects"], study)
        self.started = time.monotonic()
        try:
            end = walk_group(
                study=study,
                per_condition=options["per_condition"],
                seed=options["seed"],
                base_url=options["base_url"] or running_site(),
                parallel=options["parallel"],
                progress=self.print_progress,
                effects=effects,
            )
        except ParallaxError:
            self.stdout.write("")  # the line of the progress ends
            raise
        self.summary(study, end, effects)

    def effects(self, file: Path | None, study: Study) -> dict[str, Effect]:
        if file is None:
            return {}
        try:
            shifts = yaml.safe_load(file.read_text(encoding="utf-8"))
            labels = list(study.conditions.order_by("position").values_list("label", flat=True))
            return effects_from(shifts, causes_of(labels, n_occasions(study)), questionnaire_of(study))
        except OSError as problem:
            raise CommandError(f"{file} cannot be read: {problem.strerror}.") from problem
        except (yaml.YAMLError, UnicodeDecodeError) as problem:
            raise CommandError(f"{file} is not valid YAML: {problem}") from problem
        except ParameterError as problem:
            raise CommandError(f"{file}: {problem}") from problem

    def summary(self, study: Study, end: Progress, effects: dict[str, Effect]) -> None:
        seconds = time.monotonic() - self.started
        self.stdout.write(
            f"\n{end.finished} of {end.total} simulated participants completed the study; "
            f"{end.n_requests} requests in {seconds:.1f} s ({end.n_requests / max(seconds, 1e-9):.0f} a second)."
        )
        people = Participant.objects.filter(study=study, mode=Mode.SIMULATED)
        statuses = Counter(people.values_list("status", flat=True))
        incomplete = {status: n for status, n in statuses.items() if status != ParticipantStatus.COMPLETED}
        if incomplete:
            listed = ", ".join(f"{n} {status}" for status, n in sorted(incomplete.items()))
            self.stdout.write(f"Not completed: {listed}")
        self.stdout.write(self.exclusion_summary(study, people.filter(status=ParticipantStatus.COMPLETED)))
        if effects:
            self.stdout.write(planted_sentence(effects))
        if lines := outcomes_of(study, Mode.SIMULATED):
            self.stdout.write(f"  {'condition':<14}{'n':>4}{'accuracy':>10}{'FON':>7}{'SON':>7}{'satisfaction':>14}")
        for line in lines:
            means = "".join(
                f"{'–' if value is None else f'{value:.2f}':>{width}}"
                for value, width in ((line.accuracy, 10), (line.fon, 7), (line.son, 7), (line.satisfaction, 14))
            )
            self.stdout.write(f"  {line.condition:<14}{line.n:>4}{means}")
        planted = {name.removeprefix(SCALE_PREFIX) for effect in effects.values() for name in effect}
        for key, by_condition in scale_means_of(study, planted, Mode.SIMULATED).items():
            means = ", ".join(
                f"{label} {'–' if mean is None else f'{mean:.2f}'}" for label, mean in by_condition.items()
            )
            self.stdout.write(f"  scale.{key}: {means}")

    def exclusion_summary(self, study: Study, completed: QuerySet[Participant]) -> str:
        rule, n = planned_rule(study), completed.count()
        if not rule:
            return f"The plan has no exclusion rule, so all {n} would be analysed."
        excluded = exclusions(study, [Mode.SIMULATED], by_hand=False, rule=rule)
        reasons = [excluded[pk][1] for pk in completed.values_list("pk", flat=True) if pk in excluded]
        if not reasons:
            return f"The plan excludes none of the {n}."
        listed = ", ".join(f"{count} {reason}" for reason, count in by_frequency(reasons))
        return f"The plan excludes {len(reasons)} of the {n}: {listed}."

    def print_progress(self, progress: Progress) -> None:
        line = f"  {progress.finished} of {progress.total} participants, {time.monotonic() - self.started:.0f} s"
        if self.stdout.isatty():
            self.stdout.write(f"\r{line}", ending="")
            self.stdout.flush()
        elif progress.finished % max(1, progress.total // 10) == 0:
            self.stdout.write(line)
