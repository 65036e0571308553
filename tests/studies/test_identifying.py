"""Questions whose answers identify a person: declared, left out unless an owner asks, and erased with the ids."""

from __future__ import annotations

import copy
import io
import json
import re
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.services import create_token
from core.errors import ParallaxError, ParameterError
from core.models import LogEntry
from core.provenance import digest_of
from parallax.integrity.answers import check_answers, check_exports
from studies.data.codebook.items import wide_variables
from studies.data.codebook.variable import YES
from studies.data.exports.export_files import FORMATS, write_export
from studies.data.exports.tables import Options, tables_of
from studies.data.services.retention import erase_expired, set_retention
from studies.design.presets.loader import load_preset
from studies.design.services.amending import reword_questionnaire
from studies.design.services.design import change_design
from studies.design.services.launch import close_study
from studies.enums import Mode, NoticeKind, ParticipantStatus, Role
from studies.instrument.flow import Place
from studies.instrument.questionnaires.core import core_problems
from studies.instrument.questionnaires.document import DocumentProblems, read_document, write_document
from studies.instrument.questionnaires.schema import DECLINED, ERASED, is_erased, questionnaire_from
from studies.models import Event, ExternalId, Participant, Response, Study
from studies.monitoring.selectors import live
from studies.monitoring.selectors.exclusions import why_incomplete
from studies.monitoring.services.blinding import open_outcomes
from studies.monitoring.services.notice_rules import notify_due
from studies.participation.selectors.responses import records
from studies.participation.services import finishing
from studies.team.services.members import add_member
from tests.factories import answering
from tests.factories.accounts import UserFactory
from tests.factories.questionnaires import make_study_asking, words
from tests.factories.studies import rated
from tests.studies.test_editor import Owner

pytestmark = pytest.mark.slow

CHOICES = [{"value": name, "label": words(name.title())} for name in ("north", "south")]
ROWS = [{"key": name, "text": words(name.title())} for name in ("mother", "erased")]
EMAIL = {"key": "email", "kind": "text", "text": words("Your e-mail for the draw?"), "identifies": True}
FRIEND = {
    "key": "friend", "kind": "text", "text": words("Who would like it?"), "identifies": True,
    "shown_if": {"question": "watched", "equals": True},
}  # fmt: skip
CAMPUS = {
    "key": "campus", "kind": "choice", "text": words("Which campus?"), "choices": CHOICES, "other": words("Another"),
    "identifies": True, "random_order": True,
}  # fmt: skip
CLUBS = {
    "key": "clubs", "kind": "multiple", "text": words("Which clubs?"), "choices": CHOICES, "other": words("Another"),
    "identifies": True,
}  # fmt: skip
FAMILY = {
    "key": "family", "kind": "matrix", "text": words("How many films a month?"), "rows": ROWS, "minimum": 1,
    "maximum": 5, "identifies": True,
}  # fmt: skip
PHONE = {"key": "phone", "kind": "text", "text": words("Your number?"), "identifies": True, "may_decline": True}
CALL = {"key": "call", "kind": "yes_no", "text": words("May we write?"),
        "shown_if": {"question": "email", "answered": True}}  # fmt: skip
SECRETS = ("ada@example.org", "friend-4711", "campus-4711", "clubs-4711")
COLUMNS = {
    "about.email", "about.email.missing", "overall.campus", "overall.campus.other", "overall.campus.missing",
    "overall.campus.order", "after.clubs.north", "after.clubs.south", "after.clubs.other", "after.clubs.missing",
    "after.family.mother", "after.family.erased", "after.family.missing", "after.phone", "after.phone.missing",
    *(f"item.{rank}.friend{part}" for rank in range(1, 6) for part in ("", ".missing")),
}  # fmt: skip


def asking() -> dict[str, Any]:
    """The template's questionnaire with questions that identify in every block."""
    found = copy.deepcopy(load_preset("cremonesi-2011").questionnaire)
    found["about"].append(copy.deepcopy(EMAIL))
    found["items"].append(copy.deepcopy(FRIEND))
    found["overall"].append(copy.deepcopy(CAMPUS))
    found["after"] = copy.deepcopy([CLUBS, FAMILY, PHONE, CALL])
    return found


