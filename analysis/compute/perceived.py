"""The perceived side: every test of one variable, the orders it supports, and their uncertainty."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from analysis.compute.rankings import ALPHA, Ranking, order_result
from analysis.enums import Variable
from analysis.read.inputs import Answers
from analysis.results.perceived import FrequentItem, ItemsOfCondition, Liking, Orders, PerceivedVariable, PostHocTests
from analysis.results.variables import scale_variables
from inference.anova import brown_forsythe, one_way, shapiro_residuals, welch
from inference.descriptive import describe
from inference.equivalence import detectable_in_errors
from inference.groups import ExactGroups
from inference.partial_order import partial_order
from inference.posthoc import games_howell, tukey_hsd
from inference.rank_tests import dunn_holm, kruskal_wallis
from inference.results import PairwiseResult, Undefined
from inference.studentized_range import critical_range

LEAST_N = 2
FEWEST_PARTICIPANTS = 5  # in a condition with fewer, few items are no warning
MOST_SHOWN = 5


def groups_of(answers: Answers, variable: Variable) -> ExactGroups:
    """Values by condition, in the order of the design; a condition without completers is empty.

    A participant's value is exact: a whole sum over the number of items, or the score of a scale. Participants
    without a score of a scale are left out.
    """
    points, scale = _points(answers, variable)
    return _grouped(answers, points, scale, [point is not None for point in points])


def paired_groups(answers: Answers, a: Variable, b: Variable) -> tuple[ExactGroups, ExactGroups]:
    """The values of two variables by condition, over the participants who have both, in one order."""
    first, second = _points(answers, a), _points(answers, b)
    has_both = [x is not None and y is not None for x, y in zip(first[0], second[0], strict=True)]
    return _grouped(answers, *first, has_both), _grouped(answers, *second, has_both)


def groups_among(answers: Answers, variable: Variable, is_included: Sequence[bool]) -> ExactGroups:
    """The values of some participants who have one, by condition; `is_included` goes with `answers.people`."""
    return _grouped(answers, *_points(answers, variable), is_included)


def values_of(answers: Answers, variable: Variable) -> list[float | None]:
    """Each participant's value in the order of `answers.people`; None for participants without a score of a scale."""
    points, unit = _points(answers, variable)
    return [None if point is None else point / unit for point in points]


