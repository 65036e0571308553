"""The questionnaire's editor: a list of its questions with a preview, and a form for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.item_types import FALLBACK_LANGUAGE
from core.errors import ParallaxError
from studies.console.forms.questionnaire_parts import (
    BLOCK_LABELS,
    KIND_LABELS,
    AttentionForm,
    BlockForm,
    ImportForm,
    NewQuestionForm,
    ScaleForm,
)
from studies.console.forms.questions import QuestionForm
from studies.console.views.outcomes import problems_of, warn_of_numbers
from studies.design.selectors.placeholders import asked_questions, item_words
from studies.design.services import questionnaires as service
from studies.enums import StudyStatus
from studies.instrument.questionnaires.core import is_measured
from studies.instrument.questionnaires.document import LONGEST_DOCUMENT, write_document
from studies.instrument.questionnaires.schema import AFTER, BLOCKS, Questionnaire, questionnaire_from
from studies.instrument.scales import scales_of
from studies.models import Study
from studies.participation.selectors import question_presenter
from studies.team.permissions import OWNERS, READERS, Seat, seated

ACTS: dict[str, tuple[Callable[..., Any], dict[str, str], str]] = {
    "up": (service.move_question, {"direction": service.UP}, "The question is moved up."),
    "down": (service.move_question, {"direction": service.DOWN}, "The question is moved down."),
    "duplicate": (service.duplicate_question, {}, "The question is copied."),
    "delete": (service.delete_question, {}, "The question is deleted."),
}


def _languages(study: Study) -> list[str]:
    return list(study.settings["languages"])


def _may_edit(seat: Seat) -> bool:
    return seat.is_owner and seat.study.status == StudyStatus.DRAFT


@require_safe
@seated(READERS)
def questionnaire(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Every block with its questions, its scales, and a preview of the pages; read-only after the launch."""
    study = seat.study
    parsed = questionnaire_from(study.questionnaire)
    languages = _languages(study)
    shown = request.GET.get("block", "")
    language = request.GET.get("lang", "")
    block = shown if shown in BLOCKS else next((name for name in (AFTER, *BLOCKS) if parsed.block(name)), AFTER)
    context = {
        "study": study,
        "may_edit": _may_edit(seat),
        "blocks": _lines_of(parsed),
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
        "block_form": BlockForm(auto_id="block_%s"),
        "import_form": ImportForm(),
        "ends_after": parsed.attention_ends_after,
    }
    return render(request, "console/studies/questionnaire.html", context)


