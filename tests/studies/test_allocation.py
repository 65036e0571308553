"""Slots by every method, quotas, returned submissions, and the replay of the log."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from core.errors import NotAllowedInState
from core.models import LogEntry
from studies.allocation.selectors.allocations import quota_counts, replayed_log
from studies.enums import Mode, ParticipantStatus
from studies.models import Allocation, Participant, Study
from studies.participation.services import resuming
from studies.participation.services.slot_queue import release_idle
from studies.participation.services.withdrawal import withdraw
from studies.recruitment.services import tokens
from studies.recruitment.services.submissions import return_participant
from tests.approval import assert_approved
from tests.factories.evaluation import make_run_at
from tests.factories.studies import assigned, completed, enter, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

OTHERS = ("minimisation", "least_filled", "simple")
WOMEN = {"name": "women", "most": 2, "where": [{"question": "gender", "values": ["woman"]}]}
YOUNG = {"name": "young", "most": 1, "where": [{"question": "age", "band": [20, 24]}]}


def held(study: Study, mode: str = Mode.LIVE) -> list[int]:
    rows = study.participants.filter(mode=mode, status__in=["active", "completed"])
    found = Counter(rows.values_list("condition__position", flat=True))
    return [found[position] for position in range(study.conditions.count())]


RETURNED = "Returned."


def last_reason(participant: Participant) -> str:
    moves = LogEntry.objects.filter(kind="studies.participant", object_id=participant.pk)
    return str(moves.order_by("-id").values_list("reason", flat=True)[0])


def idle(participant: Participant) -> None:
    Participant.objects.filter(pk=participant.pk).update(last_seen_at=timezone.now() - timedelta(hours=2))
    release_idle()


@pytest.mark.parametrize("method", OTHERS)
def test_a_study_of_any_method_fills_to_its_targets_and_replays(method: str) -> None:
    study = make_study(per_condition=3, settings={"method": method})
    people = [assigned(study, age=(22, 40)[n % 2], gender=("woman", "man")[n % 3 == 0]) for n in range(4)]
    token = _token_of(people[1])
    idle(people[1])
    assigned(study, age=30)
    assert resuming.resume(token=token).condition_id == people[1].condition_id
    while assigned(study).status == ParticipantStatus.ACTIVE:
        pass
    assert held(study) == [3, 3]
    found = replayed_log(study, Mode.LIVE)
    assert (found.problem, found.n_holding) == ("", 6)
    kinds = Counter(study.allocations.values_list("kind", flat=True))
    assert kinds["assigned"] + kinds["retaken"] - kinds["released"] == 6


def _token_of(participant: Participant) -> str:
    """A link that leads to them: the token itself is not kept."""
    token = f"token-of-{participant.pk}"
    Participant.objects.filter(pk=participant.pk).update(token_digest=tokens.digest_of_token(token))
    return token


@pytest.mark.parametrize("method", OTHERS)
def test_someone_who_comes_back_takes_their_own_place_again(method: str) -> None:
    study = make_study(per_condition=3, settings={"method": method})
    first = assigned(study)
    place, condition = first.place, first.condition_id
    token = _token_of(first)
    idle(first)
    second = assigned(study)
    assert second.place != place
    back = resuming.resume(token=token)
    assert (back.status, back.place, back.condition_id) == ("active", place, condition)
    assert replayed_log(study, Mode.LIVE).problem == ""


def test_minimisation_keeps_traits_even_whatever_the_stratum() -> None:
    settings = {"method": "minimisation", "minimisation_probability": 1.0}
    study = make_study(per_condition=8, settings=settings)
    for number in range(12):
        assigned(study, gender=("woman", "man", "not_said")[number % 3], age=(25, 45)[number % 2])
    rows = list(study.participants.values_list("stratum", "condition__position"))
    for trait in ("women", "men", "all others", "20-34", "35-50"):
        counts = Counter(position for stratum, position in rows if trait in stratum.split(", "))
        assert abs(counts[0] - counts[1]) <= 1


def test_sparse_strata_share_one_sequence_where_blocks_are_made_within_them() -> None:
    shares = {"gender": {"women": 48, "men": 48, "all others": 4}}
    study = make_study(per_condition=4, settings={"expected_shares": shares, "merge_below": 0.03})
    people = [assigned(study, gender="not_said", age=age) for age in (25, 45)]
    assert {p.stratum for p in people} == {"all others, 20-34 and 1 more"}
    assert {p.place for p in people} == {0, 1}
    assert len({p.condition_id for p in people}) == 2
    by_traits = make_study(
        slug="traits",
        run=study.run,
        settings={"expected_shares": shares, "merge_below": 0.03, "method": "minimisation"},
    )
    assert assigned(by_traits, gender="not_said", age=45).stratum == "all others, 35-50"


def test_a_full_quota_lets_the_newcomer_wait_or_thanks_them_and_lets_others_in() -> None:
    study = make_study(per_condition=5, settings={"quotas": [WOMEN, YOUNG]})
    women = [assigned(study), assigned(study, age=40)]
    late = assigned(study)
    assert late.place is None
    assert late.waiting_since is not None
    man = assigned(study, gender="man", age=23)
    assert man.status == ParticipantStatus.ACTIVE
    Participant.objects.filter(pk=man.pk).update(status=ParticipantStatus.COMPLETED)
    young = assigned(study, gender="man", age=20)
    assert young.status == ParticipantStatus.QUOTA_FULL
    assert "young" in last_reason(young)
    assert [(q.name, q.n, q.most, q.is_full) for q in quota_counts(study)] == [
        ("women", 2, 2, True),
        ("young", 1, 1, True),
    ]
    withdraw(participant=women[0])
    assert assigned(study).waiting_since is not None  # the one who waited longer has the slot
    late.refresh_from_db()
    assert late.status == ParticipantStatus.ACTIVE
    assert replayed_log(study, Mode.LIVE).problem == ""


def test_someone_who_comes_back_when_their_quota_is_full_is_thanked() -> None:
    study = make_study(per_condition=5, settings={"quotas": [{**WOMEN, "most": 1}]})
    first = assigned(study)
    token = _token_of(first)
    idle(first)
    assert assigned(study).status == ParticipantStatus.ACTIVE
    back = resuming.resume(token=token)
    assert back.status == ParticipantStatus.QUOTA_FULL
    assert "women" in last_reason(back)


def test_quotas_are_about_people_alone() -> None:
    study = make_study(per_condition=5, settings={"quotas": [{**WOMEN, "most": 0}]})
    assert assigned(study).status == ParticipantStatus.QUOTA_FULL
    for mode in (Mode.SIMULATED, Mode.PREVIEW):
        assert assigned(study, mode).status == ParticipantStatus.ACTIVE
    assert quota_counts(study)[0].n == 0
    assert quota_counts(make_study(slug="none", run=study.run)) == []


def test_a_returned_submission_opens_its_slot_once() -> None:
    study = make_study(per_condition=1)
    first, second = assigned(study), assigned(study)
    for _ in range(2):
        assert return_participant(participant=first, reason=RETURNED).status == "returned"
    assert study.allocations.filter(kind="released").count() == 1
    first.refresh_from_db()
    assert (first.place, last_reason(first)) == (None, RETURNED)
    again = assigned(study)
    assert (again.status, again.condition_id) == (ParticipantStatus.ACTIVE, first.condition_id)
    assert held(study) == [1, 1]
    waiting = enter(study).participant
    assert return_participant(participant=waiting, reason="Timed out.").status == "returned"
    assert replayed_log(study, Mode.LIVE).problem == ""
    assert second.status == ParticipantStatus.ACTIVE


def test_someone_who_completed_keeps_their_slot() -> None:
    study = make_study(per_condition=1)
    done = completed(study)
    with pytest.raises(NotAllowedInState):
        return_participant(participant=done, reason="Returned on the panel.")
    assert study.allocations.filter(kind="released").count() == 0


def _replayed(study: Study) -> str:
    out = StringIO()
    call_command("replay_allocation", study.slug, stdout=out)
    return out.getvalue()


@pytest.fixture
def log() -> Study:
    study = make_study(per_condition=3)
    for number in range(4):
        assigned(study, gender=("woman", "man")[number % 2])
    assigned(study, Mode.SIMULATED)
    return study


def test_the_command_replays_every_line(log: Study) -> None:
    Allocation.objects.update(targets=None)  # as lines written before targets were logged
    said = _replayed(log)
    assert_approved("commands/replay-allocation", said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("condition", "Line 3 differs: the log has assigned place 1 of 'women, 20-34' in"),
        ("line", "Line 3 differs"),
        ("row", "rows do not match it"),
        ("seed", "differs"),
    ],
)
def test_the_command_says_where_a_log_was_changed(log: Study, change: str, said: str) -> None:
    third = log.allocations.filter(mode=Mode.LIVE)[2]
    other = log.conditions.exclude(pk=third.condition_id).get()
    if change == "condition":
        Allocation.objects.filter(pk=third.pk).update(condition=other)
    elif change == "line":
        # An arrival that is missing shifts the places of those after it, in its stratum.
        log.allocations.filter(mode=Mode.LIVE)[0].delete()
        said = "differs"
    elif change == "row":
        Participant.objects.filter(pk=third.participant_id).update(condition=other)
    else:
        Study.objects.filter(pk=log.pk).update(seed=7)
    with pytest.raises(CommandError, match=said):
        _replayed(log)


def test_a_skip_that_vanished_is_told_as_nothing() -> None:
    study = make_study(per_condition=1, settings={"method": "simple"}, seed=5, run=make_run_at("succeeded"))
    skipped: Any = None
    for number in range(2, 40):  # a seed whose second draw tries the full condition first
        study.seed = number
        study.save(update_fields=["seed"])
        study.participants.all().delete()
        study.allocations.all().delete()
        assigned(study)
        assigned(study)
        skipped = study.allocations.filter(kind="skipped").first()
        if skipped is not None:
            break
    assert skipped is not None
    skipped.delete()
    study.refresh_from_db()
    assert "the replay has" in replayed_log(study, Mode.LIVE).problem
    study.allocations.last().delete()
    twice = study.allocations.get()
    twice.pk, twice.place = None, 7
    twice.save()
    assert replayed_log(study, Mode.LIVE).problem.endswith("nothing.")


def test_the_command_refuses_an_unknown_study() -> None:
    with pytest.raises(CommandError, match="no study called 'nothing'"):
        call_command("replay_allocation", "nothing")
