"""How the remote recommenders of a study answer: for its live page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from django.db.models import Sum
from django.utils import timezone

from evaluation.enums import ModelOrigin
from evaluation.models import RemoteRecommender
from studies.models import ListRequest, Study


@dataclass(frozen=True)
class ServiceLine:
    """A condition's service: its version, its answers to participants, and its breaker."""

    condition: str
    service: str
    version: str
    n_answered: int
    n_open: int
    n_failed: int  # attempts without an answer
    seconds: float | None  # median of the answers
    slowest: float | None  # nine of ten were quicker
    is_left_alone: bool
    error: str  # of the newest request that waits for an answer


def service_lines(study: Study, mode: str) -> Iterator[ServiceLine]:
    """One line per condition with a remote recommender, in order."""
    now = timezone.now()
    remote = study.conditions.filter(model__origin=ModelOrigin.REMOTE)
    for condition in remote.select_related("model").order_by("position"):
        facts = condition.model.provenance
        asked = ListRequest.objects.filter(participant__condition=condition, participant__mode=mode)
        seconds = [each for each in asked.values_list("seconds", flat=True) if each is not None]
        service = RemoteRecommender.objects.filter(name=facts["service"]).first()
        waiting = asked.filter(answer__isnull=True)
        newest = waiting.exclude(error="").order_by("-pk").first()
        yield ServiceLine(
            condition=condition.label,
            service=facts["service"],
            version=facts["release"],
            n_answered=len(seconds),
            n_open=waiting.count(),
            n_failed=(asked.aggregate(n=Sum("attempts"))["n"] or 0) - len(seconds),
            seconds=float(np.median(seconds)) if seconds else None,
            slowest=float(np.quantile(seconds, 0.9)) if seconds else None,
            is_left_alone=service is not None and service.open_until is not None and service.open_until > now,
            error=newest.error if newest else "",
        )
