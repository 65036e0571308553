"""Sections on who took part, what was done, and where the numbers come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.charts import method as charts
from analysis.exports.blocks import FigureMaker, Section
from analysis.models import Report
from analysis.narrative import figures as titles
from analysis.narrative import plan as of_plan
from analysis.tables import figures as figure_tables
from analysis.tables import method as method_tables
from analysis.tables.levels import level_of
from evaluation.selectors.candidates import CandidateRange
from studies.narrative.interviewers import interviewed_sentence
from studies.usage_data import taken_rule

Result = Mapping[str, Any]


def method_section(results: Result, badge: str, figure: FigureMaker) -> Section:
    """Who took part, what was asked and what was computed."""
    section = Section("method", "Participants and method")
    study, plan, run = results["study"], results["plan"], results["objective"]
    flow = figure(
        "flow",
        charts.consort(results),
        "The flow of participants after CONSORT: how many came how far, and who left where. By condition it stands in "
        "the table below.",
        method_tables.flow_table(results["flow"]),
    )
    power = results.get("power", {"is_defined": False, "reason": ""})
    curve = None
    if power["is_defined"]:
        curve = figure(
            "power",
            charts.power(power, titles.power_title(power)),
            "Probability that the analysis of variance finds an effect, by its size (Cohen's f) and by participants in "
            f"each condition; the hairline marks the {power['n_per_condition']} of this report.",
            figure_tables.power_table(power),
        )
    section.draw(flow, curve)
    if flow is None:
        section.put(method_tables.flow_table(results["flow"]))
    section.say(titles.power_said(power) if "power" in results else "")
    section.put(method_tables.flow_by_condition(results["flow"]), is_folded=True)
    section.say(
        method_tables.exclusions_said(results["flow"])
        + (
            f" {results['answers']['n_incomplete']} completed without all answers and are left out."
            if results["answers"]["n_incomplete"]
            else ""
        )
    )
    if interviews := results["flow"].get("interviews"):
        section.say(interviewed_sentence(interviews["n"], interviews["interviewers"], interviews["is_nested"]))
    taken = f" {taken_rule(study)}" if "taken_from" in study else ""
    who = "simulated participant" if badge else "participant"
    section.say(
        f"Each {who} met one algorithm, rated {study['ratings_asked']} items and judged {study['list_length']} "
        f"recommendations.{taken} Perceived accuracy is the mean rating of the recommended items, first-order "
        "novelty the share "
        "never watched, second-order novelty the share neither watched nor heard of, satisfaction one answer about the "
        "whole list. Sums of answers enter the tests as whole numbers."
    )
    section.say(of_plan.planned_scales(results))
    candidates = (
        CandidateRange(**run["candidates"]).in_words if "candidates" in run else f"{run['protocol']['negatives']:,}"
    )
    section.say(
        f"The offline run ranked each hidden rating among {candidates} items that its user had not "
        f"rated: {run['n_relevant'] or 0:,} relevant cases (ratings of {run['protocol']['relevant']:g} or "
        "more) for recall, "
        f"{run['n_irrelevant'] or 0:,} irrelevant ones (ratings of {run['protocol']['irrelevant']:g} or less) "
        "for fallout, "
        f"a hit being a place among the first {run['n']}. Its models are the ones that participants met, by digest."
    )
    section.say(
        f"Tests are two-sided at α = {level_of(plan)}. Means are resampled {plan['resamples']:,} times, participants "
        "within their condition and test users whole; intervals are percentiles. The p of a rank correlation is the "
        "share of all orders of the algorithms that are at least as far from 0."
    )
    return section


def provenance_section(report: Report) -> Section:
    """Every hash, seed and version."""
    section = Section("provenance", "Where the numbers come from")
    section.say("The same inputs give the same report.")
    section.put(method_tables.provenance_table(report.provenance, report.plan, report.inputs_hash))
    return section
