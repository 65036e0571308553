"""The specification curve: the average advantage of the primary pair by every other defensible analysis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.compute.advantage import compared_means
from analysis.compute.covariates import participants_with
from analysis.compute.matrix import SERVED
from analysis.compute.perceived import LEAST_N, groups_of
from analysis.compute.rankings import Ranking
from analysis.enums import RATED, Metric, Variable
from analysis.read.backgrounds import Backgrounds
from analysis.read.inputs import Measured
from analysis.read.metrics import StoredMetric
from analysis.read.responses import Reading
from analysis.results.advantage import Advantage, Alternative
from inference.ancova import adjusted_means
from inference.average_advantage import AverageAdvantage, MeanEstimates, average_advantage
from inference.pair_decisions import offline_pairs
from inference.partial_order import partial_order
from inference.results import Undefined

Separated = Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the analyses are made from: the primary pair, the answers, and what the runs measured."""

    variable: Variable
    metric: Metric
    reading: Reading
    rankings: Mapping[Metric, Ranking]
    measured: Sequence[Measured]
    stored: Sequence[StoredMetric]
    backgrounds: Backgrounds
    consumed: str  # the study's participle
    alpha: float


def alternatives_of(choices: Choices, planned: Advantage) -> tuple[Alternative, ...]:
    """Every analysis that differs from the plan in one decision, the plan itself first. They are no tests."""
    analyses = [("As planned", planned.overall)]
    if planned.other_items is not None:
        analyses.append(("Items nested in algorithms", planned.other_items))
    analyses += [*_other_participants(choices), *_other_items(choices), *_other_metrics(choices)]
    analyses += [(f"Without {name}", result) for name, result in planned.without.items()]
    return tuple(Alternative(name=name, result=result) for name, result in analyses)


def _separated(choices: Choices) -> Separated:
    return choices.rankings[choices.metric].order.direct


def _advantage(
    choices: Choices, means: MeanEstimates | Undefined, separated: Separated
) -> AverageAdvantage | Undefined:
    if isinstance(means, Undefined):
        return means
    among = [pair for pair in separated if set(pair) <= set(means.names)]
    return average_advantage(means, among, alpha=choices.alpha)


def _other_participants(choices: Choices) -> Iterator[tuple[str, AverageAdvantage | Undefined]]:
    """All completers, and the analysed participants at equal covariates."""
    reading, variable, separated = choices.reading, choices.variable, _separated(choices)
    if reading.n_left_out:
        means, _pairs = compared_means(groups_of(reading.completers, variable), choices.rankings[choices.metric])
        yield "Without exclusions", _advantage(choices, means, separated)
    if covariates := (*choices.backgrounds.factors, *choices.backgrounds.covariates):
        adjusted = adjusted_means(participants_with(reading.analysed, variable, covariates))
        yield "Adjusted for covariates", _advantage(choices, adjusted, separated)


def _other_items(choices: Choices) -> Iterator[tuple[str, AverageAdvantage | Undefined]]:
    """Only the items that participants had consumed, and only the others."""
    people, separated = choices.reading.analysed.people, _separated(choices)
    if choices.variable.key == RATED:
        consumed = [(person.condition, person.liking_sum, person.n_liking) for person in people]
        unconsumed = [(person.condition, person.interest_sum, person.n_interest) for person in people]
        yield f"Only items {choices.consumed}", _advantage(choices, _means_of(consumed), separated)
        yield f"Only items not {choices.consumed}", _advantage(choices, _means_of(unconsumed), separated)


def _means_of(sums: Iterable[tuple[str, int, int]]) -> MeanEstimates | Undefined:
    """Means of participants' means, from the condition, the sum and the number of ratings of each."""
    values: dict[str, list[float]] = {}
    for condition, total, n in sums:
        if n:
            values.setdefault(condition, []).append(total / n)
    enough = {name: own for name, own in values.items() if len(own) >= LEAST_N}
    if len(enough) < 2:
        return Undefined("Fewer than two conditions have two participants with such items.")
    return MeanEstimates.of_groups(enough)


def _other_metrics(choices: Choices) -> Iterator[tuple[str, AverageAdvantage | Undefined]]:
    """The same metric at other profile lengths, of the lists as served, by other protocols and with other users."""
    metric, rankings = choices.metric, {}
    for alternative, ranking in choices.rankings.items():
        if alternative.kind == metric.kind and alternative.length != metric.length:
            profiles = f"with profiles of {alternative.length} ratings" if alternative.length else "with whole profiles"
            rankings[f"{metric.kind.capitalize()} {profiles}"] = ranking
    for stored in choices.stored:
        name = stored.name.removesuffix(SERVED)
        is_same = name in (metric.kind, f"{metric.kind}@{metric.n}") and stored.profile_length == metric.length
        if is_same and stored.users is not None and (stored.protocol or name != stored.name):
            how = "of the lists as served" if name != stored.name else f"({stored.protocol.replace('-', ' ')})"
            rankings[f"{metric.kind.capitalize()} {how}"] = _ranking(choices, stored, stored.users)
    groups = groups_of(choices.reading.analysed, choices.variable)
    for name, other_ranking in rankings.items():
        means, separated = compared_means(groups, other_ranking)
        yield name, _advantage(choices, means, separated)


def _ranking(choices: Choices, stored: StoredMetric, users: NDArray[np.float64]) -> Ranking:
    """The order by a stored metric: pooled over cases as the report's own, or over users of another run."""
    own = next((run for run in choices.measured if run.length == stored.profile_length), None)
    cases = None if own is None or stored.protocol else own.cases[choices.metric.kind]
    pairs = offline_pairs(dict(zip(stored.values, users.T, strict=True)), cases, alpha=choices.alpha)
    if isinstance(pairs, Undefined):
        return Ranking({}, pairs, partial_order({}, ()), choices.metric.higher_is_better)
    order = partial_order(pairs.locations, pairs, higher_is_better=choices.metric.higher_is_better)
    return Ranking(pairs.locations, pairs, order, choices.metric.higher_is_better)
