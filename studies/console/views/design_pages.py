"""The design of a study: the tab, the form of a draft, its conditions, the design as a file."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect

from core.outcomes import refusals_in
from studies.allocation.assignment.methods import method_from
from studies.allocation.selectors.assignment_seed import seed_sentence, seed_state
from studies.console.forms.assignment import METHOD_LABELS
from studies.console.forms.conditions import ConditionsForm
from studies.console.forms.console import DesignForm
from studies.console.views.outcomes import warn_of_numbers
from studies.console.views.workspace import DESIGN, study_page
from studies.design.narrative.plan import (
    REFILL_SENTENCE,
    metric_label,
    perceived_labels,
    planned_sentences,
    primary_test_sentence,
)
from studies.design.selectors.available_models import available_models, known_users_note
from studies.design.selectors.texts import rendered, texts_of
from studies.design.selectors.versions import frozen_tests
from studies.design.services import launch
from studies.design.services.conditions import choose_conditions
from studies.design.services.design import age_limits, change_design
from studies.enums import StudyStatus
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.recruitment.selectors.recruitment import is_nested
from studies.team.permissions import FORM, OWNERS, READERS, Membership, for_members, may_see_run
from studies.usage_data import is_usage

FROZEN = "The design was frozen at the launch and cannot be changed any more."


@for_members(READERS)
def study_design_summary(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The design: conditions, elicitation, assignment, plan, and the pages that plan and document it."""
    study = membership.study
    primary, labels = study.design.primary, perceived_labels(questionnaire_from(study.questionnaire))
    context = {
        "conditions": study.conditions.select_related("model").order_by("position"),
        "ages": age_limits(study),
        "known_users_note": known_users_note(study.run),
        "sees_run": may_see_run(request.user, study),
        "method_label": METHOD_LABELS[method_from(study.design).name],
        "is_nested": is_nested(study),
        "chooses": study.design.is_choice,
        "taken_from": study.design.lowest_taken if is_usage(study.dataset_version) else None,
        "elicitation": study.design.scale,
        "asked": study.design.items_asked,
        "seed_state": seed_state(study),
        "seed_sentence": seed_sentence(study),
        "n_quotas": len(study.design.quotas),
        "consent": rendered(texts_of(study, study.design.languages[0]).get("consent", "")),
        "is_draft": study.status == StudyStatus.DRAFT,
        # In pieces, so that the page can break the line between them on a phone.
        "hash_parts": [study.design_hash[start : start + 16] for start in range(0, 64, 16)],
        "primary": (labels[primary.perceived], metric_label(primary.objective, study.run.n)),
        "plan_sentences": [
            primary_test_sentence(primary.contrast, frozen_tests(study)),
            *planned_sentences(study.design.plan, labels),
            *([REFILL_SENTENCE] if study.design.refill_excluded else []),
        ],
    }
    return study_page(request, membership, "console/studies/design_summary.html", context, tab=DESIGN)


@for_members(OWNERS, FORM)
def study_design(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Change a draft's design."""
    study = membership.study
    if study.status != StudyStatus.DRAFT:
        messages.error(request, FROZEN)
        return redirect("studies:design-summary", slug=study.slug)
    form = DesignForm(study, request.POST or None)  # bound, unless a button only added or removed a row
    if form.is_bound and form.is_valid():
        with refusals_in(form):
            change_design(study=study, actor=request.user, **form.changes())
            messages.success(request, "The design is saved.")
            warn_of_numbers(request, study)
            return redirect("studies:design-summary", slug=study.slug)
    return study_page(request, membership, "console/studies/design.html", {"form": form}, tab=DESIGN)


@for_members(OWNERS, FORM)
def study_conditions(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Choose a draft's conditions among the models of all runs on its dataset version."""
    study = membership.study
    if study.status != StudyStatus.DRAFT:
        messages.error(request, FROZEN)
        return redirect("studies:design-summary", slug=study.slug)
    chosen = list(study.conditions.order_by("position").values_list("model_digest", flat=True))
    form = ConditionsForm(available_models(study, request.user), request.POST or None, initial={"models": chosen})
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "models", of="bad_conditions"):
            choose_conditions(study=study, digests=form.cleaned_data["models"], actor=request.user)
            messages.success(request, "The conditions are saved.")
            return redirect("studies:design-summary", slug=study.slug)
    return study_page(request, membership, "console/studies/conditions.html", {"form": form}, tab=DESIGN)


@for_members(READERS)
def study_design_file(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The frozen design, or a draft's current one."""
    version = membership.study.versions.order_by("-number").first()
    snapshot = version.snapshot if version else launch.design_snapshot(membership.study)
    body = {"design_hash": membership.study.design_hash, "design": snapshot}
    response = JsonResponse(body, json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="study-{membership.study.slug}_design.json"'
    return response
