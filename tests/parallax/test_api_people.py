"""The people and the data of a study through the REST API: what programs do, and what they are refused."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from accounts.models import User
from jobs.models import Job
from jobs.services import do_job
from studies.data.services.erasure import drop_archives
from studies.enums import Mode, Role
from studies.models import Exclusion, ExternalId, Recruiting, Study
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory, client_with_token
from tests.factories.studies import completed, make_study, recruit_on_prolific

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


class Program:
    """Requests of a researcher's program about one study."""

    def __init__(self, researcher: Any, study: Study) -> None:
        self.client, self.root = client_with_token(researcher, "read data write"), f"/api/v1/studies/{study.slug}/"

    def ask(self, method: str, path: str, expected: int, body: Any = None, **headers: str) -> Any:
        """The response, as JSON where there is any."""
        address = path if path.startswith(("/", "http")) else self.root + path
        if method in ("put", "patch") and not headers:
            headers = {"If-Match": self.client.get(address)["ETag"]}
        response = getattr(self.client, method)(
            address,
            *([] if body is None else [json.dumps(body), "application/json"]),
            headers=headers,
        )
        assert response.status_code == expected, response.content
        return response.json() if response.get("Content-Type", "").endswith("json") else response


@pytest.fixture
def study(db: None) -> Study:
    study = make_study()
    completed(study)
    return study


@pytest.fixture
def owner(study: Study) -> User:
    return study.memberships.get(role=Role.OWNER).researcher


@pytest.fixture
def program(study: Study, owner: User) -> Program:
    return Program(owner, study)


@pytest.fixture
def analyst(study: Study) -> Program:
    researcher = UserFactory()
    add_member(study=study, email=researcher.email, role=Role.ANALYST)
    return Program(researcher, study)


def pointers(problem: Any) -> set[str]:
    return {error["pointer"] for error in problem["errors"]}


def test_an_export_waits_for_open_outcomes_and_is_a_job_whose_file_is_downloaded(
    study: Study, program: Program, sent: list[int]
) -> None:
    refused = program.ask("post", "exports/", 409, {"format": "wide"})
    assert (refused["code"], "ask an owner" in refused["remedy"]) == ("blinding.outcomes_shut", True)
    assert pointers(program.ask("post", "outcomes/open/", 400, {})) == {"/reason"}
    opened = program.ask("post", "outcomes/open/", 200, {"reason": "An interim analysis."})
    assert opened["design"]["are_outcomes_open"] is True
    job = program.ask("post", "exports/", 202, {"format": "wide", "include_external_ids": True})
    assert (job["status"], job["made_url"], sent) == ("queued", None, [job["id"]])
    program.ask("get", f"exports/{job['id']}/file/", 404)  # until a worker made it
    assert do_job(job_id=job["id"]) is True
    done = program.ask("get", job["url"], 200)
    file = program.ask("get", done["made_url"], 200)
    assert (file["Content-Type"], file["Cache-Control"]) == ("application/zip", "private, no-store")
    names = zipfile.ZipFile(io.BytesIO(b"".join(file.streaming_content))).namelist()
    assert any(name.endswith("identifiable-true_wide_data.csv") for name in names)
    drop_archives(study=study)
    assert program.ask("get", done["made_url"], 409)["code"] == "export.deleted"


def test_an_analyst_exports_but_never_what_names_people(
    study: Study, program: Program, analyst: Program, sent: list[int]
) -> None:
    analyst.ask("post", "exports/", 403, {"format": "pages", "include_external_ids": True})
    assert not Job.objects.filter(kind="export").exists()
    for include_external_ids, expected in ((False, 200), (True, 403)):
        body = {"format": "pages", "include_external_ids": include_external_ids}
        job = program.ask("post", "exports/", 202, body)
        do_job(job_id=job["id"])
        file = analyst.ask("get", f"exports/{job['id']}/file/", expected)
        if expected == 200:
            assert zipfile.ZipFile(io.BytesIO(b"".join(file.streaming_content))).namelist()
    problem = analyst.ask("post", "exports/", 400, {"format": "xls", "include_simulated": "perhaps", "kind": "wide"})
    assert pointers(problem) == {"/format", "/include_simulated", "/kind"}
    assert pointers(analyst.ask("post", "exports/", 400, {})) == {"/format"}


