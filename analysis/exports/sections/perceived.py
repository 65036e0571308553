"""Sections on what participants perceived."""

from __future__ import annotations

from analysis.charts import perceived as charts
from analysis.exports.sections.summary import primary_variable
from analysis.narrative import figures as titles
from analysis.narrative import perceived as narrative
from analysis.narrative import plan as plan_narrative
from analysis.results.constructs import omegas_of
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from analysis.tables import figures as figure_tables
from analysis.tables import items as item_tables
from analysis.tables import perceived as tables
from analysis.tables import scales as scale_tables
from analysis.tables.levels import coverage
from documents.blocks import Figure, FigureMaker, Section
from inference.results import Undefined
from studies.design.narrative.plan import level


def measures_section(results: Results, figure: FigureMaker) -> Section:
    """All measures, their tests and partial orders, with the differences and the distribution of the primary one."""
    section = Section("measures", "Measures", "perceived")
    if not results.flow.analysed:
        return section
    leading = primary_variable(results)
    for variable in results.variables:
        if variable.described:
            section.say(narrative.omnibus(variable), "says" if variable is leading else "")
    section.say(narrative.order(leading))
    for variable in results.variables:
        section.say(narrative.other_tests(variable))
    section.draw(_forest(leading, figure), _spread(leading, figure))
    section.put(tables.described(results.variables))
    section.put(tables.tests_table(results.variables))
    section.put(tables.table_1(results.variables))
    return section


def variable_section(variable: PerceivedVariable, figure: FigureMaker) -> Section:
    """One measure in the supplement: box plot, order and pairs."""
    defined = variable.variable
    section = Section(f"variable-{defined.key}", defined.name, "perceived")
    if not variable.described:
        section.say(narrative.omnibus(variable) if defined.scale else "")
        return section
    section.say(narrative.order(variable))
    section.draw(_box(variable, figure), _hasse(variable, figure))
    if not charts.has_points(variable):
        section.say("Individual scores were erased with the answers of a participant; charts of them are omitted.")
    section.put(tables.order_table(variable))
    section.put(tables.pairs_table(variable))
    section.put(tables.box_table(variable))
    return section


def _box(variable: PerceivedVariable, figure: FigureMaker) -> Figure | None:
    defined = variable.variable
    boxes = f"As Figure {defined.figure} of Cremonesi et al. (2011): boxes" if defined.figure else "Boxes"
    caption = (
        f"{boxes} from the first to the third quartile, a line for the median, a dot for the mean, whiskers to the "
        "last point within 1.5 interquartile ranges, circles for points beyond. Each participant is one point."
    )
    if not isinstance(variable.tests.games_howell, Undefined):
        caption += " No significant difference was found between algorithms that share a letter."
    chart = charts.box(variable, narrative.box_title(variable))
    return figure(f"box-{defined.key}", chart, caption, tables.box_table(variable))


def _hasse(variable: PerceivedVariable, figure: FigureMaker) -> Figure | None:
    n = sum(numbers.n for numbers in variable.described.values())
    caption = (
        f"Games-Howell at α = {level(variable.alpha)}, n = {n:,}; up is more. A line joins two algorithms where the "
        "upper dominates the lower and no other lies between them; numbers are means. A dashed box has no significant "
        f"differences. {tables.dominated_pairs(variable.orders.games_howell)}"
    )
    chart = charts.hasse(variable, narrative.hasse_title(variable))
    return figure(f"hasse-{variable.key}", chart, caption, tables.order_table(variable))


def _spread(variable: PerceivedVariable, figure: FigureMaker) -> Figure | None:
    """Stacked bars of answers in steps, or a raincloud of means and shares."""
    if not charts.has_points(variable):
        return None
    if charts.is_in_steps(variable):
        steps, counts = charts.steps_of(variable)
        return figure(
            f"steps-{variable.key}",
            charts.spread(variable, titles.steps_title(variable, steps, counts)),
            "Share of participants who gave each answer, the lowest at the left; the mean at the right.",
            figure_tables.steps_table(variable, steps, counts),
        )
    return figure(
        f"raincloud-{variable.key}",
        charts.spread(variable, titles.spread_title(variable)),
        "The cloud is a smoothed density of all participants, equal in area by algorithm and as coarse as the scale; "
        "below it the box with median and mean (dot), and each participant as a point.",
        tables.box_table(variable),
    )


def _forest(variable: PerceivedVariable, figure: FigureMaker) -> Figure | None:
    """Every pairwise difference with its simultaneous interval."""
    table = tables.pairs_table(variable)
    if table is None:
        return None
    return figure(
        f"forest-{variable.key}",
        charts.forest(variable, titles.forest_title(variable), coverage(variable.alpha)),
        f"Games-Howell at α = {level(variable.alpha)}: differences of means, the larger first, with simultaneous "
        "intervals. Filled and bold: significant. Hollow: the interval includes 0.",
        table,
    )


def classic_section(results: Results) -> Section:
    """The analyses of the paper: analysis of variance and Tukey's HSD, which assume equal variances."""
    section = Section("as-in-2011", "As in Cremonesi et al. (2011)", "perceived")
    if not results.flow.analysed:
        return section
    section.say(
        "The paper's analysis of variance and Tukey's HSD assume equal variances in all conditions. They are shown for "
        "comparison; no conclusion of this report rests on them."
    )
    section.put(tables.table_1(results.variables, by_tukey=True))
    for variable in results.variables:
        section.put(tables.anova_table(variable))
        section.put(tables.tukey_table(variable))
    return section


def distributions_section(results: Results) -> Section:
    """The recommended items and the kinds of rating behind the means."""
    section = Section("behind", "Distributions", "perceived")
    if not results.flow.analysed:
        return section
    section.head("Recommended items")
    for warning in narrative.items(results.items):
        section.say(warning, "warning")
    section.put(item_tables.items_table(results.items))
    section.head("Liking and interest")
    section.say(narrative.liking(results.liking, results.study.words.consumed))
    section.put(item_tables.liking_table(results.liking, results.study.words))
    return section


def scale_sections(results: Results) -> list[Section]:
    """The reliability of each scale of the questionnaire, and the means of those that have no section of their own."""
    if not results.scales or not results.flow.analysed:
        return []
    section = Section("scales", "Scales of the questionnaire", "perceived")
    section.say(plan_narrative.scales(results.scales))
    section.put(scale_tables.reliability(results.scales, omegas_of(results.constructs)))
    tested = {variable.variable.scale for variable in results.variables}
    section.put(scale_tables.means([scale for scale in results.scales if scale.key not in tested]))
    for sentence in scale_tables.reasons(results.scales):
        section.say(sentence)
    return [section]
