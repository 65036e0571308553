"""Quality flags of a study's participants, and who is excluded with which reason."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, F, Max, Min, TextField, When
from django.db.models.functions import Cast

from studies import flags, flow
from studies.batteries import Battery, batteries_of
from studies.enums import Mode, ParticipantStatus
from studies.flags import Flag, Given, Marked, Thresholds
from studies.models import Exclusion, ExternalId, Participant, ProfileRating, Response, Study
from studies.questionnaires.questions import IN_WORDS, OTHER
from studies.questionnaires.schema import ABOUT, AFTER, OVERALL, Question, Questionnaire, questionnaire_from
from studies.selectors.responses import MEASURED, RATING, Record, public_ids, records_of

PERSON_NAMES = frozenset(
    {"PROLIFIC_PID", "prolific_pid", "workerId", "worker_id", "participant_label", "external_id", "id"}
)
WHERE = {ABOUT: "about the person", OVERALL: "about the list", AFTER: "after the list"}


@dataclass(frozen=True)
class Looked:
    """A participant with what asks for a second look, and whether they are excluded."""

    participant: Participant
    public_id: str
    flags: tuple[Flag, ...]
    exclusion: Exclusion | None


@dataclass(frozen=True)
class Sought:
    """Where a questionnaire's flags are looked for: its attention checks, what is compared from item to item (all but
    what is said in own words), and its batteries."""

    checks: tuple[Question, ...]
    compared: tuple[str, ...]
    batteries: tuple[Battery, ...]


def sought_in(asked: Questionnaire) -> Sought:
    """Where the flags of that questionnaire are looked for."""
    of_items = (question.key for question in asked.items if question.kind not in IN_WORDS)
    return Sought(
        checks=tuple(question for question in asked.questions if question.expects is not None),
        compared=tuple(dict.fromkeys((*MEASURED, *of_items))),
        batteries=batteries_of(asked),
    )


def excluded(study: Study, modes: Sequence[str]) -> dict[int, Exclusion]:
    """The exclusions in force, by the participant's key."""
    rows = Exclusion.objects.filter(
        participant__study=study, participant__mode__in=modes, undone_at__isnull=True
    ).select_related("excluded_by")
    return {row.participant_id: row for row in rows.order_by("id")}


def exclusion_history(study: Study) -> list[Exclusion]:
    """Every exclusion there ever was, undone ones too, newest first; those of simulated participants come last."""
    rows = Exclusion.objects.filter(participant__study=study)
    newest = rows.select_related("participant", "excluded_by", "undone_by").order_by("-id")
    return sorted(newest, key=lambda row: row.participant.mode != Mode.LIVE)


def _shared_ids(study: Study) -> dict[int, list[str]]:
    """For each participant the others with the same id of the same site, by their public ids.

    Whoever previews a study with an id of their own is nobody's double.
    """
    holders: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    rows = ExternalId.objects.filter(study=study, name__in=PERSON_NAMES).order_by("participant_id")
    for mode, name, value, participant in rows.values_list("participant__mode", "name", "value", "participant_id"):
        holders[mode, name, value].append(participant)
    several = [found for found in holders.values() if len(found) > 1]
    ids = public_ids(study) if several else {}
    shared: dict[int, list[str]] = defaultdict(list)
    for found in several:
        for one in found:
            shared[one] += [ids[other] for other in found if other != one]
    return {pk: sorted(set(others)) for pk, others in shared.items() if others}


def _failed(record: Record, checks: Sequence[Question]) -> list[str]:
    found = []
    for check in checks:
        given = [record.answers.get(check.key), *(item.answers.get(check.key) for item in record.items)]
        if any(value is not None and value != check.expects for value in given):
            found.append(check.key)
    if not found and record.participant.status == ParticipantStatus.ATTENTION_FAILED:
        found.append("as the study's own rule found")
    return found


def _seconds(participant: Participant) -> float | None:
    if participant.completed_at is None:
        return None
    return (participant.completed_at - participant.consented_at).total_seconds()


