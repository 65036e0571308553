"""Verdicts on claims, based on tests over users of the numbers each claim is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, permutations
from typing import Literal, Protocol

from documents.numbers import NONE
from evaluation.experiments.schema import Check, Claim, Experiment, Quantity
from evaluation.metrics.catalogue import METRICS
from evaluation.metrics.registry import metric
from inference import apa
from inference.jackknife import JackknifeEstimate

ALPHA = 0.05

Verdict = Literal["holds", "does not hold", "could not be decided"]
Numbers = Mapping[tuple[Quantity, str], float | None]


class Tests(Protocol):
    """The tests over users of an experiment's runs; None where a test is not possible."""

    def value(self, quantity: Quantity, name: str) -> JackknifeEstimate | None:
        """An algorithm's value with its standard error."""

    def difference(self, quantity: Quantity, first: str, second: str) -> JackknifeEstimate | None:
        """The first algorithm's value minus the second's, with its standard error."""

    def sign_p(self, quantity: Quantity, first: str, second: str) -> float | None:
        """The p value of a one-sided sign test over users that the first algorithm has the higher values."""


@dataclass(frozen=True)
class Span:
    """A confidence interval over users, of a value or of a difference."""

    of: Literal["value", "difference"]
    value: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True)
class Finding:
    """One comparison of a claim: the quantity, a description with the numbers, and whether tests support the claim.

    `holds` is None if the tests are inconclusive or a number is missing. `p` belongs to a one-sided sign test over
    users. `is_tested` is False if no test over users exists.
    """

    quantity: Quantity
    description: str
    holds: bool | None
    span: Span | None = None
    p: float | None = None
    is_tested: bool = True


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict and the findings behind it."""

    claim: Claim
    verdict: Verdict
    findings: tuple[Finding, ...]


def judge_claims(experiment: Experiment, numbers: Numbers, tests: Tests) -> tuple[Judgement, ...]:
    """Judge every claim of an experiment.

    A comparison supports a claim if each available test does: the 95% CI of the difference (or value) lies entirely in
    the claimed range, and the sign test over users is significant at .05. It contradicts the claim if each test is
    significant in the opposite direction, and is undecided otherwise. A claim holds if all its comparisons support it,
    and does not hold if one contradicts it. `numbers` has the value of each algorithm for each quantity of the claims,
    None if there is no value.
    """
    return tuple(_judgement(claim, numbers, tests) for claim in experiment.claims)


def _judgement(claim: Claim, numbers: Numbers, tests: Tests) -> Judgement:
    check = claim.check
    if check.kind == "another-best":
        findings = _another_best(check, numbers, tests)
    elif check.kind == "another-order":
        findings = [_another_order(check, numbers, tests)]
    else:
        find: Callable[[Check, Quantity, Numbers, Tests], list[Finding]] = {
            "order": _ordered, "highest": _highest, "lowest": _lowest, "between": _between, "near": _near,
        }[check.kind]  # fmt: skip
        findings = [finding for quantity in check.quantities for finding in find(check, quantity, numbers, tests)]
    supported = [finding.holds for finding in findings]
    verdict: Verdict = "could not be decided"
    if False in supported:
        verdict = "does not hold"
    elif None not in supported:
        verdict = "holds"
    return Judgement(claim, verdict, tuple(findings))


def _ordered(check: Check, quantity: Quantity, numbers: Numbers, tests: Tests) -> list[Finding]:
    return [_above(quantity, a, b, numbers, tests, by=check.by) for a, b in pairwise(check.contenders)]


def _highest(check: Check, quantity: Quantity, numbers: Numbers, tests: Tests) -> list[Finding]:
    first, *rivals = check.contenders
    return [_above(quantity, first, rival, numbers, tests, by=check.by) for rival in rivals]


def _lowest(check: Check, quantity: Quantity, numbers: Numbers, tests: Tests) -> list[Finding]:
    first, *rivals = check.contenders
    return [_above(quantity, rival, first, numbers, tests, by=check.by) for rival in rivals]


def _above(
    quantity: Quantity,
    first: str,
    second: str,
    numbers: Numbers,
    tests: Tests,
    *,
    by: float = 0.0,
    alpha: float = ALPHA,
) -> Finding:
    """Test whether the first algorithm has the higher value, by more than `by`."""
    a, b = numbers[quantity, first], numbers[quantity, second]
    description = f"{first} {shown(a)}, {second} {shown(b)}"
    if a is None or b is None:
        return Finding(quantity, description, None)
    span = _span("difference", tests.difference(quantity, first, second), alpha)
    p, reverse_p = tests.sign_p(quantity, first, second), tests.sign_p(quantity, second, first)
    support, contradiction = [a - b > by], [a - b < by]
    if span is not None:
        support.append(span.low > by)
        contradiction.append(span.high < by)
    if p is not None and reverse_p is not None:
        support.append(p < alpha)
        if by == 0:  # a sign test cannot test a margin
            contradiction.append(reverse_p < alpha)
    return Finding(quantity, description, _decision(support, contradiction), span, p, is_tested=len(support) > 1)


def _decision(support: list[bool], contradiction: list[bool]) -> bool | None:
    """Combine tests; the first entry of each list is the observed order, which alone decides nothing."""
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


def _between(check: Check, quantity: Quantity, numbers: Numbers, tests: Tests) -> list[Finding]:
    findings = []
    for name in check.contenders:
        span = _span("value", tests.value(quantity, name), ALPHA)
        inside = None if span is None else _inside(span, check.low, check.high)
        findings.append(
            Finding(quantity, f"{name} {shown(numbers[quantity, name])}", inside, span, is_tested=span is not None)
        )
    return findings


def _near(check: Check, quantity: Quantity, numbers: Numbers, tests: Tests) -> list[Finding]:
    findings = []
    for a, b in combinations(check.contenders, 2):
        span = _span("difference", tests.difference(quantity, a, b), ALPHA)
        inside = None if span is None else _inside(span, -check.within, check.within)
        description = f"{a} {shown(numbers[quantity, a])}, {b} {shown(numbers[quantity, b])}"
        findings.append(Finding(quantity, description, inside, span, is_tested=span is not None))
    return findings


def _inside(span: Span, low: float, high: float) -> bool | None:
    """Return whether the interval lies inside the bounds (True), outside (False), or crosses one (None)."""
    if low <= span.low and span.high <= high:
        return True
    if span.high < low or span.low > high:
        return False
    return None


def _better(
    quantity: Quantity, first: str, second: str, numbers: Numbers, tests: Tests, *, alpha: float = ALPHA
) -> Finding:
    """Test whether the first algorithm is better by the metric of the quantity."""
    if _is_higher_better(quantity.metric):
        return _above(quantity, first, second, numbers, tests, alpha=alpha)
    return _above(quantity, second, first, numbers, tests, alpha=alpha)


def _known(check: Check, quantity: Quantity, numbers: Numbers) -> dict[str, float] | Finding:
    """Return the value of each algorithm, or a finding if one is missing."""
    values = {name: numbers[quantity, name] for name in check.contenders}
    known = {name: value for name, value in values.items() if value is not None}
    missing = ", ".join(name for name in values if name not in known)
    return Finding(quantity, f"no value for {missing}", None) if missing else known


def _another_best(check: Check, numbers: Numbers, tests: Tests) -> list[Finding]:
    best = []
    for quantity in check.quantities:
        values = _known(check, quantity, numbers)
        if isinstance(values, Finding):
            return [values]
        best.append((max if _is_higher_better(quantity.metric) else min)(values, key=values.__getitem__))
    if best[0] != best[1]:
        # The best algorithm differs if each of the two leads the other by the quantity it is best in.
        quantities = zip(check.quantities, best, reversed(best), strict=True)
        findings = [_better(quantity, first, second, numbers, tests) for quantity, first, second in quantities]
        return [
            _with_prefix(finding, f"best is {name}: ", finding.holds or None)
            for finding, name in zip(findings, best, strict=True)
        ]
    findings = [
        _better(quantity, best[0], rival, numbers, tests)
        for quantity in check.quantities
        for rival in check.contenders
        if rival != best[0]
    ]
    is_best = all(finding.holds for finding in findings)
    return [_with_prefix(finding, f"best is {best[0]}: ", False if is_best else None) for finding in findings]


def _another_order(check: Check, numbers: Numbers, tests: Tests) -> Finding:
    """Test whether two algorithms change their order; the significance level is divided by the number of pairs."""
    first, second = check.quantities
    for quantity in check.quantities:
        values = _known(check, quantity, numbers)
        if isinstance(values, Finding):
            return values
    pairs = list(combinations(check.contenders, 2))
    alpha = ALPHA / len(pairs)
    shown_pairs = []
    for a, b in permutations(check.contenders, 2):
        reversal = _better(first, a, b, numbers, tests, alpha=alpha), _better(second, b, a, numbers, tests, alpha=alpha)
        if all(finding.holds for finding in reversal):
            shown_pairs.append(f"{a} before {b}")
    description = (
        f"by {first.metric} ({first.run}), and significantly in the opposite order by {second.metric} ({second.run}), "
        f"each of {len(pairs)} pairs tested at .05/{len(pairs)}: "
    )
    if shown_pairs:
        return Finding(first, description + ", ".join(shown_pairs), True)
    is_same = all(
        any(
            _better(first, a, b, numbers, tests).holds and _better(second, a, b, numbers, tests).holds
            for a, b in (pair, pair[::-1])
        )
        for pair in pairs
    )
    return Finding(first, description + "no two", False if is_same else None)


def _with_prefix(finding: Finding, prefix: str, holds: bool | None) -> Finding:
    return replace(finding, description=prefix + finding.description, holds=holds)


def _is_higher_better(name: str) -> bool:
    known = METRICS.get(name) or metric(name).definition  # recall and similar metrics may come without a length
    return known.direction != "lower"


def shown(value: float | None) -> str:
    """Format a number with three decimals, as in tables; a dash if there is none.

    Examples
    --------
    >>> shown(0.4174), shown(1.07), shown(None)
    ('.417', '1.070', '–')
    """
    return NONE if value is None else apa.share(value, 3)
