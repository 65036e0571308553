"""Flags found in rows, exclusions with their record, blinding, retention, exports by a worker."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from analysis.services import build_report
from core.errors import ParallaxError
from core.models import LogEntry
from jobs.archives import clean_jobs
from jobs.models import JobStatus
from jobs.services import do_job
from parallax.integrity.answers import check_answers, check_exports
from studies.data.exports.rows import Source
from studies.data.exports.tables import Options
from studies.data.services import exports
from studies.data.services.retention import erase_expired, set_retention
from studies.design.services.launch import close_study
from studies.enums import Mode, ParticipantStatus, Role
from studies.instrument import flags
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.models import Exclusion, ExternalId, Participant, Response, Study
from studies.monitoring.selectors.approvals import approvals_of
from studies.monitoring.selectors.consort import consort_of
from studies.monitoring.selectors.exclusions import planned_exclusions, planned_rule
from studies.monitoring.selectors.outcomes import are_outcomes_open, outcomes_of
from studies.monitoring.selectors.quality import flag_counts, flags_by_participant, public_ids, reviewed
from studies.monitoring.services.blinding import open_outcomes
from studies.monitoring.services.exclusions import exclude, undo_exclusion
from studies.participation.services.withdrawal import withdraw
from studies.recruitment.panels.exits import Exit
from studies.recruitment.services.tokens import code_of
from tests.factories.accounts import UserFactory
from tests.factories.analysis import planted_person
from tests.factories.questionnaires import every_kind, make_resque_study, make_study_asking, words
from tests.factories.studies import assigned, completed, enter, make_study, rated

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def owner() -> User:
    return UserFactory()


@pytest.fixture
def study(owner: User) -> Study:
    return make_study(per_condition=4, owner=owner)


def _slow(person: Participant, minutes: int = 10) -> Participant:
    """As if they had taken their time."""
    Participant.objects.filter(pk=person.pk).update(consented_at=timezone.now() - timedelta(minutes=minutes))
    person.refresh_from_db()
    return person


def _found(study: Study, person: Participant) -> list[str]:
    return [flag.key for flag in flags_by_participant(study, [person.mode]).get(person.pk, ())]


def test_flags_are_found_in_what_is_stored(study: Study) -> None:
    careful = _slow(completed(study))
    fast = completed(study, gender="man")
    alike = _slow(planted_person(study, "TopPop", [3] * 5, 3, n_watched=5))
    assert _found(study, careful) == []
    assert _found(study, fast) == ["too_fast"]
    assert _found(study, alike) == ["straight_lined"]
    Study.objects.filter(pk=study.pk).update(settings={**study.settings, "quality": {"alike_ratings": 5}})
    study.refresh_from_db()
    assert _found(study, alike) == ["straight_lined", "all_ratings_alike"]
    assert dict(flag_counts(study, [Mode.LIVE])) == {
        "Too fast": 1, "Straight-lined": 1, "All ratings alike": 1, "Attention check failed": 0, "Same external id": 0,
        "Contradictory answers": 0,
    }  # fmt: skip
    simulated = completed(study, Mode.SIMULATED)
    assert _found(study, simulated) == []  # nobody waits for a program


def test_the_same_external_id_is_told_by_ids_for_publication(study: Study) -> None:
    one = enter(study, parameters={"PROLIFIC_PID": "p1", "SESSION_ID": "s1"}).participant
    other = enter(study, parameters={"SESSION_ID": "s2"}).participant
    # Entering twice by one id is refused: what is told here came in before, or under a panel named later.
    ExternalId.objects.create(study=study, participant=other, name="PROLIFIC_PID", value="p1")
    third = enter(study, parameters={"PROLIFIC_PID": "P1", "SESSION_ID": "s2"}).participant
    found = flags_by_participant(study, [Mode.LIVE])
    assert set(found) == {one.pk, other.pk}
    assert public_ids(study)[other.pk] in found[one.pk][0].reason
    assert "p1" not in found[one.pk][0].reason
    assert third.pk not in found


def test_someone_the_studys_own_rule_sent_away_has_the_flag(study: Study) -> None:
    person = assigned(study)
    Participant.objects.filter(pk=person.pk).update(status="attention_failed")
    assert _found(study, person) == ["attention_failed"]


@pytest.mark.parametrize("asks_both", [True, False])
def test_an_item_consumed_and_never_heard_of_is_contradictory_where_both_are_asked(
    study: Study, asks_both: bool
) -> None:  # fmt: skip
    if asks_both:
        for question in study.questionnaire["items"]:
            if question["key"] == "heard":
                del question["shown_if"]
        study.save()
    contrary = _slow(planted_person(study, "TopPop", [3, 4, 2, 3, 4], 3, n_watched=2, n_heard=1))
    consistent = _slow(planted_person(study, "TopPop", [3, 4, 2, 3, 4], 3, n_watched=1, n_heard=1))
    _answer(contrary, {"heard": False}, rank=1)
    _answer(contrary, {"heard": False}, rank=2)
    _answer(consistent, {"heard": True}, rank=1)
    # Where only one of both is asked, the answer is from before the participant changed the other one.
    assert _found(study, contrary) == (["contradictory"] if asks_both else [])
    assert _found(study, consistent) == []
    for flag in flags_by_participant(study, [Mode.LIVE]).get(contrary.pk, ()):
        assert re.findall(r"\d+", flag.reason) == ["2"]


def _answer(person: Participant, answers: dict[str, Any], rank: int = 0) -> None:
    Response.objects.bulk_create(
        Response(participant=person, question=key, rank=rank, value=value, provenance="person")
        for key, value in answers.items()
    )


def _of_matrices(study: Study, point: Callable[[str, str], int]) -> dict[str, dict[str, int]]:
    asked = questionnaire_from(study.questionnaire).block("after")
    return {question.key: {row.key: point(question.key, row.key) for row in question.rows} for question in asked}


def test_whoever_marks_one_point_throughout_a_questionnaire_is_straight_lined() -> None:
    study = make_resque_study("resque-long", per_condition=4)
    lined, but_one, agrees, early = (_slow(planted_person(study, "TopPop", [3, 4, 5, 1, 2], 3)) for _place in range(4))
    _answer(lined, _of_matrices(study, lambda _key, _row: 5))
    _answer(but_one, _of_matrices(study, lambda key, row: 4 if (key, row) == ("resque_accuracy", "missed") else 5))
    reverse = {
        (q.key, row.key)
        for q in questionnaire_from(study.questionnaire).block("after")
        for row in q.rows
        if row.is_reversed
    }
    _answer(agrees, _of_matrices(study, lambda key, row: 1 if (key, row) in reverse else 5))
    _answer(early, _of_matrices(study, lambda _key, _row: 5))
    Participant.objects.filter(pk=early.pk).update(status=ParticipantStatus.ACTIVE, step="after", completed_at=None)
    found = flags_by_participant(study, [Mode.LIVE])
    assert list(found) == [lined.pk], "who is still at the page may yet answer otherwise"
    (flag,) = found[lined.pk]
    assert flag.key == flags.STRAIGHT_LINED
    assert re.findall(r"\d+", flag.reason) == ["5", "39", "11"]
    study.settings = {**study.settings, "quality": {"alike_statements": 40}}
    assert flags_by_participant(study, [Mode.LIVE]) == {}


def test_people_are_alike_about_items_only_where_every_answer_is() -> None:
    more = [
        {"key": "mood", "kind": "likert", "text": words("Does it suit the evening?"), "minimum": 1, "maximum": 5},
        {"key": "why", "kind": "text", "text": words("Why?"), "required": False},
        {
            "key": "with_whom", "kind": "multiple", "text": words("With whom?"), "other": words("Others"),
            "choices": [{"value": "alone", "label": words("Alone")}, {"value": "friends", "label": words("Friends")}],
        },
    ]  # fmt: skip
    asked = every_kind()
    study = make_study_asking({**asked, "items": [*asked["items"][:4], *more], "after": [], "scales": []})
    moods = {"alike": [2] * 5, "one other": [2, 2, 3, 2, 2]}
    people = {name: _slow(planted_person(study, "TopPop", [3] * 5, 3, n_watched=5)) for name in moods}
    for name, person in people.items():
        for rank, mood in enumerate(moods[name], start=1):
            own = ["friends", {"other": f"My dog, {rank}"}]
            _answer(person, {"mood": mood, "why": f"Because {rank}", "with_whom": own}, rank)
    assert _found(study, people["alike"]) == ["straight_lined"]
    assert _found(study, people["one other"]) == []


def test_flags_are_found_by_so_many_queries_however_many_people_answered() -> None:
    study = make_resque_study("resque-long", per_condition=4)
    counted = []
    for n in (2, 12):
        for place in range(n):
            person = _slow(planted_person(study, "TopPop", [3, 4, 5, 1, 2], 3))
            _answer(person, _of_matrices(study, lambda _key, _row, at=place: 5 if at == 0 else 1 + at % 5))  # type: ignore[misc]
        with CaptureQueriesContext(connection) as queries:
            found = flags_by_participant(study, [Mode.LIVE])
        counted.append(len(queries))
    assert len(found) == 14
    assert counted[0] == counted[1]


def test_an_exclusion_keeps_who_when_and_why_and_so_does_undoing_it(study: Study, owner: User) -> None:
    person = completed(study)
    made = exclude(participant=person, reason=" Said they guessed ", actor=owner)
    assert (made.reason, made.flags, made.excluded_by) == ("Said they guessed", ["too_fast"], owner)
    with pytest.raises(ParallaxError, match="already"):
        exclude(participant=person, reason="again")
    flow = consort_of(study, Mode.LIVE)
    assert (flow.completed, flow.excluded, flow.analysed) == (1, {"Said they guessed": 1}, 0)
    undo_exclusion(participant=person, reason="They had not", actor=owner)
    with pytest.raises(ParallaxError, match="not excluded"):
        undo_exclusion(participant=person, reason="again")
    exclude(participant=person, reason="They had after all")
    first, second = Exclusion.objects.order_by("id")
    assert (first.undo_reason, first.undone_by, second.undone_at) == ("They had not", owner, None)
    assert consort_of(study, Mode.LIVE).excluded == {"They had after all": 1}
    assert [row.exclusion for row in reviewed(study, [Mode.LIVE])] == [second]
    acts = LogEntry.objects.filter(kind="studies.participant", object_id=person.pk, facts__has_key="act")
    assert [entry.facts["act"] for entry in acts] == ["excluded", "exclusion_undone", "excluded"]


@pytest.mark.parametrize(("reason", "code"), [(" ", "no_reason"), ("x" * 2001, "long_reason")])
def test_an_exclusion_without_a_reason_is_refused(study: Study, reason: str, code: str) -> None:
    with pytest.raises(ParallaxError) as refusal:
        exclude(participant=completed(study), reason=reason)
    assert refusal.value.code == f"exclusion.{code}"
    with pytest.raises(ParallaxError, match="Previews"):
        exclude(participant=completed(study, Mode.PREVIEW), reason="why")
    assert not Exclusion.objects.exists()


def test_outcomes_stay_shut_until_the_close_or_until_somebody_says_why(study: Study, owner: User) -> None:
    person = completed(study)
    assert not are_outcomes_open(study)
    with pytest.raises(ParallaxError, match="Say why"):
        open_outcomes(study=study, reason=" ")
    open_outcomes(study=study, reason="The ethics board asked", actor=owner)
    first = study.outcomes_opened_at
    open_outcomes(study=study, reason="once more")
    assert study.outcomes_opened_at == first
    entries = LogEntry.objects.filter(kind="studies.study", object_id=study.pk, facts__act="outcomes_opened")
    assert [(entry.actor, "ethics board" in entry.reason) for entry in entries] == [(owner, True)]
    assert are_outcomes_open(study)
    label = Participant.objects.get(pk=person.pk).condition.label  # type: ignore[union-attr]
    line = next(one for one in outcomes_of(study) if one.condition == label)
    assert (line.n, line.accuracy, line.fon) == (1, 3.0, 0.8)
    exclude(participant=person, reason="why")
    assert [one.accuracy for one in outcomes_of(study)] == [None, None]
    study.refresh_from_db()
    close_study(study=study)
    assert are_outcomes_open(study)
    with pytest.raises(ParallaxError, match="not now"):
        open_outcomes(study=study, reason="late")


def test_withdrawing_erases_external_ids_and_the_flow_still_adds_up(study: Study) -> None:
    person = completed(study)
    ExternalId.objects.create(study=study, participant=person, name="workerId", value="w")
    withdraw(participant=person)
    assert not ExternalId.objects.exists()
    row = Participant.objects.get(pk=person.pk)
    assert row.erased_at is not None
    assert reviewed(study, [Mode.LIVE]) == []
    flow = consort_of(study, Mode.LIVE)
    assert (flow.assigned, flow.left_after, flow.completed) == (1, {"Withdrew": 1}, 0)


def _with_a_plan(owner: User, status: str = "live") -> Study:
    """A study whose plan leaves out who was too fast or gave one rating only."""
    plan = {"exclude": ["too_fast", "straight_lined"]}
    found = make_study(slug="planned", per_condition=4, owner=owner, settings={"plan": plan}, status=status)
    Study.objects.filter(pk=found.pk).update(outcomes_opened_at=timezone.now())
    found.refresh_from_db()
    return found


def test_the_plans_rule_counts_in_the_flow_the_outcomes_and_the_report(owner: User) -> None:
    study = _with_a_plan(owner)
    kept = _slow(planted_person(study, "TopPop", [2, 3, 4, 3, 3], 3))
    fast = planted_person(study, "TopPop", [5, 4, 5, 4, 5], 5)
    Participant.objects.filter(pk=fast.pk).update(consented_at=timezone.now() - timedelta(seconds=5))
    by_hand = _slow(planted_person(study, "PureSVD4", [3] * 5, 3))
    exclude(participant=by_hand, reason="Under age")
    # What the settings say later changes nothing of what was frozen.
    Study.objects.filter(pk=study.pk).update(settings={**study.settings, "plan": {"exclude": []}})
    study.refresh_from_db()
    assert planned_rule(study) == ("too_fast", "straight_lined")
    out = planned_exclusions(study, [Mode.LIVE])
    assert out == {fast.pk: ("rule", "Too fast"), by_hand.pk: ("hand", "Under age")}
    flow = consort_of(study, Mode.LIVE)
    assert (flow.completed, flow.analysed) == (3, 1)
    assert flow.excluded["Under age"] == 1
    assert list(flow.excluded.values()) == [1, 1]
    assert [(one.condition, one.completed, one.excluded, one.analysed) for one in flow.by_condition] == [
        ("TopPop", 2, 1, 1), ("PureSVD4", 1, 1, 0),
    ]  # fmt: skip
    assert flow == consort_of(study, Mode.LIVE, out)
    assert [(one.n, one.accuracy) for one in outcomes_of(study)] == [(1, 3.0), (0, None)]
    report = build_report(study=study).results["flow"]
    assert (report["analysed"], report["excluded"], report["completed"]) == (1, 2, 3)
    assert _found(study, kept) == []


@pytest.mark.parametrize("n", [1, 3])
def test_the_flow_takes_the_same_queries_for_one_and_for_three(
    owner: User, n: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    study = _with_a_plan(owner)
    for _ in range(n):
        planted_person(study, "TopPop", [3] * 5, 3)
    with django_assert_num_queries(17):
        assert consort_of(study, Mode.LIVE).completed == n


def test_a_draft_goes_by_the_plan_it_stands_at_and_a_study_without_one_by_none(owner: User, study: Study) -> None:
    assert planned_rule(_with_a_plan(owner, "draft")) == ("too_fast", "straight_lined")
    assert planned_rule(study) == ()
    first = study.versions.get()
    first.snapshot = {key: value for key, value in first.snapshot.items() if key != "plan"}
    first.save()
    assert planned_rule(study) == ()


def test_whom_retention_erased_is_completed_and_not_analysed(owner: User) -> None:
    study = _with_a_plan(owner)
    for person in (completed(study), completed(study, gender="man")):
        exclude(participant=person, reason="Guessed")
    set_retention(study=study, external_ids_days=None, answers_days=1)
    close_study(study=study)
    erase_expired(now=timezone.now() + timedelta(days=2))
    flow = consort_of(study, Mode.LIVE)
    assert (flow.completed, list(flow.excluded.values()), flow.analysed) == (2, [2], 0)
    assert sum(one.excluded for one in flow.by_condition) == 2
    assert list(check_exports(study)) == []


@pytest.mark.parametrize("how", ["withdrawal", "retention"])
def test_neither_code_nor_words_about_a_person_outlive_their_erasure(study: Study, owner: User, how: str) -> None:
    person = completed(study)
    exclude(participant=person, reason="Ada told me that she guessed", actor=owner)
    undo_exclusion(participant=person, reason="Ada had not", actor=owner)
    exclude(participant=person, reason="Ada had after all", actor=owner)
    if how == "withdrawal":
        withdraw(participant=person)
    else:
        set_retention(study=study, external_ids_days=None, answers_days=1)
        close_study(study=study)
        erase_expired(now=timezone.now() + timedelta(days=2))
    row = Participant.objects.get(pk=person.pk)
    assert row.completion_code == ""
    assert code_of(participant=row, exit_=Exit("unique")) == ""
    said = [(one.reason, one.undo_reason, one.undone_at is None) for one in Exclusion.objects.order_by("id")]
    assert said == [("", "", False), ("", "", True)]
    study.refresh_from_db()
    source = Source(study, [Mode.LIVE])
    assert [(one.excluded, dict(source.exclusions)[one.record.participant.pk][0]) for one in source.people()] == [
        ("", "hand")
    ]
    assert [finding.code for finding in check_answers(study)] == []
    assert list(check_exports(study)) == []
    assert [one for one in approvals_of(study) if one.code_expected] == []


def test_what_is_kept_too_long_is_erased_and_the_rest_stays(study: Study, owner: User) -> None:
    person = completed(study)
    ExternalId.objects.create(study=study, participant=person, name="workerId", value="w")
    Participant.objects.filter(pk=person.pk).update(parameters={"x": "1"})
    with pytest.raises(ParallaxError, match="whole number"):
        set_retention(study=study, external_ids_days=-1, answers_days=None)
    set_retention(study=study, external_ids_days=10, answers_days=100, actor=owner)
    assert tuple(erase_expired().values()) == (0, 0, 0)
    study.refresh_from_db()
    close_study(study=study)
    now = timezone.now()
    assert tuple(erase_expired(now=now + timedelta(days=9)).values()) == (0, 0, 0)
    assert tuple(erase_expired(now=now + timedelta(days=11)).values()) == (1, 0, 0)
    row = Participant.objects.get(pk=person.pk)
    assert (row.parameters, row.responses.exists()) == ({}, True)
    assert tuple(erase_expired(now=now + timedelta(days=101)).values()) == (0, 0, 1)
    assert tuple(erase_expired(now=now + timedelta(days=101)).values()) == (0, 0, 0)
    row.refresh_from_db()
    assert (row.status, row.responses.exists(), row.profile.exists()) == ("completed", False, False)
    out = io.StringIO()
    call_command("erase_expired", stdout=out)
    assert "Erased 0 external ids" in out.getvalue()


def test_a_large_export_is_made_by_a_worker_once(
    study: Study, owner: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    completed(study)
    open_outcomes(study=study, reason="A test.")
    monkeypatch.setattr(exports, "AT_ONCE", 0)
    client.force_login(owner)
    job = exports.request_export(study=study, kind="wide", options=Options(include_external_ids=True), actor=owner)
    do_job(job_id=job.pk)
    do_job(job_id=job.pk)
    job.refresh_from_db()
    assert (job.status, study.jobs.count()) == (JobStatus.SUCCEEDED, 1)
    sent = client.get(reverse("studies:export-file", args=[study.slug, job.pk]))
    content = b"".join(sent.streaming_content)  # type: ignore[attr-defined]
    assert "identifiable-true" in sent["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert "study-good-films_identifiable-true_wide_data.csv" in archive.namelist()
    analyst = UserFactory()
    study.memberships.create(researcher=analyst, role=Role.ANALYST)
    client.force_login(analyst)
    assert client.get(reverse("studies:export-file", args=[study.slug, job.pk])).status_code == 403
    study.jobs.update(created_at=timezone.now() - timedelta(days=8))
    clean_jobs()
    assert not study.jobs.exists()
    assert not default_storage.exists(job.file)
    with pytest.raises(ParallaxError, match="one of"):
        exports.request_export(study=study, kind="xlsx", options=Options())


def test_an_export_that_fails_says_why(study: Study) -> None:
    completed(study)
    open_outcomes(study=study, reason="A test.")
    job = exports.request_export(study=study, kind="wide", options=Options())
    Participant.objects.update(mode=Mode.SIMULATED)
    do_job(job_id=job.pk)
    job.refresh_from_db()
    assert job.status == JobStatus.FAILED
    assert "simulated participants only" in job.error


def test_the_page_of_data_quality_lets_the_owner_decide_and_the_analyst_look(
    study: Study, owner: User, client: Client
) -> None:
    person = completed(study)
    rated(study, gender="man")
    client.force_login(owner)
    page = reverse("studies:quality", args=[study.slug])
    shown = client.get(page).content.decode()
    assert "Too fast." in shown
    assert "blinded until the study is closed" in shown
    assert "Means of included completers" not in shown
    client.post(reverse("studies:exclude", args=[study.slug, person.pk]), {"reason": "Guessed"})
    assert "Guessed" in client.get(page).content.decode()
    client.post(reverse("studies:include", args=[study.slug, person.pk]), {"reason": ""})
    assert Exclusion.objects.get().undone_at is None
    client.post(reverse("studies:include", args=[study.slug, person.pk]), {"reason": "Had not"})
    assert Exclusion.objects.get().undo_reason == "Had not"
    client.post(reverse("studies:open-outcomes", args=[study.slug]), {"reason": "Asked for"})
    assert "Unblinded before the study closed" in client.get(page).content.decode()
    client.post(reverse("studies:retention", args=[study.slug]), {"external_ids_days": "30", "answers_days": ""})
    study.refresh_from_db()
    assert (study.external_ids_kept_days, study.answers_kept_days) == (30, None)
    client.post(reverse("studies:retention", args=[study.slug]), {"external_ids_days": "x"})
    study.refresh_from_db()
    assert study.external_ids_kept_days == 30
    sent = client.get(reverse("studies:export-chosen", args=[study.slug]), {"format": "psych-ds"})
    with zipfile.ZipFile(io.BytesIO(b"".join(sent.streaming_content))) as archive:  # type: ignore[attr-defined]
        assert "dataset_description.json" in archive.namelist()
    assert client.get(reverse("studies:export-chosen", args=[study.slug]), {"format": "xlsx"}).status_code == 404
    analyst = UserFactory()
    study.memberships.create(researcher=analyst, role=Role.ANALYST)
    client.force_login(analyst)
    assert "Include again" not in client.get(page).content.decode()
    assert client.post(reverse("studies:exclude", args=[study.slug, person.pk]), {"reason": "x"}).status_code == 403
    asked = {"format": "wide", "include_external_ids": "on"}
    sent = client.get(reverse("studies:export-chosen", args=[study.slug]), asked)
    assert "identifiable" not in sent["Content-Disposition"]
    assert b"".join(sent.streaming_content)[:2] == b"PK"  # type: ignore[attr-defined]
    client.force_login(UserFactory())
    assert client.get(page).status_code == 404
