"""Both sides compared: the pairs decided, the average advantage, the planned contrast, and other analyses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from analysis.compute.covariates import participants_with
from analysis.compute.in_turn import contrast_in_turn, means_in_turn
from analysis.compute.perceived import LEAST_N, groups_among, groups_of, values_of
from analysis.enums import RATED, Metric, Variable, scale_variables
from analysis.read.inputs import Answers, Measured
from analysis.read.metrics import StoredMetric
from analysis.read.responses import Reading
from analysis.read.sample import Backgrounds
from analysis.results import comparison as results
from analysis.results.rankings import ALPHA, Ranking, mean_ranks
from evaluation.metrics.definition import written
from evaluation.metrics.registry import METRICS
from evaluation.metrics.registry import metric as metric_of
from inference.agreement import kendall, spearman
from inference.ancova import adjusted_means
from inference.average_advantage import (
    AverageAdvantage,
    ExploratoryFamily,
    MeanEstimates,
    Separated,
    average_advantage,
    exploratory_family,
    same_metrics,
    without_each,
)
from inference.contrasts import ContrastResult, planned_contrast
from inference.equivalence import EquivalenceResult, bound_test, equivalence, equivalence_of_pairs
from inference.groups import ExactGroups, in_words
from inference.pair_decisions import decide_pairs, offline_pairs
from inference.partial_order import partial_order
from inference.posthoc import pairs_of_means
from inference.results import AgreementResult, PairwiseResult, Undefined
from studies.settings import Contrast

SERVED = "(ties=served)"
NO_SHARING: Mapping[str, str] = MappingProxyType({})  # every condition has a recommender of its own
DIGITS = 10  # decimals in which two algorithms differ, as in the scripts of the package


def metric_label(name: str, n: int) -> str:
    """The name of a stored metric within a sentence; `n` is the list length of names that state none.

    Examples
    --------
    >>> metric_label("ndcg@10(gain=linear)", 5), metric_label("recall(ties=served)", 5), metric_label("rmse", 5)
    ('nDCG at 10', 'recall at 5 as served', 'RMSE')
    >>> metric_label("f-beta@5(beta=.5,of=users)", 5)
    'F at 5 (beta=.5)'
    """
    stated = name.removesuffix(SERVED)
    measure = metric_of(f"{stated}@{n}" if stated in METRICS and METRICS[stated].needs_n else stated)
    values = dict(measure.options)
    changed = [
        f"{option.name}={written(value)}"
        for option in measure.definition.options
        if (value := values.get(option.name)) is not None and value != option.default
    ]
    label = measure.definition.short or measure.key.replace("-", " ")
    length = "" if measure.n is None else f" at {measure.n}"
    served = " as served" if name.endswith(SERVED) else ""
    return f"{label}{length}{served}" + (f" ({', '.join(changed)})" if changed else "")


def by_recommender(values: Mapping[str, float], recommenders: Mapping[str, str]) -> dict[str, float]:
    """The mean of each recommender over its conditions, which weigh the same whatever their numbers of participants.

    `recommenders` by condition; empty where each condition has its own.

    Examples
    --------
    >>> by_recommender({"LSA · plain": 3.0, "LSA · explained": 4.0}, {"LSA · plain": "LSA", "LSA · explained": "LSA"})
    {'LSA': 3.5}
    """
    own: dict[str, list[float]] = {}
    for name, value in values.items():
        own.setdefault(recommenders.get(name, name), []).append(value)
    return {name: math.fsum(each) / len(each) for name, each in own.items()}


def comparison_matrix(
    metrics: Sequence[StoredMetric],
    perceived: Mapping[Variable, Ranking],
    comparisons: Sequence[results.Comparison],
    *,
    recommenders: Mapping[str, str] = NO_SHARING,
    alpha: float = ALPHA,
) -> results.Matrix | None:
    """Every metric with every measure, by Kendall's τ_b; None without metrics or without measures.

    `comparisons` are those of `analysis.compute.comparison.all_comparisons`, whose coefficients are those of the same
    pairs here. A metric that lacks a value for a condition, or is the same for all, gives cells with the reason.
    """
    if not metrics or not perceived:
        return None
    tested = {(comparison.metric_key, comparison.variable_key): comparison for comparison in comparisons}
    rows = [
        results.MatrixMetric(
            key=stored.key,
            name=stored.name,
            label=metric_label(stored.name, stored.n),
            protocol=stored.protocol.replace("-", " "),
            profile_length=stored.profile_length,
            direction=METRICS[stored.name.partition("@")[0].partition("(")[0]].direction,
            values=dict(stored.values),
        )
        for stored in metrics
    ]
    cells = []
    for stored, row in zip(metrics, rows, strict=True):
        for variable, ranking in perceived.items():
            comparison = tested.get((row.key, variable.key))
            tau = (
                _tau(stored, row, variable, ranking, recommenders, alpha=alpha)
                if comparison is None
                else comparison.tau
            )
            is_primary = comparison is not None and comparison.is_primary
            cells.append(results.MatrixCell(metric=row.key, variable_key=variable.key, tau=tau, is_primary=is_primary))
    return results.Matrix(
        variable_keys=tuple(variable.key for variable in perceived),
        scale_variables=scale_variables(perceived),
        metrics=tuple(rows),
        cells=tuple(cells),
    )


def _tau(
    stored: StoredMetric,
    row: results.MatrixMetric,
    variable: Variable,
    ranking: Ranking,
    recommenders: Mapping[str, str],
    *,
    alpha: float,
) -> AgreementResult | Undefined:
    """τ_b over the recommenders that participants judged, the larger better on both sides."""
    names = [name for name in stored.values if name in ranking.values]
    if len(names) < 2:
        return Undefined("Fewer than two conditions have both measures.")
    missing = [name for name in names if stored.values[name] is None]
    if missing:
        reasons = dict.fromkeys(stored.reasons[name] for name in missing if name in stored.reasons)
        because = f": {'; '.join(reasons)}" if reasons else ""
        return Undefined(f"No value of {row.in_text} for {', '.join(missing)}{because}.")
    values = {name: row.sign * round(value, DIGITS) for name in names if (value := stored.values[name]) is not None}
    y = [*by_recommender(values, recommenders).values()]
    x = [*by_recommender({name: ranking.values[name] for name in names}, recommenders).values()]
    if len(set(y)) == 1:
        return Undefined(f"All algorithms have the same {row.in_text}.")
    if len(set(x)) == 1:
        return Undefined(f"All algorithms have the same mean of {variable.in_text}.")
    return kendall(x, y, alpha)


def compare(
    variable: Variable,
    metric: Metric,
    perceived: Ranking,
    objective: Ranking,
    *,
    recommenders: Mapping[str, str] = NO_SHARING,
    alpha: float = ALPHA,
) -> results.Comparison:
    """Compare one variable with one metric over the conditions that have both.

    The larger value is better on both sides: a metric whose smaller value is better changes its sign. Rank correlations
    are over recommenders, as in `by_recommender`.
    """
    sign = 1 if objective.higher_is_better else -1
    x = {name: value for name, value in perceived.values.items() if name in objective.values}
    y = {name: sign * objective.values[name] for name in x}
    of_people, of_metric = ([*by_recommender(side, recommenders).values()] for side in (x, y))
    return results.Comparison(
        variable_key=variable.key,
        scale_variables=scale_variables([variable]),
        metric_key=metric.key,
        kind=metric.kind,
        alpha=alpha,
        profile_length=metric.length,
        higher_is_better=objective.higher_is_better,
        conditions=tuple(x),
        ranks=results.Ranks(perceived=mean_ranks(x), objective=mean_ranks(y)),
        tau=kendall(of_people, of_metric, alpha),
        rho=spearman(of_people, of_metric, alpha),
        decided=decided_pairs(perceived, objective),
        is_primary=False,
    )


def decided_pairs(perceived: Ranking, objective: Ranking) -> results.DecidedPairs | Undefined:
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
    return results.DecidedPairs(
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
    recommenders: Mapping[str, str] = NO_SHARING,
    alpha: float = ALPHA,
    is_tested: bool,
) -> tuple[results.Comparison, ...]:
    """Every variable with every metric, the primary pair first.

    `is_tested`: the rank correlation is the primary test.
    """
    comparisons: list[results.Comparison] = []
    for variable, by_participants in perceived.items():
        for metric, by_metric in objective.items():
            comparison = compare(variable, metric, by_participants, by_metric, recommenders=recommenders, alpha=alpha)
            if (variable.key, metric.key) == primary:
                comparisons.insert(0, replace(comparison, is_primary=True, is_tested=is_tested))
            else:
                comparisons.append(comparison)
    return tuple(comparisons)


MOST_TESTS = 16  # of the exploratory family


def advantage_of(
    answers: Answers,
    variable: Variable,
    metric: Ranking,
    nested: MeanEstimates | Undefined,
    *,
    recommenders: Mapping[str, str] = NO_SHARING,
    alpha: float = ALPHA,
    bound: float | None = None,
) -> results.Advantage:
    """The average advantage over the pairs that the metric separates among the conditions with answers.

    Where recommenders are crossed with presentations, every condition of one is paired with every condition of the
    other, so that presentations weigh the same.

    `nested` are the estimates of the model with items nested in conditions; `bound` is the smallest effect of interest.
    """
    means, separated = compared_means(comparable(answers, variable), metric)
    if isinstance(means, Undefined):
        return results.Advantage(overall=means)
    other_items: AverageAdvantage | Undefined | None = None
    if variable.key == RATED and not answers.occasions:
        other_items = nested if isinstance(nested, Undefined) else average_advantage(nested, separated, alpha=alpha)
    return results.Advantage(
        overall=average_advantage(means, separated, alpha=alpha, bound=bound),
        other_items=other_items,
        without=without_each(means, separated, recommenders, alpha=alpha),
    )


def exploratory_of(
    answers: Answers,
    variables: Iterable[Variable],
    metrics: Mapping[Metric, Ranking],
    primary: tuple[str, str],
    *,
    alpha: float = ALPHA,
) -> ExploratoryFamily:
    """The average advantage of every measure by every metric but the primary pair, corrected as one family.

    Metrics that order the algorithms alike are one test. Of more than 16 tests the first are kept, in the order of the
    plan.
    """
    by_key = {metric.key: ranking for metric, ranking in metrics.items()}
    groups = same_metrics({key: ranking.order for key, ranking in by_key.items()})
    advantages: dict[tuple[str, tuple[str, ...]], AverageAdvantage | Undefined] = {}
    for variable in variables:
        values = comparable(answers, variable)
        for group in groups:
            if variable.key != primary[0] or primary[1] not in group:
                means, separated = compared_means(values, by_key[group[0]])
                advantages[variable.key, group] = (
                    means if isinstance(means, Undefined) else average_advantage(means, separated, alpha=alpha)
                )
    return exploratory_family(dict(itertools.islice(advantages.items(), MOST_TESTS)), alpha)


Comparable = ExactGroups | MeanEstimates | Undefined


def comparable(answers: Answers, variable: Variable) -> Comparable:
    """The values of independent conditions, or the means by the mixed model where each participant met all of them."""
    if answers.occasions:
        return means_in_turn(answers, values_of(answers, variable))
    return groups_of(answers, variable)


def compared_means(values: Comparable, metric: Ranking) -> tuple[MeanEstimates | Undefined, list[tuple[str, str]]]:
    """The means of the conditions with answers, and the pairs of them that the metric separates."""
    if isinstance(values, ExactGroups):
        names = [name for name, n in values.sizes.items() if name in metric.values and n >= LEAST_N]
        if len(names) < 2:
            return Undefined("Fewer than two conditions have two participants."), []
        values = MeanEstimates.of_groups(values.among(names))
    if isinstance(values, Undefined):
        return values, []
    return values, [pair for pair in metric.order.direct if set(pair) <= set(values.names)]


def tested_contrast(answers: Answers, variable: Variable, contrast: Contrast, alpha: float) -> results.TestedContrast:
    """The contrast over these answers, or the reason why it has no result."""
    groups = groups_of(answers, variable)
    result: ContrastResult | Undefined
    # A condition with few participants is left out of the report.
    if missing := [label for label in (*contrast.higher, *contrast.lower) if label not in groups]:
        result = Undefined(f"Too few participants in {in_words(missing)} for the planned contrast.")
    elif answers.occasions:
        result = contrast_in_turn(answers, values_of(answers, variable), contrast, alpha)
    else:
        result = planned_contrast(
            groups, contrast.higher, contrast.lower, alpha=alpha, sides=contrast.sides, least_n=LEAST_N
        )
    return results.TestedContrast(**contrast.model_dump(), alpha=alpha, result=result)


def tested_equivalence(
    answers: Answers, variable: Variable, bound: float, alpha: float, contrast: results.TestedContrast | None
) -> results.Equivalence:
    """Every pair of conditions, and the contrast if there is one, against the bound."""
    result = None if contrast is None or isinstance(contrast.result, Undefined) else contrast.result
    test = result and (result.pooled if answers.occasions else result.welch)
    pairs: EquivalenceResult | Undefined
    if not answers.occasions:
        pairs = equivalence(groups_of(answers, variable), bound, alpha)
    elif isinstance(means := means_in_turn(answers, values_of(answers, variable)), Undefined):
        pairs = means
    else:
        pairs = equivalence_of_pairs(pairs_of_means("", alpha, means, {}, ()), bound)
    return results.Equivalence(
        variable_key=variable.key,
        scale_variables=scale_variables([variable]),
        alpha=alpha,
        bound=bound,
        result=pairs,
        contrast=bound_test(result.difference, test.se, test.df, bound, alpha) if result and test else None,
    )


def contrasted_metric(ranking: Ranking, metric: Metric, contrast: Contrast) -> results.ContrastedMetric | None:
    """The metric's mean over each set, and whether it is better where the variable is expected to be higher."""
    if not {*contrast.higher, *contrast.lower} <= set(ranking.values):
        return None
    higher, lower = (
        sum(ranking.values[label] for label in labels) / len(labels) for labels in (contrast.higher, contrast.lower)
    )
    better = higher - lower if ranking.higher_is_better else lower - higher
    return results.ContrastedMetric(
        metric_key=metric.key,
        kind=metric.kind,
        profile_length=metric.length,
        higher_mean=higher,
        lower_mean=lower,
        is_better=None if better == 0 else better > 0,
    )


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


