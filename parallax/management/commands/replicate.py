from __future__ import annotations

import signal
import socket
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.services import build_report
from catalog.selectors.datasets import newest_version
from core.commands import ParallaxCommand
from evaluation.management.arguments import at_least_one
from evaluation.management.run_monitor import interrupt
from parallax.children import Children
from parallax.replication import pages, stages
from parallax.replication.published import papers, published
from studies.enums import Mode
from studies.team.owners import owner_line, study_owner

HOST = "127.0.0.1"


class Command(ParallaxCommand):
    help = (
        "Replicate a paper on another dataset with simulated participants: train and evaluate its algorithms, run its "
        "study over HTTP, build the report, and compare tables and figures with the published ones. Run again, it "
        "reuses finished stages. With --study, compare the answers of a finished study of your own instead."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        default = stages.Settings()
        parser.add_argument("paper", choices=papers(), help="the paper (%(choices)s)")
        data = parser.add_mutually_exclusive_group(required=True)
        data.add_argument("--dataset", metavar="NAME", help="an imported dataset with ratings")
        study = (
            "a closed study of the paper's algorithms, whose participants' answers are compared; nothing is "
            "trained or simulated, so that of the options only --out applies"
        )
        data.add_argument("--study", metavar="SLUG", help=study)
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write to")
        parser.add_argument("--per-condition", type=int, default=default.per_condition, help="default: %(default)s")
        parser.add_argument("--seed", type=int, default=default.seed, help="default: %(default)s")
        factors = (
            "factors of the two PureSVD models, for a catalogue too small for the paper's; the first also applies "
            "to AsySVD and LSA (default: %(default)s)"
        )
        parser.add_argument("--factors", default="50,300", metavar="A,B", help=factors)
        reserve = "share of users held out from training, whose ratings the simulated participants use"
        parser.add_argument("--reserve", type=float, default=default.reserve, help=f"{reserve} (default: %(default)s)")
        parser.add_argument(
            "--workers",
            type=at_least_one,
            help="start this many workers and stop them afterwards (default: use running workers, else 2)",
        )
        parser.add_argument(
            "--owner", metavar="EMAIL", help="account of the owner (default: the newest administrator's)"
        )
        parser.add_argument(
            "--base-url", metavar="URL", help="use a running server of this site (default: one of its own)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["out"].exists() and not options["out"].is_dir():
            raise CommandError(f"{options['out']} is a file; --out names a folder.")
        before = signal.signal(signal.SIGTERM, interrupt)
        try:
            if options["study"] is None:
                self.replicate(options)
            else:
                self.compare(options)
        except OSError as problem:
            raise CommandError(f"The files cannot be written: {problem}") from problem
        except KeyboardInterrupt:
            raise CommandError("Stopped. Run the command again to resume.", returncode=130) from None
        finally:
            signal.signal(signal.SIGTERM, before)

    def replicate(self, options: dict[str, Any]) -> None:
        paper, chosen = published(options["paper"]), self.settings(options)
        version, owner = newest_version(options["dataset"]), study_owner(options["owner"])
        self.stdout.write(owner_line(owner, options["owner"]))
        with self.step("Train and evaluate seven algorithms"):
            run = stages.finished_run(
                version=version,
                chosen=chosen,
                workers=options["workers"],
                out=self.stdout,
                progress=self.print_progress,
            )
        with self.step("Launch the study"):
            study = stages.launched_study(run=run, chosen=chosen, owner=owner, progress=self.print_progress)
        with self.step(f"Simulate participants {self.walk_description(options)}"):
            stages.simulate_participants(
                study=study, chosen=chosen, server=lambda: self.server(options), progress=self.print_progress
            )
        with self.step("Build the report"):
            report = build_report(study=study, mode=Mode.SIMULATED, made_by=owner, progress=self.print_progress)
        replication = pages.simulated(
            paper=paper, report=report, run=run, chosen=chosen, walked=self.walk_description(options)
        )
        self.write(replication, options["out"])
        self.stdout.write(
            "These participants are simulated: this shows how the study behaves and is no evidence about people.\n"
            f"Open {options['out'] / 'replication.html'}"
        )

    def compare(self, options: dict[str, Any]) -> None:
        paper, study = published(options["paper"]), stages.finished_study(options["study"])
        stages.names_by_algorithm(study, paper)  # refuses other studies before anything is computed
        with self.step("Build the report"):
            report = stages.report_of_study(study=study, progress=self.print_progress)
        self.write(pages.answered(paper=paper, report=report, study=study), options["out"])
        self.stdout.write(f"Open {options['out'] / 'replication.html'}")

    def write(self, replication: pages.Replication, folder: Path) -> None:
        with self.step("Write files"):
            pages.write_folder(replication, folder)
        self.stdout.write(f"\n{pages.printed(replication)}\n")

    def settings(self, options: dict[str, Any]) -> stages.Settings:
        parts = [part.strip() for part in options["factors"].split(",")]
        if len(parts) != 2 or not all(part.isdecimal() and int(part) for part in parts):
            raise CommandError("--factors takes two whole numbers separated by a comma, such as 50,300.")
        if options["per_condition"] < 2:
            raise CommandError("--per-condition must be at least 2: the tests need two participants per condition.")
        return stages.Settings(
            seed=options["seed"],
            per_condition=options["per_condition"],
            factors=(int(parts[0]), int(parts[1])),
            reserve=options["reserve"],
        )

    def walk_description(self, options: dict[str, Any]) -> str:
        return f"over HTTP at {options['base_url']}" if options["base_url"] else "over HTTP to a web server of its own"

    def server(self, options: dict[str, Any]) -> AbstractContextManager[str]:
        return nullcontext(options["base_url"]) if options["base_url"] else own_server()

    def print_progress(self, words: str) -> None:
        self.stdout.write(f"  {words}")
        self.stdout.flush()


@contextmanager
def own_server() -> Iterator[str]:
    """The site on web workers of its own, by its address."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = int(probe.getsockname()[1])
    with Children(host=HOST, port=port, workers=0) as children:
        yield children.url
