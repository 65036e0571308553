"""What participants perceived: every test of one variable, the orders it supports, and how sure they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from analysis.enums import Variable, described_in_results
from analysis.selectors.inputs import Answers
from analysis.services.rankings import ALPHA, RESAMPLES, Ranking, told, told_order, uncertainty
from inference.anova import one_way, welch
from inference.assumptions import brown_forsythe, shapiro_residuals
from inference.bootstrap import condition_means
from inference.descriptive import describe
from inference.groups import ExactGroups
from inference.partial_order import PartialOrder, partial_order
from inference.posthoc import games_howell, tukey_hsd
from inference.rank_tests import dunn_holm, kruskal_wallis
from inference.results import PairwiseResult, Undefined

LEAST_N = 2
FEW_PEOPLE = 5  # with fewer in a condition, that few items carry it says nothing
MOST_SHOWN = 5


def groups_of(answers: Answers, variable: Variable) -> ExactGroups:
    """Values by condition, in the order of the design; a condition nobody finished is empty.

    A participant's value is exact: a whole sum over the number of items, or the score of a scale. Who has no score of
    a scale is left out.
    """
    points, scale = _points(answers, variable)
    return _grouped(answers, points, scale, [point is not None for point in points])


def paired_groups(answers: Answers, a: Variable, b: Variable) -> tuple[ExactGroups, ExactGroups]:
    """The values of two variables by condition, over the participants who have both, in one order."""
    first, second = _points(answers, a), _points(answers, b)
    has_both = [x is not None and y is not None for x, y in zip(first[0], second[0], strict=True)]
    return _grouped(answers, *first, has_both), _grouped(answers, *second, has_both)


def _points(answers: Answers, variable: Variable) -> tuple[list[int | None], int]:
    """Each participant's value as an integer, None where there is none, and how many of them make a unit."""
    if variable.scale:
        rows = next(scale.rows for scale in answers.scales if scale.key == variable.scale)
        scores = [None if score is None else Fraction(score) for _condition, score, _given in rows]
        unit = math.lcm(*(score.denominator for score in scores if score is not None))
        return [None if score is None else int(score * unit) for score in scores], unit
    sizes = {person.n_items for person in answers.people} if variable.per_item else set()
    unit = math.lcm(*sizes)
    return [
        getattr(person, variable.sum_field) * (unit // person.n_items if variable.per_item else 1)
        for person in answers.people
    ], unit


def _grouped(answers: Answers, points: Sequence[int | None], unit: int, is_kept: Sequence[bool]) -> ExactGroups:
    found: dict[str, list[int]] = {name: [] for name in answers.conditions}
    for person, point, is_in in zip(answers.people, points, is_kept, strict=True):
        if is_in and point is not None:
            found[person.condition].append(point)
    return ExactGroups(found, unit)


def study_variable(
    answers: Answers,
    variable: Variable,
    rng: np.random.Generator,
    *,
    alpha: float = ALPHA,
    resamples: int = RESAMPLES,
) -> tuple[dict[str, Any], Ranking]:
    """Describe and test one variable at the plan's level; give its results and its ranking."""
    groups = groups_of(answers, variable)
    described = describe(groups)
    means = {name: found.mean for name, found in described.items()}
    tukey = tukey_hsd(groups, alpha, least_n=LEAST_N)
    orders: dict[str, tuple[PartialOrder, PairwiseResult | Undefined]] = {}
    for key, pairs in (
        ("tukey", tukey), ("games_howell", games_howell(groups, alpha)), ("dunn_holm", dunn_holm(groups, alpha))
    ):  # fmt: skip
        orders[key] = (partial_order(means, () if isinstance(pairs, Undefined) else pairs), pairs)
    resampled = condition_means(groups.without_empty(), resamples, rng)
    ranking = Ranking(
        values=means,
        order=orders["tukey"][0],
        higher_is_better=True,
        resampled=None if isinstance(resampled, Undefined) else resampled,
    )
    scale = math.lcm(*(value.denominator for values in groups.values() for value in values))
    plain_welch = welch(groups)
    result = {
        "key": variable.key,
        "name": variable.name,
        **described_in_results(variable),
        "alpha": alpha,
        "low": variable.low,
        "high": variable.high,
        # Lists carry the order; a database may give the keys of a mapping back in any.
        "conditions": list(groups),
        # Sorted, so that no row of one variable can be joined to a row of another.
        "points": {name: sorted(int(value * scale) for value in values) for name, values in groups.items()},
        "points_per_unit": scale,
        "described": described.as_dict(),
        "empty": list(described.left_out),
        "anova": told(one_way(groups, least_n=LEAST_N)),
        "welch": told(plain_welch),
        "welch_without_constant": (
            told(welch(groups, leave_out_constant=True)) if isinstance(plain_welch, Undefined) else None
        ),
        "brown_forsythe": told(brown_forsythe(groups)),
        "shapiro_residuals": told(shapiro_residuals(groups)),
        "kruskal": told(kruskal_wallis(groups)),
        "tests": {key: told(pairs) for key, (_, pairs) in orders.items()},
        "orders": {key: told_order(order, pairs) for key, (order, pairs) in orders.items()},
        "survives": {
            key: _survival(orders["tukey"][0], orders[key][0], orders[key][1]) for key in ("games_howell", "dunn_holm")
        },
        "smallest_told_apart": _smallest_told_apart(tukey),
        "bootstrap": uncertainty(ranking),
    }
    return result, ranking


def _relation(order: PartialOrder) -> set[tuple[str, str]]:
    return {(above, below) for above, others in order.dominates.items() for below in others}


def _survival(first: PartialOrder, other: PartialOrder, pairs: PairwiseResult | Undefined) -> dict[str, Any]:
    """Which pairs that Tukey orders another test orders too, and which only the other does."""
    if isinstance(pairs, Undefined):
        return {"is_defined": False, "reason": pairs.reason}
    tukey, robust = _relation(first), _relation(other)
    place = {name: index for index, name in enumerate(first.names)}

    def in_order(relation: set[tuple[str, str]]) -> list[list[str]]:
        return [list(pair) for pair in sorted(relation, key=lambda pair: (place[pair[0]], place[pair[1]]))]

    return {
        "is_defined": True,
        "kept": in_order(tukey & robust),
        "lost": in_order(tukey - robust),
        "gained": in_order(robust - tukey),
        "is_same_order": tukey == robust,
    }


def _smallest_told_apart(tukey: PairwiseResult | Undefined) -> list[float] | None:
    """The smallest difference of means that Tukey's test declares, over all pairs: least and largest."""
    if isinstance(tukey, Undefined):
        return None
    halves = [pair.ci_high - pair.difference for pair in tukey.pairs if pair.ci_high is not None]
    return [min(halves), max(halves)]


def items_by_condition(answers: Answers, list_length: int) -> list[dict[str, Any]]:
    """How many distinct items carry each condition, the most shown among them, and what popularity filled.

    A condition is marked where its most shown items, as many as one list holds, make up half of all slots.
    """
    found = []
    for name in answers.conditions:
        shown = [one for one in answers.shown if one.condition == name]
        counts = Counter(one.item for one in shown)
        titles = {one.item: one.title for one in shown}
        ranked = sorted(counts, key=lambda item: (-counts[item], titles[item], item))
        carried = sum(counts[item] for item in ranked[:list_length])
        top = []
        for item in ranked[:MOST_SHOWN]:
            own = [one for one in shown if one.item == item]
            top.append(
                {
                    "title": titles[item],
                    "n": len(own),
                    "mean_rating": sum(one.rating for one in own) / len(own),
                    "share_new": sum(one.fon for one in own) / len(own),
                }
            )
        n_people = len(answers.of(name))
        found.append(
            {
                "condition": name,
                "n_slots": len(shown),
                "n_distinct": len(counts),
                "share_of_most_shown": carried / len(shown) if shown else None,
                "is_carried_by_few": n_people >= FEW_PEOPLE and 2 * carried >= len(shown),
                "n_filled": sum(one.is_filled for one in shown),
                "top": top,
            }
        )
    return found


def liking_and_interest(answers: Answers) -> list[dict[str, Any]]:
    """Perceived accuracy taken apart: ratings of watched items (liking) and of the others (interest)."""
    found = []
    for name in answers.conditions:
        people = answers.of(name)
        liked, interested = sum(one.n_liking for one in people), sum(one.n_interest for one in people)
        branches = Counter(one.branch for one in answers.shown if one.condition == name)
        found.append(
            {
                "condition": name,
                "n_watched": liked,
                "n_not_watched": interested,
                "share_watched": liked / (liked + interested) if liked + interested else None,
                "liking": sum(one.liking_sum for one in people) / liked if liked else None,
                "interest": sum(one.interest_sum for one in people) / interested if interested else None,
                "branches": {key: branches[key] for key in ("watched", "trailer_seen", "neither")},
            }
        )
    return found
