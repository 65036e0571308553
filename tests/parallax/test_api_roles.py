"""Every address of the programs' interface against everybody who might ask."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import resolve, reverse

from accounts.enums import Scope
from accounts.models import Project, User
from accounts.services import create_token
from analysis.models import Report
from analysis.services import build_report
from analysis.services.requests import request_report
from catalog.models import Dataset
from evaluation.models import EvaluationRun
from jobs.models import Job
from parallax.api.urls import urlpatterns
from parallax.webhooks.services import create_webhook
from studies.enums import Role
from studies.models import Study
from studies.monitoring.services.blinding import open_outcomes
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

ROLES = ("owner", "analyst", "interviewer", "stranger", "administrator")
EVERYBODY = dict.fromkeys(ROLES, 200)
INSIDERS = {"owner": 200, "analyst": 200, "interviewer": 200, "stranger": 404, "administrator": 404}
READERS = {**INSIDERS, "interviewer": 403}
# To an interviewer a study's reports do not exist, as in the console.
REPORTERS = {**INSIDERS, "interviewer": 404}
# What everybody is answered, by the name of the address, and the method where it is not read.
ANSWERED: dict[str, dict[str, int]] = {
    "api-root": EVERYBODY,
    "me": EVERYBODY,
    "schema": EVERYBODY,
    "nothing": dict.fromkeys(ROLES, 404),
    "studies-list": EVERYBODY,
    "studies-detail": INSIDERS,
    "studies-design": READERS,
    "studies-outcomes": READERS,  # the report that there is has opened them
    "studies-answers": READERS,
    "studies-codebook": READERS,
    "studies-withdrawals": dict.fromkeys(ROLES, 405),  # takes POST alone: test_withdrawal_on_request.py
    "datasets-list": EVERYBODY,
    "datasets-detail": EVERYBODY,
    "models-list": EVERYBODY,
    "models-detail": EVERYBODY,
    "models-upload": dict.fromkeys(ROLES, 404),  # its own uploader's: tests/evaluation/test_upload_jobs.py
    "runs-list": EVERYBODY,
    "runs-detail": EVERYBODY,
    "runs-results": EVERYBODY,
    "runs-metrics": EVERYBODY,
    "runs-users": EVERYBODY,
    "runs-curves": EVERYBODY,
    "runs-profiles": EVERYBODY,
    "runs-cases": EVERYBODY,
    "runs-scores": dict.fromkeys(ROLES, 405),  # takes POST alone: tests/evaluation/test_upload_jobs.py
    "runs-scores-upload": dict.fromkeys(ROLES, 404),  # its own uploader's
    "recommenders-list": EVERYBODY,
    "jobs-list": EVERYBODY,
    "jobs-detail": {**dict.fromkeys(ROLES, 404), "owner": 200},  # its own requester's
    "webhooks-list": EVERYBODY,
    "webhooks-detail": {**dict.fromkeys(ROLES, 404), "owner": 200},  # its own maker's
    "webhooks-deliveries": {**dict.fromkeys(ROLES, 404), "owner": 200},
    "webhooks-test": dict.fromkeys(ROLES, 405),  # takes POST alone
    "reports-list": EVERYBODY,
    "reports-detail": REPORTERS,
    "reports-numbers": REPORTERS,
    "reports-file": REPORTERS,
    "reports-request": {**dict.fromkeys(ROLES, 404), "owner": 200},  # its own asker's
}
MEMBERS = {"type", "title", "status", "detail", "code", "remedy", "errors", "extra"}  # of every error
FURTHER: dict[str, Any] = {"runs-scores-upload": {"job": 1}, "runs-cases": {"name": "train.inter"}}
ONLY_FOR_PEOPLE = {"docs"}
NAMES = sorted({str(pattern.name) for pattern in urlpatterns})


def _address(name: str, study: Study, report: Report) -> str:
    kwargs: dict[str, Any] = {}
    if name.startswith("studies-") and name != "studies-list":
        kwargs = {"slug": study.slug}
        if name in ("studies-answers", "studies-codebook"):
            kwargs["table"] = "wide"
    elif name == "datasets-detail":
        kwargs = {"name": study.dataset_version.dataset.name}
    elif name.startswith("runs-") and name != "runs-list":
        kwargs = {"pk": study.run_id, **FURTHER.get(name, {})}
    elif name == "models-upload":
        kwargs = {"pk": 1}
    elif name == "models-detail":
        kwargs = {"pk": study.conditions.earliest("position").model_id}
    elif name.startswith("reports-") and name != "reports-list":
        asked = request_report(study=study, asked_by=study.memberships.get(role=Role.OWNER).researcher)
        pk = asked.pk if name == "reports-request" else report.pk
        kwargs = {"pk": pk, **({"name": "report.json"} if name == "reports-file" else {})}
    elif name == "jobs-detail":
        owner = study.memberships.get(role=Role.OWNER).researcher
        kwargs = {"pk": study.jobs.create(kind="simulation", owner=owner).pk}
    elif name.startswith("webhooks-"):
        owner = study.memberships.get(role=Role.OWNER).researcher
        webhook = create_webhook(owner=owner, address="https://93.184.215.14/", events=["study.full"], study=study)
        kwargs = {} if name == "webhooks-list" else {"pk": webhook.pk}
    elif name == "nothing":
        return reverse("api:api-root") + "no/such/thing/"
    return reverse(f"api:{name}", kwargs=kwargs)


def _read(response: Any) -> str:
    return (b"".join(response.streaming_content) if response.streaming else response.content).decode()


def _as(researcher: User, scope: str = Scope.REPORT, only: str = "") -> dict[str, Any]:
    _token, text = create_token(owner=researcher, name="test", scope=scope, only=only)
    return {"headers": {"Authorization": f"Bearer {text}"}}


def _everybody(study: Study) -> dict[str, User]:
    for role in (Role.ANALYST, Role.INTERVIEWER):
        add_member(study=study, email=UserFactory(email=f"{role}@example.org").email, role=role)
    members = {str(role): study.memberships.get(role=role).researcher for role in Role.values}
    return {**members, "stranger": UserFactory(), "administrator": UserFactory(is_superuser=True, is_staff=True)}


def test_every_address_has_a_rule() -> None:
    assert {name for name in NAMES if name not in ONLY_FOR_PEOPLE} == set(ANSWERED)


@pytest.mark.slow
@pytest.mark.core
def test_every_address_against_every_role(client: Client) -> None:
    study = make_study()
    completed(study)
    people = _everybody(study)
    report = build_report(study=study)
    found = {}
    for who, researcher in people.items():
        asking = _as(researcher)
        for name in ANSWERED:
            response = client.get(_address(name, study, report), **asking)
            text = _read(response)
            found[name, who] = response.status_code
            if response.status_code >= 400:
                assert set(response.json()) == MEMBERS, (name, who)
            if name == "schema":  # its examples are of such a study
                continue
            is_reader = who in ("owner", "analyst")
            if not is_reader:
                assert study.design_hash not in text, (name, who)
            if who in ("stranger", "administrator"):
                assert study.title not in text, (name, who)
                assert study.slug not in text, (name, who)
    assert found == {(name, who): expected for name, of in ANSWERED.items() for who, expected in of.items()}


def test_without_an_account_every_address_but_the_description_asks_for_one(client: Client) -> None:
    study = make_study()
    completed(study)
    report = build_report(study=study)
    for name in ANSWERED:
        response = client.get(_address(name, study, report))
        if name == "schema":
            assert response.status_code == 200
            continue
        assert (response.status_code, response.json()["code"]) == (401, "not_authenticated"), name
        assert response["WWW-Authenticate"] == "Bearer"
        assert client.post(_address(name, study, report), {}, "application/json").status_code == 401, name


def test_the_page_for_people_is_open_to_everyone(client: Client) -> None:
    response = client.get(reverse("api:docs"))
    assert response.status_code == 200
    assert "script-src 'self'" in response["Content-Security-Policy"]
    page = response.content.decode()
    assert (reverse("accounts:sign_in") in page, reverse("accounts:tokens") in page) == (True, False)
    assert 'data-method="DELETE" data-path="/api/v1/webhooks/{id}/"' in page


@pytest.mark.parametrize(
    ("who", "expected"),
    [("owner", 202), ("analyst", 202), ("interviewer", 404), ("stranger", 404), ("administrator", 404)],
)
def test_a_report_is_built_by_those_who_may_in_the_console(client: Client, who: str, expected: int) -> None:
    study = make_study()
    completed(study)
    open_outcomes(study=study, reason="A test.")
    researcher = _everybody(study)[who]
    response = client.post(reverse("api:reports-list"), {"study": study.slug}, "application/json", **_as(researcher))
    assert response.status_code == expected
    assert Job.objects.filter(kind="report").count() == (expected == 202)
    unknown = client.post(reverse("api:reports-list"), {"study": "no-such"}, "application/json", **_as(researcher))
    if expected == 404:  # a study that one may not report is refused as one that is not there
        assert response.json() == unknown.json()


def test_an_interviewer_sees_of_a_study_that_it_is_there(client: Client) -> None:
    study = make_study()
    completed(study)
    asking = _as(_everybody(study)["interviewer"])
    told = client.get(reverse("api:studies-detail", args=[study.slug]), **asking).json()
    assert (told["title"], told["role"], told["design"]) == (study.title, "interviewer", None)
    (line,) = client.get(reverse("api:studies-list"), **asking).json()["results"]
    assert (line["n_completed"], line["n_wanted"]) == (None, None)
    assert client.get(reverse("api:reports-list"), **asking).json()["results"] == []


def test_methods_that_are_not_described_are_refused(client: Client) -> None:
    study = make_study()
    completed(study)
    report = build_report(study=study)
    asking = _as(study.memberships.get(role=Role.OWNER).researcher, "read data write")
    for name in ANSWERED:
        address = _address(name, study, report)
        view: Any = resolve(address).func
        taken = set(getattr(view, "actions", None) or ())
        for method in {"post", "put", "patch", "delete"} - taken:
            response = getattr(client, method)(address, {}, "application/json", **asking)
            assert response.status_code == (404 if name == "nothing" else 405), (name, method)
            assert response.json()["code"] == ("not_found" if name == "nothing" else "method_not_allowed")


OF_DATA = {"studies-outcomes", "studies-answers", "reports-numbers", "reports-file"}  # need the scope data
OF_EVERY_TOKEN = {"api-root", "me", "schema", "nothing"}
ONLY_WRITTEN = {"studies-withdrawals", "runs-scores", "webhooks-test"}
LISTS = {name for name in ANSWERED if name.endswith("-list")}


@pytest.fixture
def scene(db: None) -> tuple[Study, Report, dict[str, str]]:
    """A study with a report in a project, with what its owner has uploaded, and the limits that tokens can have."""
    study = make_study()
    completed(study)
    report = build_report(study=study)
    owner = study.memberships.get().researcher
    projects = [Project.objects.create(name=name) for name in ("Films", "Music")]
    for project in projects:
        project.memberships.create(researcher=owner, role="owner")
    Dataset.objects.update(project=projects[0])
    EvaluationRun.objects.update(project=projects[0], owner=owner)
    other = make_study(slug="other", owner=owner, version=make_version(name="other", seed=9))
    study.dataset_version.jobs.create(kind="model-upload", owner=owner)
    study.run.jobs.create(kind="scores-upload", owner=owner, payload={"name": "Theirs"})
    limits = {"study": study, "other study": other, "project": projects[0], "other project": projects[1]}
    return study, report, {name: f"{name.split()[-1]}:{row.pk}" for name, row in limits.items()}


def _there(name: str, study: Study, report: Report) -> str:
    """An address of what is there, uploads too."""
    if name == "models-upload":
        return reverse("api:models-upload", args=[study.dataset_version.jobs.get(kind="model-upload").pk])
    if name == "runs-scores-upload":
        return reverse("api:runs-scores-upload", args=[study.run_id, study.run.jobs.get(kind="scores-upload").pk])
    return _address(name, study, report)


def _found(name: str) -> int:
    return {"nothing": 404}.get(name, 405 if name in ONLY_WRITTEN else 200)


@pytest.mark.slow
@pytest.mark.core
@pytest.mark.parametrize("scope", ["read", "data", "write", "read write", "data write", "upload"])
def test_every_address_against_every_scope(client: Client, scene: Any, scope: str) -> None:
    study, report, _limits = scene
    asking = _as(study.memberships.get().researcher, scope)
    held = set(scope.split()) | ({"read", "data"} if scope in ("report", "upload") else set())
    for name in ANSWERED:
        response = client.get(_there(name, study, report), **asking)
        is_held = name in OF_EVERY_TOKEN | ONLY_WRITTEN or ("data" if name in OF_DATA else "read") in held
        assert response.status_code == (_found(name) if is_held else 403), name
    posts = {"reports-list": "report", "models-list": "upload", "runs-scores": "upload", "studies-withdrawals": ""}
    for name, narrow in posts.items():
        response = client.post(_there(name, study, report), {}, **asking)
        may = narrow in held or held >= ({"write"} if narrow else {"write", "data"})
        # Past the scope, this body is refused: for its type, or for its fields.
        assert (response.status_code in (400, 415)) == may, name
        assert (response.status_code == 403) != may, name


@pytest.mark.slow
@pytest.mark.core
@pytest.mark.parametrize("limit", ["study", "other study", "project", "other project"])
def test_every_address_against_every_limit_of_a_token(client: Client, scene: Any, limit: str) -> None:
    study, report, limits = scene
    asking = _as(study.memberships.get().researcher, "read data write", limits[limit])
    is_within = not limit.startswith("other")
    for name in ANSWERED:
        response = client.get(_there(name, study, report), **asking)
        text = _read(response)
        if name in LISTS:
            assert response.status_code == 200, name
            is_empty = name == "recommenders-list" or limit == "other project"
            is_empty |= name in ("reports-list", "jobs-list", "webhooks-list") and limit == "other study"
            assert bool(response.json()["results"]) != is_empty, name
            for of_it in (study.slug, study.dataset_version.content_hash):
                assert is_within or of_it not in text, name
        elif name in OF_EVERY_TOKEN | ONLY_WRITTEN:
            assert response.status_code == _found(name), name
        else:
            assert response.status_code == (200 if is_within else 404), name
    Job.objects.filter(kind="report").delete()
    built = client.post(reverse("api:reports-list"), {"study": study.slug}, "application/json", **asking)
    assert built.status_code == (202 if is_within else 404)
    person = {"participant": study.participants.get().code, "reason": "Asked."}
    address = _address("studies-withdrawals", study, report)
    assert client.post(address, person, "application/json", **asking).status_code == (200 if is_within else 404)
    uploaded = client.post(
        reverse("api:models-list"), {"dataset": "small", "kind": "matrix", "file": _file()}, **asking
    )
    assert uploaded.status_code == (202 if is_within else 404)
    scores = client.post(_address("runs-scores", study, report), {"name": "Mine", "file": _file()}, **asking)
    assert scores.status_code == (202 if is_within else 404)


def _file() -> SimpleUploadedFile:
    return SimpleUploadedFile("scores.csv", b"user,item,score\n")


def test_a_token_of_something_deleted_opens_nothing(client: Client, scene: Any) -> None:
    study, report, limits = scene
    asking = _as(study.memberships.get().researcher, only=limits["other project"])
    Project.objects.get(name="Music").delete()
    assert client.get(_there("studies-detail", study, report), **asking).status_code == 404
    token = client.get(reverse("api:me"), **asking).json()["token"]
    assert (token["only"]["kind"], token["only"]["name"]) == ("project", "")
