"""Lists of recommenders behind HTTP for one profile, and the breaker that leaves a failing service in peace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import numpy as np
from django.db import transaction
from django.utils import timezone

from catalog.models import DatasetVersion
from catalog.selectors.item_fields import field_of
from catalog.selectors.ratings import item_ids_of
from core.errors import ParallaxError
from evaluation.enums import Sent
from evaluation.models import RemoteRecommender, TrainedModel
from evaluation.remote import client
from evaluation.remote.messages import Context, ListQuery, RatedItem, RatingScale
from evaluation.services.remote import recommender_named, service_of
from recommenders.data import History

UNREACHABLE, DOWN = "remote.unreachable", "remote.down"
MOST_FAILURES = 5  # attempts in a row, after which the breaker opens
OPEN = timedelta(seconds=30)
MOST_OPENINGS, WITHIN = 3, timedelta(minutes=10)


@dataclass(frozen=True)
class Served:
    """A recommendation list and the digest of the model that produced it.

    Slots without a model score are filled by popularity; their score is None.
    """

    items: tuple[int, ...]
    scores: tuple[float | None, ...]
    is_filled: tuple[bool, ...]
    seconds: float  # of a remote recommender those of the last attempt
    digest: str
    version: str = ""  # of a remote recommender
    attempts: int = 1  # to get the list of a remote recommender
    explanations: tuple[Mapping[str, str], ...] = ()  # of remote recommenders and uploads, by language, one per item
    facts: Mapping[str, Any] = field(default_factory=dict)  # whatever else a remote recommender said


def remote_list(
    *,
    model: TrainedModel,
    items: Sequence[int],
    ratings: Sequence[float],
    scale: tuple[float, float, float],
    n: int,
    left_out: Sequence[int],
    history: History | None,
    request: str,
) -> Served:
    """Ask the service of a model for a list, as `evaluation.services.serving.recommend` describes.

    A failed request is repeated under its id. Without an id it is not: a page waits for the list, as at a launch.

    Raises ParallaxError as `evaluation.remote.client.recommend` does; ``remote.unreachable`` at once while the breaker
    is open; ``remote.down`` where it has opened three times in ten minutes; ``remote.other_registration`` where the
    service would be sent other fields of the items than when the model was stored.
    """
    recommender, columns = recommender_named(model.provenance["service"]), _columns(model.version_id)
    service, sent = service_of(recommender), model.provenance.get("sent", Sent.IDS.value)
    if sent != service.sent:
        raise ParallaxError(
            "remote.other_registration",
            f"The recommender {service.name} is registered to be sent {service.sent}, and the lists of this model are "
            f"for {sent}. Register it with --send {sent} again, or store another model with check_recommender.",
        )
    _enter(recommender)
    ids, context = field_of(model.version, "ids"), history.context if history else {}
    language, in_order = context.get("language", "en"), _in_order(len(items), history)
    message = ListQuery(
        request=request or str(uuid4()),
        n=n,
        scale=RatingScale(low=scale[0], high=scale[1], step=scale[2]),
        profile=rated_items(
            model.version, sent, [items[at] for at in in_order], [ratings[at] for at in in_order], language
        ),
        exclude=[ids[item] for item in (*items, *left_out)],
        context=Context(language=language, answers=context.get("answers", {})),
    )
    try:
        service = service if request else replace(service, retry_after=())
        reply = client.recommend(service, message, version=model.provenance["release"], known=columns)
    except ParallaxError as refusal:
        if refusal.code == UNREACHABLE:
            _count(recommender.pk, refusal)
        raise
    if recommender.failures or recommender.open_until:  # its openings count on: a service may come and go
        RemoteRecommender.objects.filter(pk=recommender.pk).update(failures=0, open_until=None)
    listed = reply.content.items
    return Served(
        items=tuple(columns[each.item] for each in listed),
        scores=tuple(each.score for each in listed),
        is_filled=(False,) * len(listed),
        digest=model.digest,
        explanations=tuple(MappingProxyType(each.explanation) for each in listed),
        version=reply.content.version,
        attempts=reply.attempts,
        seconds=reply.seconds,
        facts=reply.content.facts,
    )


def rated_items(
    version: DatasetVersion, sent: str, items: Sequence[int], ratings: Sequence[float], language: str = "en"
) -> list[RatedItem]:
    """A profile in the order of rating as a service reads it, with what it is `sent` of the items; texts are in
    `language`, or in that of the dataset.
    """
    ids, by_language = field_of(version, "ids"), field_of(version, "texts") if sent == Sent.TEXTS else {}
    titles = None if sent == Sent.IDS else field_of(version, "titles")
    texts = [by_language[code] for code in (language, "") if code in by_language]
    return [
        RatedItem(
            item=ids[item],
            rating=float(rating),
            order=order,
            title=titles[item] if titles else None,
            text=next((own[item] for own in texts if own[item]), None),
        )
        for order, (item, rating) in enumerate(zip(items, ratings, strict=True), start=1)
    ]


@lru_cache(maxsize=8)
def _columns(version_id: int) -> Mapping[str, int]:
    """The index of each item by its id; versions do not change."""
    ids = item_ids_of(DatasetVersion.objects.get(pk=version_id)).tolist()
    return MappingProxyType({external_id: index for index, external_id in enumerate(ids)})


def _in_order(n: int, history: History | None) -> Sequence[int]:
    """Positions of the ratings of a profile, the first one given first."""
    known = None if history is None else history.times if history.times is not None else history.order
    return range(n) if known is None else np.argsort(np.asarray(known), kind="stable").tolist()


def _enter(recommender: RemoteRecommender) -> None:
    """Refuse while the breaker is open; after that, let one process probe."""
    until, now = recommender.open_until, timezone.now()
    if until is None:
        return
    row = RemoteRecommender.objects.filter(pk=recommender.pk, open_until=until)
    if now < until or not row.update(open_until=now + OPEN):
        raise ParallaxError(
            UNREACHABLE,
            f"The recommender {recommender.name} has failed {MOST_FAILURES} times in a row, and is asked again in "
            f"{OPEN.seconds} seconds at most.",
            {"service": recommender.name, "attempts": 0},
        )


@transaction.atomic
def _opened(recommender_id: int, attempts: int) -> list[str]:
    """Count failed attempts; returns the recent openings of the breaker."""
    row, now = RemoteRecommender.objects.select_for_update().get(pk=recommender_id), timezone.now()
    row.failures += attempts
    if row.failures >= MOST_FAILURES or row.open_until is not None:  # a probe that failed opens it again
        recent = [at for at in row.openings if datetime.fromisoformat(at) > now - WITHIN]
        row.failures, row.openings, row.open_until = 0, [*recent, now.isoformat()], now + OPEN
    row.save(update_fields=["failures", "openings", "open_until", "updated_at"])
    return list(row.openings)


def _count(recommender_id: int, refusal: ParallaxError) -> None:
    if len(_opened(recommender_id, refusal.extra["attempts"])) >= MOST_OPENINGS:
        raise ParallaxError(
            DOWN,
            f"{refusal} It was left alone for {OPEN.seconds} seconds {MOST_OPENINGS} times within "
            f"{WITHIN.seconds // 60} minutes.",
            refusal.extra,
        ) from refusal