def finished(study: Study) -> Participant:
    """Someone who has said everything, changed one answer and took back another by what they said before it."""
    person = rated(study, email="ada@example.org")
    finishing.leave_page(participant=person, at=Place("recommendations"))
    for rank in range(1, 6):
        answering.answer(participant=person, question="watched", value=True, rank=rank)
        answering.answer(participant=person, question="friend", value=f"friend-4711 {rank}", rank=rank)
        answering.answer(participant=person, question="rating", value=4, rank=rank)
        if rank == 1:
            answering.answer(participant=person, question="friend", value="friend-4711, or another", rank=rank)
        if rank == 2:
            answering.answer(participant=person, question="watched", value=False, rank=rank)
            answering.answer(participant=person, question="heard", value=True, rank=rank)
            answering.answer(participant=person, question="trailer_seen", value=False, rank=rank)
        answering.finish_item(participant=person, rank=rank)
    given = {
        "satisfaction": 4, "campus": {"other": "campus-4711"}, "clubs": ["north", {"other": "clubs-4711"}],
        "family": {"mother": 2, "erased": 3}, "phone": dict(DECLINED), "call": True,
    }  # fmt: skip
    for key, value in given.items():
        if key == "clubs":
            answering.finish(participant=person)
        answering.answer(participant=person, question=key, value=value)
    answering.finish(participant=person)
    person.refresh_from_db()
    assert person.status == ParticipantStatus.COMPLETED
    return person


def written(study: Study, kind: str, folder: Path, **options: bool) -> dict[str, bytes]:
    return {file.name: (folder / file.name).read_bytes()
            for file in write_export(study, kind, folder, Options(**options))}  # fmt: skip


def said_in(content: bytes) -> set[str]:
    return {secret for secret in SECRETS if secret.encode() in content}


@pytest.fixture
def study() -> Study:
    return make_study_asking(asking(), per_condition=3)


@pytest.mark.unit
def test_the_option_comes_back_from_a_document_and_changes_nothing_where_it_is_not_used() -> None:
    whole = asking()
    assert read_document(write_document(whole)) == whole
    assert "identifies: true" in write_document(whole)
    keys = {"email", "friend", "campus", "clubs", "family", "phone"}
    assert questionnaire_from(whole).identifying == keys
    shipped = load_preset("cremonesi-2011").questionnaire
    assert questionnaire_from(shipped).identifying == frozenset()
    assert "identifies" not in write_document(shipped)
    assert digest_of(read_document(write_document(shipped))) == digest_of(shipped)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([{**EMAIL, "identifies": "yes"}], r"line \d+, after\[0\].identifies.*identifies of 'email' is true or false"),
        (
            [{"key": "reads", "kind": "attention", "text": words("Take 2."), "minimum": 1, "maximum": 3, "expects": 2,
              "identifies": True}],
            r"after\[0\].identifies.*The attention check 'reads' cannot identify a person",
        ),
        (
            [{"key": "trust", "kind": "likert", "text": words("Trust?"), "minimum": 1, "maximum": 5, "scale": "trust",
              "identifies": True}],
            r"after\[0\].identifies.*the score of a scale would reveal it",
        ),
        (
            [CAMPUS, {**CALL, "shown_if": {"question": "campus", "equals": "north"}}],
            r"after\[1\].shown_if.*identifies a person and may be erased. Ask whether it was answered",
        ),
        (
            [FAMILY, {**CALL, "shown_if": {"question": "family", "row": "mother", "answered": True}}],
            r"after\[1\].shown_if.*Ask whether it was answered",
        ),
    ],
)  # fmt: skip
def test_where_it_makes_no_sense_the_document_is_refused(asked: list[dict[str, Any]], said: str) -> None:
    scales = [{"key": "trust", "name": words("Trust")}]
    with pytest.raises(DocumentProblems, match=said):
        read_document(write_document({"after": asked, "scales": scales}))


@pytest.mark.unit
@pytest.mark.parametrize(
    ("block", "key"), [("items", "trailer_seen"), ("items", "rating"), ("overall", "satisfaction")]
)
def test_a_measured_question_cannot_identify(block: str, key: str) -> None:
    whole = copy.deepcopy(load_preset("cremonesi-2011").questionnaire)
    next(one for one in whole[block] if one["key"] == key)["identifies"] = True
    (problem,) = core_problems(questionnaire_from(whole))
    assert repr(key) in str(problem)


@pytest.mark.unit
def test_of_an_erased_answer_it_is_known_that_it_was_given_and_nobody_can_send_one() -> None:
    *_, call = questionnaire_from({"after": [EMAIL, FAMILY, CALL]}).block("after")
    email, family, _call = questionnaire_from({"after": [EMAIL, FAMILY, CALL]}).block("after")
    assert call.is_shown({"email": dict(ERASED)})
    assert not call.is_shown({})
    assert not email.is_incomplete(dict(ERASED))
    assert not family.is_incomplete(dict(ERASED))
    assert not is_erased({"mother": 1, "erased": 1})
    for question in (email, family):
        with pytest.raises(ParameterError):
            question.check(dict(ERASED))


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(
    "settings",
    [
        {
            "strata": [{"question": "email", "groups": [{"name": "her", "values": ["ada@example.org"]}]}],
            "expected_shares": {},
        },
        {"quotas": [{"name": "hers", "most": 1, "where": [{"question": "email", "values": ["ada@example.org"]}]}]},
    ],
)
def test_neither_strata_nor_quotas_are_by_what_identifies(settings: dict[str, Any]) -> None:
    draft = make_study_asking(asking(), status="draft")
    with pytest.raises((ParallaxError, ParameterError), match="'email'"):
        change_design(study=draft, settings=settings)


