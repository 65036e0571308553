"""Run a shipped or custom experiment on a dataset, and write its outcome."""

from __future__ import annotations

import signal
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from catalog.selectors.datasets import newest_version
from core.commands import ParallaxCommand
from core.errors import ParallaxError
from evaluation.enums import RunStatus
from evaluation.experiments.yaml_loader import load, shipped
from evaluation.management.arguments import at_least_one
from evaluation.management.progress_line import ProgressLine
from evaluation.management.run_monitor import MonitoredRuns, interrupt
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import candidate_warning
from evaluation.selectors.runs import failed_algorithms
from evaluation.services.experiment_files import WrittenOutcome, write_experiment
from evaluation.services.experiment_outcome import SYNTHETIC
from evaluation.services.experiments import plan_experiment, read_experiment, run_of_plan
from evaluation.services.model_size import with_chosen_sizes


class Command(ParallaxCommand):
    help = (
        "Run an experiment on a dataset and write its tables, its figures and the verdicts on its claims. Run the "
        "command again to resume it; finished runs with the same inputs are reused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", metavar="NAME", help=f"{', '.join(shipped())}; or the path of a .yaml")
        parser.add_argument("--list", action="store_true", help="list the shipped experiments with their questions")
        parser.add_argument("--dataset", metavar="NAME", help="name of the dataset; its newest version is used")
        parser.add_argument("--out", type=Path, metavar="DIR", help="output folder; created if missing")
        parser.add_argument("--seed", type=int, help="seed (default: the experiment's)")
        parser.add_argument(
            "--threads", type=at_least_one, help="numeric threads of each worker (default: NUMERIC_THREADS)"
        )
        parser.add_argument(
            "--workers",
            type=at_least_one,
            help="start this many workers, and stop them afterwards (default: running workers, or 2)",
        )

        parser.add_argument(
            "--default-sizes",
            action="store_true",
            help="use default sizes (dimensions, classes) where the experiment chooses them; faster",
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
            outcome = self._run(options)
        except KeyboardInterrupt:
            raise CommandError(
                "Stopped. Run the command again to resume; finished work is kept.", returncode=130
            ) from None
        finally:
            signal.signal(signal.SIGTERM, before)
        if outcome.is_synthetic:
            self.stdout.write(SYNTHETIC)
        for judgement in outcome.judgements:
            self.stdout.write(f"{judgement.verdict}: {judgement.claim.says}")
        self.stdout.write(f"Written to {options['out']}: outcome.html, outcome.md, experiment.json, tables, figures.")

    def _run(self, options: dict[str, Any]) -> WrittenOutcome:
        experiment = read_experiment(name=options["name"])
        version = newest_version(options["dataset"])
        threads = options["threads"] or settings.NUMERIC_THREADS
        plans = plan_experiment(experiment=experiment, version=version, seed=options["seed"], threads=threads)
        if experiment.searched and not options["default_sizes"]:
            self.stdout.write(f"Choosing the sizes of {'; '.join(experiment.searched)}.")
            with ProgressLine(self.stderr) as progress:
                experiment = with_chosen_sizes(experiment=experiment, version=version, planned=plans, progress=progress)
            for name, searched, choice in experiment.choices:
                self.stdout.write(f"{name} ({experiment.titles(searched)}): {choice.in_words}")
            plans = plan_experiment(experiment=experiment, version=version, seed=options["seed"], threads=threads)
        runs_of = "one run" if len(plans) == 1 else f"{len(plans)} runs"
        self.stdout.write(f"{experiment.title}, on {version}: {runs_of}.")
        runs = {}
        with MonitoredRuns(options["workers"], self.stdout) as monitored:
            for key, plan in plans.items():
                runs[key] = run = run_of_plan(planned=plan, version=version, queue=monitored.queue)
                if run.status == RunStatus.SUCCEEDED:
                    self.stdout.write(f"{plan.title}: run {run.pk} has the same inputs and is reused.")
                    continue
                self.stdout.write(f"{plan.title}: run {run.pk}.")
                if warning := candidate_warning(version, run.protocol, run.split):
                    self.stdout.write(f"Warning: {warning}")
                monitored.finish(run)
                refuse_unfinished(run)
        return write_experiment(experiment=experiment, runs=runs, folder=options["out"])


def refuse_unfinished(run: EvaluationRun) -> None:
    """Raise ParallaxError with code ``experiment.run_failed`` if a run is over without all its results."""
    if run.status != RunStatus.SUCCEEDED:
        reason = run.error or f"It was {run.get_status_display().lower()}."
        raise ParallaxError("experiment.run_failed", f"Run {run.pk} did not finish. {reason}")
    if failed := failed_algorithms(run):
        reasons = " ".join(f"{algorithm.label}: {algorithm.error}" for algorithm in failed)
        raise ParallaxError("experiment.run_failed", f"Run {run.pk} lacks algorithms of the experiment. {reasons}")
