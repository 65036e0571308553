"""Titles of figures, which state a finding, and the sentences about power."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.narrative.words import in_words, length_words, plural, share_words
from analysis.results.comparison import Comparison, Half
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
    tukey, name = variable.tests.tukey, variable.variable.in_text
    pairs = () if isinstance(tukey, Undefined) else tukey.pairs
    n = sum(pair.is_significant for pair in pairs)
    verb = "differs" if n == 1 else "differ"
    return f"{n} of {plural(len(pairs), 'pair')} of algorithms {verb} significantly in {name}"


def strip_title(comparison: Comparison, half: Half) -> str:
    """The finding of a strip of ranks: which algorithm ranks first how often."""
    best = comparison.ranks_resampled.of(half).best
    names = [name for name in comparison.conditions if name in best]
    if not names:
        return "The ranks cannot be resampled"
    first = max(names, key=best.__getitem__)
    rivals = sorted((name for name in names if name != first and 20 * best[name] >= 1), key=lambda name: -best[name])
    rest = "".join(f", {name} in {share_words(best[name])}" for name in rivals[:2])
    if len(rivals) > 2:
        rest += f" and {in_words(len(rivals) - 2)} more in 5% or more"
    return f"{first} ranks first in {share_words(best[first])} of resamples{rest}"


def strip_subtitle(comparison: Comparison, half: Half, n: int) -> str:
    """Which ranking a strip shows."""
    if half == "perceived":
        return f"Rank by {comparison.variable.in_text}, % of resamples of participants"
    return f"Rank by {comparison.metric(n).in_text}, % of resamples of test users"


def objective_hasse_title(length: ProfileLength, kind: str) -> str:
    """The finding of the order by sign tests."""
    order = length.tests(kind).order
    return f"{len(order.pairs)} of {plural(order.n_possible, 'pair')} differ significantly in {kind_word(kind)}"


def no_objective_hasse(length: ProfileLength, kind: str) -> str:
    """Why an order by sign tests is not drawn, where there is one."""
    order = length.tests(kind).order
    if order.is_empty:
        return ""
    metric, profiles = kind_word(kind), length_words(length.profile_length)
    reason = "it contains a cycle" if order.cycle else f"it reverses the order by {metric} itself for some pair"
    return f"The order by sign tests on {metric} {profiles} is not drawn: {reason}. The table gives it."


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
