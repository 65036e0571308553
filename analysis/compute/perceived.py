"""The perceived side: every test of one variable or scale, the orders it supports, and the constructs behind."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from analysis.compute.in_turn import NOT_INDEPENDENT, tests_in_turn, with_ties
from analysis.enums import VARIABLE_OF, Variable, scale_variables
from analysis.read.inputs import Answers, ScaleAnswers
from analysis.results import perceived as results
from analysis.results.plan import FrozenAnalysis
from analysis.results.rankings import ALPHA, Ranking, order_result
from inference.anova import brown_forsythe, one_way, shapiro_residuals, welch
from inference.descriptive import describe
from inference.equivalence import detectable_in_errors
from inference.factor_analysis import LEAST_ITEMS, confirmatory_factors, mcdonald_omega
from inference.groups import ExactGroups
from inference.indicators import indicators
from inference.invariance import measurement_invariance
from inference.partial_order import partial_order
from inference.posthoc import games_howell, tukey_hsd
from inference.rank_tests import dunn_holm, kruskal_wallis
from inference.reliability import cronbach_alpha
from inference.results import PairwiseResult, Undefined
from inference.structural import Outcome, StructuralModel, structural_model
from inference.studentized_range import critical_range
from studies.settings import SCALE_PREFIX

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
        rows = next(each.rows for each in (*answers.scales, *answers.outcomes) if each.key == variable.scale)
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


def study_variable(
    answers: Answers, variable: Variable, *, alpha: float = ALPHA
) -> tuple[results.PerceivedVariable, Ranking]:
    """Describe and test one variable at the plan's level; returns its results and its ranking."""
    groups = groups_of(answers, variable)
    described = describe(groups)
    means = {name: numbers.mean for name, numbers in described.items()}
    apart = NOT_INDEPENDENT if answers.occasions else None  # instead of every test of independent people
    tests = results.PostHocTests(
        tukey=apart or tukey_hsd(groups, alpha, least_n=LEAST_N),
        games_howell=apart or games_howell(groups, alpha),
        dunn_holm=apart or dunn_holm(groups, alpha),
    )
    in_turn = tests_in_turn(answers, values_of(answers, variable), means, alpha) if apart else None
    orders = {
        name: partial_order(means, () if isinstance(pairs, Undefined) else pairs) for name, pairs in vars(tests).items()
    }
    step = math.gcd(groups.scale, *(point for group in groups.groups for point in group.points))
    plain_welch = apart or welch(groups)
    result = results.PerceivedVariable(
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
        anova=apart or one_way(groups, least_n=LEAST_N),
        welch=plain_welch,
        welch_without_constant=(
            welch(groups, leave_out_constant=True) if isinstance(plain_welch, Undefined) and not apart else None
        ),
        brown_forsythe=apart or brown_forsythe(groups),
        shapiro_residuals=apart or shapiro_residuals(groups),
        kruskal=apart or kruskal_wallis(groups),
        tests=tests,
        orders=results.Orders(**{name: order_result(order, getattr(tests, name)) for name, order in orders.items()}),
        detectable_difference=_detectable_difference(tests.games_howell if in_turn is None else in_turn.pairs),
        in_turn=in_turn,
    )
    order = orders["games_howell"]
    if in_turn is not None and not isinstance(in_turn.pairs, Undefined):  # means that missing occasions do not move
        means = with_ties(in_turn.pairs.locations)
        order = partial_order(means, in_turn.pairs)
    return result, Ranking(values=means, pairs=result.pairs, order=order)


def _detectable_difference(tests: PairwiseResult | Undefined) -> tuple[float, float] | None:
    """The difference of means that the deciding test detects with 80% power: least and largest over all pairs."""
    if isinstance(tests, Undefined):
        return None
    detectable, k = [], len(tests.locations)
    for pair in tests.pairs:
        if pair.se is not None and pair.df is not None:
            critical = critical_range(tests.alpha, k, pair.df) / math.sqrt(2)
            detectable.append(pair.se * detectable_in_errors(critical, pair.df))
    return (min(detectable), max(detectable)) if detectable else None


