"""Words, numbers, cells and columns that several topics share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from analysis.results.perceived import PerceivedVariable
from analysis.results.rankings import Order
from documents import numbers
from documents.numbers import (
    NONE,
    Limits,
    coefficient,
    f_statistic,
    named_p,
    percent,
)
from documents.tables import Cell, Numbers, Words
from inference.ancova import FTest
from inference.groups import in_words
from inference.partial_order import Tier
from inference.results import AgreementResult, AnovaResult, SpreadResult, Undefined, WelchResult

T = TypeVar("T")

# Sentences


def method(tau: AgreementResult) -> str:
    """How a p value was computed: exactly, or from random orders."""
    return "exact" if tau.p_method.startswith("exact") else tau.p_method


def tau_b(tau: AgreementResult, symbol: str = "τ_b") -> str:
    """A rank correlation with its p value.

    Examples
    --------
    >>> tau_b(AgreementResult(0.39, 0.3, "exact permutation", 7, 0.714))
    'τ_b = .39, exact p = .300'
    """
    return f"{symbol} = {coefficient(tau.coefficient)}, {method(tau)} {named_p(tau.p)}"


def f_test(result: AnovaResult | WelchResult | SpreadResult | FTest) -> str:
    """An F test."""
    return f"{f_statistic(result.df_between, result.df_within, result.f)}, {named_p(result.p)}"


def length_words(length: int) -> str:
    """A profile length in a sentence."""
    return f"with profiles of {length} ratings" if length else "with whole profiles"


# Tables


MISSING = Cell(NONE, None)


def whole(value: int | None) -> Cell:
    """A cell with a count."""
    return Cell(numbers.count(value), value)


def decimal(value: float | None, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with a number."""
    return Cell(numbers.number(value, digits, is_share), value)


def probability(p: float | None) -> Cell:
    """A cell with a p value, under a heading that says p."""
    return Cell(numbers.p_value(p), p)


def interval_cell(low: float | None, high: float | None, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with a confidence interval.

    Examples
    --------
    >>> interval_cell(-0.1, 0.25).text
    '[−0.10, 0.25]'
    """
    if low is None or high is None:
        return MISSING
    return Cell(numbers.interval(low, high, digits, is_share), f"{low!r} {high!r}")


def limits(of: Limits | Undefined | None, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with the limits of a result that may not exist."""
    return cell_of(of, lambda ends: interval_cell(ends.low, ends.high, digits, is_share))


def cell_of(result: T | Undefined | None, write: Callable[[T], Cell]) -> Cell:
    """A cell of a result; a dash where there is none."""
    return MISSING if result is None or isinstance(result, Undefined) else write(result)


def span(low: float, high: float, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with the smallest and the largest of some values.

    Examples
    --------
    >>> span(1, 4.5).text
    '1.00 to 4.50'
    """
    text = f"{numbers.number(low, digits, is_share)} to {numbers.number(high, digits, is_share)}"
    return Cell(text, f"{low!r} {high!r}")


def ranks_cell(ranks: tuple[int, int]) -> Cell:
    """A cell with the best and the worst of some ranks.

    Examples
    --------
    >>> ranks_cell((1, 1)).text, ranks_cell((2, 5)).text
    ('1', '2 to 5')
    """
    low, high = ranks
    return Cell(f"{low}" if low == high else f"{low} to {high}", low)


def share_cell(share: float | None) -> Cell:
    """A cell with a share in percent."""
    return MISSING if share is None else Cell(percent(share), share)


def coverage(alpha: float) -> str:
    """The coverage of intervals that belong to tests at this level.

    Examples
    --------
    >>> coverage(0.05), coverage(0.005)
    ('95%', '99.5%')
    """
    return f"{round(100 * (1 - alpha), 4):g}%"


Triple = tuple[float, float, float]


def around(value: float, bounds: Sequence[float] | None) -> Triple:
    """A value with its interval; an interval that misses the value is widened to include it."""
    low, high = bounds or (value, value)
    return value, min(low, value), max(high, value)


def presentations_note(recommenders: Mapping[str, str]) -> str:
    """How the comparison weighs conditions that share a recommender; empty where none do.

    Examples
    --------
    >>> presentations_note({"LSA · plain": "LSA", "LSA · explained": "LSA"})[:74]
    'Recommenders were shown in several presentations (LSA · plain and LSA · ex'
    """
    if not recommenders:
        return ""
    groups: dict[str, list[str]] = {}
    for condition, recommender in recommenders.items():
        groups.setdefault(recommender, []).append(condition)
    shared = "; ".join(in_words(names) for names in groups.values() if len(names) > 1)
    return (
        f"Recommenders were shown in several presentations ({shared}). Offline metrics belong to the recommender, so "
        "they separate no two of its conditions; rank correlations and the average advantage average its presentations "
        "with equal weights, whatever the numbers of participants."
    )


def means_of(variable: PerceivedVariable) -> dict[str, Triple]:
    """Means of a variable by condition, with their 95% intervals where they have one."""
    means = {}
    for name in variable.conditions:
        if name not in variable.described:
            continue
        numbers = variable.described[name]
        has_bounds = numbers.ci_low is not None and numbers.ci_high is not None
        means[name] = around(numbers.mean, (numbers.ci_low or 0.0, numbers.ci_high or 0.0) if has_bounds else None)
    return means


def axis(variable: PerceivedVariable) -> str:
    """The title of a variable's axis: its name and unit."""
    return f"{variable.variable.name}, {variable.variable.unit}"


# Columns of results about two conditions, and of estimates.
PAIR: tuple[Words[Any], ...] = (Words("Algorithm", attrgetter("a")), Words("and", attrgetter("b")))
ESTIMATED: tuple[Numbers[Any], ...] = (
    Numbers("SE", lambda of: decimal(of.se)),
    Numbers("95% CI", lambda of: limits(of.interval)),
)
Placed = tuple[str, str]  # the title of a tier, and a condition in it
TIER_NAMES = {
    Tier.MAXIMAL: "Maximal",
    Tier.INTERMEDIATE: "Intermediate",
    Tier.MINIMAL: "Minimal",
    Tier.UNORDERED: "Unordered: no significant differences",
}


def tiered_names(order: Order) -> Iterator[Placed]:
    """The title of its tier and each condition: tiers from the top, the best location first within a tier."""
    for tier, title in TIER_NAMES.items():
        yield from ((title, name) for name in order.best_first if order.tiers[name] is tier)


def dominance_columns(order: Order) -> tuple[Numbers[Placed], Numbers[Placed], Words[Placed]]:
    """How many conditions a condition dominates, how many dominate it, and its letters."""
    return (
        Numbers("Dominates", lambda row: whole(len(order.dominates[row[1]]))),
        Numbers("Dominated by", lambda row: whole(len(order.dominated_by[row[1]]))),
        Words("Letters", lambda row: order.letters[row[1]]),
    )
