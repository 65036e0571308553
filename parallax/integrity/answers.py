"""Checks of a study: usable settings, no answer lost or doubled, finished participants complete, exports that agree."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from django.db.models import Count

from core.models import LogEntry
from parallax.integrity.findings import Finding, finding
from studies.allocation.selectors.allocations import n_occasions
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.design.selectors.placeholders import conditions_of
from studies.enums import Mode, ParticipantStatus
from studies.instrument.flow import flow_of, questionnaire_of
from studies.models import Participant, ProfileRating, RecommendationList, RecommendedItem, Response, Study
from studies.monitoring.selectors.exclusions import missing_of
from studies.participation.selectors.responses import records
from studies.presentation import PLAIN
from studies.settings import settings_problems

MODES = (Mode.LIVE, Mode.SIMULATED)


def check_settings(study: Study) -> Iterator[Finding]:
    """Settings that cannot be used, in place of which pages show the defaults."""
    for problem in settings_problems(study.settings):
        yield finding("design.bad_setting", study.slug, f"The setting {problem}", study=[study.pk])


def check_answers(study: Study) -> Iterator[Finding]:
    """Rows that are doubled, lost, or belong to no question; statuses that no log explains."""
    for check in (_duplicates, _finished, _lists, _orphans, _erased, _unlogged):
        yield from check(study)


def _duplicates(study: Study) -> Iterator[Finding]:
    for model, fields in (
        (Response, ("participant_id", "question", "rank", "occasion")),
        (ProfileRating, ("participant_id", "item_id")),
    ):
        rows = model._default_manager.filter(participant__study=study).order_by().values(*fields)
        for row in rows.annotate(n=Count("pk")).filter(n__gt=1):
            who, which = row["participant_id"], ", ".join(f"{name} {row[name]}" for name in fields[1:])
            what = f"Participant {who} has {row['n']} rows where one belongs: {which}."
            yield finding("answer.doubled", study.slug, what, participant=[who])


def _finished(study: Study) -> Iterator[Finding]:
    for record in records(study, MODES, completed_only=True):
        participant = record.participant
        if participant.erased_at is not None:
            continue
        lacking = missing_of(study, record)
        if not participant.completion_code:
            lacking.append("a completion code")
        if participant.completed_at is None:
            lacking.append("the time of completion")
        if participant.step != flow_of(study).keys[-1]:
            lacking.append(f"the last step (it stands at {participant.step})")
        if lacking:
            what = f"Participant {participant.code} finished without {', '.join(lacking)}."
            yield finding("participant.incomplete", study.slug, what, participant=[participant.pk])


def _lists(study: Study) -> Iterator[Finding]:
    lists = RecommendationList.objects.filter(participant__study=study).select_related("participant")
    conditions = {condition.pk: condition for condition in study.conditions.all()}
    ranks: dict[int, list[int]] = {}
    slots = RecommendedItem.objects.filter(recommendation_list__participant__study=study).order_by("rank")
    for list_id, rank in slots.values_list("recommendation_list_id", "rank"):
        ranks.setdefault(list_id, []).append(rank)
    rated = set(
        RecommendedItem.objects.filter(recommendation_list__participant__study=study)
        .filter(item__in=ProfileRating.objects.filter(participant__study=study).values("item"))
        .values_list("recommendation_list__participant_id", "item_id")
    ) & set(ProfileRating.objects.filter(participant__study=study).values_list("participant_id", "item_id"))
    for stored in lists.order_by("pk").iterator(chunk_size=500):
        person, problems = stored.participant, []
        person.study = study
        of_lists = {
            (occasion, side): conditions[key]
            for occasion, keys in enumerate(conditions_of(person), start=1)
            for side, key in enumerate(keys, start=1)
        }
        condition = of_lists.get((stored.occasion, stored.side))
        length = study.design.listed_in(PLAIN if condition is None else condition.shown)
        if ranks.get(stored.pk, []) != list(range(1, length + 1)):
            problems.append(f"its ranks are {ranks.get(stored.pk, [])} and not 1 to {length}")
        if condition is None:
            problems.append("its participant is in no condition")
        elif stored.condition_id != condition.pk:
            problems.append(f"it is of another condition than {condition}")
        elif stored.model_digest != condition.model_digest:
            problems.append(f"model {stored.model_digest[:12]} made it, and {condition} pins another")
        if any(who == person.pk for who, _item in rated):
            problems.append("it recommends what the participant had rated")
        if problems:
            what = f"The list of participant {person.code}: {'; '.join(problems)}."
            yield finding("list.wrong", study.slug, what, participant=[person.pk], list=[stored.pk])
    lost = Participant.objects.filter(
        study=study, step__in=flow_of(study).with_list, recommendation_lists__isnull=True, erased_at__isnull=True
    ).exclude(status=ParticipantStatus.WITHDRAWN)
    for person in lost.exclude(status=ParticipantStatus.COMPLETED).order_by("pk"):
        what = f"Participant {person.code} is past the ratings and has no list."
        yield finding("list.lost", study.slug, what, participant=[person.pk])


def _orphans(study: Study) -> Iterator[Finding]:
    """Answers to what is not asked, or about a rank that no list has."""
    questionnaire = questionnaire_of(study)
    whole = {q.key for block in questionnaire.whole for q in questionnaire.block(block)}
    of_item = {q.key for q in questionnaire.items}
    of_lists = {q.key for block in questionnaire.repeated for q in questionnaire.block(block)}
    length, n = study.design.longest_list, n_occasions(study)
    strays: Counter[tuple[int, str, int]] = Counter()
    rows = Response.objects.filter(participant__study=study).order_by("participant_id", "rank", "question")
    of_row = ("participant_id", "question", "rank", "occasion")
    for participant, question, rank, occasion in rows.values_list(*of_row).iterator():
        is_asked = question in (of_item if rank else whole) and occasion <= (n if question in of_lists else 1)
        if not is_asked or rank > length:
            strays[participant, question, rank] += 1
    for participant, question, rank in strays:
        about = f" about rank {rank}" if rank else ""
        what = f"Participant {participant} has an answer to {question!r}{about}, which the study does not ask."
        yield finding("answer.stray", study.slug, what, participant=[participant])


def _erased(study: Study) -> Iterator[Finding]:
    for person in Participant.objects.filter(study=study, erased_at__isnull=False).order_by("pk"):
        left = [
            name
            for name in ("responses", "profile", "events", "external_ids", "submissions")
            if getattr(person, name).exists()
        ]
        if RecommendationList.objects.filter(participant=person).exists():
            left.append("recommendation list")
        if person.parameters:
            left.append("parameters of the link")
        if left:
            what = f"Participant {person.code} was erased, and still has {', '.join(left)}."
            yield finding("erasure.unfinished", study.slug, what, participant=[person.pk])


def _unlogged(study: Study) -> Iterator[Finding]:
    """Statuses that differ from the last move in the log."""
    people = Participant.objects.filter(study=study)
    moves = LogEntry.objects.filter(kind="studies.participant", object_id__in=people.values("pk")).order_by("at", "id")
    last = dict(moves.values_list("object_id", "to_status"))
    for person in people.order_by("pk"):
        expected = last.get(person.pk)
        if expected is None and person.status in (ParticipantStatus.CONSENTED, ParticipantStatus.STARTED):
            continue
        if expected != person.status:
            what = f"Participant {person.code} is {person.status}, and the log ends at {expected or 'nothing'}."
            yield finding("participant.unlogged", study.slug, what, participant=[person.pk])


def check_exports(study: Study) -> Iterator[Finding]:
    """Make the exports and count them against the rows: a difference means that files lie."""
    people = Participant.objects.filter(study=study, mode__in=MODES)
    expected = {
        "wide": people.count(),
        "long": RecommendedItem.objects.filter(recommendation_list__participant__in=people).count(),
        "ratings": ProfileRating.objects.filter(participant__in=people).count(),
    }
    for kind, n in expected.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files = write_export(study, kind, folder, Options(include_simulated=True))
            data = next(file for file in files if file.name.endswith(f"_{kind}_data.csv"))
            rows = list(csv.DictReader(io.StringIO((folder / data.name).read_text(encoding="utf-8"))))
            facts = json.loads((folder / f"study-{study.slug}_{kind}_export.json").read_text(encoding="utf-8"))
        problems = []
        if not n == len(rows) == data.n_rows:
            problems.append(f"{n} rows are stored, {len(rows)} are in the file and {data.n_rows} in its account")
        if kind == "wide" and len({row["participant.id"] for row in rows}) != len(rows):
            problems.append("two participants have one id")
        for mode, flow in facts["flow"].items():
            if (
                flow["assigned"] != flow["completed"] + sum(flow["left_after"].values())
                or flow["consented"] != flow["assigned"] + sum(flow["left_before"].values())
                or flow["completed"] != flow["analysed"] + sum(flow["excluded"].values())
            ):
                problems.append(f"the flow of {mode} participants does not add up")
        if problems:
            yield finding("export.differs", study.slug, f"The {kind} export: {'; '.join(problems)}.")
