"""Questions about the person, the recommendations, and the questions about each of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from core.networks import network_of
from studies.design.selectors.placeholders import content_of, presentation_of
from studies.instrument import flow
from studies.instrument.questionnaires.questions import confirmed_answers, posted_answers
from studies.instrument.questionnaires.schema import ABOUT, ITEMS, Question, Questionnaire
from studies.participation.selectors import pages, question_presenter
from studies.participation.selectors.participant_rows import answers_about, questionnaire_at
from studies.participation.services import finishing
from studies.participation.services.answers import AnswerSource, checked_values, is_same
from studies.participation.services.enrolment import store_about, submit_about
from studies.participation.services.entry_limits import ABOUT as ABOUT_FORM
from studies.participation.services.entry_limits import refuse_if_too_often
from studies.participation.services.finishing import PageOutcome, submit_page
from studies.participation.services.participant_state import list_length, shown_orders
from studies.participation.views import details
from studies.participation.views.visit import Visit, at_current_step, of_participant


def _posted(visit: Visit, questions: Sequence[Question]) -> dict[str, Any]:
    return posted_answers(questions, dict(visit.request.POST.lists()))


@of_participant
@at_current_step
def about(visit: Visit) -> HttpResponse:
    """Facts about the participant, saved as they are entered; accepting them assigns a condition."""
    if visit.request.method != "POST":
        return _about_page(visit)
    network = network_of(visit.request.META["REMOTE_ADDR"])
    refuse_if_too_often(study_id=visit.study.pk, action=ABOUT_FORM, network=network, mode=visit.participant.mode)
    before = visit.visible_answers().get(0, {})
    questions = content_of(visit.study).questionnaire.about
    posted = _posted(visit, questions)
    if visit.is_htmx:
        store_about(participant=visit.participant, answers=posted, provenance=visit.provenance)
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
    hidden = unconfirmed & (set(answers_about(visit.participant, 0)) - set(visit.visible_answers().get(0, {})))
    return _about_page(visit, posted, before, refused | hidden, unconfirmed - hidden)


def _about_page(
    visit: Visit,
    posted: Mapping[str, Any] | None = None,
    before: Mapping[str, Any] | None = None,
    refused: Collection[str] = (),
    unconfirmed: Collection[str] = (),
) -> HttpResponse:
    questionnaire, posted = content_of(visit.study).questionnaire, posted or {}
    known = questionnaire.known(ABOUT, before or {})
    problems, typed, stored = {}, {}, visit.visible_answers().get(0, {})
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
    page = question_presenter.Page(
        questionnaire,
        ABOUT,
        stored,
        visit.language,
        orders=shown_orders(participant=visit.participant, block=ABOUT),
        raw_values=typed,
        problems=problems,
        unconfirmed=unconfirmed,
    )
    return visit.page(
        "about", flow.ABOUT, questions=page.questions(), has_problems=bool(problems), is_to_confirm=bool(unconfirmed)
    )


def slots_of(visit: Visit) -> list[pages.Card]:
    """The participant's list, as it was computed once."""
    return pages.recommended_cards(visit.participant, links=visit.links)


@of_participant
@at_current_step
def recommendations(visit: Visit) -> HttpResponse:
    """The list, as it was computed once."""
    if visit.request.method == "POST":
        finishing.finish_recommendations(participant=visit.participant)
        return visit.redirect_to_page(flow.Place(flow.ITEMS, 1))
    slots, shown = slots_of(visit), presentation_of(visit.participant)
    rows = pages.carousel_rows(visit.study, slots, shown.carousel_by) if shown.carousel_by else []
    next_url = visit.links.to(flow.Place(flow.ITEMS, 1))
    context = {"slots": slots, "layout": shown.layout, "rows": rows, "next_url": next_url}
    return visit.page("recommendations", flow.RECOMMENDATIONS, **context)


@dataclass
class Marks:
    """Marks of a page after submission: problems by question, and values that could not be stored."""

    problems: dict[str, str]
    typed: dict[str, Any]


def question_page(visit: Visit, page: flow.Place, shown: Callable[[Marks | None], HttpResponse]) -> HttpResponse:
    """A page of questions, whose answers are saved as they are entered; leaving the last one may end the study.

    `shown` draws it, with marks where answers were refused.
    """
    if visit.request.method != "POST":
        return shown(None)
    questions = content_of(visit.study).questionnaire.block(page.step)
    outcome = submit_page(
        participant=visit.participant,
        block=page.step,
        rank=page.rank,
        posted=_posted(visit, questions),
        source=AnswerSource(provenance=visit.provenance, client_at=visit.client_at),
        is_leaving=visit.is_leaving,
    )
    if outcome.missing_before:
        return visit.redirect_to_missing(outcome.missing_before)
    if outcome.is_complete:
        # An item leads on to the next one, also when it was opened again, unless the end of the study led back to it.
        leads_on = page.step == ITEMS and not visit.is_incomplete(page)
        following = flow.next_place(page, list_length(visit.participant)) if leads_on else visit.here
        return visit.over() or visit.redirect_to_page(following)
    marks = _marks_of(questions, outcome)
    if visit.is_htmx and marks.problems:
        problem = next(iter(marks.problems.values()))
        return HttpResponse(problem, status=409, content_type="text/plain; charset=utf-8")
    if visit.is_htmx and page.step == ITEMS:
        return HttpResponse(status=204)  # the page already shows the answer
    if visit.is_htmx:
        return render(visit.request, "participant/parts/saved.html", {"has_saved": True})
    return shown(marks) if marks.problems or visit.is_leaving else visit.go(visit.address_of(page))


