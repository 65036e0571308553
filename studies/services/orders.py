"""The order in which a participant meets questions and choices: drawn once, and kept."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from core.provenance import derived_seed
from studies.models import Participant
from studies.questionnaires.orders import has_random_order, order_of_questions, order_within
from studies.questionnaires.schema import questionnaire_from


def shown_orders(*, participant: Participant, block: str) -> dict[str, Any]:
    """The orders of a block: ``questions`` as keys, and ``within`` the choices or rows of each question.

    Empty where nothing of the block is in a random order. Drawn from the study's seed and the participant's code
    when the block is first shown, and never again.
    """
    questions = questionnaire_from(participant.study.questionnaire).block(block)
    if not has_random_order(questions):
        return {}
    kept = participant.shown_orders.get(block)
    if kept is not None:
        return dict(kept)
    seed = derived_seed(participant.study.seed, "questions", participant.code)
    drawn: dict[str, Any] = {"within": {q.key: list(order_within(q, seed)) for q in questions if q.random_order}}
    if any(question.random_group for question in questions):
        drawn["questions"] = list(order_of_questions(questions, seed))
    with transaction.atomic():
        current = Participant.objects.select_for_update(of=("self",)).get(pk=participant.pk)
        if block not in current.shown_orders:
            current.shown_orders = {**current.shown_orders, block: drawn}
            Participant.objects.filter(pk=current.pk).update(shown_orders=current.shown_orders)
    participant.shown_orders = current.shown_orders
    return dict(current.shown_orders[block])
