"""Collects problems of an import: all are counted, the first of each kind are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import ImportProblem, ImportRefused

EXAMPLES_PER_REASON = 10
DECIMAL_COMMA = "decimal comma"  # the kind of problem


class Problems:
    """Problems of an import, counted by kind, with the first of each kind as examples."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.examples: dict[str, list[ImportProblem]] = {}
        self._files: dict[str, None] = {}  # in the order they were met: causes before their consequences

    def add(self, kind: str, problem: ImportProblem) -> None:
        """Count one problem of a kind ("rating off the scale", "unknown item", …)."""
        self._keep(kind, 1, [problem])

    def add_rows(
        self,
        kind: str,
        rows: NDArray[np.int64],
        describe: Callable[[int], ImportProblem],
    ) -> None:
        """Count a problem at each of `rows`; `describe` is called for the first few only."""
        if len(rows):
            self._keep(kind, len(rows), [describe(int(row)) for row in rows[:EXAMPLES_PER_REASON]])

    def merge(self, problems: Problems) -> None:
        """Add the problems of another collection."""
        for kind, count in problems.counts.items():
            self._keep(kind, count, problems.examples[kind])

    def _keep(self, kind: str, count: int, first: list[ImportProblem]) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + count
        examples = self.examples.setdefault(kind, [])
        examples.extend(replace(each, kind=kind) for each in first[: EXAMPLES_PER_REASON - len(examples)])
        self._files.update(dict.fromkeys(problem.file for problem in first))

    def those(self, is_it: Callable[[str], bool]) -> Problems:
        """The problems of some kinds."""
        chosen = Problems()
        chosen.counts = {kind: count for kind, count in self.counts.items() if is_it(kind)}
        chosen.examples = {kind: self.examples[kind] for kind in chosen.counts}
        chosen._files = self._files
        return chosen

    @property
    def total(self) -> int:
        """All problems counted so far."""
        return sum(self.counts.values())

    @property
    def are_decimal_commas(self) -> bool:
        """Whether every problem is a number with a decimal comma, which an option reads."""
        return set(self.counts) == {DECIMAL_COMMA}

    def refuse(self, advice: str, options: Iterable[str] = ()) -> None:
        """Raise `ImportRefused` with the examples, by file as first met and line, if there are any."""
        if self.total:
            problems = [problem for examples in self.examples.values() for problem in examples]
            positions = {file: position for position, file in enumerate(self._files)}
            problems.sort(key=lambda problem: (positions[problem.file], problem.line or 0))
            raise ImportRefused(problems, total=self.total, advice=advice, options=options, counts=self.counts)
