"""Publish a report of simulated participants as a sample, or withdraw it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from analysis.models import Report
from analysis.services.samples import publish_sample, withdraw_sample
from core.commands import ParallaxCommand
from studies.enums import Mode


class Command(ParallaxCommand):
    help = "Let anyone read a report of simulated participants without signing in, or close it again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the study")
        parser.add_argument(
            "--number",
            type=int,
            help="of the report (default: the newest of simulated participants, or every sample with --withdraw)",
        )
        parser.add_argument("--withdraw", action="store_true", help="close the sample report")

    def handle(self, *args: Any, **options: Any) -> None:
        slug, number = options["slug"], options["number"]
        reports = Report.objects.filter(study__slug=slug).select_related("study").order_by("-number")
        if number is not None:
            reports = reports.filter(number=number)
        if not reports:
            what = "no report" if number is None else f"no report {number}"
            raise CommandError(f"There is {what} of a study called {slug}. Build one with `report {slug}`.")
        if options["withdraw"]:
            samples = list(reports.filter(is_sample=True))
            if not samples:
                raise CommandError(f"{slug} has no such sample report.")
            for sample in samples:
                withdraw_sample(report=sample)
                self.stdout.write(f"Report {sample.number} of {slug} is closed again.")
            return
        report = reports.first() if number is not None else reports.filter(mode=Mode.SIMULATED).first()
        if report is None:
            raise CommandError(f"{slug} has no report of simulated participants, and only those can be samples.")
        publish_sample(report=report)
        self.stdout.write(f"Anyone can read report {report.number} of {slug} at {report.get_absolute_url()}")
