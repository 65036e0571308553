"""Print the recommendation list of an algorithm for a profile of the dataset's own item ids."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from catalog.models import DatasetVersion
from catalog.selectors.datasets import newest_version
from catalog.selectors.ratings import item_ids_of
from core.commands import ParallaxCommand
from evaluation.management.arguments import at_least_one, check_folders
from evaluation.services.remote_lists import Served
from evaluation.services.serving import recommend
from evaluation.services.training import train_on_everything
from recommenders import registry
from recommenders.data import History

MAX_TITLE = 48


class Command(ParallaxCommand):
    help = (
        "Fit an algorithm on all ratings of a dataset (or reuse the model) and print its list for a profile, with the "
        "number of ratings of each item: 0 for an item recommended by its features alone."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the dataset; its newest version is used")
        parser.add_argument(
            "--algorithm", required=True, metavar="KEY[:NAME=VALUE,…]", help="for example lsa or puresvd:factors=50"
        )
        parser.add_argument(
            "--profile",
            required=True,
            metavar="ITEM:RATING,…",
            help='the dataset\'s own ids, earliest first, as in "1:5,260:4"',
        )
        parser.add_argument("-n", type=int, default=10, help="length of the list (default: 10)")
        parser.add_argument("--unrated-only", action="store_true", help="list only items without ratings")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--threads", type=at_least_one, help="numeric threads (default: NUMERIC_THREADS)")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the list")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path | None = options["json"]
        check_folders(file)
        if options["n"] < 1:
            raise CommandError(f"The list length -n is {options['n']}; it must be at least 1.")
        version = newest_version(options["name"])
        items, ratings = _profile(version, options["profile"])
        key, params = registry.named_values(options["algorithm"])
        trained = train_on_everything(
            version=version,
            algorithm=key,
            params=params,
            seed=options["seed"],
            threads=options["threads"] or settings.NUMERIC_THREADS,
        )
        model = trained.model
        served = recommend(
            model=model,
            items=items,
            ratings=ratings,
            scale=(version.scale_low, version.scale_high, version.scale_step),
            n=version.n_items if options["unrated_only"] else options["n"],
            history=History("consumption", order=range(1, len(items) + 1)),
        )
        lines = _lines(version, served, options["n"], is_unrated_only=options["unrated_only"])
        self.stdout.write(f"{model.label} on {version}, for a profile of {len(items)}")
        for comment in trained.comments:
            self.stdout.write(f"  {comment}")
        if not lines:
            self.stdout.write("  All items outside the profile have ratings.")
        for line in lines:
            score = "by popularity" if line["is_filled"] else f"{line['score']:.6g}"
            title = line["title"] if len(line["title"]) <= MAX_TITLE else line["title"][: MAX_TITLE - 1] + "…"
            rated = f"{line['n_ratings']:,} ratings"
            self.stdout.write(f"  {line['rank']:>3}. {title:<{MAX_TITLE}} {line['item']:>10} {score:>14} {rated:>16}")
        if file is not None:
            document = {"dataset": version.dataset.name, "version": version.number, "model": model.digest}
            file.write_text(json.dumps({**document, "list": lines}, indent=2, ensure_ascii=False) + "\n")
            self.stdout.write(f"Written to {file}.")


def _profile(version: DatasetVersion, text: str) -> tuple[list[int], list[float]]:
    indexes = {external_id: index for index, external_id in enumerate(item_ids_of(version).tolist())}
    items, ratings = [], []
    for part in text.split(","):
        external_id, colon, rating = part.strip().rpartition(":")
        try:
            ratings.append(float(rating))
        except ValueError:
            colon = ""
        if not colon:
            raise CommandError(
                f'{part.strip()!r} is not a valid entry of --profile. Write ITEM:RATING,…, as in "1:5,260:4".'
            )
        if external_id not in indexes:
            raise CommandError(f"{version} has no item {external_id!r}. Use the ids of the source.")
        items.append(indexes[external_id])
    return items, ratings


def _lines(version: DatasetVersion, served: Served, n: int, *, is_unrated_only: bool) -> list[dict[str, Any]]:
    rows = {item.index: item for item in version.items.only("index", "external_id", "title", "year", "n_ratings")}
    lines: list[dict[str, Any]] = []
    for index, score, is_filled in zip(served.items, served.scores, served.is_filled, strict=True):
        item = rows[index]
        if is_unrated_only and (item.n_ratings or is_filled):
            continue
        lines.append(
            {
                "rank": len(lines) + 1,
                "item": item.external_id,
                "title": str(item),
                "score": score,
                "is_filled": is_filled,
                "n_ratings": item.n_ratings,
            }
        )
        if len(lines) == n:
            break
    return lines
