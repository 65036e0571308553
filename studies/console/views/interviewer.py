"""Interview sessions: what a study prepares for them, and the interviewer's pages before and after each."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache

from accounts.services.device_lock import has_pin, lock_device, set_pin
from core.outcomes import perform, refusals_in
from studies.console.forms.interviews import (
    EvaluationForm,
    EvaluatorQuestionForm,
    InterviewForm,
    NotesForm,
    PlacesForm,
)
from studies.console.views.workspace import RECRUIT, SESSIONS, study_page
from studies.design.selectors.placeholders import asked_questions
from studies.design.services.questionnaires import add_evaluator_question, delete_evaluator_question
from studies.enums import StudyStatus
from studies.models import Interview
from studies.participation.services.interviews import save_evaluation, save_notes, start_interview
from studies.recruitment.interviewer_text import nested_sentence
from studies.recruitment.selectors.recruitment import (
    conditions_without_interviewer,
    interviewers_of,
    is_nested,
    places_of,
    sessions_of,
)
from studies.recruitment.services.recruitment import set_places
from studies.team.permissions import FORM, OWNERS, POST, STARTERS, Membership, for_members

EVALUATION = "evaluation"


def _tab(membership: Membership) -> str:
    return RECRUIT if membership.is_owner else SESSIONS


@never_cache
@for_members(STARTERS, FORM)
def interview(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Note place and label, and start a session on this device or on another.

    This device is locked first: no user is signed in while the participant holds it.
    """
    study = membership.study
    form = InterviewForm(study, request.POST or None, has_pin=has_pin(request))
    link = ""
    if request.method == "POST" and form.is_valid():
        is_here = request.POST.get("where") != "elsewhere"
        with refusals_in(form, "pin", of="device."):
            if is_here and form.cleaned_data["pin"]:
                set_pin(request=request, pin=form.cleaned_data["pin"])
            started = start_interview(study=study, interviewer=request.user, **form.session())
            if is_here:
                page = reverse("studies:session", args=[study.slug, started.interview.pk])
                lock_device(request=request, return_to=page)
                return redirect("participant:hand-over", slug=study.slug, key=started.key)
            link = request.build_absolute_uri(reverse("participant:personal", args=[study.slug, started.key]))
            form = InterviewForm(study, has_pin=has_pin(request), initial={"place": started.interview.place})
    labels = {place.code: place.label for place in places_of(study)}
    context = {
        "form": form,
        "link": link,
        "is_open": study.status == StudyStatus.LIVE,
        "has_questions": bool(asked_questions(study).evaluator),
        "sessions": [(row, labels.get(row.place, row.place)) for row in sessions_of(study, request.user)],
    }
    return study_page(request, membership, "console/studies/interview.html", context, tab=_tab(membership))


@never_cache
@for_members(STARTERS, FORM)
def session(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    """The page of a finished session: its notes, and the evaluator's questions. Interviewers see their own sessions."""
    own = {} if membership.is_owner else {"interviewer": request.user}
    row = get_object_or_404(Interview.objects.select_related("participant"), study=membership.study, pk=pk, **own)
    questions = asked_questions(membership.study).evaluator
    is_evaluating = request.POST.get("part") == EVALUATION
    notes = NotesForm(
        request.POST if request.method == "POST" and not is_evaluating else None,
        initial={"before": row.note_before, "after": row.note_after},
    )
    evaluation = EvaluationForm(questions, row, request.POST if is_evaluating else None)
    if request.method == "POST" and (evaluation if is_evaluating else notes).is_valid():
        with refusals_in(evaluation if is_evaluating else notes):
            if is_evaluating:
                save_evaluation(interview=row, answers=evaluation.cleaned_data)
            else:
                save_notes(interview=row, **notes.cleaned_data)
        if not evaluation.errors and not notes.errors:
            messages.success(request, "Your answers are saved." if is_evaluating else "The notes are saved.")
            return redirect("studies:session", slug=membership.study.slug, pk=row.pk)
    labels = {place.code: place.label for place in places_of(membership.study)}
    context = {
        "session": row,
        "place": labels.get(row.place, row.place),
        "notes": notes,
        "evaluation": evaluation if questions else None,
        "is_erased": row.participant is not None and row.participant.erased_at is not None,
    }
    return study_page(request, membership, "console/studies/session.html", context, tab=_tab(membership))


def _prepared(request: HttpRequest, membership: Membership, **forms: Any) -> HttpResponse:
    study = membership.study
    context = {
        "places_form": PlacesForm(study),
        "question_form": EvaluatorQuestionForm(),
        "questions": asked_questions(study).evaluator,
        "is_draft": study.status == StudyStatus.DRAFT,
        "interviewers": interviewers_of(study),
        "is_nested": is_nested(study),
        "nested_sentence": nested_sentence(),
        "without_interviewer": conditions_without_interviewer(study),
        **forms,
    }
    return study_page(request, membership, "console/studies/interviewers.html", context, tab=RECRUIT)


@for_members(OWNERS)
def interviewers(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The places of interviews and the questions for the evaluator."""
    return _prepared(request, membership)


@for_members(OWNERS, POST)
def places_set(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Set the places of interviews."""
    form = PlacesForm(membership.study, request.POST)
    if form.is_valid():
        with refusals_in(form, "lines"):
            set_places(study=membership.study, places=form.places(), actor=request.user)
            messages.success(request, "The places are saved.")
            return redirect("studies:interviewers", slug=membership.study.slug)
    return _prepared(request, membership, places_form=form)


@for_members(OWNERS, POST)
def evaluator_question_add(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Add a question for the evaluator."""
    form = EvaluatorQuestionForm(request.POST)
    if form.is_valid():
        question = form.question(membership.study.design.languages[0])
        with refusals_in(form):
            add_evaluator_question(study=membership.study, question=question, actor=request.user)
            messages.success(request, "The question is added.")
            return redirect("studies:interviewers", slug=membership.study.slug)
    return _prepared(request, membership, question_form=form)


@for_members(OWNERS, POST)
def evaluator_question_delete(request: HttpRequest, membership: Membership, key: str) -> HttpResponse:
    """Delete a question for the evaluator."""
    perform(request, delete_evaluator_question, "The question is deleted.", study=membership.study, key=key)
    return redirect("studies:interviewers", slug=membership.study.slug)