def alternatives_of(choices: Choices, planned: results.Advantage) -> tuple[results.Alternative, ...]:
    """Every analysis that differs from the plan in one decision, the plan itself first. They are no tests."""
    analyses = [("As planned", planned.overall)]
    if planned.other_items is not None:
        analyses.append(("Items nested in algorithms", planned.other_items))
    analyses += [*_other_participants(choices), *_other_items(choices), *_other_metrics(choices)]
    analyses += [(f"Without {name}", result) for name, result in planned.without.items()]
    return tuple(results.Alternative(name=name, result=result) for name, result in analyses)


def _advantage(
    choices: Choices, means: MeanEstimates | Undefined, separated: Separated
) -> AverageAdvantage | Undefined:
    if isinstance(means, Undefined):
        return means
    among = [pair for pair in separated if set(pair) <= set(means.names)]
    return average_advantage(means, among, alpha=choices.alpha)


def _other_participants(choices: Choices) -> Iterator[tuple[str, AverageAdvantage | Undefined]]:
    reading, variable, ranking = choices.reading, choices.variable, choices.rankings[choices.metric]
    if reading.n_left_out:
        means, _pairs = compared_means(comparable(reading.completers, variable), ranking)
        yield "Without exclusions", _advantage(choices, means, ranking.order.direct)
    if occasions := reading.analysed.occasions:
        first = groups_among(reading.analysed, variable, [at.position == 1 for at in occasions])
        means, _pairs = compared_means(first, ranking)
        yield "First occasions alone", _advantage(choices, means, ranking.order.direct)
        if left := reading.analysed.left:
            met = zip(values_of(reading.analysed, variable), occasions, strict=True)
            values = [None if at.participant in left else value for value, at in met]
            yield (
                "Completed participants alone",
                _advantage(choices, means_in_turn(reading.analysed, values), ranking.order.direct),
            )
    elif covariates := (*choices.backgrounds.factors, *choices.backgrounds.covariates):
        adjusted = adjusted_means(participants_with(reading.analysed, variable, covariates))
        yield "Adjusted for covariates", _advantage(choices, adjusted, ranking.order.direct)


