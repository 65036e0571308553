"""Studies in which each person has several lists, and people in them as rows, with what they answered."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from studies.enums import Mode, ParticipantStatus, Provenance
from studies.models import (
    Event,
    Participant,
    ProfileRating,
    RecommendationList,
    RecommendedItem,
    Response,
    Study,
)
from tests.factories.studies import add_sequences, make_study

ABOUT_PAGE = {"key": "about", "kind": "questions", "block": "about", "assigns": True}
LISTED = [
    {"key": "recommendations", "kind": "list"},
    {"key": "items", "kind": "item_questions", "block": "items"},
    {"key": "overall", "kind": "questions", "block": "overall"},
]


def flow_of_lists(pages: Sequence[dict[str, Any]] = LISTED, **lists: Any) -> list[dict[str, Any]]:
    """The flow of 2011 with these pages and settings of its lists."""
    return [
        ABOUT_PAGE,
        {"key": "rate", "kind": "elicit"},
        {"lists": {**lists, "pages": [*pages]}},
        {"key": "thanks", "kind": "end"},
    ]


def in_turn_study(target: int = 4, **given: Any) -> Study:
    """A live study of two conditions that each person meets in turn."""
    study = make_study(**given)
    study.settings = {**study.settings, "flow": flow_of_lists(shown="in_turn")}
    study.save(update_fields=["settings"])
    if not study.sequences.exists():
        add_sequences(study, target)
    return study


def planted_in_turn(
    study: Study,
    sequence: int,
    ratings: Sequence[Sequence[int]],
    *,
    satisfaction: Sequence[int] = (3, 4, 5),
    mode: str = Mode.LIVE,
    provenance: str = Provenance.PERSON,
    **fields: Any,
) -> Participant:
    """Someone who was assigned to a sequence, and rated the items of their lists, those of each occasion.

    They have completed if they rated the items of every list; else they are at the last page of the last list that they
    rated. Each list has items of its own, and the first was watched.
    """
    arm = study.sequences.get(position=sequence)
    is_done = len(ratings) == len(arm.occasions)
    now = timezone.now()
    state = {"status": ParticipantStatus.COMPLETED, "step": "thanks", "completed_at": now}
    part = {"status": ParticipantStatus.ACTIVE, "step": "overall", "occasion": max(len(ratings), 1)}
    participant = Participant.objects.create(
        study=study,
        version=study.versions.last(),
        code=secrets.token_hex(6),
        token_digest=secrets.token_hex(32),
        entry_key=secrets.token_hex(32),
        mode=mode,
        sequence=arm,
        consented_at=now,
        assigned_at=now,
        last_seen_at=now,
        **{**(state if is_done else part), **fields},
    )
    answers: list[tuple[str, int, int, Any]] = [("age", 0, 1, 30), ("first_visit", 0, 1, True)]
    items = list(study.dataset_version.items.order_by("index"))
    n = study.design.list_length
    ProfileRating.objects.bulk_create(
        ProfileRating(participant=participant, item=item, rating=4, provenance=provenance) for item in items[-5:]
    )
    for occasion, positions in enumerate(arm.occasions, start=1):
        for side, position in enumerate(positions, start=1):
            condition = study.conditions.get(position=position)
            made = RecommendationList.objects.create(
                participant=participant, occasion=occasion, side=side, condition=condition,
                model_digest=condition.model_digest, seconds=0.01,
            )  # fmt: skip
            start = n * (occasion - 1 + (side - 1) * len(arm.occasions))
            RecommendedItem.objects.bulk_create(
                RecommendedItem(recommendation_list=made, rank=rank, item=items[start + rank - 1], score=1 / rank)
                for rank in range(1, n + 1)
            )
        if occasion > len(ratings):
            continue
        for rank, rating in enumerate(ratings[occasion - 1], start=1):
            answers += [("watched", rank, occasion, rank == 1), ("rating", rank, occasion, rating)]
            if rank > 1:
                answers += [("heard", rank, occasion, False), ("trailer_seen", rank, occasion, False)]
        answers.append(("satisfaction", 0, occasion, satisfaction[occasion - 1]))
        Event.objects.create(
            participant=participant, kind="details_opened", page="recommendations", occasion=occasion,
            facts={"item": items[n * (occasion - 1)].external_id},
        )  # fmt: skip
    Response.objects.bulk_create(
        Response(participant=participant, question=key, rank=rank, occasion=at, value=value, provenance=provenance)
        for key, rank, at, value in answers
    )
    return participant
