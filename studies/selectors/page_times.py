"""How long pages take: in sight by what browsers told, or, where none told, from one page to the next by the server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, quantiles

from django.core.cache import cache
from django.db.models import Count, Min, QuerySet, Sum

from studies import flow
from studies.enums import Mode, ParticipantStatus
from studies.models import Event, Participant, Study

BROWSER, SERVER = "browser", "server"
KEPT_SECONDS = 15  # the live page asks every few seconds


@dataclass(frozen=True)
class Spent:
    """What one participant spent on one page: seconds in sight and out of sight, None where no browser told."""

    seconds: float | None = None
    hidden_seconds: float | None = None
    n_views: int = 0


@dataclass(frozen=True)
class PageSummary:
    """Seconds that a page of one name is in sight, over completed participants."""

    page: str
    mode: str
    n: int
    n_pages: int
    median: float | None
    quartile_1: float | None
    quartile_3: float | None


@dataclass(frozen=True)
class StepTime:
    """Seconds that a step takes, over completed participants; `source` says whose clock it is, "" without any."""

    step: str
    n: int
    median: float | None
    quartile_1: float | None
    quartile_3: float | None
    source: str


def spent_by_page(study: Study, modes: Sequence[str]) -> dict[int, dict[tuple[str, int], Spent]]:
    """What everybody of these modes spent, by participant, then page and rank."""
    rows = Event.objects.filter(participant__study=study, participant__mode__in=modes).order_by()
    found: dict[int, dict[tuple[str, int], Spent]] = defaultdict(dict)
    views = rows.filter(kind="page_view").values_list("participant_id", "page", "rank").annotate(n=Count("pk"))
    for participant, page, rank, n in views:
        found[participant][page, rank] = Spent(n_views=n)
    left = rows.filter(kind="page_left").values_list("participant_id", "page", "rank")
    for participant, page, rank, seconds, hidden in left.annotate(s=Sum("seconds"), h=Sum("hidden_seconds")):
        n_views = found[participant].get((page, rank), Spent()).n_views
        found[participant][page, rank] = Spent(seconds, hidden, n_views)
    return dict(found)


def _spread(values: Iterable[float]) -> tuple[float | None, float | None, float | None]:
    """Median and quartiles; None where there is nothing."""
    listed = sorted(values)
    if not listed:
        return None, None, None
    low, _middle, high = quantiles(listed, n=4, method="inclusive") if len(listed) > 1 else listed * 3
    return median(listed), low, high


def page_summaries(study: Study, modes: Sequence[str]) -> list[PageSummary]:
    """One line a mode and page, in the order of the way; pages about items count each by itself."""
    lines = []
    for mode in modes:
        completed = set(_completed(study, mode).values_list("pk", flat=True))
        spent = {pk: pages for pk, pages in spent_by_page(study, [mode]).items() if pk in completed}
        for step in _way(study)[:-1]:
            told = [
                (pk, one.seconds)
                for pk, pages in spent.items()
                for (page, _rank), one in pages.items()
                if page == step and one.seconds is not None
            ]
            lines.append(
                PageSummary(step, mode, len({pk for pk, _s in told}), len(told), *_spread(s for _pk, s in told))
            )
    return lines


def _way(study: Study) -> tuple[str, ...]:
    """The steps of the study's participants; the questions after the list only where there are some."""
    return tuple(step for step in flow.STEPS if step != flow.AFTER or study.questionnaire.get("after"))


def _completed(study: Study, mode: str) -> QuerySet[Participant]:
    return Participant.objects.filter(study=study, mode=mode, status=ParticipantStatus.COMPLETED)


def step_times_lately(study: Study, mode: str) -> list[StepTime]:
    """The same as `step_times`, as it stood at most a few seconds ago."""
    key = f"step-times:{study.pk}:{study.created_at.timestamp()}:{mode}"
    kept: list[StepTime] | None = cache.get(key)
    if kept is None:
        kept = step_times(study, mode)
        cache.set(key, kept, KEPT_SECONDS)
    return kept


def step_times(study: Study, mode: str) -> list[StepTime]:
    """One line a step that is timed, in the order of the way."""
    ends = dict(_completed(study, mode).values_list("pk", "completed_at"))
    in_sight: dict[str, dict[int, float]] = {step: defaultdict(float) for step in flow.STEPS}
    for pk, pages in spent_by_page(study, [mode]).items():
        for (page, _rank), one in pages.items():
            if pk in ends and page in in_sight and one.seconds is not None:
                in_sight[page][pk] += one.seconds
    first: dict[int, dict[str, float]] = defaultdict(dict)
    rows = Event.objects.filter(participant__study=study, participant__mode=mode, kind="page_view").order_by()
    for pk, page, at in rows.values_list("participant_id", "page").annotate(at=Min("at")):
        first[pk][page] = at.timestamp()
    lines = []
    way = _way(study)
    for step, following in pairwise(way):  # the last page is where the study is over
        told = in_sight[step]
        if told:
            lines.append(StepTime(step, len(told), *_spread(told.values()), BROWSER))
            continue
        elapsed = []
        for pk, end in ends.items():
            begun = first[pk].get(step)
            then = end.timestamp() if following == flow.THANKS and end else first[pk].get(following)
            if begun is not None and then is not None and then >= begun:
                elapsed.append(then - begun)
        lines.append(StepTime(step, len(elapsed), *_spread(elapsed), SERVER if elapsed else ""))
    return lines


def are_peoples(mode: str) -> bool:
    """Whether times of that mode are of people who read and think."""
    return mode != Mode.SIMULATED
