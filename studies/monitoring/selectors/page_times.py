"""Time on pages: in sight as reported by browsers, or else from one page to the next by the server's clock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, quantiles

from django.db.models import Count, Min, QuerySet, Sum

from studies.allocation.selectors.allocations import n_occasions
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
    occasion: int
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


def time_by_page(study: Study, modes: Sequence[str]) -> dict[int, dict[tuple[str, int, int], TimeOnPage]]:
    """Time spent by all participants of these modes, by participant, then page, rank and occasion."""
    rows = Event.objects.filter(participant__study=study, participant__mode__in=modes).order_by()
    spent: dict[int, dict[tuple[str, int, int], TimeOnPage]] = defaultdict(dict)
    views = (
        rows.filter(kind="page_view").values_list("participant_id", "page", "rank", "occasion").annotate(n=Count("pk"))
    )
    for participant, page, rank, occasion, n in views:
        spent[participant][page, rank, occasion] = TimeOnPage(n_views=n)
    left = rows.filter(kind="page_left").values_list("participant_id", "page", "rank", "occasion")
    for participant, *at, seconds, hidden in left.annotate(s=Sum("seconds"), h=Sum("hidden_seconds")):
        page, rank, occasion = at
        n_views = spent[participant].get((page, rank, occasion), TimeOnPage()).n_views
        spent[participant][page, rank, occasion] = TimeOnPage(seconds, hidden, n_views)
    return dict(spent)


def _spread(values: Iterable[float]) -> tuple[float | None, float | None, float | None]:
    listed = sorted(values)
    if not listed:
        return None, None, None
    low, _middle, high = quantiles(listed, n=4, method="inclusive") if len(listed) > 1 else listed * 3
    return median(listed), low, high


def page_summaries(study: Study, modes: Sequence[str]) -> list[PageSummary]:
    """One line per mode, page and occasion, in the order of the steps; each item's page counts separately."""
    lines, visits = [], flow_of(study).places((1,) * n_occasions(study))
    for mode in modes:
        completed = set(_completed(study, mode).values_list("pk", flat=True))
        spent = {pk: pages for pk, pages in time_by_page(study, [mode]).items() if pk in completed}
        for visit in visits[:-1]:
            timed = [
                (pk, time.seconds)
                for pk, pages in spent.items()
                for (page, _rank, occasion), time in pages.items()
                if (page, occasion) == (visit.page, visit.occasion) and time.seconds is not None
            ]
            n, spread = len({pk for pk, _s in timed}), _spread(s for _pk, s in timed)
            lines.append(PageSummary(visit.page, visit.occasion, mode, n, len(timed), *spread))
    return lines


def _completed(study: Study, mode: str) -> QuerySet[Participant]:
    return Participant.objects.filter(study=study, mode=mode, status=ParticipantStatus.COMPLETED)


def step_times(study: Study, mode: str) -> list[StepTime]:
    """One line per timed step, in order; a page of several lists is one step."""
    ends = dict(_completed(study, mode).values_list("pk", "completed_at"))
    steps = flow_of(study).keys
    in_sight: dict[str, dict[int, float]] = {step: defaultdict(float) for step in steps}
    for pk, pages in time_by_page(study, [mode]).items():
        for (page, _rank, _occasion), time in pages.items():
            if pk in ends and page in in_sight and time.seconds is not None:
                in_sight[page][pk] += time.seconds
    first: dict[int, dict[tuple[str, int], float]] = defaultdict(dict)
    rows = Event.objects.filter(participant__study=study, participant__mode=mode, kind="page_view").order_by()
    for pk, page, occasion, at in rows.values_list("participant_id", "page", "occasion").annotate(at=Min("at")):
        first[pk][page, occasion] = at.timestamp()
    lines, visits = [], [(visit.page, visit.occasion) for visit in flow_of(study).places((1,) * n_occasions(study))]
    for step in steps[:-1]:  # the study ends with the last page
        seconds_by_participant = in_sight[step]
        if seconds_by_participant:
            lines.append(
                StepTime(step, len(seconds_by_participant), *_spread(seconds_by_participant.values()), BROWSER)
            )
            continue
        elapsed = []
        of_step = [pair for pair in pairwise(visits) if pair[0][0] == step]
        for pk, end in ends.items():
            last = {visits[-1]: end.timestamp()} if end else {}
            moments = {**first[pk], **last}
            parts = [moments[then] - moments[begun] for begun, then in of_step if {begun, then} <= moments.keys()]
            if len(parts) == len(of_step) and min(parts) >= 0:
                elapsed.append(sum(parts))
        lines.append(StepTime(step, len(elapsed), *_spread(elapsed), SERVER if elapsed else ""))
    return lines
