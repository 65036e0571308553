"""Sections on what participants perceived."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.charts import people as charts
from analysis.enums import variable_of
from analysis.exports.blocks import Figure, FigureMaker, Section
from analysis.narrative import figures as titles
from analysis.narrative import perceived as of_people
from analysis.narrative import plan as of_plan
from analysis.tables import behind as behind_tables
from analysis.tables import figures as figure_tables
from analysis.tables import perceived as people_tables
from analysis.tables import scales as scale_tables
from analysis.tables.levels import level_of, simultaneous

Result = Mapping[str, Any]


def variable_section(variable: Result, figure: FigureMaker) -> Section:
    """One variable: sentences, box plot, order, tables."""
    defined = variable_of(variable["key"], variable)
    section = Section(f"variable-{defined.key}", defined.name, "perceived")
    if not variable["described"]:
        section.say(of_people.anova(variable) if defined.scale else "")
        return section
    section.say(of_people.anova(variable), "says")
    section.say(of_people.order(variable))
    section.say(of_people.robustness(variable))
    box = charts.box(variable, of_people.box_title(variable))
    boxes = f"As Figure {defined.figure} of Cremonesi et al. (2011): boxes" if defined.figure else "Boxes"
    caption = (
        f"{boxes} from the first to the third quartile, a line for the median, a dot for the mean, whiskers to the "
        "last point within 1.5 interquartile ranges, circles for points beyond. Each participant is a point beside."
    )
    if variable["tests"]["tukey"]["is_defined"]:
        caption += " Algorithms that share a letter were not told apart."
    order = variable["orders"]["tukey"]
    n = sum(one["n"] for one in variable["described"].values())
    hasse_caption = (
        f"Tukey HSD at α = {level_of(variable)}, n = {n:,}; up is more. A line joins two algorithms where the "
        "upper dominates the lower and nobody stands between; bars are 95 % intervals of the means. A dashed symbol "
        f"was told apart from nobody. {people_tables.dominated_pairs(order)}"
    )
    hasse = charts.hasse(variable, of_people.hasse_title(variable))
    section.draw(
        figure(f"box-{defined.key}", box, caption, people_tables.box_table(variable)),
        figure(f"hasse-{defined.key}", hasse, hasse_caption, people_tables.told_apart(variable)),
    )
    if not charts.has_points(variable):
        section.say("Individual scores were erased with the answers of a participant; charts of them are left out.")
    section.draw(_spread(variable, figure), _forest(variable, figure))
    section.put(people_tables.described(variable))
    section.put(people_tables.tests_table(variable))
    section.put(people_tables.anova_table(variable), is_folded=True)
    section.put(people_tables.pairs_table(variable), is_folded=True)
    return section


def _spread(variable: Result, figure: FigureMaker) -> Figure | None:
    """Stacked bars of answers in steps, or a raincloud of means and shares."""
    key = variable_of(variable["key"], variable).key
    if not charts.has_points(variable):
        return None
    if charts.is_in_steps(variable):
        steps, counts = charts.steps_of(variable)
        return figure(
            f"steps-{key}",
            charts.spread(variable, titles.steps_title(variable, steps, counts)),
            "Share of participants who gave each answer, the lowest at the left; the mean at the right.",
            figure_tables.steps_table(variable, steps, counts),
        )
    return figure(
        f"raincloud-{key}",
        charts.spread(variable, titles.spread_title(variable)),
        "The cloud is a smoothed outline of all participants, equal in area by algorithm and as coarse as the scale; "
        "below it the box with median and mean (dot), and each participant as a point.",
        people_tables.described(variable),
    )


def _forest(variable: Result, figure: FigureMaker) -> Figure | None:
    """Every pairwise difference with its simultaneous interval."""
    tukey, table = variable["tests"]["tukey"], people_tables.pairs_table(variable)
    if not tukey["is_defined"] or table is None:
        return None
    return figure(
        f"forest-{variable['key']}",
        charts.forest(variable, titles.forest_title(variable), simultaneous(variable)),
        f"Tukey HSD at α = {level_of(variable)}: differences of means, the larger first, with intervals that hold "
        "together over all pairs. Filled and bold: told apart. Hollow: the interval holds 0.",
        table,
    )


def table_1_section(results: Result) -> Section:
    """The partial orders of all variables, and whether they survive weaker assumptions."""
    section = Section("table-1", "The partial orders", "perceived")
    if not results["flow"]["analysed"]:
        return section
    section.put(people_tables.table_1(results["variables"], results["novelty_is_one_order"]))
    section.say(
        "Each variable is a family of its own: Tukey's test holds its error at "
        f"{level_of(results['plan'])} within a variable, not over all of them."
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
    """How well each scale of the questionnaire hangs together, and the means of those that no section is about."""
    scales = results.get("scales", ())
    if not scales or not results["flow"]["analysed"]:
        return []
    section = Section("scales", "Scales of the questionnaire", "perceived")
    section.say(of_plan.scales(scales))
    section.put(scale_tables.reliability(scales))
    tested = {variable_of(one["key"], one).scale for one in results["variables"]}
    section.put(scale_tables.means([scale for scale in scales if scale["key"] not in tested]))
    for sentence in scale_tables.reasons(scales):
        section.say(sentence)
    return [section]
