"""Studies in which each person compares lists side by side, and completers as rows with planted preferences."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from evaluation.models import EvaluationRun
from studies.allocation.services.sequences import arrange
from studies.design.services.design import create_study
from studies.design.services.launch import launch_study
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, RecommendationList, RecommendedItem, Response, Study
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at
from tests.factories.studies import add_conditions

COMPARE = {"key": "compare", "kind": "compare"}
LISTS = {"lists": {"shown": "side_by_side", "pages": [{"key": "recommendations", "kind": "list"}, COMPARE]}}
FLOW = [
    {"key": "about", "kind": "questions", "block": "about", "assigns": True},
    {"key": "rate", "kind": "elicit"},
    LISTS,
    {"key": "thanks", "kind": "end"},
]
ASKED = {
    "overall": {"en": "Which list do you prefer overall?", "it": "Quale lista preferisci nel complesso?"},
    "varied": {"en": "Which list has more varied films?", "it": "Quale lista ha film più vari?"},
}
QUESTIONS = [{"key": key, "kind": "preference", "text": text} for key, text in ASKED.items()]
PLAN = {"variables": [], "outcomes": [f"compare.{key}" for key in ASKED]}
PRIMARY = {"perceived": "compare.overall", "objective": "recall"}


def side_by_side_study(
    k: int = 2, *, status: str = "live", run: EvaluationRun | None = None, slug: str = "compared", **settings: Any
) -> Study:
    """A study of `k` conditions of which each person compares every pair."""
    run = run or make_run_at("succeeded")
    study = create_study(
        slug=slug, version=run.version, run=run, per_condition=4, seed=1, owner=UserFactory(),
        settings={"flow": FLOW, "plan": PLAN, "primary": PRIMARY, **settings},
        questionnaire={"items": [], "overall": [], "compare": QUESTIONS},
    )  # fmt: skip
    add_conditions(study, k)
    arrange(study)
    if status == "live":
        launch_study(study=study)
    study.refresh_from_db()
    return study


def planted_comparison(
    study: Study,
    sequence: int,
    preferences: Sequence[Mapping[str, int] | int],
    *,
    shared: int = 0,
    mode: str = Mode.LIVE,
) -> Participant:
    """Someone who completed: their preferences of each occasion towards the list of the lower condition are negative.

    So many items are in both lists; with all of them the lists are identical.
    """
    arm = study.sequences.get(position=sequence)
    now = timezone.now()
    participant = Participant.objects.create(
        study=study, version=study.versions.last(), code=secrets.token_hex(6), token_digest=secrets.token_hex(32),
        entry_key=secrets.token_hex(32), mode=mode, sequence=arm, consented_at=now, assigned_at=now, last_seen_at=now,
        completed_at=now, status=ParticipantStatus.COMPLETED, step="thanks",
    )  # fmt: skip
    items, n = list(study.dataset_version.items.order_by("index")), study.design.list_length
    answers = [("age", 1, 30)]
    for occasion, (pair, own) in enumerate(zip(arm.occasions, preferences, strict=True), start=1):
        for side, position in enumerate(pair, start=1):
            condition = study.conditions.get(position=position)
            made = RecommendationList.objects.create(
                participant=participant, occasion=occasion, side=side, condition=condition,
                model_digest=condition.model_digest, seconds=0.01,
            )  # fmt: skip
            start = (side - 1) * (n - shared)
            RecommendedItem.objects.bulk_create(
                RecommendedItem(recommendation_list=made, rank=rank, item=items[start + rank - 1], score=1 / rank)
                for rank in range(1, n + 1)
            )
        towards = 1 if pair[0] < pair[1] else -1
        given = own if isinstance(own, Mapping) else dict.fromkeys(ASKED, own)
        answers += [(key, occasion, value * towards) for key, value in given.items()]
    Response.objects.bulk_create(
        Response(participant=participant, question=key, occasion=occasion, value=value)
        for key, occasion, value in answers
    )
    return participant
