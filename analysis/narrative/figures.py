"""Titles and captions of figures: each title says a finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.enums import variable_of
from analysis.narrative.verdict import in_words, metric_of
from analysis.tables.cells import Side, written
from analysis.tables.levels import level_of

Result = Mapping[str, Any]


def spread_title(variable: Result) -> str:
    """The finding of a raincloud: whose values lie together, and whose far apart."""
    name = variable_of(variable["key"], variable).in_text
    spreads = {one: found["sd"] for one, found in variable["described"].items() if found["sd"] is not None}
    names = [one for one in variable["conditions"] if one in spreads]
    if len(names) < 2:
        return f"How {name} spreads"
    least, most = min(names, key=spreads.__getitem__), max(names, key=spreads.__getitem__)
    if spreads[least] == spreads[most]:
        return f"In {name} participants differ alike with every algorithm"
    return f"In {name} participants agree most about {least} and least about {most}"


def steps_title(variable: Result, steps: list[int], counts: Mapping[str, Mapping[int, int]]) -> str:
    """The finding of stacked bars: who gets most of the upper answers."""
    name = variable_of(variable["key"], variable).in_text
    upper = steps[-2:]
    shares = {
        one: sum(own[step] for step in upper) / sum(own.values()) for one, own in counts.items() if sum(own.values())
    }
    names = [one for one in variable["conditions"] if one in shares]
    best = max(names, key=shares.__getitem__)
    words = f"{100 * shares[best]:.0f} % answer {upper[0]} or {upper[1]} in {name}"
    if len(names) < 2:
        return f"With {best}, {words}"
    worst = min(names, key=shares.__getitem__)
    if shares[worst] == shares[best]:
        return f"With every algorithm {words}"
    return f"{words} with {best}, {100 * shares[worst]:.0f} % with {worst}"


def forest_title(variable: Result) -> str:
    """The finding of all pairwise differences."""
    pairs = variable["tests"]["tukey"]["pairs"]
    told = sum(pair["is_significant"] for pair in pairs)
    name = variable_of(variable["key"], variable).in_text
    n = f"{len(pairs)} pairs" if len(pairs) != 1 else "1 pair"
    return f"{told} of {n} of algorithms {'is' if told == 1 else 'are'} told apart in {name}"


def strip_title(comparison: Result, side: Side) -> str:
    """The finding of a strip of ranks: who comes first how often."""
    best: Mapping[str, float] = comparison["ranks_resampled"][side]["best"]
    names = [name for name in comparison["conditions"] if name in best]
    if not names:
        return "The ranks cannot be resampled"
    first = max(names, key=best.__getitem__)
    rivals = sorted((name for name in names if name != first and 20 * best[name] >= 1), key=lambda name: -best[name])
    rest = "".join(f", {name} in {_percent(best[name])}" for name in rivals[:2])
    if len(rivals) > 2:
        rest += f" and {in_words(len(rivals) - 2)} more in 5 % or more"
    return f"{first} comes first in {_percent(best[first])} of resamples{rest}"


def _percent(share: float) -> str:
    return "over 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def strip_subtitle(comparison: Result, side: Side, n: int) -> str:
    """Which ranking a strip shows."""
    if side == "perceived":
        return f"Rank by {variable_of(comparison['variable'], comparison).in_text}, % of resamples of participants"
    return f"Rank by {metric_of(comparison, n).in_text}, % of resamples of test users"


def objective_hasse_title(length: Result, kind: str) -> str:
    """The finding of the order by sign tests."""
    order = length[kind]["order"]
    n = sum(len(below) for below in order["dominates"].values())
    k = len(order["names"])
    total = k * (k - 1) // 2
    return f"{n} of {total} pair{'s' if total != 1 else ''} are in order in {kind}"


def no_objective_hasse(length: Result, kind: str) -> str:
    """Why an order by sign tests is not drawn, where there is one."""
    order = length[kind]["order"]
    if order["is_empty"]:
        return ""
    other_way = f"in some pair it stands the other way round than the {kind} itself"
    why = "it goes in a circle" if order["cycle"] else other_way
    return f"The order by sign tests on {kind} is not drawn on the scale of {kind}: {why}. The table has it."


def power_title(found: Result) -> str:
    """The finding of the power curve: what these participants could show."""
    if not found["is_defined"]:
        return ""
    at = found["at_stated"]
    return (
        f"{found['n_per_condition']} in each condition find {found['stated']} with probability "
        f"{written(at['power'], 2, True)}"
    )


def power_said(found: Result) -> str:
    """What the numbers could have shown, whatever was found."""
    if not found["is_defined"]:
        return f"There is no power to tell of. {found['reason']}"
    at, smallest, needed = found["at_stated"], found["smallest"], found["needed"]
    whom = "in the smallest condition" if found["is_smallest"] else "in each condition"
    return (
        f"With {found['n_per_condition']} participants {whom} of {in_words(found['conditions'])}, the analysis of "
        f"variance at α = {level_of(found)} finds an effect of {found['stated']} with probability "
        f"{written(at['power'], 2, True)}; the smallest effect that it finds with probability "
        f"{written(found['wished_power'], 2, True)} is f = {written(smallest['f'], 2)} (two conditions "
        f"{written(smallest['difference_in_sd'], 2)} standard deviations apart and all others between them). "
        f"Finding {found['stated']} with that probability takes {needed['n_per_condition']} in each condition. "
        "This follows from the numbers of participants alone, not from what was found."
    )
