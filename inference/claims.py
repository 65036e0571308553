"""Claims about algorithms, judged by confidence intervals and separated pairs, wherever these come from.

A rule compares estimates with what is claimed. The interval of the claimed quantity decides, or the pairs of algorithms
that a test separates; several intervals are Bonferroni-corrected. *Not as claimed* is checked first, and what is
neither stays open: a result that is not significant is no evidence for or against a claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, pairwise
from typing import Any, Protocol

from inference.results import Interval

AS, NOT_AS, OPEN = "as in the paper", "not as in the paper", "open"
VERDICTS: Mapping[bool | None, str] = {True: AS, False: NOT_AS, None: OPEN}
WHOLE = ("",)  # in place of algorithms: a quantity of all participants, such as a correlation

Quantity = Any  # hashable: a metric of a run, a measure of a study
Names = Sequence[str]
Pairs = Collection[tuple[str, str]]  # (the algorithm with the higher value, the one with the lower)
Weights = Mapping[str, float]


@dataclass(frozen=True)
class Estimate:
    """A number with its uncertainty."""

    value: float
    interval: Callable[[float], Interval]  # by its confidence


class Evidence(Protocol):
    """What a report, an experiment or a paper says of quantities; None where it says nothing."""

    alpha: float

    def value(self, quantity: Quantity, name: str) -> float | None:
        """An algorithm's value."""

    def contrast(self, quantity: Quantity, weights: Weights) -> Estimate | None:
        """The weighted sum of algorithms' values: one value, a difference or another contrast."""

    def pairs(self, quantity: Quantity) -> Pairs | None:
        """The pairs of algorithms that the quantity separates, with family-wise error `alpha`."""

    def is_lower_better(self, quantity: Quantity) -> bool:
        """Whether the lower value is the better one, as for an error."""


@dataclass(frozen=True)
class Finding:
    """One comparison: its description with the numbers, and whether it is as claimed; None leaves the claim open."""

    quantity: Quantity
    words: str
    outcome: bool | None
    interval: Interval | None = None
    confidence: float | None = None


@dataclass(frozen=True)
class Bounds:
    """An interval within [`low`, `high`] is as claimed; one wholly below `below` or above `above` is not."""

    low: float
    high: float
    below: float
    above: float

    def outcome(self, interval: Interval) -> bool | None:
        """Compare an interval with the bounds, *not as claimed* first."""
        if interval.high < self.below or interval.low > self.above:
            return False
        return True if self.low <= interval.low and interval.high <= self.high else None


def near(value: float, margin: float) -> Bounds:
    """A quantity within `margin` of `value`."""
    return Bounds(value - margin, value + margin, value - margin, value + margin)


def least(value: float, margin: float = 0.0) -> Bounds:
    """A quantity of at least `value`: shown above `value` less the margin, refuted below `value`.

    Examples
    --------
    >>> [least(0.75, 0.15).outcome(Interval(low, high)) for low, high in ((0.61, 0.9), (0.5, 0.9), (0.5, 0.7))]
    [True, None, False]
    """
    return Bounds(math.nextafter(value - margin, math.inf), math.inf, value, math.inf)


def most(value: float, margin: float = 0.0) -> Bounds:
    """A quantity of at most `value`: the mirror image of `least`."""
    return Bounds(-math.inf, math.nextafter(value + margin, -math.inf), -math.inf, value)