def test_retention_is_changed_field_by_field_by_those_who_know_its_state(program: Program, analyst: Program) -> None:
    assert program.ask("patch", "retention/", 200, {"answers_days": 365})["external_ids_days"] is None
    kept = {"external_ids_days": 30, "answers_days": 365}
    assert program.ask("patch", "retention/", 200, {"external_ids_days": 30}) == kept
    assert analyst.ask("get", "retention/", 200) == kept
    problem = program.ask("patch", "retention/", 400, {"external_ids_days": -1, "answers_days": "long"})
    assert pointers(problem) == {"/external_ids_days", "/answers_days"}
    assert program.ask("patch", "retention/", 200, {"answers_days": None})["answers_days"] is None


def test_participants_are_found_excluded_and_included_again(study: Study, program: Program) -> None:
    completed(study, Mode.SIMULATED, number=1)
    participant = study.participants.get(mode=Mode.LIVE)
    ExternalId.objects.create(study=study, participant=participant, name="PROLIFIC_PID", value="abc123")
    page = program.ask("get", "participants/?page_size=1", 200)
    assert [row["mode"] for row in page["results"]] == ["simulated"]
    assert [row["code"] for row in program.ask("get", page["next"], 200)["results"]] == [participant.code]
    for query in ("mode=live", "search=ABC12", f"search={participant.code[:4]}&status=completed"):
        (row,) = program.ask("get", f"participants/?{query}", 200)["results"]
        assert (row["code"], row["external_ids"], row["exclusion"]) == (participant.code, ["PROLIFIC_PID abc123"], "")
    address = f"participants/{participant.code}/"
    assert pointers(program.ask("post", f"{address}exclusion/", 400, {"reason": " "})) == {"/reason"}
    assert "A test" in program.ask("post", f"{address}exclusion/", 200, {"reason": "A test."})["exclusion"]
    assert program.ask("post", f"{address}exclusion/", 409, {"reason": "Again."})["code"] == "exclusion.already"
    assert program.ask("post", f"{address}exclusion/undo/", 200, {"reason": "No test."})["exclusion"] == ""
    assert program.ask("get", address, 200)["exclusion"] == ""
    exclusion = Exclusion.objects.get()
    assert (exclusion.reason, exclusion.undo_reason) == ("A test.", "No test.")


def test_an_archived_study_is_read_and_exported_but_not_changed(
    study: Study, program: Program, sent: list[int]
) -> None:
    study.archived_at = timezone.now()
    study.save()
    program.ask("get", "retention/", 200)
    for method, path in (
        ("patch", "retention/"),
        ("post", "members/"),
        ("delete", "links/"),
        ("post", "outcomes/open/"),
    ):
        assert program.ask(method, path, 409, {}, **{"If-Match": "*"})["code"] == "study.archived"
    program.ask("post", "exports/", 202, {"format": "pages"})


def test_members_keep_an_owner(study: Study, program: Program, owner: User) -> None:
    colleague = UserFactory()
    problem = program.ask("post", "members/", 409, {"email": "nobody@example.org", "role": "owner"})
    assert problem["code"] == "study.unknown_researcher"
    assert pointers(program.ask("post", "members/", 400, {"email": "x", "role": "boss", "name": "X"})) == {
        "/email", "/role", "/name",
    }  # fmt: skip
    member = program.ask("post", "members/", 201, {"email": colleague.email.upper(), "role": "interviewer"})
    assert program.ask("post", "members/", 409, {"email": colleague.email})["code"] == "study.already_member"
    assert len(program.ask("get", "members/", 200)["results"]) == 2
    own = f"members/{study.memberships.get(researcher=owner).pk}/"
    assert program.ask("patch", own, 409, {"role": "analyst"})["code"] == "study.last_owner"
    assert program.ask("delete", own, 409)["code"] == "study.last_owner"
    address = f"members/{member['id']}/"
    assert program.ask("patch", address, 428, {"role": "owner"}, Accept="*/*")["code"] == "change.not_conditional"
    assert program.ask("patch", address, 200, {"role": "owner"})["role"] == "owner"
    program.ask("delete", own, 204)
    program.ask("get", own, 404)  # to a former member, the study does not exist


