from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from catalog.selectors.datasets import newest_version
from catalog.selectors.item_lines import digest_of_lines, item_lines
from core.commands import ParallaxCommand


class Command(ParallaxCommand):
    help = "Write the items of a dataset as lines of JSON, for a recommender behind HTTP, and print their digest."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="DATASET", help="name of the dataset; its newest version is used")
        parser.add_argument("file", metavar="FILE", type=Path, help="the file to write, such as items.jsonl")

    def handle(self, *args: Any, **options: Any) -> None:
        version, path = newest_version(options["dataset"]), options["file"]
        try:
            with path.open("wb") as file:
                file.writelines(item_lines(version))
        except OSError as problem:
            raise CommandError(f"Cannot write {path}: {problem.strerror or problem}.") from problem
        self.stdout.write(
            f"{version.n_items:,} items of {version} written to {path}, digest {digest_of_lines(version)}."
        )
