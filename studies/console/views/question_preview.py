"""The preview of questions as participants see them: stored ones, and one as its form holds it."""

from __future__ import annotations

from dataclasses import replace

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.views.decorators.clickjacking import xframe_options_sameorigin

from core.errors import ParameterError
from studies.console.forms.questionnaire_parts import BLOCK_LABELS
from studies.console.forms.questions import QuestionForm
from studies.design.selectors.placeholders import asked_questions, filled
from studies.enums import READERS
from studies.instrument.flow import blocks_of
from studies.instrument.questionnaires.kinds import KINDS
from studies.instrument.questionnaires.problems import QuestionnaireProblems
from studies.instrument.questionnaires.schema import Questionnaire, questionnaire_from
from studies.models import Study
from studies.participation.selectors import question_presenter
from studies.team.permissions import OWNERS, POST, Membership, for_members

NOT_ALONE = ("shown_if", "scale", "random_group")  # fields that name other parts of the questionnaire


@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})
@for_members(READERS)
def preview(request: HttpRequest, membership: Membership, block: str) -> HttpResponse:
    """A block rendered with the participants' templates; nothing is stored.

    With `only` in the address, show that question alone, even if it is conditional.
    """
    if block not in blocks_of(membership.study.design):
        raise Http404("There is no such block.")
    language = _language(membership.study, request.GET.get("lang", ""))
    return _previewed(request, asked_questions(membership.study), block, language, request.GET.get("only", ""))


def _language(study: Study, chosen: str) -> str:
    return chosen if chosen in study.design.languages else study.design.languages[0]


def _previewed(
    request: HttpRequest, questionnaire: Questionnaire, block: str, language: str, only: str = ""
) -> HttpResponse:
    with translation.override(language):
        questions = question_presenter.Page(questionnaire, block, {}, language).questions()
        if only:
            questions = [_unconditional(question) for question in questions if question.key == only]
        context = {
            "questions": questions,
            "step": "preview",
            "block_name": BLOCK_LABELS.get(block, block),
            "is_about": block == "about",
        }
        return render(request, "participant/preview.html", context)


def _unconditional(question: question_presenter.Asked) -> question_presenter.Asked:
    """The question as it is asked whatever was answered before, with all of its wordings."""
    words = " / ".join(str(wording.text) for wording in question.wordings)
    return replace(question, condition="", is_hidden=False, wordings=(question_presenter.Conditional(words),))


@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})
@for_members(OWNERS, POST)
def draft_preview(request: HttpRequest, membership: Membership, block: str, kind: str) -> HttpResponse:
    """A question as its form holds it now, rendered with the participants' templates; nothing is stored."""
    if block not in blocks_of(membership.study.design) or kind not in KINDS:
        raise Http404("There is no such block or kind of question.")
    study = membership.study
    form = QuestionForm(study, request.POST, key=request.GET.get("key", ""), block=block, kind=kind)
    if not form.is_valid():
        parts = (form, *form.nested_forms)
        return _unreadable(
            request, [f"{field.label}: {error}" for part in parts for field in part for error in field.errors]
        )
    question = {name: value for name, value in form.question().items() if name not in NOT_ALONE}
    try:
        questionnaire = questionnaire_from({block: [filled(question, study.design)]}, (block,))
    except ParameterError as problem:
        faults = problem.problems if isinstance(problem, QuestionnaireProblems) else [problem]
        return _unreadable(request, [getattr(fault, "message", str(fault)) for fault in faults])
    language = _language(study, request.GET.get("lang", ""))
    return _previewed(request, questionnaire, block, language, questionnaire.block(block)[0].key)


def _unreadable(request: HttpRequest, problems: list[str]) -> HttpResponse:
    context = {"problems": problems, "step": "preview", "block_name": "Preview"}
    return render(request, "participant/preview.html", context)
