"""The frozen plan and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from analysis.enums import VARIABLE_OF, variable_of
from analysis.results import plan as results_plan
from analysis.results.plan import Planned
from analysis.results.report import Results
from documents.blocks import Section
from documents.numbers import listed
from documents.tables import plain_table
from studies.design.narrative.plan import contrast_in_words, level, metric_label, rule_of_exclusion
from studies.flow_pages import ITEMS
from studies.instrument import flags
from studies.settings import AnalysisPlan

MOST_CONDITIONS = 8  # in words
SETTINGS = {"n": "list length", "profile_lengths": "length of short profiles"}


def plan_section(results: Results) -> Section:
    """The frozen plan and every deviation; nothing in a report that is older than plans."""
    section = Section("plan", "Plan and deviations")
    if results.planned is not None:
        rows = [["Plan", sentence] for sentence in frozen(results, results.planned)]
        rows += [["Deviations", sentence] for sentence in deviations(results, results.planned)]
        title, heads = "The plan, and where the report departs from it", ("Part", "In words")
        section.put(plain_table("plan", title, heads, rows, is_words=True))
    return section


# Sentences


def frozen(results: Results, planned: Planned) -> list[str]:
    """What was planned, and since when the plan is fixed."""
    plan = planned.analysis
    if results.is_pilot:
        opening = "This is the plan of the draft. Nothing is frozen before the launch."
    elif planned.is_frozen:
        opening = "This plan was frozen with the design when the study was launched."
    else:
        opening = (
            "This study was launched before plans were frozen with the design: the primary pair was named then, and "
            "the rest is the default plan, which may differ from what was intended."
        )
    names = {scale.key: scale.name for scale in results.scales}
    names |= {key: scale.name for key, scale in results.scale_variables.items()}
    parts = [listed([VARIABLE_OF[key].in_text for key in plan.variables])] if plan.variables else []
    for what, keys in (("scale", plan.scales), ("outcome", plan.outcomes)):
        quoted = [f"“{names.get(key, key)}”" for key in keys]
        parts += [f"the {what}{'s' if len(quoted) > 1 else ''} {listed(quoted)}"] if quoted else []
    contrast = plan.primary.planned_contrast
    test = "" if contrast is None else f"; as the primary test the contrast {contrast_in_words(contrast)}"
    if (effect := plan.primary.planned_effect) is not None:
        test = f"; as the primary test {effect.words}"
    rule = rule_of_exclusion(AnalysisPlan(exclude=plan.exclude, exclude_words=plan.exclude_words))
    return [
        opening,
        f"Planned: α = {level(plan.alpha)}; {'; '.join(parts)}; as the primary pair "
        f"{variable_of(plan.primary.perceived, results.scale_variables).in_text} and "
        f"{metric_name(plan.primary.objective, plan.n or results.objective.n)}{test}; "
        f"{plan.resamples:,} resamples. {rule}",
    ]


def deviations(results: Results, planned: Planned) -> list[str]:
    """One sentence per deviation, or that there is none."""
    sentences = [_deviation_sentence(deviation, results) for deviation in planned.deviations]
    if not sentences:
        is_binding = planned.is_frozen and not results.is_pilot
        sentences = [f"The analysis follows the {'preregistered ' if is_binding else ''}plan."]
    if not results.is_live:
        sentences.append("The plan is about people: on simulated participants it is only rehearsed.")
    return sentences


def planned_scales(results: Results) -> str:
    """What the score of each tested scale is; nothing where the plan names none."""
    n_questions = {scale.key: len(scale.questions) for scale in results.scales}
    sentences = []
    for result in results.variables:
        variable = result.variable
        if variable.scale:
            n = n_questions.get(variable.scale, 1)
            score = "one answer" if n == 1 else f"the mean of {n} answers"
            if variable.scale in results.plan.outcomes and variable.scale.startswith(f"{ITEMS}."):
                score = "the mean of the answers about each item"
            sentences.append(f"{variable.name} is {score}, {variable.unit}.")
    return " ".join(sentences)


def _deviation_sentence(deviation: results_plan.Deviation, results: Results) -> str:
    match deviation:
        case results_plan.OtherAlpha():
            return f"The tests use α = {level(deviation.actual)}; the plan says {level(deviation.planned)}."
        case results_plan.MissingPrimary():
            reason = f"the run did not measure {metric_name(deviation.key, results.objective.n)}"
            if deviation.lacks == "variable":
                reason = f"{variable_of(deviation.key, results.scale_variables).in_text} was not tested"
            return f"The primary pair is missing: {reason}, so every comparison here is exploratory."
        case results_plan.OmittedVariables():
            return f"Planned but not tested: {listed([VARIABLE_OF[key].in_text for key in deviation.omitted])}."
        case results_plan.OtherRule():
            actual, planned = _flags(deviation.actual), _flags(deviation.planned)
            return f"The rule applied excludes {actual}; the plan excludes {planned}."
        case results_plan.HandExclusionsIgnored():
            return "Participants excluded by hand are included."
        case results_plan.HandExclusions():
            n = deviation.n
            subject = "One participant was" if n == 1 else f"{n:,} participants were"
            if not deviation.words:
                return f"{subject} excluded by hand, for reasons that the plan does not name."
            return (
                f"{subject} excluded by hand. The plan has a rule in words, “{deviation.words.rstrip('. ')}”; whether "
                "it covers the reasons given below is for the reader to judge."
            )
        case results_plan.OtherSize():
            return _size(deviation)
        case results_plan.Reopened():
            return _reopened(deviation)
        case results_plan.OtherRun():
            return _run(deviation)
        case results_plan.OtherVersions():
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


def _size(deviation: results_plan.OtherSize) -> str:
    conditions = deviation.conditions
    details = listed(
        [
            f"{each.condition} {each.analysed:,} of {each.target:,}"
            + ("" if each.extended is None else f", extended to {each.extended:,}")
            for each in conditions[:MOST_CONDITIONS]
        ]
    )
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


def _extension(extension: results_plan.TargetExtension) -> str:
    targets = listed([f"{target.condition} from {target.before:,} to {target.after:,}" for target in extension.targets])
    by = f" by {extension.by}" if extension.by else ""
    return (
        f"Version {extension.version} of the design, created{by} on {_day(extension.day)}, extended {targets}: "
        f"“{extension.why.rstrip('. ')}”."
    )


def _reopened(deviation: results_plan.Reopened) -> str:
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
    day = date.fromisoformat(iso)
    return f"{day.day} {day:%B %Y}"


def _run(deviation: results_plan.OtherRun) -> str:
    sentences = [
        f"The objective side is another run of the same models (inputs {deviation.actual[:12]}) than the one that the "
        f"design pins ({deviation.planned[:12]})."
    ]
    for setting in deviation.settings:
        numbers = f"{_numbers(setting.actual)} instead of {_numbers(setting.planned)}"
        sentences.append(f"Its {SETTINGS[setting.name]} is {numbers}.")
    return " ".join(sentences)


def _numbers(value: Any) -> str:
    return " and ".join(map(str, value)) or "none" if isinstance(value, list | tuple) else str(value)
