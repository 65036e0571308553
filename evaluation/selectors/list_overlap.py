"""Overlap of the lists of a run's algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core import artefacts
from evaluation.metrics.beyond_accuracy import overlap
from evaluation.metrics.list_values import mean_of_users
from evaluation.models import EvaluationRun
from evaluation.selectors.results import model_rows


@dataclass(frozen=True)
class Overlap:
    """The mean share of the top n items that two algorithms have in common; None if all lists are empty."""

    first: str
    second: str
    n: int
    share: float | None


def overlaps(run: EvaluationRun, profile_length: int = 0) -> tuple[Overlap, ...]:
    """Return the overlap of all pairs of algorithms; empty if the protocol stores no lists."""
    lists = []
    for row in model_rows(run, profile_length):
        arrays = artefacts.load("results", row.users_digest).arrays
        if "list_items" not in arrays:
            return ()
        lists.append((row.label, np.asarray(arrays["list_items"])))
    return tuple(
        Overlap(first, second, run.n, mean_of_users(overlap(of_first, of_second, run.n)).value)
        for (first, of_first), (second, of_second) in combinations(lists, 2)
    )
