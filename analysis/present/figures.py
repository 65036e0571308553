"""Titles of figures that say what they show, and the numbers beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.present.words import decimal, whole
from analysis.results.follow_up import Power
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from documents.numbers import number, number_word, percent, plural
from documents.tables import Column, Row, Table, text
from evaluation.reported_kinds import kind_word
from inference.results import Undefined
from studies.design.narrative.plan import level
from studies.plans import in_text

# Sentences


def spread_title(variable: PerceivedVariable) -> str:
    """What a raincloud shows: the range of the standard deviations, which are not tested."""
    name = variable.variable.in_text
    spreads = {
        condition: variable.described[condition].sd or 0.0
        for condition in variable.conditions
        if condition in variable.described and variable.described[condition].sd is not None
    }
    if len(spreads) < 2:
        return f"Distribution of {name}"
    least, most = min(spreads, key=spreads.__getitem__), max(spreads, key=spreads.__getitem__)
    low, high = (number(spreads[condition], 2, variable.variable.is_share) for condition in (least, most))
    if low == high:
        return f"The SD of {name} is {low} with every algorithm"
    return f"SDs of {name} from {low} ({least}) to {high} ({most})"


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
    reached = number(power.at_stated.power, 2, True)
    return f"{power.n_per_condition} participants per condition give a power of {reached} for {power.stated}"


def power_sentence(power: Power | Undefined) -> str:
    """The power at the numbers of the report, whatever was observed."""
    if isinstance(power, Undefined):
        return f"Power could not be computed. {power.reason}"
    subject = "in the smallest condition" if power.is_smallest else "in each condition"
    target = number(power.target_power, 2, True)
    return (
        f"With {power.n_per_condition} participants {subject} of {number_word(power.conditions)}, the analysis of "
        f"variance at α = {level(power.alpha)} has a power of {number(power.at_stated.power, 2, True)} for an effect "
        f"of {power.stated}; a power of {target} is reached from f = {number(power.smallest.f, 2)} (two conditions "
        f"{number(power.smallest.difference_in_sd, 2)} standard deviations apart and the others midway). For "
        f"{power.stated}, that power takes {power.needed.n_per_condition} participants in each condition. "
        "Power follows from the sample sizes alone, not from the observed effects."
    )


# Tables


def steps_table(variable: PerceivedVariable, steps: Sequence[int], counts: Mapping[str, Mapping[int, int]]) -> Table:
    """How often each step of a scale was chosen in each condition."""
    rows = []
    for name in variable.conditions:
        n = sum(counts[name].values())
        mean = sum(step * count for step, count in counts[name].items()) / n if n else None
        rows.append(Row((text(name), *(whole(counts[name][step]) for step in steps), whole(n), decimal(mean))))
    columns = (
        Column("Algorithm"), *(Column(f"Answer {step}", True) for step in steps), Column("n", True),
        Column("M", True, "perceived"),
    )  # fmt: skip
    return Table(f"{variable.key}-steps", f"Answers by step, {in_text(variable.name)}", columns, tuple(rows))


def power_table(power: Power) -> Table:
    """Power at every size that the curve is drawn at."""
    rows = tuple(
        Row((whole(n), *(decimal(curve.power[index], 2, is_share=True) for curve in power.effects)))
        for index, n in enumerate(power.n_values)
    )
    columns = (Column("Participants per condition", True), *(Column(curve.name, True) for curve in power.effects))
    return Table("power", "Power of the analysis of variance", columns, rows)
