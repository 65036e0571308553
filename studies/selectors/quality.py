"""Quality flags of a study's participants, and who is excluded with which reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from studies import flags
from studies.enums import ParticipantStatus
from studies.flags import Flag, Given
from studies.models import Exclusion, ExternalId, Participant, Study
from studies.questionnaires.schema import Question, questionnaire_from
from studies.selectors.responses import Record, public_ids, records

ITEM_QUESTIONS = ("watched", "heard", "trailer_seen", "rating")
PERSON_NAMES = frozenset(
    {"PROLIFIC_PID", "prolific_pid", "workerId", "worker_id", "participant_label", "external_id", "id"}
)


@dataclass(frozen=True)
class Looked:
    """A participant with what asks for a second look, and whether they are excluded."""

    participant: Participant
    public_id: str
    flags: tuple[Flag, ...]
    exclusion: Exclusion | None


def excluded(study: Study, modes: Sequence[str]) -> dict[int, Exclusion]:
    """The exclusions in force, by the participant's key."""
    rows = Exclusion.objects.filter(
        participant__study=study, participant__mode__in=modes, undone_at__isnull=True
    ).select_related("excluded_by")
    return {row.participant_id: row for row in rows.order_by("id")}


def exclusion_reasons(study: Study, modes: Sequence[str], *, completed_only: bool = False) -> list[tuple[str, int]]:
    """How many are excluded for each reason, the most frequent first."""
    rows = Exclusion.objects.filter(participant__study=study, participant__mode__in=modes, undone_at__isnull=True)
    if completed_only:
        rows = rows.filter(participant__status=ParticipantStatus.COMPLETED)
    counted = Counter(rows.order_by("id").values_list("reason", flat=True))
    return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))


def exclusion_history(study: Study) -> list[Exclusion]:
    """Every exclusion there ever was, undone ones too, newest first."""
    rows = Exclusion.objects.filter(participant__study=study)
    return list(rows.select_related("participant", "excluded_by", "undone_by").order_by("-id"))


def _shared_ids(study: Study, ids: dict[int, str]) -> dict[int, list[str]]:
    """For each participant the others with the same id of the same site, by their public ids.

    Whoever previews a study with an id of their own is nobody's double.
    """
    holders: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    rows = ExternalId.objects.filter(study=study, name__in=PERSON_NAMES).order_by("participant_id")
    for mode, name, value, participant in rows.values_list("participant__mode", "name", "value", "participant_id"):
        holders[mode, name, value].append(participant)
    shared: dict[int, list[str]] = defaultdict(list)
    for found in holders.values():
        for one in found:
            shared[one] += [ids[other] for other in found if other != one]
    return {pk: sorted(set(others)) for pk, others in shared.items() if others}


def _checks(study: Study) -> tuple[Question, ...]:
    asked = questionnaire_from(study.questionnaire)
    return tuple(question for question in asked.questions if question.expects is not None)


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


def _given(record: Record, checks: Sequence[Question], shared: dict[int, list[str]]) -> Given:
    rows = [tuple(item.answers.get(key) for key in ITEM_QUESTIONS) for item in record.items]
    answered = [row for row in rows if row[-1] is not None]
    ratings = [rating.rating for rating in record.profile] + [int(row[-1]) for row in answered if row[-1] is not None]
    return Given(
        seconds=_seconds(record.participant),
        items=answered,
        ratings=ratings,
        failed_checks=_failed(record, checks),
        same_id=shared.get(record.participant.pk, ()),
    )


def flags_by_participant(study: Study, modes: Sequence[str]) -> dict[int, tuple[Flag, ...]]:
    """The flags of everybody who has any, by the participant's key. Simulated people are never too fast."""
    thresholds = flags.thresholds_from(study.settings)
    times: dict[str, list[float]] = defaultdict(list)
    rows = Participant.objects.filter(study=study, mode__in=modes, completed_at__isnull=False).order_by("pk")
    for mode, start, end in rows.values_list("mode", "consented_at", "completed_at"):
        times[mode].append((end - start).total_seconds())  # type: ignore[operator]
    shortest = {mode: flags.shortest_time(seconds, thresholds) for mode, seconds in times.items()}
    shortest = {mode: 0.0 if mode == "simulated" else value for mode, value in shortest.items()}
    shared, checks = _shared_ids(study, public_ids(study)), _checks(study)
    found: dict[int, tuple[Flag, ...]] = {}
    for record in records(study, modes):
        if record.participant.erased_at is not None:
            continue  # nothing is left to look at
        own = flags.flags_of(_given(record, checks, shared), thresholds, shortest.get(record.participant.mode, 0.0))
        if own:
            found[record.participant.pk] = own
    return found


def looked_at(study: Study, modes: Sequence[str]) -> list[Looked]:
    """Everybody with a flag or an exclusion in force, in order of entry."""
    raised, out, ids = flags_by_participant(study, modes), excluded(study, modes), public_ids(study)
    rows = Participant.objects.filter(study=study, pk__in=[*raised, *out]).select_related("condition").order_by("pk")
    return [Looked(row, ids[row.pk], raised.get(row.pk, ()), out.get(row.pk)) for row in rows]


def flag_counts(study: Study, modes: Sequence[str]) -> list[tuple[str, int]]:
    """How many participants have each flag, flags nobody has among them."""
    counted: Counter[Any] = Counter(flag.key for own in flags_by_participant(study, modes).values() for flag in own)
    return [(flags.NAMES[key], counted[key]) for key in flags.KEYS]
