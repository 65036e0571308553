"""Correlations between variables: over all participants, within conditions, and between the conditions' means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from analysis.compute.perceived import paired_groups
from analysis.enums import Variable
from analysis.read.inputs import Answers
from analysis.results.follow_up import ConditionCorrelation, CorrectedParts, CorrelatedVariables, NoveltyCorrelation
from analysis.results.variables import scale_variables
from inference.corrections import holm
from inference.correlation import CorrelationResult, between_conditions, over_all, within_conditions, within_each
from inference.groups import ExactGroups
from inference.results import Undefined

NOVELTY = ("fon", "son")  # the pair of most interest
Correlation = CorrelationResult | Undefined


@dataclass(frozen=True)
class _Parts:
    """The correlations of one pair that are in the family."""

    overall: Correlation
    within: Correlation
    between: Correlation


def correlations_of(
    answers: Answers, variables: Sequence[Variable]
) -> tuple[tuple[CorrelatedVariables, ...], NoveltyCorrelation | None]:
    """Every pair of variables, both orders of novelty first, and novelty without its overlap.

    Within conditions, values are deviations from the condition's mean; between them, each condition counts once.
    Participants with only one of the two values are left out of the pair. All of them but those inside single
    conditions are one family, corrected by Holm.
    """
    pairs = sorted(combinations(variables, 2), key=lambda pair: (pair[0].key, pair[1].key) != NOVELTY)
    groups = [paired_groups(answers, a, b) for a, b in pairs]
    parts = [_parts(x, y) for x, y in groups]
    has_novelty = bool(pairs) and (pairs[0][0].key, pairs[0][1].key) == NOVELTY
    if has_novelty:
        parts.append(_parts(*unheard_among_unwatched(answers)))
    corrected = _corrected(parts)
    correlations = tuple(
        CorrelatedVariables(
            a=a.key,
            b=b.key,
            scale_variables=scale_variables([a, b]),
            overall=part.overall,
            within=part.within,
            between=part.between,
            by_condition=tuple(
                ConditionCorrelation(condition=name, correlation=correlation)
                for name, correlation in within_each(x, y).items()
            ),
            p_holm=p,
        )
        for (a, b), (x, y), part, p in zip(pairs, groups, parts, corrected, strict=False)
    )
    if not has_novelty:
        return correlations, None
    last, n_without = parts[-1], sum(not person.fon_sum for person in answers.people)
    novelty = NoveltyCorrelation(
        overall=last.overall, within=last.within, between=last.between, p_holm=corrected[-1],
        n_without=n_without, r_if_independent=part_whole_correlation(answers),
    )  # fmt: skip
    return correlations, novelty


def unheard_among_unwatched(answers: Answers) -> tuple[ExactGroups, ExactGroups]:
    """First-order novelty and the share unheard of among unwatched items, by condition, of those who have both."""
    shares: dict[str, list[tuple[Fraction, Fraction]]] = {name: [] for name in answers.conditions}
    for person in answers.people:
        if person.fon_sum:
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


def _parts(x: ExactGroups, y: ExactGroups) -> _Parts:
    return _Parts(over_all(x, y), within_conditions(x, y), between_conditions(x, y))


def _corrected(parts: Sequence[_Parts]) -> list[CorrectedParts]:
    """The p values of every part by Holm over all of them."""
    defined = [
        (index, name, result.p)
        for index, part in enumerate(parts)
        for name, result in vars(part).items()
        if not isinstance(result, Undefined)
    ]
    corrected = [CorrectedParts() for _part in parts]
    for (index, name, _p), p in zip(defined, holm([p for *_key, p in defined]), strict=True):
        corrected[index] = replace(corrected[index], **{name: p})
    return corrected