def items_by_condition(answers: Answers, list_length: int) -> tuple[results.ItemsOfCondition, ...]:
    """How many distinct items each condition recommended, the most frequent, and slots filled by popularity.

    A condition is marked where its most frequent items, as many as one list holds, make up half of all slots.
    """
    rows = []
    for name in answers.conditions:
        shown = [slot for slot in answers.shown if slot.condition == name]
        counts = Counter(slot.item for slot in shown)
        titles = {slot.item: slot.title for slot in shown}
        ranked = sorted(counts, key=lambda item: (-counts[item], titles[item], item))
        people = answers.of(name)
        length = max((person.n_items for person in people), default=list_length)
        n_frequent = sum(counts[item] for item in ranked[:length])
        has_enough = len(people) >= FEWEST_PARTICIPANTS
        rows.append(
            results.ItemsOfCondition(
                condition=name,
                n_slots=len(shown),
                n_distinct=len(counts),
                share_of_most_shown=n_frequent / len(shown) if shown else None,
                is_dominated_by_few=has_enough and 2 * n_frequent >= len(shown),
                n_filled=sum(slot.is_filled for slot in shown),
                top=tuple(
                    results.FrequentItem(
                        title=titles[item],
                        n=counts[item],
                        mean_rating=_mean_rating([slot.rating for slot in shown if slot.item == item]),
                    )
                    for item in ranked[:MOST_SHOWN]
                ),
            )
        )
    return tuple(rows)


def _mean_rating(ratings: Sequence[int | None]) -> float | None:
    return None if None in ratings else sum(rating for rating in ratings if rating is not None) / len(ratings)


def liking_and_interest(answers: Answers) -> tuple[results.Liking, ...]:
    """Perceived accuracy by kind of rating: of watched items (liking) and of the others (interest).

    Empty in a study that does not ask for both.
    """
    if any(person.liking_sum is None for person in answers.people):
        return ()
    rows = []
    for name in answers.conditions:
        people = answers.of(name)
        n_watched, n_not_watched = sum(p.n_liking or 0 for p in people), sum(p.n_interest or 0 for p in people)
        branches = Counter(slot.branch for slot in answers.shown if slot.condition == name)
        n_slots = n_watched + n_not_watched
        rows.append(
            results.Liking(
                condition=name,
                n_watched=n_watched,
                n_not_watched=n_not_watched,
                share_watched=n_watched / n_slots if n_slots else None,
                liking=sum(p.liking_sum or 0 for p in people) / n_watched if n_watched else None,
                interest=sum(p.interest_sum or 0 for p in people) / n_not_watched if n_not_watched else None,
                branches={key: branches[key] for key in ("watched", "trailer_seen", "neither")},
            )
        )
    return tuple(rows)


OUTSIDE = 0.05  # of an interval of reliability, which describes and tests nothing


def variable_of_scale(scale: ScaleAnswers) -> Variable:
    """A scale as a variable, under its prefix; a single question that was answered in whole numbers is in steps."""
    return _variable(f"{SCALE_PREFIX}{scale.key}", scale)


MOST_STEPS = 20  # of an outcome, as a number that is typed may go up to millions


def _variable(key: str, scale: ScaleAnswers, most_steps: float = math.inf) -> Variable:
    scores = [Fraction(score) for _condition, score, _answers in scale.rows if score is not None]
    return Variable.of_scale(
        key,
        name=scale.name,
        low=scale.low,
        high=scale.high,
        in_steps=1 < scale.high - scale.low <= most_steps
        and len(scale.questions) == 1
        and all(score.denominator == 1 for score in scores),
    )


def planned_variables(answers: Answers, plan: FrozenAnalysis) -> list[Variable]:
    """Every variable that the plan names, scales and outcomes in the order of the questionnaire and of the plan."""
    return [
        *(VARIABLE_OF[key] for key in plan.variables),
        *(variable_of_scale(scale) for scale in answers.scales if scale.key in plan.scales),
        *(_variable(outcome.key, outcome, MOST_STEPS) for outcome in answers.outcomes if outcome.key in plan.outcomes),
    ]