def _plain(value: Any) -> Any:
    """An answer as it is compared with another item's: what was said in own words is left out."""
    if isinstance(value, dict):
        return OTHER if OTHER in value else tuple(sorted(value.items()))
    return tuple(map(_plain, value)) if isinstance(value, list) else value


def _marked(record: Record, batteries: Sequence[Battery]) -> list[Marked]:
    """What was marked on points in the blocks that the participant has been through."""
    person = record.participant
    step = flow.THANKS if person.status == ParticipantStatus.COMPLETED else person.step
    reached = flow.STEPS.index(step)
    return [
        Marked(WHERE[one.block], one.n_points, one.marked(record.answers))
        for one in batteries
        if flow.STEPS.index(one.block) < reached
    ]


def _given(record: Record, sought: Sought, shared: dict[int, list[str]]) -> Given:
    answered = [item.answers for item in record.items if item.answers.get(RATING) is not None]
    return Given(
        seconds=_seconds(record.participant),
        items=[tuple(_plain(answers.get(key)) for key in sought.compared) for answers in answered],
        ratings=[rating.rating for rating in record.profile] + [int(answers[RATING]) for answers in answered],
        failed_checks=_failed(record, sought.checks),
        same_id=shared.get(record.participant.pk, ()),
        marked=_marked(record, sought.batteries),
    )


def _shortest(study: Study, modes: Sequence[str], thresholds: Thresholds) -> tuple[dict[str, float], set[int]]:
    """The shortest time that is not too fast, by mode, and who took less. Simulated people are never too fast."""
    rows = Participant.objects.filter(study=study, mode__in=modes, completed_at__isnull=False).order_by("pk")
    times: dict[str, dict[int, float]] = defaultdict(dict)
    for pk, mode, start, end in rows.values_list("pk", "mode", "consented_at", "completed_at"):
        times[mode][pk] = (end - start).total_seconds()  # type: ignore[operator]
    shortest = {
        mode: 0.0 if mode == Mode.SIMULATED else flags.shortest_time(list(own.values()), thresholds)
        for mode, own in times.items()
    }
    return shortest, {pk for mode, own in times.items() for pk, took in own.items() if took < shortest[mode]}


def _alike(study: Study, modes: Sequence[str], thresholds: Thresholds, asked: Questionnaire) -> set[int]:
    """Who completed and may have answered alike: nobody else of those who completed has.

    Whoever gave two different ratings of recommended items answered not all items alike, nor has all ratings alike.
    """
    completed = Participant.objects.filter(study=study, mode__in=modes, status=ParticipantStatus.COMPLETED)
    rating = next((question for question in asked.items if question.key == RATING), None)
    everybody = set(completed.order_by().values_list("pk", flat=True))
    if rating is None or rating.shown_if is not None:
        return everybody  # an answer may stand there that was not asked for in the end
    given = Response.objects.filter(participant__in=completed, question=RATING, rank__gte=1).order_by()
    of_items = dict(
        given.annotate(written=Cast("value", TextField()))
        .values_list("participant")
        .annotate(low=Min("written"), high=Max("written"), n=Count("pk"))
        .values_list("participant", Case(When(low=F("high"), then="n"), default=-1))
    )
    few = min(thresholds.alike_items, thresholds.alike_ratings)
    rated = ProfileRating.objects.filter(participant__in=completed).order_by().values_list("participant")
    of_profile = {
        pk: n if low == high else -1
        for pk, low, high, n in rated.annotate(low=Min("rating"), high=Max("rating"), n=Count("pk"))
    }
    found = set()
    for pk in everybody:
        n_items, n_known = of_items.get(pk, 0), of_profile.get(pk, 0)
        if n_items >= few or (n_items >= 0 and n_known >= 0 and n_items + n_known >= few):
            found.add(pk)
    return found


