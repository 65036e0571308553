from __future__ import annotations

import os
import re
import time
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from accounts.models import User
from accounts.services import create_account
from analysis.models import Report
from catalog.models import DatasetVersion
from catalog.services import DEMO_BOOKS_NAME, DEMO_NAME, load_demo_books, load_demo_dataset
from core.commands import ParallaxCommand
from evaluation.selectors.runs import newest_succeeded_run
from parallax.children import Children, stop_on_signals
from parallax.database import prepare_database
from studies.design.selectors.placeholders import number_word
from studies.design.services.design import change_design
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.models import Participant, Study

SEED = 1
EVALUATION = {"split": "probe:share=0.1", "reserve": 0.15, "protocol": "one-plus-random", "n": 5}
DEMO_EMAIL = "demo@parallax.example"
HYPOTHESIS = """\
This study is a demonstration: its {data} are synthetic and its participants simulated. It shows what a \
preregistration contains and is no evidence about people.

H1: Recommenders with a higher recall are perceived as more accurate: the average advantage of recall in perceived \
accuracy over the {n} conditions is positive.

H0: The average advantage is 0."""


@dataclass(frozen=True)
class Demo:
    """What a demo compares, and on which catalogue."""

    dataset: str
    study: str
    items: str
    data: str  # what its users left behind
    load: Callable[..., DatasetVersion]
    algorithms: str
    # Limits of relevant and irrelevant test ratings; usage data have no irrelevant ones.
    relevant: float
    irrelevant: float
    negatives: int  # as many as every user has left unrated; the paper drew 1,000
    per_condition: int = 12  # the paper asked 30; this many are ready within a minute
    workers: int = 2  # of the site, which train and measure

    @property
    def n(self) -> int:
        return len(self.algorithms.split(","))


# The paper's 50 and 300 factors need a catalogue of thousands; 10 and 50 stand in for them on these.
_FILMS = Demo(
    dataset=DEMO_NAME,
    study="demo",
    items="films",
    data="ratings",
    load=load_demo_dataset,
    algorithms="toppop,corngr,nncosngr,asysvd,puresvd:factors=10,puresvd:factors=50,lsa",
    relevant=5.0,
    irrelevant=1.0,
    negatives=500,
)
_BOOKS = Demo(
    dataset=DEMO_BOOKS_NAME,
    study="demo-books",
    items="books",
    data="usage data",
    load=load_demo_books,
    algorithms="toppop,nncosngr,puresvd:factors=10,puresvd:factors=50,lsa",
    relevant=1.0,
    irrelevant=0.5,
    negatives=250,
)
_FEW = "toppop,puresvd:factors=10,lsa"
DEMOS = {"films": _FILMS, "books": _BOOKS}
DEMOS |= {
    f"quick-{name}": replace(demo, study=f"{demo.study}-quick", algorithms=_FEW, per_condition=10, workers=1)
    for name, demo in DEMOS.items()
}