def _marks_of(questions: Iterable[Question], outcome: PageOutcome) -> Marks:
    by_key = {question.key: question for question in questions}
    invalid, missing = outcome.invalid, outcome.missing
    return Marks(
        {key: question_presenter.problem_text(by_key[key], value) for key, value in invalid.items()}
        | {key: question_presenter.incomplete_text(by_key[key], value) for key, value in missing.items()},
        {key: value if isinstance(value, str | int | float) else "" for key, value in invalid.items()},
    )


def _shown(visit: Visit, block: str, rank: int) -> dict[str, Any]:
    """The stored answers of a page; for its own questions, only those that this visit may see."""
    stored = answers_about(visit.participant, rank)
    if not visit.is_limited:
        return stored
    questions = content_of(visit.study).questionnaire.block(block)
    recent = visit.visible_answers()
    may_see = {*recent.get(0, {}), *recent.get(rank, {})}
    # Answers that the form repeats unchanged are visible as well.
    checked, _invalid = checked_values(questions, _posted(visit, questions))
    may_see |= {key for key, value in checked.items() if value is not None and is_same(value, stored.get(key))}
    own = {question.key for question in questions}
    return {key: value for key, value in stored.items() if key not in own or key in may_see}


def marked(visit: Visit, page: flow.Place, marks: Marks | None) -> Marks | None:
    """The marks of a page, with missing answers if the end led back to it.

    Participants who do not see their earlier answers may be asked for more than is missing, so that they can continue.
    """
    if marks is None:
        return Marks(_incomplete(visit, page), {}) if visit.is_incomplete(page) else None
    if visit.is_limited and marks.problems:
        marks.problems = {**_incomplete(visit, page), **marks.problems}
    return marks


def _incomplete(visit: Visit, page: flow.Place) -> dict[str, str]:
    questionnaire = questionnaire_at(visit.participant, page.rank)
    questions = {question.key: question for question in questionnaire.block(page.step)}
    shown, stored = _shown(visit, page.step, page.rank), answers_about(visit.participant, page.rank)
    known, lacking = questionnaire.known(page.step, shown), questionnaire.missing(page.step, stored)
    keys = [key for key in lacking if question_presenter.visible(questions[key], known)]
    if lacking and not keys:
        keys = [
            key for key in questionnaire.missing(page.step, shown) if question_presenter.visible(questions[key], known)
        ]
    return {key: question_presenter.incomplete_text(questions[key], shown.get(key)) for key in keys}


def asked_of(
    visit: Visit,
    block: str,
    rank: int = 0,
    marks: Marks | None = None,
    hints: dict[str, str] | None = None,
    questionnaire: Questionnaire | None = None,
) -> list[question_presenter.Asked]:
    """The questions of a block with their stored answers; `questionnaire` may word them otherwise."""
    return question_presenter.Page(
        questionnaire or questionnaire_at(visit.participant, rank),
        block,
        _shown(visit, block, rank),
        visit.language,
        orders=shown_orders(participant=visit.participant, block=block),
        raw_values=marks.typed if marks else {},
        hints=hints or {},
        problems=marks.problems if marks else {},
    ).questions()


@of_participant
@at_current_step
def item(visit: Visit, rank: int) -> HttpResponse:
    """The questions about one recommended item; answers are saved as they are entered."""
    return question_page(visit, flow.Place(flow.ITEMS, rank), lambda marks: _item_page(visit, rank, marks))


def _item_page(visit: Visit, rank: int, marks: Marks | None) -> HttpResponse:
    slots = slots_of(visit)
    slot, page = slots[rank - 1], flow.Place(flow.ITEMS, rank)
    elsewhere = {"trailer_seen": _("No trailer available here. Have you seen it elsewhere?")}
    hints = {} if slot.sample and slot.sample.url else elsewhere
    worded = None if slot.details_url else content_of(visit.study).for_items_without_details
    questions = asked_of(visit, ITEMS, rank, marked(visit, page, marks), hints, worded)
    of_item = details.described(visit, slot.item)
    before = flow.Place(flow.ITEMS, rank - 1) if rank > 1 else flow.Place(flow.RECOMMENDATIONS)
    context = {
        "step": "item",
        "rank": rank,
        "slot": slot,
        "questions": questions,
        "described": _described(visit, questions) if of_item["facts"] or of_item["details"]["plot"].text else None,
        **of_item,
        "here_url": visit.address_of(page),
        "back_url": "" if visit.is_limited else visit.links.to(before),
        "next_url": visit.links.to(flow.next_place(page, len(slots))),
        "thumbs": visit.thumbs(slots, rank),
    }
    return visit.page("item", flow.ITEMS, **context)


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
        if question.key == flow.HEARD:
            return Described(question.key, question.condition, question.is_hidden)
        if flow.NEITHER in questions[question.key].wordings:
            wording = question.wordings[-1]  # the one for items neither consumed nor sampled
            return Described(question.key, wording.condition, wording.is_hidden)
    return None
