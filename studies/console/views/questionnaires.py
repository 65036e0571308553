"""The questionnaire's editor: the list of its questions, what is done with them, and the library of scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.errors import ParallaxError
from studies.console.forms.questionnaire_parts import (
    BLOCK_LABELS,
    AttentionForm,
    BlockForm,
    NewQuestionForm,
    ScaleForm,
)
from studies.console.views.outcomes import warn_of_numbers
from studies.console.views.workspace import study_page
from studies.design.presets.loader import block_keys, load_block
from studies.design.selectors.launch_overview import QUESTIONS
from studies.design.selectors.texts import language_name
from studies.design.services import questionnaires as service
from studies.enums import StudyStatus
from studies.instrument.questionnaires.core import is_measured
from studies.instrument.questionnaires.schema import AFTER, BLOCKS, Questionnaire, questionnaire_from
from studies.instrument.questionnaires.wording import n_missing
from studies.instrument.scales import scales_of
from studies.models import Study
from studies.team.permissions import OWNERS, POST, READERS, Membership, for_members

MOST_UNFOLDED = 16  # questions; of more, only the block in the preview is unfolded
TALLEST = 20  # questions; a longer block scrolls
ACTS: dict[str, tuple[Callable[..., Any], dict[str, str], str]] = {
    "up": (service.move_question, {"direction": service.UP}, "The question is moved up."),
    "down": (service.move_question, {"direction": service.DOWN}, "The question is moved down."),
    "duplicate": (service.duplicate_question, {}, "The question is copied."),
    "delete": (service.delete_question, {}, ""),
}


def languages_of(study: Study) -> list[str]:
    """Codes of the languages that the study is offered in; the first is the source of translations."""
    return list(study.design.languages)


def may_edit(membership: Membership) -> bool:
    """Whether this researcher can change the questionnaire now."""
    return membership.is_owner and membership.study.status == StudyStatus.DRAFT


@for_members(READERS)
def questionnaire(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Every block with its questions, its scales, and a preview of the pages; read-only after the launch."""
    study = membership.study
    parsed = questionnaire_from(study.questionnaire)
    languages = languages_of(study)
    shown = request.GET.get("block", "")
    language = request.GET.get("lang", "")
    block = shown if shown in BLOCKS else next((name for name in (AFTER, *BLOCKS) if parsed.block(name)), AFTER)
    context = {
        "may_edit": may_edit(membership),
        "blocks": _lines_of(parsed, block),
        "undo": service.undoable(study) if may_edit(membership) else None,
        "n_missing": sum(n_missing(study.questionnaire, languages[0], code) for code in languages[1:]),
        "is_translated": len(languages) > 1,
        "scales": scales_of(parsed),
        "declared": study.questionnaire.get("scales", ()),
        "preview": {
            "block": block,
            "language": language if language in languages else languages[0],
            "languages": languages,
            "blocks": [(name, BLOCK_LABELS[name]) for name in BLOCKS if parsed.block(name)],
        },
        "new_form": NewQuestionForm(),
        "scale_form": ScaleForm(languages, auto_id="scale_%s"),
        "attention_form": AttentionForm(initial={"ends_after": parsed.attention_ends_after}),
        "ends_after": parsed.attention_ends_after,
    }
    return study_page(request, membership, "console/studies/questionnaire.html", context, tab=QUESTIONS)


def _lines_of(parsed: Questionnaire, shown: str) -> list[dict[str, Any]]:
    return [
        {
            "key": block,
            "name": BLOCK_LABELS[block],
            "is_open": len(parsed.questions) <= MOST_UNFOLDED or block == shown,
            "is_tall": len(parsed.block(block)) > TALLEST,
            "questions": [
                {
                    "question": question,
                    "text": next(iter(question.text.values())),
                    "kind": question.label,
                    "condition": question.shown_if.in_words() if question.shown_if else "",
                    "is_measured": is_measured(block, question.key),
                    "is_first": number == 0,
                    "is_last": number == len(parsed.block(block)) - 1,
                }
                for number, question in enumerate(parsed.block(block))
            ],
        }
        for block in BLOCKS
    ]


