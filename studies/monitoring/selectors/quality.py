"""Quality flags and exclusions of a study's participants."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Case, Count, F, Max, Min, TextField, When
from django.db.models.functions import Cast

from studies.enums import Mode, ParticipantStatus
from studies.instrument import flags
from studies.instrument.flags import Evidence, Flag, ScaleAnswers
from studies.instrument.flow import Flow, questionnaire_of, whole_flow
from studies.instrument.measures import HEARD, WATCHED
from studies.instrument.questionnaires.conditions import Test
from studies.instrument.questionnaires.questions import OTHER
from studies.instrument.questionnaires.schema import ABOUT, AFTER, OVERALL, Question, Questionnaire
from studies.instrument.scales import Battery, batteries_of
from studies.known_items import FIVE_STARS
from studies.models import Exclusion, ExternalId, Participant, ProfileRating, Response, Study
from studies.participation.selectors.responses import MEASURED, RATING, Record, position_reached, public_ids, records_of
from studies.settings import StudySettings, Thresholds

PERSON_NAMES = frozenset(
    {"PROLIFIC_PID", "prolific_pid", "workerId", "worker_id", "participant_label", "external_id", "id"}
)
WHERE = {ABOUT: "about the person", OVERALL: "about the list", AFTER: "after the list"}


@dataclass(frozen=True)
class Reviewed:
    """A participant with flags, an exclusion, or both."""

    participant: Participant
    public_id: str
    flags: tuple[Flag, ...]
    exclusion: Exclusion | None


@dataclass(frozen=True)
class FlagSources:
    """The parts of a study's questionnaire and design that flags are computed from."""

    questionnaire: Questionnaire
    design: StudySettings

    @cached_property
    def checks(self) -> tuple[Question, ...]:
        """The attention checks."""
        return tuple(question for question in self.questionnaire.questions if question.expects is not None)

    @cached_property
    def compared(self) -> tuple[str, ...]:
        """The questions compared between items: all but free text."""
        of_items = (question.key for question in self.questionnaire.items if not question.is_in_words)
        return tuple(dict.fromkeys((*MEASURED, *of_items)))

    @cached_property
    def batteries(self) -> tuple[Battery, ...]:
        return batteries_of(self.questionnaire)

    def ratings_of(self, record: Record) -> list[float]:
        """Return the ratings of known items, mapped to 1..5 as recommended items are rated; chosen items have none."""
        if self.design.is_choice:
            return []
        scale = self.design.scale
        values = [scale.value(rating.rating) for rating in record.profile]
        mapped = scale.scale.convert(values, FIVE_STARS.scale).round(9).tolist()
        return [int(value) if value.is_integer() else value for value in mapped]


def excluded(study: Study, modes: Sequence[str]) -> dict[int, Exclusion]:
    """Return the exclusions in force by participant key."""
    rows = Exclusion.objects.filter(
        participant__study=study, participant__mode__in=modes, undone_at__isnull=True
    ).select_related("excluded_by")
    return {row.participant_id: row for row in rows.order_by("id")}


def exclusion_history(study: Study) -> list[Exclusion]:
    """Return all exclusions, also those undone, newest first and simulated participants last."""
    rows = Exclusion.objects.filter(participant__study=study)
    newest = rows.select_related("participant", "excluded_by", "undone_by").order_by("-id")
    return sorted(newest, key=lambda row: row.participant.mode != Mode.LIVE)


def _shared_ids(study: Study) -> dict[int, list[str]]:
    """Return for each participant the public ids of others with the same external id.

    Modes are compared separately: a preview with an id does not duplicate a participant.
    """
    holders: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    rows = ExternalId.objects.filter(study=study, name__in=PERSON_NAMES).order_by("participant_id")
    for mode, name, value, participant in rows.values_list("participant__mode", "name", "value", "participant_id"):
        holders[mode, name, value].append(participant)
    duplicates = [keys for keys in holders.values() if len(keys) > 1]
    ids = public_ids(study) if duplicates else {}
    shared: dict[int, list[str]] = defaultdict(list)
    for keys in duplicates:
        for pk in keys:
            shared[pk] += [ids[key] for key in keys if key != pk]
    return {pk: sorted(set(same_id)) for pk, same_id in shared.items() if same_id}


