"""Uploaded files: the lines of a CSV file, and everything that is wrong with a file as one refusal."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import DataError

EXAMPLES = 10  # of each kind of problem that a refusal lists
REMEDY = "Correct these places, or leave them out, and upload the file again."


@dataclass
class FileProblems:
    """Everything that is wrong with a file: sentences, and by kind the number of places with the first of them."""

    sentences: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def say(self, sentence: str) -> None:
        """Add what is wrong with the file as a whole, with what to do."""
        self.sentences.append(sentence)

    def add(self, what: str, positions: Iterable[str]) -> None:
        """Add the positions of a kind of problem, such as ``line 3 ('x')``; nothing where there are none."""
        for position in positions:
            self.counts[what] = self.counts.get(what, 0) + 1
            if self.counts[what] <= EXAMPLES:
                self.examples.setdefault(what, []).append(position)

    def refuse(self) -> None:
        """Raise DataError if there are any."""
        located = []
        for what, examples in self.examples.items():
            more = f" and {self.counts[what] - EXAMPLES:,} more" if self.counts[what] > EXAMPLES else ""
            located.append(f"{what} ({self.counts[what]:,}): {'; '.join(examples)}{more}.")
        if located or self.sentences:
            raise DataError(" ".join([*self.sentences, *located, *([REMEDY] if located else [])]))


def csv_lines(path: Path, most_bytes: int) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line that is not empty, stripped, with its number. Raises DataError: the file is larger than
    `most_bytes`, or not CSV in UTF-8.
    """
    try:
        if path.stat().st_size > most_bytes:
            raise DataError(f"It is larger than {most_bytes // 2**20:,} MB, which is the most that is read as CSV.")
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            for fields in reader:
                if any(fields):
                    yield reader.line_num, [each.strip() for each in fields]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise DataError(f"It cannot be read as CSV: {problem}.") from problem
