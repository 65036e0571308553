"""The console's data pages: exports, quality flags and exclusions, blinding, retention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control

from charting.theme import both_modes
from core.errors import ParallaxError
from core.outcomes import perform, refusals_in
from jobs.models import JobStatus
from studies.allocation.selectors import allocations
from studies.console.forms.data import ExportForm, ReasonForm, RetentionForm, WithdrawalForm
from studies.console.views.outcomes import button, reason_given
from studies.console.views.workspace import ANSWERS, study_page
from studies.data.exports.export_files import FORMATS
from studies.data.exports.tables import Options
from studies.data.services import exports
from studies.data.services.retention import set_retention
from studies.enums import READERS, Mode
from studies.instrument.flow import questionnaire_of
from studies.instrument.questionnaires.core import measures_of
from studies.models import Participant, Study
from studies.monitoring.charts import consort_diagram
from studies.monitoring.selectors import live, monitor, participants, quality
from studies.monitoring.selectors.consort import consort_of
from studies.monitoring.selectors.estimate import page_name
from studies.monitoring.selectors.outcomes import are_outcomes_blinded, are_outcomes_open, outcomes_of
from studies.monitoring.services.blinding import open_outcomes
from studies.monitoring.services.exclusions import exclude, undo_exclusion
from studies.participation.services.withdrawal import participant_known_as, personal_data_of, withdraw_on_behalf
from studies.team.permissions import FORM, OWNERS, POST, Membership, StudyView, for_members

PARTICIPANTS_PER_PAGE = 100
BADGES = {Mode.LIVE: "", Mode.SIMULATED: "simulated participants"}


def _sent(archive: Any, name: str) -> HttpResponse:
    response = FileResponse(archive, as_attachment=True, filename=name, content_type="application/zip")
    patch_cache_control(response, private=True, no_store=True)
    return cast("HttpResponse", response)  # a streaming one: for the views that share a decorator it is the same


@for_members(READERS)
def study_export(request: HttpRequest, membership: Membership, kind: str = "") -> HttpResponse:
    """Send an export in one archive, or have a worker make a large one."""
    form = ExportForm(request.GET, is_owner=membership.is_owner)
    chosen = form.cleaned_data if form.is_valid() else {}
    kind = kind or chosen.get("format", "")
    if kind not in FORMATS:
        raise Http404("There is no such export.")
    options = Options(**{option.name: chosen.get(option.name, False) for option in fields(Options)})
    facts = {"study": membership.study, "kind": kind, "options": options, "actor": request.user}
    try:
        if exports.is_large(membership.study):
            exports.request_export(**facts)  # type: ignore[arg-type]
            messages.success(request, "The export is being made. It appears on this page once it is ready.")
            return redirect("studies:quality", slug=membership.study.slug)
        return _sent(exports.archive_of(**facts), exports.archive_name(membership.study, kind, options))  # type: ignore[arg-type]
    except ParallaxError as refusal:
        messages.error(request, str(refusal))
        return redirect("studies:quality", slug=membership.study.slug)


@for_members(READERS)
def export_file(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    """Send an archive that a worker made; one that names people to an owner alone."""
    job = get_object_or_404(membership.study.jobs, kind="export", pk=pk, status=JobStatus.SUCCEEDED)
    try:
        return _sent(*exports.stored_archive(job=job, is_owner=membership.is_owner))
    except ParallaxError as refusal:
        messages.error(request, str(refusal))
        return redirect("studies:quality", slug=membership.study.slug)


def _monitored(study: Study) -> list[dict[str, Any]]:
    shown = []
    arms = allocations.arms_of(study)
    for mode in monitor.modes_of(study):
        times = live.cached_step_times(study, mode)
        shown.append(
            {
                "mode": mode,
                "has_entered": study.participants.filter(mode=mode).exists(),
                "refills": mode == Mode.LIVE and study.design.refill_excluded,
                "counts": monitor.counts_by_condition(study, mode),
                "quotas": allocations.quota_counts(study) if mode == Mode.LIVE else (),
                "strata": live.stratum_lines(study, mode, arms),
                "answers": live.newest_answers(study, mode),
                "is_blinded": live.is_blinded(study, mode),
                "times": [(page_name(study, step_time.step), step_time) for step_time in times],
                "has_times": any(step_time.n for step_time in times),
                "are_times_of_people": mode != Mode.SIMULATED,
            }
        )
    return shown


@for_members(READERS)
def study_data_live(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The incoming data alone, for the page to refresh itself; opened directly, it redirects to the whole page."""
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{reverse('studies:quality', args=[membership.study.slug])}#incoming")
    context = {"study": membership.study, "monitored": _monitored(membership.study)}
    return render(request, "console/studies/_data_live.html", context)


