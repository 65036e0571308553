"""Follow-up analyses of the perceived side: effect sizes, ordinal models, correlations, items as a sample, power."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.compute.covariates import item_ratings
from analysis.compute.in_turn import NOT_INDEPENDENT
from analysis.compute.perceived import LEAST_N, groups_of, paired_groups, variable_of_scale
from analysis.enums import Variable, scale_variables
from analysis.read.inputs import Answers, ScaleAnswers
from analysis.results import follow_up as results
from analysis.results.rankings import ALPHA
from core.errors import ParameterError
from inference.anova import one_way
from inference.average_advantage import MeanEstimates
from inference.corrections import holm
from inference.correlation import CorrelationResult, between_conditions, over_all, within_conditions, within_each
from inference.effect_sizes import hedges_g_between
from inference.groups import ExactGroups
from inference.item_effects import ItemEffectsResult, fit_items
from inference.ordinal import cumulative_link
from inference.results import Undefined, defined
from studies.design.selectors.planning import WISHED_POWER, power_plan
from studies.models import Study

POWER = 0.8


def effects_of_variable(answers: Answers, variable: Variable, alpha: float = ALPHA) -> results.VariableEffects:
    """Effect sizes of every pair, and the ordinal model of answers in whole steps; None of any other value."""
    groups = groups_of(answers, variable)
    anova = defined(one_way(groups, least_n=LEAST_N))
    explained = 1.0 if anova is None else anova.eta_squared
    steps = range(math.ceil(variable.low), math.floor(variable.high) + 1)
    return results.VariableEffects(
        key=variable.key,
        name=variable.name,
        scale_variables=scale_variables([variable]),
        hedges=tuple(
            results.PairEffect(a=a, b=b, effect=effect)
            for (a, b), effect in zip(combinations(groups, 2), hedges_g_between(groups), strict=True)
        ),
        cohens_f=math.sqrt(explained / (1 - explained)) if explained < 1 else None,
        ordinal=cumulative_link(groups, steps, alpha=alpha) if variable.in_steps else None,
    )


def effects_of_scale(answers: Answers, scale: ScaleAnswers, alpha: float = ALPHA) -> results.Effects:
    """Effect sizes of a scale that the plan does not name, and its ordinal model if it is one answer in whole steps."""
    same = effects_of_variable(answers, variable_of_scale(scale), alpha)
    return results.Effects(
        key=scale.key, name=scale.name, hedges=same.hedges, cohens_f=same.cohens_f, ordinal=same.ordinal
    )


def effects_of_all(
    answers: Answers, variables: Collection[Variable], alpha: float = ALPHA
) -> tuple[tuple[results.VariableEffects, ...], tuple[results.Effects, ...]]:
    """Effects of every tested variable, and of the questionnaire's scales that are not tested; none where rows are not
    independent.
    """
    if answers.occasions:
        return (), ()
    # One thread: sums over threads differ in their last bits, and so would the end of a fit.
    with threadpool_limits(limits=1, user_api="blas"):
        effects = [effects_of_variable(answers, variable, alpha) for variable in variables]
        tested = {variable.scale for variable in variables}
        explored = [scale for scale in answers.scales if scale.key not in tested]
        return tuple(effects), tuple(effects_of_scale(answers, scale, alpha) for scale in explored)


NOVELTY = ("fon", "son")  # the pair of most interest


def correlations_of(
    answers: Answers, variables: Sequence[Variable]
) -> tuple[tuple[results.CorrelatedVariables, ...], results.NoveltyCorrelation | None]:
    """Every pair of variables, both orders of novelty first, and novelty without its overlap.

    Within conditions, values are deviations from the condition's mean; between them, each condition counts once.
    Participants with only one of the two values are left out of the pair. All of them but those inside single
    conditions are one family, corrected by Holm. None where rows are not independent.
    """
    if answers.occasions:
        return (), None
    pairs = sorted(combinations(variables, 2), key=lambda pair: (pair[0].key, pair[1].key) != NOVELTY)
    groups = [paired_groups(answers, a, b) for a, b in pairs]
    parts = [_parts(x, y) for x, y in groups]
    has_novelty = bool(pairs) and (pairs[0][0].key, pairs[0][1].key) == NOVELTY
    if has_novelty:
        parts.append(_parts(*novelty_of_unwatched(answers)))
    corrected = _corrected(parts)
    correlations = tuple(
        results.CorrelatedVariables(
            a=a.key,
            b=b.key,
            scale_variables=scale_variables([a, b]),
            **part,
            by_condition=tuple(
                results.ConditionCorrelation(condition=name, correlation=correlation)
                for name, correlation in within_each(x, y).items()
            ),
            p_holm=p,
        )
        for (a, b), (x, y), part, p in zip(pairs, groups, parts, corrected, strict=False)
    )
    if not has_novelty:
        return correlations, None
    return correlations, results.NoveltyCorrelation(
        **parts[-1],
        p_holm=corrected[-1],
        n_without=sum(not person.fon_sum for person in answers.people),
        r_if_independent=part_whole_correlation(answers),
    )


def novelty_of_unwatched(answers: Answers) -> tuple[ExactGroups, ExactGroups]:
    """First-order novelty and the share unheard of among unwatched items, by condition, of those who have both."""
    shares: dict[str, list[tuple[Fraction, Fraction]]] = {name: [] for name in answers.conditions}
    for person in answers.people:
        if person.fon_sum and person.son_sum is not None:
            unwatched = Fraction(person.fon_sum, person.n_items)
            shares[person.condition].append((unwatched, Fraction(person.son_sum, person.fon_sum)))
    first, second = (
        ExactGroups.of({name: [pair[side] for pair in values] for name, values in shares.items()}) for side in (0, 1)
    )
    return first, second


def part_whole_correlation(answers: Answers) -> float | None:
    r"""The correlation of both orders of novelty if answers about items are independent; None where one is constant.

    With the share :math:`p` of items unwatched and :math:`q` of those unheard of, of equal lists, it is
    :math:`\sqrt{q (1 - p) / (1 - p q)}`.
    """
    n, n_unwatched, n_unheard = (
        sum(getattr(person, name) for person in answers.people) for name in ("n_items", "fon_sum", "son_sum")
    )
    if not 0 < n_unheard < n or not n_unwatched < n:
        return None
    p, q = n_unwatched / n, n_unheard / n_unwatched
    return math.sqrt(q * (1 - p) / (1 - p * q))


def _parts(x: ExactGroups, y: ExactGroups) -> dict[str, CorrelationResult | Undefined]:
    return {"overall": over_all(x, y), "within": within_conditions(x, y), "between": between_conditions(x, y)}


def _corrected(parts: Sequence[Mapping[str, CorrelationResult | Undefined]]) -> list[results.CorrectedParts]:
    defined = [
        (index, name, result.p)
        for index, part in enumerate(parts)
        for name, result in part.items()
        if not isinstance(result, Undefined)
    ]
    corrected = [results.CorrectedParts() for _part in parts]
    for (index, name, _p), p in zip(defined, holm([p for *_key, p in defined]), strict=True):
        corrected[index] = replace(corrected[index], **{name: p})
    return corrected


def nested_model(
    answers: Answers, alpha: float = ALPHA
) -> tuple[ItemEffectsResult | Undefined | None, MeanEstimates | Undefined]:
    """Fit the ratings behind perceived accuracy with items nested in conditions; the result and its estimates.

    There is no result in a study that asks for no ratings, or in which each participant met all conditions.
    """
    if answers.occasions:
        return None, NOT_INDEPENDENT
    if not answers.people:
        return (Undefined("No participant has judged an item yet."),) * 2
    ratings = item_ratings(answers)
    if ratings is None:
        return None, Undefined("The study asks for no ratings of items.")
    if isinstance(ratings, Undefined):
        return ratings, ratings
    # One thread: sums over threads differ in their last bits, and so would the end of the fit.
    with threadpool_limits(limits=1, user_api="blas"):
        fitted = fit_items(ratings)
        return (fitted, fitted) if isinstance(fitted, Undefined) else (fitted.result(alpha), fitted.means)


def achieved_power(answers: Answers, study: Study, alpha: float) -> results.Power | Undefined | None:
    """Power at the size of the smallest tested condition, for the study's stated effect and others.

    It follows from the design and the numbers alone, never from the observed effect. None where each participant
    met all conditions.
    """
    if answers.occasions:
        return None
    tested = [n for n in (len(answers.of(name)) for name in answers.conditions) if n >= LEAST_N]
    if len(tested) < LEAST_N:
        return Undefined("Fewer than two conditions have two participants.")
    try:
        plan = power_plan(
            conditions=len(tested),
            planned=min(tested),
            f=study.design.effect,
            power=WISHED_POWER,
            alpha=alpha,
        )
    except ParameterError as error:
        return Undefined(str(error))
    return results.Power(
        conditions=len(tested),
        n_per_condition=min(tested),
        is_smallest=len(set(tested)) > 1,
        alpha=alpha,
        target_power=WISHED_POWER,
        stated=plan.stated,
        n_values=plan.n_values,
        effects=tuple(results.PowerCurve(name=name, power=line) for name, line in plan.curves.items()),
        at_stated=plan.planned,
        needed=plan.needed,
        smallest=plan.smallest,
    )
