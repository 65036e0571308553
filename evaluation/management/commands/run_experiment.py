"""Run a shipped experiment, or one of your own, on a dataset, and write its outcome."""

from __future__ import annotations

import signal
from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from catalog.selectors.datasets import newest_version
from core.errors import ParallaxError
from evaluation.enums import RunStatus
from evaluation.experiments.outcome import SYNTHETIC
from evaluation.experiments.reading import load, shipped
from evaluation.management.arguments import at_least_one
from evaluation.management.watching import cancel, interrupt, say_started, watch
from evaluation.models import EvaluationRun
from evaluation.selectors.candidates import candidate_warning
from evaluation.selectors.runs import failed_algorithms
from evaluation.services.crew import Crew, new_queue, workers_to_start
from evaluation.services.experiment_files import Written, write_experiment
from evaluation.services.experiments import plan_experiment, read_experiment, run_of_plan


class Command(BaseCommand):
    help = (
        "Run an experiment on a dataset and write its tables, figures and which of its claims hold. Started again, "
        "it goes on where it stopped, and takes finished runs with the same inputs as they are."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", metavar="NAME", help=f"{', '.join(shipped())}; or the path of a .yaml")
        parser.add_argument("--list", action="store_true", help="say what each shipped experiment asks, and stop")
        parser.add_argument("--dataset", metavar="NAME", help="name of the dataset; its newest version is used")
        parser.add_argument("--out", type=Path, metavar="DIR", help="folder to write to; it is made if need be")
        parser.add_argument("--seed", type=int, help="another seed than the experiment's")
        parser.add_argument(
            "--threads", type=at_least_one, help="numeric threads of each worker (default: NUMERIC_THREADS)"
        )
        parser.add_argument(
            "--workers",
            type=at_least_one,
            help="start this many workers, and stop them afterwards (default: the workers that run, else 2)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            for name in shipped():
                experiment = load(name)
                self.stdout.write(f"{name}\n    {experiment.title}. {experiment.question}")
            return
        missing = [name for name in ("name", "dataset", "out") if not options[name]]
        if missing:
            words = {"name": "the name of an experiment", "dataset": "--dataset NAME", "out": "--out DIR"}
            raise CommandError(f"Missing: {', '.join(words[name] for name in missing)}.")
        if options["out"].exists() and not options["out"].is_dir():
            raise CommandError(f"{options['out']} is a file; --out names a folder.")
        before = signal.signal(signal.SIGTERM, interrupt)
        try:
            written = self._run(options)
        except ParallaxError as problem:
            raise CommandError(str(problem)) from problem
        except KeyboardInterrupt:
            raise CommandError(
                "Stopped. Start the command again to go on; what is done stays done.", returncode=130
            ) from None
        finally:
            signal.signal(signal.SIGTERM, before)
        if written.is_synthetic:
            self.stdout.write(SYNTHETIC)
        for one in written.judgements:
            self.stdout.write(f"{one.verdict}: {one.claim.says}")
        self.stdout.write(f"Written to {options['out']}: outcome.html, outcome.md, experiment.json, tables, figures.")

    def _run(self, options: dict[str, Any]) -> Written:
        experiment = read_experiment(name=options["name"])
        version = newest_version(options["dataset"])
        threads = options["threads"] or settings.NUMERIC_THREADS
        planned = plan_experiment(experiment=experiment, version=version, seed=options["seed"], threads=threads)
        runs_of = "one run" if len(planned) == 1 else f"{len(planned)} runs"
        self.stdout.write(f"{experiment.title}, on {version}: {runs_of}.")
        runs = {}
        with ExitStack() as stack:
            workers = workers_to_start(options["workers"])
            queue = new_queue() if workers else ""
            crew: Crew | None = None
            for key, one in planned.items():
                run = run_of_plan(
                    experiment=experiment,
                    planned=one,
                    version=version,
                    seed=options["seed"],
                    threads=threads,
                    queue=queue,
                )
                if run.status == RunStatus.SUCCEEDED:
                    self.stdout.write(f"{one.plan.title}: run {run.pk} has the same inputs and is taken as it is.")
                else:
                    self.stdout.write(f"{one.plan.title}: run {run.pk}.")
                    if warning := candidate_warning(version, run.protocol, run.split):
                        self.stdout.write(f"Warning: {warning}")
                    if workers and crew is None:
                        if options["workers"] is None:
                            say_started(workers, self.stdout)
                        crew = stack.enter_context(Crew(size=workers, queue=queue, threads=threads))
                    self._finish(run, crew)
                runs[key] = run
        return write_experiment(experiment=experiment, runs=runs, folder=options["out"])

    def _finish(self, run: EvaluationRun, crew: Crew | None) -> None:
        try:
            watch(run, crew, self.stdout)
        except BaseException:
            cancel(run)
            raise
        if run.status != RunStatus.SUCCEEDED:
            reason = run.error or f"It was {run.get_status_display().lower()}."
            raise ParallaxError("experiment.run_failed", f"Run {run.pk} did not finish. {reason}")
        failed = failed_algorithms(run)
        if failed:
            reasons = " ".join(f"{one.label}: {one.error}" for one in failed)
            raise ParallaxError(
                "experiment.run_failed", f"Run {run.pk} lacks algorithms that the experiment compares. {reasons}"
            )
