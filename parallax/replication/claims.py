"""The paper's sentences held against our numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from parallax.replication.published import Claim

Result = Mapping[str, Any]
Check = Mapping[str, Any]
YES, NO, OPEN = "as in the paper", "otherwise", "cannot be told"


@dataclass(frozen=True)
class Ours:
    """Our side: results by the paper's names of algorithms."""

    results: Result
    names: Mapping[str, str]  # label of a condition -> name in the paper
    novelty_r: float | None

    def variable(self, key: str) -> Result:
        """One variable's results."""
        found: Result = next(one for one in self.results["variables"] if one["key"] == key)
        return found

    def values(self, key: str, field: str) -> dict[str, float]:
        """One number of each algorithm that has it."""
        described = self.variable(key)["described"]
        return {
            name: described[label][field]
            for label, name in self.names.items()
            if label in described and described[label][field] is not None
        }


@dataclass(frozen=True)
class Judged:
    """A claim with how it came out here, and the numbers behind that."""

    claim: Claim
    verdict: str
    ours: str


def judged(claim: Claim, ours: Ours) -> Judged:
    """Hold one sentence against our numbers."""
    outcome, told = CHECKS[claim.check["kind"]](claim.check, ours)
    return Judged(claim, OPEN if outcome is None else YES if outcome else NO, told)


def _number(value: float) -> str:
    return f"{value:.2f}"


def _between(check: Check, ours: Ours) -> tuple[bool | None, str]:
    found = ours.values(check["variable"], check["field"])
    wanted = check.get("algorithms", list(found))
    held = {name: found[name] for name in wanted if name in found}
    if len(held) < len(wanted) or not held:
        return None, "not every algorithm has the value"
    outside = {
        name: value
        for name, value in held.items()
        if value < check.get("low", value)
        or value > check.get("high", value)
        or ("above" in check and value <= check["above"])
    }
    if len(held) == 1:
        return not outside, _number(next(iter(held.values())))
    span = f"{_number(min(held.values()))} to {_number(max(held.values()))}"
    if outside:
        span += "; not " + ", ".join(f"{name} {_number(value)}" for name, value in outside.items())
    return not outside, span


def _highest(check: Check, ours: Ours) -> tuple[bool | None, str]:
    found = ours.values(check["variable"], "mean")
    if check["algorithm"] not in found:
        return None, "nobody finished with it"
    best = max(found, key=found.__getitem__)
    own = found[check["algorithm"]]
    return own >= found[best], f"{check['algorithm']} {_number(own)}, highest {best} {_number(found[best])}"


def _share_from(check: Check, ours: Ours) -> tuple[bool | None, str]:
    variable = ours.variable(check["variable"])
    label = next(label for label, name in ours.names.items() if name == check["algorithm"])
    points = variable["points"][label]
    if not points:
        return None, "nobody finished with it"
    share = sum(point >= check["value"] * variable["points_per_unit"] for point in points) / len(points)
    return share > check["above"], f"{100 * share:.0f} % of {len(points)}"


def _correlation(check: Check, ours: Ours) -> tuple[bool | None, str]:
    if ours.novelty_r is None:
        return None, "one of them does not vary"
    return abs(ours.novelty_r - check["near"]) <= check["within"], f"r = {_number(ours.novelty_r)}"


def _close(check: Check, ours: Ours) -> tuple[bool | None, str]:
    told, is_close = [], True
    for field in ("mean", "median"):
        found = ours.values(check["variable"], field)
        held = [found[name] for name in check["algorithms"] if name in found]
        if len(held) < len(check["algorithms"]):
            return None, "not every algorithm has the value"
        is_close &= all(abs(value - check["to"]) <= check["within"] for value in held)
        told.append(f"{field}s {_number(min(held))} to {_number(max(held))}")
    return is_close, ", ".join(told)


def _anova(check: Check, ours: Ours) -> tuple[bool | None, str]:
    tests = {one["name"]: one["anova"] for one in ours.results["variables"]}
    if not all(test["is_defined"] for test in tests.values()):
        return None, "not every variable has the test"
    alpha = ours.results["plan"]["alpha"]
    failed = [name for name, test in tests.items() if test["p"] >= alpha]
    n = len(tests) - len(failed)
    return not failed, f"{n} of {len(tests)} variables" + (f"; not {', '.join(failed).lower()}" if failed else "")


def _nobody_alone(check: Check, ours: Ours) -> tuple[bool | None, str]:
    alone = []
    for one in ours.results["variables"]:
        order = one["orders"]["tukey"]
        k = len(order["names"])
        for label in order["names"]:
            name = ours.names[label]
            if len(order["dominates"][label]) == k - 1:
                alone.append(f"{name} above all in {one['name'].lower()}")
            elif len(order["dominated_by"][label]) == k - 1:
                alone.append(f"{name} below all in {one['name'].lower()}")
    return not alone, "; ".join(alone) or "nobody"


def _one_novelty(check: Check, ours: Ours) -> tuple[bool | None, str]:
    is_one = bool(ours.results["novelty_is_one_order"])
    return is_one, "the same tiers" if is_one else "different tiers"


def _no_correlation(check: Check, ours: Ours) -> tuple[bool | None, str]:
    primary = next((one for one in ours.results["comparisons"] if one["is_primary"]), None)
    if primary is None or not primary["tau"]["is_defined"]:
        return None, "there is no rank correlation"
    tau = primary["tau"]
    told = f"τ_b = {_number(tau['coefficient'])}, exact p = {tau['p']:.3f}"
    told = told.replace("0.", ".")
    return tau["p"] >= ours.results["plan"]["alpha"], told


CHECKS: dict[str, Callable[[Check, Ours], tuple[bool | None, str]]] = {
    "between": _between,
    "highest": _highest,
    "share_from": _share_from,
    "correlation": _correlation,
    "close": _close,
    "anova": _anova,
    "nobody_alone": _nobody_alone,
    "one_novelty": _one_novelty,
    "no_correlation": _no_correlation,
}