def _failed(record: Record, checks: Sequence[Question]) -> list[str]:
    failed = []
    for check in checks:
        values = [record.answers.get(check.key), *(item.answers.get(check.key) for item in record.items)]
        if any(value is not None and value != check.expects for value in values):
            failed.append(check.key)
    if not failed and record.participant.status == ParticipantStatus.ATTENTION_FAILED:
        failed.append("by the rule of the study")
    return failed


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return OTHER if OTHER in value else tuple(sorted(value.items()))
    return tuple(map(_plain, value)) if isinstance(value, list) else value


def _scale_answers(record: Record, batteries: Sequence[Battery], flow: Flow) -> list[ScaleAnswers]:
    return [
        ScaleAnswers(
            WHERE.get(battery.block, f"on the page of {battery.block}"),
            battery.n_points,
            battery.points(record.answers),
        )
        for battery in batteries
        if flow.asking(battery.block) < position_reached(flow, record.participant)
    ]


def _evidence(record: Record, sources: FlagSources, shared: dict[int, list[str]]) -> Evidence:
    answered = [item.answers for item in record.items if item.answers.get(RATING) is not None]
    ended = record.participant.completed_at
    return Evidence(
        seconds=None if ended is None else (ended - record.participant.consented_at).total_seconds(),
        items=[tuple(_plain(answers.get(key)) for key in sources.compared) for answers in answered],
        ratings=[*sources.ratings_of(record), *(int(answers[RATING]) for answers in answered)],
        failed_checks=_failed(record, sources.checks),
        same_id=shared.get(record.participant.pk, ()),
        scale_answers=_scale_answers(record, sources.batteries, whole_flow(sources.design)),
        n_contradictory=sum(
            item.answers.get(WATCHED) is True and item.answers.get(HEARD) is False for item in record.items
        ),
    )


def _shortest(study: Study, modes: Sequence[str], thresholds: Thresholds) -> tuple[dict[str, float], set[int]]:
    # Simulated participants are never too fast.
    rows = Participant.objects.filter(study=study, mode__in=modes, completed_at__isnull=False).order_by("pk")
    times: dict[str, dict[int, float]] = defaultdict(dict)
    for pk, mode, start, end in rows.values_list("pk", "mode", "consented_at", "completed_at"):
        times[mode][pk] = (end - start).total_seconds()  # type: ignore[operator]
    shortest = {
        mode: 0.0 if mode == Mode.SIMULATED else flags.shortest_time(list(own.values()), thresholds)
        for mode, own in times.items()
    }
    return shortest, {pk for mode, own in times.items() for pk, took in own.items() if took < shortest[mode]}


