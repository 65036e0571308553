"""Participants, their study, their questions and their answers as the participants' pages read them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from studies.design.selectors.placeholders import content_of
from studies.instrument.questionnaires.schema import Questionnaire
from studies.models import Participant, ProfileRating, RecommendedItem, Response, Study

# What the pages need of a study; its texts and questions come from the cache of `content_of`.
OF_STUDY = (
    "slug", "title", "status", "seed", "settings", "created_at", "updated_at", "archived_at",
    *(f"dataset_version__{name}" for name in ("created_at", "content_hash", "n_items", "scale_low", "scale_high")),
    "dataset_version__dataset__item_language", "dataset_version__dataset__project",
)  # fmt: skip


# Built once, since every request uses it.
_with_study = (
    Participant.objects.select_related("study__dataset_version__dataset")
    .only(
        *(field.name for field in Participant._meta.concrete_fields),
        *(f"study__{name}" for name in OF_STUDY),
    )
    .order_by()
)


def participants_with_study() -> QuerySet[Participant]:
    """Return participants, each with the study, its dataset version and its dataset from the same query."""
    return _with_study.all()


def study_by_slug(slug: str) -> Study | None:
    """Return the study that a link names, with its dataset version, or None."""
    studies = Study.objects.select_related("dataset_version__dataset").only(*OF_STUDY)
    return studies.filter(slug=slug).order_by().first()


def participant_by_token(digest: str) -> Participant | None:
    """Return the participant whose link's token has this digest, with their study, or None."""
    return participants_with_study().filter(token_digest=digest).first()


def participant_by_entry(study: Study, digest: str) -> Participant | None:
    """Return the participant who entered the study by the key with this digest, or None."""
    return participants_with_study().filter(study=study, entry_key=digest).first()


def answers_by_rank(participant: Participant, since: datetime | None = None) -> dict[int, dict[str, Any]]:
    """Return the participant's answers: rank (0: about the person or the list) → question → value.

    With `since`, only those given or changed after it.
    """
    rows = Response.objects.filter(participant=participant.pk).order_by()
    if since is not None:
        rows = rows.filter(answered_at__gte=since)
    by_rank: dict[int, dict[str, Any]] = {}
    for rank, question, value in rows.values_list("rank", "question", "value"):
        by_rank.setdefault(rank, {})[question] = value
    return by_rank


def answers_about(participant: Participant, rank: int) -> dict[str, Any]:
    """Return the answers about the person and the list, with those about the item at `rank`, by question."""
    rows = Response.objects.filter(participant=participant.pk, rank__in={0, rank})
    # Answers about the item come last and take precedence.
    return dict(rows.order_by("rank").values_list("question", "value"))


def ratings_given(participant: Participant) -> dict[int, ProfileRating]:
    """Return the participant's ratings by the key of the item."""
    return {row.item_id: row for row in ProfileRating.objects.filter(participant=participant.pk).order_by()}


def questionnaires_of(participant: Participant) -> Callable[[int], Questionnaire]:
    """Return the questionnaire by the rank of an item; at rank 0 it is the whole one.

    Some items have no sample to ask about.
    """
    content = content_of(participant.study)
    if content.for_items_without_sample is content.questionnaire:
        return lambda rank: content.questionnaire
    slots = RecommendedItem.objects.filter(recommendation_list__participant=participant.pk, has_trailer=False)
    without = frozenset(slots.order_by().values_list("rank", flat=True))
    return lambda rank: content.for_items_without_sample if rank in without else content.questionnaire


def questionnaire_at(participant: Participant, rank: int) -> Questionnaire:
    """Return the questionnaire that is asked of the item at a rank; at rank 0 it is the whole one."""
    return questionnaires_of(participant)(rank) if rank else content_of(participant.study).questionnaire