def _points(answers: Answers, variable: Variable) -> tuple[list[int | None], int]:
    """Each participant's value as an integer, None where there is none, and the number that makes one unit."""
    if variable.scale:
        rows = next(scale.rows for scale in answers.scales if scale.key == variable.scale)
        scores = [None if score is None else Fraction(score) for _condition, score, _answers in rows]
        unit = math.lcm(*(score.denominator for score in scores if score is not None))
        return [None if score is None else int(score * unit) for score in scores], unit
    sizes = {person.n_items for person in answers.people} if variable.per_item else set()
    unit = math.lcm(*sizes)
    return [
        getattr(person, variable.sum_field) * (unit // person.n_items if variable.per_item else 1)
        for person in answers.people
    ], unit


def _grouped(answers: Answers, points: Sequence[int | None], unit: int, is_included: Sequence[bool]) -> ExactGroups:
    groups: dict[str, list[int]] = {name: [] for name in answers.conditions}
    for person, point, is_in in zip(answers.people, points, is_included, strict=True):
        if is_in and point is not None:
            groups[person.condition].append(point)
    return ExactGroups(groups, unit)


def study_variable(answers: Answers, variable: Variable, *, alpha: float = ALPHA) -> tuple[PerceivedVariable, Ranking]:
    """Describe and test one variable at the plan's level; returns its results and its ranking."""
    groups = groups_of(answers, variable)
    described = describe(groups)
    means = {name: numbers.mean for name, numbers in described.items()}
    tests = PostHocTests(
        tukey=tukey_hsd(groups, alpha, least_n=LEAST_N),
        games_howell=games_howell(groups, alpha),
        dunn_holm=dunn_holm(groups, alpha),
    )
    tukey, games, dunn = (
        partial_order(means, () if isinstance(pairs, Undefined) else pairs)
        for pairs in (tests.tukey, tests.games_howell, tests.dunn_holm)
    )
    ranking = Ranking(values=means, pairs=tests.games_howell, order=games)
    step = math.gcd(groups.scale, *(point for group in groups.groups for point in group.points))
    plain_welch = welch(groups)
    result = PerceivedVariable(
        key=variable.key,
        name=variable.name,
        scale_variables=scale_variables([variable]),
        alpha=alpha,
        low=variable.low,
        high=variable.high,
        # A list keeps the order; a database may return the keys of a mapping in any.
        conditions=tuple(groups),
        # Sorted, so that no row of one variable can be joined to a row of another.
        points={group.name: tuple(sorted(point // step for point in group.points)) for group in groups.groups},
        points_per_unit=groups.scale // step,
        described=described,
        empty=tuple(name for name in groups if name not in described),
        anova=one_way(groups, least_n=LEAST_N),
        welch=plain_welch,
        welch_without_constant=(
            welch(groups, leave_out_constant=True) if isinstance(plain_welch, Undefined) else None
        ),
        brown_forsythe=brown_forsythe(groups),
        shapiro_residuals=shapiro_residuals(groups),
        kruskal=kruskal_wallis(groups),
        tests=tests,
        orders=Orders(
            tukey=order_result(tukey, tests.tukey),
            games_howell=order_result(games, tests.games_howell),
            dunn_holm=order_result(dunn, tests.dunn_holm),
        ),
        detectable_difference=_detectable_difference(tests.games_howell),
    )  # fmt: skip
    return result, ranking


def _detectable_difference(tests: PairwiseResult | Undefined) -> tuple[float, float] | None:
    """The difference of means that Games-Howell detects with 80% power: least and largest over all pairs."""
    if isinstance(tests, Undefined):
        return None
    detectable, k = [], len(tests.locations)
    for pair in tests.pairs:
        if pair.se is not None and pair.df is not None:
            critical = critical_range(tests.alpha, k, pair.df) / math.sqrt(2)
            detectable.append(pair.se * detectable_in_errors(critical, pair.df))
    return (min(detectable), max(detectable)) if detectable else None


def items_by_condition(answers: Answers, list_length: int) -> tuple[ItemsOfCondition, ...]:
    """How many distinct items each condition recommended, the most frequent, and slots filled by popularity.

    A condition is marked where its most frequent items, as many as one list holds, make up half of all slots.
    """
    results = []
    for name in answers.conditions:
        shown = [slot for slot in answers.shown if slot.condition == name]
        counts = Counter(slot.item for slot in shown)
        titles = {slot.item: slot.title for slot in shown}
        ranked = sorted(counts, key=lambda item: (-counts[item], titles[item], item))
        n_frequent = sum(counts[item] for item in ranked[:list_length])
        has_enough = len(answers.of(name)) >= FEWEST_PARTICIPANTS
        results.append(
            ItemsOfCondition(
                condition=name,
                n_slots=len(shown),
                n_distinct=len(counts),
                share_of_most_shown=n_frequent / len(shown) if shown else None,
                is_carried_by_few=has_enough and 2 * n_frequent >= len(shown),
                n_filled=sum(slot.is_filled for slot in shown),
                top=tuple(
                    FrequentItem(
                        title=titles[item],
                        n=counts[item],
                        mean_rating=sum(slot.rating for slot in shown if slot.item == item) / counts[item],
                    )
                    for item in ranked[:MOST_SHOWN]
                ),
            )
        )
    return tuple(results)


def liking_and_interest(answers: Answers) -> tuple[Liking, ...]:
    """Perceived accuracy by kind of rating: of watched items (liking) and of the others (interest)."""
    results = []
    for name in answers.conditions:
        people = answers.of(name)
        n_watched, n_not_watched = sum(p.n_liking for p in people), sum(p.n_interest for p in people)
        branches = Counter(slot.branch for slot in answers.shown if slot.condition == name)
        n_slots = n_watched + n_not_watched
        results.append(
            Liking(
                condition=name,
                n_watched=n_watched,
                n_not_watched=n_not_watched,
                share_watched=n_watched / n_slots if n_slots else None,
                liking=sum(p.liking_sum for p in people) / n_watched if n_watched else None,
                interest=sum(p.interest_sum for p in people) / n_not_watched if n_not_watched else None,
                branches={key: branches[key] for key in ("watched", "trailer_seen", "neither")},
            )
        )
    return tuple(results)
