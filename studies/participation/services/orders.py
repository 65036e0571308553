"""A participant's order of questions and choices: drawn once and stored."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from core.provenance import derived_seed
from studies.design.selectors.study_content import content_of
from studies.instrument.questionnaires.orders import has_random_order, order_of_questions, order_within
from studies.models import Participant


def shown_orders(*, participant: Participant, block: str) -> dict[str, Any]:
    """The orders of a block: ``questions`` as keys, and ``within`` the choices or rows of each question.

    Empty if nothing in the block is randomised. Drawn from the study's seed and the participant's code
    when the block is first shown, and never again.
    """
    questions = content_of(participant.study).questionnaire.block(block)
    if not has_random_order(questions):
        return {}
    stored = participant.shown_orders.get(block)
    if stored is not None:
        return dict(stored)
    seed = derived_seed(participant.study.seed, "questions", participant.code)
    orders: dict[str, Any] = {"within": {q.key: list(order_within(q, seed)) for q in questions if q.random_order}}
    if any(question.random_group for question in questions):
        orders["questions"] = list(order_of_questions(questions, seed))
    with transaction.atomic():
        current = Participant.objects.select_for_update(of=("self",)).get(pk=participant.pk)
        if block not in current.shown_orders:
            current.shown_orders = {**current.shown_orders, block: orders}
            Participant.objects.filter(pk=current.pk).update(shown_orders=current.shown_orders)
    participant.shown_orders = current.shown_orders
    return dict(current.shown_orders[block])
