"""The recommendations, and the questions about each of them."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from studies import flow
from studies.forms.participant import value_of
from studies.questionnaires.schema import questionnaire_from
from studies.selectors import asking, pages
from studies.services import answers
from studies.views.participant.visit import Visit, of_participant, true_step


def slots_of(visit: Visit) -> list[pages.Slot]:
    """The participant's list, as it was computed once."""
    return pages.slots_of(visit.participant, links=visit.links)


@of_participant
@true_step
def recommendations(visit: Visit) -> HttpResponse:
    """The list, as it was computed once."""
    if visit.request.method == "POST":
        answers.finish_recommendations(participant=visit.participant)
        return visit.lead_to(flow.Place(flow.ITEMS, 1))
    return visit.page("recommendations", flow.RECOMMENDATIONS, slots=slots_of(visit))


@of_participant
@true_step
def item(visit: Visit, rank: int) -> HttpResponse:
    """The questions about one recommended item; each answer is stored as it is given."""
    if visit.request.method == "POST":
        does_go_on = "continue" in visit.request.POST
        before = pages.answers_by_rank(visit.participant).get(rank, {}) if does_go_on else {}
        n_posted = store_posted(visit, "items", rank)
        if does_go_on:
            after = pages.answers_by_rank(visit.participant).get(rank, {}) if n_posted else before
            missing = flow.missing_of_item(after)
            if not missing:
                answers.finish_item(participant=visit.participant, rank=rank)
                length = int(visit.study.settings["list_length"])
                return visit.lead_to(flow.next_place(flow.Place(flow.ITEMS, rank), length))
            return _item_page(visit, rank, missing=_passed_over(visit, missing, before))
        # The page shows the answer already; without the script it has to be drawn again.
        return HttpResponse(status=204) if visit.is_htmx else visit.lead_to(flow.Place(flow.ITEMS, rank))
    return _item_page(visit, rank)


def _passed_over(visit: Visit, missing: tuple[str, ...], before: dict[str, Any]) -> tuple[str, ...]:
    """The missing answers that the page had asked for: without the script others open only now, and blame nobody."""
    asked = {q.key: q for q in questionnaire_from(visit.study.questionnaire).items}
    return tuple(key for key in missing if key == "watched" or ("watched" in before and asked[key].is_shown(before)))


def store_posted(visit: Visit, block: str, rank: int) -> int:
    """Store every answer of the block that the form holds, and count those of which it had one."""
    questions = questionnaire_from(visit.study.questionnaire).block(block)
    posted = {q.key: value_of(q, visit.request.POST[q.key]) for q in questions if q.key in visit.request.POST}
    for question in questions:
        if question.key not in posted:
            continue
        if question.shown_if is not None and question.shown_if[0] in posted and not question.is_shown(posted):
            continue  # an answer left in the form from before the one that hides it was changed
        answers.answer(
            participant=visit.participant,
            question=question.key,
            value=posted[question.key],
            rank=rank,
            provenance=visit.provenance,
            client_at=visit.client_at,
        )
    return len(posted)


def _item_page(visit: Visit, rank: int, *, missing: tuple[str, ...] = ()) -> HttpResponse:
    slots = slots_of(visit)
    mine = visit.given().get(rank, {})
    place = flow.Place(flow.ITEMS, rank)
    asked = [
        asking.asked(
            question,
            mine,
            language=visit.language,
            when="watched" if question.wordings else "",
            hint=_hint(question.key, slots[rank - 1]),
            problem=_("Please answer this one.") if question.key in missing else "",
        )
        for question in questionnaire_from(visit.study.questionnaire).items
    ]
    before = flow.Place(flow.ITEMS, rank - 1) if rank > 1 else flow.Place(flow.RECOMMENDATIONS)
    context = {
        "step": "item",
        "rank": rank,
        "slot": slots[rank - 1],
        "questions": asked,
        "here_url": visit.links.to(place),
        "back_url": "" if visit.is_limited else visit.links.to(before),
        "thumbs": visit.thumbs(slots, rank),
    }
    return visit.page("item", flow.ITEMS, **context)


def _hint(key: str, slot: pages.Slot) -> str:
    if key == "heard":
        return _("Open the details to be sure.")
    if key == "trailer_seen" and not slot.item.trailer_url:
        return _("We have no trailer for this film; say whether you saw it somewhere else.")
    return ""
