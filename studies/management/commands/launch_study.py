from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from core.errors import ParallaxError
from studies.design.selectors.launch_overview import launch_overview
from studies.design.services.launch import launch_problems, launch_study
from studies.enums import Mode, StudyStatus
from studies.management.study_command import StudyCommand
from studies.recruitment.services.entry_links import entry_link


class Command(StudyCommand):
    help = "Check a draft study, print what will be frozen, freeze the design, and open the study."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--why", default="", help="a note that is kept with the frozen design")
        parser.add_argument("--check", action="store_true", help="print the lists and the problems; launch nothing")

    def sentence(self, refusal: ParallaxError) -> str:
        return "\n".join(["The study was not launched.", *refusal.problems])

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["slug"])
        self.stdout.write("Checking the design and making a list in every condition …")
        if study.status == StudyStatus.DRAFT:
            overview = launch_overview(study)
            self.stdout.write("Frozen at launch:")
            for condition in overview.conditions:
                model = f"model {condition.model[:12]}, target {condition.target:,}"
                self.stdout.write(f"  {condition.label}: {condition.algorithm}, {model}")
            for name, value in overview.facts:
                self.stdout.write(f"  {name}: {value}")
            # Once the design is frozen, advice comes too late.
            if options["check"] and overview.advice:
                self.stdout.write("Advice before the launch:")
                for point in overview.advice:
                    self.stdout.write(f"  {point.text} {point.command}".rstrip())
        if options["check"]:
            if problems := launch_problems(study):
                raise CommandError("\n".join(["The study cannot be launched.", *problems]))
            self.stdout.write(f"Nothing prevents the launch: .venv/bin/python manage.py launch_study {study.slug}")
            return
        version = launch_study(study=study, why=options["why"])
        self.stdout.write(f"Study {study.slug} is live. Design {version.design_hash}")
        self.stdout.write(f"Participants enter at {entry_link(study=study, mode=Mode.LIVE)}")