def _maybe_alike(study: Study, modes: Sequence[str], thresholds: Thresholds, questionnaire: Questionnaire) -> set[int]:
    """Return a superset of the completers who answered all items alike or gave all ratings alike.

    Two different ratings of recommended items rule both out.
    """
    completed = Participant.objects.filter(study=study, mode__in=modes, status=ParticipantStatus.COMPLETED)
    rating = next((question for question in questionnaire.items if question.key == RATING), None)
    completers = set(completed.order_by().values_list("pk", flat=True))
    if rating is None or rating.shown_if is not None:
        return completers  # a stored answer may belong to a question that was hidden later
    ratings = Response.objects.filter(participant__in=completed, question=RATING, rank__gte=1).order_by()
    of_items = dict(
        ratings.annotate(written=Cast("value", TextField()))
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
    candidates = set()
    for pk in completers:
        n_items, n_known = of_items.get(pk, 0), of_profile.get(pk, 0)
        if n_items >= few or (n_items >= 0 and n_known >= 0 and n_items + n_known >= few):
            candidates.add(pk)
    return candidates


def _maybe_straight_lined(
    study: Study, modes: Sequence[str], thresholds: Thresholds, all_batteries: Sequence[Battery]
) -> set[int]:
    """Return a superset of the completers who chose the same point throughout a battery.

    Two different points on statements shown to everyone rule that out, and so do too few answers.
    """
    batteries = [
        battery
        for battery in all_batteries
        if len(battery.members) >= thresholds.fewest_statements(is_mixed=battery.is_mixed)
    ]
    if not batteries:
        return set()
    completed = Participant.objects.filter(study=study, mode__in=modes, status=ParticipantStatus.COMPLETED)
    completers = set(completed.order_by().values_list("pk", flat=True))
    battery_of = {key: number for number, battery in enumerate(batteries) for key in battery.always}
    rows = Response.objects.filter(participant__in=completed, rank=0, question__in=battery_of).order_by()
    parsed: dict[tuple[str, str], list[int]] = {}  # the same few answers recur
    points: dict[tuple[int, int], tuple[int, int]] = {}  # participant, battery -> point (-1: several), n
    written_answers = rows.annotate(written=Cast("value", TextField()))
    columns = written_answers.values_list("participant", "question", "written")
    for pk, key, written in columns.iterator(chunk_size=5000):
        number = battery_of[key]
        if (key, written) not in parsed:
            parsed[key, written] = [point for point, _ in batteries[number].points({key: json.loads(written)})]
        for point in parsed[key, written]:
            before, n = points.get((pk, number), (point, 0))
            points[pk, number] = (before if before == point else -1, n + 1)
    candidates: set[int] = set()
    for number, battery in enumerate(batteries):
        n_conditional = sum(member.question not in battery.always for member in battery.members)
        fewest = thresholds.fewest_statements(is_mixed=battery.is_mixed) - n_conditional
        counts = ((pk, points.get((pk, number), (0, 0))) for pk in completers)
        candidates.update(pk for pk, (point, n) in counts if point >= 0 and n >= fewest)
    return candidates


def _maybe_inattentive(study: Study, modes: Sequence[str], checks: Sequence[Question]) -> set[int]:
    # Stored answers count, even to a check that was hidden later.
    expected = {check.key: check.expects for check in checks}
    rows = Response.objects.filter(participant__study=study, participant__mode__in=modes, question__in=expected)
    answers = rows.order_by().values_list("participant", "question", "value")
    return {pk for pk, key, value in answers if value is not None and value != expected[key]} if expected else set()


def _maybe_contradictory(study: Study, modes: Sequence[str], questionnaire: Questionnaire) -> set[int]:
    """Return everyone with an item that they consumed and never heard of, by their stored answers.

    Empty where the question whether the item was heard of depends on the other one, as in the template.
    """
    heard = next((question for question in questionnaire.items if question.key == HEARD), None)
    if heard is None or heard.shown_if == Test(WATCHED, "equals", False):
        return set()
    rows = Response.objects.filter(participant__study=study, participant__mode__in=modes, rank__gte=1).order_by()
    unheard = rows.filter(question=HEARD, value=False).values_list("participant_id", "rank")
    consumed = rows.filter(question=WATCHED, value=True).values_list("participant_id", "rank")
    return {pk for pk, _rank in {*unheard}.intersection(consumed)}


def flags_by_participant(study: Study, modes: Sequence[str]) -> dict[int, tuple[Flag, ...]]:
    """Return the flags of all flagged participants by participant key, in order of entry.

    A few queries rule out most participants; only the remaining ones are read in full.
    """
    thresholds = study.design.quality
    questionnaire = questionnaire_of(study)
    sources, shared = FlagSources(questionnaire, study.design), _shared_ids(study)
    shortest, fast = _shortest(study, modes, thresholds)
    candidates = {*fast, *shared, *_maybe_alike(study, modes, thresholds, questionnaire)}
    candidates |= _maybe_straight_lined(study, modes, thresholds, sources.batteries)
    candidates |= _maybe_inattentive(study, modes, sources.checks)
    candidates |= _maybe_contradictory(study, modes, questionnaire)
    under_way = Participant.objects.filter(study=study, mode__in=modes).exclude(status=ParticipantStatus.COMPLETED)
    candidates.update(under_way.order_by().values_list("pk", flat=True))
    flagged: dict[int, tuple[Flag, ...]] = {}
    for record in records_of(study, candidates, modes):
        if record.participant.erased_at is not None:
            continue
        own = flags.flags_of(_evidence(record, sources, shared), thresholds, shortest.get(record.participant.mode, 0.0))
        if own:
            flagged[record.participant.pk] = own
    return flagged


def reviewed(study: Study, modes: Sequence[str]) -> list[Reviewed]:
    """Return everyone with a flag or an exclusion in force, in order of entry, simulated participants last."""
    flagged, out, ids = flags_by_participant(study, modes), excluded(study, modes), public_ids(study)
    rows = Participant.objects.filter(study=study, pk__in=[*flagged, *out]).select_related("condition").order_by("pk")
    return [
        Reviewed(row, ids[row.pk], flagged.get(row.pk, ()), out.get(row.pk))
        for row in sorted(rows, key=lambda row: row.mode != Mode.LIVE)
    ]


def flag_counts(study: Study, modes: Sequence[str]) -> list[tuple[str, int]]:
    """Return the number of participants with each flag, zeros included."""
    counted: Counter[Any] = Counter(flag.key for own in flags_by_participant(study, modes).values() for flag in own)
    return [(flags.NAMES[key], counted[key]) for key in flags.KEYS]