def judge(rule: str, evidence: Evidence, quantities: Sequence[Quantity], names: Names, **options: Any) -> list[Finding]:
    """Judge one claim by a rule of `RULES`; `verdict` sums up the findings.

    - ``near``, ``least``, ``most`` (`value`, `margin`), ``between`` (`low`, `high`): each value, by its interval.
    - ``order``, ``highest``, ``lowest`` (`by`): each name above the next; the first above, or below, every other.
    - ``alike`` (`within`): the differences of every two names.
    - ``top``: no algorithm is above a name, and each name is above an algorithm; ``bottom`` mirrored.
    - ``tiers`` (`minimal`): the names' mean is above that of `minimal`, and no `minimal` is above a name.
    - ``differs``: a measure's effect size f: the test is significant; refuted by an upper limit below .10.
    - ``one-order``: two quantities separate a pair alike and none in opposite directions.
    - ``another-order``, ``another-best``: the better of two names is the worse by the second quantity; the best by one
      quantity is not the best by the other. Refuted where every pair, or the best against each other, is separated
      alike.
    - ``nobody-alone``: no name is above, or below, all others. It is about what tests found, so it is always decided.
    - ``contradicted``: the first quantity contradicts each other one on a pair. Refuted where it contradicts none and
      the average advantage of each is above 0.

    The numbers of a rule are keyword arguments. Raises KeyError for an unknown rule.

    Examples
    --------
    >>> class Printed:
    ...     alpha = 0.05
    ...     def value(self, quantity, name): return {"A": 0.3, "B": 0.2}[name]
    ...     def pairs(self, quantity): return {("A", "B")}
    ...     def contrast(self, quantity, weights): return None
    ...     def is_lower_better(self, quantity): return False
    >>> findings = judge("top", Printed(), ["recall"], ["A"])
    >>> findings[0].words, verdict(findings)
    ('A .300 significantly above B', 'as in the paper')
    """
    return RULES[rule](evidence, quantities, names, **options)


def verdict(findings: Sequence[Finding]) -> str:
    """Sum up the comparisons of a claim: one that is not as claimed decides, and all must be as claimed.

    Examples
    --------
    >>> verdict([Finding("recall", "", True), Finding("recall", "", None)])
    'open'
    """
    outcomes = [finding.outcome for finding in findings]
    return VERDICTS[False if False in outcomes else True if outcomes and None not in outcomes else None]


def _judge_values(bounds: Callable[..., Bounds]) -> Callable[..., list[Finding]]:
    def rule(evidence: Evidence, quantities: Sequence[Quantity], names: Names, **numbers: float) -> list[Finding]:
        compared = [(quantity, {name: 1.0}) for quantity in quantities for name in names or WHOLE]
        return _judge_contrasts(evidence, compared, bounds(**numbers))

    return rule


def _judge_differences(
    pairs_of: Callable[[Names], Iterable[tuple[str, str]]], bounds: Callable[..., Bounds] = lambda by=0.0: least(by)
) -> Callable[..., list[Finding]]:
    def rule(evidence: Evidence, quantities: Sequence[Quantity], names: Names, **numbers: float) -> list[Finding]:
        compared = [(quantity, {a: 1.0, b: -1.0}) for quantity in quantities for a, b in pairs_of(names)]
        return _judge_contrasts(evidence, compared, bounds(**numbers))

    return rule


def _judge_contrasts(evidence: Evidence, compared: Sequence[tuple[Quantity, Weights]], bounds: Bounds) -> list[Finding]:
    confidence = 1 - evidence.alpha / max(1, len(compared))
    findings = []
    for quantity, weights in compared:
        words = ", ".join(_with_value(evidence, quantity, name) for name in weights)
        estimate = evidence.contrast(quantity, weights)
        if estimate is None:
            findings.append(Finding(quantity, f"{words}; no interval", None))
            continue
        interval = estimate.interval(confidence)
        words += f"; difference {_shown(estimate.value)}" if len(weights) > 1 else ""
        words += f", {_in_words(interval, confidence)}"
        findings.append(Finding(quantity, words, bounds.outcome(interval), interval, confidence))
    return findings


def _judge_each(judge_quantity: Callable[..., Finding]) -> Callable[..., list[Finding]]:
    def rule(evidence: Evidence, quantities: Sequence[Quantity], names: Names, **options: Any) -> list[Finding]:
        return [judge_quantity(evidence, quantity, names, **options) for quantity in quantities]

    return rule


