from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from accounts.services import create_account
from analysis.models import Report
from catalog.models import DatasetVersion
from catalog.services import load_demo_dataset
from core.errors import ParallaxError
from evaluation.selectors import newest_succeeded_run
from parallax.children import Children, stop_on_signals
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.models import Participant, Study

DATASET = "demo-films"
STUDY = "demo"
SEED = 1
PER_CONDITION = 30
NEGATIVES = 1000  # where fewer items are unrated, all of them serve
# The paper's 50 and 300 factors need a catalogue of thousands; 10 and 50 stand in for them on this one.
ALGORITHMS = "toppop,corngr,nncosngr,asysvd,puresvd:factors=10,puresvd:factors=50,lsa"
DEMO_EMAIL = "demo@parallax.example"


class Command(BaseCommand):
    help = "Run the whole main job on the demo catalogue, once, and serve it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--exit", action="store_true", help="stop when everything is ready")

    def handle(self, *args: Any, **options: Any) -> None:
        stop_on_signals()
        self.started = time.monotonic()
        try:
            with self.step("Database"):
                call_command("migrate", verbosity=0, interactive=False)
            owner, password = self.first_account()
            with Children(host=options["host"], port=options["port"]) as children:
                report = self.main_job(children.url, owner)
                self.say_ready(children.url, owner, password, report)
                if not options["exit"]:
                    children.wait()
        except KeyboardInterrupt:
            self.stdout.write("Stopped. `make demo` starts again where this ended.")
        except ParallaxError as refusal:
            raise CommandError(str(refusal)) from refusal

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Print what is done and how long it took."""
        before = time.monotonic()
        self.stdout.write(f"  {what} …")
        self.stdout.flush()
        yield
        self.stdout.write(f"  {what}: done in {time.monotonic() - before:.1f} s")

    def first_account(self) -> tuple[User, str | None]:
        """Return the demo's owner, and the password when the account is new."""
        if user := User.objects.filter(is_superuser=True).order_by("pk").first():
            return user, None
        user, password = create_account(email=DEMO_EMAIL, name="Demo researcher", is_administrator=True)
        # Now, and not only at the end: who stops before that could never sign in.
        self.stdout.write(f"  First account: {user.email}, password {password} (shown once)")
        self.stdout.flush()
        return user, password

    def main_job(self, url: str, owner: User) -> Path:
        """Do what is not yet done; each stage is found again by what it left."""
        version = self.catalogue(owner)
        run_id = self.offline(version)
        self.study(run_id, owner)
        self.participants(url)
        return self.report()

    def catalogue(self, owner: User) -> DatasetVersion:
        version = DatasetVersion.objects.filter(dataset__name=DATASET).order_by("-number").first()
        if version is None:
            with self.step("Demo catalogue, with synthetic ratings"):
                version = load_demo_dataset(seed=SEED, owner=owner)
        return version

    def offline(self, version: DatasetVersion) -> int:
        run = newest_succeeded_run(version)
        if run is None:
            self.stdout.write(
                f"  The demo has {version.n_items} films: PureSVD runs with 10 and 50 factors instead of 50 and 300, "
                "and every unrated film serves as a negative where fewer than 1,000 are unrated."
            )
            with self.step("Seven algorithms trained and measured offline on two workers"):
                call_command(
                    "evaluate", DATASET, algorithms=ALGORITHMS, split="probe:share=0.1", reserve=0.15,
                    protocol="one-plus-random", negatives=NEGATIVES, n=5, relevant=5.0, irrelevant=1.0, seed=SEED,
                    workers=2, stdout=self.stdout,
                )  # fmt: skip
            run = newest_succeeded_run(version)
            if run is None:
                raise CommandError("The offline evaluation ended without a result; its reason stands above.")
        return run.pk

    def study(self, run_id: int, owner: User) -> None:
        study = Study.objects.filter(slug=STUDY).first()
        if study is None:
            with self.step("Study from the template cremonesi-2011"):
                call_command(
                    "create_study", STUDY, template="cremonesi-2011", dataset=DATASET, run=run_id,
                    per_condition=PER_CONDITION, seed=SEED, owner=owner.email, stdout=self.stdout,
                )  # fmt: skip
            study = Study.objects.get(slug=STUDY)
        if study.status == StudyStatus.DRAFT:
            with self.step("Launch: the design is frozen and hashed"):
                call_command("launch_study", STUDY, stdout=self.stdout)

    def participants(self, url: str) -> None:
        walked = Participant.objects.filter(
            study__slug=STUDY, mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED
        ).count()
        if walked < PER_CONDITION * len(ALGORITHMS.split(",")):
            with self.step("Simulated participants walk the study over HTTP"):
                call_command(
                    "simulate_participants", STUDY, per_condition=PER_CONDITION, seed=SEED, base_url=url,
                    stdout=self.stdout,
                )  # fmt: skip

    def report(self) -> Path:
        folder = Path(settings.VAR_DIR) / "demo-report"
        if not (Report.objects.filter(study__slug=STUDY).exists() and (folder / "report.html").exists()):
            with self.step("Report: perceived against objective"):
                call_command("report", STUDY, out=folder, stdout=self.stdout)
        return folder / "report.html"

    def say_ready(self, url: str, owner: User, password: str | None, report: Path) -> None:
        lines = [
            "",
            f"Parallax is ready at {url}  ({time.monotonic() - self.started:.0f} s)",
            "",
            f"  sign in         {url}account/sign-in/ as {owner.email}"
            + (", with the password printed at the start" if password else ""),
            f"  the study       {url}studies/{STUDY}/",
            f"  take part       {url}s/{STUDY}/",
            f"  reports         {url}reports/",
            f"  report file     {report}",
            "",
            "Its ratings are synthetic and its participants simulated: they show that it runs, not what people think.",
        ]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()
