"""A report as a document: the same arrangement for the page and for every file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from analysis.models import Report
from analysis.present import (
    bayesian,
    choices,
    covariates,
    exclusions,
    factorial,
    follow_up,
    lists_shown,
    matrix,
    method,
    objective,
    offline,
    perceived,
    plan,
    sample,
    scales,
    side_by_side,
    verdict,
)
from analysis.present import comparison as both_sides
from analysis.results.bayesian import BayesianResults
from analysis.results.codec import decode
from documents.blocks import Figure, FigureMaker, Section
from documents.tables import Side, Table
from jobs.models import JobStatus
from studies.enums import Mode

BADGE = "Simulated participants"
PILOT_BADGE = "Pilot of simulated participants"
DATASET_BADGE = "Synthetic ratings"
SYNTHETIC_NOTICE = (
    "The ratings of this dataset are synthetic, so the objective measures are no evidence about real users."
)


@dataclass(frozen=True)
class Chapter:
    """A chapter with its sections, a page of the console; `about` says what it answers."""

    key: str
    title: str
    about: str
    side: Side = ""
    sections: tuple[Section, ...] = ()


CHAPTERS = (
    Chapter("perceived", "Perceived", "What participants answered, and which algorithms differ.", "perceived"),
    Chapter("objective", "Objective", "What the offline run measured of the same models.", "objective"),
    Chapter("comparison", "Comparison", "Where the two sides agree, and where they contradict each other."),
    Chapter("sample", "Sample and flow", "Who took part, and who was excluded or lost."),
    Chapter(
        "robustness", "Robustness", "Whether the conclusions depend on items, covariates, exclusions or the model."
    ),
    Chapter("method", "Method", "What was planned, done and computed."),
    Chapter("supplement", "Supplement", "Everything else that was computed, each table once."),
)
SUPPLEMENT = "supplement"
KEYS = tuple(chapter.key for chapter in CHAPTERS)


@dataclass(frozen=True, kw_only=True)
class Content:
    """A whole report, ready to be drawn."""

    badge: str
    notice: str
    headline: tuple[verdict.Run, ...]
    evidence: tuple[str, ...]
    scope: str
    facts: tuple[verdict.Fact, ...]
    limits: tuple[str, ...]
    pairs: Section  # of the first screen, without a heading
    summary: Section
    chapters: tuple[Chapter, ...]  # those that have something to show, the supplement last


@dataclass(frozen=True, kw_only=True)
class Document(Content):
    """The content with the report that it is of."""

    report: Report

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections of all chapters."""
        return tuple(section for chapter in self.chapters for section in chapter.sections)

    @property
    def all_sections(self) -> tuple[Section, ...]:
        """The pairs and the summary, where they have something to show, and the sections of the chapters."""
        return tuple(section for section in (self.pairs, self.summary, *self.sections) if section.blocks)

    @property
    def main_chapters(self) -> tuple[Chapter, ...]:
        """The chapters without the supplement."""
        return tuple(chapter for chapter in self.chapters if chapter.key != SUPPLEMENT)

    @property
    def supplement(self) -> tuple[Section, ...]:
        """The sections of the supplement."""
        return next((chapter.sections for chapter in self.chapters if chapter.key == SUPPLEMENT), ())

    @property
    def main_sections(self) -> tuple[Section, ...]:
        """Every section of the main report, those of the first screen first."""
        chapters = (section for chapter in self.main_chapters for section in chapter.sections)
        return tuple(section for section in (self.pairs, self.summary, *chapters) if section.blocks)

    def figures(self) -> list[Figure]:
        """Every figure in its order."""
        return [figure for section in self.all_sections for block in section.blocks for figure in block.figures]

    def tables(self) -> list[Table]:
        """Every table in its order, those of figures too, each once."""
        shown = []
        for section in self.all_sections:
            for block in section.blocks:
                shown += [block.table, *(figure.table for figure in block.figures)]
        tables: dict[str, Table] = {}
        for table in filter(None, shown):
            tables.setdefault(table.key, table)
        return list(tables.values())

    def with_drawings(self, draw: Callable[[Figure], str]) -> Document:
        """The same with the picture that a file holds of each chart."""
        return replace(
            self,
            pairs=self.pairs.with_drawings(draw),
            summary=self.summary.with_drawings(draw),
            chapters=tuple(
                replace(chapter, sections=tuple(section.with_drawings(draw) for section in chapter.sections))
                for chapter in self.chapters
            ),
        )