def _top(evidence: Evidence, quantity: Quantity, names: Names, *, is_mirrored: bool = False) -> Finding:
    pairs = evidence.pairs(quantity)
    if pairs is None:
        return Finding(quantity, "no test", None)
    beyond, worse = ("below", "above") if is_mirrored else ("above", "below")
    ahead = {(b, a) for a, b in pairs} if is_mirrored else set(pairs)
    words, is_as = [], True
    is_not = any(rival not in names and name in names for rival, name in ahead)
    for name in names:
        passed, passed_by = ([b for a, b in ahead if a == name], [a for a, b in ahead if b == name])
        is_as = is_as and any(rival not in names for rival in passed)
        words.append(f"{_with_value(evidence, quantity, name)} significantly {beyond} {_listed(passed)}")
        if passed_by:
            words[-1] += f" and {worse} {_listed(passed_by)}"
    return Finding(quantity, "; ".join(words), False if is_not else is_as or None)


def _tiers(evidence: Evidence, quantity: Quantity, names: Names, minimal: Names) -> Finding:
    weights = dict.fromkeys(names, 1 / len(names)) | dict.fromkeys(minimal, -1 / len(minimal))
    (finding,) = _judge_contrasts(evidence, [(quantity, weights)], least(0))
    reversals = [(a, b) for a, b in evidence.pairs(quantity) or () if a in minimal and b in names]
    # A mean difference in the other direction alone leaves the claim open.
    words = finding.words + "".join(f"; {a} significantly above {b}" for a, b in reversals)
    return replace(finding, words=words, outcome=False if reversals else finding.outcome or None)


def _differs(evidence: Evidence, quantities: Sequence[Quantity], names: Names, negligible: float) -> list[Finding]:
    findings = []
    for quantity in quantities:
        estimate = evidence.contrast(quantity, dict.fromkeys(WHOLE, 1.0))
        if estimate is None:
            findings.append(Finding(quantity, "no test", None))
            continue
        test = estimate.interval(1 - evidence.alpha)
        limit = estimate.interval(1 - evidence.alpha / len(quantities))
        outcome = False if limit.high < negligible else test.low > 0 or None
        words = f"f = {_shown(estimate.value)}, at least {_shown(test.low)} and at most {_shown(limit.high)}"
        findings.append(Finding(quantity, words, outcome))
    return findings


def _one_order(evidence: Evidence, quantities: Sequence[Quantity], names: Names) -> list[Finding]:
    first, second = (set(evidence.pairs(quantity) or ()) for quantity in quantities)
    shared, reversed_pairs = first & second, {(a, b) for a, b in first if (b, a) in second}
    words = f"{len(shared)} pairs separated by both in the same direction, {len(reversed_pairs)} in opposite directions"
    return [Finding(quantities[0], words, False if reversed_pairs else bool(shared) or None)]


def _another_order(evidence: Evidence, quantities: Sequence[Quantity], names: Names) -> list[Finding]:
    first, second = (_better_first(evidence, quantity, names) for quantity in quantities)
    words = [f"{a} before {b}, in the opposite order by the second" for a, b in sorted(first) if (b, a) in second]
    is_same = len(first & second) == math.comb(len(names), 2)
    outcome = True if words else False if is_same else None
    return [Finding(quantities[0], "; ".join(words) or "no two change their order", outcome)]


def _another_best(evidence: Evidence, quantities: Sequence[Quantity], names: Names) -> list[Finding]:
    best = []
    for quantity in quantities:
        values = {name: evidence.value(quantity, name) for name in names}
        known = {name: value for name, value in values.items() if value is not None}
        if len(known) < len(names):
            missing = ", ".join(name for name in names if name not in known)
            return [Finding(quantity, f"no value for {missing}", None)]
        best.append((min if evidence.is_lower_better(quantity) else max)(known, key=known.__getitem__))
    first, second = (_better_first(evidence, quantity, names) for quantity in quantities)
    words = [f"best is {_with_value(evidence, *at)}" for at in zip(quantities, best, strict=True)]
    if best[0] == best[1]:
        is_best = all({(best[0], rival)} <= first & second for rival in names if rival != best[0])
        outcomes = [False if is_best else None] * 2
    else:
        outcomes = [tuple(best) in first or None, tuple(reversed(best)) in second or None]
    return [Finding(*row) for row in zip(quantities, words, outcomes, strict=True)]


