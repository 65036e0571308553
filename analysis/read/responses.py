"""The answers of participants, the exclusions with their reasons, and the flow of participants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import compress
from statistics import median

from django.db.models import Count

from analysis.read.inputs import Answers, Judged, Met, Person, ScaleAnswers, Shown, conditions_of
from analysis.read.sample import Respondent, respondent_of
from analysis.results.exclusions import ExclusionReason
from analysis.results.sample import ConditionFlow, Flow, Interviews
from studies.design.selectors.placeholders import asked_questions
from studies.design.selectors.versions import frozen_tests
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.flow_pages import IN_TURN
from studies.instrument.outcomes import Outcome, planned_outcomes
from studies.instrument.questionnaires.conditions import plain_answer
from studies.instrument.questionnaires.schema import Questionnaire
from studies.instrument.scales import ScaleOfStudy, answers_of_member, scales_of, score_of_participant
from studies.models import Interview, Participant, ProfileRating, Study
from studies.monitoring.selectors.consort import consort_of
from studies.monitoring.selectors.exclusions import Exclusions
from studies.monitoring.selectors.monitor import ConditionCount, counts_by_condition, counts_by_status
from studies.participation.selectors.responses import OccasionRecord, Record, completed_answers, records
from studies.plans import ALL_OCCASIONS
from studies.recruitment.selectors.recruitment import is_nested

ScaleRow = tuple[str, str | None, tuple[str | None, ...]]


@dataclass(frozen=True)
class Reading:
    """The answers that are analysed, and those of all completers.

    `excluded` are the excluded participants, each with one reason; `reasons` count the completers among them. Where the
    plan counts the occasions of participants who left before the end, both have them.
    """

    analysed: Answers
    completers: Answers
    excluded: Exclusions
    reasons: tuple[ExclusionReason, ...]
    # Keys of the analysed participants who completed, and what is known of them, in the order of `analysed.people`
    keys: tuple[int, ...] = ()
    respondents: tuple[Respondent, ...] = ()
    sequences: tuple[str, ...] = ()  # of conditions, where each participant meets all of them in turn

    @property
    def sides(self) -> tuple[Answers, Answers]:
        """What is analysed, and what all completers answered."""
        return self.analysed, self.completers

    @property
    def n_left_out(self) -> int:
        """Completers who are excluded."""
        return self.analysed.n_excluded

    @property
    def arms(self) -> tuple[str, ...]:
        """What participants were assigned to: conditions, or sequences of them."""
        return self.sequences or self.analysed.conditions

    def among(self, conditions: Collection[str]) -> Reading:
        """The same of the participants of these conditions; of all, where each participant meets all conditions."""
        if self.analysed.occasions:
            return self
        is_in = [person.condition in conditions for person in self.analysed.people]
        return replace(
            self,
            analysed=self.analysed.among(conditions),
            completers=self.completers.among(conditions),
            keys=tuple(compress(self.keys, is_in)),
            respondents=tuple(compress(self.respondents, is_in)),
        )


@dataclass(frozen=True)
class _Row:
    """One participant with every answer about a list."""

    key: int
    language: str
    n_answers: int
    n_modelled: int
    person: Person
    shown: tuple[Shown, ...]
    scored: tuple[ScaleRow, ...]
    outcomes: tuple[ScaleRow, ...]
    respondent: Respondent
    occasion: int = 1
    previous: str | None = None  # condition, of a later occasion


def _answers_of(
    rows: Sequence[Sequence[_Row]],
    scales: Sequence[ScaleOfStudy],
    outcomes: Sequence[Outcome],
    conditions: tuple[str, ...],
    n_excluded: int,
    *,
    is_in_turn: bool,
    left: Collection[int],
) -> Answers:
    whole = [row for own in rows for row in own]
    numbers = {own[0].key: number for number, own in enumerate(filter(None, rows))}
    return Answers(
        conditions=conditions,
        people=tuple(row.person for row in whole),
        shown=tuple(slot for row in whole for slot in row.shown),
        n_answers=sum(row.n_answers for row in whole),
        n_modelled=sum(row.n_modelled for row in whole),
        n_incomplete=sum(not own for own in rows),
        n_excluded=n_excluded,
        languages=tuple(row.language for row in whole),
        scales=tuple(
            ScaleAnswers(
                key=scale.key,
                name=next(iter(scale.name.values())),
                low=scale.minimum,
                high=scale.maximum,
                questions=tuple(member.name for member in scale.members),
                rows=tuple(row.scored[index] for row in whole),
            )
            for index, scale in enumerate(scales)
        ),
        outcomes=tuple(
            ScaleAnswers(
                key=outcome.key,
                name=outcome.name,
                low=outcome.low,
                high=outcome.high,
                questions=(outcome.key,),
                rows=tuple(row.outcomes[index] for row in whole),
            )
            for index, outcome in enumerate(outcomes)
        ),
        occasions=tuple(Met(numbers[row.key], row.occasion, row.previous) for row in whole) if is_in_turn else (),
        left=tuple(number for key, number in numbers.items() if key in left),
    )


def mode_to_report(study: Study) -> str:
    """People, if any have completed the study; else simulated participants, if there are any; else people."""
    completed = set(
        study.participants.filter(status=ParticipantStatus.COMPLETED)
        .order_by()
        .values_list("mode", flat=True)
        .distinct()
    )
    if Mode.LIVE in completed:
        return Mode.LIVE
    if study.participants.filter(mode=Mode.SIMULATED).exists():
        return Mode.SIMULATED
    return Mode.LIVE


def analysed_statuses(tests: Collection[str]) -> tuple[str, ...]:
    """The statuses of the participants who are analysed, from the analyses in the words that were frozen."""
    left = (ParticipantStatus.ABANDONED,) if ALL_OCCASIONS in tests else ()
    return (ParticipantStatus.COMPLETED, *left)


def read_answers(study: Study, mode: str, excluded: Exclusions) -> Reading:
    """Read the answers of one mode, in order of entry, with and without the excluded participants: of all completers,
    and the occasions finished by those who left where the plan counts them.
    """
    questionnaire = asked_questions(study)
    scales = scales_of(questionnaire)
    outcomes = planned_outcomes(questionnaire, study.design)
    is_of_events = any(outcome.is_of_events for outcome in outcomes)
    statuses = analysed_statuses(frozen_tests(study).values())
    everyone = completed_answers(study, mode, statuses)
    if is_of_events:
        everyone = (record for record in records(study, [mode]) if record.participant.status in statuses)
    rows: dict[int, list[_Row]] = {}
    left: set[int] = set()
    for record in everyone:
        key, own = record.participant.pk, _rows(record, scales, outcomes, questionnaire)
        if record.participant.status == ParticipantStatus.COMPLETED:
            rows[key] = own
        elif own:
            rows[key] = own
            left.add(key)
    analysed = [own for key, own in rows.items() if key not in excluded]
    is_in_turn = study.design.flow.lists.shown == IN_TURN
    counts = Counter(excluded[key] for key in rows if key in excluded and key not in left)
    completed = [own[0] for own in analysed if own and own[0].key not in left]
    answers_of = partial(_answers_of, is_in_turn=is_in_turn, left=left)
    conditions = tuple(condition.label for condition in conditions_of(study))
    return Reading(
        analysed=answers_of(analysed, scales, outcomes, conditions, counts.total()),
        completers=answers_of([*rows.values()], scales, outcomes, conditions, 0),
        excluded=excluded,
        keys=tuple(row.key for row in completed),
        respondents=tuple(row.respondent for row in completed),
        sequences=tuple(study.sequences.order_by("position").values_list("label", flat=True)) if is_in_turn else (),
        reasons=_reasons(counts),
    )


def read_comparisons(study: Study, mode: str, excluded: Exclusions) -> Reading:
    """As `read_answers`, where participants compared lists side by side; participants who did not are incomplete."""
    questionnaire = asked_questions(study)
    outcomes = planned_outcomes(questionnaire, study.design)
    completers = list(completed_answers(study, mode))
    labels = tuple(condition.label for condition in conditions_of(study))

    def answers_of(records: Sequence[Record], n_excluded: int) -> Answers:
        whole = [record for record in records if _has_lists(record)]
        return Answers(
            conditions=labels,
            people=(),
            shown=(),
            n_answers=sum(record.n_answers for record in whole),
            n_modelled=sum(record.n_modelled for record in whole),
            n_incomplete=len(records) - len(whole),
            n_excluded=n_excluded,
            outcomes=tuple(ScaleAnswers(of.key, of.name, of.low, of.high, (of.key,), ()) for of in outcomes),
            judged=tuple(
                _judged(number, each, outcomes) for number, record in enumerate(whole) for each in record.occasions
            ),
        )

    analysed = [record for record in completers if record.participant.pk not in excluded]
    counts = Counter(excluded[record.participant.pk] for record in completers if record.participant.pk in excluded)
    whole = [(record, record.participant.sequence) for record in analysed if _has_lists(record)]
    return Reading(
        analysed=answers_of(analysed, counts.total()),
        completers=answers_of(completers, 0),
        excluded=excluded,
        reasons=_reasons(counts),
        keys=tuple(record.participant.pk for record, _sequence in whole),
        respondents=tuple(
            respondent_of(record, sequence.label if sequence else "", questionnaire) for record, sequence in whole
        ),
        sequences=tuple(study.sequences.order_by("position").values_list("label", flat=True)),
    )


def _has_lists(record: Record) -> bool:
    return bool(record.occasions) and all(own.items for each in record.occasions for own in each.lists)


def _judged(number: int, compared: OccasionRecord, outcomes: Sequence[Outcome]) -> Judged:
    """How participant `number` judged two lists side by side."""
    left, right = compared.conditions
    first, second = ([item.slot.item.pk for item in each.items] for each in compared.lists)
    return Judged(
        participant=number,
        occasion=compared.occasion,
        left=left.label,
        right=right.label,
        answers={of.key: plain_answer(compared.answers.get(of.key.partition(".")[2])) for of in outcomes},
        shared=len({*first} & {*second}) / max(len({*first, *second}), 1),
        is_identical=first == second,
    )


def _reasons(counts: Mapping[tuple[str, str], int]) -> tuple[ExclusionReason, ...]:
    return tuple(
        ExclusionReason(how=how, reason=reason, n=n)
        for (how, reason), n in sorted(counts.items(), key=lambda count: (-count[1], count[0]))
    )


def _rows(
    record: Record, scales: Sequence[ScaleOfStudy], outcomes: Sequence[Outcome], questionnaire: Questionnaire
) -> list[_Row]:
    """One participant, a row for each occasion where they met several conditions; without those that lack answers or
    were not finished.
    """
    if {len(each.lists) for each in record.occasions} != {1}:  # one list, or lists that are compared side by side
        row = _row(record, scales, outcomes, questionnaire)
        return [] if row is None else [row]
    sequence, previous = record.participant.sequence, None
    rows: list[_Row] = []
    for met, own in zip(record.occasions, record.by_occasion(), strict=True):
        if own.is_over and (row := _row(own, scales, outcomes, questionnaire)) is not None:
            about = respondent_of(record, "" if sequence is None else sequence.label, questionnaire)
            # The first has the answers of all.
            n_answers, n_modelled = (0, 0) if rows else (record.n_answers, record.n_modelled)
            row = replace(row, n_answers=n_answers, n_modelled=n_modelled, respondent=about)
            rows.append(replace(row, occasion=met.occasion, previous=previous))
        previous = met.conditions[0].label
    return rows


def _row(
    record: Record, scales: Sequence[ScaleOfStudy], outcomes: Sequence[Outcome], questionnaire: Questionnaire
) -> _Row | None:
    """One participant; None where answers are missing."""
    if record.participant.condition is None or record.measures is None:
        return None
    condition, measures = record.participant.condition.label, record.measures
    items = [item.answers for item in record.items]
    scored = []
    for scale in scales:
        score = score_of_participant(scale, record.answers, items)
        members = (answers_of_member(scale, member, record.answers, items) for member in scale.members)
        scored.append((condition, _fraction(score), tuple(map(_fraction, members))))
    shown = tuple(
        Shown(
            condition=condition,
            item=item.slot.item.external_id,
            title=str(item.slot.item),
            **vars(item.measures),
            is_filled=item.slot.is_filled,
            score=item.slot.score,
        )
        for item in record.items
        if item.measures is not None
    )
    return _Row(
        key=record.participant.pk,
        language=record.participant.language,
        n_answers=record.n_answers,
        n_modelled=record.n_modelled,
        person=Person(condition=condition, **vars(measures)),
        shown=shown,
        scored=tuple(scored),
        outcomes=tuple(_scored(condition, outcome.value(record)) for outcome in outcomes),
        respondent=respondent_of(record, condition, questionnaire),
    )


def _scored(condition: str, score: Fraction | None) -> ScaleRow:
    return condition, _fraction(score), (_fraction(score),)


def _fraction(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _interviews(study: Study, mode: str) -> Interviews | None:
    rows = Interview.objects.filter(participant__study=study, participant__mode=mode)
    n = rows.count()
    if not n:
        return None
    n_interviewers = rows.order_by().values("number").distinct().count()
    return Interviews(n=n, interviewers=n_interviewers, is_nested=is_nested(study))


def flow_of(study: Study, mode: str, reading: Reading) -> Flow:
    """The flow of participants as CONSORT asks for it, in total and by condition."""
    rows = Participant.objects.filter(study=study, mode=mode)
    by_status = counts_by_status(study, mode)
    n_analysed = Counter(respondent.condition for respondent in reading.respondents)
    consort, lines = consort_of(study, mode, reading.excluded), counts_by_condition(study, mode)
    return Flow(
        interviews=_interviews(study, mode),
        declined=study.n_declined if mode == Mode.LIVE else 0,
        consented=rows.count(),
        screened_out=by_status.get(ParticipantStatus.SCREENED_OUT, 0),
        quota_full=by_status.get(ParticipantStatus.QUOTA_FULL, 0),
        assigned=rows.filter(assigned_at__isnull=False).count(),
        abandoned=by_status.get(ParticipantStatus.ABANDONED, 0),
        withdrawn=by_status.get(ParticipantStatus.WITHDRAWN, 0),
        under_way=by_status.get(ParticipantStatus.CONSENTED, 0) + by_status.get(ParticipantStatus.ACTIVE, 0),
        completed=by_status.get(ParticipantStatus.COMPLETED, 0),
        excluded=reading.n_left_out,
        excluded_for=reading.reasons,
        analysed=len(reading.keys),
        n_left=len(reading.analysed.left),
        n_left_occasions=sum(at.participant in reading.analysed.left for at in reading.analysed.occasions),
        is_collecting=_is_collecting(study, mode, lines),
        left_before=tuple(consort.left_before.items()),
        left_after=tuple(consort.left_after.items()),
        by_condition=tuple(
            ConditionFlow(
                condition=line.label,
                target=line.target or 0,  # of previews alone there is none
                assigned=line.started,
                under_way=line.active,
                abandoned=line.abandoned,
                completed=line.completed,
                analysed=n_analysed[line.label],
            )
            for line in lines
        ),
    )


def _is_collecting(study: Study, mode: str, lines: Sequence[ConditionCount]) -> bool:
    """Whether people still take part in an open study whose planned sample is not complete."""
    is_open = study.status in (StudyStatus.LIVE, StudyStatus.PAUSED)
    return mode == Mode.LIVE and is_open and any(line.completed < (line.target or 0) for line in lines)


def median_profile_length(keys: Sequence[int]) -> float | None:
    """The median number of known items that participants rated or chose, by their keys; None without participants."""
    rows = ProfileRating.objects.filter(participant__in=keys).order_by().values("participant")
    counts = [row["n"] for row in rows.annotate(n=Count("pk"))]
    return float(median(counts)) if counts else None
