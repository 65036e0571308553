"""Problems as an importer meets them: every one counted, the first of each kind kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import ImportProblem, ImportRefused

EXAMPLES_PER_REASON = 10


class Problems:
    """Problems as they are met: all counted by kind, the first of each kind kept as examples."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.examples: dict[str, list[ImportProblem]] = {}

    def add(self, kind: str, problem: ImportProblem) -> None:
        """Count one problem of a kind ("off the scale", "unknown item", …)."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        kept = self.examples.setdefault(kind, [])
        if len(kept) < EXAMPLES_PER_REASON:
            kept.append(problem)

    def add_rows(
        self,
        kind: str,
        rows: NDArray[np.int64],
        describe: Callable[[int], ImportProblem],
    ) -> None:
        """Count a problem at each of `rows`; `describe` is asked about the first few only."""
        if len(rows) == 0:
            return
        self.counts[kind] = self.counts.get(kind, 0) + len(rows)
        kept = self.examples.setdefault(kind, [])
        kept.extend(describe(int(row)) for row in rows[: EXAMPLES_PER_REASON - len(kept)])

    def merge(self, others: Problems) -> None:
        """Count another collection's problems as well."""
        for kind, count in others.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + count
            kept = self.examples.setdefault(kind, [])
            kept.extend(others.examples[kind][: EXAMPLES_PER_REASON - len(kept)])

    @property
    def total(self) -> int:
        """All problems counted so far."""
        return sum(self.counts.values())

    def refuse(self, advice: str) -> None:
        """Raise `ImportRefused` with the examples, in order of file and line, if there are any."""
        if self.total:
            found = [problem for kept in self.examples.values() for problem in kept]
            found.sort(key=lambda problem: (problem.file, problem.line or 0))
            raise ImportRefused(found, total=self.total, advice=advice)
