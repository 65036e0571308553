"""Sentences about the frozen plan and the plan of the report."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.enums import VARIABLE_OF
from analysis.narrative.deviations import deviation_sentence, metric_name
from analysis.results.perceived import QuestionnaireScale
from analysis.results.plan import Planned
from analysis.results.report import Results
from analysis.results.variables import variable_of
from documents.numbers import listed
from studies.design.narrative.plan import contrast_in_words, level, rule_of_exclusion
from studies.plans import AnalysisPlan


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


def scales(results: Sequence[QuestionnaireScale]) -> str:
    """Which scales the plan names."""
    planned = [scale.name for scale in results if scale.is_planned]
    unadjusted = "Their p values are not adjusted for one another."
    if not planned:
        return f"These scales are exploratory: the plan names none of them. {unadjusted}"
    if len(planned) == len(results):
        return f"The plan names {'this scale' if len(results) == 1 else 'these scales'}. {unadjusted}"
    return f"The plan names {listed(planned)}; the other scales are exploratory. {unadjusted}"
