"""The base of the commands that store a version of a dataset, and their flags by the options that they set."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, OutputWrapper

from catalog.importers.detector.file_syntax import SHOWN_DELIMITERS
from catalog.importers.options import ITEM_COLUMNS, RATING_COLUMNS
from catalog.importers.proposal import Proposal, as_recipe
from catalog.models import DatasetVersion
from core.commands import ParallaxCommand
from core.errors import ParallaxError

EXAMPLES_SHOWN = 3
LINE_SECONDS = 0.2  # minimum time between two updates of the same activity
LINE_WIDTH = 72
# Options that name a column: --user-column, …
COLUMNS = (*RATING_COLUMNS, "utility", "items_id", *ITEM_COLUMNS, "item_utility")
FLAGS: Mapping[str, str] = {
    "on_bad_row": "--fix all or --drop-bad-rows",
    "duplicates": "--keep-last",
    "fix": "--fix KIND",
    "format": "--format NAME",
    "usage": "--usage",
    "scale": "--scale LOW:HIGH:STEP",
    "zeros": "--zeros",
    "delimiter": "--delimiter CHARACTER",
    "decimal": "--decimal ,",
    "encoding": "--encoding NAME",
    "items_encoding": "--items-encoding NAME",
    "has_header": "--no-header",
    "items_file": "--items-file FILE",
    "features": "--feature KIND=COLUMN",
    "feature_separator": "--feature-separator TEXT",
    "events": "--events NAME,NAME",
    "not_rated": "--not-rated NUMBER",
    "zero": "--not-rated 0 or --scale LOW:HIGH:STEP",
    "time_format": "--time-format FORM",
    "quoting": "--quoting on|off",
    "bins": "--bins N",
    "merge_titles": "--merge-titles",
    **{name: f"--{name.replace('_', '-')}-column COLUMN" for name in COLUMNS},
}


class ImportLine:
    """What is being done and how far, on one line that is overwritten; silent if the output is not a terminal."""

    def __init__(self, out: OutputWrapper) -> None:
        self._out = out
        self._activity = ""
        self._written_at = 0.0

    def update(self, activity: str, done: int, total: int | None, /) -> None:
        now = time.monotonic()
        is_recent = activity == self._activity and now - self._written_at < LINE_SECONDS
        if is_recent or not self._out.isatty():
            return
        self._activity, self._written_at = activity, now
        of = f" of {total:,}" if total is not None else ""
        self._out.write(f"\r{f'{activity}: {done:,}{of}':<{LINE_WIDTH}.{LINE_WIDTH}}", ending="")
        self._out.flush()

    def clear(self) -> None:
        if self._written_at:
            self._out.write("\r" + " " * LINE_WIDTH + "\r", ending="")


class VersionCommand(ParallaxCommand):
    """A command with a progress line, which names options by their flags and writes what it stored as JSON."""

    json_help: str

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", type=Path, metavar="FILE", help=self.json_help)

    def sentence(self, refusal: ParallaxError) -> str:
        """A refusal of an import as a command prints it: options are named by their flags."""
        if "untaken" in refusal.extra:
            untaken = _listed(refusal.extra["untaken"])
            accepted = _listed(refusal.extra["taken"]) or "none of these options: its columns are fixed"
            return f"Format {refusal.extra['format']} does not take {untaken}; it takes {accepted}."
        flags = _listed(refusal.extra.get("options", ()))
        return f"{refusal} Use {flags}." if flags else str(refusal)

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path | None = options["json"]
        if file is not None and not file.parent.is_dir():
            raise CommandError(f"There is no folder {file.parent} to write {file.name} into. Create it first.")
        self.line = ImportLine(self.stdout)
        try:
            stored = self.stored_version(options)
        finally:
            self.line.clear()
        if stored is None:
            return
        version, facts = stored
        self.print_version(version, facts)
        if file is not None:
            document = {
                "dataset": version.dataset.name,
                "version": version.number,
                "dataset_hash": version.content_hash,
                "ratings_digest": version.ratings_digest,
                **facts,
            }
            file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
            self.stdout.write(f"Written to {file}.")

    def stored_version(self, options: Mapping[str, Any]) -> tuple[DatasetVersion, dict[str, Any]] | None:
        """Store a version; returns it with the facts for the JSON file, or nothing where nothing was to be stored."""
        raise NotImplementedError

    def print_version(self, version: DatasetVersion, facts: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def print_dropped(self, report: Mapping[str, Any]) -> None:
        """The rows that were left out, by reason, with the first of each."""
        for reason, count in report["dropped"].items():
            self.stdout.write(f"  {count:,} × {reason}")
            for example in report["examples"].get(reason, [])[:EXAMPLES_SHOWN]:
                position = example["file"] + (f", line {example['line']}" if example["line"] is not None else "")
                self.stdout.write(f"    {position}: {example['reason']}")

    def print_warnings(self, report: Mapping[str, Any]) -> None:
        for warning in report["warnings"]:
            self.stdout.write(f"  {warning}")


def pairs(texts: Iterable[str], form: str) -> dict[str, str]:
    """The names and what each is set to, of arguments such as plot=summary. Raises CommandError with the `form`."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value) or name in values:
            raise CommandError(f"{form}; {text!r} is not.")
        values[name] = value
    return values


def in_words(proposal: Proposal) -> str:
    """What would be done, with the recipe."""
    lines = []
    for part in proposal.parts:
        written = part.written
        how = [SHOWN_DELIMITERS.get(written.delimiter, written.delimiter), written.encoding.upper()]
        header = ["header"] if written.lines_before else ["no header"]
        how_written = [written.records, *(how + header if written.records == "table" else [])]
        rows = (
            [f"{proposal.sample['rows']:,} rows"] if part.use == "ratings" and proposal.sample.get("is_whole") else []
        )
        lines.append(f"{', '.join(part.files[:3])}: {', '.join([*how_written, *rows])}, for the {part.use}")
        width = max((len(column.name) for column in part.columns), default=0)
        lines += [
            f"  {column.name:<{width}}  {column.role or '-':<16} {column.confidence}: {column.evidence}".removesuffix(
                ": "
            )
            for column in part.columns
        ]
    lines += [*(f"Not read: {name}." for name in proposal.unused), *proposal.doubts]
    return "\n".join([*lines, "", as_recipe(proposal)])


def questions_in_words(proposal: Proposal) -> str:
    """The questions of a proposal, each with the options that answer it; empty where there are none."""
    lines = []
    for question in proposal.questions:
        answers = "; ".join(f"{label}: {_answer(question.about, value)}" for label, value in question.answers)
        lines.append(f"{question.text} {answers}")
    return "\n".join(lines)


def _answer(about: str, value: str) -> str:
    if value == "usage":
        return "--usage"
    flags = {"zero": "--scale" if ":" in value else "--not-rated", "rating": "--rating-column"}
    return f"{flags.get(about, '--' + about.replace('_', '-'))} {value}"


def _listed(options: Iterable[str]) -> str:
    return ", ".join(FLAGS[name] for name in options)
