"""The overview of a study: counts and progress by condition, alerts, and the live part that refreshes itself."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from studies.console.forms.data import ReasonForm
from studies.console.views.workspace import OVERVIEW, study_page
from studies.enums import READERS, Mode, StudyStatus
from studies.models import Study
from studies.monitoring.charts import WIDTH, progress_bars
from studies.monitoring.selectors import live, monitor
from studies.monitoring.selectors.outcomes import are_outcomes_open
from studies.monitoring.selectors.remote import service_lines
from studies.simulation.planted_effects import planted_sentence
from studies.team.permissions import ANY_ROLE, Membership, for_members
from studies.team.selectors.studies import unread_of_study


def _monitored(study: Study) -> list[dict[str, Any]]:
    shown = []
    for mode in monitor.modes_of(study):
        counts = monitor.counts_by_condition(study, mode)
        analysable = live.analysable_counts(study, mode) if mode != Mode.PREVIEW else {}
        bars = progress_bars([(c.label, c.target, c.completed - c.reopened, c.active, c.abandoned) for c in counts])
        shown.append(
            {
                "mode": mode,
                "refills": mode == Mode.LIVE and study.design.refill_excluded,
                "counts": counts,
                "lines": [(line, bar, analysable.get(line.label)) for line, bar in zip(counts, bars, strict=True)],
                "flags": live.cached_flag_counts(study, mode) if mode != Mode.PREVIEW else (),
                "funnel": monitor.funnel(study, mode),
                "judged": monitor.lists_judged(study, mode),
                "events": monitor.newest_activity(study, mode),
                "services": list(service_lines(study, mode)),
                "planted": planted_sentence(study.design.planted_effects) if mode == Mode.SIMULATED else "",
            }
        )
    return shown


def _live_context(study: Study) -> dict[str, Any]:
    return {
        "study": study,
        "monitored": _monitored(study),
        "bar_width": WIDTH,
        "is_open": study.status == StudyStatus.LIVE,
    }


@for_members(ANY_ROLE)
def study_detail(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The overview of a study; an interviewer sees only how to start a session."""
    study = membership.study
    context: dict[str, Any] = {"is_open": study.status == StudyStatus.LIVE}
    if membership.may_read:
        context |= {
            **_live_context(study),
            "alerts": unread_of_study(request.user, study),
            "are_outcomes_open": are_outcomes_open(study),
            "is_draft": study.status == StudyStatus.DRAFT,
            "reason_form": ReasonForm(),
        }
    return study_page(request, membership, "console/studies/overview.html", context, tab=OVERVIEW)


@for_members(READERS)
def study_live(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The live part alone, for the page to refresh itself; opened directly, it redirects to the whole page."""
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{reverse('studies:detail', args=[membership.study.slug])}#live")
    return render(request, "console/studies/_live.html", _live_context(membership.study))
