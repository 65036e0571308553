"""The pages of a study: header, tabs, launch checklist, questions and notices."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from parallax.design.components import Section, State
from parallax.design.tables import AT
from studies.console.views.workspace import TABS, StudyHeader, TabLink
from studies.design.selectors.launch_checklist import CheckLine
from studies.design.selectors.launch_overview import Gap
from studies.enums import Role, StudyStatus
from studies.models import Study
from studies.monitoring.selectors.study_progress import ConditionProgress, StudyProgress
from studies.team.permissions import Seat

SLUG = "example"
TITLE = "Recommendations for films"
LONG_TITLE = "Recommendations for films among readers of three newspapers, second wave, with a reminder after a week"
CONDITIONS = ("TopPop", "CorNgr", "NNCosNgr", "PureSVD50")


def sections() -> tuple[Section, ...]:
    """Every component, in its order on a study's pages."""
    headers = (
        _header("draft, long title", StudyStatus.DRAFT, LONG_TITLE),
        _header("live", StudyStatus.LIVE),
        _header("paused", StudyStatus.PAUSED),
        _header("closed", StudyStatus.CLOSED),
        _header("archived", StudyStatus.CLOSED, is_archived=True),
    )
    return (
        Section("headers", "Header and tabs", headers, wide=True),
        Section(
            "checklist",
            "Launch checklist",
            (State("", "console/studies/_checklist.html", {"checks": _checks()}),),
            wide=True,
        ),
        Section(
            "questions", "Questions of the editor", (State("", "design/question_lines.html", _lines()),), wide=True
        ),
        Section("notices", "Notices", (State("", "design/notices.html", {"receipts": _receipts()}),), wide=True),
    )


def _header(label: str, status: StudyStatus, title: str = TITLE, *, is_archived: bool = False) -> State:
    study = Study(pk=0, slug=SLUG, title=title, status=status, archived_at=AT if is_archived else None)
    has_participants = status != StudyStatus.DRAFT
    conditions = tuple(ConditionProgress(name, 30 - 8 * n, 30) for n, name in enumerate(CONDITIONS))
    tabs = tuple(
        TabLink(tab.label, tab.url(SLUG), "page" if n == 0 else "")
        for n, tab in enumerate(TABS)
        if Role.OWNER in tab.roles
    )
    header = StudyHeader(
        tabs,
        StudyProgress(conditions) if has_participants else None,
        "https://example.org/s/films/" if has_participants else "",
    )
    return State(
        label, "console/studies/_header.html", {"study": study, "seat": Seat(study, Role.OWNER), "header": header}
    )


def _checks() -> list[tuple[CheckLine, list[tuple[str, str]]]]:
    link = [(reverse("studies:design-summary", args=[SLUG]), "Design")]
    problem, gap = Gap("consent", "The consent has no Italian text."), Gap("plan", "No primary question is planned.")
    return [
        (CheckLine("Conditions", "design", (), ()), []),
        (CheckLine("Analysis plan", "design", (), (gap,)), link),
        (CheckLine("Consent", "design", (problem,), (gap,)), link),
    ]


def _lines() -> dict[str, Any]:
    questions = [
        {"question": {"key": "satisfaction", "required": True}, "text": "How satisfied are you?", "kind": "likert",
         "is_measured": True, "is_first": True},
        {"question": {"key": "remarks", "required": False, "scale": "trust", "random_order": True}, "is_last": True,
         "text": "What else should we know about the recommendations that you have just seen?", "kind": "long_text",
         "condition": "satisfaction is at least 3"},
    ]  # fmt: skip
    return {"lines": questions, "study": {"slug": SLUG}, "may_edit": True}


def _receipts() -> list[dict[str, Any]]:
    study = {"slug": SLUG, "title": TITLE}
    target = {
        "at": AT,
        "study": study,
        "get_kind_display": "Target reached",
        "text": "TopPop has 30 of 30.",
        "kind": "target",
    }
    flag = {**target, "get_kind_display": "Quality flag", "text": "Two participants answered in 40 s.", "kind": "flag"}
    return [{"pk": 2, "notice": flag, "read_at": None}, {"pk": 1, "notice": target, "read_at": AT}]
