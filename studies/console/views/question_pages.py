"""The page of one question, and the preview of questions as participants see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import translation
from django.views.decorators.clickjacking import xframe_options_sameorigin

from catalog.item_types import FALLBACK_LANGUAGE
from core.errors import ParameterError
from core.outcomes import refusals_in
from studies.console.forms.questionnaire_parts import BLOCK_LABELS, NewQuestionForm
from studies.console.forms.questions import QuestionForm
from studies.console.forms.row_lists import BUTTON, rearranged
from studies.console.views.outcomes import warn_of_numbers
from studies.console.views.questionnaires import back_to_list, block_of, languages_of, may_edit
from studies.console.views.workspace import study_page
from studies.design.selectors.launch_overview import QUESTIONS
from studies.design.selectors.placeholders import asked_questions, filled, item_words
from studies.design.selectors.texts import language_name
from studies.design.services import questionnaires as service
from studies.instrument.questionnaires.core import is_measured
from studies.instrument.questionnaires.kinds import KINDS
from studies.instrument.questionnaires.problems import QuestionnaireProblems
from studies.instrument.questionnaires.schema import BLOCKS, Questionnaire, questionnaire_from
from studies.models import Study
from studies.participation.selectors import question_presenter
from studies.team.permissions import FORM, OWNERS, POST, READERS, Membership, for_members

NOT_ALONE = ("shown_if", "scale", "random_group")  # fields that name other parts of the questionnaire


@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})
@for_members(READERS)
def preview(request: HttpRequest, membership: Membership, block: str) -> HttpResponse:
    """A block rendered with the participants' templates; nothing is stored.

    With `only` in the address, show that question alone, even if it is conditional.
    """
    if block not in BLOCKS:
        raise Http404("There is no such block.")
    language = _language(membership.study, request.GET.get("lang", ""))
    return _previewed(request, asked_questions(membership.study), block, language, request.GET.get("only", ""))


def _language(study: Study, chosen: str) -> str:
    return chosen if chosen in languages_of(study) else languages_of(study)[0]


def _previewed(
    request: HttpRequest, questionnaire: Questionnaire, block: str, language: str, only: str = ""
) -> HttpResponse:
    with translation.override(language):
        questions = question_presenter.Page(questionnaire, block, {}, language).questions()
        if only:
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


@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})
@for_members(OWNERS, POST)
def draft_preview(request: HttpRequest, membership: Membership, block: str, kind: str) -> HttpResponse:
    """A question as its form holds it now, rendered with the participants' templates; nothing is stored."""
    if block not in BLOCKS or kind not in KINDS:
        raise Http404("There is no such block or kind of question.")
    study = membership.study
    key = request.GET.get("key", "")
    stored = next((q for q in study.questionnaire.get(block, ()) if q["key"] == key), {"key": key})
    form = _form(study, block, kind, stored, data=request.POST)
    problems = [f"{field.label}: {error}" for part in form.parts for field in part for error in field.errors]
    if not form.is_valid():
        return _unreadable(request, [str(error) for error in form.non_field_errors()] + problems)
    question = {name: value for name, value in form.question().items() if name not in NOT_ALONE}
    try:
        questionnaire = questionnaire_from({block: [filled(question, study.design)]})
    except ParameterError as problem:
        faults = problem.problems if isinstance(problem, QuestionnaireProblems) else [problem]
        return _unreadable(request, [getattr(fault, "message", str(fault)) for fault in faults])
    language = _language(study, request.POST.get("preview_language", ""))
    return _previewed(request, questionnaire, block, language, questionnaire.block(block)[0].key)


def _unreadable(request: HttpRequest, problems: list[str]) -> HttpResponse:
    context = {"problems": problems, "step": "preview", "block_name": "Preview"}
    return render(request, "participant/preview.html", context)


@for_members(OWNERS, FORM)
def question_add(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Add a question at the end of a block."""
    form = NewQuestionForm(request.GET)
    if not form.is_valid():
        return back_to_list(membership)
    block, kind = form.cleaned_data["block"], form.cleaned_data["kind"]
    used_keys = {q["key"] for name in BLOCKS for q in membership.study.questionnaire.get(name, ())}
    stored: dict[str, Any] = {"key": service.free_key(used_keys)} if request.method != "POST" else {}
    stored |= zip(("minimum", "maximum"), KINDS[kind].new_limits, strict=False)
    return _question_page(request, membership, block, kind, stored, key="")


@for_members(OWNERS, FORM)
def question_edit(request: HttpRequest, membership: Membership, key: str) -> HttpResponse:
    """Edit one question."""
    block = block_of(membership.study, key)
    if not block:
        raise Http404("There is no such question.")
    stored = next(q for q in membership.study.questionnaire[block] if q["key"] == key)
    return _question_page(request, membership, block, stored["kind"], stored, key=key)


def _form(
    study: Study,
    block: str,
    kind: str,
    stored: Mapping[str, Any],
    *,
    data: QueryDict | None = None,
    drafted: QueryDict | None = None,
) -> QuestionForm:
    parsed = questionnaire_from(study.questionnaire)
    consumed = item_words(study.design, FALLBACK_LANGUAGE).consumed
    return QuestionForm(
        KINDS[kind], parsed, block, languages_of(study), data, consumed=consumed, stored=stored, drafted=drafted
    )


def _question_page(
    request: HttpRequest, membership: Membership, block: str, kind: str, stored: dict[str, Any], *, key: str
) -> HttpResponse:
    study = membership.study
    if not may_edit(membership):
        messages.error(request, "The design was frozen at the launch and cannot be changed any more.")
        return back_to_list(membership, block)
    if BUTTON in request.POST:
        drafted = rearranged(request.POST, request.POST[BUTTON])
        return _shown(request, membership, _form(study, block, kind, stored, drafted=drafted), key)
    form = _form(study, block, kind, stored, data=request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            service.save_question(study=study, block=block, question=form.question(), key=key, actor=request.user)
            messages.success(request, "The question is saved.")
            warn_of_numbers(request, study)
            if "again" in request.POST:
                return redirect("studies:question-edit", slug=study.slug, key=form.cleaned_data["key"])
            return back_to_list(membership, block)
    return _shown(request, membership, form, key)


def _shown(request: HttpRequest, membership: Membership, form: QuestionForm, key: str) -> HttpResponse:
    languages = languages_of(membership.study)
    context = {
        "form": form,
        "key": key,
        "block_key": form.block,
        "block_name": BLOCK_LABELS[form.block],
        "kind_key": form.kind.kind,
        "kind": form.kind.label,
        "is_measured": is_measured(form.block, key),
        "languages": [(code, language_name(code)) for code in languages],
        "condition": form.condition.in_words() if form.condition is not None else "",
    }
    return study_page(request, membership, "console/studies/question.html", context, tab=QUESTIONS)
