"""Whether a claim holds: the numbers it is about, judged by their tests over users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, permutations
from typing import Literal, Protocol

from evaluation.experiments.schema import Check, Claim, Experiment, Place
from evaluation.metrics.catalogue import METRICS
from evaluation.metrics.registry import metric
from inference.jackknife import JackknifeEstimate

ALPHA = 0.05

Verdict = Literal["holds", "does not hold", "could not be decided"]
Numbers = Mapping[tuple[Place, str], float | None]


class Tests(Protocol):
    """The tests over users of an experiment's runs; None where a run allows none."""

    def value(self, place: Place, name: str) -> JackknifeEstimate | None:
        """An algorithm's value with its standard error."""

    def difference(self, place: Place, first: str, second: str) -> JackknifeEstimate | None:
        """The first algorithm's value less the second's, with its standard error."""

    def sign_p(self, place: Place, first: str, second: str) -> float | None:
        """The p of a one-sided sign test by user that the first algorithm has the higher values."""


@dataclass(frozen=True)
class Span:
    """An interval over users, of a value or of a difference."""

    of: Literal["value", "difference"]
    value: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True)
class Finding:
    """One comparison of a claim: the place, its numbers in words, and whether its tests support the claim.

    `holds` is None where the tests do not decide, or a number is missing. `p` is of a one-sided sign test by user.
    `is_tested` is False where no test over users exists.
    """

    place: Place
    words: str
    holds: bool | None
    span: Span | None = None
    p: float | None = None
    is_tested: bool = True


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict and everything that it rests on."""

    claim: Claim
    verdict: Verdict
    findings: tuple[Finding, ...]


def judged(experiment: Experiment, numbers: Numbers, tests: Tests) -> tuple[Judgement, ...]:
    """Judge every claim of an experiment.

    A comparison supports a claim where each test it has does: the 95% interval of the difference (or value) lies
    wholly where the claim puts it, and the sign test by user is significant at .05. It contradicts the claim where
    each test is significant the other way. Anything between is undecided. A claim holds where all its comparisons
    support it, and does not hold where one contradicts it.

    Parameters
    ----------
    experiment : Experiment
    numbers : mapping
        The value of each algorithm at each place that claims name; None where there is no value.
    tests : Tests

    Returns
    -------
    tuple of Judgement
        In the order of the claims.
    """
    return tuple(_one(claim, numbers, tests) for claim in experiment.claims)


def _one(claim: Claim, numbers: Numbers, tests: Tests) -> Judgement:
    check = claim.check
    if check.kind == "another-best":
        findings = _another_best(check, numbers, tests)
    elif check.kind == "another-order":
        findings = [_another_order(check, numbers, tests)]
    else:
        at_place: Callable[[Check, Place, Numbers, Tests], list[Finding]] = {
            "order": _ordered, "highest": _highest, "lowest": _lowest, "between": _between, "near": _near,
        }[check.kind]  # fmt: skip
        findings = [finding for place in check.places for finding in at_place(check, place, numbers, tests)]
    supported = [finding.holds for finding in findings]
    verdict: Verdict = "could not be decided"
    if False in supported:
        verdict = "does not hold"
    elif None not in supported:
        verdict = "holds"
    return Judgement(claim, verdict, tuple(findings))


def _ordered(check: Check, place: Place, numbers: Numbers, tests: Tests) -> list[Finding]:
    return [_above(place, a, b, numbers, tests, by=check.by) for a, b in pairwise(check.contenders)]


def _highest(check: Check, place: Place, numbers: Numbers, tests: Tests) -> list[Finding]:
    first, *others = check.contenders
    return [_above(place, first, other, numbers, tests, by=check.by) for other in others]


def _lowest(check: Check, place: Place, numbers: Numbers, tests: Tests) -> list[Finding]:
    first, *others = check.contenders
    return [_above(place, other, first, numbers, tests, by=check.by) for other in others]


def _above(
    place: Place, first: str, second: str, numbers: Numbers, tests: Tests, *, by: float = 0.0, alpha: float = ALPHA
) -> Finding:
    """Whether the first algorithm has the higher value, by more than `by`."""
    a, b = numbers[place, first], numbers[place, second]
    words = f"{first} {shown(a)}, {second} {shown(b)}"
    if a is None or b is None:
        return Finding(place, words, None)
    span = _span("difference", tests.difference(place, first, second), alpha)
    p, reverse_p = tests.sign_p(place, first, second), tests.sign_p(place, second, first)
    support, contradiction = [a - b > by], [a - b < by]
    if span is not None:
        support.append(span.low > by)
        contradiction.append(span.high < by)
    if p is not None and reverse_p is not None:
        support.append(p < alpha)
        if by == 0:  # a sign test says nothing about a margin
            contradiction.append(reverse_p < alpha)
    return Finding(place, words, _decision(support, contradiction), span, p, is_tested=len(support) > 1)


def _decision(support: list[bool], contradiction: list[bool]) -> bool | None:
    """What tests come to, the first entry of either list being the numbers themselves; these alone decide nothing."""
    if len(support) > 1 and all(support):
        return True
    if len(contradiction) > 1 and all(contradiction):
        return False
    return None


def _span(of: Literal["value", "difference"], estimate: JackknifeEstimate | None, alpha: float) -> Span | None:
    if estimate is None:
        return None
    interval = estimate.interval(1 - alpha)
    return Span(of, estimate.value, interval.low, interval.high, 1 - alpha)


def _between(check: Check, place: Place, numbers: Numbers, tests: Tests) -> list[Finding]:
    findings = []
    for name in check.contenders:
        span = _span("value", tests.value(place, name), ALPHA)
        inside = None if span is None else _inside(span, check.low, check.high)
        findings.append(
            Finding(place, f"{name} {shown(numbers[place, name])}", inside, span, is_tested=span is not None)
        )
    return findings


def _near(check: Check, place: Place, numbers: Numbers, tests: Tests) -> list[Finding]:
    findings = []
    for a, b in combinations(check.contenders, 2):
        span = _span("difference", tests.difference(place, a, b), ALPHA)
        inside = None if span is None else _inside(span, -check.within, check.within)
        words = f"{a} {shown(numbers[place, a])}, {b} {shown(numbers[place, b])}"
        findings.append(Finding(place, words, inside, span, is_tested=span is not None))
    return findings


def _inside(span: Span, low: float, high: float) -> bool | None:
    """Whether the whole interval lies within the bounds (True), beyond them (False), or across one (None)."""
    if low <= span.low and span.high <= high:
        return True
    if span.high < low or span.low > high:
        return False
    return None


def _better(place: Place, first: str, second: str, numbers: Numbers, tests: Tests, *, alpha: float = ALPHA) -> Finding:
    """Whether the first algorithm is the better one by the place's metric."""
    if _is_higher_better(place.metric):
        return _above(place, first, second, numbers, tests, alpha=alpha)
    return _above(place, second, first, numbers, tests, alpha=alpha)


