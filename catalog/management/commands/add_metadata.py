"""Add item metadata to a dataset from the shell, as its next version."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog.management.version_command import VersionCommand, pairs
from catalog.models import DatasetVersion
from catalog.selectors.datasets import newest_version
from catalog.services import add_metadata, change_item_language
from catalog.services.item_facts import check_item_language


class Command(VersionCommand):
    help = (
        "Add item metadata (plot, people, genres, images, trailers, excerpts) to the newest version of a dataset. "
        "Versions never change: the result is a new version with the same ratings."
    )
    json_help = "write the report"

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
        super().add_arguments(parser)

    def stored_version(self, options: Mapping[str, Any]) -> tuple[DatasetVersion, dict[str, Any]]:
        check_item_language(options["item_language"])
        version = add_metadata(
            version=newest_version(options["name"]),
            path=options["path"],
            media=options["media"],
            link=options["link"],
            on_bad_row="drop" if options["drop_bad_rows"] else "refuse",
            options={
                "columns": pairs(options["column"], "--column is NAME=OTHER, as in plot=summary, each name once"),
                "rename": pairs(options["rename"], "--rename is NAME=OTHER, as in plot=summary, each name once"),
                **{name: options[name] for name in ("separator", "delimiter", "encoding")},
            },
        )
        if options["item_language"] is not None:
            change_item_language(dataset=version.dataset, language=options["item_language"])
        return version, version.report["metadata"][-1]

    def print_version(self, version: DatasetVersion, facts: Mapping[str, Any]) -> None:
        read = facts["read"]
        self.stdout.write(f"{version.dataset.name}, version {version.number}, from version {facts['base_version']}")
        rows = [
            ("rows read", read["rows_read"]),
            ("rows kept", read["rows_kept"]),
            ("items changed", facts["items_changed"]),
            *((f"{kind} added", count) for kind, count in sorted(facts["facts_added"].items())),
            *((f"{field} replaced", count) for field, count in sorted(facts["fields_replaced"].items())),
            ("already known", facts["facts_known"]),
        ]
        for name, count in rows:
            self.stdout.write(f"  {name:<24} {count:>12,}")
        self.print_dropped(read)
        self.print_warnings(read)