def document_from(plain: dict[str, Any], report: Report) -> Document:
    """The document of a report from the JSON values of its content."""
    content = decode(Content, plain)
    return Document(report=report, **{field.name: getattr(content, field.name) for field in fields(Content)})


def pair_of(report: Report, *, measure: str, metric: str, length: int) -> Section | None:
    """The section of one measure with one metric at one profile length; None where the report has no such pair."""
    results = report.read_results()
    pairs = {(each.variable_key, each.kind, each.profile_length): each for each in results.comparisons}
    pair = pairs.get((measure, metric, length))
    if pair is None or not results.flow.analysed:
        return None
    return both_sides.pair_section(results, pair, FigureMaker(mark_of(report)))


def badge_of(report: Report) -> str:
    """The badge of simulated participants; empty for people."""
    return "" if report.mode == Mode.LIVE else PILOT_BADGE if report.is_pilot else BADGE


def mark_of(report: Report) -> str:
    """What every file of a report says of simulated participants and synthetic ratings; empty for real data."""
    synthetic = DATASET_BADGE if report.read_provenance().is_dataset_synthetic else ""
    badge = badge_of(report)
    return f"{badge}, {synthetic.lower()}" if badge and synthetic else badge or synthetic


def document_of(report: Report) -> Document:
    """Arrange a report's results: verdict, orders, variables, metrics, comparison, sample, method, provenance."""
    results = report.read_results()
    badge = badge_of(report)
    figure, joint_figure = FigureMaker(badge), FigureMaker(mark_of(report))
    # The objective side does not depend on participants: its figures have the mark of their ratings, and of a pilot.
    is_synthetic = report.read_provenance().is_dataset_synthetic
    run_figure = joint_figure if report.is_pilot else FigureMaker(DATASET_BADGE if is_synthetic else "")
    sections: dict[str, list[Section]] = {
        "perceived": [
            lists_shown.dose_section(results),
            perceived.measures_section(results, figure),
            factorial.factors_section(results, figure),
            side_by_side.preferences_section(results, figure),
        ],
        "objective": [objective.metrics_section(results, run_figure)],
        "comparison": [
            both_sides.agreement_section(results),
            both_sides.contrast_section(results),
            both_sides.equivalence_section(results),
        ],
        "sample": [sample.sample_section(results, badge)],
        "robustness": [
            both_sides.alternatives_section(results, joint_figure),
            exclusions.exclusions_section(results),
        ],
        "method": [plan.plan_section(results), method.method_section(results, badge)],
        "supplement": [
            *perceived.variable_sections(results, figure),
            perceived.classic_section(results),
            lists_shown.distributions_section(results),
            choices.choices_section(results),
            follow_up.effects_section(results),
            follow_up.ordinal_section(results),
            follow_up.correlations_section(results),
            follow_up.generalisation_section(results),
            *covariates.covariate_sections(results),
            lists_shown.lists_section(results, figure),
            scales.scale_section(results),
            scales.construct_section(results, figure),
            objective.metrics_in_detail(results, run_figure),
            offline.effects_section(results),
            offline.repeats_section(results),
            matrix.matrix_section(results, joint_figure),
            bayesian.bayesian_section(results, *_bayesian(report)),
            sample.conduct_section(results, badge, figure),
            method.power_section(results, figure),
            method.provenance_section(report.read_provenance(), report.read_plan(), report.inputs_hash),
        ],
    }
    return Document(
        report=report,
        badge=badge,
        notice=verdict.simulated_notice(results),
        headline=verdict.headline(results),
        evidence=verdict.evidence(results),
        scope=verdict.scope(results),
        facts=tuple(verdict.facts(results)),
        limits=tuple(verdict.limitations(results)),
        pairs=both_sides.pairs_section(results, joint_figure),
        summary=both_sides.summary_section(results, joint_figure),
        chapters=tuple(
            replace(chapter, sections=shown)
            for chapter in CHAPTERS
            if (shown := tuple(section for section in sections[chapter.key] if section.blocks))
        ),
    )


def _bayesian(report: Report) -> tuple[BayesianResults | None, str]:
    """The numbers of the Bayesian analysis, or the error it ended in; neither while it is not done."""
    analysis = report.analysis
    if analysis is None:
        return None, ""
    return report.read_bayesian(), analysis.error if analysis.status == JobStatus.FAILED else ""
