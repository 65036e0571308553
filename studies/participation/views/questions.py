"""Pages of questions: about the person, each recommended item, the list, or anything else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from core.networks import network_of
from studies.design.selectors.placeholders import content_of
from studies.flow_pages import CHOSEN, COMPARE, END, IN_TURN, NONE
from studies.instrument.flow import Place
from studies.instrument.measures import HEARD, NEITHER
from studies.instrument.questionnaires.questions import confirmed_answers, posted_answers, whole_number
from studies.instrument.questionnaires.schema import ABOUT, ITEMS, OVERALL, Question, Questionnaire
from studies.participation.selectors import pages, question_presenter
from studies.participation.selectors.participant_rows import answers_at, questionnaire_at
from studies.participation.services.answers import AnswerSource, checked_values, is_same
from studies.participation.services.enrolment import submit_about
from studies.participation.services.entry_limits import ABOUT as ABOUT_FORM
from studies.participation.services.entry_limits import refuse_if_too_often
from studies.participation.services.finishing import PageOutcome, submit_page
from studies.participation.services.participant_state import shown_orders
from studies.participation.views import details
from studies.participation.views.visit import Visit


def _posted(visit: Visit, questions: Sequence[Question]) -> dict[str, Any]:
    return posted_answers(questions, dict(visit.request.POST.lists()))


def questions(visit: Visit, at: Place) -> HttpResponse:
    """A block of questions about the person or the list, or beside lists that they compare.

    Those that the assignment needs are sent as a whole.
    """
    if visit.flow.page(at.page).assigns:
        return _about(visit, at)
    return _question_page(visit, at, lambda marks: _questions_page(visit, at, marks))


def _about(visit: Visit, at: Place) -> HttpResponse:
    """Facts about the participant, saved as they are entered; accepting them assigns a condition."""
    if visit.request.method != "POST":
        return _about_page(visit, at)
    network = network_of(visit.request.META["REMOTE_ADDR"])
    refuse_if_too_often(study_id=visit.study.pk, action=ABOUT_FORM, network=network, mode=visit.participant.mode)
    before = visit.visible_answers().get(0, {})
    questions = content_of(visit.study).questionnaire.about
    posted = _posted(visit, questions)
    if visit.is_htmx:
        source = AnswerSource(provenance=visit.provenance)
        submit_page(participant=visit.participant, at=at, posted=posted, source=source, is_leaving=False)
        return HttpResponse(status=204)
    confirmed = confirmed_answers(questions, dict(visit.request.POST.lists()))
    refusal = submit_about(
        participant=visit.participant, posted=posted, confirmed=confirmed, provenance=visit.provenance
    )
    if refusal is None:
        return (None if visit.is_waiting else visit.over()) or visit.redirect_to_page(visit.here)
    refused, unconfirmed = set(refusal.extra.get("problems", ())), set(refusal.extra.get("unconfirmed", ()))
    if not refused | unconfirmed:
        raise refusal
    # An answer that this visit does not see cannot be confirmed in it: it is asked for again.
    hidden = unconfirmed & (set(answers_at(visit.participant, at)) - set(visit.visible_answers().get(0, {})))
    return _about_page(visit, at, posted, before, refused | hidden, unconfirmed - hidden)


def _about_page(
    visit: Visit,
    at: Place,
    posted: Mapping[str, Any] | None = None,
    before: Mapping[str, Any] | None = None,
    refused: Collection[str] = (),
    unconfirmed: Collection[str] = (),
) -> HttpResponse:
    questionnaire, posted = content_of(visit.study).questionnaire, posted or {}
    known = questionnaire.known(ABOUT, before or {})
    problems, typed, stored = {}, {}, _shown(visit, at)
    for question in questionnaire.about:
        if question.key not in refused:
            continue
        value = posted.get(question.key)
        if value is None and not question_presenter.visible(question, known):
            continue
        is_begun = value is None or question.is_incomplete(value) or value == stored.get(question.key)
        problems[question.key] = (
            question_presenter.incomplete_text(question, value)
            if is_begun
            else question_presenter.problem_text(question, value)
        )
        if isinstance(value, str | int | float):
            typed[question.key] = value
    context = {
        "heading": pages.heading_of(visit.flow, at.page, visit.language),
        "questions": _asked_of(visit, at, Marks(problems, typed), unconfirmed=unconfirmed),
        "has_problems": bool(problems),
        "is_to_confirm": bool(unconfirmed),
    }
    return visit.page("about", at, **context)


@dataclass
class Marks:
    """Marks of a page after submission: problems by question, and values that could not be stored."""

    problems: dict[str, str]
    typed: dict[str, Any]


def _question_page(visit: Visit, at: Place, shown: Callable[[Marks | None], HttpResponse]) -> HttpResponse:
    """A page of questions, whose answers are saved as they are entered; leaving the last one may end the study.

    `shown` draws it, with marks where answers were refused.
    """
    if visit.request.method != "POST":
        return shown(None)
    questions = content_of(visit.study).questionnaire.block(visit.flow.page(at.page).block)
    outcome = submit_page(
        participant=visit.participant,
        at=at,
        posted=_posted(visit, questions),
        source=AnswerSource(provenance=visit.provenance, client_at=visit.client_at),
        is_leaving=visit.is_leaving,
    )
    if outcome.missing_before:
        return visit.redirect_to_missing(outcome.missing_before)
    if outcome.is_complete:
        # An item leads on to the next one, also when it was opened again, unless the end of the study led back to it.
        leads_on = at.rank and not visit.is_incomplete(at)
        following = visit.flow.neighbour(at, 1, visit.list_lengths) if leads_on else visit.here
        return visit.over() or visit.redirect_to_page(following)
    marks = _marks_of(questions, outcome)
    if visit.is_htmx and marks.problems:
        problem = next(iter(marks.problems.values()))
        return HttpResponse(problem, status=409, content_type="text/plain; charset=utf-8")
    if visit.is_htmx and at.rank:
        return HttpResponse(status=204)  # the page already shows the answer
    if visit.is_htmx:
        return render(visit.request, "participant/parts/saved.html", {"has_saved": True})
    return shown(marks) if marks.problems or visit.is_leaving else visit.go(visit.address_of(at))


def _marks_of(questions: Iterable[Question], outcome: PageOutcome) -> Marks:
    by_key = {question.key: question for question in questions}
    invalid, missing = outcome.invalid, outcome.missing
    return Marks(
        {key: question_presenter.problem_text(by_key[key], value) for key, value in invalid.items()}
        | {key: question_presenter.incomplete_text(by_key[key], value) for key, value in missing.items()},
        {key: value if isinstance(value, str | int | float) else "" for key, value in invalid.items()},
    )


def _shown(visit: Visit, at: Place) -> dict[str, Any]:
    """The stored answers of a page; for its own questions, only those that this visit may see."""
    stored = answers_at(visit.participant, at)
    if not visit.is_limited:
        return stored
    questions = content_of(visit.study).questionnaire.block(visit.flow.page(at.page).block)
    recent = visit.visible_answers(at.occasion)
    may_see = {*recent.get(0, {}), *recent.get(at.rank, {})}
    # Answers that the form repeats unchanged are visible as well.
    checked, _invalid = checked_values(questions, _posted(visit, questions))
    may_see |= {key for key, value in checked.items() if value is not None and is_same(value, stored.get(key))}
    own = {question.key for question in questions}
    return {key: value for key, value in stored.items() if key not in own or key in may_see}


def _marked(visit: Visit, at: Place, marks: Marks | None) -> Marks | None:
    """The marks of a page, with missing answers if the end led back to it.

    Participants who do not see their earlier answers may be asked for more than is missing, so that they can continue.
    """
    if marks is None:
        return Marks(_incomplete(visit, at), {}) if visit.is_incomplete(at) else None
    if visit.is_limited and marks.problems:
        marks.problems = {**_incomplete(visit, at), **marks.problems}
    return marks


def _incomplete(visit: Visit, at: Place) -> dict[str, str]:
    questionnaire, block = questionnaire_at(visit.participant, at), visit.flow.page(at.page).block
    questions = {question.key: question for question in questionnaire.block(block)}
    shown, stored = _shown(visit, at), answers_at(visit.participant, at)
    known, lacking = questionnaire.known(block, shown), questionnaire.missing(block, stored)
    keys = [key for key in lacking if question_presenter.visible(questions[key], known)]
    if lacking and not keys:
        keys = [key for key in questionnaire.missing(block, shown) if question_presenter.visible(questions[key], known)]
    return {key: question_presenter.incomplete_text(questions[key], shown.get(key)) for key in keys}


def _asked_of(
    visit: Visit,
    at: Place,
    marks: Marks | None = None,
    hints: dict[str, str] | None = None,
    questionnaire: Questionnaire | None = None,
    unconfirmed: Collection[str] = (),
) -> list[question_presenter.Asked]:
    """The questions of a page with their stored answers; `questionnaire` may word them otherwise."""
    block = visit.flow.page(at.page).block
    return question_presenter.Page(
        questionnaire or questionnaire_at(visit.participant, at),
        block,
        _shown(visit, at),
        visit.language,
        orders=shown_orders(participant=visit.participant, block=block),
        raw_values=marks.typed if marks else {},
        hints=hints or {},
        problems=marks.problems if marks else {},
        unconfirmed=unconfirmed,
    ).questions()


def _questions_page(visit: Visit, at: Place, marks: Marks | None) -> HttpResponse:
    page, lists = visit.flow.page(at.page), visit.flow.lists
    is_of_list = not lists.is_several or (visit.flow.is_repeated(at.page) and lists.shown == IN_TURN)
    is_about_list = is_of_list and page.block == OVERALL
    context = {
        "heading": pages.heading_of(visit.flow, at.page, visit.language),
        "questions": _asked_of(visit, at, _marked(visit, at, marks)),
        "lists": visit.lists_shown(at) if page.kind == COMPARE else (),
        "thumbs": visit.thumbs(visit.cards_at(at), at) if is_about_list else (),
        **_links(visit, at),
    }
    return visit.page("compare" if page.kind == COMPARE else "questions", at, **context)


def _links(visit: Visit, at: Place) -> dict[str, Any]:
    following = visit.flow.neighbour(at, 1, visit.list_lengths)
    return {
        "here_url": visit.address_of(at),
        "back_url": visit.back_url(at),
        "next_url": visit.next_url(at),
        "is_last": visit.flow.page(following.page).kind == END,
    }


def item_questions(visit: Visit, at: Place) -> HttpResponse:
    """The questions about one recommended item; answers are saved as they are entered."""
    return _question_page(visit, at, lambda marks: _item_page(visit, at, marks))


def _item_page(visit: Visit, at: Place, marks: Marks | None) -> HttpResponse:
    slots = visit.cards_at(at)
    slot = slots[at.rank - 1]
    elsewhere = {"trailer_seen": _("No trailer available here. Have you seen it elsewhere?")}
    hints = {} if slot.sample and slot.sample.url else elsewhere
    worded = None if slot.details_url else content_of(visit.study).for_items_without_details
    questions = _asked_of(visit, at, _marked(visit, at, marks), hints, worded)
    of_item = details.described(visit, slot.item)
    context = {
        "step": "item",
        "slot": slot,
        "questions": questions,
        "described": _described(visit, questions) if of_item["facts"] or of_item["details"]["plot"].text else None,
        **of_item,
        "here_url": visit.address_of(at),
        "back_url": visit.back_url(at),
        "next_url": visit.next_url(at),
        "thumbs": visit.thumbs(slots, at),
    }
    return visit.page("item", at, **context)


def choice(visit: Visit, at: Place) -> HttpResponse:
    """One item of the list is picked, or none."""
    # A list can be shorter than the longest that the question is about.
    if (whole_number(visit.request.POST.get(CHOSEN, "")) or 0) > visit.list_lengths[at.occasion - 1]:
        return visit.redirect_to_page(at)
    return _question_page(visit, at, lambda marks: _choice_page(visit, at, marks))


def _choice_page(visit: Visit, at: Place, marks: Marks | None) -> HttpResponse:
    (question,) = _asked_of(visit, at, _marked(visit, at, marks))
    chosen = {option.value for option in question.options if option.is_chosen}
    [shown] = visit.lists_shown(at)
    context = {
        **shown,
        "question": question,
        "heading": question.wordings[0].text,
        "chosen_rank": next((slot.rank for slot in shown["slots"] if str(slot.rank) in chosen), None),
        "is_none": NONE in chosen,
        **_links(visit, at),
    }
    return visit.page("choice", at, **context)


@dataclass(frozen=True)
class Described:
    """The question above which a page shows the item's details, and when, as in `question_presenter.Conditional`."""

    key: str
    condition: str
    is_hidden: bool


def _described(visit: Visit, shown: Sequence[question_presenter.Asked]) -> Described | None:
    """The first question, in the order shown, that asks participants to know the details; None without one."""
    questions = {question.key: question for question in content_of(visit.study).questionnaire.block(ITEMS)}
    for question in shown:
        if question.key == HEARD:
            return Described(question.key, question.condition, question.is_hidden)
        if NEITHER in questions[question.key].wordings:
            wording = question.wordings[-1]  # the one for items neither consumed nor sampled
            return Described(question.key, wording.condition, wording.is_hidden)
    return None
