"""Make a subset of a dataset from the shell, as its next version."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from datetime import date
from typing import Any

from catalog.importers.kinds import kind_of
from catalog.management.version_command import VersionCommand
from catalog.models import DatasetVersion
from catalog.selectors.datasets import newest_version, version_numbered
from catalog.services import create_subset
from catalog.subsetting.recipe import Recipe

STEPS = (
    "date range, item attribute, top items, minimum ratings per item, minimum ratings per user, random users, k-core"
)


class Command(VersionCommand):
    help = (
        f"Make a subset of a dataset as its next version. The steps apply in this order: {STEPS}. Each also removes "
        "users and items that it leaves without a rating. Versions never change: runs and studies keep theirs."
    )
    json_help = "write the recipe, the counts and the hashes"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the dataset")
        parser.add_argument(
            "--parent", type=int, metavar="VERSION", help="version to make the subset of (default: the newest)"
        )
        steps = parser.add_argument_group("steps", "in the order in which they apply")
        steps.add_argument(
            "--from", dest="date_from", type=_date, metavar="DATE", help="only ratings from this day on, in UTC"
        )
        steps.add_argument(
            "--until", dest="date_until", type=_date, metavar="DATE", help="only ratings until this day, included"
        )
        steps.add_argument(
            "--feature", type=_feature, metavar="KIND=VALUE", help="only items with this attribute, as in genre=Drama"
        )
        steps.add_argument(
            "--top-items",
            type=int,
            metavar="N",
            help="only the N items with the most ratings; ties are broken by the order of the items in the dataset",
        )
        steps.add_argument(
            "--min-item-ratings", type=int, metavar="N", help="only items with at least N ratings; applied once"
        )
        steps.add_argument(
            "--min-user-ratings", type=int, metavar="N", help="only users with at least N ratings; applied once"
        )
        steps.add_argument("--random-users", type=int, metavar="N", help="only N users, drawn at random")
        steps.add_argument("--random-share", type=float, metavar="SHARE", help="only this share of the users: 0.1")
        steps.add_argument("--seed", type=int, default=1, help="of the random users (default: %(default)s)")
        steps.add_argument(
            "--k-core", type=int, metavar="K", help="repeat until every user and every item has at least K ratings"
        )
        super().add_arguments(parser)

    def stored_version(self, options: Mapping[str, Any]) -> tuple[DatasetVersion, dict[str, Any]]:
        recipe = Recipe(**{name: options[name] for name in Recipe.__slots__})
        name, number = options["name"], options["parent"]
        parent = newest_version(name) if number is None else version_numbered(name, number)
        result = create_subset(version=parent, recipe=recipe, progress=self.line.update)
        self.is_new = result.is_new
        return result.version, result.entry

    def print_version(self, version: DatasetVersion, facts: Mapping[str, Any]) -> None:
        self.stdout.write(f"{version.dataset.name}, version {version.number}, subset of version {facts['parent']}")
        rows = [
            (f"Version {facts['parent']}", facts["before"]),
            *((step["words"], step["after"]) for step in facts["steps"]),
        ]
        width = max(len(words) for words, _ in rows)
        self.stdout.write(f"  {'':<{width}} {'users':>12} {'items':>12} {'ratings':>14}")
        for words, counts in rows:
            self.stdout.write(
                f"  {words:<{width}} {counts['users']:>12,} {counts['items']:>12,} {counts['ratings']:>14,}"
            )
        self.stdout.write(f"  parent  {facts['parent_hash'][:16]}\n  content {version.content_hash[:16]}")
        if not self.is_new:
            self.stdout.write(f"  Version {version.number} had this content already, so no version was created.")


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as problem:
        raise ArgumentTypeError(f"{text!r} is not a date. Write it as 2015-12-31.") from problem


def _feature(text: str) -> tuple[str, str]:
    kind, equals, value = text.partition("=")
    if not (kind and equals and value):
        raise ArgumentTypeError(f"{text!r} is not KIND=VALUE, as in genre=Drama.")
    return kind_of(kind), value
