"""The sections of a report, each from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis import charts
from analysis.enums import VARIABLE_OF
from analysis.exports.blocks import Figure, FigureMaker, Section
from analysis.models import Report
from analysis.narrative import objective as of_run
from analysis.narrative import perceived as of_people
from analysis.narrative import verdict
from analysis.tables import behind as behind_tables
from analysis.tables import method as method_tables
from analysis.tables import objective as run_tables
from analysis.tables import perceived as people_tables
from analysis.tables import scales as scale_tables
from studies.narrative.interviewers import interviewed_sentence

Result = Mapping[str, Any]


def orders_section(results: Result, primary: Result | None) -> Section:
    """Who is told apart from whom, on the primary pair of measures."""
    section = Section("orders", "Who is told apart from whom")
    key = primary["variable"] if primary else "accuracy"
    variable = next(one for one in results["variables"] if one["key"] == key)
    length = next(
        one
        for one in results["objective"]["lengths"]
        if one["profile_length"] == (primary["profile_length"] if primary else 0)
    )
    kind = primary["kind"] if primary else "recall"
    n = results["objective"]["n"]
    values = {line["condition"]: line[kind] for line in length["table"]}
    if variable["described"]:
        section.put(people_tables.told_apart(variable, values, f"{kind.capitalize()} at {n}"))
        section.say(of_people.order(variable), "says")
    if primary is not None:
        for sentence in verdict.contradictions(primary, n):
            section.say(sentence, "says")
    return section


def variable_section(variable: Result, figure: FigureMaker) -> Section:
    """One variable: sentences, box plot, order, tables."""
    defined = VARIABLE_OF[variable["key"]]
    section = Section(f"variable-{defined.key}", defined.name, "perceived")
    if not variable["described"]:
        return section
    section.say(of_people.anova(variable), "says")
    section.say(of_people.order(variable))
    section.say(of_people.robustness(variable))
    box = charts.box(variable, of_people.box_title(variable))
    caption = (
        f"As Figure {defined.figure} of Cremonesi et al. (2011): boxes from the first to the third quartile, "
        "a line for "
        "the median, a dot for the mean, whiskers to the last point within 1.5 interquartile ranges, circles "
        "for points "
        "beyond. Each participant is a point beside."
    )
    if variable["tests"]["tukey"]["is_defined"]:
        caption += " Algorithms that share a letter were not told apart."
    order = variable["orders"]["tukey"]
    n = sum(len(points) for points in variable["points"].values())
    hasse_caption = (
        f"Tukey HSD at α = .05, n = {n:,}. A line joins two algorithms where the upper dominates the lower and nobody "
        f"stands between; bars are 95 % intervals of the means. {people_tables.dominated_pairs(order)}"
    )
    hasse = charts.hasse(variable, of_people.hasse_title(variable))
    section.draw(
        figure(f"box-{defined.key}", box, caption, people_tables.box_table(variable)),
        figure(f"hasse-{defined.key}", hasse, hasse_caption, people_tables.told_apart(variable)),
    )
    section.put(people_tables.described(variable))
    section.put(people_tables.tests_table(variable))
    section.put(people_tables.anova_table(variable), is_folded=True)
    section.put(people_tables.pairs_table(variable), is_folded=True)
    return section


def table_1_section(results: Result) -> Section:
    """The partial orders of all variables, and whether they survive weaker assumptions."""
    section = Section("table-1", "The partial orders", "perceived")
    if not results["flow"]["analysed"]:
        return section
    section.put(people_tables.table_1(results["variables"], results["novelty_is_one_order"]))
    section.say(
        "Each variable is a family of its own: Tukey's test holds its error at .05 within a variable, not "
        "over the four "
        "of them."
    )
    section.put(people_tables.robustness(results["variables"]))
    return section


def behind_section(results: Result) -> Section:
    """Which items and which kind of rating stand behind the means."""
    section = Section("behind", "What stands behind the means", "perceived")
    if not results["flow"]["analysed"]:
        return section
    section.head("Which items carry a condition")
    for warning in of_people.items(results["items"]):
        section.say(warning, "warning")
    section.put(behind_tables.items_table(results["items"]))
    section.head("Liking and interest")
    section.say(of_people.liking(results["liking"]))
    section.put(behind_tables.liking_table(results["liking"]))
    return section


def scale_sections(results: Result) -> list[Section]:
    """What a questionnaire's scales say, where it has some: explored, and not part of the plan."""
    scales = results.get("scales", ())
    if not scales or not results["flow"]["analysed"]:
        return []
    section = Section("scales", "Scales of the questionnaire", "perceived")
    section.say(
        "These scales are exploratory: the plan names none of them, and their p values are not adjusted for one "
        "another."
    )
    section.put(scale_tables.reliability(scales))
    section.put(scale_tables.means(scales))
    for sentence in scale_tables.reasons(scales):
        section.say(sentence)
    return [section]


