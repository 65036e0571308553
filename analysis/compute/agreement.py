"""The comparison: for every variable and metric, how well their rankings of the conditions agree."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from analysis.compute.rankings import ALPHA, Ranking, mean_ranks
from analysis.enums import Metric, Variable
from analysis.results.advantage import DecidedPairs
from analysis.results.comparison import Comparison, Ranks
from analysis.results.variables import scale_variables
from inference.agreement import kendall, spearman
from inference.pair_decisions import decide_pairs
from inference.results import PairwiseResult, Undefined


def compare(
    variable: Variable, metric: Metric, perceived: Ranking, objective: Ranking, *, alpha: float = ALPHA
) -> Comparison:
    """Compare one variable with one metric over the conditions that have both.

    The larger value is better on both sides: a metric whose smaller value is better changes its sign.
    """
    names = [name for name in perceived.values if name in objective.values]
    sign = 1 if objective.higher_is_better else -1
    x = [perceived.values[name] for name in names]
    y = [sign * objective.values[name] for name in names]
    return Comparison(
        variable_key=variable.key,
        scale_variables=scale_variables([variable]),
        metric_key=metric.key,
        kind=metric.kind,
        alpha=alpha,
        profile_length=metric.length,
        higher_is_better=objective.higher_is_better,
        conditions=tuple(names),
        ranks=Ranks(
            perceived=mean_ranks(dict(zip(names, x, strict=True))),
            objective=mean_ranks(dict(zip(names, y, strict=True))),
        ),
        tau=kendall(x, y, alpha),
        rho=spearman(x, y, alpha),
        decided=decided_pairs(perceived, objective),
        is_primary=False,
    )


def decided_pairs(perceived: Ranking, objective: Ranking) -> DecidedPairs | Undefined:
    """Every pair of the algorithms that both sides compare, decided; or why there is none."""
    if isinstance(perceived.pairs, Undefined):
        return perceived.pairs
    if isinstance(objective.pairs, Undefined):
        return objective.pairs
    names = perceived.pairs.locations.keys() & objective.pairs.locations.keys()
    if len(names) < 2:
        return Undefined("Fewer than two algorithms are compared on both sides.")
    decisions = decide_pairs(
        _among(names, perceived.pairs),
        _among(names, objective.pairs),
        offline_higher_is_better=objective.higher_is_better,
    )
    return DecidedPairs(
        pairs=decisions.pairs,
        participants_rank_sets=decisions.participants_rank_sets,
        offline_rank_sets=decisions.offline_rank_sets,
        implied=decisions.participants.implied,
    )


def _among(names: Set[str], compared: PairwiseResult) -> PairwiseResult:
    """The comparisons of some of the conditions; their p stay those of the whole family."""
    return replace(
        compared,
        pairs=tuple(pair for pair in compared.pairs if {pair.a, pair.b} <= names),
        locations={name: location for name, location in compared.locations.items() if name in names},
    )


def all_comparisons(
    perceived: Mapping[Variable, Ranking],
    objective: Mapping[Metric, Ranking],
    primary: tuple[str, str],
    *,
    alpha: float = ALPHA,
    is_tested: bool,
) -> tuple[Comparison, ...]:
    """Every variable with every metric, the primary pair first.

    `is_tested`: the rank correlation is the primary test.
    """
    comparisons = [
        compare(variable, metric, by_participants, by_metric, alpha=alpha)
        for variable, by_participants in perceived.items()
        for metric, by_metric in objective.items()
    ]
    comparisons = [
        replace(comparison, is_primary=True, is_tested=is_tested)
        if (comparison.variable_key, comparison.metric_key) == primary
        else comparison
        for comparison in comparisons
    ]
    return tuple(sorted(comparisons, key=lambda comparison: not comparison.is_primary))
