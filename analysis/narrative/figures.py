"""Titles of figures, which state a finding, and the sentences about power."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.narrative.words import in_words, plural
from analysis.results.follow_up import Power
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from analysis.tables.cells import capital, percent, written
from evaluation.reported_kinds import kind_word
from inference.results import Undefined
from studies.design.narrative.plan import level


def spread_title(variable: PerceivedVariable) -> str:
    """The finding of a raincloud: where values vary least and most."""
    name = variable.variable.in_text
    spreads = {
        condition: variable.described[condition].sd or 0.0
        for condition in variable.conditions
        if condition in variable.described and variable.described[condition].sd is not None
    }
    if len(spreads) < 2:
        return f"Distribution of {name}"
    least, most = min(spreads, key=spreads.__getitem__), max(spreads, key=spreads.__getitem__)
    if spreads[least] == spreads[most]:
        return f"{capital(name)} varies equally with every algorithm"
    return f"{capital(name)} varies least with {least} and most with {most}"


def steps_title(variable: PerceivedVariable, steps: list[int], counts: Mapping[str, Mapping[int, int]]) -> str:
    """The finding of stacked bars: which algorithm has most of the upper answers."""
    name, upper = variable.variable.in_text, steps[-2:]
    shares = {
        condition: sum(counts[condition][step] for step in upper) / n
        for condition in variable.conditions
        if (n := sum(counts.get(condition, {}).values()))
    }
    best, worst = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    words = f"{percent(shares[best])} answer {upper[0]} or {upper[1]} in {name}"
    if len(shares) < 2:
        return f"With {best}, {words}"
    if shares[worst] == shares[best]:
        return f"With every algorithm, {words}"
    return f"{words} with {best}, {percent(shares[worst])} with {worst}"


def forest_title(variable: PerceivedVariable) -> str:
    """The finding of all pairwise differences."""
    tests, name = variable.tests.games_howell, variable.variable.in_text
    pairs = () if isinstance(tests, Undefined) else tests.pairs
    n = sum(pair.is_significant for pair in pairs)
    verb = "differs" if n == 1 else "differ"
    return f"{n} of {plural(len(pairs), 'pair')} of algorithms {verb} significantly in {name}"


def objective_hasse_title(length: ProfileLength, kind: str) -> str:
    """The finding of the order by the comparisons of pairs."""
    order = length.tests(kind).order
    return f"{len(order.pairs)} of {plural(order.n_possible, 'pair')} differ significantly in {kind_word(kind)}"


def power_title(power: Power) -> str:
    """The finding of the power curve."""
    reached = written(power.at_stated.power, 2, True)
    return f"{power.n_per_condition} participants per condition give a power of {reached} for {power.stated}"


def power_sentence(power: Power | Undefined) -> str:
    """The power at the numbers of the report, whatever was observed."""
    if isinstance(power, Undefined):
        return f"Power could not be computed. {power.reason}"
    subject = "in the smallest condition" if power.is_smallest else "in each condition"
    target = written(power.target_power, 2, True)
    return (
        f"With {power.n_per_condition} participants {subject} of {in_words(power.conditions)}, the analysis of "
        f"variance at α = {level(power.alpha)} has a power of {written(power.at_stated.power, 2, True)} for an effect "
        f"of {power.stated}; a power of {target} is reached from f = {written(power.smallest.f, 2)} (two conditions "
        f"{written(power.smallest.difference_in_sd, 2)} standard deviations apart and the others midway). For "
        f"{power.stated}, that power takes {power.needed.n_per_condition} participants in each condition. "
        "Power follows from the sample sizes alone, not from the observed effects."
    )