def _other_items(choices: Choices) -> Iterator[tuple[str, AverageAdvantage | Undefined]]:
    people, separated = choices.reading.analysed.people, choices.rankings[choices.metric].order.direct
    has_kinds = all(person.n_liking is not None for person in people) and not choices.reading.analysed.occasions
    if choices.variable.key == RATED and has_kinds:
        consumed = [(person.condition, person.liking_sum, person.n_liking) for person in people]
        unconsumed = [(person.condition, person.interest_sum, person.n_interest) for person in people]
        yield f"Only items {choices.consumed}", _advantage(choices, _means_of(consumed), separated)
        yield f"Only items not {choices.consumed}", _advantage(choices, _means_of(unconsumed), separated)


def _means_of(sums: Iterable[tuple[str, int | None, int | None]]) -> MeanEstimates | Undefined:
    values: dict[str, list[float]] = {}
    for condition, total, n in sums:
        if n and total is not None:
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
    values = comparable(choices.reading.analysed, choices.variable)
    for name, other_ranking in rankings.items():
        means, separated = compared_means(values, other_ranking)
        yield name, _advantage(choices, means, separated)


def _ranking(choices: Choices, stored: StoredMetric, users: NDArray[np.float64]) -> Ranking:
    """The order by a stored metric: pooled over cases as the report's own, or over users of another run."""
    own = next((run for run in choices.measured if run.length == stored.profile_length), None)
    cases = None if own is None or stored.protocol else own.cases[choices.metric.kind]
    pairs = offline_pairs(dict(zip(stored.values, users.T, strict=True)), cases, alpha=choices.alpha)
    higher_is_better = choices.metric.higher_is_better
    if isinstance(pairs, Undefined):
        return Ranking({}, pairs, partial_order({}, ()), higher_is_better)
    order = partial_order(pairs.locations, pairs, higher_is_better=higher_is_better)
    return Ranking(pairs.locations, pairs, order, higher_is_better)
