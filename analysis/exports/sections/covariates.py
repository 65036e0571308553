"""Sections on covariates, attrition, known items, and the lists that participants saw."""

from __future__ import annotations

from analysis.narrative import covariates as narrative
from analysis.results.covariates import CovariateAnalyses
from analysis.results.report import Results
from analysis.tables import covariates as tables
from documents.blocks import Section
from inference.results import Undefined
from studies.plans import in_text


def covariate_sections(results: Results) -> list[Section]:
    """All of them, in the order of a report; none in reports of versions without them."""
    if results.covariates is None:
        return []
    return [
        _adjusted(results, results.covariates), _attrition(results, results.covariates),
        _known_items(results, results.covariates), _lists(results, results.covariates),
    ]  # fmt: skip


def _name(results: Results, key: str) -> str:
    variable = results.variable(key)
    return "Perceived accuracy" if variable is None else variable.name


def _adjusted(results: Results, analyses: CovariateAnalyses) -> Section:
    section = Section("adjusted", "Adjusted comparisons", "perceived")
    adjustment, primary = analyses.adjustment, results.plan.primary.perceived
    for sentence in narrative.adjustment(adjustment, results.plan.alpha):
        section.say(sentence)
    section.put(tables.tests_table(adjustment.variables))
    for variable in adjustment.variables:
        if variable.key == primary:
            section.put(tables.means_table(variable), is_folded=True)
        section.put(tables.pairs_table(variable), is_folded=True)
    if adjustment.factors or adjustment.covariates:
        section.say(narrative.ratings(adjustment.ratings, results.nested, results.plan.alpha))
        section.put(tables.ratings_table(adjustment.ratings, results.nested), is_folded=True)
    section.enumerate(narrative.interviewers(adjustment))
    return section


def _attrition(results: Results, analyses: CovariateAnalyses) -> Section:
    section = Section("attrition", "Attrition", "perceived")
    attrition = analyses.attrition
    if attrition is None:
        return section
    for sentence in narrative.attrition(attrition, results.plan.alpha):
        section.say(sentence)
    section.put(tables.attrition_table(attrition))
    if not isinstance(attrition.test, Undefined):
        section.put(tables.bounds_table(attrition, _name(results, attrition.variable)), is_folded=True)
    return section


def _known_items(results: Results, analyses: CovariateAnalyses) -> Section:
    section = Section("known-items", "Known and unknown items", "perceived")
    for sentence in narrative.items(analyses.items, results.study.words, results.plan.alpha):
        section.say(sentence)
    section.put(tables.known_items_table(analyses.items, results.study.words.consumed), is_folded=True)
    return section


def _lists(results: Results, analyses: CovariateAnalyses) -> Section:
    section = Section("list-mediation", "Popularity and diversity of the lists", "perceived")
    lists = analyses.lists
    if results.lists_shown is not None:  # the section on the lists shown has them all
        return section
    name = "" if isinstance(lists, Undefined) else _name(results, lists.variable)
    for sentence in narrative.lists(lists, in_text(name)):
        section.say(sentence)
    if not isinstance(lists, Undefined):
        section.put(tables.lists_table(lists))
        section.put(tables.mediation_table(lists, name), is_folded=True)
    return section