def test_a_nested_interviewer_is_named_with_the_condition(study: Study, program: Program) -> None:
    study.settings = {**study.settings, "interviewers": "nested"}
    study.save()
    body = {"email": UserFactory().email, "role": "interviewer", "condition": "PureSVD4"}
    assert pointers(program.ask("post", "members/", 400, {**body, "condition": "None"})) == {"/condition"}
    member = program.ask("post", "members/", 201, body)
    assert member["condition"] == "PureSVD4"
    address = f"members/{member['id']}/"
    assert program.ask("patch", address, 200, {"condition": "TopPop"})["condition"] == "TopPop"
    assert program.ask("patch", address, 200, {"role": "analyst"})["condition"] is None


def test_an_invitation_shows_its_link_once_and_is_revoked(program: Program) -> None:
    made = program.ask("post", "invitations/", 201, {"email": "new@example.org", "role": "analyst"})
    assert program.client.get(made["link"]).status_code == 200
    (listed,) = program.ask("get", "invitations/", 200)["results"]
    assert listed == {**made, "link": None}
    program.ask("delete", f"invitations/{made['id']}/", 204)
    assert program.ask("get", "invitations/", 200)["results"] == []
    assert program.client.get(made["link"]).status_code == 410


def test_the_panel_is_changed_with_all_faults_at_once(study: Study, program: Program) -> None:
    assert program.ask("get", "panel/", 200)["panel"] == "none"
    recruit_on_prolific(study)
    shown = program.ask("patch", "panel/", 200, {"longest_gap_minutes": 90, "pause_at": 70})
    assert (shown["panel"], shown["longest_gap_minutes"], shown["most_per_network"]) == ("prolific", 90, None)
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in shown["link"]
    assert program.ask("patch", "panel/", 200, {"longest_gap_minutes": None})["pause_at"] == 70
    problem = program.ask("patch", "panel/", 400, {"pause_at": 0, "entrance": "door", "panels": "sona"})
    assert pointers(problem) == {"/pause_at", "/entrance", "/panels"}


def test_studies_that_another_owner_excluded_are_kept_and_not_shown(study: Study, program: Program) -> None:
    own = make_study(slug="own", owner=study.memberships.get().researcher)
    hidden = make_study(slug="hidden", owner=UserFactory())
    Recruiting.objects.update_or_create(study=study, defaults={"excluded_studies": [hidden.pk]})
    assert program.ask("get", "panel/", 200)["studies"] == []
    assert program.ask("patch", "panel/", 200, {"studies": ["own"]})["studies"] == ["own"]
    assert program.ask("patch", "panel/", 200, {"pause_at": 9})["studies"] == ["own"]
    assert Recruiting.objects.get(study=study).excluded_studies == sorted([own.pk, hidden.pk])


def test_an_exit_is_set_as_a_whole(study: Study, program: Program) -> None:
    recruit_on_prolific(study)
    fixed = {"code": "static", "static_code": "C2", "url": "", "text": {"en": "Thanks."}}
    assert program.ask("put", "exits/complete/", 200, fixed) == fixed
    bare = {"code": "none", "static_code": "", "url": "", "text": {}}
    assert program.ask("put", "exits/complete/", 200, {"code": "none"}) == bare
    assert program.ask("put", "exits/complete/", 409, {"code": "unique"})["code"] == "recruiting.bad_exit"
    assert pointers(program.ask("put", "exits/complete/", 400, {"code": "x", "link": ""})) == {"/code", "/link"}
    assert pointers(program.ask("put", "exits/complete/", 400, {**bare, "text": {"xx": "A"}})) == {"/text/xx"}
    program.ask("get", "exits/elsewhere/", 404)


