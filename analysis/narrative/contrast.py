"""Sentences about the planned contrast, where it is the primary test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.enums import Metric, variable_of
from analysis.tables.cells import listed, written
from inference import apa
from studies.narrative.plan import contrast_in_words
from studies.plans import contrast_from

Result = Mapping[str, Any]


def is_significant(contrast: Result) -> bool:
    """Whether the planned test is below its level."""
    return bool(contrast["is_defined"] and contrast["pooled"]["p"] < contrast["alpha"])


def in_words(contrast: Result) -> str:
    """The two sets, such as "LSA against TopPop"."""
    found = contrast_from({"contrast": {name: contrast[name] for name in ("higher", "lower", "sides")}})
    return "" if found is None else contrast_in_words(found)


def finding(contrast: Result) -> tuple[str, str]:
    """What stands before and after the variable's name in a headline."""
    higher, lower = listed(contrast["higher"]), listed(contrast["lower"])
    if not contrast["is_defined"]:
        return "The planned contrast could not be tested in ", ""
    if is_significant(contrast):
        way = "Higher" if contrast["difference"] > 0 else "Lower"
        return f"{way} ", f" with {higher} than with {lower}"
    if contrast["sides"] == 1:
        return "No evidence of higher ", f" with {higher} than with {lower}"
    return "No evidence of a difference in ", f": {in_words(contrast)}"


def tested(test: Result) -> str:
    """A t test in the style of APA."""
    df = f"{test['df']:.0f}" if test["df"] == round(test["df"]) else written(test["df"])
    return f"t({df}) = {written(test['t'])}, {apa.p_value(test['p'])}"


def sentence(contrast: Result) -> str:
    """The contrast with its means, interval, effect size, and Welch's version."""
    variable = variable_of(contrast["variable"], contrast)
    opening = f"Planned contrast (primary test) in {variable.in_text}, {in_words(contrast)}"
    if not contrast["is_defined"]:
        return f"{opening}: no result. {contrast['reason']}"
    pooled, welch, share = contrast["pooled"], contrast["welch"], variable.is_share
    sides = "one-sided" if contrast["sides"] == 1 else "two-sided"
    beside = f"; with unequal variances (Welch) {tested(welch)}" if welch else ""
    return (
        f"{opening}: M = {written(contrast['higher_mean'], 2, share)} and {written(contrast['lower_mean'], 2, share)}, "
        f"difference {written(contrast['difference'], 2, share)}, {interval(pooled, contrast['alpha'], share)}, "
        f"{tested(pooled)}, {sides}, d = {written(contrast['d'])}{beside}."
    )


def interval(test: Result, alpha: float, share: bool) -> str:
    """The confidence interval of the difference; of a one-sided test its lower bound."""
    level, low = f"{100 * (1 - alpha):.4g}%", written(test["ci_low"], 2, share)
    if test["ci_high"] is None:
        return f"lower {level} confidence bound {low}"
    return f"{level} CI [{low}, {written(test['ci_high'], 2, share)}]"


def beside(contrast: Result, n: int) -> str:
    """How the primary metric stands to the contrast; it is described, not tested."""
    found = contrast["objective"]
    if found is None:
        return ""
    metric = Metric(found["kind"], found["profile_length"], n)
    values = f"{written(found['higher_mean'], 3, True)} and {written(found['lower_mean'], 3, True)}"
    if found["is_better"] is None:
        return f"Offline, {metric.in_text} is the same for both sides of the contrast ({values})."
    which = "first" if found["is_better"] else "second"
    return f"Offline, {metric.in_text} is better for the {which} side of the contrast ({values})."


def both_ways(found: Result) -> str:
    """The contrast with and without those who are left out."""
    kept, everybody = found["kept"], found["everybody"]
    if not (kept["is_defined"] and everybody["is_defined"]):
        return "The planned contrast cannot be compared: it has no result on one side."
    numbers = f"{tested(kept['pooled'])} without and {tested(everybody['pooled'])} with them"
    same = is_significant(kept) == is_significant(everybody) and (
        not is_significant(kept) or (kept["difference"] > 0) == (everybody["difference"] > 0)
    )
    return f"The conclusion of the planned contrast {'is the same' if same else 'changes'} ({numbers})."