def _lines_of(parsed: Questionnaire) -> list[dict[str, Any]]:
    return [
        {
            "key": block,
            "name": BLOCK_LABELS[block],
            "questions": [
                {
                    "question": question,
                    "text": next(iter(question.text.values())),
                    "kind": KIND_LABELS[question.kind],
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


@require_safe
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})
@seated(READERS)
def preview(request: HttpRequest, seat: Seat, block: str) -> HttpResponse:
    """A block rendered with the participants' templates; nothing is stored.

    With `only` in the address, show that question alone, even if it is conditional.
    """
    if block not in BLOCKS:
        raise Http404("There is no such block.")
    study = seat.study
    language = request.GET.get("lang", "")
    language = language if language in _languages(study) else _languages(study)[0]
    with translation.override(language):
        questions = question_presenter.page_of(asked_questions(study), block, {}, language=language)
        if only := request.GET.get("only", ""):
            questions = [
                replace(question, condition="", is_hidden=False) for question in questions if question.key == only
            ]
        context = {
            "questions": questions,
            "step": "preview",
            "block_name": BLOCK_LABELS[block],
            "is_about": block == "about",
        }
        return render(request, "participant/preview.html", context)


@require_safe
@seated(READERS)
def questionnaire_file(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The questionnaire as a YAML document."""
    text = write_document(seat.study.questionnaire)
    response = HttpResponse(text, content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="study-{seat.study.slug}_questionnaire.yaml"'
    return response


def _back(seat: Seat, block: str = "") -> HttpResponse:
    url = reverse("studies:questionnaire", args=[seat.study.slug])
    return redirect(f"{url}?block={block}#block-{block}" if block in BLOCKS else url)


def _done(request: HttpRequest, seat: Seat, act: Callable[..., Any], success: str, **facts: Any) -> HttpResponse:
    block = _block_of(seat.study, facts.get("key", ""))
    try:
        act(study=seat.study, actor=request.user, **facts)
    except ParallaxError as refusal:
        for line in problems_of(refusal):
            messages.error(request, line)
    else:
        messages.success(request, success)
        warn_of_numbers(request, seat.study)
    return _back(seat, block)


def _block_of(study: Study, key: str) -> str:
    blocks = study.questionnaire
    return next((name for name in BLOCKS if any(q["key"] == key for q in blocks.get(name, ()))), "")


@require_http_methods(["GET", "HEAD", "POST"])
@seated(OWNERS)
def question_add(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Add a question at the end of a block."""
    form = NewQuestionForm(request.GET)
    if not form.is_valid():
        return _back(seat)
    block, kind = form.cleaned_data["block"], form.cleaned_data["kind"]
    used_keys = {q["key"] for name in BLOCKS for q in seat.study.questionnaire.get(name, ())}
    stored: dict[str, Any] = {"key": service.free_key(used_keys)} if request.method != "POST" else {}
    if kind in ("likert", "matrix", "attention"):
        stored |= {"minimum": 1, "maximum": 5}
    if kind == "slider":
        stored |= {"minimum": 0, "maximum": 100}
    return _question_page(request, seat, block, kind, stored, key="")


@require_http_methods(["GET", "HEAD", "POST"])
@seated(OWNERS)
def question_edit(request: HttpRequest, seat: Seat, key: str) -> HttpResponse:
    """Edit one question."""
    block = _block_of(seat.study, key)
    if not block:
        raise Http404("There is no such question.")
    stored = next(q for q in seat.study.questionnaire[block] if q["key"] == key)
    return _question_page(request, seat, block, stored["kind"], stored, key=key)


def _question_page(
    request: HttpRequest, seat: Seat, block: str, kind: str, stored: dict[str, Any], *, key: str
) -> HttpResponse:
    study = seat.study
    if not _may_edit(seat):
        messages.error(request, "The design was frozen at the launch and cannot be changed any more.")
        return _back(seat, block)
    parsed = questionnaire_from(study.questionnaire)
    consumed = item_words(study.settings, FALLBACK_LANGUAGE).consumed
    form = QuestionForm(
        kind, parsed, block, _languages(study), request.POST or None, consumed=consumed, stored=stored
    )  # fmt: skip
    if request.method == "POST" and form.is_valid():
        try:
            service.save_question(study=study, block=block, question=form.question(), key=key, actor=request.user)
        except ParallaxError as refusal:
            for line in problems_of(refusal):
                form.add_error(None, line)
        else:
            messages.success(request, "The question is saved.")
            warn_of_numbers(request, study)
            if "again" in request.POST:
                return redirect("studies:question-edit", slug=study.slug, key=form.cleaned_data["key"])
            return _back(seat, block)
    context = {
        "study": study,
        "form": form,
        "key": key,
        "block_key": block,
        "block_name": BLOCK_LABELS[block],
        "kind": KIND_LABELS[kind],
        "is_measured": is_measured(block, key),
        "languages": _languages(study),
        "condition": form.condition.in_words() if form.condition is not None else "",
        "lists": [
            ("Rows" if form.has_rows_and_choices else "Choices", form.lines),
            *([("Choices, instead of scale points", form.choices_of_matrix)] if form.has_rows_and_choices else []),
        ]
        if form.has_lines
        else [],
    }
    return render(request, "console/studies/question.html", context)


@require_POST
@seated(OWNERS)
def question_act(request: HttpRequest, seat: Seat, key: str) -> HttpResponse:
    """Move, copy or delete a question."""
    chosen = ACTS.get(request.POST.get("act", ""))
    if chosen is None:
        messages.error(request, "Unknown action. Reload the page.")
        return _back(seat)
    act, facts, success = chosen
    return _done(request, seat, act, success, key=key, **facts)


@require_POST
@seated(OWNERS)
def scale_act(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Save or delete a scale."""
    if "delete" in request.POST:
        return _done(request, seat, service.delete_scale, "The scale is deleted.", key=request.POST["delete"])
    form = ScaleForm(_languages(seat.study), request.POST)
    if not form.is_valid():
        messages.error(request, "Enter a key, a name in each language, and a share from 1 to 100 percent.")
        return _back(seat)
    return _done(request, seat, service.save_scale, "The scale is saved.", scale=form.scale())


@require_POST
@seated(OWNERS)
def attention_set(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Set the number of failed checks that ends participation."""
    form = AttentionForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Give a whole number from 0 to 100.")
        return _back(seat)
    return _done(request, seat, service.set_attention, "Attention checks are set.", **form.cleaned_data)


@require_POST
@seated(OWNERS)
def block_add(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Add a predefined block of questions."""
    form = BlockForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the blocks offered.")
        return _back(seat)
    return _done(request, seat, service.add_block, "The block is added.", **form.cleaned_data)


@require_POST
@seated(OWNERS)
def questionnaire_import(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Replace the questionnaire with a YAML document."""
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid() or form.cleaned_data["file"].size > LONGEST_DOCUMENT:
        messages.error(request, f"Choose a YAML document of at most {LONGEST_DOCUMENT // 1000:,} kB.")
        return _back(seat)
    try:
        text = form.cleaned_data["file"].read().decode("utf-8")
    except UnicodeDecodeError:
        messages.error(request, "The document is not in UTF-8. Save it as UTF-8 and choose it again.")
        return _back(seat)
    return _done(
        request, seat, service.import_questionnaire, "The questionnaire was replaced by the document.", text=text
    )