def _lined(study: Study, modes: Sequence[str], thresholds: Thresholds, every: Sequence[Battery]) -> set[int]:
    """Who completed and may have marked the same point throughout a battery: nobody else of those who completed has.

    Whoever marked two different points where everybody is asked has not, nor has who answered too little.
    """
    batteries = [one for one in every if len(one.members) >= thresholds.fewest_statements(is_mixed=one.is_mixed)]
    if not batteries:
        return set()
    completed = Participant.objects.filter(study=study, mode__in=modes, status=ParticipantStatus.COMPLETED)
    everybody = set(completed.order_by().values_list("pk", flat=True))
    battery_of = {key: number for number, one in enumerate(batteries) for key in one.always}
    rows = Response.objects.filter(participant__in=completed, rank=0, question__in=battery_of).order_by()
    read: dict[tuple[str, str], list[int]] = {}  # people give the same few answers again and again
    points: dict[tuple[int, int], tuple[int, int]] = {}  # by person and battery the point, -1 for several, and how many
    given = rows.annotate(written=Cast("value", TextField())).values_list("participant", "question", "written")
    for pk, key, written in given.iterator(chunk_size=5000):
        number = battery_of[key]
        if (key, written) not in read:
            read[key, written] = [at for at, _ in batteries[number].marked({key: json.loads(written)})]
        for point in read[key, written]:
            before, n = points.get((pk, number), (point, 0))
            points[pk, number] = (before if before == point else -1, n + 1)
    found: set[int] = set()
    for number, one in enumerate(batteries):
        n_others = sum(member.question not in one.always for member in one.members)
        fewest = thresholds.fewest_statements(is_mixed=one.is_mixed) - n_others
        stands = ((pk, points.get((pk, number), (0, 0))) for pk in everybody)
        found.update(pk for pk, (point, n) in stands if point >= 0 and n >= fewest)
    return found


def _otherwise(study: Study, modes: Sequence[str], checks: Sequence[Question]) -> set[int]:
    """Who answered an attention check otherwise than asked for, asked for in the end or not."""
    expected = {check.key: check.expects for check in checks}
    rows = Response.objects.filter(participant__study=study, participant__mode__in=modes, question__in=expected)
    given = rows.order_by().values_list("participant", "question", "value")
    return {pk for pk, key, value in given if value is not None and value != expected[key]} if expected else set()


def flags_by_participant(study: Study, modes: Sequence[str]) -> dict[int, tuple[Flag, ...]]:
    """The flags of everybody who has any, by the participant's key, in order of entry.

    A few queries over columns find out who cannot have one; of the others everything is read.
    """
    thresholds = flags.thresholds_from(study.settings)
    asked = questionnaire_from(study.questionnaire)
    sought, shared = sought_in(asked), _shared_ids(study)
    shortest, fast = _shortest(study, modes, thresholds)
    suspects = {*fast, *shared, *_alike(study, modes, thresholds, asked)}
    suspects |= _lined(study, modes, thresholds, sought.batteries) | _otherwise(study, modes, sought.checks)
    under_way = Participant.objects.filter(study=study, mode__in=modes).exclude(status=ParticipantStatus.COMPLETED)
    suspects.update(under_way.order_by().values_list("pk", flat=True))
    found: dict[int, tuple[Flag, ...]] = {}
    for record in records_of(study, suspects, modes):
        if record.participant.erased_at is not None:
            continue  # nothing is left to look at
        own = flags.flags_of(_given(record, sought, shared), thresholds, shortest.get(record.participant.mode, 0.0))
        if own:
            found[record.participant.pk] = own
    return found


def looked_at(study: Study, modes: Sequence[str]) -> list[Looked]:
    """Everybody with a flag or an exclusion in force, in order of entry; simulated participants come last."""
    raised, out, ids = flags_by_participant(study, modes), excluded(study, modes), public_ids(study)
    rows = Participant.objects.filter(study=study, pk__in=[*raised, *out]).select_related("condition").order_by("pk")
    return [
        Looked(row, ids[row.pk], raised.get(row.pk, ()), out.get(row.pk))
        for row in sorted(rows, key=lambda row: row.mode != Mode.LIVE)
    ]


def flag_counts(study: Study, modes: Sequence[str]) -> list[tuple[str, int]]:
    """How many participants have each flag, flags nobody has among them."""
    counted: Counter[Any] = Counter(flag.key for own in flags_by_participant(study, modes).values() for flag in own)
    return [(flags.NAMES[key], counted[key]) for key in flags.KEYS]