class Command(ParallaxCommand):
    help = "Run a complete comparison on a demo catalogue, once, and serve the site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        catalogues = "films with ratings, or books with usage data (default: films)"
        parser.add_argument("--catalogue", choices=["films", "books"], default="films", help=catalogues)
        parser.add_argument("--quick", action="store_true", help="three algorithms and thirty participants")
        parser.add_argument("--exit", action="store_true", help="stop when everything is ready")

    def handle(self, *args: Any, **options: Any) -> None:
        stop_on_signals()
        self.started = time.monotonic()
        self.demo = DEMOS[f"quick-{options['catalogue']}" if options["quick"] else options["catalogue"]]
        site = Children(host=options["host"], port=options["port"], workers=self.demo.workers, is_awaited=False)
        try:
            connection.ensure_connection()  # so that the file exists before several processes open it at once
            with site:
                prepare_database()
                minutes = "one to two" if options["quick"] else "two to four"
                self.stdout.write(f"The first start takes {minutes} minutes on two cores; a later one, seconds.")
                owner = self.first_account()
                report = self.main_job(site, owner)
                self.say_ready(site.url, owner, report)
                if not options["exit"]:
                    site.wait()
        except KeyboardInterrupt:
            self.stdout.write("Stopped. `make demo` resumes it.")

    def first_account(self) -> User:
        """The demo's owner: the first administrator, or a new account whose password is stored for later starts."""
        if user := User.objects.filter(is_superuser=True).order_by("pk").first():
            return user
        user, password = create_account(email=DEMO_EMAIL, name="Demo researcher", is_administrator=True)
        with os.fdopen(os.open(password_file(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(password)
        return user

    def main_job(self, site: Children, owner: User) -> Report:
        """Run the stages that are not done yet; each is recognised by its results. The site starts meanwhile."""
        version = self.catalogue(owner)
        run_id = self.offline(version, site)
        self.study(run_id, owner)
        site.wait_until_ready()
        self.participants(site.url)
        return self.report()

    def catalogue(self, owner: User) -> DatasetVersion:
        version = DatasetVersion.objects.filter(dataset__name=self.demo.dataset).order_by("-number").first()
        if version is None:
            with self.step(f"  Demo catalogue, with synthetic {self.demo.data}"):
                version = self.demo.load(seed=SEED, owner=owner)
        return version

    def offline(self, version: DatasetVersion, site: Children) -> int:
        run = newest_succeeded_run(version, n_algorithms=self.demo.n)
        if run is None:
            factors = " and ".join(re.findall(r"puresvd:factors=(\d+)", self.demo.algorithms))
            self.stdout.write(
                f"  The demo has {version.n_items} {self.demo.items}: PureSVD runs with {factors} factors "
                f"instead of 50 and 300, and {self.demo.negatives} candidates are drawn instead of 1,000. "
                f"Each condition has {self.demo.per_condition} simulated participants; the paper had 30 people in each."
            )
            n_algorithms = number_word(self.demo.n).capitalize()
            with self.step(f"  {n_algorithms} algorithms trained and measured offline on the site's workers"):
                site.wait_for_worker()
                with site.supervised():
                    inputs = {
                        name: getattr(self.demo, name) for name in ("algorithms", "relevant", "irrelevant", "negatives")
                    }
                    call_command("evaluate", self.demo.dataset, **EVALUATION, **inputs, seed=SEED, stdout=self.stdout)
            run = newest_succeeded_run(version, n_algorithms=self.demo.n)
            if run is None:
                raise CommandError("The offline evaluation ended without a result; its reason stands above.")
        return run.pk

    def call_on_study(self, command: str, **options: Any) -> None:
        call_command(command, self.demo.study, stdout=self.stdout, **options)

    def study(self, run_id: int, owner: User) -> None:
        study = Study.objects.filter(slug=self.demo.study).first()
        if study is None:
            with self.step("  Study from the template cremonesi-2011"):
                self.call_on_study(
                    "create_study",
                    template="cremonesi-2011",
                    dataset=self.demo.dataset,
                    run=run_id,
                    per_condition=self.demo.per_condition,
                    seed=SEED,
                    owner=owner.email,
                )
            study = Study.objects.get(slug=self.demo.study)
            hypothesis = HYPOTHESIS.format(data=self.demo.data, n=number_word(self.demo.n))
            change_design(study=study, actor=owner, settings={"hypothesis": hypothesis})
            study.refresh_from_db()
        if study.status == StudyStatus.DRAFT:
            with self.step("  Launch: the design is frozen and hashed"):
                self.call_on_study("launch_study")

    def participants(self, url: str) -> None:
        walked = Participant.objects.filter(
            study__slug=self.demo.study, mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED
        ).count()
        if walked < self.demo.per_condition * self.demo.n:
            with self.step("  Simulated participants walk the study over HTTP"):
                size = self.demo.per_condition
                self.call_on_study("simulate_participants", per_condition=size, seed=SEED, base_url=url)

    def report(self) -> Report:
        """The demo's report, which anyone may read on this site. Its files are drawn when they are downloaded."""
        reports = Report.objects.filter(study__slug=self.demo.study, mode=Mode.SIMULATED)
        if not reports.exists():
            with self.step("  Report: perceived against objective"):
                self.call_on_study("report", mode=Mode.SIMULATED.value)
        report = reports.filter(is_sample=True).first()
        if report is None:
            with self.step("  Sample report: its pages are drawn, and open to visitors"):
                self.call_on_study("sample_report")
            report = reports.get(is_sample=True)
        return report

    def say_ready(self, url: str, owner: User, report: Report) -> None:
        lines = [
            "",
            f"Parallax is ready at {url}  ({time.monotonic() - self.started:.0f} s)",
            "",
            f"  1. sample report   {url.rstrip('/')}{report.get_absolute_url()}",
            f"  2. take part       {url}s/{self.demo.study}/",
            f"  3. console         {url}studies/{self.demo.study}/",
            "",
            "Signed in, you can download the report as files: page, PDF, figures, tables and study package.",
            f"The {self.demo.data} are synthetic and the participants simulated: the demo is no evidence about people.",
            "",
            f"Sign in at {url}account/sign-in/ as {owner.email}, {password_words(owner)}",
        ]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()


def password_file() -> Path:
    """The file with the generated password of the demo account, readable only by its owner."""
    return Path(settings.VAR_DIR) / "demo_password"


def password_words(owner: User) -> str:
    """The generated password while it is valid; a password that was chosen is not stored."""
    file = password_file()
    password = file.read_text() if owner.email == DEMO_EMAIL and file.exists() else ""
    if password and owner.check_password(password):
        return f"password {password}"
    file.unlink(missing_ok=True)
    return (
        "with the password of that account. Set a new one with "
        f"`.venv/bin/python manage.py changepassword {owner.email}`."
    )
