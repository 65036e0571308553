"""The stage of the questions: their list with one of them open, what is done with them, and the library of scales."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.outcomes import perform
from studies.console.forms.questionnaire_parts import (
    BLOCK_LABELS,
    AttentionForm,
    NewQuestionForm,
    ScaleForm,
)
from studies.console.forms.questions import QuestionForm, question_of
from studies.console.forms.stage_form import StageForm
from studies.console.views.autosave import HEADER, REFUSED, stage_page
from studies.console.views.workspace import study_page
from studies.design.narrative.plan import PERCEIVED_LABELS
from studies.design.presets.loader import attention_check, block_keys, load_block
from studies.design.selectors.launch_overview import QUESTIONS
from studies.design.selectors.texts import language_name
from studies.design.services import questionnaires as service
from studies.enums import READERS, StudyStatus
from studies.instrument.flow import blocks_of, questionnaire_of
from studies.instrument.questionnaires.core import is_measured
from studies.instrument.questionnaires.kinds import KINDS, Attention
from studies.instrument.questionnaires.schema import AFTER, Questionnaire, questionnaire_from
from studies.instrument.questionnaires.wording import wordings_of
from studies.instrument.scales import scales_of
from studies.models import Study
from studies.team.permissions import FORM, OWNERS, POST, Membership, for_members

GONE = "The question was deleted or renamed."
VARIABLES = {"rating": PERCEIVED_LABELS["accuracy"], "satisfaction": PERCEIVED_LABELS["satisfaction"]}
# Each returns the key of the question that is open afterwards, or None.
ACTS: dict[str, tuple[Callable[..., str | None], dict[str, str], str]] = {
    "up": (service.move_question, {"direction": service.UP}, "The question is moved up."),
    "down": (service.move_question, {"direction": service.DOWN}, "The question is moved down."),
    "duplicate": (service.duplicate_question, {}, "The question is copied."),
    "delete": (service.delete_question, {}, ""),
}


def may_edit(membership: Membership) -> bool:
    """Whether this researcher can change the questionnaire now."""
    return membership.is_owner and membership.study.status == StudyStatus.DRAFT


@for_members(READERS, FORM)
def questionnaire(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Every block with its questions, and a preview; the question that the address names is open.

    One that is not stored yet has its block and its kind in the address.
    """
    study = membership.study
    key, block, kind = (request.GET.get(name, "") for name in ("question", "block", "kind"))
    block_of_key, _stored = question_of(study, key)
    is_new = not block_of_key and block in blocks_of(study.design) and kind in KINDS and may_edit(membership)
    if key and not (block_of_key or is_new):
        if HEADER in request.headers:
            return JsonResponse({"status": REFUSED, "reason": f"Not saved: {GONE.lower()}"})
        messages.error(request, GONE)
        return back_to_list(membership)
    parsed = questionnaire_of(study)
    scored = {scale.key: scale for scale in scales_of(parsed)}
    languages = study.design.languages
    missing = [
        (wording.block, wording.key)
        for code in languages[1:]
        for wording in wordings_of(study.questionnaire)
        if wording.is_missing(languages[0], code)
    ]
    shown = block_of_key or (
        block if block in parsed.blocks else next(name for name in (AFTER, *parsed.blocks) if parsed.block(name))
    )
    preview = reverse("studies:questionnaire-preview", args=[study.slug, shown])

    def context(study: Study, form: StageForm) -> dict[str, Any]:
        opened = {}
        if isinstance(form, QuestionForm):
            draft = reverse("studies:question-draft", args=[study.slug, form.block, form.kind.kind])
            opened = {"kind": form.kind.label, "draft_url": f"{draft}?{urlencode({'key': key})}"}
        return {
            **opened,
            "blocks": _lines_of(parsed, missing, study.design.plan.tested),
            "open": key,
            "source": languages[0],
            "is_new": is_new,
            "new_block": shown if is_new else "",
            "undo": service.undoable(study) if may_edit(membership) else None,
            "n_missing": len(missing),
            "scales": [(scale, scored.get(scale["key"])) for scale in study.questionnaire.get("scales", ())],
            "shown": shown,
            "preview_url": f"{preview}?{urlencode({'only': key})}" if key else preview,
            "preview_languages": [(code, language_name(code)) for code in languages] if len(languages) > 1 else (),
            "new_form": NewQuestionForm(study),
            "scale_form": ScaleForm(languages, auto_id="scale_%s"),
        }

    form_of = partial(QuestionForm, key=key, block=block, kind=kind) if key else AttentionForm
    return stage_page(request, membership, QUESTIONS, form_of, "console/studies/questionnaire.html", context)


