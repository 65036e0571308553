"""Upload texts that explain items, for the presentation of a study."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from catalog.selectors.datasets import newest_version
from core.commands import ParallaxCommand
from studies.design.services.stored_texts import store_texts


class Command(ParallaxCommand):
    help = "Store a text per item and language, which conditions show as the explanation of a recommendation."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="DATASET", help="name of the dataset; its newest version is used")
        parser.add_argument("file", metavar="FILE", type=Path, help=".csv with the columns item,language,text")

    def handle(self, *args: Any, **options: Any) -> None:
        version = newest_version(options["dataset"])
        stored = store_texts(version=version, path=options["file"])
        self.stdout.write(
            f"{stored.n_items:,} of {version.n_items:,} items have a text in {', '.join(stored.languages)}."
        )
        self.stdout.write(f"In a presentation: explanation: stored, texts: {stored.digest}")
