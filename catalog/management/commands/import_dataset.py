"""Import a dataset from the shell, with a progress line and a summary."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from accounts.models import Project
from accounts.selectors import projects_named
from catalog.importers.auto import FORMATS
from catalog.importers.proposal import as_recipe, of_recipe
from catalog.importers.scales import scale_of_text
from catalog.item_types import ITEM_TYPES
from catalog.management.flags import in_flags, in_words, questions_in_words
from catalog.management.import_line import ImportLine
from catalog.models import DatasetVersion
from catalog.services import import_dataset, proposed
from core.commands import ParallaxCommand
from core.errors import ParallaxError

EXAMPLES_SHOWN = 3
SHORT = 16  # characters of a value that is set to the right
# Options of the command that name a column or a setting of delimited files, as the service calls them.
COLUMN_OPTIONS = {
    "user_column": "user",
    "item_column": "item",
    "rating_column": "rating",
    "time_column": "time",
    "count_column": "count",
    "event_column": "event",
    "utility_column": "utility",
    "zeros": "zeros",
    "time_format": "time_format",
    "bins": "bins",
    "decimal": "decimal",
    "encoding": "encoding",
    "items_encoding": "items_encoding",
    "items_file": "items_file",
    "items_id_column": "items_id",
    "title_column": "title",
    "author_column": "author",
    "year_column": "year",
    "plot_column": "plot",
    "image_column": "image",
    "trailer_column": "trailer",
    "item_utility_column": "item_utility",
    "feature_separator": "feature_separator",
}


class Command(ParallaxCommand):
    help = (
        "Import ratings and items as a version of a dataset. The import succeeds completely or changes nothing. What "
        "is not said is detected; see --dry-run."
    )

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
        parser.add_argument("--drop-bad-rows", action="store_true", help="--fix all, but for repeats")
        repeats = parser.add_mutually_exclusive_group()
        repeats.add_argument(
            "--keep-last", action="store_true", help="if a user rated an item twice, keep the last rating"
        )
        repeats.add_argument("--keep-first", action="store_true", help="keep the first rating")
        repeats.add_argument("--keep-mean", action="store_true", help="keep the mean of the ratings")
        repeats.add_argument(
            "--count-repeats",
            action="store_true",
            help="usage data: store how often a user took an item, for the aspect model (aspect:counts=use)",
        )
        parser.add_argument(
            "--zeros",
            choices=["drop", "apart"],
            help="BookCrossing: leave out rows without a rating (default), or import only those",
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers and the report")
        columns = parser.add_argument_group("columns", "By the names of the header, or Column 1, Column 2, …")
        for name in ("user", "item", "rating", "time", "count", "event"):
            columns.add_argument(f"--{name}-column", metavar="COLUMN")
        columns.add_argument("--utility-column", metavar="COLUMN", help="utility of a row (tafeng: price or profit)")
        columns.add_argument(
            "--usage", action="store_true", help="usage data without ratings: each row says that the user took the item"
        )
        columns.add_argument("--events", metavar="NAME,NAME", help="the events that are imported")
        columns.add_argument(
            "--scale", metavar="LOW:HIGH:STEP", help="for example 1:5:1, 1-10 or 1:5:none (default: detected)"
        )
        columns.add_argument("--bins", type=int, metavar="N", help="equal parts of a scale without steps")
        columns.add_argument(
            "--not-rated", action="append", type=float, metavar="NUMBER", help="a value that is no rating; repeatable"
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
            action="store_true",
            help="delimited files whose first line is data; the columns are then called Column 1, Column 2, …",
        )
        columns.add_argument(
            "--merge-titles", action="store_true", help="items of one title, by one author or of one year, are one item"
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

    def sentence(self, refusal: ParallaxError) -> str:
        return in_flags(refusal)

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path | None = options["json"]
        if file is not None and not file.parent.is_dir():
            raise CommandError(f"There is no folder {file.parent} to write {file.name} into. Create it first.")
        project = None if options["project"] is None else _project(options["project"])
        started = time.monotonic()
        line = ImportLine(self.stdout)
        try:
            chosen = _service_options(options)
            proposal = of_recipe(options["recipe"].read_text()) if options["recipe"] else None
            if options["dry_run"] or options["save_recipe"]:
                proposal = proposal or proposed(path=options["path"], source_format=options["format"], options=chosen)
                if options["save_recipe"]:
                    options["save_recipe"].write_text(as_recipe(proposal))
            if options["dry_run"] and proposal is not None:
                self.stdout.write(in_words(proposal))
                if questions := questions_in_words(proposal):
                    raise CommandError(questions)
                return
            if not options["name"]:
                raise CommandError("Give the dataset a name: --name NAME.")
            version = import_dataset(
                path=options["path"],
                name=options["name"],
                title=options["title"],
                source_format=options["format"],
                options=chosen,
                proposal=proposal,
                progress=line.update,
                item_type=options["item_type"],
                item_language=options["item_language"],
                project=project,
            )
        except OSError as problem:
            raise CommandError(f"{problem.filename}: {problem.strerror}.") from problem
        finally:
            line.clear()
        seconds = time.monotonic() - started
        self._table(version, seconds)
        if file is not None:
            file.write_text(json.dumps(_document(version, seconds), indent=2, ensure_ascii=False) + "\n")
            self.stdout.write(f"Written to {file}.")

    def _table(self, version: DatasetVersion, seconds: float) -> None:
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
            ("seconds", f"{seconds:.1f}"),
        ]
        self.stdout.write(f"{version.dataset.name}, version {version.number} ({version.source_format})")
        for name, value in rows:
            self.stdout.write(f"  {name:<13} {value if len(value) > SHORT else value.rjust(SHORT)}")
        for reason, count in report["dropped"].items():
            self.stdout.write(f"  {count:,} × {reason}")
            for example in report["examples"].get(reason, [])[:EXAMPLES_SHOWN]:
                position = example["file"] + (f", line {example['line']}" if example["line"] is not None else "")
                self.stdout.write(f"    {position}: {example['reason']}")
        add = report.get("mapping", {}).get("add")
        if add:
            self.stdout.write(f"  {add} was added to every rating, because 0 is kept for what is not rated.")
        for warning in report["warnings"]:
            self.stdout.write(f"  {warning}")


def _project(name: str) -> Project:
    """The project of this name or number."""
    projects = list(projects_named(name)[:3])
    if not projects:
        raise CommandError(f"There is no project {name!r}. Create it in the console, under Projects.")
    if len(projects) > 1:
        numbers = ", ".join(str(project.pk) for project in projects)
        raise CommandError(f"Several projects are called {name!r}. Name one by its number: {numbers}, …")
    return projects[0]


def _service_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of the command line, by the names of the service."""
    chosen = {name: options[option] for option, name in COLUMN_OPTIONS.items() if options[option] is not None}
    if options["scale"]:
        chosen["scale"] = scale_of_text(options["scale"])
    if options["feature"]:
        chosen["features"] = _features(options["feature"])
    if options["no_header"]:
        chosen["has_header"] = False
    chosen |= {name: True for name in ("usage", "merge_titles") if options[name]}
    if options["drop_bad_rows"]:
        chosen["on_bad_row"] = "drop"
    if options["fix"]:
        chosen["fix"] = tuple(options["fix"])
    for option, policy in (
        ("keep_last", "last"),
        ("keep_first", "first"),
        ("keep_mean", "mean"),
        ("count_repeats", "count"),
    ):
        if options[option]:
            chosen["duplicates"] = policy
    if options["events"]:
        chosen["events"] = tuple(name.strip() for name in options["events"].split(","))
    if options["not_rated"]:
        chosen["not_rated"] = tuple(options["not_rated"])
    if options["delimiter"] is not None:
        chosen["delimiter"] = options["delimiter"].replace("\\t", "\t")
    if options["quoting"]:
        chosen["quoting"] = options["quoting"] == "on"
    return chosen


def _features(texts: list[str]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for text in texts:
        kind, equals, column = text.partition("=")
        if not (kind and equals and column) or kind in columns:
            raise CommandError(f"--feature is KIND=COLUMN, as in genre=genres, each kind once; {text!r} is not.")
        columns[kind] = column
    return columns


def _document(version: DatasetVersion, seconds: float) -> dict[str, Any]:
    return {
        "dataset": version.dataset.name,
        "version": version.number,
        "dataset_hash": version.content_hash,
        "ratings_digest": version.ratings_digest,
        "source_format": version.source_format,
        "is_synthetic": version.is_synthetic,
        "n_users": version.n_users,
        "n_items": version.n_items,
        "n_ratings": version.n_ratings,
        "scale": {"low": version.scale_low, "high": version.scale_high, "step": version.scale_step},
        "seconds": round(seconds, 3),
        "report": version.report,
    }
