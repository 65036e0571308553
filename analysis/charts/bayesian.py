"""Charts of the Bayesian analysis."""

from __future__ import annotations

from analysis.results.comparison import Half
from charting import marks
from charting.theme import Spec
from inference.order_bootstrap import RankProbabilities


def posterior_strip(ranks: RankProbabilities, half: Half, title: str, subtitle: str) -> Spec:
    """The posterior probability of each rank on one side, the best on top."""
    rows = sorted(zip(ranks.names, ranks.probabilities, ranks.mean_ranks, strict=True), key=lambda row: row[2])
    probabilities = {name: of_name for name, of_name, _rank in rows}
    return marks.rank_strip(probabilities, title=title, subtitle=subtitle, side=half)