def _none_alone(evidence: Evidence, quantity: Quantity, names: Names) -> Finding:
    pairs = evidence.pairs(quantity)
    if pairs is None:
        return Finding(quantity, "no test", None)
    alone = [
        f"{name} significantly {direction} all others"
        for name in names
        for direction, ahead in (("above", set(pairs)), ("below", {(b, a) for a, b in pairs}))
        if all((name, rival) in ahead for rival in names if rival != name)
    ]
    return Finding(quantity, "; ".join(alone) or "no algorithm above or below all others", not alone)


def _contradicted(evidence: Evidence, quantities: Sequence[Quantity], names: Names) -> list[Finding]:
    measure, *metrics = quantities
    preferred = _better_first(evidence, measure, names)
    findings, agreements = [], []
    for metric in metrics:
        separated = _better_first(evidence, metric, names)
        contradictions = sorted((b, a) for a, b in separated if (b, a) in preferred)
        weights = dict.fromkeys(names, 0.0)
        for better, worse in separated:
            weights[better] += 1 / len(separated)
            weights[worse] -= 1 / len(separated)
        advantage = evidence.contrast(measure, weights) if any(weights.values()) else None
        words = f"D = {len(contradictions)}" + "".join(f", {a} over {b}" for a, b in contradictions)
        interval, confidence = None, 1 - evidence.alpha / len(metrics)
        if advantage is not None:
            interval = advantage.interval(confidence)
            words += f"; average advantage {_shown(advantage.value)}, {_in_words(interval, confidence)}"
        agreements.append(not contradictions and interval is not None and interval.low > 0)
        findings.append(Finding(metric, words, bool(contradictions) or None, interval, confidence))
    if not all(agreements):
        return findings
    return [replace(row, outcome=False) for row in findings]


def _better_first(evidence: Evidence, quantity: Quantity, names: Names) -> set[tuple[str, str]]:
    pairs = {pair for pair in evidence.pairs(quantity) or () if set(pair) <= set(names)}
    return {(b, a) for a, b in pairs} if evidence.is_lower_better(quantity) else pairs


def _with_value(evidence: Evidence, quantity: Quantity, name: str) -> str:
    value = evidence.value(quantity, name)
    return f"{name} {'–' if value is None else _shown(value)}".strip()


def _in_words(interval: Interval, confidence: float) -> str:
    return f"{100 * confidence:.4g}% CI [{_shown(interval.low)}, {_shown(interval.high)}]"


def _shown(value: float) -> str:
    text = f"{round(value, 3) + 0.0:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


RULES: Mapping[str, Callable[..., list[Finding]]] = {
    "near": _judge_values(near),
    "least": _judge_values(least),
    "most": _judge_values(most),
    "between": _judge_values(lambda low=-math.inf, high=math.inf: Bounds(low, high, low, high)),
    "order": _judge_differences(pairwise),
    "highest": _judge_differences(lambda names: [(names[0], rival) for rival in names[1:]]),
    "lowest": _judge_differences(lambda names: [(rival, names[0]) for rival in names[1:]]),
    "alike": _judge_differences(lambda names: combinations(names, 2), lambda within: near(0, within)),
    "top": _judge_each(_top),
    "bottom": _judge_each(partial(_top, is_mirrored=True)),
    "tiers": _judge_each(_tiers),
    "differs": _differs,
    "one-order": _one_order,
    "another-order": _another_order,
    "another-best": _another_best,
    "nobody-alone": _judge_each(_none_alone),
    "contradicted": _contradicted,
}