def test_personal_links_are_shown_once_counted_and_closed(program: Program) -> None:
    links = program.ask("post", "links/", 201, {"text": "Ada\nGrace"})
    assert [link["label"] for link in links] == ["Ada", "Grace"]
    assert "consent" in program.client.get(links[0]["link"], follow=True).text
    assert program.ask("get", "links/", 200) == {"created": 2, "used": 0, "unused": 2, "closed": 0}
    program.ask("delete", "links/", 204)
    assert program.ask("get", "links/", 200)["closed"] == 2
    assert "consent" not in program.client.get(links[0]["link"], follow=True).text
    assert len(program.ask("post", "links/", 201, {"n": 3})) == 3
    assert pointers(program.ask("post", "links/", 400, {"n": 0, "labels": ["Ada"]})) == {"/n", "/labels"}


def test_signed_links_admit_their_ids_and_a_new_key_ends_them(program: Program) -> None:
    (link,) = program.ask("post", "links/signed/", 201, {"text": "anna"})
    assert (link["label"], "hash=" in link["link"]) == ("anna", True)
    assert program.ask("post", "links/signed/", 201, {"text": "anna"}) == [link]
    assert program.ask("post", "links/signed/", 201, {"text": "anna", "replace_key": True}) != [link]
    assert program.ask("post", "links/signed/", 409, {})["code"] == "recruiting.bad_list"


def test_the_guest_list_is_read_as_it_is_written(study: Study, program: Program) -> None:
    written = program.ask("put", "guests/", 200, {"text": 'anna\n"Rossi, 7"\n'})
    assert program.ask("get", "guests/", 200) == written
    assert set(study.guests.values_list("value", flat=True)) == {"anna", "Rossi, 7"}
    assert program.ask("put", "guests/", 200, {"text": "bea"}) == {"text": "bea\n"}
    assert study.guests.get().value == "bea"


def test_a_list_of_submissions_is_loaded_completely_or_not_at_all(study: Study, program: Program) -> None:
    def load(content: bytes, expected: int, **more: Any) -> Any:
        body = {"file": SimpleUploadedFile("list.csv", content), **more}
        response = program.client.post(f"{program.root}submissions/", body)
        assert response.status_code == expected, response.content
        return response.json()

    recruit_on_prolific(study)
    participant = study.participants.get()
    ExternalId.objects.create(study=study, participant=participant, name="PROLIFIC_PID", value="p" * 24)
    head = b"Participant id,Submission id,Status,Completion code\n"
    bad = load(head + b",s1,AWAITING REVIEW,C1A2\n", 409)
    assert (bad["code"], len(bad["extra"]["problems"]) > 0) == ("submissions.bad_file", True)
    assert pointers(load(b"", 400, persons="id")) == {"/file", "/persons"}
    done = load(head + b"p" * 24 + b",s1,AWAITING REVIEW,C1A2\n", 200)
    assert (done["n_read"], done["n_new"], done["n_unknown"]) == (1, 1, 0)
    (approval,) = program.ask("get", "submissions/", 200)
    assert (approval["participant"], approval["submission"]) == (participant.code, "s1")


def test_places_of_interviews_are_one_per_line(program: Program) -> None:
    lines = {"lines": "lab = Laboratory, room 12\nhome = At home"}
    assert program.ask("put", "places/", 200, lines) == lines
    assert program.ask("put", "places/", 409, {"lines": "LAB = Laboratory"})["code"] == "places.bad_code"
    assert program.ask("get", "places/", 200) == lines
