"""Numbers of candidates (unrated items) per hidden rating, before and after a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from catalog.models import DatasetVersion
from catalog.selectors.ratings import ratings_of
from evaluation.models import EvaluationRun
from evaluation.protocols.facts import CandidateRange
from evaluation.selectors.cases import cases_of


def candidate_range(run: EvaluationRun) -> CandidateRange | None:
    """Return the candidate range of a run; None if its protocol draws no candidates, or it has no cases yet."""
    requested = run.protocol.get("negatives")
    if requested is None or not run.cases_digest:
        return None
    bounds: list[int] = []
    for fold in range(len(run.folds) or 1):
        counts = cases_of(run, fold).cases.n_candidates
        bounds += [int(counts.min()), int(counts.max())]
    return CandidateRange(min(bounds), max(bounds), int(requested))


def candidate_warning(version: DatasetVersion, protocol: Mapping[str, Any], split: Mapping[str, Any]) -> str:
    """Return a warning if users of a dataset have fewer unrated items than candidates requested; otherwise empty.

    Cases from a file include their candidates.
    """
    requested = protocol.get("negatives")
    if requested is None or split["name"] == "file":
        return ""
    rated = np.diff(ratings_of(version).user_items.indptr)
    rated = rated[rated > 0]
    candidates = CandidateRange(version.n_items - int(rated.max()), version.n_items - int(rated.min()), int(requested))
    if candidates.fewest >= candidates.asked:
        return ""
    counts = (
        f"{candidates.fewest:,}"
        if candidates.fewest == candidates.most
        else f"{candidates.fewest:,} to {candidates.most:,}"
    )
    return (
        f"{candidates.asked:,} candidates were requested per hidden rating, but users of this dataset have only "
        f"{counts} of its {version.n_items:,} items unrated. If there are fewer, each hidden rating is ranked among "
        "all of them. Results with different numbers of candidates are not comparable."
    )
