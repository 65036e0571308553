"""The paper's statements, judged by what the tests of our report can show."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from core.provenance import rng_for
from inference.corrections import holm
from inference.results import Undefined
from parallax.replication.published import Claim

Check = Mapping[str, Any]
YES, NO, OPEN = "as in the paper", "not as in the paper", "could not be decided"

RESAMPLES = 2000
FEWEST = 5  # participants of a condition, below which there is no bootstrap interval
Z = 1.959964  # of a 95% interval
_FIELDS: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "mean": lambda samples: samples.mean(axis=1),
    "median": lambda samples: np.median(samples, axis=1),
    "q1": lambda samples: np.quantile(samples, 0.25, axis=1),
    "q3": lambda samples: np.quantile(samples, 0.75, axis=1),
}


@dataclass(frozen=True)
class Estimate:
    """One number of an algorithm with its 95% bootstrap interval over participants."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_number(self.value)} [{_number(self.low)}, {_number(self.high)}]"


@dataclass(frozen=True)
class Ours:
    """Our results, by the paper's names of the algorithms."""

    results: Results
    names: Mapping[str, str]  # label of a condition -> name in the paper
    novelty_r: float | None

    def variable(self, key: str) -> PerceivedVariable:
        """One variable's results."""
        return next(variable for variable in self.results.variables if variable.key == key)

    def values(self, key: str, name: str) -> NDArray[np.float64]:
        """The answers of one algorithm's participants; empty if there are none."""
        variable = self.variable(key)
        label = next((label for label, known in self.names.items() if known == name), "")
        points: NDArray[np.float64] = np.asarray(variable.points.get(label, ()), dtype=np.float64)
        return points / float(variable.points_per_unit)

    def estimate(
        self, key: str, name: str, statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    ) -> Estimate | None:
        """A statistic of one algorithm's participants; None with too few of them."""
        values = self.values(key, name)
        if len(values) < FEWEST:
            return None
        resampleses = rng_for(1, f"replication:{key}:{name}").choice(values, size=(RESAMPLES, len(values)))
        low, high = np.quantile(statistic(resampleses), [0.025, 0.975])
        return Estimate(float(statistic(values[None, :])[0]), float(low), float(high))


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict and our numbers."""

    claim: Claim
    verdict: str
    ours: str


def judge(claim: Claim, ours: Ours) -> Judgement:
    """Judge one statement: only a significant result decides it, for the paper or against it."""
    outcome, words = CHECKS[claim.check["kind"]](claim.check, ours)
    return Judgement(claim, OPEN if outcome is None else YES if outcome else NO, words)


def _number(value: float) -> str:
    return f"{value:.2f}"


def _within(estimate: Estimate, low: float, high: float) -> bool | None:
    """Whether the whole interval lies within the bounds (True), beyond them (False), or across one (None)."""
    if low <= estimate.low and estimate.high <= high:
        return True
    if estimate.high < low or estimate.low > high:
        return False
    return None


def _all_within(estimates: Mapping[str, Estimate], low: float, high: float) -> tuple[bool | None, str]:
    """Whether each interval lies within the bounds; one that lies beyond them is enough against it."""
    inside = {name: _within(estimate, low, high) for name, estimate in estimates.items()}
    values = [estimate.value for estimate in estimates.values()]
    if len(estimates) == 1:
        words = str(next(iter(estimates.values())))
    else:
        words = f"{_number(min(values))} to {_number(max(values))}"
        for decision, label in ((False, "beyond it"), (None, "undecided")):
            listed = ", ".join(f"{name} {estimates[name]}" for name in estimates if inside[name] is decision)
            words += f"; {label}: {listed}" if listed else ""
    if False in inside.values():
        return False, words
    return (None if None in inside.values() else True), words


def _estimates(check: Check, ours: Ours, field: str) -> dict[str, Estimate] | None:
    names = check.get("algorithms", list(ours.names.values()))
    estimates = {name: ours.estimate(check["variable"], name, _FIELDS[field]) for name in names}
    known = {name: estimate for name, estimate in estimates.items() if estimate is not None}
    return known if len(known) == len(estimates) else None


TOO_FEW = f"an algorithm has fewer than {FEWEST} participants"


def _between(check: Check, ours: Ours) -> tuple[bool | None, str]:
    estimates = _estimates(check, ours, check["field"])
    if estimates is None:
        return None, TOO_FEW
    low = math.nextafter(check["above"], math.inf) if "above" in check else check.get("low", -math.inf)
    return _all_within(estimates, low, check.get("high", math.inf))


def _close(check: Check, ours: Ours) -> tuple[bool | None, str]:
    outcomes, words = [], []
    for field in ("mean", "median"):
        estimates = _estimates(check, ours, field)
        if estimates is None:
            return None, TOO_FEW
        outcome, description = _all_within(estimates, check["to"] - check["within"], check["to"] + check["within"])
        outcomes.append(outcome)
        words.append(f"{field}s {description}")
    if False in outcomes:
        return False, "; ".join(words)
    return (None if None in outcomes else True), "; ".join(words)


def _share_from(check: Check, ours: Ours) -> tuple[bool | None, str]:
    estimate = ours.estimate(
        check["variable"], check["algorithm"], lambda samples: (samples >= check["value"]).mean(axis=1)
    )
    if estimate is None:
        return None, TOO_FEW
    percent = [f"{100 * value:.0f}%" for value in (estimate.value, estimate.low, estimate.high)]
    outcome = _within(estimate, math.nextafter(check["above"], math.inf), math.inf)
    return outcome, f"{percent[0]} [{percent[1]}, {percent[2]}]"


def _highest(check: Check, ours: Ours) -> tuple[bool | None, str]:
    variable, name = ours.variable(check["variable"]), check["algorithm"]
    order = variable.orders.tukey
    label = next((label for label in order.names if ours.names[label] == name), None)
    if label is None:
        return None, f"no participant of {name}"
    means = {ours.names[condition]: variable.described[condition].mean for condition in order.names}
    best = max(means, key=means.__getitem__)
    words = f"{name} {_number(means[name])}, highest {best} {_number(means[best])}"
    above, below = order.dominates[label], order.dominated_by[label]
    if below:
        return False, f"{words}; significantly below {', '.join(ours.names[better] for better in below)}"
    words += f"; significantly above {len(above)} of {len(means) - 1}"
    return (True if len(above) == len(means) - 1 else None), words


def _correlation(check: Check, ours: Ours) -> tuple[bool | None, str]:
    n = sum(len(points) for points in ours.variable("fon").points.values())
    if ours.novelty_r is None or n <= 3:
        return None, "one of them does not vary"
    z, half = math.atanh(max(min(ours.novelty_r, 1 - 1e-12), -1 + 1e-12)), Z / math.sqrt(n - 3)
    estimate = Estimate(ours.novelty_r, math.tanh(z - half), math.tanh(z + half))
    return _within(estimate, check["near"] - check["within"], check["near"] + check["within"]), f"r = {estimate}"


def _anova(check: Check, ours: Ours) -> tuple[bool | None, str]:
    results = {variable.name: variable.anova for variable in ours.results.variables}
    tests = {name: anova.p for name, anova in results.items() if not isinstance(anova, Undefined)}
    if len(tests) < len(results):
        return None, "not every variable has the test"
    failed = [name for name, p in tests.items() if p >= ours.results.plan.alpha]
    n = len(tests) - len(failed)
    words = f"significant in {n} of {len(tests)} variables"
    # A test that is not significant does not show that there is no difference.
    return (None if failed else True), words + (f"; not in {', '.join(failed).lower()}" if failed else "")


def _no_separate_algorithm(check: Check, ours: Ours) -> tuple[bool | None, str]:
    alone = []
    for variable in ours.results.variables:
        order = variable.orders.tukey
        k = len(order.names)
        for label in order.names:
            name = ours.names[label]
            if len(order.dominates[label]) == k - 1:
                alone.append(f"{name} significantly above all in {variable.name.lower()}")
            elif len(order.dominated_by[label]) == k - 1:
                alone.append(f"{name} significantly below all in {variable.name.lower()}")
    if alone:
        return False, "; ".join(alone)
    return None, "no algorithm here either, which does not show that there is none"


def _one_novelty(check: Check, ours: Ours) -> tuple[bool | None, str]:
    if not ours.results.novelty_is_one_order:
        return False, "different partial orders"
    if ours.variable("fon").orders.tukey.pairs:
        return True, "the same partial order"
    return None, "no significant difference in either novelty"


def _no_correlation(check: Check, ours: Ours) -> tuple[bool | None, str]:
    comparisons = [
        comparison
        for kind in check["metrics"]
        for comparison in ours.results.comparisons
        if (comparison.variable_key, comparison.kind, comparison.profile_length) == (check["variable"], kind, 0)
    ]
    taus = [(comparison.kind, comparison.tau) for comparison in comparisons]
    defined = [(kind, tau) for kind, tau in taus if not isinstance(tau, Undefined)]
    if len(defined) < len(check["metrics"]):
        return None, "not every metric has a rank correlation"
    adjusted = holm([tau.p for _kind, tau in defined])
    words = "; ".join(
        f"{kind}: τ_b = {_number(tau.coefficient)}, Holm-adjusted exact p = {p:.3f}".replace("0.", ".")
        for (kind, tau), p in zip(defined, adjusted, strict=True)
    )
    alpha = ours.results.plan.alpha
    signs = [
        0 if p >= alpha else 1 if tau.coefficient > 0 else -1
        for (_kind, tau), p in zip(defined, adjusted, strict=True)
    ]  # fmt: skip
    if 1 in signs:
        return False, words
    if all(sign < 0 for sign in signs):
        return True, words
    return None, f"{words}; a correlation that is not significant is no evidence that there is none"


CHECKS: dict[str, Callable[[Check, Ours], tuple[bool | None, str]]] = {
    "between": _between,
    "highest": _highest,
    "share_from": _share_from,
    "correlation": _correlation,
    "close": _close,
    "anova": _anova,
    "nobody_alone": _no_separate_algorithm,
    "one_novelty": _one_novelty,
    "no_correlation": _no_correlation,
}
