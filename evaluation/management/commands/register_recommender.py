from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from core.commands import ParallaxCommand
from evaluation.enums import Sent
from evaluation.management.arguments import at_least_one
from evaluation.models import ANSWER_SECONDS, VARIABLE_PREFIX
from evaluation.services.remote import register

FIELDS = ("name", "address", "operator", "token_variable", "seconds", "sent")


class Command(ParallaxCommand):
    help = "Register a recommender behind HTTP under a name, or change its address, token variable and time limit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name in commands and tables")
        parser.add_argument("address", metavar="ADDRESS", help="its address; PARALLAX_RECOMMENDER_HOSTS lists the host")
        parser.add_argument("operator", metavar="OPERATOR", help="who runs it, as consent texts name them")
        parser.add_argument(
            "--token-variable",
            default="",
            metavar="VARIABLE",
            help=f"environment variable that has its bearer token; begins with {VARIABLE_PREFIX}",
        )
        parser.add_argument(
            "--seconds",
            type=at_least_one,
            default=ANSWER_SECONDS,
            help="seconds for one answer, 1 to 60 (default: %(default)s)",
        )

        parser.add_argument(
            "--send",
            dest="sent",
            choices=Sent.values,
            default=Sent.IDS.value,
            help="of each rated item, beside its id and rating: nothing (ids), its title, or title and text",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        recommender = register(**{name: options[name] for name in FIELDS})
        self.stdout.write(f"{recommender.name} is registered at {recommender.address}.")
        self.stdout.write(f"Check it on a dataset: check_recommender {recommender.name} DATASET")
