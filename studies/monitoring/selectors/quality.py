"""Quality flags and exclusions of a study's participants."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from studies.enums import Mode, ParticipantStatus
from studies.instrument import flags
from studies.instrument.flags import Evidence, Flag, ScaleAnswers
from studies.instrument.flow import Flow, Place, questionnaire_of, whole_flow
from studies.instrument.measures import HEARD, WATCHED
from studies.instrument.questionnaires.core import measures_of
from studies.instrument.questionnaires.questions import OTHER
from studies.instrument.questionnaires.schema import ABOUT, AFTER, OVERALL, Question, Questionnaire
from studies.instrument.scales import Battery, batteries_of
from studies.known_items import FIVE_STARS
from studies.models import Exclusion, ExternalId, Participant, Study
from studies.participation.selectors.responses import MEASURED, RATING, Record, place_reached, public_ids, records
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
    def measures(self) -> frozenset[str]:
        return measures_of(self.questionnaire)

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
        of_lists = (each.answers.get(check.key) for each in record.by_occasion())
        values = [*of_lists, *(item.answers.get(check.key) for item in record.items)]
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
    here = flow.order(place_reached(flow, record.participant))
    return [
        ScaleAnswers(
            WHERE.get(battery.block, f"on the page of {battery.block}"),
            battery.n_points,
            battery.points(each.answers),
        )
        for battery in batteries
        for each in (record.by_occasion() if battery.block in flow.repeated_blocks else (record,))
        if each.side == 1
        and flow.order(Place(flow.keys[flow.position_of_block(battery.block)], 0, each.occasion)) < here
    ]


def _evidence(record: Record, sources: FlagSources, shared: dict[int, list[str]]) -> Evidence:
    is_rated = "accuracy" in sources.measures
    needed = (RATING,) if is_rated else sources.compared
    answers_about_items = [item.answers for item in record.items]
    answered = [own for own in answers_about_items if any(own.get(key) is not None for key in needed)]
    ended = record.participant.completed_at
    return Evidence(
        seconds=None if ended is None else (ended - record.participant.consented_at).total_seconds(),
        items=[tuple(_plain(answers.get(key)) for key in sources.compared) for answers in answered],
        ratings=[*sources.ratings_of(record), *(int(answers[RATING]) for answers in answered if is_rated)],
        failed_checks=_failed(record, sources.checks),
        same_id=shared.get(record.participant.pk, ()),
        scale_answers=_scale_answers(record, sources.batteries, whole_flow(sources.design)),
        n_contradictory=sum(
            item.answers.get(WATCHED) is True and item.answers.get(HEARD) is False for item in record.items
        )
        * ("son" in sources.measures),
    )


def _shortest(study: Study, modes: Sequence[str], thresholds: Thresholds) -> dict[str, float]:
    # Simulated participants are never too fast.
    rows = Participant.objects.filter(study=study, mode__in=modes, completed_at__isnull=False)
    times: dict[str, list[float]] = defaultdict(list)
    for mode, start, end in rows.values_list("mode", "consented_at", "completed_at"):
        times[mode].append((end - start).total_seconds())  # type: ignore[operator]
    return {
        mode: 0.0 if mode == Mode.SIMULATED else flags.shortest_time(own, thresholds) for mode, own in times.items()
    }


def flags_by_participant(study: Study, modes: Sequence[str]) -> dict[int, tuple[Flag, ...]]:
    """Return the flags of all flagged participants by participant key, in order of entry."""
    thresholds = study.design.quality
    sources, shared = FlagSources(questionnaire_of(study), study.design), _shared_ids(study)
    shortest = _shortest(study, modes, thresholds)
    found = {
        record.participant.pk: flags.flags_of(
            _evidence(record, sources, shared), thresholds, shortest.get(record.participant.mode, 0.0)
        )
        for record in records(study, modes)
        if record.participant.erased_at is None
    }
    return {pk: own for pk, own in found.items() if own}


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