@pytest.mark.integration
@pytest.mark.django_db
def test_a_running_study_keeps_what_it_declared(study: Study) -> None:
    other = copy.deepcopy(study.questionnaire)
    del other["about"][-1]["identifies"]
    with pytest.raises(ParallaxError, match="'email' differs"):
        reword_questionnaire(study=study, text=write_document(other), why="No draw.")


@pytest.mark.integration
@pytest.mark.django_db
def test_every_column_of_such_a_question_identifies(study: Study) -> None:
    declared = {one.name: one.identifies for one in wide_variables(study, with_identifying=True)}
    assert declared.keys() >= COLUMNS
    assert {declared[name] for name in COLUMNS} == {YES}
    assert (declared["after.call"], declared["about.gender_text"]) == ("no", "indirectly")
    assert COLUMNS.isdisjoint(one.name for one in wide_variables(study))


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize("kind", FORMATS)
def test_no_format_holds_it_unless_what_names_people_is_asked_for(study: Study, kind: str, tmp_path: Path) -> None:
    finished(study)
    events = Event.objects.filter(kind__in=("answer_changed", "answer_withdrawn"), facts__question="friend")
    assert [event.facts for event in events.order_by("pk")] == [
        {"question": "friend", "rank": 1}, {"question": "friend", "rank": 2},
    ]  # fmt: skip
    plain = written(study, kind, tmp_path / "plain")
    assert said_in(b"".join(plain.values())) == set()
    assert not [name for name in plain if "identifiable" in name]
    data = {name: content for name, content in plain.items() if not name.startswith("materials/")}
    assert not [name for name, content in data.items() for column in COLUMNS if column.encode() in content]
    named = written(study, kind, tmp_path / "named", include_external_ids=True)
    holding = {"long", "wide", "json", "psych-ds"}
    assert said_in(b"".join(named.values())) == (set(SECRETS) if kind in holding else set())
    assert all("identifiable-true" in name for name, content in named.items() if said_in(content))
    if kind == "json":
        (person,) = json.loads(next(text for name, text in named.items() if name.endswith("_data.json")))[
            "participants"
        ]
        assert person["items"][0]["item.friend"] == "friend-4711, or another"
        assert person["after.family.erased"] == 3


@pytest.mark.integration
@pytest.mark.django_db
def test_an_analyst_reads_it_nowhere_and_an_owner_in_a_marked_and_logged_export(study: Study) -> None:
    finished(study)
    open_outcomes(study=study, reason="A test.")
    owner = study.memberships.get(role=Role.OWNER).researcher
    analyst = UserFactory()
    add_member(study=study, email=analyst.email, role=Role.ANALYST, actor=owner)
    token = create_token(owner=analyst, name="p", scope="report")[1]
    program, client = Client(headers={"Authorization": f"Bearer {token}"}), Client()
    for table in tables_of(study):
        addresses = {f"{table}/": 200, f"{table}/?format=csv": 200, f"{table}/codebook/": 200}
        for address, expected in {**addresses, f"{table}/?include_external_ids=1": 400}.items():
            response: Any = program.get(f"/api/v1/studies/{study.slug}/answers/{address}")
            assert response.status_code == expected
            text = b"".join(response.streaming_content) if response.streaming else response.content
            assert said_in(text) == set()
            assert not [column for column in COLUMNS if column.encode() in text]
    client.force_login(analyst)
    for name in ("live", "data-live", "detail", "quality"):
        page = client.get(reverse(f"studies:{name}", args=[study.slug]), headers={"HX-Request": "true"})
        assert said_in(page.content) == set()
    address = reverse("studies:export-chosen", args=[study.slug])
    chosen = {"format": "wide", "include_external_ids": "on"}

    def taken() -> tuple[bool, set[str]]:
        sent = client.get(address, chosen)
        with zipfile.ZipFile(io.BytesIO(b"".join(sent.streaming_content))) as archive:  # type: ignore[attr-defined]
            said = set[str]().union(*(said_in(archive.read(name)) for name in archive.namelist()))
        return "identifiable-true" in sent["Content-Disposition"], said

    assert taken() == (False, set())
    client.force_login(owner)
    assert taken() == (True, set(SECRETS))
    entry = LogEntry.objects.filter(kind="studies.study", object_id=study.pk, facts__act="exported").latest("pk")
    assert entry.facts["with_external_ids"] is True