def _known(check: Check, place: Place, numbers: Numbers) -> dict[str, float] | Finding:
    """Each algorithm's value, or the finding that one is missing."""
    values = {name: numbers[place, name] for name in check.contenders}
    known = {name: value for name, value in values.items() if value is not None}
    missing = ", ".join(name for name in values if name not in known)
    return Finding(place, f"no value for {missing}", None) if missing else known


def _another_best(check: Check, numbers: Numbers, tests: Tests) -> list[Finding]:
    best = []
    for place in check.places:
        values = _known(check, place, numbers)
        if isinstance(values, Finding):
            return [values]
        best.append((max if _is_higher_better(place.metric) else min)(values, key=values.__getitem__))
    if best[0] != best[1]:
        # Another algorithm is best at the second place if each leads the other where it is the best.
        places = zip(check.places, best, reversed(best), strict=True)
        findings = [_better(place, first, second, numbers, tests) for place, first, second in places]
        return [
            _with(found, f"best is {name}: ", found.holds or None) for found, name in zip(findings, best, strict=True)
        ]
    findings = [
        _better(place, best[0], other, numbers, tests)
        for place in check.places
        for other in check.contenders
        if other != best[0]
    ]
    is_best = all(found.holds for found in findings)
    return [_with(found, f"best is {best[0]}: ", False if is_best else None) for found in findings]


def _another_order(check: Check, numbers: Numbers, tests: Tests) -> Finding:
    """Some two algorithms stand the other way round at the second place; the level is shared among all pairs."""
    first, second = check.places
    for place in check.places:
        values = _known(check, place, numbers)
        if isinstance(values, Finding):
            return values
    pairs = list(combinations(check.contenders, 2))
    alpha = ALPHA / len(pairs)
    shown_pairs = []
    for a, b in permutations(check.contenders, 2):
        turned = _better(first, a, b, numbers, tests, alpha=alpha), _better(second, b, a, numbers, tests, alpha=alpha)
        if all(found.holds for found in turned):
            shown_pairs.append(f"{a} before {b}")
    words = (
        f"by {first.metric} ({first.run}), and significantly the other way round by {second.metric} ({second.run}), "
        f"each of {len(pairs)} pairs tested at .05/{len(pairs)}: "
    )
    if shown_pairs:
        return Finding(first, words + ", ".join(shown_pairs), True)
    is_same = all(
        any(
            _better(first, a, b, numbers, tests).holds and _better(second, a, b, numbers, tests).holds
            for a, b in (pair, pair[::-1])
        )
        for pair in pairs
    )
    return Finding(first, words + "no two", False if is_same else None)


def _with(finding: Finding, words: str, holds: bool | None) -> Finding:
    return replace(finding, words=words + finding.words, holds=holds)


def _is_higher_better(name: str) -> bool:
    known = METRICS.get(name) or metric(name).definition  # recall and its like go without a length in some places
    return known.direction != "lower"


def shown(value: float | None) -> str:
    """Write a number with three decimals, as tables print it; a dash where there is none.

    Examples
    --------
    >>> shown(0.4174), shown(1.07), shown(None)
    ('.417', '1.070', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.3f}"
    if text.startswith(("0.", "-0.")):
        text = text.replace("0.", ".", 1)
    return ".000" if text == "-.000" else text