def back_to_list(membership: Membership, block: str = "") -> HttpResponse:
    """Redirect to the questionnaire, at one of its blocks if one is named."""
    url = reverse("studies:questionnaire", args=[membership.study.slug])
    return redirect(f"{url}?block={block}#block-{block}" if block in BLOCKS else url)


def perform_on(
    request: HttpRequest, membership: Membership, act: Callable[..., Any], success: str, **facts: Any
) -> HttpResponse:
    """Perform a change of the questionnaire, tell the researcher of its success or problems, and return to the list."""
    block = str(facts.get("block") or block_of(membership.study, facts.get("key", "")))
    try:
        act(study=membership.study, actor=request.user, **facts)
    except ParallaxError as refusal:
        for line in refusal.problems:
            messages.error(request, line)
    else:
        if success:
            messages.success(request, success)
        warn_of_numbers(request, membership.study)
    return back_to_list(membership, block)


def block_of(study: Study, key: str) -> str:
    """The block of a question; empty if there is no such question."""
    blocks = study.questionnaire
    return next((name for name in BLOCKS if any(q["key"] == key for q in blocks.get(name, ()))), "")


@for_members(OWNERS, POST)
def question_act(request: HttpRequest, membership: Membership, key: str) -> HttpResponse:
    """Move, copy or delete a question."""
    chosen = ACTS.get(request.POST.get("act", ""))
    if chosen is None:
        messages.error(request, "Unknown action. Reload the page.")
        return back_to_list(membership)
    act, facts, success = chosen
    return perform_on(request, membership, act, success, key=key, **facts)


@for_members(OWNERS, POST)
def questions_order(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Save the order of a block's questions; the page's script gets the problems as JSON."""
    block, keys = request.POST.get("block", ""), request.POST.getlist("key")
    if block not in BLOCKS:
        return JsonResponse({"problems": ["Unknown block. Reload the page."]})
    try:
        service.order_questions(study=membership.study, block=block, keys=keys, actor=request.user)
    except ParallaxError as refusal:
        return JsonResponse({"problems": refusal.problems})
    return JsonResponse({"problems": []})


@for_members(OWNERS, POST)
def questionnaire_undo(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Undo the last deletion or import."""
    return perform_on(request, membership, service.undo_deletion, "The questionnaire is as it was before.")


@for_members(OWNERS, POST)
def scale_act(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Save or delete a scale."""
    if "delete" in request.POST:
        return perform_on(request, membership, service.delete_scale, "", key=request.POST["delete"])
    form = ScaleForm(languages_of(membership.study), request.POST)
    if not form.is_valid():
        messages.error(
            request,
            "Enter a key, a name in each language, a share from 1 to 100 percent, and numbers or nothing as the ends "
            "of the score.",
        )
        return back_to_list(membership)
    return perform_on(request, membership, service.save_scale, "The scale is saved.", scale=form.scale())


@for_members(OWNERS, POST)
def attention_set(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Set the number of failed checks that ends participation."""
    form = AttentionForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Give a whole number from 0 to 100.")
        return back_to_list(membership)
    return perform_on(request, membership, service.set_attention, "Attention checks are set.", **form.cleaned_data)


@for_members(READERS)
def library(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The library of scales: source, licence, scoring and languages of each."""
    study = membership.study
    parsed = questionnaire_from(study.questionnaire)
    used = {question.key for question in parsed.questions} | {scale.key for scale in parsed.scales}
    entries = []
    for block in map(load_block, block_keys()):
        own = questionnaire_from(block.questionnaire)
        lacking = [language_name(code) for code in languages_of(study) if code not in block.languages]
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
    form = BlockForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the blocks offered.")
        return back_to_list(membership)
    return perform_on(request, membership, service.add_block, "The block is added.", **form.cleaned_data)
