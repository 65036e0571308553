"""The frozen plan and what became of it."""

from __future__ import annotations

from operator import itemgetter

from analysis.enums import VARIABLE_OF
from analysis.present import exclusions as with_and_without
from analysis.present.deviations import deviation_sentence, metric_name
from analysis.results.plan import Planned
from analysis.results.report import Results
from analysis.results.variables import variable_of
from documents.blocks import Section
from documents.numbers import listed
from documents.tables import Words, table
from studies.design.narrative.plan import contrast_in_words, level, rule_of_exclusion
from studies.plans import AnalysisPlan


def plan_section(results: Results) -> Section:
    """The frozen plan and every deviation; nothing in a report that is older than plans."""
    section = Section("plan", "Plan and deviations")
    if results.planned is not None:
        rows = [("Plan", sentence) for sentence in frozen(results, results.planned)]
        rows += [("Deviations", sentence) for sentence in deviations(results, results.planned)]
        part, words = Words[tuple[str, str]]("Part", itemgetter(0)), Words[tuple[str, str]]("In words", itemgetter(1))
        section.put(table("plan", "The plan, and where the report departs from it", rows, part, words))
    return section


def exclusions_section(results: Results) -> Section:
    """With and without exclusions; nothing where all completers are analysed."""
    section = Section("exclusions", "With and without exclusions", "perceived")
    if (exclusions := results.exclusions) is not None:
        section.say(*with_and_without.exclusions(exclusions, results))
        section.put(with_and_without.tests(exclusions))
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
    variables = listed([VARIABLE_OF[key].in_text for key in plan.variables])
    names = {scale.key: scale.name for scale in results.scales}
    scales = [f"“{names.get(key, key)}”" for key in plan.scales]
    scale_words = f"; the scale{'s' if len(scales) > 1 else ''} {listed(scales)}" if scales else ""
    contrast = plan.primary.planned_contrast
    test = "" if contrast is None else f"; as the primary test the contrast {contrast_in_words(contrast)}"
    rule = rule_of_exclusion(AnalysisPlan(exclude=plan.exclude, exclude_words=plan.exclude_words))
    return [
        opening,
        f"Planned: α = {level(plan.alpha)}; {variables}{scale_words}; as the primary pair "
        f"{variable_of(plan.primary.perceived, results.scale_variables).in_text} and "
        f"{metric_name(plan.primary.objective, plan.n or results.objective.n)}{test}; "
        f"{plan.resamples:,} resamples. {rule}",
    ]


def deviations(results: Results, planned: Planned) -> list[str]:
    """One sentence per deviation, or that there is none."""
    sentences = [deviation_sentence(deviation, results) for deviation in planned.deviations]
    if not sentences:
        is_binding = planned.is_frozen and not results.is_pilot
        sentences = [f"The analysis follows the {'preregistered ' if is_binding else ''}plan."]
    if not results.is_live:
        sentences.append(
            "The plan is about people: on simulated participants it is only rehearsed."
        )  # fmt: skip
    return sentences


def planned_scales(results: Results) -> str:
    """What the score of each tested scale is; nothing where the plan names none."""
    n_questions = {scale.key: len(scale.questions) for scale in results.scales}
    sentences = []
    for result in results.variables:
        variable = result.variable
        if variable.scale:
            n = n_questions[variable.scale]
            score = "one answer" if n == 1 else f"the mean of {n} answers"
            sentences.append(f"{variable.name} is {score}, {variable.unit}.")
    return " ".join(sentences)
