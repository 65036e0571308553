from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import ParallaxError
from studies.selectors.texts import study_by_slug
from studies.services.pilot import Progress, walk_group


class Command(BaseCommand):
    help = (
        "Walk simulated participants through the real pages of a launched study, over HTTP. They answer from the "
        "ratings of users reserved from every model; what is modelled is marked, and none of it is evidence "
        "about people."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--per-condition", type=int, default=30)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--parallel", type=int, default=2, help="participants at the same time")
        parser.add_argument("--base-url", default="http://127.0.0.1:8000/")

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_by_slug(options["slug"])
        if study is None:
            raise CommandError(f"There is no study called {options['slug']!r}.")
        self.started = time.monotonic()
        try:
            end = walk_group(
                study=study,
                per_condition=options["per_condition"],
                seed=options["seed"],
                base_url=options["base_url"],
                parallel=max(1, options["parallel"]),
                tell=self.tell,
            )
        except ParallaxError as refusal:
            self.stdout.write("")
            raise CommandError(str(refusal)) from refusal
        seconds = time.monotonic() - self.started
        self.stdout.write(
            f"\n{end.finished} of {end.total} simulated participants completed the study; "
            f"{end.n_requests} requests in {seconds:.1f} s ({end.n_requests / max(seconds, 1e-9):.0f} a second)."
        )
        for row in study.conditions.all():
            n = row.participants.filter(mode="simulated", status="completed").count()
            self.stdout.write(f"  {row.label:<14}{n:>4}")

    def tell(self, progress: Progress) -> None:
        """One line that renews itself on a terminal, and one in ten elsewhere."""
        line = f"  {progress.finished} of {progress.total} participants, {time.monotonic() - self.started:.0f} s"
        if self.stdout.isatty():
            self.stdout.write(f"\r{line}", ending="")
            self.stdout.flush()
        elif progress.finished % max(1, progress.total // 10) == 0:
            self.stdout.write(line)
