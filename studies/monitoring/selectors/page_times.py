"""Time on pages: in sight as reported by browsers, or else from one page to the next by the server's clock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, quantiles

from django.db.models import Count, Min, QuerySet, Sum

from studies.enums import ParticipantStatus
from studies.instrument.flow import flow_of
from studies.models import Event, Participant, Study

BROWSER, SERVER = "browser", "server"


@dataclass(frozen=True)
class TimeOnPage:
    """One participant's time on one page: seconds in sight and out of sight, None if no browser reported them."""

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


def time_by_page(study: Study, modes: Sequence[str]) -> dict[int, dict[tuple[str, int], TimeOnPage]]:
    """Time spent by all participants of these modes, by participant, then page and rank."""
    rows = Event.objects.filter(participant__study=study, participant__mode__in=modes).order_by()
    spent: dict[int, dict[tuple[str, int], TimeOnPage]] = defaultdict(dict)
    views = rows.filter(kind="page_view").values_list("participant_id", "page", "rank").annotate(n=Count("pk"))
    for participant, page, rank, n in views:
        spent[participant][page, rank] = TimeOnPage(n_views=n)
    left = rows.filter(kind="page_left").values_list("participant_id", "page", "rank")
    for participant, page, rank, seconds, hidden in left.annotate(s=Sum("seconds"), h=Sum("hidden_seconds")):
        n_views = spent[participant].get((page, rank), TimeOnPage()).n_views
        spent[participant][page, rank] = TimeOnPage(seconds, hidden, n_views)
    return dict(spent)


def _spread(values: Iterable[float]) -> tuple[float | None, float | None, float | None]:
    listed = sorted(values)
    if not listed:
        return None, None, None
    low, _middle, high = quantiles(listed, n=4, method="inclusive") if len(listed) > 1 else listed * 3
    return median(listed), low, high


def page_summaries(study: Study, modes: Sequence[str]) -> list[PageSummary]:
    """One line per mode and page, in the order of the steps; each item's page counts separately."""
    lines = []
    for mode in modes:
        completed = set(_completed(study, mode).values_list("pk", flat=True))
        spent = {pk: pages for pk, pages in time_by_page(study, [mode]).items() if pk in completed}
        for step in flow_of(study).keys[:-1]:
            timed = [
                (pk, time.seconds)
                for pk, pages in spent.items()
                for (page, _rank), time in pages.items()
                if page == step and time.seconds is not None
            ]
            lines.append(
                PageSummary(step, mode, len({pk for pk, _s in timed}), len(timed), *_spread(s for _pk, s in timed))
            )
    return lines


def _completed(study: Study, mode: str) -> QuerySet[Participant]:
    return Participant.objects.filter(study=study, mode=mode, status=ParticipantStatus.COMPLETED)


def step_times(study: Study, mode: str) -> list[StepTime]:
    """One line per timed step, in order."""
    ends = dict(_completed(study, mode).values_list("pk", "completed_at"))
    steps = flow_of(study).keys
    in_sight: dict[str, dict[int, float]] = {step: defaultdict(float) for step in steps}
    for pk, pages in time_by_page(study, [mode]).items():
        for (page, _rank), time in pages.items():
            if pk in ends and page in in_sight and time.seconds is not None:
                in_sight[page][pk] += time.seconds
    first: dict[int, dict[str, float]] = defaultdict(dict)
    rows = Event.objects.filter(participant__study=study, participant__mode=mode, kind="page_view").order_by()
    for pk, page, at in rows.values_list("participant_id", "page").annotate(at=Min("at")):
        first[pk][page] = at.timestamp()
    lines = []
    for step, following in pairwise(steps):  # the study ends with the last page
        seconds_by_participant = in_sight[step]
        if seconds_by_participant:
            lines.append(
                StepTime(step, len(seconds_by_participant), *_spread(seconds_by_participant.values()), BROWSER)
            )
            continue
        elapsed = []
        for pk, end in ends.items():
            begun = first[pk].get(step)
            then = end.timestamp() if following == steps[-1] and end else first[pk].get(following)
            if begun is not None and then is not None and then >= begun:
                elapsed.append(then - begun)
        lines.append(StepTime(step, len(elapsed), *_spread(elapsed), SERVER if elapsed else ""))
    return lines
