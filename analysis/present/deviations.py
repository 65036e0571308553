"""Deviations from the frozen plan, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.enums import VARIABLE_OF
from analysis.results import plan
from analysis.results.report import Results
from analysis.results.variables import variable_of
from documents.numbers import listed
from studies.design.narrative.plan import level, metric_label
from studies.instrument import flags

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
MOST_CONDITIONS = 8  # in words
SETTINGS = {"n": "list length", "profile_lengths": "length of short profiles"}


def deviation_sentence(deviation: plan.Deviation, results: Results) -> str:
    """A deviation in one sentence, or in a few."""
    match deviation:
        case plan.OtherAlpha():
            return f"The tests use α = {level(deviation.actual)}; the plan says {level(deviation.planned)}."
        case plan.MissingPrimary():
            reason = f"the run did not measure {metric_name(deviation.key, results.objective.n)}"
            if deviation.lacks == "variable":
                reason = f"{variable_of(deviation.key, results.scale_variables).in_text} was not tested"
            return f"The primary pair is missing: {reason}, so every comparison here is exploratory."
        case plan.OmittedVariables():
            return f"Planned but not tested: {listed([VARIABLE_OF[key].in_text for key in deviation.omitted])}."
        case plan.OtherRule():
            actual, planned = _flags(deviation.actual), _flags(deviation.planned)
            return f"The rule applied excludes {actual}; the plan excludes {planned}."
        case plan.HandExclusionsIgnored():
            return "Participants excluded by hand are included."
        case plan.HandExclusions():
            return _by_hand(deviation)
        case plan.OtherSize():
            return _size(deviation)
        case plan.Reopened():
            return _reopened(deviation)
        case plan.OtherRun():
            return _run(deviation)
        case plan.OtherVersions():
            changes = [f"{library.name} {library.actual} (then {library.planned})" for library in deviation.changed]
            return f"The software has changed since the launch: {listed(changes)}."


def metric_name(key: str, n: int) -> str:
    """A metric within a sentence."""
    name = metric_label(key, n)
    return name[0].lower() + name[1:]


def _flags(keys: Sequence[str]) -> str:
    if not keys:
        return "no participants"
    return f"participants with the flag {' or '.join(flags.NAMES[key].lower() for key in keys)}"


def _by_hand(deviation: plan.HandExclusions) -> str:
    n = deviation.n
    subject = "One participant was" if n == 1 else f"{n:,} participants were"
    if deviation.words:
        return (
            f"{subject} excluded by hand. The plan has a rule in words, “{deviation.words.rstrip('. ')}”; whether it "
            "covers the reasons given below is for the reader to judge."
        )
    return f"{subject} excluded by hand, for reasons that the plan does not name."


def _size(deviation: plan.OtherSize) -> str:
    conditions = deviation.conditions
    details = listed([_condition(condition) for condition in conditions[:MOST_CONDITIONS]])
    if len(conditions) > MOST_CONDITIONS:
        details += f", and {len(conditions) - MOST_CONDITIONS} more"
    planned = f"the plan has {deviation.target:,}"
    if deviation.extensions:
        planned = f"the plan at launch had {deviation.target:,}, since extended to {deviation.extended or 0:,}"
    sentences = [f"{deviation.analysed:,} participants are analysed; {planned} ({details})."]
    sentences += [_extension(extension) for extension in deviation.extensions]
    if n := deviation.under_way:
        subject = "one participant was" if n == 1 else f"{n:,} participants were"
        sentences.append(f"The study was not finished when this report was built: {subject} still taking part.")
    return " ".join(sentences)


def _condition(condition: plan.ConditionSize) -> str:
    words = f"{condition.condition} {condition.analysed:,} of {condition.target:,}"
    return words if condition.extended is None else f"{words}, extended to {condition.extended:,}"


def _extension(extension: plan.TargetExtension) -> str:
    """When targets grew, on whose decision, by how much, and why."""
    targets = listed([f"{target.condition} from {target.before:,} to {target.after:,}" for target in extension.targets])
    by = f" by {extension.by}" if extension.by else ""
    return (
        f"Version {extension.version} of the design, created{by} on {_day(extension.day)}, extended {targets}: "
        f"“{extension.why.rstrip('. ')}”."
    )


def _reopened(deviation: plan.Reopened) -> str:
    by = f" by {deviation.by}" if deviation.by else ""
    return (
        f"The study was closed on {_day(deviation.closed)}, and recruitment was reopened{by} on {_day(deviation.day)}: "
        f"“{deviation.why.rstrip('. ')}”. Outcomes could be seen in between, so the number of participants was "
        "not fixed in advance."
    )


def _day(iso: str) -> str:
    """A day as it is written.

    Examples
    --------
    >>> _day("2026-03-04")
    '4 March 2026'
    """
    year, month, day = (int(part) for part in iso.split("-"))
    return f"{day} {MONTHS[month - 1]} {year}"


def _run(deviation: plan.OtherRun) -> str:
    sentences = [
        f"The objective side is another run of the same models (inputs {deviation.actual[:12]}) than the one that the "
        f"design pins ({deviation.planned[:12]})."
    ]
    for setting in deviation.settings:
        numbers = f"{_numbers(setting.actual)} instead of {_numbers(setting.planned)}"
        sentences.append(f"Its {SETTINGS[setting.name]} is {numbers}.")
    return " ".join(sentences)


def _numbers(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(map(str, value)) or "none"
    return str(value)