def _lines_of(parsed: Questionnaire, missing: list[tuple[str, str]], tested: Sequence[str]) -> list[dict[str, Any]]:
    n_before, blocks = 0, []
    for block, questions in parsed.blocks.items():
        lines = [
            {
                "number": number,
                "question": question,
                "text": next(iter(question.text.values())),
                "is_missing": (block, question.key) in missing,
                "variable": VARIABLES.get(question.key, "Novelty") if is_measured(block, question.key, tested) else "",
            }
            for number, question in enumerate(questions, n_before + 1)
        ]
        blocks.append({"key": block, "name": BLOCK_LABELS.get(block, block), "lines": lines})
        n_before += len(questions)
    return blocks


def address_of(study: Study, key: str = "", field: str = "", **facts: str) -> str:
    """The address of the stage with a question open, at one of its fields."""
    query = urlencode({"question": key, **facts}) if key else ""
    url = reverse("studies:questionnaire", args=[study.slug])
    return f"{url}{'?' if query else ''}{query}{'#' if field else ''}{field}"


def back_to_list(membership: Membership, key: str = "", field: str = "") -> HttpResponse:
    """Redirect to the stage, where a question is open if one is named."""
    return redirect(address_of(membership.study, key, field))


@for_members(OWNERS, POST)
def question_add(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Open a new question at the end of a block; a ready-made attention check is stored at once."""
    form = NewQuestionForm(membership.study, request.POST)
    if not form.is_valid() or not may_edit(membership):
        return back_to_list(membership)
    study, new = membership.study, form.cleaned_data
    key = service.free_key({question.key for question in questionnaire_of(study).questions})
    if new["kind"] == Attention.kind:
        check = {"key": key, **attention_check(study.design.languages)}
        perform(request, service.save_question, "", study=study, block=new["block"], question=check)
    return redirect(address_of(study, key, f"id_text_{study.design.languages[0]}", **new))


@for_members(OWNERS, POST)
def question_act(request: HttpRequest, membership: Membership, key: str) -> HttpResponse:
    """Move, copy, rename or delete a question."""
    new_key = request.POST.get("new_key", "").strip()
    rename = (service.rename_question, {"new_key": new_key}, "The question is renamed.")
    chosen = {**ACTS, "rename": rename}.get(request.POST.get("act", ""))
    if chosen is None:
        messages.error(request, "Unknown action. Reload the page.")
        return back_to_list(membership, key)
    act, facts, success = chosen
    opened = perform(request, act, success, study=membership.study, key=key, **facts)
    if opened is None:  # deleted, or refused
        opened = key if question_of(membership.study, key)[0] else ""
    return back_to_list(membership, opened, "id_more" if opened else "")


@for_members(OWNERS, POST)
def questionnaire_undo(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Undo the last deletion or import."""
    perform(request, service.undo_deletion, "The questionnaire is as it was before.", study=membership.study)
    return back_to_list(membership)


@for_members(OWNERS, POST)
def scale_act(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Save or delete a scale."""
    form = ScaleForm(membership.study.design.languages, request.POST)
    if "delete" in request.POST:
        perform(request, service.delete_scale, "", study=membership.study, key=request.POST["delete"])
    elif form.is_valid():
        perform(request, service.save_scale, "The scale is saved.", study=membership.study, scale=form.scale())
    else:
        messages.error(
            request,
            "Enter a key, a name in each language, a share from 1 to 100 percent, and numbers or nothing as the ends "
            "of the score.",
        )
    return back_to_list(membership)


@for_members(READERS)
def library(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The library of scales: source, licence, scoring and languages of each."""
    study = membership.study
    parsed = questionnaire_of(study)
    used = {question.key for question in parsed.questions} | {scale.key for scale in parsed.scales}
    entries = []
    for block in map(load_block, block_keys()):
        own = questionnaire_from(block.questionnaire)
        lacking = [language_name(code) for code in study.design.languages if code not in block.languages]
        entries.append(
            {
                "block": block,
                "languages": [language_name(code) for code in block.languages],
                "lacking": lacking,
                "is_used": any(question.key in used for question in own.questions),
                "scales": [
                    (scale.name["en"], *(f"{end}".replace("-", "−") for end in (scale.minimum, scale.maximum)))
                    for scale in scales_of(own)
                ],
            }
        )
    context = {"entries": entries, "may_edit": may_edit(membership)}
    return study_page(request, membership, "console/studies/scale_library.html", context, tab=QUESTIONS)


@for_members(OWNERS, POST)
def block_add(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Add a predefined block of questions."""
    name = request.POST.get("name", "")
    perform(request, service.add_block, "The block is added.", study=membership.study, name=name)
    return back_to_list(membership)
