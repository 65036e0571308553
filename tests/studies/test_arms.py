"""Sequences of conditions as arms: people are assigned to them, leave and come back as they do to conditions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from core.provenance import digest_of
from parallax.integrity.slots import check_slots
from studies.allocation.selectors.allocations import arms_of, n_slots, replayed_log, slots_held
from studies.design.services.launch import design_snapshot, launch_study
from studies.enums import AllocationKind, Mode, ParticipantStatus
from studies.models import Allocation, Notice, Participant, Study
from studies.monitoring.selectors.live import stratum_lines
from studies.monitoring.selectors.monitor import counts_by_condition
from studies.monitoring.services.notice_rules import notify_due
from studies.participation.services import resuming
from studies.participation.services.enrolment import accept_about
from studies.participation.services.entry_gate import is_full
from studies.participation.services.slot_queue import release_idle
from studies.participation.services.withdrawal import withdraw
from tests.factories.exports import Exported
from tests.factories.studies import ABOUT, add_conditions, add_sequences, assigned, enter, make_study
from tests.studies.test_methods_at_once import METHODS

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

EVERY_METHOD = ["permuted_blocks", *METHODS]
LABELS = [
    "TopPop, PureSVD4, Condition 2",
    "PureSVD4, Condition 2, TopPop",
    "Condition 2, TopPop, PureSVD4",
    "Condition 2, PureSVD4, TopPop",
    "TopPop, Condition 2, PureSVD4",
    "PureSVD4, TopPop, Condition 2",
]


def in_turn(target: int = 2, **settings: Any) -> Study:
    """A live study of three conditions that each person meets, in six sequences."""
    study = make_study(status="draft", settings=settings)
    add_conditions(study, 3)
    add_sequences(study, target)
    launch_study(study=study)
    study.refresh_from_db()
    return study


def held(study: Study) -> list[int]:
    return [slots_held(study, Mode.LIVE).get(arm.pk, 0) for arm in arms_of(study)]


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_people_fill_the_sequences_to_their_targets_and_the_log_replays(method: str) -> None:
    study = in_turn(method=method)
    assert n_slots(study) == 12
    people = [assigned(study, gender=("woman", "man")[number % 2]) for number in range(12)]
    assert {person.status for person in people} == {ParticipantStatus.ACTIVE}
    assert held(study) == [2] * 6
    assert is_full(study, Mode.LIVE)
    assert assigned(study).status == ParticipantStatus.CONSENTED  # waits
    assert replayed_log(study, Mode.LIVE).problem == ""
    assert list(check_slots(study)) == []
    rows = Participant.objects.filter(study=study, place__isnull=False)
    assert set(rows.values_list("condition", flat=True)) == {None}
    assert set(study.allocations.values_list("condition", flat=True)) == {None}


def test_each_block_of_six_people_has_every_sequence() -> None:
    study = in_turn(target=3)
    positions = [assigned(study).sequence.position for _ in range(18)]
    assert [sorted(positions[start : start + 6]) for start in (0, 6, 12)] == [list(range(6))] * 3


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_who_comes_back_gets_their_own_sequence_and_others_the_released_ones(method: str) -> None:
    study = in_turn(target=1, method=method)
    entries = [enter(study) for _ in range(2)]
    back, gone = (accept_about(participant=entry.participant, answers=ABOUT) for entry in entries)
    for _ in range(4):
        assigned(study)
    sequence = back.sequence_id
    Participant.objects.filter(pk=back.pk).update(last_seen_at=back.last_seen_at.replace(year=2020))
    assert release_idle() == 1
    withdraw(participant=gone)
    assert sum(held(study)) == 4
    resuming.resume(token=entries[0].token)
    back.refresh_from_db()
    assert (back.status, back.sequence_id) == (ParticipantStatus.ACTIVE, sequence)
    assert assigned(study).sequence_id == gone.sequence_id
    assert held(study) == [1] * 6
    kinds = Counter(study.allocations.values_list("kind", flat=True))
    assert kinds[AllocationKind.RELEASED] == 2
    assert replayed_log(study, Mode.LIVE).problem == ""
    assert list(check_slots(study)) == []


def test_more_people_than_the_target_and_rows_unlike_the_log_are_found() -> None:
    study = in_turn(target=1)
    first, second = assigned(study), assigned(study)
    Participant.objects.filter(pk=second.pk).update(sequence=first.sequence)
    codes = {finding.code for finding in check_slots(study)}
    assert {"target.overrun", "slot.differs", "allocation.not_replayed"} <= codes


def test_the_live_page_counts_by_sequence() -> None:
    study = in_turn()
    person = assigned(study)
    (stratum,) = stratum_lines(study, Mode.LIVE, arms_of(study))
    assert stratum.labels == tuple(LABELS)
    assert [cell.active for cell in stratum.cells].index(1) == person.sequence.position
    lines = counts_by_condition(study, Mode.LIVE)
    assert [line.label for line in lines] == LABELS
    assert [line.target for line in lines] == [2] * 6
    assert [line.active for line in lines].index(1) == person.sequence.position


def test_owners_hear_of_full_sequences_and_of_a_full_study() -> None:
    study = in_turn(target=1)
    people = [assigned(study) for _ in range(6)]
    Participant.objects.filter(pk=people[0].pk).update(status=ParticipantStatus.COMPLETED)
    notify_due()
    texts = set(Notice.objects.filter(study=study).values_list("text", flat=True))
    assert f"{people[0].sequence.label} has reached its target of 1 completed." in texts
    assert any(text.startswith("The study is full: all 6 slots are held.") for text in texts)


def test_exports_name_the_sequence_of_people_and_of_lines_of_the_log() -> None:
    study = in_turn(target=1)
    people = [assigned(study) for _ in range(3)]
    export = Exported(study, "wide")
    in_order = [person.sequence.label for person in people]
    assert [row["participant.sequence"] for row in export.rows("_wide_data.csv")] == in_order
    lines = export.rows("allocation_data.csv")
    assert [line["allocation.sequence"] for line in lines] == in_order
    assert {line["allocation.targets"] for line in lines} == {"[1, 1, 1, 1, 1, 1]"}
    assert "allocation.condition" not in lines[0]
    of_one_list = Exported(make_study(slug="one-list"), "wide")
    assert "participant.sequence" not in of_one_list.text("_wide_data.csv").splitlines()[0]


def test_sequences_are_part_of_the_frozen_design_of_studies_that_have_some() -> None:
    study = in_turn()
    snapshot = design_snapshot(study)
    assert study.design_hash == digest_of(snapshot)
    assert [sequence["label"] for sequence in snapshot["sequences"]] == LABELS
    assert snapshot["sequences"][3] == {"label": LABELS[3], "occasions": [[2], [1], [0]], "target": 2}
    study.sequences.all().delete()
    assert "sequences" not in design_snapshot(study)


def test_arms_of_a_study_without_sequences_are_its_conditions_read_by_one_query() -> None:
    study = make_study()
    with CaptureQueriesContext(connection) as queries:
        assert arms_of(study) == list(study.conditions.order_by("position"))
    assert len(queries) == 2


def test_a_line_of_the_log_is_of_exactly_one_arm() -> None:
    study = in_turn()
    condition, sequence = study.conditions.first(), study.sequences.first()
    line = {"study": study, "mode": Mode.LIVE, "kind": "released", "stratum": "all", "place": 0, "block": 0}
    for arms in ({}, {"condition": condition, "sequence": sequence}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Allocation.objects.create(**line, **arms)
    assert str(Allocation(**line, sequence=sequence)) == f"released all 0 → {LABELS[0]}"