@pytest.mark.integration
@pytest.mark.django_db
def test_the_newest_answers_say_that_it_identifies_and_not_what_it_is(study: Study) -> None:
    finished(study)
    open_outcomes(study=study, reason="A test.")
    shown = {one.question: one for one in live.newest_answers(study, Mode.LIVE, n=100)}
    assert (shown["Your e-mail for the draw?"].value, shown["Your e-mail for the draw?"].is_identifying) == (None, True)
    assert (shown["May we write?"].value, shown["May we write?"].is_identifying) == (True, False)
    client = Client()
    client.force_login(study.memberships.get(role=Role.OWNER).researcher)
    page = client.get(reverse("studies:data-live", args=[study.slug]), headers={"HX-Request": "true"}).text
    assert "identifies a person" in page


@pytest.mark.integration
@pytest.mark.django_db
def test_it_is_erased_with_the_external_ids_and_nothing_is_missing_then(study: Study, tmp_path: Path) -> None:
    person = finished(study)
    ExternalId.objects.create(study=study, participant=person, name="workerId", value="w")
    close_study(study=study)
    study.refresh_from_db()
    set_retention(study=study, external_ids_days=10, answers_days=None)
    assert erase_expired(now=timezone.now() + timedelta(days=9))["identifying_answers"] == 0
    before = dict(Response.objects.order_by("pk").values_list("pk", "answered_at"))
    plain = written(study, "wide", tmp_path / "before")["study-good-films_wide_data.csv"]
    later = timezone.now() + timedelta(days=11)
    # The e-mail, four friends, the campus, the clubs and the family; the number was declined.
    assert erase_expired(now=later) == {"external_ids": 1, "identifying_answers": 8, "participants": 0}
    assert erase_expired(now=later) == {"external_ids": 0, "identifying_answers": 0, "participants": 0}
    assert dict(Response.objects.order_by("pk").values_list("pk", "answered_at")) == before
    assert not [row for row in Response.objects.all() if said_in(json.dumps(row.value).encode())]
    assert Response.objects.get(question="phone").value == DECLINED
    assert Response.objects.get(question="call").value is True
    assert LogEntry.objects.filter(facts__erased_identifying_answers=8).count() == 1
    (record,) = records(study, [Mode.LIVE])
    assert why_incomplete(study, record) is None
    assert [*check_answers(study), *check_exports(study)] == []
    # The anonymised export is the same as before, byte for byte; the identifiable one says why a cell is empty.
    assert written(study, "wide", tmp_path / "after")["study-good-films_wide_data.csv"] == plain
    folder = tmp_path / "named"
    named = written(study, "json", folder, include_external_ids=True)
    assert said_in(b"".join(named.values())) == set()
    (row,) = json.loads((folder / "study-good-films_identifiable-true_json_data.json").read_text())["participants"]
    names = {"about.email", "overall.campus", "overall.campus.other", "after.clubs.north", "after.clubs.other",
             "after.family.mother", "after.family.erased"}  # fmt: skip
    assert {row[name] for name in names} == {None}
    assert {row[f"{name}.missing"] for name in ("about.email", "overall.campus", "after.clubs", "after.family")} == {
        "erased"
    }
    assert row["after.phone.missing"] == "declined"
    assert [item["item.friend.missing"] for item in row["items"]] == ["erased", "not_asked", *["erased"] * 3]


@pytest.mark.integration
@pytest.mark.django_db
def test_owners_are_told_ahead_though_there_is_no_external_id_and_the_command_says_how_many(study: Study) -> None:
    finished(study)
    close_study(study=study)
    Study.objects.filter(pk=study.pk).update(external_ids_kept_days=30, closed_at=timezone.now() - timedelta(days=20))
    notify_due()
    assert study.notices.get().kind == NoticeKind.RETENTION
    Study.objects.filter(pk=study.pk).update(external_ids_kept_days=20)
    out = io.StringIO()
    call_command("erase_expired", stdout=out)
    assert re.findall(r"\d+", out.getvalue())[:2] == ["0", "8"]


@pytest.mark.integration
@pytest.mark.django_db
def test_the_editor_ticks_it_where_it_makes_sense() -> None:
    draft = make_study_asking(asking(), status="draft")
    owner = Owner(draft)
    before = draft.questionnaire
    assert "Saved." in owner.edit("email").text
    assert owner.study.questionnaire == before
    assert "identifies" not in owner.question("call")
    assert "Saved." in owner.edit("call", identifies="on").text
    assert owner.question("call")["identifies"] is True
    assert "identifies a person" in owner.client.get(owner.url()).text
    owner.edit("call", identifies=None)
    assert owner.study.questionnaire == before
    for key, is_offered in (("email", True), ("rating", False), ("satisfaction", False)):
        assert ('name="identifies"' in owner.client.get(owner.opened(key)).text) is is_offered
