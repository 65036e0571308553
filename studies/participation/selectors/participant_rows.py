"""Participants, their study, their questions and their answers as the participants' pages read them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from studies.design.selectors.placeholders import content_of
from studies.instrument.flow import Place
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


def answers_known(participant: Participant, occasion: int) -> QuerySet[Response]:
    """Return the answers that pages of an occasion know: those about its list, and those asked once."""
    rows = Response.objects.filter(participant=participant.pk).order_by()
    if occasion == 1:
        return rows.filter(occasion=1)
    questionnaire = content_of(participant.study).questionnaire
    of_lists = [question.key for block in questionnaire.repeated for question in questionnaire.block(block)]
    return rows.filter(Q(occasion=occasion) | (Q(occasion=1) & ~Q(question__in=of_lists)))


def answers_by_rank(
    participant: Participant, occasion: int = 1, since: datetime | None = None
) -> dict[int, dict[str, Any]]:
    """Return the answers that pages of an occasion know: rank (0: about the person or the list) → question → value.

    With `since`, only those given or changed after it.
    """
    rows = answers_known(participant, occasion)
    if since is not None:
        rows = rows.filter(answered_at__gte=since)
    by_rank: dict[int, dict[str, Any]] = {}
    for rank, question, value in rows.values_list("rank", "question", "value"):
        by_rank.setdefault(rank, {})[question] = value
    return by_rank


def answers_at(participant: Participant, at: Place) -> dict[str, Any]:
    """Return the answers about the person and the list of a page, with those about its item, by question."""
    rows = answers_known(participant, at.occasion).filter(rank__in={0, at.rank})
    # Answers about the item come last and take precedence.
    return dict(rows.order_by("rank").values_list("question", "value"))


def ratings_given(participant: Participant) -> dict[int, ProfileRating]:
    """Return the participant's ratings by the key of the item."""
    return {row.item_id: row for row in ProfileRating.objects.filter(participant=participant.pk).order_by()}


def questionnaires_of(participant: Participant, occasion: int = 1) -> Callable[[int], Questionnaire]:
    """Return the questionnaire by the rank of an item in the list of an occasion; at rank 0 it is the whole one.

    Some items have no sample to ask about.
    """
    content = content_of(participant.study)
    if content.for_items_without_sample is content.questionnaire:
        return lambda rank: content.questionnaire
    of_list = {"recommendation_list__participant": participant.pk, "recommendation_list__occasion": occasion}
    slots = RecommendedItem.objects.filter(**of_list, has_trailer=False)
    without = frozenset(slots.order_by().values_list("rank", flat=True))
    return lambda rank: content.for_items_without_sample if rank in without else content.questionnaire


def questionnaire_at(participant: Participant, at: Place) -> Questionnaire:
    """Return the questionnaire that is asked of the item of a page; on other pages it is the whole one."""
    if not at.rank:
        return content_of(participant.study).questionnaire
    return questionnaires_of(participant, at.occasion)(at.rank)
