"""Consent, screening, slots, idleness and coming back."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from core.errors import ParallaxError
from core.models import LogEntry
from studies.enums import AllocationKind, Mode, ParticipantStatus, StudyStatus
from studies.models import Allocation, Participant, Response, Study
from studies.participation.services import consenting, enrolment, ratings, resuming
from studies.participation.services.entry_gate import EntryAttempt
from studies.participation.services.slot_queue import release_idle
from studies.participation.services.withdrawal import withdraw
from studies.recruitment.services import tokens
from tests.factories import answering
from tests.factories.studies import ABOUT, assigned, completed, enter, items_of, make_study, rated

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study() -> Study:
    return make_study()


def _gone(participant: Participant, minutes: int = 61) -> None:
    Participant.objects.filter(pk=participant.pk).update(last_seen_at=timezone.now() - timedelta(minutes=minutes))


def _held(study: Study, mode: str = Mode.LIVE) -> Counter[str]:
    held = study.participants.filter(mode=mode, status__in=["active", "completed"])
    return Counter(held.values_list("condition__label", flat=True))


def _kinds(study: Study) -> Counter[str]:
    return Counter(study.allocations.values_list("kind", flat=True))


def test_consent_keeps_the_token_only_as_its_digest(study: Study) -> None:
    entry = enter(study, parameters={"PROLIFIC_PID": "Ab1", "STUDY_ID": "s9"})
    row = Participant.objects.get(pk=entry.participant.pk)
    assert row.token_digest == hashlib.sha256(entry.token.encode()).hexdigest()
    assert entry.token not in str(Participant.objects.filter(pk=row.pk).values().get())
    assert len(entry.token) >= 43
    assert set(row.code) <= set(tokens.LETTERS)
    # What names a person is kept apart from the row that answers hang on.
    assert row.parameters == {"STUDY_ID": "s9"}
    assert list(row.external_ids.values_list("name", "value")) == [("PROLIFIC_PID", "Ab1")]
    assert row.version is not None
    assert row.version.design_hash == study.design_hash


def test_links_of_two_participants_differ(study: Study) -> None:
    assert enter(study).token != enter(study).token


@pytest.mark.parametrize(
    ("status", "mode"),
    [*((status, Mode.LIVE) for status in ("draft", "paused", "closed")),
     *((status, Mode.SIMULATED) for status in ("paused", "closed"))],
)  # fmt: skip
def test_consent_is_refused_unless_the_study_is_live(status: str, mode: str) -> None:
    study = make_study(status=status)
    with pytest.raises(ParallaxError) as refusal:
        enter(study, mode)
    assert refusal.value.code == "study.not_open"
    assert not study.participants.exists()


def test_a_preview_enters_before_the_launch_and_takes_no_slot_of_others() -> None:
    study = make_study(status="draft", per_condition=1)
    previews = [assigned(study, Mode.PREVIEW) for _ in range(5)]
    assert {p.status for p in previews} == {ParticipantStatus.ACTIVE}
    assert _held(study) == {}


@pytest.mark.parametrize(
    ("key", "parameters", "code"),
    [
        ("short", {}, "study.bad_entry_key"),
        ("k" * 40, {"a": "x" * 501}, "study.bad_parameters"),
        ("k" * 40, {"a": "x\0"}, "study.bad_parameters"),
        ("k" * 40, {"\0": "x"}, "study.bad_parameters"),
    ],
)
def test_consent_refuses_what_no_page_of_ours_sends(
    study: Study, key: str, parameters: dict[str, str], code: str
) -> None:
    with pytest.raises(ParallaxError) as refusal:
        consenting.consent(EntryAttempt(study=study, entry_key=key, parameters=parameters))
    assert refusal.value.code == code


def test_a_changed_secret_gives_a_new_link_that_works(study: Study, settings: pytest.FixtureRequest) -> None:
    key = secrets.token_urlsafe(32)
    consenting.consent(EntryAttempt(study=study, entry_key=key))
    settings.SECRET_KEY = "another"  # type: ignore[attr-defined]
    again = consenting.consent(EntryAttempt(study=study, entry_key=key))
    assert resuming.resume(token=again.token).pk == again.participant.pk


def test_declining_is_counted_and_nothing_else_is_kept(study: Study) -> None:
    for _press in range(2):
        consenting.decline(study=study, entry_key="k" * 43)
    consenting.decline(study=study, entry_key="p" * 43, mode=Mode.PREVIEW)
    consenting.decline(study=study, entry_key="short")
    study.refresh_from_db()
    assert study.n_declined == 1
    assert not study.participants.exists()


def test_accepting_the_form_stores_the_answers_and_takes_a_slot(study: Study) -> None:
    participant = assigned(study, age=40, gender="man")
    assert participant.status == ParticipantStatus.ACTIVE
    assert participant.step == "rate"
    assert participant.stratum == "men, 35-50"
    assert dict(participant.responses.values_list("question", "value"))["age"] == 40
    line = Allocation.objects.get(study=study)
    assert (line.kind, line.place, line.condition_id) == ("assigned", 0, participant.condition_id)
    moves = LogEntry.objects.filter(kind="studies.participant", object_id=participant.pk)
    assert [(m.from_status, m.to_status) for m in moves] == [("consented", "active")]


def test_accepting_the_form_twice_takes_one_slot(study: Study) -> None:
    participant = assigned(study)
    again = enrolment.accept_about(participant=participant, answers={**ABOUT, "age": 45})
    assert again.condition_id == participant.condition_id
    assert again.stratum == participant.stratum
    assert study.allocations.count() == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"age": "30"}, "age"),
        ({"age": None}, "age"),
        ({"age": 500}, "age"),
        ({"gender": "robot"}, "gender"),
        ({"first_visit": 1}, "first_visit"),
        ({"nationality": "x" * 61}, "nationality"),
        ({"shoe_size": 42}, "shoe_size"),
    ],
)
def test_answers_that_cannot_be_used_are_named_and_nothing_is_stored(
    study: Study, change: dict[str, object], problem: str
) -> None:
    entry = enter(study)
    with pytest.raises(ParallaxError) as refusal:
        enrolment.accept_about(participant=entry.participant, answers={**ABOUT, **change})
    assert refusal.value.code == "study.bad_answers"
    assert list(refusal.value.extra["problems"]) == [problem]
    assert refusal.value.extra["problems"][problem].endswith(".")
    assert not Response.objects.exists()
    assert Participant.objects.get().status == ParticipantStatus.CONSENTED


def test_own_words_about_gender_are_kept_only_where_they_are_asked_for(study: Study) -> None:
    described = assigned(study, gender="self_described", gender_text=" mine ")
    assert described.responses.get(question="gender_text").value == "mine"
    assert described.stratum.startswith("all others")
    assert not assigned(study, gender_text="mine").responses.filter(question="gender_text").exists()


@pytest.mark.parametrize("change", [{"age": 19}, {"age": 51}, {"first_visit": False}])
def test_someone_outside_is_screened_out_without_a_slot(study: Study, change: dict[str, object]) -> None:
    participant = assigned(study, **change)
    assert participant.status == ParticipantStatus.SCREENED_OUT
    assert participant.condition is None
    assert not study.allocations.exists()


@pytest.mark.parametrize("age", [20, 50])
def test_both_ends_of_the_age_range_are_admitted(study: Study, age: int) -> None:
    assert assigned(study, age=age).status == ParticipantStatus.ACTIVE


def test_answers_given_one_by_one_are_kept_and_the_form_changes_them(study: Study) -> None:
    participant = enter(study).participant
    answering.answer(participant=participant, question="age", value=25)
    enrolment.accept_about(participant=participant, answers={**ABOUT, "age": 26})
    row = participant.responses.get(question="age")
    assert (row.value, row.n_changes) == (26, 1)
    assert participant.responses.get(question="gender").n_changes == 0


def test_the_form_takes_back_what_was_given_one_by_one_and_is_left_empty_or_not_asked(study: Study) -> None:
    participant = enter(study).participant
    answering.answer(participant=participant, question="nationality", value="Italian")
    answering.answer(participant=participant, question="gender", value="self_described")
    answering.answer(participant=participant, question="gender_text", value="mine")
    enrolment.accept_about(participant=participant, answers={**ABOUT, "nationality": ""})
    kept = dict(participant.responses.values_list("question", "value"))
    assert "nationality" not in kept
    assert "gender_text" not in kept
    assert kept["gender"] == "woman"


def test_the_form_of_someone_abandoned_is_refused_until_they_come_back(study: Study) -> None:
    entry = enter(study)
    _gone(entry.participant)
    release_idle()
    with pytest.raises(ParallaxError) as refusal:
        enrolment.accept_about(participant=entry.participant, answers=ABOUT)
    assert refusal.value.code == "study.not_active"
    back = resuming.resume(token=entry.token)
    assert enrolment.accept_about(participant=back, answers=ABOUT).status == ParticipantStatus.ACTIVE


def test_with_every_condition_at_its_target_the_next_wait_until_nobody_can_make_room(study: Study) -> None:
    people = [assigned(study, gender=g) for g in ("woman", "man", "woman", "woman", "man", "man")]
    assert [p.status for p in people] == ["active"] * 4 + ["consented"] * 2
    assert [p.waiting_since is None for p in people] == [True] * 4 + [False] * 2
    assert set(_held(study).values()) == {2}
    Participant.objects.filter(status="active").update(status="completed")
    assert {resuming.record_presence(p).status for p in people[4:]} == {"quota_full"}
    assert assigned(study).status == "quota_full"
    assert people[-1].stratum == "men, 20-34"


def test_a_skip_of_a_full_condition_is_logged_once(study: Study) -> None:
    for gender in ("woman", "man", "not_said", "woman"):
        assigned(study, gender=gender)
    skips = study.allocations.filter(kind=AllocationKind.SKIPPED)
    full = {label for label, n in _held(study).items() if n == 2}
    assert full == set(study.conditions.values_list("label", flat=True))
    places = list(skips.values_list("stratum", "place"))
    assert len(places) == len(set(places))
    for skip in skips:
        earlier = study.allocations.filter(id__lt=skip.pk, condition=skip.condition, kind="assigned").count()
        assert earlier == 2


def test_modes_have_places_and_quotas_of_their_own(study: Study) -> None:
    live = [assigned(study) for _ in range(4)]
    simulated = [assigned(study, Mode.SIMULATED) for _ in range(4)]
    assert {p.status for p in live + simulated} == {ParticipantStatus.ACTIVE}
    assert assigned(study).waiting_since is not None
    assert assigned(study, Mode.SIMULATED).status == ParticipantStatus.QUOTA_FULL


def test_simulated_participants_have_the_target_that_settings_give() -> None:
    study = make_study(settings={"simulated_per_condition": 3})
    people = [assigned(study, Mode.SIMULATED) for _ in range(7)]
    assert [p.status for p in people].count(ParticipantStatus.ACTIVE) == 6


def test_the_same_seed_and_order_give_the_same_conditions() -> None:
    def labels(slug: str, seed: int) -> list[str]:
        study = make_study(slug=slug, per_condition=6, seed=seed, run=run)
        people = [assigned(study, gender=("woman", "man")[n % 2]) for n in range(10)]
        return [p.condition.label for p in people if p.condition]

    run = make_study(slug="first").run
    assert labels("a", 3) == labels("b", 3)
    assert len({tuple(labels(f"s{seed}", seed)) for seed in range(3)}) > 1


def test_the_form_is_refused_while_the_study_is_paused() -> None:
    study = make_study()
    entry = enter(study)
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.PAUSED)
    with pytest.raises(ParallaxError) as refusal:
        enrolment.accept_about(participant=entry.participant, answers=ABOUT)
    assert refusal.value.code == "study.not_open"
    assert not Response.objects.exists()


def test_idle_people_are_abandoned_and_their_slots_reopen(study: Study) -> None:
    people = [assigned(study) for _ in range(4)]
    _gone(people[1])
    assert release_idle() == 1
    people[1].refresh_from_db()
    assert people[1].status == ParticipantStatus.ABANDONED
    assert people[1].condition is not None
    assert sum(_held(study).values()) == 3
    newcomer = assigned(study)
    assert newcomer.condition_id == people[1].condition_id
    assert assigned(study).waiting_since is not None
    assert _kinds(study) == {"assigned": 4, "released": 1, "retaken": 1}


def test_the_sweep_twice_releases_once_and_leaves_who_is_here(study: Study) -> None:
    people = [assigned(study), enter(study).participant, completed(study)]
    for person in people:
        _gone(person)
    present = assigned(study)
    assert release_idle() == 2
    assert release_idle() == 0
    present.refresh_from_db()
    assert present.status == ParticipantStatus.ACTIVE
    assert set(study.participants.values_list("status", flat=True)) == {"abandoned", "completed", "active"}


def test_the_limit_is_the_studys_own() -> None:
    study = make_study(settings={"idle_minutes": 5})
    person = assigned(study)
    _gone(person, minutes=4)
    assert release_idle() == 0
    _gone(person, minutes=6)
    assert release_idle() == 1


def _entered(study: Study) -> tuple[Participant, str]:
    entry = enter(study)
    return enrolment.accept_about(participant=entry.participant, answers=ABOUT), entry.token


def test_someone_who_comes_back_in_time_has_their_old_slot_and_answers(study: Study) -> None:
    person, token = _entered(study)
    ratings.rate_item(participant=person, item=items_of(study, 1)[0], rating=4)
    place = person.place
    _gone(person)
    release_idle()
    back = resuming.resume(token=token)
    assert (back.status, back.place, back.condition_id) == (
        ParticipantStatus.ACTIVE,
        place,
        person.condition_id,
    )
    assert back.step == "rate"
    assert back.profile.count() == 1
    assert _kinds(study) == {"assigned": 1, "released": 1, "retaken": 1}


def test_someone_who_comes_back_to_a_refilled_slot_stays_in_their_condition_while_it_has_room(
    study: Study,
) -> None:
    person, token = _entered(study)
    _gone(person)
    release_idle()
    other = assigned(study)
    assert other.place == 0
    back = resuming.resume(token=token)
    assert back.status == ParticipantStatus.ACTIVE
    assert back.condition_id == person.condition_id == other.condition_id
    assert back.place != other.place
    people = [assigned(study) for _ in range(3)]
    assert [p.status for p in people] == ["active", "active", "consented"]
    assert set(_held(study).values()) == {2}


def test_someone_who_comes_back_to_a_full_condition_meets_quota_full(study: Study) -> None:
    person, token = _entered(study)
    _gone(person)
    release_idle()
    for _ in range(4):
        assigned(study)
    assert resuming.resume(token=token).status == ParticipantStatus.QUOTA_FULL
    assert set(_held(study).values()) == {2}


def test_someone_gone_before_the_form_comes_back_to_it(study: Study) -> None:
    entry = enter(study)
    _gone(entry.participant)
    release_idle()
    assert resuming.resume(token=entry.token).status == ParticipantStatus.CONSENTED


def test_resume_notes_that_someone_is_here(study: Study) -> None:
    entry = enter(study)
    _gone(entry.participant, minutes=59)
    resuming.resume(token=entry.token)
    assert release_idle() == 0


def test_resume_refuses_an_unknown_link(study: Study) -> None:
    with pytest.raises(ParallaxError) as refusal:
        resuming.resume(token="nobody")
    assert refusal.value.code == "study.unknown_link"


def test_answers_of_someone_abandoned_are_refused_until_they_come_back(study: Study) -> None:
    person, token = _entered(study)
    _gone(person)
    release_idle()
    item = items_of(study, 1)[0]
    with pytest.raises(ParallaxError) as refusal:
        ratings.rate_item(participant=person, item=item, rating=4)
    assert refusal.value.code == "study.not_active"
    ratings.rate_item(participant=resuming.resume(token=token), item=item, rating=4)


def test_withdrawing_erases_the_person_and_opens_the_slot(study: Study) -> None:
    person = completed(study)
    withdraw(participant=person)
    withdraw(participant=person)
    row = Participant.objects.get(pk=person.pk)
    assert row.status == ParticipantStatus.WITHDRAWN
    assert (row.condition_id, row.place, row.parameters) == (person.condition_id, None, {})
    for left in ("responses", "profile", "events"):
        assert not getattr(row, left).exists()
    assert not row.recommendation_lists.exists()
    assert sum(_held(study).values()) == 0
    assert _kinds(study) == {"assigned": 1, "released": 1}


def test_the_log_replays_who_holds_what(study: Study) -> None:
    people = [assigned(study, gender=("woman", "man")[n % 2]) for n in range(4)]
    for person in people[:2]:
        _gone(person)
    release_idle()
    rated(study)
    held: dict[tuple[str, int], int | None] = {}
    for line in study.allocations.order_by("id"):
        key = (line.stratum, line.place)
        if line.kind in (AllocationKind.ASSIGNED, AllocationKind.RETAKEN):
            assert held.get(key) is None
            held[key] = line.participant_id
        elif line.kind == AllocationKind.RELEASED:
            assert held.pop(key) == line.participant_id
    now = study.participants.filter(place__isnull=False).values_list("stratum", "place", "pk")
    assert held == {(stratum, place): pk for stratum, place, pk in now}


def test_openings_are_counted_of_people_alone(study: Study) -> None:
    consenting.note_opened(study=study)
    consenting.note_opened(study=study, mode=Mode.PREVIEW)
    study.refresh_from_db()
    assert (study.n_opened, study.participants.count()) == (1, 0)
