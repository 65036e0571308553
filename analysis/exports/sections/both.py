"""Sections on both sides together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from analysis.charts import both as charts
from analysis.exports.blocks import Figure, FigureMaker, Section
from analysis.narrative import agreement, contrast, verdict
from analysis.narrative import figures as titles
from analysis.narrative import perceived as of_people
from analysis.tables import both as both_tables
from analysis.tables import figures as figure_tables
from analysis.tables import perceived as people_tables

Result = Mapping[str, Any]
Half = Literal["perceived", "objective"]


MOST_SAID = 6  # contradictions in words; the table below has them all


def contrast_section(results: Result) -> Section:
    """The planned contrast, where it is the primary test."""
    section = Section("contrast", "Planned contrast")
    found = results.get("contrast")
    if found is None or not results["flow"]["analysed"]:
        return section
    section.say(contrast.sentence(found), "says")
    section.say(contrast.beside(found, results["objective"]["n"]))
    section.put(both_tables.contrast_table(found))
    return section


def certainty_section(results: Result, primary: Result | None, figure: FigureMaker, measured: FigureMaker) -> Section:
    """How sure the verdict is: every rank's probability, the pairs of both orders, every metric."""
    section = Section("certainty", "How sure this is")
    if primary is None or not results["flow"]["analysed"]:
        return section
    n = results["objective"]["n"]
    section.draw(_strip(primary, "perceived", n, figure), _strip(primary, "objective", n, measured))
    section.put(both_tables.metrics_table(results["comparisons"], primary, n))
    section.say(agreement.agreement(primary, n), "says")
    section.say(agreement.alike(primary))
    told = agreement.contradictions(primary, n)
    for sentence in told[:MOST_SAID]:
        section.say(sentence)
    if len(told) > MOST_SAID:
        section.say(f"So do {len(told) - MOST_SAID} pairs more, which stand in the table of all pairs.")
    section.say(agreement.pointing(primary))
    return section


def _strip(primary: Result, side: Half, n: int, figure: FigureMaker) -> Figure | None:
    whom = "participants, within their condition" if side == "perceived" else "test users, whole"
    return figure(
        f"ranks-{side}",
        charts.rank_strip(primary, side, titles.strip_title(primary, side), titles.strip_subtitle(primary, side, n)),
        f"Percent of the resamples of {whom}, in which an algorithm has each rank; algorithms that tie share theirs.",
        figure_tables.rank_table(primary, side),
    )


def orders_section(results: Result, primary: Result | None) -> Section:
    """Who is told apart from whom, on the primary pair of measures."""
    section = Section("orders", "Who is told apart from whom")
    key = primary["variable"] if primary else results["variables"][0]["key"]
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
    return section


def both_section(results: Result, primary: Result | None, figure: FigureMaker) -> Section:
    """Both sides together: scatter, verdicts by pair, every coefficient."""
    section = Section("both", "Perceived against objective")
    if not results["flow"]["analysed"]:
        return section
    n = results["objective"]["n"]
    if primary is not None:
        variable = next(one for one in results["variables"] if one["key"] == primary["variable"])
        length = next(
            one for one in results["objective"]["lengths"] if one["profile_length"] == primary["profile_length"]
        )
        spec = charts.scatter(primary, variable, length, agreement.scatter_title(primary, n), n)
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
        section.put(both_tables.verdicts_table(primary), is_folded=True)
    section.put(both_tables.comparisons_table(results["comparisons"], n))
    section.say(verdict.exploratory(results))
    section.put(both_tables.contradictions_table(results["comparisons"], n), is_folded=True)
    return section
