"""The stages of a study from its data to its plan, and the design as a file."""

from __future__ import annotations

from functools import partial
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.clickjacking import xframe_options_sameorigin

from studies.allocation.selectors.allocations import n_occasions, n_slots
from studies.allocation.selectors.assignment_seed import seed_sentence, seed_state
from studies.console.forms.assignment import ParticipantsForm
from studies.console.forms.conditions import TitleForm
from studies.console.forms.flow import FlowForm
from studies.console.forms.plan import PlanForm
from studies.console.forms.stage_form import StageForm
from studies.console.forms.texts import DraftTextsForm
from studies.console.views.autosave import stage_page
from studies.design.narrative.plan import REFILL_SENTENCE, perceived_labels, planned_sentences, primary_test_sentence
from studies.design.selectors.launch_overview import (
    DATA,
    FLOW,
    PARTICIPANTS,
    PLAN,
    TEXTS,
)
from studies.design.selectors.planning import lists_in_words
from studies.design.selectors.texts import contact_of, language_name, languages_of, rendered, texts_of
from studies.design.selectors.versions import frozen_tests
from studies.design.services import launch
from studies.enums import READERS
from studies.instrument.flow import flow_of, questionnaire_of
from studies.models import Study
from studies.monitoring.selectors.estimate import estimate_of
from studies.recruitment.selectors.recruitment import is_nested
from studies.simulation.services.condition_lists import are_named
from studies.team.permissions import FORM, Membership, for_members, may_see_run


def _consent_preview(study: Study, _form: StageForm) -> dict[str, Any]:
    languages = languages_of(study)
    return {
        "preview_url": reverse("studies:texts-preview", args=[study.slug]),
        "preview_languages": [(code, language_name(code)) for code in languages] if len(languages) > 1 else (),
    }


def size(study: Study, _form: StageForm) -> dict[str, Any]:
    counts = {"n_conditions": study.conditions.count(), "n_sequences": study.sequences.count()}
    return {**counts, "planned": n_slots(study), "is_several": study.design.flow.lists.is_several}


@for_members(READERS, FORM)
def study_dataset(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The data that the study is about, its run, and what researchers call it."""

    def context(study: Study, _form: StageForm) -> dict[str, Any]:
        return {
            "version": study.dataset_version,
            "run": study.run,
            "sees_run": may_see_run(request.user, study),
            "n_algorithms": study.run.algorithms.count(),
        }

    return stage_page(request, membership, DATA, TitleForm, "console/studies/dataset.html", context)


@for_members(READERS, FORM)
def study_flow(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The pages of a participant with their minutes, and how many items and lists there are."""

    def context(study: Study, form: StageForm) -> dict[str, Any]:
        estimate, n_lists, flow = estimate_of(study), n_occasions(study), flow_of(study)
        repeated = flow.listed if flow.lists.is_several else ()
        labels = study.sequences.order_by("position").values_list("label", flat=True)
        return {
            "estimate": estimate,
            "cards": [  # name, whether each list has it, and minutes of one list
                (step.name, step.step in repeated, step.minutes / (n_lists if step.step in repeated else 1))
                for step in estimate.steps
            ],
            "n_lists": n_lists,
            "repeated_minutes": sum(step.minutes for step in estimate.steps if step.step in repeated),
            "lists_in_words": lists_in_words(study),
            # Tickets of sequences come after those of conditions.
            "walks": [*enumerate(labels, study.conditions.count())] if are_named(study) else (),
            **_consent_preview(study, form),
        }

    return stage_page(request, membership, FLOW, FlowForm, "console/studies/flow.html", context)


@for_members(READERS, FORM)
def study_texts(request: HttpRequest, membership: Membership) -> HttpResponse:
    """What participants read besides the questions, in each language."""
    return stage_page(request, membership, TEXTS, DraftTextsForm, "console/studies/texts.html", _consent_preview)


@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})
@for_members(READERS)
def texts_preview(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The consent page as participants read it; nothing can be posted from it."""
    study, languages = membership.study, languages_of(membership.study)
    language = request.GET.get("lang", "")
    language = language if language in languages else languages[0]
    texts = texts_of(study, language)
    with translation.override(language):
        context = {
            "study": {"public_title": texts.get("title", "")},
            "consent_html": rendered(texts.get("consent", "")),
            "boxes": [
                {"key": str(number), "text": box} for number, box in enumerate(texts.get("consent_boxes", ()), 1)
            ],
            "contact": contact_of(study, language),
            "is_looking": False,
            "step": "preview",
        }
        return render(request, "participant/consent.html", context)


@for_members(READERS, FORM)
def study_sample(request: HttpRequest, membership: Membership) -> HttpResponse:
    """How many take part, who may, and how they are assigned and recruited."""

    def context(study: Study, form: StageForm) -> dict[str, Any]:
        return {
            **size(study, form),
            "is_nested": is_nested(study),
            "seed_state": seed_state(study),
            "seed_sentence": seed_sentence(study),
            "preview_url": reverse("studies:questionnaire-preview", args=[study.slug, "about"]),
        }

    form_of = partial(ParticipantsForm, researcher=request.user)
    return stage_page(request, membership, PARTICIPANTS, form_of, "console/studies/sample.html", context)


@for_members(READERS, FORM)
def study_plan(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The plan of the analysis: primary test, hypothesis, exclusions."""

    def context(study: Study, _form: StageForm) -> dict[str, Any]:
        current = Study.objects.get(pk=study.pk)
        design, labels = current.design, perceived_labels(questionnaire_of(current), current.design)
        return {
            "plan_sentences": [
                primary_test_sentence(design.primary, frozen_tests(study)),
                *planned_sentences(design.plan, labels),
                *([REFILL_SENTENCE] if design.refill_excluded else []),
            ],
        }

    return stage_page(request, membership, PLAN, PlanForm, "console/studies/plan.html", context)


@for_members(READERS)
def study_design_file(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The frozen design, or a draft's current one."""
    version = membership.study.versions.order_by("-number").first()
    snapshot = version.snapshot if version else launch.design_snapshot(membership.study)
    body = {"design_hash": membership.study.design_hash, "design": snapshot}
    response = JsonResponse(body, json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="study-{membership.study.slug}_design.json"'
    return response
