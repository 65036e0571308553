"""The workspace of a study: what every one of its pages shows around it, the line of stages or the header with tabs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from studies.console.stages import STAGE_OF, STAGES, rail_of
from studies.enums import READERS, Mode, Role, StudyStatus
from studies.monitoring.selectors.monitor import StudyProgress, progress_of
from studies.recruitment.services.entry_links import entry_link
from studies.team.permissions import ANY_ROLE, OWNERS, Membership

RECRUITING = (StudyStatus.LIVE, StudyStatus.PAUSED)


@dataclass(frozen=True)
class Tab:
    """A tab: its key, label, URL name and the roles that see it."""

    key: str
    label: str
    url_name: str
    roles: frozenset[str]

    def url(self, slug: str) -> str:
        """The address of the tab for a study; reports are filtered by study in the query string."""
        if self.url_name == "analysis:list":
            return f"{reverse(self.url_name)}?study={slug}"
        return reverse(self.url_name, args=[slug])


OVERVIEW, DESIGN, RECRUIT = "overview", "design", "recruit"
REPORT, SETTINGS, SESSIONS, ANSWERS = "report", "settings", "sessions", "answers"
TABS = (
    Tab(OVERVIEW, "Live", "studies:detail", ANY_ROLE),
    Tab(DESIGN, "Design", STAGES[0].url_name, READERS),
    Tab(RECRUIT, "Recruit", "studies:recruiting", OWNERS),
    Tab(SESSIONS, "Sessions", "studies:interview", frozenset({Role.INTERVIEWER})),
    Tab(ANSWERS, "Data", "studies:quality", READERS),
    Tab(REPORT, "Report", "analysis:list", READERS),
    Tab(SETTINGS, "Settings", "studies:settings", READERS),
)


@dataclass(frozen=True)
class TabLink:
    """A tab as shown: `current` is the value of aria-current, empty for other tabs."""

    label: str
    url: str
    current: str


@dataclass(frozen=True)
class StudyHeader:
    """The header of a study's pages; interviewers get neither progress nor link, drafts have none."""

    tabs: tuple[TabLink, ...]
    progress: StudyProgress | None
    link: str


def participant_url(request: HttpRequest, membership: Membership) -> str:
    """The address of the study's consent page, with scheme and host."""
    return request.build_absolute_uri(entry_link(study=membership.study, mode=Mode.LIVE))


def study_header(request: HttpRequest, membership: Membership, tab: str) -> StudyHeader:
    """The header for this role, with `tab` current; "page" if the request is for the tab itself, else "true"."""
    here = request.get_full_path().partition("?")[0]
    links = []
    for each in TABS:
        if membership.role not in each.roles:
            continue
        url = each.url(membership.study.slug)
        current = ("page" if url.partition("?")[0] == here else "true") if each.key == tab else ""
        links.append(TabLink(each.label, url, current))
    is_launched = membership.study.status != StudyStatus.DRAFT
    is_recruiting = membership.may_read and membership.study.status in RECRUITING
    return StudyHeader(
        tabs=tuple(links),
        progress=progress_of(membership.study) if membership.may_read and is_launched else None,
        link=participant_url(request, membership) if is_recruiting else "",
    )


def study_page(
    request: HttpRequest, membership: Membership, template: str, context: dict[str, Any], *, tab: str
) -> HttpResponse:
    """Render a page of the study under its header; beside the line of stages where `tab` is one of them."""
    is_staged = tab in STAGE_OF
    shared = {
        "study": membership.study,
        "membership": membership,
        "header": study_header(request, membership, DESIGN if is_staged else tab),
        "rail": rail_of(request, membership.study, tab) if is_staged else None,
    }
    return render(request, template, {**shared, **context})