def study_scale(answers: Answers, scale: ScaleAnswers, planned: Sequence[str] = ()) -> results.QuestionnaireScale:
    """Describe one scale: alpha over all participants, means by condition, one analysis of variance."""
    groups = groups_of(answers, variable_of_scale(scale))
    table = [[None if answer is None else Fraction(answer) for answer in row] for *_of, row in scale.rows]
    return results.QuestionnaireScale(
        key=scale.key,
        is_planned=scale.key in planned,
        name=scale.name,
        low=scale.low,
        high=scale.high,
        questions=scale.questions,
        n_scored=sum(groups.sizes.values()),
        n=len(scale.rows),
        conditions=tuple(groups),
        reliability=cronbach_alpha(table, OUTSIDE),
        described=dict(describe(groups)),
        anova=NOT_INDEPENDENT if answers.occasions else one_way(groups, least_n=LEAST_N),
    )


SATISFACTION = "satisfaction"  # a scale of this key measures the outcome itself, so it is not a quality


def constructs_of(
    answers: Answers, rng: np.random.Generator, progress: Callable[[str], None]
) -> results.Constructs | None:
    """Every model of the scales with enough questions; None where there are none, or rows are not independent."""
    scales = [scale for scale in answers.scales if len(scale.questions) >= LEAST_ITEMS]
    if not scales or not answers.people or answers.occasions:
        return None
    progress("Fitting factor and structural models of the scales")
    # In the order of the design, so that its first condition is the reference.
    order = sorted(
        range(len(answers.people)), key=lambda index: answers.conditions.index(answers.people[index].condition)
    )
    data, _complete = indicators(_items(scales), _rows(scales, order))
    return results.Constructs(
        scales=tuple(_scale(answers, scale, order) for scale in scales),
        factors=confirmatory_factors(data),
        structural=_structural(answers, [scale for scale in scales if scale.key != SATISFACTION], order, rng),
    )


def _items(scales: Sequence[ScaleAnswers]) -> dict[str, tuple[str, ...]]:
    return {scale.name: scale.questions for scale in scales}


def _rows(scales: Sequence[ScaleAnswers], order: Sequence[int]) -> list[list[float | None]]:
    return [
        [None if value is None else float(Fraction(value)) for scale in scales for value in scale.rows[index][2]]
        for index in order
    ]


def _scale(answers: Answers, scale: ScaleAnswers, order: Sequence[int]) -> results.ScaleConstruct:
    data, complete = indicators(_items([scale]), _rows([scale], order))
    positions = [order[index] for index in complete]
    languages = [answers.languages[index] for index in positions]
    return results.ScaleConstruct(
        key=scale.key,
        name=scale.name,
        omega=mcdonald_omega(data),
        across_conditions=measurement_invariance(data, [answers.people[index].condition for index in positions]),
        across_languages=measurement_invariance(data, languages) if len(set(languages)) > 1 else None,
    )


def _structural(
    answers: Answers, qualities: Sequence[ScaleAnswers], order: Sequence[int], rng: np.random.Generator
) -> StructuralModel | Undefined:
    """Conditions act on the qualities, and both on the answer about satisfaction."""
    if not qualities:
        return Undefined("The study has no scale of a perceived quality with three questions or more.")
    data, complete = indicators(_items(qualities), _rows(qualities, order))
    positions = [order[index] for index in complete]
    satisfaction = [value for index in positions if (value := answers.people[index].satisfaction) is not None]
    if len(satisfaction) < len(positions):
        return Undefined("The study does not ask about satisfaction with the list, on which the model ends.")
    outcome = Outcome(
        VARIABLE_OF["satisfaction"].name,
        np.array(satisfaction, dtype=np.float64),
        tuple(answers.people[index].condition for index in positions),
    )
    return structural_model(data, outcome, rng)
