"""The recommendations, and the questions about each of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from core.errors import ParameterError
from studies import flow
from studies.forms.participant import posted_answers
from studies.questionnaires.schema import ITEMS, questionnaire_from
from studies.selectors import asking, pages
from studies.selectors.kept import answers_about
from studies.services import answers, finishing
from studies.services.orders import shown_orders
from studies.views.participant.visit import Visit, of_participant, true_step


def slots_of(visit: Visit) -> list[pages.Slot]:
    """The participant's list, as it was computed once."""
    return pages.slots_of(visit.participant, links=visit.links)


@of_participant
@true_step
def recommendations(visit: Visit) -> HttpResponse:
    """The list, as it was computed once."""
    if visit.request.method == "POST":
        finishing.finish_recommendations(participant=visit.participant)
        return visit.lead_to(flow.Place(flow.ITEMS, 1))
    return visit.page("recommendations", flow.RECOMMENDATIONS, slots=slots_of(visit))


@dataclass
class Sent:
    """What came of a form: the problems by question, what was typed there, and whether the page may be left."""

    problems: dict[str, str]
    typed: dict[str, Any]
    may_leave: bool = False

    @property
    def first_problem(self) -> str:
        """What a part of a page is told."""
        return next(iter(self.problems.values()), "")


def taken(visit: Visit, block: str, rank: int) -> Sent:
    """Store every answer of the block that the form holds and that changed, and look whether the page may be left.

    An answer that cannot be stored leaves the one before. Of what is missing, only that is marked which the page had
    asked for: without the script other questions open only now, and blame nobody.
    """
    questionnaire = questionnaire_from(visit.study.questionnaire)
    questions = {question.key: question for question in questionnaire.block(block)}
    before = answers_about(visit.participant, rank)
    posted = posted_answers(questions.values(), visit.request.POST)
    sent, now = Sent({}, {}), dict(before)
    for key, value in posted.items():
        try:
            now[key] = None if value is None else questions[key].check(value)
        except ParameterError:
            sent.problems[key] = asking.problem_text(questions[key], value)
            sent.typed[key] = value if isinstance(value, str | int | float) else ""
    has_changed = False
    for question in questionnaire.asked(block, now):
        key, value = question.key, now.get(question.key)
        if key not in posted or key in sent.problems or _is_same(value, before.get(key)):
            continue
        has_changed = True
        if value is None:
            answers.take_back(participant=visit.participant, question=key, rank=rank)
        else:
            answers.answer(
                participant=visit.participant,
                question=key,
                value=value,
                rank=rank,
                provenance=visit.provenance,
                client_at=visit.client_at,
            )
    if "continue" not in visit.request.POST:
        return sent
    missing = questionnaire.missing(block, answers_about(visit.participant, rank) if has_changed else before)
    sent.may_leave = not missing and not sent.problems
    known = questionnaire.known(block, before)
    for key in missing:
        if key not in sent.problems and asking.visible(questions[key], known):
            sent.problems[key] = asking.wanting_text(questions[key], now.get(key))
    return sent


def _is_same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)


def _shown(visit: Visit, block: str, rank: int) -> dict[str, Any]:
    """The answers that a page goes by: of its own questions only those that this visit may see."""
    given = answers_about(visit.participant, rank)
    if not visit.is_limited:
        return given
    own = {question.key: question for question in questionnaire_from(visit.study.questionnaire).block(block)}
    lately = visit.given()
    may_see = {*lately.get(0, {}), *lately.get(rank, {})}
    for key, value in posted_answers(own.values(), visit.request.POST).items():
        with suppress(ParameterError):  # what the form says just as it was stored before is theirs as well
            if value is not None and _is_same(own[key].check(value), given.get(key)):
                may_see.add(key)
    return {key: value for key, value in given.items() if key not in own or key in may_see}


def marked(visit: Visit, place: flow.Place, sent: Sent | None) -> Sent | None:
    """What came of a form, with what is missing marked on a page that the end led back to.

    Whoever does not see the answers given before may be asked for more than is missing, so that they can go on.
    """
    if sent is None:
        return Sent(_wanting(visit, place), {}) if visit.is_wanted(place) else None
    if visit.is_limited and sent.problems:
        sent.problems = {**_wanting(visit, place), **sent.problems}
    return sent


def _wanting(visit: Visit, place: flow.Place) -> dict[str, str]:
    """What is said beside the questions of a page that lack an answer, of those that this visit is shown."""
    questionnaire = questionnaire_from(visit.study.questionnaire)
    questions = {question.key: question for question in questionnaire.block(place.step)}
    shown, stored = _shown(visit, place.step, place.rank), answers_about(visit.participant, place.rank)
    known, lacking = questionnaire.known(place.step, shown), questionnaire.missing(place.step, stored)
    seen = [key for key in lacking if asking.visible(questions[key], known)]
    if lacking and not seen:
        seen = [key for key in questionnaire.missing(place.step, shown) if asking.visible(questions[key], known)]
    return {key: asking.wanting_text(questions[key], shown.get(key)) for key in seen}


def asked_of(
    visit: Visit, block: str, rank: int = 0, sent: Sent | None = None, hints: dict[str, str] | None = None
) -> list[asking.Asked]:
    """The questions of a block with the answers they have."""
    return asking.page_of(
        questionnaire_from(visit.study.questionnaire),
        block,
        _shown(visit, block, rank),
        language=visit.language,
        orders=shown_orders(participant=visit.participant, block=block),
        raw_values=sent.typed if sent else {},
        hints=hints,
        problems=sent.problems if sent else {},
    )


@of_participant
@true_step
def item(visit: Visit, rank: int) -> HttpResponse:
    """The questions about one recommended item; each answer is stored as it is given."""
    place = flow.Place(flow.ITEMS, rank)
    if visit.request.method != "POST":
        return _item_page(visit, rank)
    sent = taken(visit, ITEMS, rank)
    if sent.may_leave:
        finishing.finish_item(participant=visit.participant, rank=rank)
        length = int(visit.study.settings["list_length"])
        return visit.over() or visit.lead_to(visit.here if visit.is_wanted(place) else flow.next_place(place, length))
    if visit.is_htmx and sent.problems:
        return HttpResponse(sent.first_problem, status=409, content_type="text/plain; charset=utf-8")
    if visit.is_htmx:
        return HttpResponse(status=204)  # the page shows the answer already
    if sent.problems or "continue" in visit.request.POST:
        return _item_page(visit, rank, sent)
    return visit.go(visit.address_of(place))


def _item_page(visit: Visit, rank: int, sent: Sent | None = None) -> HttpResponse:
    slots = slots_of(visit)
    place = flow.Place(flow.ITEMS, rank)
    before = flow.Place(flow.ITEMS, rank - 1) if rank > 1 else flow.Place(flow.RECOMMENDATIONS)
    context = {
        "step": "item",
        "rank": rank,
        "slot": slots[rank - 1],
        "questions": asked_of(visit, ITEMS, rank, marked(visit, place, sent), _hints(slots[rank - 1])),
        "here_url": visit.address_of(place),
        "back_url": "" if visit.is_limited else visit.links.to(before),
        "thumbs": visit.thumbs(slots, rank),
    }
    return visit.page("item", flow.ITEMS, **context)


def _hints(slot: pages.Slot) -> dict[str, str]:
    found = {"heard": _("Open the details to be sure.")}
    if not slot.item.trailer_url:
        found["trailer_seen"] = _("There is no trailer here; say whether you saw it somewhere else.")
    return found
