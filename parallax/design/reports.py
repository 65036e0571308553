"""Components of reports: chapters, verdict, facts, tables and files."""

from __future__ import annotations

from typing import Any

from analysis.files.document import BADGE
from analysis.present.verdict import Fact, Run
from documents.blocks import Section as DocumentSection
from documents.tables import Cell, Column, Row, Table, text
from parallax.design.components import Section, State
from parallax.design.items import HERE
from parallax.design.tables import AT

REPORT = {
    "number": 4,
    "get_absolute_url": HERE,
    "created_at": AT,
    "made_by": "A. Researcher",
    "run_id": 7,
    "provenance": {"is_dataset_synthetic": True},
    "study": {"slug": "example"},
}


def sections() -> tuple[Section, ...]:
    """In their order on a report's pages."""
    offers = [
        {
            "title": "Report",
            "files": [
                {"name": "report.html", "form": "HTML", "suffix": "html"},
                {"name": "report.pdf", "form": "PDF", "suffix": "pdf"},
            ],
        },
        {"title": "Study package", "files": [{"name": "study-package.zip", "form": "ZIP", "group": "package"}]},
    ]
    analyses = ("queued", "running", "failed", "cancelled")
    return (
        Section("chapters", "Chapters", tuple(_chapters()), wide=True),
        Section(
            "summary", "Verdict", (State("", "analysis/parts/_summary.html", {"document": _document()}),), wide=True
        ),
        Section(
            "tables",
            "Tables and sentences",
            (State("", "design/sections.html", {"sections": [_written()]}),),
            wide=True,
        ),
        Section("files", "Files", (State("", "design/offers.html", {"offers": offers, "report": REPORT}),)),
        Section(
            "out-of-date",
            "Origin",
            (
                State("current", "analysis/parts/_made.html", {"report": REPORT}),
                State("out of date", "analysis/parts/_made.html", {"report": {**REPORT, "is_out_of_date": True}}),
            ),
        ),
        Section("bayesian", "Bayesian analysis", tuple(_bayesian(status) for status in analyses)),
    )


def _chapters() -> list[State]:
    chapters = [
        {
            "key": "perceived",
            "title": "Perceived",
            "side": "perceived",
            "sections": [("means", "Means"), ("pairs", "Pairwise comparisons")],
        },
        {"key": "objective", "title": "Objective", "side": "objective"},
        {"key": "comparison", "title": "Comparison", "side": ""},
    ]
    chosen = (("summary", None), ("perceived", chapters[0]), ("objective", chapters[1]))
    context = {"report": REPORT, "page": {"chapters": chapters}}
    return [State(label, "analysis/parts/_chapters.html", {**context, "chapter": chapter}) for label, chapter in chosen]


def _document() -> dict[str, Any]:
    return {
        "report": REPORT,
        "badge": BADGE,
        "notice": "These answers were simulated. They show how the report reads, M = 3.81.",
        "headline": (
            Run("Simulated participants: "),
            Run("Higher "),
            Run("recall", "objective"),
            Run(" went with lower "),
            Run("perceived accuracy", "perceived"),
            Run("."),
        ),
        "evidence": (
            "Over the 19 pairs of algorithms that recall separates, participants rated the one with the higher recall "
            "0.26 points lower on average, 95% CI [−0.39, −0.12].",
        ),
        "scope": "This concerns these seven models on this catalogue. It says nothing about other algorithms.",
        "facts": (
            Fact("Average advantage, points", "", "−0.26", "95% CI [−0.39, −0.12]"),
            Fact("Highest recall", "objective", "PureSVD50", ".29, above all six"),
            Fact("Highest perceived accuracy", "perceived", "3 of 7 may be highest", "3.58 to 4.37"),
        ),
        "limits": ("Not compared, with fewer than five analysed participants: LSA (4).",),
        "pairs": DocumentSection("pairs-of-algorithms", ""),
        "summary": DocumentSection("summary", "Summary"),
    }


def _written() -> DocumentSection:
    section = DocumentSection("written", "Perceived accuracy", "perceived")
    section.say("NNCosNgr differed significantly from TopPop (Games-Howell, p = .003).", style="says")
    section.head("Means")
    section.enumerate(("TopPop was perceived as most accurate.", "Four pairs did not differ significantly."))
    columns = (
        Column("Algorithm"),
        Column("M", is_number=True, side="perceived"),
        Column("Recall", is_number=True, side="objective"),
    )
    rows = (("TopPop", 3.92, 0.11, "Tier 1"), ("PureSVD50", 3.61, 0.29, "Tier 1"), ("CorNgr", 3.09, 0.08, "Tier 2"))
    lines = tuple(
        Row(
            (text(name), Cell(f"{mean:.2f}", mean), Cell(f"{recall:.2f}"[1:], recall)),
            group,
            is_quiet=group == "Tier 2",
        )
        for name, mean, recall, group in rows
    )
    section.put(Table("means", "Means by tier", columns, lines, note="Algorithms of one tier do not differ, p > .05."))
    section.put(Table("folded", "The same, folded", columns, lines), is_folded=True)
    return section


def _bayesian(status: str) -> State:
    error = {"error": "The sampler did not converge.", "activity": "Sampling chain 2 of 4"}
    analysis = {**error, "status": status, "is_open": status in ("queued", "running")}
    return State(status, "analysis/parts/_bayesian.html", {"analysis": analysis, "report": REPORT})