def objective_section(results: Result, figure: FigureMaker) -> Section:
    """What the run measured, at every profile length."""
    found = results["objective"]
    section = Section("objective", "Objective quality", "objective")
    n, lengths = found["n"], found["lengths"]
    for one in lengths:
        section.say(of_run.best_and_worst(one, n))
    for one in lengths[1:]:
        section.say(of_run.shorter(lengths[0], one))
    section.put(run_tables.table_2(found))
    bars = []
    for kind in ("recall", "fallout"):
        if any(line[kind] is not None for line in lengths[0]["table"]):
            spec = charts.bars(lengths, kind, of_run.bars_title(lengths[0], kind), n)
            caption = (
                f"{kind.capitalize()} with 95 % intervals of resampled users. "
                f"{'Lower is better. ' if kind == 'fallout' else ''}Outlined bars: profiles cut to the participants' "
                "length."
            )
            bars.append(figure(f"bars-{kind}", spec, caption, run_tables.intervals_table(found, 0)))
    section.draw(*bars)
    for place in range(1, len(lengths)):
        section.put(run_tables.intervals_table(found, place), is_folded=True)
    section.draw(*(_curves(found, place, figure) for place in range(len(lengths))))
    for one in lengths:
        section.head(of_run.length_words(one["profile_length"]).capitalize())
        for kind in ("recall", "fallout"):
            section.say(of_run.signs(one, kind))
            section.put(
                run_tables.objective_order(one, kind), is_folded=kind == "fallout" or bool(one["profile_length"])
            )
            section.put(run_tables.signs_table(one, kind), is_folded=True)
    return section


def _curves(found: Result, place: int, figure: FigureMaker) -> Figure | None:
    """Recall by length of the list at one profile length."""
    one, n = found["lengths"][place], found["n"]
    if not any(line and None not in line for line in one["by_n"]["recall"].values()):
        return None
    spec = charts.curves(one, "recall", of_run.curves_title(one, "recall", n), n)
    key = f"curves-recall-{one['profile_length']}" if one["profile_length"] else "curves-recall"
    caption = (
        f"Recall by length of the list, {of_run.length_words(one['profile_length'])}; the hairline marks the {n} that "
        "tables report."
    )
    return figure(key, spec, caption, run_tables.curve_table(found, place, "recall"))


def both_section(results: Result, primary: Result | None, figure: FigureMaker) -> Section:
    """Both sides together: scatter, verdicts by pair, every coefficient."""
    section = Section("both", "Perceived against objective")
    if not results["flow"]["analysed"]:
        return section
    n = results["objective"]["n"]
    if primary is not None:
        section.say(verdict.agreement(primary, n), "says")
        variable = next(one for one in results["variables"] if one["key"] == primary["variable"])
        length = next(
            one for one in results["objective"]["lengths"] if one["profile_length"] == primary["profile_length"]
        )
        spec = charts.scatter(primary, variable, length, verdict.scatter_title(primary, n), n)
        caption = (
            "One dot an algorithm, with 95 % intervals: of the mean over participants upwards, of resampled test users "
            "across."
        )
        table = people_tables.told_apart(
            variable,
            {line["condition"]: line[primary["kind"]] for line in length["table"]},
            f"{primary['kind'].capitalize()} at {n}",
        )
        section.draw(figure("scatter", spec, caption, table))
        section.put(run_tables.verdicts_table(primary), is_folded=True)
    section.put(run_tables.comparisons_table(results["comparisons"], n))
    section.say(verdict.exploratory(results))
    section.put(run_tables.contradictions_table(results["comparisons"], n), is_folded=True)
    return section


def method_section(results: Result, badge: str) -> Section:
    """Who took part, what was asked and what was computed."""
    section = Section("method", "Participants and method")
    study, plan, run = results["study"], results["plan"], results["objective"]
    section.put(method_tables.flow_table(results["flow"]))
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
    who = "simulated participant" if badge else "participant"
    section.say(
        f"Each {who} met one algorithm, rated {study['ratings_asked']} items and judged {study['list_length']} "
        "recommendations. Perceived accuracy is the mean rating of the recommended items, first-order "
        "novelty the share "
        "never watched, second-order novelty the share neither watched nor heard of, satisfaction one answer about the "
        "whole list. Sums of answers enter the tests as whole numbers."
    )
    section.say(
        f"The offline run ranked each hidden rating among {run['protocol']['negatives']:,} items that its user had not "
        f"rated: {run['n_relevant'] or 0:,} relevant cases (ratings of {run['protocol']['relevant']:g} or "
        "more) for recall, "
        f"{run['n_irrelevant'] or 0:,} irrelevant ones (ratings of {run['protocol']['irrelevant']:g} or less) "
        "for fallout, "
        f"a hit being a place among the first {run['n']}. Its models are the ones that participants met, by digest."
    )
    section.say(
        f"Tests are two-sided at α = .05. Means are resampled {plan['resamples']:,} times, participants within their "
        "condition and test users whole; intervals are percentiles. The p of a rank correlation is the share of all "
        "orders of the algorithms that are at least as far from 0."
    )
    return section


def provenance_section(report: Report) -> Section:
    """Every hash, seed and version."""
    section = Section("provenance", "Where the numbers come from")
    section.say("The same inputs give the same report.")
    section.put(method_tables.provenance_table(report.provenance, report.plan, report.inputs_hash))
    return section
