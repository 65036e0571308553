"""What the lists of a run's algorithms share."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core import artefacts
from evaluation.metrics.beyond_accuracy import overlap
from evaluation.metrics.listed import mean_of_users
from evaluation.models import EvaluationRun
from evaluation.selectors.results import model_rows


@dataclass(frozen=True)
class Overlap:
    """How much of the first n items of a list two algorithms share, as a mean over lists; None where all are empty."""

    first: str
    second: str
    n: int
    share: float | None


def overlaps(run: EvaluationRun, profile_length: int = 0) -> tuple[Overlap, ...]:
    """Give the overlap of every two algorithms; none where the protocol keeps no lists."""
    kept = []
    for row in model_rows(run, profile_length):
        arrays = artefacts.load("results", row.users_digest).arrays
        if "list_items" not in arrays:
            return ()
        kept.append((row.label, np.asarray(arrays["list_items"])))
    return tuple(
        Overlap(first, second, run.n, mean_of_users(overlap(of_first, of_second, run.n)).value)
        for (first, of_first), (second, of_second) in combinations(kept, 2)
    )
