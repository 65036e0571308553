"""Participants with planted answers, as rows: conclusions of a report are then known by construction."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.files.document import document_of
from analysis.models import Report
from studies.enums import Mode, ParticipantStatus, Provenance
from studies.models import Participant, RecommendationList, RecommendedItem, Response, Study


def report_page(report: Report, name: str, *rest: str) -> str:
    """The address of a page of a report, by its name in `analysis.urls`."""
    return reverse(f"analysis:{name}", args=[report.study.slug, report.number, *rest])


def planted_person(
    study: Study,
    label: str,
    ratings: Sequence[int],
    satisfaction: int,
    *,
    mode: str = Mode.LIVE,
    n_watched: int = 1,
    n_heard: int = 2,
    first_item: int = 0,
    provenance: str = Provenance.PERSON,
) -> Participant:
    """Someone who has completed: the first items watched, the next ones heard of, the others new."""
    condition = study.conditions.get(label=label)
    now = timezone.now()
    participant = Participant.objects.create(
        study=study,
        version=study.versions.last(),
        code=secrets.token_hex(6),
        token_digest=secrets.token_hex(32),
        entry_key=secrets.token_hex(32),
        mode=mode,
        status=ParticipantStatus.COMPLETED,
        step="thanks",
        condition=condition,
        consented_at=now,
        assigned_at=now,
        completed_at=now,
        last_seen_at=now,
    )
    made = RecommendationList.objects.create(
        participant=participant, condition=condition, model_digest=condition.model_digest, seconds=0.01
    )
    items = list(study.dataset_version.items.order_by("index")[first_item : first_item + len(ratings)])
    RecommendedItem.objects.bulk_create(
        RecommendedItem(recommendation_list=made, rank=rank, item=item, score=1.0 / rank)
        for rank, item in enumerate(items, start=1)
    )
    answers = [("satisfaction", 0, satisfaction)]
    for rank, rating in enumerate(ratings, start=1):
        is_watched = rank <= n_watched
        answers.append(("watched", rank, is_watched))
        if not is_watched:
            answers.append(("heard", rank, rank <= n_watched + n_heard))
            answers.append(("trailer_seen", rank, False))
        answers.append(("rating", rank, rating))
    Response.objects.bulk_create(
        Response(participant=participant, question=question, rank=rank, value=value, provenance=provenance)
        for question, rank, value in answers
    )
    return participant


def plant(study: Study, satisfactions: Mapping[str, Sequence[int]], **kwargs: object) -> None:
    """One participant for each satisfaction, who rates every item the same."""
    n_items = study.design.list_length
    for label, answers in satisfactions.items():
        for answer in answers:
            planted_person(study, label, [answer] * n_items, answer, **kwargs)  # type: ignore[arg-type]


def page_without_pictures(report: Report) -> str:
    """The report and its supplement as pages, for tests of their words: pictures take seconds to draw."""
    context = {"document": document_of(report)}
    return "".join(render_to_string(f"analysis/parts/{part}.html", context) for part in ("_body", "_supplement"))


def every_page(client: Client, report: Report) -> str:
    """The summary and the chapters of a report as the console serves them."""
    first = client.get(report.get_absolute_url())
    assert first.status_code == 200
    chapters = [client.get(report_page(report, "chapter", key)).text for key in chapters_on(first)]
    return "".join([first.text, *chapters])


def chapters_on(page: Any) -> list[str]:
    """The keys of the chapters that the first page of a report leads to."""
    return [link.key for link in page.context["page"].chapters]
