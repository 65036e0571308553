from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import ParallaxError
from studies.enums import Mode
from studies.models import Study
from studies.services.entry_links import entry_link
from studies.services.launch import launch_study


class Command(BaseCommand):
    help = "Check a draft study, freeze its design under its hash, and open it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--why", default="", help="a note that is kept with the frozen design")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['slug']}.")
        self.stdout.write("Checking the design and opening every model …")
        try:
            version = launch_study(study=study, why=options["why"])
        except ParallaxError as refusal:
            problems = refusal.extra.get("problems") or [str(refusal)]
            raise CommandError("\n".join(["The study was not launched.", *problems])) from refusal
        self.stdout.write(f"Study {study.slug} is live. Design {version.design_hash}")
        self.stdout.write(f"Participants enter at {entry_link(study=study, mode=Mode.LIVE)}")
