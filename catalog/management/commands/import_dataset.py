"""Import a dataset from the shell, with a progress line and a summary."""

from __future__ import annotations

import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from accounts.models import Project
from accounts.selectors import projects_named
from catalog.importers.auto import FORMATS
from catalog.importers.proposal import as_recipe, of_recipe
from catalog.importers.scales import scale_of_text
from catalog.item_types import ITEM_TYPES
from catalog.management.version_command import COLUMNS, VersionCommand, in_words, pairs, questions_in_words
from catalog.models import DatasetVersion
from catalog.services import import_dataset, proposed

SHORT = 16  # characters of a value that is set to the right
# Options of the command that the service knows by the same name.
SETTINGS = (
    *("zeros", "time_format", "bins", "decimal", "encoding", "items_encoding", "items_file", "feature_separator"),
    *("usage", "merge_titles", "has_header", "on_bad_row", "duplicates"),
)


class Command(VersionCommand):
    help = (
        "Import ratings and items as a version of a dataset. The import succeeds completely or changes nothing. What "
        "is not said is detected; see --dry-run."
    )
    json_help = "write the numbers and the report"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        width = max(map(len, FORMATS))
        parser.epilog = "formats:\n" + "\n".join(
            f"  {name:<{width}}  {description.title}. {description.sentence}" for name, description in FORMATS.items()
        )
        parser.add_argument(
            "path", type=Path, metavar="PATH", help="a folder, an archive (ZIP, tar), or one file (also packed)"
        )
        parser.add_argument("--name", help="name of the dataset: small letters, digits, - and _")
        parser.add_argument(
            "--dry-run", action="store_true", help="import nothing; print what would be done, and its recipe"
        )
        parser.add_argument("--save-recipe", type=Path, metavar="FILE", help="write what is done as YAML")
        parser.add_argument("--recipe", type=Path, metavar="FILE", help="import by a saved recipe")
        parser.add_argument("--title", help="title on pages (default: the name)")
        parser.add_argument(
            "--item-type",
            metavar="KEY",
            help=f"what the items are: {', '.join(ITEM_TYPES)} (default: suggested by the format and the columns)",
        )
        parser.add_argument(
            "--project", metavar="NAME", help="a project's name or number (default: every researcher sees the dataset)"
        )
        parser.add_argument(
            "--item-language", metavar="CODE", help="language of the items' titles and plots, such as en"
        )
        parser.add_argument(
            "--format",
            default="auto",
            choices=["auto", *FORMATS],
            help="default: detected; see below",
        )
        parser.add_argument(
            "--fix",
            action="append",
            default=[],
            metavar="KIND",
            help="leave out rows with a kind of problem, such as missing-field; repeats: keep the last of each; all: "
            "of every kind; repeatable",
        )
        parser.add_argument(
            "--drop-bad-rows", dest="on_bad_row", action="store_const", const="drop", help="--fix all, but for repeats"
        )
        repeats = parser.add_mutually_exclusive_group()
        for flag, policy, what in (
            ("--keep-last", "last", "if a user rated an item twice, keep the last rating"),
            ("--keep-first", "first", "keep the first rating"),
            ("--keep-mean", "mean", "keep the mean of the ratings"),
            (
                "--count-repeats",
                "count",
                "usage data: store how often a user took an item, for the aspect model (aspect:counts=use)",
            ),
        ):
            repeats.add_argument(flag, dest="duplicates", action="store_const", const=policy, help=what)
        parser.add_argument(
            "--zeros",
            choices=["drop", "apart"],
            help="BookCrossing: leave out rows without a rating (default), or import only those",
        )
        super().add_arguments(parser)
        columns = parser.add_argument_group("columns", "By the names of the header, or Column 1, Column 2, …")
        for name in ("user", "item", "rating", "time", "count", "event"):
            columns.add_argument(f"--{name}-column", metavar="COLUMN")
        columns.add_argument("--utility-column", metavar="COLUMN", help="utility of a row (tafeng: price or profit)")
        columns.add_argument(
            "--usage",
            action="store_const",
            const=True,
            help="usage data without ratings: each row says that the user took the item",
        )
        columns.add_argument("--events", metavar="NAME,NAME", help="the events that are imported")
        columns.add_argument(
            "--scale", metavar="LOW:HIGH:STEP", help="for example 1:5:1, 1-10 or 1:5:none (default: detected)"
        )
        columns.add_argument("--bins", type=int, metavar="N", help="equal parts of a scale without steps")
        columns.add_argument(
            "--not-rated",
            action="append",
            type=float,
            default=[],
            metavar="NUMBER",
            help="a value that is no rating; repeatable",
        )
        columns.add_argument("--time-format", metavar="FORM", help="for example %%d.%%m.%%Y (default: detected)")
        columns.add_argument("--delimiter", metavar="CHARACTERS", help="default: detected; \\t is a tab")
        columns.add_argument(
            "--quoting", choices=["on", "off"], help="whether quotation marks enclose fields (default: detected)"
        )
        columns.add_argument(
            "--decimal",
            choices=[".", ","],
            metavar="CHARACTER",
            help="before the decimals of a number: . or , (default: detected)",
        )
        columns.add_argument("--encoding", metavar="NAME", help="default: detected")
        columns.add_argument("--items-encoding", metavar="NAME", help="of the file of items (default: the same)")
        columns.add_argument(
            "--no-header",
            dest="has_header",
            action="store_false",
            default=None,
            help="delimited files whose first line is data; the columns are then called Column 1, Column 2, …",
        )
        columns.add_argument(
            "--merge-titles",
            action="store_const",
            const=True,
            help="items of one title, by one author or of one year, are one item",
        )
        columns.add_argument("--items-file", type=Path, metavar="FILE", help="a file of items, in any of these formats")
        for name in ("items-id", "title", "author", "year", "plot", "image", "trailer", "item-utility"):
            columns.add_argument(f"--{name}-column", metavar="COLUMN", help="of the items")
        columns.add_argument(
            "--feature", action="append", default=[], metavar="KIND=COLUMN", help="for example genre=genres; repeatable"
        )
        columns.add_argument(
            "--feature-separator", metavar="TEXT", help="between the values of one feature (default: |)"
        )

    def stored_version(self, options: Mapping[str, Any]) -> tuple[DatasetVersion, dict[str, Any]] | None:
        project = None if options["project"] is None else _project(options["project"])
        started = time.monotonic()
        chosen = _service_options(options)
        try:
            proposal = of_recipe(options["recipe"].read_text()) if options["recipe"] else None
            if options["dry_run"] or options["save_recipe"]:
                proposal = proposal or proposed(path=options["path"], source_format=options["format"], options=chosen)
                if options["save_recipe"]:
                    options["save_recipe"].write_text(as_recipe(proposal))
            if options["dry_run"] and proposal is not None:
                self.stdout.write(in_words(proposal))
                if questions := questions_in_words(proposal):
                    raise CommandError(questions)
                return None
            if not options["name"]:
                raise CommandError("Give the dataset a name: --name NAME.")
            version = import_dataset(
                path=options["path"],
                name=options["name"],
                title=options["title"],
                source_format=options["format"],
                options=chosen,
                proposal=proposal,
                progress=self.line.update,
                item_type=options["item_type"],
                item_language=options["item_language"],
                project=project,
            )
        except OSError as problem:
            raise CommandError(f"{problem.filename}: {problem.strerror}.") from problem
        return version, {
            "source_format": version.source_format,
            "is_synthetic": version.is_synthetic,
            "n_users": version.n_users,
            "n_items": version.n_items,
            "n_ratings": version.n_ratings,
            "scale": {"low": version.scale_low, "high": version.scale_high, "step": version.scale_step},
            "seconds": round(time.monotonic() - started, 3),
            "report": version.report,
        }

    def print_version(self, version: DatasetVersion, facts: Mapping[str, Any]) -> None:
        report = version.report
        rows = [
            ("users", f"{version.n_users:,}"),
            ("items", f"{version.n_items:,}"),
            ("item type", version.dataset.item_type),
            ("project", str(version.dataset.project or "none")),
            ("item language", version.dataset.item_language or "unknown"),
            ("ratings", f"{version.n_ratings:,}"),
            ("rows dropped", f"{sum(report['dropped'].values()):,}"),
            ("scale", str(report["scale"])),
            *(
                (
                    f"per {who}",
                    f"{spread['median']:g} ratings in the median, {spread['lowest']:,} to {spread['highest']:,}",
                )
                for who in ("user", "item")
                if (spread := report.get("summary", {}).get(f"ratings_per_{who}"))
            ),
            ("content", version.content_hash[:16]),
            ("seconds", f"{facts['seconds']:.1f}"),
        ]
        self.stdout.write(f"{version.dataset.name}, version {version.number} ({version.source_format})")
        for name, value in rows:
            self.stdout.write(f"  {name:<13} {value if len(value) > SHORT else value.rjust(SHORT)}")
        self.print_dropped(report)
        add = report.get("mapping", {}).get("add")
        if add:
            self.stdout.write(f"  {add} was added to every rating, because 0 is kept for what is not rated.")
        self.print_warnings(report)


