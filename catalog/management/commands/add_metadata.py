"""Add item metadata to a dataset from the shell, as its next version."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from catalog.management.flags import in_flags
from catalog.models import DatasetVersion
from catalog.selectors.datasets import newest_version
from catalog.services import add_metadata, change_item_language
from catalog.services.item_facts import check_item_language
from core.commands import ParallaxCommand
from core.errors import ParallaxError

EXAMPLES_SHOWN = 3


class Command(ParallaxCommand):
    help = (
        "Add item metadata (plot, people, genres, images, trailers, excerpts) to the newest version of a dataset. "
        "Versions never change: the result is a new version with the same ratings."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the dataset; its newest version is used")
        parser.add_argument(
            "path",
            type=Path,
            metavar="FILE",
            help="a table, one fact (item, kind, value) or one item per row, or JSON; also .gz or .zip",
        )
        parser.add_argument(
            "--column",
            action="append",
            default=[],
            metavar="WHAT=COLUMN",
            help="for example item=movieId, plot=summary, director=made_by; repeatable (default: by usual names)",
        )
        parser.add_argument(
            "--rename", action="append", default=[], metavar="KIND=KIND", help="rename a kind; repeatable"
        )
        parser.add_argument(
            "--link",
            default="",
            metavar="PLACE",
            help="the file has ids of this place, such as imdb or tmdb of MovieLens",
        )
        parser.add_argument("--separator", metavar="TEXT", help="between the values of one column (default: |)")
        parser.add_argument("--delimiter", metavar="CHARACTER", help="default: detected")
        parser.add_argument("--encoding", metavar="NAME", help="default: utf-8")
        parser.add_argument(
            "--media",
            "--images",
            type=Path,
            metavar="FOLDER",
            help="a folder or .zip with the pictures and the clips of video or audio that the file names",
        )
        parser.add_argument(
            "--item-language", metavar="CODE", help="language of the items' own titles and plots, such as en"
        )
        parser.add_argument("--drop-bad-rows", action="store_true", help="exclude and count invalid rows")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the report")

    def sentence(self, refusal: ParallaxError) -> str:
        return in_flags(refusal)

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path | None = options["json"]
        if file is not None and not file.parent.is_dir():
            raise CommandError(f"There is no folder {file.parent} to write {file.name} into. Create it first.")
        check_item_language(options["item_language"])
        base = newest_version(options["name"])
        version = add_metadata(
            version=base,
            path=options["path"],
            media=options["media"],
            link=options["link"],
            on_bad_row="drop" if options["drop_bad_rows"] else "refuse",
            options={
                "columns": _pairs("--column", options["column"]),
                "rename": _pairs("--rename", options["rename"]),
                **{name: options[name] for name in ("separator", "delimiter", "encoding")},
            },
        )
        if options["item_language"] is not None:
            change_item_language(dataset=version.dataset, language=options["item_language"])
        self._table(base, version)
        if file is not None:
            document = {
                "dataset": version.dataset.name,
                "version": version.number,
                "dataset_hash": version.content_hash,
                "ratings_digest": version.ratings_digest,
                **version.report["metadata"][-1],
            }
            file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
            self.stdout.write(f"Written to {file}.")

    def _table(self, base: DatasetVersion, version: DatasetVersion) -> None:
        entry = version.report["metadata"][-1]
        read = entry["read"]
        self.stdout.write(f"{version.dataset.name}, version {version.number}, from version {base.number}")
        rows = [
            ("rows read", read["rows_read"]),
            ("rows kept", read["rows_kept"]),
            ("items changed", entry["items_changed"]),
            *((f"{kind} added", count) for kind, count in sorted(entry["facts_added"].items())),
            *((f"{field} replaced", count) for field, count in sorted(entry["fields_replaced"].items())),
            ("already known", entry["facts_known"]),
        ]
        for name, count in rows:
            self.stdout.write(f"  {name:<24} {count:>12,}")
        for reason, count in read["dropped"].items():
            self.stdout.write(f"  {count:,} × {reason}")
            for example in read["examples"][reason][:EXAMPLES_SHOWN]:
                self.stdout.write(f"    {example['file']}, line {example['line']}: {example['reason']}")
        for warning in read["warnings"]:
            self.stdout.write(f"  {warning}")


def _pairs(option: str, texts: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, equals, target = text.partition("=")
        if not (name and equals and target) or name in pairs:
            raise CommandError(f"{option} is NAME=OTHER, as in plot=summary, each name once; {text!r} is not.")
        pairs[name] = target
    return pairs