@for_members(READERS)
def study_quality(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Incoming data, flags, exclusions, the flow, exports, and the outcomes where they are open."""
    study = membership.study
    modes = [mode for mode in monitor.modes_of(study) if mode != Mode.PREVIEW]
    flows = []
    for mode in modes:
        flow = consort_of(study, mode)
        flows.append((mode, flow, both_modes(consort_diagram(flow, badge=BADGES[Mode(mode)])), f"consort-{mode}"))
    is_open = are_outcomes_open(study)
    context = {
        "monitored": _monitored(study),
        "reviewed": quality.reviewed(study, modes),
        "counts": [(mode, quality.flag_counts(study, [mode])) for mode in modes],
        "thresholds": (thresholds := study.design.quality),
        "fastest_percent": thresholds.fastest_share * 100,
        "fewest_in_one_direction": thresholds.fewest_statements(is_mixed=False),
        "history": quality.exclusion_history(study),
        "flows": flows,
        "has_flow": any(flow.consented for _mode, flow, *_chart in flows),
        "is_open": is_open,
        "is_shut": are_outcomes_blinded(study),
        "outcomes": outcomes_of(study) if is_open else (),
        "measures": measures_of(questionnaire_of(study)),
        "jobs": study.jobs.filter(kind="export").select_related("owner")[:10],
        "export_form": ExportForm(is_owner=membership.is_owner),
        "reason_form": ReasonForm(),
    }
    return study_page(request, membership, "console/studies/quality.html", context, tab=ANSWERS)


def _judgement(act: Callable[..., object], success: str) -> StudyView:
    @for_members(OWNERS, POST)
    def judged(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
        participant = get_object_or_404(Participant, study=membership.study, pk=pk)
        perform(request, act, success, participant=participant, reason=reason_given(request))
        return redirect("studies:quality", slug=membership.study.slug)

    return judged


participant_exclude = _judgement(exclude, "The participant is excluded.")
participant_include = _judgement(undo_exclusion, "The participant is in analyses again.")


@for_members(OWNERS)
def participant_list(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Every participant with code, export id and external ids, which owners alone may see together."""
    query = request.GET.get("q", "").replace("\x00", "").strip()
    page = Paginator(participants.participants_of(membership.study, query), PARTICIPANTS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    lines = participants.participant_lines(membership.study, list(page.object_list))
    has_external_ids = any(line.external_ids for line in lines)
    context = {"page": page, "lines": lines, "search": query, "has_external_ids": has_external_ids}
    context |= {"kept_query": f"{urlencode({'q': query})}&"}
    return study_page(request, membership, "console/studies/participants.html", context, tab=ANSWERS)


@for_members(OWNERS, FORM, even_when_archived=True)
def participant_withdraw(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Find a participant who asked to be erased, show what would go, and withdraw them once that is confirmed."""
    form = WithdrawalForm(request.POST or None)
    context: dict[str, Any] = {"form": form}
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            participant = participant_known_as(study=membership.study, known_as=form.cleaned_data["known_as"])
            if request.POST.get("confirmed") == participant.code:
                withdraw_on_behalf(participant=participant, reason=form.cleaned_data["reason"], actor=request.user)
                messages.success(request, f"Participant {participant.code} is withdrawn, and their data are erased.")
                return redirect("studies:quality", slug=membership.study.slug)
            context |= {"participant": participant, "data": personal_data_of(participant)}
    return study_page(request, membership, "console/studies/withdraw.html", context, tab=ANSWERS)


study_open_outcomes = button(
    open_outcomes, "The outcomes are open, and the record says so.", reason="reason", page="studies:quality"
)


@for_members(OWNERS, POST)
def study_retention(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Set how long data are kept."""
    form = RetentionForm(membership.study, request.POST)
    if not form.is_valid():
        messages.error(request, "Days are whole numbers from 0, or nothing.")
    else:
        saved = "The retention limits are saved."
        perform(request, set_retention, saved, study=membership.study, **form.cleaned_data)
    return redirect("studies:settings", slug=membership.study.slug)