def _project(name: str) -> Project:
    projects = list(projects_named(name)[:3])
    if not projects:
        raise CommandError(f"There is no project {name!r}. Create it in the console, under Projects.")
    if len(projects) > 1:
        numbers = ", ".join(str(project.pk) for project in projects)
        raise CommandError(f"Several projects are called {name!r}. Name one by its number: {numbers}, …")
    return projects[0]


def _service_options(options: Mapping[str, Any]) -> dict[str, Any]:
    chosen = {name: options[name] for name in SETTINGS}
    chosen |= {name: options[f"{name}_column"] for name in COLUMNS}
    chosen |= {name: tuple(options[name]) or None for name in ("fix", "not_rated")}
    if options["scale"]:
        chosen["scale"] = scale_of_text(options["scale"])
    if options["feature"]:
        chosen["features"] = pairs(options["feature"], "--feature is KIND=COLUMN, as in genre=genres, each kind once")
    if options["events"]:
        chosen["events"] = tuple(name.strip() for name in options["events"].split(","))
    if options["delimiter"] is not None:
        chosen["delimiter"] = options["delimiter"].replace("\\t", "\t")
    if options["quoting"]:
        chosen["quoting"] = options["quoting"] == "on"
    return {name: value for name, value in chosen.items() if value is not None}
