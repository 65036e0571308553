"""With and without exclusions: which parts of each conclusion depend on the excluded participants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from analysis.compute.comparison import by_recommender
from analysis.compute.perceived import groups_of, study_variable
from analysis.enums import Metric, Variable, scale_variables
from analysis.read.inputs import Answers
from analysis.read.responses import Reading
from analysis.results import exclusions as results
from analysis.results.perceived import PerceivedVariable
from analysis.results.rankings import Ranking
from inference.agreement import kendall
from inference.anova import welch
from inference.descriptive import describe
from inference.partial_order import partial_order
from inference.posthoc import games_howell
from inference.results import AgreementResult, Undefined

Relation = set[tuple[str, str]]
Measure = TypeVar("Measure", Variable, Metric)


@dataclass(frozen=True)
class _Side:
    """One variable over one set of participants, with the conclusion of its tests."""

    result: results.VariableOver
    relation: Relation


@dataclass(frozen=True)
class TestedVariable:
    """A variable as the report tests it."""

    variable: Variable
    result: PerceivedVariable
    ranking: Ranking


def with_and_without(
    reading: Reading,
    tested: Sequence[TestedVariable],
    objective: Mapping[Metric, Ranking],
    primary: tuple[str, str],
    *,
    recommenders: Mapping[str, str],
    alpha: float,
    contrast: results.ComparedContrast | None = None,
    advantage: results.ComparedAdvantage | None = None,
) -> results.Exclusions | None:
    """Each variable and the primary pair, over the analysed participants and over all completers.

    None where no participant is excluded, so that both are the same.
    """
    if not reading.n_left_out:
        return None
    sides = {test.variable: (_as_tested(test), _side(reading.completers, test.variable, alpha)) for test in tested}
    return results.Exclusions(
        conditions=reading.analysed.conditions,
        n=results.Counts(analysed=reading.analysed.n_people, completers=reading.completers.n_people),
        reasons=reading.reasons,
        variables=tuple(_compared(variable, *pair, alpha) for variable, pair in sides.items()),
        primary=_primary(sides, objective, primary, recommenders, alpha),
        contrast=contrast,
        advantage=advantage,
    )


def _as_tested(test: TestedVariable) -> _Side:
    in_turn = test.result.in_turn
    result = results.VariableOver(
        n={name: len(test.result.points[name]) for name in test.result.conditions},
        means=dict(test.ranking.values),
        welch=None if in_turn else test.result.welch,
        model=(in_turn.model if isinstance(in_turn.model, Undefined) else in_turn.model.test) if in_turn else None,
        tiers=dict(test.ranking.order.tiers),
    )
    return _Side(result, set(test.ranking.order.direct))


def _side(answers: Answers, variable: Variable, alpha: float) -> _Side:
    if answers.occasions:
        return _as_tested(TestedVariable(variable, *study_variable(answers, variable, alpha=alpha)))
    groups = groups_of(answers, variable)
    means = {name: numbers.mean for name, numbers in describe(groups).items()}
    pairs = games_howell(groups, alpha)
    order = partial_order(means, () if isinstance(pairs, Undefined) else pairs)
    result = results.VariableOver(n=groups.sizes, means=means, welch=welch(groups), tiers=dict(order.tiers))
    return _Side(result, set(order.direct))


def _compared(variable: Variable, analysed: _Side, completers: _Side, alpha: float) -> results.ComparedVariable:
    names = list(analysed.result.n)

    def in_order(relation: Relation) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(relation, key=lambda pair: (names.index(pair[0]), names.index(pair[1]))))

    tests = [side.result.test for side in (analysed, completers)]
    is_significant = [None if isinstance(test, Undefined) else test.p < alpha for test in tests]
    is_same = is_significant[0] == is_significant[1] and analysed.relation == completers.relation
    return results.ComparedVariable(
        key=variable.key,
        scale_variables=scale_variables([variable]),
        analysed=analysed.result,
        completers=completers.result,
        only_analysed=in_order(analysed.relation - completers.relation),
        only_completers=in_order(completers.relation - analysed.relation),
        n_ordered=results.Counts(analysed=len(analysed.relation), completers=len(completers.relation)),
        # Without a test there is no conclusion that could be robust.
        is_robust=None if is_significant[0] is None else is_same,
    )


def _primary(
    sides: Mapping[Variable, tuple[_Side, _Side]],
    objective: Mapping[Metric, Ranking],
    primary: tuple[str, str],
    recommenders: Mapping[str, str],
    alpha: float,
) -> results.ComparedPrimary | None:
    variable, metric = by_key(sides, primary[0]), by_key(objective, primary[1])
    if variable is None or metric is None:
        return None
    ranking = objective[metric]
    sign = 1 if ranking.higher_is_better else -1
    taus = []
    for means in (side.result.means for side in sides[variable]):
        names = [label for label in means if label in ranking.values]
        values = by_recommender({name: sign * ranking.values[name] for name in names}, recommenders)
        own = by_recommender({name: means[name] for name in names}, recommenders)
        taus.append(kendall([*own.values()], [*values.values()], alpha))
    verdicts = _verdict(taus[0], alpha), _verdict(taus[1], alpha)
    return results.ComparedPrimary(
        variable_key=variable.key,
        metric_key=metric.key,
        analysed=taus[0],
        completers=taus[1],
        verdicts=verdicts,
        is_robust=verdicts[0] == verdicts[1],
    )


def by_key(measures: Iterable[Measure], key: str) -> Measure | None:
    """The variable or metric with this key."""
    return next((measure for measure in measures if measure.key == key), None)


def _verdict(tau: AgreementResult | Undefined, alpha: float) -> str:
    if isinstance(tau, Undefined):
        return "none"
    if tau.p >= alpha:
        return "open"
    return "alike" if tau.coefficient > 0 else "against"
