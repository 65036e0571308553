"""The rows of every format, read a few participants at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models.functions import Coalesce

from evaluation.services.coverage import keyed_rows
from studies.allocation.selectors.assignment_seed import revealed_seed
from studies.data.codebook.event_variables import AllocationRow, EventRow, KeyedRating, PageTime, Rated
from studies.data.codebook.items import RecommendedRow
from studies.data.codebook.participants import Comparison, Person
from studies.design.services.condition_serving import profile_of
from studies.flow_pages import CHOICE, CHOSEN, COMPARE, ELICIT, ITEM_QUESTIONS, QUESTIONS
from studies.instrument.flow import CONSENT, Place, flow_of, questionnaire_of
from studies.instrument.questionnaires.kinds import Preference
from studies.models import Allocation, Event, ExternalId, Participant, Study
from studies.monitoring.selectors.exclusions import Exclusions, excluded_by_rule, merged, planned_rule, why_incomplete
from studies.monitoring.selectors.page_times import PageSummary, TimeOnPage, page_summaries, time_by_page
from studies.monitoring.selectors.quality import excluded, flags_by_participant
from studies.participation.selectors.responses import Record, place_reached, public_ids, records

ROWS_AT_ONCE = 2000


@dataclass
class Source:
    """The data of an export, with flags, exclusions and ids looked up once.

    Participants who enter later are skipped; read within `core.database.snapshot` for mutually consistent tables.
    """

    study: Study
    modes: Sequence[str]
    without_excluded: bool = False
    with_external_ids: bool = False

    def __post_init__(self) -> None:
        self.flags = flags_by_participant(self.study, self.modes)
        self.excluded = excluded(self.study, self.modes)
        self.by_plan = excluded_by_rule(self.flags, planned_rule(self.study))
        self.flow = flow_of(self.study)
        self.questionnaire = questionnaire_of(self.study)
        self.ids = public_ids(self.study)
        self.numbers = {pk: number for number, pk in enumerate(sorted(self.ids), start=1)}
        self.external: dict[int, list[tuple[str, str]]] = {}
        if self.with_external_ids:
            rows = ExternalId.objects.filter(study=self.study).order_by("participant_id", "name")
            for participant, name, value in rows.values_list("participant_id", "name", "value"):
                self.external.setdefault(participant, []).append((name, value))

    @property
    def exclusions(self) -> Exclusions:
        return merged(self.by_plan, self.excluded)

    def is_left_out(self, participant_id: int | None) -> bool:
        return self.without_excluded and (participant_id in self.excluded or participant_id in self.by_plan)

    def people(self) -> Iterator[Person]:
        """All participants of these modes who gave consent, in order of entry."""
        for record in records(self.study, self.modes, with_times=True):
            pk = record.participant.pk
            if self.is_left_out(pk) or pk not in self.numbers:
                continue
            yield Person(
                record=record,
                number=self.numbers[pk],
                flags=tuple(flag.key for flag in self.flags.get(pk, ())),
                excluded=self.excluded[pk].reason if pk in self.excluded else None,
                is_left_out_by_plan=pk in self.by_plan,
                incomplete=why_incomplete(self.study, record),
                external_ids=tuple(self.external.get(pk, ())),
            )

    def judged(self) -> Iterator[RecommendedRow]:
        return (RecommendedRow(person, item) for person in self.lists() for item in person.record.items)

    def lists(self) -> Iterator[Person]:
        """The participants with each of their lists."""
        return (of_list for person in self.people() for of_list in person.lists())

    def compared(self) -> Iterator[Comparison]:
        """The answers to questions of which of two lists is preferred."""
        questions = self.questionnaire.block(self.flow.compared) if self.flow.compared else ()
        keys = [question.key for question in questions if isinstance(question, Preference)]
        for person in self.people():
            for occasion in person.record.occasions:
                answered = (key for key in keys if isinstance(occasion.answers.get(key), int))  # and not declined
                yield from (Comparison(person, occasion, key) for key in answered)

    def choosing(self) -> Iterator[Person]:
        """The participants who picked an item of their list, or none of it, with each such list."""
        return (person for person in self.lists() if CHOSEN in person.record.answers)

    def rated(self) -> Iterator[Rated]:
        for person in self.people():
            for order, rating in enumerate(person.record.profile, start=1):
                yield Rated(person, order, rating)

    def keyed(self) -> Iterator[KeyedRating]:
        """The profiles that models read, of participants whose list was made."""
        for person in self.people():
            if person.record.recommendations is None:
                continue
            ratings = {rating.item.index: rating.rating for rating in person.record.profile}
            ((_key, *rows),) = keyed_rows(self.study.dataset_version, profile_of(self.study, ratings))
            for key, segment, item, rating in rows:
                yield KeyedRating(person.record.public_id, key, segment, item, rating)

    def requested(self) -> Iterator[Person]:
        """The participants whose list was requested, in studies with a remote recommender."""
        return (person for person in self.people() if hasattr(person.record.participant, "list_request"))

    def event_rows(self) -> Iterator[EventRow]:
        """All events, by order of entry and time."""
        people = Participant.objects.filter(study=self.study, mode__in=self.modes)
        labels = dict(people.values_list("pk", Coalesce("sequence__label", "condition__label")))
        rows = Event.objects.filter(participant__study=self.study, participant__mode__in=self.modes)
        before, order = None, 0
        for event in rows.select_related("participant").order_by("participant_id", "id").iterator(ROWS_AT_ONCE):
            pk = event.participant_id
            if self.is_left_out(pk) or pk not in self.ids or pk not in labels:
                continue
            order = order + 1 if pk == before else 1
            before = pk
            yield EventRow(self.ids[pk], event.participant.mode, labels[pk], order, event)

    def pages(self) -> Iterator[PageTime]:
        """All finished pages, by order of entry and of steps."""
        spent = time_by_page(self.study, self.modes)
        for person in self.people():
            own = spent.get(person.record.participant.pk, {})
            finished = [(Place(CONSENT), person.record.participant.consented_at), *self._finished(person.record)]
            for index, (visit, at) in enumerate(finished, start=1):
                name, rank, occasion = visit.page, visit.rank, visit.occasion
                spent_here = own.get((name, rank, occasion), TimeOnPage())
                yield PageTime(person, index, name, rank or 1, occasion, at, spent_here)

    def page_summaries(self) -> Iterator[PageSummary]:
        yield from page_summaries(self.study, self.modes)

    def _finished(self, record: Record) -> Iterator[tuple[Place, datetime]]:
        """Pages with the time of their last stored entry; pages without entries are omitted."""
        participant, recommendations = record.participant, record.recommendations
        here = self.flow.order(place_reached(self.flow, participant))
        for visit in self.flow.places((1,) * max(1, len(record.occasions))):
            page, position = self.flow.page(visit.page), self.flow.position(visit.page)
            is_repeated = self.flow.is_repeated(page.key)
            answered = (record.occasions[visit.occasion - 1].lists[0] if is_repeated else record).answered
            asked = {question.key for question in self.questionnaire.block(page.block)} if page.block else ()
            latest: dict[int, datetime] = {}
            for rank, question, answered_at in answered:
                if question in asked and (rank > 0) == (page.kind == ITEM_QUESTIONS):
                    latest[rank] = max(latest.get(rank, answered_at), answered_at)
            left: datetime | None = None
            if page.kind == ITEM_QUESTIONS:
                for rank in sorted(latest):
                    if self.flow.order(replace(visit, rank=rank)) < here:
                        yield replace(visit, rank=rank), latest[rank]
            elif page.kind == ELICIT and recommendations is not None:
                prepared = getattr(participant, "list_request", None)
                left = recommendations.made_at if prepared is None else prepared.requested_at
            elif page.assigns:
                left = participant.assigned_at
            elif page.kind in (QUESTIONS, CHOICE, COMPARE) and position == len(self.flow.pages) - 2 and not is_repeated:
                left = participant.completed_at
            elif page.kind in (QUESTIONS, CHOICE, COMPARE) and self.flow.order(visit) < here:
                left = latest.get(0)
            if left is not None:
                yield visit, left

    def allotted(self) -> Iterator[AllocationRow]:
        """The allocation log in order, including excluded participants, since it serves to replay the assignment."""
        n_lines: Counter[str] = Counter()
        rows = Allocation.objects.filter(study=self.study, mode__in=self.modes).select_related("condition", "sequence")
        for number, row in enumerate(rows.order_by("id").iterator(ROWS_AT_ONCE), start=1):
            public = self.ids.get(row.participant_id) if row.participant_id else None
            yield AllocationRow(number, public, row, revealed_seed(self.study, row.mode, n_lines[row.mode]))
            n_lines[row.mode] += 1
