"""How many unrated items each hidden rating is ranked among, before a run and after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalog.models import DatasetVersion
from catalog.selectors.ratings import ratings_of
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of


@dataclass(frozen=True)
class CandidateRange:
    """The fewest and the most candidates of a run's cases, and the number that was asked for."""

    fewest: int
    most: int
    asked: int

    @property
    def in_words(self) -> str:
        """The number or its range, with the number asked for where the two differ."""
        found = f"{self.fewest:,}" if self.fewest == self.most else f"{self.fewest:,} to {self.most:,}"
        return found if self.fewest >= self.asked else f"{found} ({self.asked:,} were asked for)"


def candidate_range(run: EvaluationRun) -> CandidateRange | None:
    """Give the numbers of candidates of a run's cases; None where its protocol draws none, or it has no cases yet."""
    asked = run.protocol.get("negatives")
    if asked is None or not run.cases_digest:
        return None
    bounds: list[int] = []
    for fold in range(len(run.folds) or 1):
        counts = cases_of(run, fold).cases.n_candidates
        bounds += [int(counts.min()), int(counts.max())]
    return CandidateRange(min(bounds), max(bounds), int(asked))


def candidate_warning(version: DatasetVersion, protocol: Mapping[str, Any], split: Mapping[str, Any]) -> str:
    """Say, before a run, that users of a dataset leave fewer items unrated than are asked for; empty where none does.

    Cases of a file bring their own candidates.
    """
    asked = protocol.get("negatives")
    if asked is None or split["name"] == "file":
        return ""
    rated = np.diff(ratings_of(version).user_items.indptr)
    rated = rated[rated > 0]
    found = CandidateRange(version.n_items - int(rated.max()), version.n_items - int(rated.min()), int(asked))
    if found.fewest >= found.asked:
        return ""
    counts = f"{found.fewest:,}" if found.fewest == found.most else f"{found.fewest:,} to {found.most:,}"
    return (
        f"{found.asked:,} unrated items were asked for beside each hidden rating, and users of this dataset leave "
        f"{counts} of its {version.n_items:,} items unrated. Where there are fewer, each hidden rating is ranked among "
        "all of them. Results from different numbers of candidates cannot be compared."
    )
