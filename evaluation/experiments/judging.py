"""Whether a claim came out: the numbers it is about, held against its check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Literal

from evaluation.experiments.schema import Check, Claim, Experiment, Place
from evaluation.metrics.catalogue import METRICS
from evaluation.metrics.registry import metric

Verdict = Literal["came out", "did not come out", "cannot be said"]
Numbers = Mapping[tuple[Place, str], float | None]
SignP = Callable[[Place, str, str], float | None]


@dataclass(frozen=True)
class Finding:
    """One comparison of a claim: the place, what stands there in words, and whether it is as the claim says.

    `holds` is None where a number is missing. `p` is of a one-sided sign test by user, where there is one.
    """

    place: Place
    words: str
    holds: bool | None
    p: float | None = None


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict and everything that it rests on."""

    claim: Claim
    verdict: Verdict
    findings: tuple[Finding, ...]


def judged(experiment: Experiment, numbers: Numbers, sign_p: SignP | None = None) -> tuple[Judgement, ...]:
    """Hold every claim of an experiment against what was measured.

    Parameters
    ----------
    experiment : Experiment
    numbers : mapping
        The value of each algorithm at each place that claims name; None where there is no value.
    sign_p : callable, optional
        Gives the p of a one-sided sign test that the first algorithm is higher than the second at a place, or None
        where the metric has no values by user. It does not decide: checks are about the means.

    Returns
    -------
    tuple of Judgement
        In the order of the claims.

    Examples
    --------
    >>> check = Check("order", (Place("main", "recall"),), ("PureSVD", "TopPop"))
    >>> claim = Claim("PureSVD finds more.", "published", "Table 2", check)
    >>> _one(claim, {(check.places[0], "PureSVD"): 0.4, (check.places[0], "TopPop"): 0.3}, None).verdict
    'came out'
    """
    return tuple(_one(claim, numbers, sign_p) for claim in experiment.claims)


def _one(claim: Claim, numbers: Numbers, sign_p: SignP | None) -> Judgement:
    check = claim.check
    if check.kind in ("another-best", "another-order"):
        findings = [_two_places(check, numbers)]
    else:
        of_place = {"order": _ordered, "between": _between, "near": _near}[check.kind]
        findings = [found for place in check.places for found in of_place(check, place, numbers, sign_p)]
    held = [finding.holds for finding in findings]
    verdict: Verdict = "came out"
    if None in held:
        verdict = "cannot be said"
    if False in held:
        verdict = "did not come out"
    return Judgement(claim, verdict, tuple(findings))


def _ordered(check: Check, place: Place, numbers: Numbers, sign_p: SignP | None) -> list[Finding]:
    findings = []
    for higher, lower in pairwise(check.contenders):
        a, b = numbers[place, higher], numbers[place, lower]
        holds = None if a is None or b is None else a - b > check.by
        p = sign_p(place, higher, lower) if sign_p is not None and holds is not None else None
        findings.append(Finding(place, f"{higher} {shown(a)}, {lower} {shown(b)}", holds, p))
    return findings


def _between(check: Check, place: Place, numbers: Numbers, sign_p: SignP | None) -> list[Finding]:
    findings = []
    for name in check.contenders:
        value = numbers[place, name]
        holds = None if value is None else check.low <= value <= check.high
        findings.append(Finding(place, f"{name} {shown(value)}", holds))
    return findings


def _near(check: Check, place: Place, numbers: Numbers, sign_p: SignP | None) -> list[Finding]:
    values = [numbers[place, name] for name in check.contenders]
    words = ", ".join(f"{name} {shown(value)}" for name, value in zip(check.contenders, values, strict=True))
    known = [value for value in values if value is not None]
    holds = None if len(known) < len(values) else max(known) - min(known) <= check.within
    return [Finding(place, words, holds)]


def _two_places(check: Check, numbers: Numbers) -> Finding:
    orders = []
    for place in check.places:
        values = {name: numbers[place, name] for name in check.contenders}
        known = {name: value for name, value in values.items() if value is not None}
        if len(known) < len(values):
            missing = ", ".join(name for name, value in values.items() if value is None)
            return Finding(place, f"no value for {missing}", None)
        sign = -1.0 if _is_higher_better(place.metric) else 1.0
        orders.append({name: sign * value for name, value in known.items()})
    if check.kind == "another-best":
        best = [min(order, key=order.__getitem__) for order in orders]
        words = "; ".join(
            f"best by {place.metric} ({place.run}): {name} {shown(numbers[place, name])}"
            for place, name in zip(check.places, best, strict=True)
        )
        return Finding(check.places[0], words, best[0] != best[1])
    turned = [
        f"{a} before {b}"
        for a, b in permutations(check.contenders, 2)
        if orders[0][a] < orders[0][b] and orders[1][a] > orders[1][b]
    ]
    first, second = check.places
    words = f"by {first.metric} ({first.run}), and the other way round by {second.metric} ({second.run}): "
    return Finding(first, words + (", ".join(turned) or "no two"), bool(turned))


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
