"""A report as a document, which page and file draw alike."""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.charts import both as charts
from analysis.exports import planned
from analysis.exports.blocks import Draw, Figure, FigureMaker, Section
from analysis.exports.sections import both, method, people, run
from analysis.exports.sections.closer import closer_sections
from analysis.models import Report
from analysis.narrative import agreement, verdict
from analysis.tables import both as both_tables
from analysis.tables.cells import Side, Table
from studies.enums import Mode

BADGE = "Simulated participants"
PILOT_BADGE = "Pilot of simulated participants"
DATASET_BADGE = "Synthetic ratings"
LEAD_WIDTH = 480


@dataclass(frozen=True)
class Document:
    """A whole report, ready to be drawn."""

    report: Report
    badge: str
    notice: str
    headline: tuple[verdict.Run, ...]
    paragraph: str
    facts: list[tuple[str, Side, str, str]]
    limits: list[str]
    lead: Figure | None
    sections: list[Section]

    def figures(self) -> list[Figure]:
        """Every figure in its order."""
        found = [self.lead] if self.lead else []
        return found + [figure for one in self.sections for block in one.blocks for figure in block.figures]

    def tables(self) -> list[Table]:
        """Every table in its order, those behind figures too, each once."""
        found: dict[str, Table] = {}
        if self.lead:
            found[self.lead.table.key] = self.lead.table
        for section in self.sections:
            for block in section.blocks:
                for table in (block.table, *(figure.table for figure in block.figures)):
                    if table is not None:
                        found.setdefault(table.key, table)
        return list(found.values())

    def drawn(self, draw: Draw) -> Document:
        """The same with the picture that a file holds of each chart; `draw` makes it, in a width in pixels."""
        return replace(
            self,
            lead=self.lead.drawn(draw) if self.lead else None,
            sections=[section.drawn(draw) for section in self.sections],
        )


def document_of(report: Report) -> Document:
    """Arrange a report's results: verdict, orders, variables, objective, both sides, method, provenance."""
    results = report.results
    badge = "" if report.mode == Mode.LIVE else PILOT_BADGE if report.is_pilot else BADGE
    stamp = PILOT_BADGE if report.is_pilot else ""
    figure = FigureMaker(badge, stamp)
    # What was measured offline owes nothing to participants: it wears the badge of its ratings instead.
    measured = FigureMaker(DATASET_BADGE if report.provenance["is_dataset_synthetic"] else "", stamp)
    primary = verdict.primary_of(results)
    n = results["objective"]["n"]
    lead = None
    if primary is not None and results["flow"]["analysed"]:
        lead = figure(
            "slope",
            charts.slope(primary, agreement.slope_title(primary), n),
            "Rank by each side, the best on top. Bars are the ranks that 95 % of resamples give, of participants "
            "on one side and of test users on the other; heavy lines are contradictions that are significant on "
            "both sides.",
            both_tables.ranks_table(primary),
            LEAD_WIDTH,
        )
    made = [
        both.contrast_section(results),
        both.certainty_section(results, primary, figure, measured),
        both.orders_section(results, primary),
        *(people.variable_section(one, figure) for one in results["variables"]),
        people.table_1_section(results),
        people.behind_section(results),
        *closer_sections(results),
        *people.scale_sections(results),
        run.objective_section(results, measured),
        both.both_section(results, primary, figure),
        planned.plan_section(results),
        planned.exclusions_section(results),
        method.method_section(results, badge, figure),
        method.provenance_section(report),
    ]
    return Document(
        report=report,
        badge=badge,
        notice=verdict.simulated_notice(results),
        headline=verdict.headline(results),
        paragraph=verdict.paragraph(results) if results["flow"]["analysed"] else "",
        facts=verdict.facts(results),
        limits=verdict.few_said(results),
        lead=lead,
        sections=[section for section in made if section.blocks],
    )
