"""The console's study pages: the list, a new one, and a study's life from design to exports."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from charting.theme import both_modes
from core.errors import ParallaxError
from evaluation.selectors.runs import failed_algorithms
from studies.allocation.assignment.methods import method_from
from studies.allocation.selectors import allocations
from studies.allocation.selectors.assignment_seed import seed_sentence, seed_state
from studies.console.forms.assignment import METHOD_LABELS
from studies.console.forms.conditions import ConditionsForm
from studies.console.forms.console import DesignForm, MemberForm, NewStudyForm
from studies.console.forms.data import ExportForm
from studies.console.views.outcomes import button, perform, refusals_in, warn_of_numbers
from studies.design.narrative.plan import (
    REFILL_SENTENCE,
    metric_label,
    perceived_labels,
    planned_sentences,
    primary_test_sentence,
)
from studies.design.selectors.available_models import available_models
from studies.design.selectors.launch_overview import launch_overview
from studies.design.selectors.markdown import rendered
from studies.design.selectors.reportability import known_users_note
from studies.design.selectors.texts import texts_of
from studies.design.services import launch
from studies.design.services.conditions import choose_conditions
from studies.design.services.design import age_limits, change_design, create_study
from studies.enums import Mode, StudyStatus
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.models import Study, StudyMembership
from studies.monitoring.charts import WIDTH, consort_diagram, progress_bars
from studies.monitoring.selectors import live, monitor
from studies.monitoring.selectors.consort import consort_of
from studies.monitoring.selectors.estimate import NAMES as STEP_TITLES
from studies.monitoring.selectors.outcomes import are_outcomes_open, are_outcomes_shut
from studies.monitoring.selectors.page_times import are_peoples, step_times_lately
from studies.plans import REFILL, contrast_from, plan_from
from studies.recruitment.selectors.recruitment import is_nested
from studies.recruitment.services.entry_links import entry_link
from studies.simulation.planted_effects import planted_sentence
from studies.team.permissions import ANY_ROLE, NO_ROLE, OWNERS, READERS, Seat, ownerless_study_for, seated
from studies.team.selectors import studies
from studies.team.services import members
from studies.usage_data import is_choice, is_usage, taken_from


@require_safe
def study_list(request: HttpRequest) -> HttpResponse:
    """The researcher's own studies."""
    rows = list(studies.studies_of(request.user))
    context = {
        "studies": [study for study in rows if study.archived_at is None],
        "archived": [study for study in rows if study.archived_at is not None],
        "ownerless": studies.ownerless_studies() if request.user.is_superuser else (),
    }
    return render(request, "console/studies/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def study_new(request: HttpRequest) -> HttpResponse:
    """Create a study from a template."""
    form = NewStudyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        with refusals_in(form, "slug", of="slug"):
            study = create_study(**cleaned, version=cleaned["run"].version, owner=request.user)
            messages.success(request, "The study is created. Review its design, preview it, then launch it.")
            for failed in failed_algorithms(study.run):
                messages.warning(
                    request,
                    f"{failed.label} is not a condition, because it failed in run {study.run_id}: {failed.error}",
                )
            return redirect("studies:detail", slug=study.slug)
    has_runs = form.fields["run"].queryset.exists()  # type: ignore[attr-defined]
    return render(request, "console/studies/new.html", {"form": form, "has_runs": has_runs})


def _monitored(study: Study) -> list[dict[str, Any]]:
    """The live part by mode: participants first, then simulated participants and previews."""
    shown = []
    conditions = list(study.conditions.order_by("position"))
    for mode in monitor.modes_of(study):
        counts = monitor.counts_by_condition(study, mode)
        times = step_times_lately(study, mode)
        analysable = live.analysable_counts(study, mode) if mode != Mode.PREVIEW else {}
        bars = progress_bars([(c.label, c.target, c.completed - c.reopened, c.active, c.abandoned) for c in counts])
        shown.append(
            {
                "mode": mode,
                "refills": mode == Mode.LIVE and bool(study.settings.get(REFILL)),
                "counts": counts,
                "lines": [(line, bar, analysable.get(line.label)) for line, bar in zip(counts, bars, strict=True)],
                "quotas": allocations.quota_counts(study) if mode == Mode.LIVE else (),
                "strata": live.stratum_lines(study, mode, conditions),
                "flags": live.cached_flag_counts(study, mode) if mode != Mode.PREVIEW else (),
                "answers": live.newest_answers(study, mode),
                "is_blinded": live.is_blinded(study, mode),
                "statuses": monitor.counts_by_status(study, mode),
                "funnel": monitor.funnel(study, mode),
                "events": monitor.newest_happenings(study, mode),
                "times": [(STEP_TITLES[step_time.step], step_time) for step_time in times],
                "has_times": any(step_time.n for step_time in times),
                "are_times_of_people": are_peoples(mode),
                "planted": planted_sentence(study.settings.get("planted_effects", {}))
                if mode == Mode.SIMULATED
                else "",
            }
        )
    return shown


@require_safe
@seated(ANY_ROLE)
def study_detail(request: HttpRequest, seat: Seat) -> HttpResponse:
    """A study from design to exports; an interviewer sees only the start link."""
    study = seat.study
    link = request.build_absolute_uri(entry_link(study=study, mode=Mode.LIVE))
    context: dict[str, Any] = {"study": study, "seat": seat, "link": link, "is_open": study.status == StudyStatus.LIVE}
    if seat.may_read:
        language = study.settings["languages"][0]
        flow = consort_of(study, Mode.LIVE)
        labels = perceived_labels(questionnaire_from(study.questionnaire))
        context |= {
            "conditions": study.conditions.select_related("model").order_by("position"),
            "ages": age_limits(study),
            "known_users_note": known_users_note(study.run),
            "method_label": METHOD_LABELS[method_from(study.settings).name],
            "is_nested": is_nested(study),
            "chooses": is_choice(study.settings),
            "taken_from": taken_from(study.settings) if is_usage(study.dataset_version) else None,
            "seed_state": seed_state(study),
            "seed_sentence": seed_sentence(study),
            "n_quotas": len(study.settings.get("quotas") or ()),
            "primary": (
                labels[study.settings["primary"]["perceived"]],
                metric_label(study.settings["primary"]["objective"], study.run.n),
            ),
            "plan_sentences": [
                primary_test_sentence(
                    contrast_from(study.settings["primary"]), study.conditions.count(), plan_from(study.settings).alpha
                ),
                *planned_sentences(plan_from(study.settings), labels),
                *([REFILL_SENTENCE] if study.settings.get(REFILL) else []),
            ],
            "consent": rendered(texts_of(study, language).get("consent", "")),
            "monitored": _monitored(study),
            "bar_width": WIDTH,
            "members": studies.members_of(study),
            "log": studies.log_of(study),
            "export_form": ExportForm(is_owner=seat.is_owner),
            "flow": flow,
            "flow_chart": both_modes(consort_diagram(flow)),
            "are_outcomes_open": are_outcomes_open(study),
            "is_shut": are_outcomes_shut(study),
            "is_draft": study.status == StudyStatus.DRAFT,
            "base_url": request.build_absolute_uri("/"),
            # In pieces, so that the page can break the line between them on a phone.
            "hash_parts": [study.design_hash[start : start + 16] for start in range(0, 64, 16)],
        }
    return render(request, "console/studies/detail.html", context)


@require_safe
@seated(READERS)
def study_live(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The live part alone, for the page to refresh itself; opened directly, it redirects to the whole page."""
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{reverse('studies:detail', args=[seat.study.slug])}#live")
    context = {
        "study": seat.study,
        "monitored": _monitored(seat.study),
        "bar_width": WIDTH,
        "is_open": seat.study.status == StudyStatus.LIVE,
    }
    return render(request, "console/studies/_live.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@seated(OWNERS)
def study_design(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Change a draft's design."""
    study = seat.study
    if study.status != StudyStatus.DRAFT:
        messages.error(request, "The design was frozen at the launch and cannot be changed any more.")
        return redirect("studies:detail", slug=study.slug)
    form = DesignForm(study, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            change_design(study=study, actor=request.user, **form.changes())
            messages.success(request, "The design is saved.")
            warn_of_numbers(request, study)
            return redirect("studies:detail", slug=study.slug)
    return render(request, "console/studies/design.html", {"study": study, "form": form})


@require_http_methods(["GET", "HEAD", "POST"])
@seated(OWNERS)
def study_conditions(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Choose a draft's conditions among the models of all runs on its dataset version."""
    study = seat.study
    if study.status != StudyStatus.DRAFT:
        messages.error(request, "The design was frozen at the launch and cannot be changed any more.")
        return redirect("studies:detail", slug=study.slug)
    chosen = list(study.conditions.order_by("position").values_list("model_digest", flat=True))
    form = ConditionsForm(available_models(study), request.POST or None, initial={"models": chosen})
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "models", of="bad_conditions"):
            choose_conditions(study=study, digests=form.cleaned_data["models"], actor=request.user)
            messages.success(request, "The conditions are saved.")
            return redirect("studies:detail", slug=study.slug)
    return render(request, "console/studies/conditions.html", {"study": study, "form": form})


GAP_PAGES = {
    "preview": ("studies:preview", "Try it as a participant"),
    "power": ("studies:power", "Power"),
    "design": ("studies:design", "Change the design"),
    "questionnaire": ("studies:questionnaire", "Questionnaire"),
}


def _gap_link(study: Study, page: str) -> tuple[str, str]:
    """The address and the name of the page that closes a gap; both empty if there is none."""
    name, label = GAP_PAGES.get(page, ("", ""))
    return (reverse(name, args=[study.slug]), label) if name else ("", "")


@require_http_methods(["GET", "HEAD", "POST"])
@seated(OWNERS)
def study_launch(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Show what the launch freezes and what is missing; confirmed, freeze the design and open the study."""
    study = seat.study
    is_draft = study.status == StudyStatus.DRAFT
    digest = launch.design_digest(study) if is_draft else ""
    if request.method == "POST":
        if not is_draft or request.POST.get("design") == digest:
            perform(request, launch.launch_study, "The study is live, and its design is frozen.", study=study)
            return redirect("studies:detail", slug=study.slug)
        messages.error(request, "The design has changed since this page was opened. Check it again, then confirm.")
        return redirect("studies:launch", slug=study.slug)
    if not is_draft or study.archived_at is not None:
        messages.error(request, "Only a draft that is not archived can be launched.")
        return redirect("studies:detail", slug=study.slug)
    overview = launch_overview(study)
    problems = launch.launch_problems(study)
    pages = {gap.text: gap.page for gap in overview.gaps}
    context = {
        "study": study,
        "digest": digest,
        "overview": overview,
        "problems": [(problem, *_gap_link(study, pages.get(problem, ""))) for problem in problems],
        "gaps": [(gap, *_gap_link(study, gap.page)) for gap in overview.gaps if gap.text not in problems],
    }
    return render(request, "console/studies/launch.html", context)


study_pause = button(launch.pause_study, "The study is paused.")
study_resume = button(launch.resume_study, "The study is live again.")
study_close = button(launch.close_study, "The study is closed.")


@require_POST
@seated(OWNERS)
def member_add(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Add a researcher, or change their role."""
    form = MemberForm(seat.study, request.POST)
    if form.is_valid():
        perform(request, members.add_member, "The member is added.", study=seat.study, **form.cleaned_data)
    else:
        messages.error(request, "Enter the address of an account and a role.")
    return redirect("studies:members", slug=seat.study.slug)


@require_http_methods(["GET", "HEAD", "POST"])
def study_take_over(request: HttpRequest, slug: str) -> HttpResponse:
    """Make the administrator the owner of a study that has none, once they confirm it."""
    study = ownerless_study_for(request.user, slug)
    if request.method == "POST":
        try:
            members.take_over(study=study, actor=request.user)
        except ParallaxError as refusal:
            messages.error(request, str(refusal))
            return redirect("studies:list")
        messages.success(request, "You are the owner of this study now.")
        return redirect("studies:detail", slug=study.slug)
    return render(request, "console/studies/take_over.html", {"study": study, "members": studies.members_of(study)})


study_take_over.roles = NO_ROLE  # type: ignore[attr-defined]


@require_safe
@seated(OWNERS)
def member_list(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The study's members and their roles."""
    context = {
        "study": seat.study,
        "is_nested": is_nested(seat.study),
        "members": studies.members_of(seat.study),
        "form": MemberForm(seat.study),
    }
    return render(request, "console/studies/members.html", context)


@require_POST
@seated(OWNERS)
def member_remove(request: HttpRequest, seat: Seat, pk: int) -> HttpResponse:
    """Remove a researcher from the study."""
    membership = get_object_or_404(StudyMembership, study=seat.study, pk=pk)
    is_self = membership.researcher_id == request.user.pk
    perform(request, members.remove_member, "The member is removed.", study=seat.study, membership=membership)
    if is_self and not StudyMembership.objects.filter(study=seat.study, researcher_id=request.user.pk).exists():
        return redirect("studies:list")
    return redirect("studies:members", slug=seat.study.slug)


@require_safe
@seated(READERS)
def study_design_file(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The frozen design, or a draft's current one."""
    version = seat.study.versions.order_by("-number").first()
    snapshot = version.snapshot if version else launch.design_snapshot(seat.study)
    body = {"design_hash": seat.study.design_hash, "design": snapshot}
    response = JsonResponse(body, json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="study-{seat.study.slug}_design.json"'
    return response
