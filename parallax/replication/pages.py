"""A replication as HTML, Markdown and files: our results and the published ones, marked where simulated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from analysis.enums import VARIABLES
from analysis.files.listing import write_report
from analysis.models import Report
from analysis.present import perceived, verdict
from analysis.present import plan as plan_narrative
from analysis.present.words import around
from analysis.results.codec import encode
from analysis.results.objective import MetricValues
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from catalog.models import DatasetVersion
from charting import marks, render
from documents.blocks import Figure, Section
from documents.delimited import table_csv
from documents.html import page
from documents.markdown import document_markdown, table_markdown
from documents.tables import Table
from evaluation.models import EvaluationRun
from inference.claims import AS, NOT_AS, OPEN, WHOLE
from parallax.replication import comparison_tables
from parallax.replication.claims import NOT_SCORED, NOVELTIES_R, Judgement, StudyEvidence, judged
from parallax.replication.published import Published
from parallax.replication.stages import Settings, names_by_algorithm
from studies.models import Study

TITLE = "Looking for good recommendations: a replication"
SIMULATED = (
    " The participants are simulated from the ratings of other users, so this describes the design, the algorithms and "
    "the measures, and is no evidence whether the paper is right about people."
)
HERE, PUBLISHED = "here", "published in 2011"
PPI = 300
FIGURES = sorted(VARIABLES, key=lambda variable: variable.figure)  # Figures 2 to 5, one variable each


@dataclass(frozen=True)
class Replication:
    """A report beside the published results, and the facts of its dataset and models."""

    paper: Published
    report: Report
    names: Mapping[str, str]
    facts: Mapping[str, Any]

    @cached_property
    def results(self) -> Results:
        return self.report.read_results()

    @property
    def title(self) -> str:
        return TITLE if self.results.is_live else f"{TITLE} with simulated participants"

    @cached_property
    def evidence(self) -> StudyEvidence:
        """The answers and the run, for the statements."""
        return StudyEvidence.of(self.report, self.names)

    @cached_property
    def claims(self) -> list[Judgement]:
        """The verdict on every statement of the paper."""
        return [judged(claim, self.evidence) for claim in self.paper.claims]

    def tables(self) -> dict[str, Table]:
        """Tables 1 and 2, the data of Figures 2 to 5, and the claims."""
        tables = (
            comparison_tables.table_1(self.results, self.paper, self.names),
            comparison_tables.table_2(self.results, self.paper, self.names),
            comparison_tables.intervals(self.results, self.names),
            *(comparison_tables.figure(self.results, variable.key, self.names) for variable in FIGURES),
            comparison_tables.claims(self.claims),
        )
        return {table.key: table for table in tables}


def simulated(*, paper: Published, report: Report, run: EvaluationRun, chosen: Settings, walked: str) -> Replication:
    """The replication of a report on simulated participants; `walked` says how their pages were served.

    Raises `replicate.other_conditions`.
    """
    return Replication(
        paper=paper,
        report=report,
        names=names_by_algorithm(report.study, paper),
        facts={
            **_dataset_facts(run.version),
            "hidden": run.split.get("share", 0.0),
            "factors": list(chosen.factors),
            "walked": walked,
        },
    )


def answered(*, paper: Published, report: Report, study: Study) -> Replication:
    """The replication of a report on the participants of a closed study. Raises `replicate.other_conditions`."""
    results, split = report.read_results(), study.run.split
    return Replication(
        paper=paper,
        report=report,
        names=names_by_algorithm(study, paper),
        facts={
            **_dataset_facts(study.dataset_version),
            "hidden": split["share"] if split["name"] == "probe" else None,
            "factors": sorted(row.params["factors"] for row in results.conditions if row.algorithm == "puresvd"),
        },
    )


def _dataset_facts(version: DatasetVersion) -> dict[str, Any]:
    return {
        "dataset": str(version),
        "n_users": version.n_users,
        "n_items": version.n_items,
        "n_ratings": version.n_ratings,
        "is_synthetic": version.is_synthetic,
    }


def figures(replication: Replication) -> dict[str, Figure]:
    """Every figure by its key, with its drawing: metrics beside the published, and box plots of ours."""
    drawable = []
    lines = {replication.names[line.condition]: line for line in replication.results.objective.lengths[0].table}
    for kind, title in comparison_tables.KINDS:
        ours = {
            name: around(value, line.intervals[kind])
            for name, line in lines.items()
            if (value := line.value(kind)) is not None and kind in replication.paper.table_2.get(name, {})
        }
        if not ours:
            continue
        printed = {name: (replication.paper.table_2[name][kind],) * 3 for name in ours}
        words = f"{title} at 5 here (filled) and as published (outlined)"
        spec = marks.bars({HERE: ours, PUBLISHED: printed}, title=words, x_title=f"{title} at 5", decimals=3)
        drawable.append(Figure(f"table-2-{kind}", spec, words))
    by_key = {variable.key: variable for variable in replication.results.variables}
    for variable in FIGURES:
        finding = perceived.box_title(by_key[variable.key])
        is_live = replication.results.is_live
        box = perceived.box(by_key[variable.key], finding if is_live else f"Simulated participants: {finding}")
        if box is not None:
            people = "participants" if is_live else "simulated participants"
            words = f"Figure {variable.figure} here: {variable.in_text} of {people}"
            drawable.append(Figure(f"figure-{variable.figure}", box, words))
    return {figure.key: figure.with_drawing(lambda picture: render.svg(picture.spec)) for figure in drawable}


def sections(replication: Replication, figures: Mapping[str, Figure]) -> list[Section]:
    """The whole page below its title."""
    results, report, tables = replication.results, replication.report, replication.tables()
    statements = Section("statements", "Statements of the paper")
    statements.say(_count(replication.claims, is_live=results.is_live))
    statements.put(tables["claims"])
    orders = Section("orders", "Table 1: the partial orders")
    orders.put(tables["table-1"])
    metrics = Section("metrics", "Table 2: recall, fallout and F")
    metrics.put(tables["table-2"])
    metrics.put(tables["table-2-intervals"])
    metrics.say("The published F and recall together imply a precision near 1 in every row, within their rounding.")
    metrics.draw(*(figure for key, figure in figures.items() if key.startswith("table-2")))
    variables = []
    for variable in FIGURES:
        key = f"figure-{variable.figure}"
        section = Section(f"variable-{variable.key}", f"Figure {variable.figure}: {variable.in_text}")
        section.draw(figures.get(key))
        section.put(tables[key])
        variables.append(section)
    plan = Section("plan", "Plan and deviations")
    if planned := results.planned:
        plan.enumerate((*plan_narrative.frozen(results, planned), *plan_narrative.deviations(results, planned)))
    slips = Section("slips", "Slips in the paper")
    slips.enumerate(replication.paper.slips)
    file_list = Section("files", "Where everything is")
    file_list.say(
        f"The study is {report.study.slug}; its report number {report.number} is in the folder report, inputs "
        f"{report.inputs_hash[:12]}, design {report.study.design_hash[:12]}. Tables are in tables, figures in "
        "figures, every number in replication.json."
    )
    return [_introduction(replication), statements, orders, metrics, *variables, plan, slips, file_list]


def _introduction(replication: Replication) -> Section:
    results = replication.results
    section = Section("introduction", "")
    badge = "Participants of the study" if results.is_live else "Simulated participants"
    badge += ", synthetic ratings" if replication.facts["is_synthetic"] else ""
    section.say(f"{badge}. {verdict.simulated_notice(results)}".rstrip())
    section.say(
        f"Replicated is: {replication.paper.source}. Every published number below is printed there; what the paper "
        "only draws is left blank and not read off."
    )
    section.say(*verdict.full_text(results))
    section.put(comparison_tables.conditions(results, replication.paper, replication.facts))
    return section


def _count(judgements: list[Judgement], *, is_live: bool) -> str:
    verdicts = [row.verdict for row in judgements if row.verdict != NOT_SCORED]
    n, n_as, n_not, n_open = len(verdicts), *map(verdicts.count, (AS, NOT_AS, OPEN))
    return (
        f"Of {n} scored statements, {n_as} come out as in the paper, {n_not} do not, and {n_open} are open. The "
        "claimed quantity's own interval decides, or the pairs of algorithms that are separated: by Games and "
        "Howell's test, and for the metrics by simultaneous intervals over users. Several intervals are "
        "Bonferroni-corrected. A result that is not significant counts as neither." + ("" if is_live else SIMULATED)
    )


def printed(replication: Replication) -> str:
    """Tables 1 and 2 and the data of Figures 2 to 5, ours beside the published, for a terminal."""
    parts = []
    for key, table in replication.tables().items():
        if key == "claims":
            parts.append("\n".join(f"  {row.verdict:<20}  {row.claim.says} ({row.ours})" for row in replication.claims))
            continue
        lines = [[column.name for column in table.columns], *([cell.text for cell in row.cells] for row in table.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(table.width)]
        aligned = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
        parts.append("\n".join([f"{table.title}\n", *aligned]))
    return "\n\n".join(parts)


def write_folder(replication: Replication, folder: Path) -> None:
    """Write the comparison, and the whole report into its folder `report`."""
    write_report(report=replication.report, folder=folder / "report", progress=lambda words: None)
    write(replication, folder)


def write(replication: Replication, folder: Path) -> None:
    """Write replication.html, .md and .json, figures and tables; the same replication gives the same bytes."""
    contents: dict[str, bytes] = {}
    pictures = figures(replication)
    for figure in pictures.values():
        contents[figure.file] = figure.drawing.encode()
        contents[f"figures/{figure.key}.png"] = render.png(figure.spec, ppi=PPI)
    for key, table in replication.tables().items():
        contents[f"tables/{key}.csv"] = table_csv(table).encode()
        contents[f"tables/{key}.md"] = table_markdown(table).encode()
    whole = sections(replication, pictures)
    contents["replication.md"] = document_markdown(replication.title, whole).encode()
    contents["replication.html"] = page(replication.title, replication.title, whole).encode()
    contents["replication.json"] = (
        json.dumps(_numbers(replication), indent=2, ensure_ascii=False, allow_nan=False, sort_keys=True) + "\n"
    ).encode()
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _numbers(replication: Replication) -> dict[str, Any]:
    variables = {variable.key: encode(PerceivedVariable, variable) for variable in replication.results.variables}
    return {
        "paper": replication.paper.key,
        "is_simulated": not replication.results.is_live,
        "facts": replication.facts,
        "study": replication.report.study.slug,
        "design_hash": replication.report.study.design_hash,
        "report_inputs_hash": replication.report.inputs_hash,
        "names": replication.names,
        "novelty_r": replication.evidence.value(NOVELTIES_R, *WHOLE),
        "published": {"table_1": replication.paper.table_1, "table_2": replication.paper.table_2},
        "here": {
            "table_1": {key: plain["orders"]["tukey"]["rows"] for key, plain in variables.items()},
            "table_2": encode(tuple[MetricValues, ...], replication.results.objective.lengths[0].table),
            "figures": {key: plain["described"] for key, plain in variables.items()},
        },
        "claims": [
            {"says": row.claim.says, "where": row.claim.where, "verdict": row.verdict, "ours": row.ours}
            for row in replication.claims
        ],
    }
