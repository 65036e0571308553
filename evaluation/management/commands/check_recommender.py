from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from catalog.selectors.datasets import newest_version
from core.commands import ParallaxCommand
from evaluation.services.remote import described_for, model_of_service, recommender_named, service_of
from evaluation.services.remote_check import check_service


class Command(ParallaxCommand):
    help = (
        "Check a recommender behind HTTP on a dataset, say what to fix, and store this version of it as a model if "
        "nothing is wrong. It gets about a hundred requests."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name under which it is registered")
        parser.add_argument("dataset", metavar="DATASET", help="name of the dataset; its newest version is used")

    def handle(self, *args: Any, **options: Any) -> None:
        recommender, version = recommender_named(options["name"]), newest_version(options["dataset"])
        service = service_of(recommender)
        described = described_for(service, version)
        self.stdout.write(f"{recommender.name}, version {described.version}, on {version}")
        n_failed = 0
        for finding in check_service(service, described, version):
            n_failed += not finding.holds
            self.stdout.write(f"  {'ok  ' if finding.holds else 'FAIL'} {finding.what}: {finding.text}")
            self.stdout.flush()
        if n_failed:
            raise CommandError(f"{n_failed} of the checks failed. Fix what they say, and check again.")
        model = model_of_service(service=service, described=described, version=version)
        self.stdout.write(f"Nothing is wrong. This version is stored as model {model.digest}.")
