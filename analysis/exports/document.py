"""A report as a document: the same arrangement for the page and for every file."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from analysis.charts import comparison as charts
from analysis.exports.sections import comparison, method, objective, offline, perceived, plan, sample
from analysis.exports.sections.bayesian import bayesian_section
from analysis.exports.sections.constructs import construct_sections
from analysis.exports.sections.covariates import covariate_sections
from analysis.exports.sections.follow_up import follow_up_sections
from analysis.exports.sections.lists_shown import lists_section
from analysis.models import Report
from analysis.narrative import agreement, generalisation, verdict
from analysis.results.codec import decode, encode
from analysis.results.report import Results
from analysis.tables import comparison as tables
from documents.blocks import Draw, Figure, FigureMaker, Section
from documents.tables import Table
from studies.enums import Mode

BADGE = "Simulated participants"
PILOT_BADGE = "Pilot of simulated participants"
DATASET_BADGE = "Synthetic ratings"
SYNTHETIC_NOTICE = (
    "The ratings of this dataset are synthetic, so the objective measures are no evidence about real users."
)
LEAD_WIDTH = 480


@dataclass(frozen=True, kw_only=True)
class Content:
    """A whole report, ready to be drawn."""

    badge: str
    notice: str
    headline: tuple[verdict.Run, ...]
    paragraph: str
    facts: tuple[verdict.Fact, ...]
    limits: tuple[str, ...]
    lead: Figure | None
    sections: tuple[Section, ...]


@dataclass(frozen=True, kw_only=True)
class Document(Content):
    """The content with the report that it is of."""

    report: Report

    def figures(self) -> list[Figure]:
        """Every figure in its order."""
        lead = [self.lead] if self.lead else []
        return lead + [figure for section in self.sections for block in section.blocks for figure in block.figures]

    def tables(self) -> list[Table]:
        """Every table in its order, those of figures too, each once."""
        shown = [self.lead.table] if self.lead else []
        for section in self.sections:
            for block in section.blocks:
                shown += [block.table, *(figure.table for figure in block.figures)]
        tables: dict[str, Table] = {}
        for table in shown:
            if table is not None:
                tables.setdefault(table.key, table)
        return list(tables.values())

    def with_drawings(self, draw: Draw) -> Document:
        """The same with the picture that a file holds of each chart; `draw` draws it, in a width in pixels."""
        return replace(
            self,
            lead=self.lead.with_drawing(draw) if self.lead else None,
            sections=tuple(section.with_drawings(draw) for section in self.sections),
        )

    def as_plain(self) -> dict[str, Any]:
        """The content as JSON values."""
        plain: dict[str, Any] = encode(Content, self)
        return plain


def document_from(plain: dict[str, Any], report: Report) -> Document:
    """The document of a report from the JSON values of its content."""
    content = decode(Content, plain)
    return Document(report=report, **{field.name: getattr(content, field.name) for field in fields(Content)})


def document_of(report: Report) -> Document:
    """Arrange a report's results: verdict, orders, variables, metrics, comparison, sample, method, provenance."""
    results = report.read_results()
    badge = "" if report.mode == Mode.LIVE else PILOT_BADGE if report.is_pilot else BADGE
    stamp = PILOT_BADGE if report.is_pilot else ""
    figure = FigureMaker(badge, stamp)
    # The objective side does not depend on participants: its figures have the badge of their ratings instead.
    run_figure = FigureMaker(DATASET_BADGE if report.read_provenance().is_dataset_synthetic else "", stamp)
    sections = (
        comparison.contrast_section(results),
        comparison.equivalence_section(results),
        comparison.certainty_section(results, figure, run_figure),
        comparison.orders_section(results),
        *(perceived.variable_section(variable, figure) for variable in results.variables),
        perceived.table_1_section(results),
        perceived.distributions_section(results),
        *follow_up_sections(results),
        *covariate_sections(results),
        lists_section(results, figure),
        *perceived.scale_sections(results),
        *construct_sections(results, figure),
        objective.objective_section(results, run_figure),
        offline.rank_sets_section(results),
        offline.repeats_section(results),
        comparison.both_section(results, figure),
        bayesian_section(report, results, figure, run_figure),
        plan.plan_section(results),
        plan.exclusions_section(results),
        sample.sample_section(results, badge, figure),
        method.method_section(results, badge, figure),
        method.provenance_section(report),
    )
    return Document(
        report=report,
        badge=badge,
        notice=verdict.simulated_notice(results),
        headline=verdict.headline(results),
        paragraph=verdict.paragraph(results) if results.flow.analysed else "",
        facts=tuple(verdict.facts(results)),
        limits=tuple(filter(None, (*verdict.limitations(results), generalisation.unconfirmed(results)))),
        lead=_lead(results, figure),
        sections=tuple(section for section in sections if section.blocks),
    )


def _lead(results: Results, figure: FigureMaker) -> Figure | None:
    """The two rankings side by side."""
    primary = results.primary
    if primary is None or not results.flow.analysed:
        return None
    return figure(
        "slope",
        charts.slope(primary, agreement.slope_title(primary), results.objective.n),
        "Rank on each side, the best on top. Bars span the ranks in 95% of resamples of participants on one side and "
        "of test users on the other: their stability, not confidence sets. Heavy lines are contradictions that are "
        "significant on both sides.",
        tables.ranks_table(primary),
        LEAD_WIDTH,
    )
