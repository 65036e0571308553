"""Search over what a researcher may see: studies, datasets, runs by number, participants by code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils.http import urlencode

from catalog.models import Dataset
from catalog.selectors.datasets import dataset_lines
from evaluation.selectors.runs import runs_shown_to
from studies.enums import Mode
from studies.models import Participant
from studies.team.permissions import OWNERS
from studies.team.selectors.studies import studies_shown_to

PER_KIND = 10
LONGEST_QUERY = 100
SHORTEST_CODE = 3  # fewer characters of a code would match participants by chance
_RUN = re.compile(r"(?:run\s*)?#?\s*(\d{1,18})", re.IGNORECASE)


@dataclass(frozen=True)
class Match:
    """One result: its name, what tells it apart, its address."""

    title: str
    text: str
    url: str


def query_from(text: str) -> str:
    """The words of a search, without what a database cannot hold."""
    return " ".join(text.replace("\x00", "").split())[:LONGEST_QUERY]


def search(researcher: Any, query: str) -> dict[str, list[Match]]:
    """Return the results by kind, at most PER_KIND of each; kinds without any are left out."""
    if not query:
        return {}
    kinds = {"Studies": _studies, "Datasets": _datasets, "Runs": _runs, "Participants": _participants}
    return {kind: matches for kind, of in kinds.items() if (matches := of(researcher, query))}


def _studies(researcher: Any, query: str) -> list[Match]:
    studies = studies_shown_to(researcher).filter(Q(title__icontains=query) | Q(slug__icontains=query))
    return [
        Match(
            study.title,
            "archived" if study.archived_at else study.get_status_display().lower(),
            reverse("studies:detail" if study.role else "studies:take-over", args=[study.slug]),  # type: ignore[attr-defined]
        )
        for study in studies[:PER_KIND]
    ]


def _datasets(researcher: Any, query: str) -> list[Match]:
    query = query.casefold()
    lines = [
        line
        for line in dataset_lines(Dataset.objects.visible_to(researcher))
        if query in line.dataset.title.casefold() or query in line.dataset.name.casefold()
    ]
    return [
        Match(
            line.dataset.title,
            f"{line.newest.n_items:,} items, {line.newest.n_ratings:,} ratings"
            + (", synthetic" if line.newest.is_synthetic else ""),
            line.newest.get_absolute_url(),
        )
        for line in lines[:PER_KIND]
    ]


def _runs(researcher: Any, query: str) -> list[Match]:
    number = _RUN.fullmatch(query)
    if number is None:
        return []
    runs = runs_shown_to(researcher).filter(pk=int(number[1]))
    return [
        Match(
            f"Run {run.pk}",
            f"{run.version}, {run.get_status_display().lower()}",
            reverse("evaluation:detail", args=[run.pk]),
        )
        for run in runs
    ]


def _participants(researcher: Any, query: str) -> list[Match]:
    """Participants of the studies whose list of participants the researcher may open."""
    if len(query) < SHORTEST_CODE:
        return []
    participants = Participant.objects.filter(
        code__istartswith=query,
        study__memberships__researcher=researcher,
        study__memberships__role__in=OWNERS,
    )
    return [
        Match(
            participant.code,
            participant.study.title
            + ("" if participant.mode == Mode.LIVE else f", {participant.get_mode_display().lower()}"),
            f"{reverse('studies:participants', args=[participant.study.slug])}?{urlencode({'q': participant.code})}",
        )
        for participant in participants.select_related("study").order_by("code", "pk")[:PER_KIND]
    ]
