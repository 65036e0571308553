"""The base of the commands that store a version of a dataset."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, OutputWrapper

from catalog.management.flags import in_flags
from catalog.models import DatasetVersion
from core.commands import ParallaxCommand
from core.errors import ParallaxError

EXAMPLES_SHOWN = 3
LINE_SECONDS = 0.2  # minimum time between two updates of the same activity
LINE_WIDTH = 72


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
        return in_flags(refusal)

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
    named: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value) or name in named:
            raise CommandError(f"{form}; {text!r} is not.")
        named[name] = value
    return named
