"""Check a study's own design before it is tested: what its data say of how they were collected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from statistics import median

import numpy as np
from django.db.models import Count

from analysis.read.inputs import Answers
from analysis.read.responses import Reading
from analysis.read.sample import Opened
from analysis.results.design_checks import (
    AtTheEnd,
    DesignCheck,
    NegativeItem,
    OtherDays,
    OtherLengths,
    Overdispersed,
    SeveralConditions,
    Ungraded,
)
from inference.counts import overdispersion
from inference.rank_tests import kruskal_wallis
from inference.results import Undefined
from studies.models import ExternalId, Participant
from studies.monitoring.selectors.quality import PERSON_NAMES

LEVEL = 0.001  # below which conditions count as collected at different times, and counts as overdispersed
HALF = 0.5  # of the ratings of a condition at one end of the scale
MANY_UNGRADED = 0.2  # of the participants
LOWEST, HIGHEST = 1, 5  # ratings of items
FEWEST_ROWS = 10  # complete answers to a scale, below which a correlation says little
DAY = 86_400  # seconds


def design_checks(reading: Reading, opened: Opened) -> tuple[DesignCheck, ...]:
    """Everything that the checks found; empty where they found nothing."""
    answers = reading.analysed
    return (
        *_people(reading), *_lengths(answers), *_days(reading), *_counts(reading, opened), *_ends(answers),
        *_ungraded(answers), *_negative_items(answers),
    )  # fmt: skip


def _people(reading: Reading) -> Iterator[DesignCheck]:
    """Entry refuses a second participation by a panel's id, but not by a parameter that a researcher's own link has."""
    ids = ExternalId.objects.filter(participant__in=reading.keys, name__in=PERSON_NAMES).order_by()
    conditions = Count("participant__condition", distinct=True)
    n = ids.values("name", "value").annotate(conditions=conditions).filter(conditions__gt=1).count()
    if n:
        yield SeveralConditions(n=n)


def _counts(reading: Reading, opened: Opened) -> Iterator[DesignCheck]:
    for name, counts in (("details", opened.details), ("trailers", opened.trailers)):
        by_condition: dict[str, list[int]] = defaultdict(list)
        for person, key in zip(reading.analysed.people, reading.keys, strict=True):
            by_condition[person.condition].append(counts.get(key, 0))
        spread = overdispersion(by_condition)
        if not isinstance(spread, Undefined) and spread.p < LEVEL:
            yield Overdispersed(name=name, dispersion=spread.dispersion)


def _lengths(answers: Answers) -> Iterator[DesignCheck]:
    sizes = {name: [person.n_items for person in answers.of(name)] for name in answers.conditions}
    known = {name: own for name, own in sizes.items() if own}
    if len({tuple(sorted(set(own))) for own in known.values()}) > 1:
        yield OtherLengths(
            fewest={name: min(own) for name, own in known.items()},
            most={name: max(own) for name, own in known.items()},
        )


def _days(reading: Reading) -> Iterator[DesignCheck]:
    rows = Participant.objects.filter(pk__in=reading.keys, assigned_at__isnull=False).order_by("assigned_at")
    moments = [(label, at) for label, at in rows.values_list("condition__label", "assigned_at") if at is not None]
    days: dict[str, list[float]] = defaultdict(list)
    for label, at in moments:
        days[str(label)].append((at - moments[0][1]).total_seconds() / DAY)
    tested = kruskal_wallis(days)
    if not isinstance(tested, Undefined) and tested.p < LEVEL:
        yield OtherDays(median_day={name: median(own) for name, own in days.items()}, p=tested.p)


def _ends(answers: Answers) -> Iterator[DesignCheck]:
    for name in answers.conditions:
        ratings = [slot.rating for slot in answers.shown if slot.condition == name]
        for end, is_ceiling in ((HIGHEST, True), (LOWEST, False)):
            if ratings and (share := ratings.count(end) / len(ratings)) >= HALF:
                yield AtTheEnd(condition=name, is_ceiling=is_ceiling, share=share)


def _ungraded(answers: Answers) -> Iterator[DesignCheck]:
    sizes = [person.n_items for person in answers.people]
    if sum(sizes) != len(answers.shown):
        return
    ratings = [slot.rating for slot in answers.shown]
    starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    lists = [ratings[start:end] for start, end in pairwise(starts)]
    n = sum(len(own) > 1 and len(set(own)) == 1 for own in lists)
    if lists and n >= MANY_UNGRADED * len(lists):
        yield Ungraded(n=n, analysed=len(lists))


def _negative_items(answers: Answers) -> Iterator[DesignCheck]:
    for scale in answers.scales:
        rows = [row for _condition, _score, row in scale.rows if None not in row]
        if len(scale.questions) < 2 or len(rows) < FEWEST_ROWS:
            continue
        values = np.array([[float(Fraction(answer or 0)) for answer in row] for row in rows])
        for column, question in enumerate(scale.questions):
            own, rest = values[:, column], np.delete(values, column, axis=1).sum(axis=1)
            if own.std() and rest.std() and (r := float(np.corrcoef(own, rest)[0, 1])) < 0:
                yield NegativeItem(scale=scale.name, question=question, r=r)
