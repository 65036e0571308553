"""Every address of the programs' interface against everybody who might ask."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import resolve, reverse

from accounts.enums import Scope
from accounts.models import Project, User
from accounts.services import create_token
from analysis.models import Report
from analysis.services import build_report
from catalog.models import Dataset
from catalog.services.resumable_uploads import begin_upload
from evaluation.models import EvaluationRun
from jobs.models import Job
from parallax.api.urls import urlpatterns
from parallax.webhooks.services import create_webhook
from studies.enums import Role
from studies.models import Study
from studies.monitoring.services.blinding import open_outcomes
from studies.team.services.members import add_member, invite_to_study
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

ROLES = ("owner", "analyst", "interviewer", "stranger", "administrator")
EVERYBODY = dict.fromkeys(ROLES, 200)
INSIDERS = {"owner": 200, "analyst": 200, "interviewer": 200, "stranger": 404, "administrator": 404}
READERS = {**INSIDERS, "interviewer": 403}
OWNERS = {**READERS, "analyst": 403}
NOT_READ = dict.fromkeys(ROLES, 405)  # takes POST alone: tests/parallax/api_writes
# To an interviewer a study's reports do not exist, as in the console.
REPORTERS = {**INSIDERS, "interviewer": 404}
ACTS = ("pause", "resume", "close", "reopen", "archive", "restore", "duplicate", "simulations")
ONLY_POSTED = {
    *(f"studies-{act}" for act in ACTS), "designs-explanations", "designs-amendments", "reports-package",
    "reports-bayesian",
}  # fmt: skip
# What everybody is answered, by the name of the address, and the method where it is not read.
ANSWERED: dict[str, dict[str, int]] = {
    "api-root": EVERYBODY,
    "me": EVERYBODY,
    "schema": EVERYBODY,
    "nothing": dict.fromkeys(ROLES, 404),
    "studies-list": EVERYBODY,
    "studies-detail": INSIDERS,
    "studies-templates": EVERYBODY,
    "studies-launch": READERS,
    **{f"designs-{part}": READERS for part in ("design", "questionnaire", "texts", "conditions", "versions")},
    "designs-preregistration": READERS,
    **{name: dict.fromkeys(ROLES, 405) for name in sorted(ONLY_POSTED)},  # tests/parallax/api_writes/designs.py
    "studies-outcomes": READERS,  # the report that there is has opened them
    "studies-answers": READERS,
    "studies-codebook": READERS,
    "studies-withdrawals": dict.fromkeys(ROLES, 405),  # takes POST alone: test_withdrawal_on_request.py
    "studies-data-exports": NOT_READ,
    "studies-data-export-file": READERS,
    "studies-data-open-outcomes": NOT_READ,
    "studies-data-retention": READERS,
    "studies-participants-list": OWNERS,
    "studies-participants-detail": OWNERS,
    "studies-participants-exclude": NOT_READ,
    "studies-participants-undo-exclusion": NOT_READ,
    "studies-members-list": OWNERS,
    "studies-members-detail": OWNERS,
    "studies-invitations-list": OWNERS,
    "studies-invitations-detail": OWNERS,
    "studies-recruiting-panel": OWNERS,
    "studies-recruiting-exits": OWNERS,
    "studies-recruiting-links": OWNERS,
    "studies-recruiting-sign": NOT_READ,
    "studies-recruiting-guests": OWNERS,
    "studies-recruiting-submissions": OWNERS,
    "studies-recruiting-places": OWNERS,
    "datasets-list": EVERYBODY,
    "datasets-detail": EVERYBODY,
    "datasets-downloads": dict.fromkeys(ROLES, 405),  # takes POST alone, as others below: test_api_writes.py
    "versions-detail": EVERYBODY,
    "versions-metadata": dict.fromkeys(ROLES, 405),
    "versions-subsets": dict.fromkeys(ROLES, 405),
    "items-list": EVERYBODY,
    "uploads-list": EVERYBODY,
    "uploads-detail": {**dict.fromkeys(ROLES, 404), "owner": 200},  # its own uploader's
    "datasets-imports": dict.fromkeys(ROLES, 405),
    "experiments-list": EVERYBODY,
    "experiments-outcome": EVERYBODY,
    "models-list": EVERYBODY,
    "models-detail": EVERYBODY,
    "models-recommendations": dict.fromkeys(ROLES, 405),
    "runs-list": EVERYBODY,
    "runs-detail": EVERYBODY,
    "runs-results": EVERYBODY,
    "runs-metrics": EVERYBODY,
    "runs-users": EVERYBODY,
    "runs-curves": EVERYBODY,
    "runs-profiles": EVERYBODY,
    "runs-cases": EVERYBODY,
    "runs-scores": dict.fromkeys(ROLES, 405),  # takes POST alone: tests/evaluation/test_upload_jobs.py
    "runs-cancel": dict.fromkeys(ROLES, 405),
    "runs-resume": dict.fromkeys(ROLES, 405),
    "runs-lists": dict.fromkeys(ROLES, 405),
    "runs-tests": EVERYBODY,
    "runs-proposals": EVERYBODY,
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
    "reports-comments": REPORTERS,
}
SAMPLES = {**dict.fromkeys(("id", "pk", "job", "number"), "1"), "outcome": "complete", "form": "osf", "code": "A"}
MEMBERS = {"type", "title", "status", "detail", "code", "remedy", "errors", "extra"}  # of every error
FURTHER: dict[str, Any] = {"runs-cases": {"name": "train.inter"}, "designs-preregistration": {"form": "osf"}}
ONLY_FOR_PEOPLE = {"docs"}
NAMES = sorted({str(pattern.name) for pattern in urlpatterns})


def address_of(name: str, study: Study, report: Report) -> str:
    kwargs: dict[str, Any] = {}
    if name.startswith(("studies-", "designs-")) and name not in ("studies-list", "studies-templates"):
        kwargs = {"slug": study.slug, **FURTHER.get(name, {})}
        if name in ("studies-answers", "studies-codebook"):
            kwargs["table"] = "wide"
        kwargs |= _part_of_study(name, study)
    elif name == "datasets-detail":
        kwargs = {"name": study.dataset_version.dataset.name}
    elif name.startswith(("versions-", "items-")):
        kwargs = {"name": study.dataset_version.dataset.name, "number": study.dataset_version.number}
    elif name == "datasets-imports":
        kwargs = {"job": 1}
    elif name in ("uploads-detail", "experiments-outcome"):
        kwargs = {"pk": _of_owner(name, study)}
    elif name == "runs-proposals":
        return f"{reverse('api:runs-proposals')}?dataset={study.dataset_version.dataset.name}"
    elif name.startswith("runs-") and name != "runs-list":
        kwargs = {"pk": study.run_id, **FURTHER.get(name, {})}
    elif name in ("models-detail", "models-recommendations"):
        kwargs = {"pk": study.conditions.earliest("position").model_id}
    elif name.startswith("reports-") and name != "reports-list":
        kwargs = {"pk": report.pk, **({"name": "report.json"} if name == "reports-file" else {})}
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


def route_of(path: str) -> str:
    """The name of the address that a path of the OpenAPI document describes."""
    sample = re.sub(r"{(\w+)}", lambda part: SAMPLES.get(part[1], "a"), path)
    return str(resolve(sample).url_name)


def _part_of_study(name: str, study: Study) -> dict[str, Any]:
    """What the address of a part of the study has beside the study."""
    owner = study.memberships.get(role=Role.OWNER)
    if name == "studies-data-export-file":
        job = study.jobs.create(kind="export", owner=owner.researcher, status="succeeded")
        job.payload, job.file = {"format": "pages", "options": {}}, default_storage.save("e.zip", ContentFile(b"zip"))
        job.save()
        return {"job": job.pk}
    if name.startswith("studies-participants-") and name != "studies-participants-list":
        return {"code": study.participants.latest("pk").code}
    if name == "studies-members-detail":
        return {"pk": owner.pk}
    if name == "studies-invitations-detail":
        return {"pk": invite_to_study(study=study, role=Role.ANALYST, actor=owner.researcher)[0].pk}
    return {"outcome": "complete"} if name == "studies-recruiting-exits" else {}


def _of_owner(name: str, study: Study) -> int:
    """The key of an upload, or an experiment of the study's owner."""
    owner = study.memberships.get(role=Role.OWNER).researcher
    if name == "uploads-detail":
        return begin_upload(actor=owner, name="ratings.csv", size=9, sha256="0" * 64).pk
    file = default_storage.save("jobs/experiment/outcome.zip", ContentFile(b"PK"))
    jobs = study.dataset_version.jobs
    return int(jobs.create(kind="experiment", owner=owner, payload={"experiment": "croc-cold"}, file=file).pk)


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
            response = client.get(address_of(name, study, report), **asking)
            text = _read(response)
            found[name, who] = response.status_code
            if response.status_code >= 400:
                assert set(response.json()) == MEMBERS, (name, who)
            if name in ("schema", "studies-templates"):  # examples of such a study, and its template's title
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
        response = client.get(address_of(name, study, report))
        if name == "schema":
            assert response.status_code == 200
            continue
        assert (response.status_code, response.json()["code"]) == (401, "not_authenticated"), name
        assert response["WWW-Authenticate"] == "Bearer"
        assert client.post(address_of(name, study, report), {}, "application/json").status_code == 401, name


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
        address = address_of(name, study, report).partition("?")[0]
        view: Any = resolve(address).func
        taken = set(getattr(view, "actions", None) or ())
        for method in {"post", "put", "patch", "delete"} - taken:
            response = getattr(client, method)(address, {}, "application/json", **asking)
            assert response.status_code == (404 if name == "nothing" else 405), (name, method)
            assert response.json()["code"] == ("not_found" if name == "nothing" else "method_not_allowed")


OF_DATA = {  # need the scope data
    *("studies-outcomes", "studies-answers", "studies-data-export-file", "reports-numbers", "reports-file"),
    *("studies-participants-list", "studies-participants-detail", "reports-comments"),
    *("studies-recruiting-guests", "studies-recruiting-submissions"),
}
OF_EVERY_TOKEN = {"api-root", "me", "schema", "nothing"}
ONLY_WRITTEN = {name for name, of in ANSWERED.items() if of["owner"] == 405}
TOP = {name for name in ANSWERED if name.endswith("-list") and name.count("-") == 1}  # not those of a study
LISTS = TOP - {"experiments-list"}
OF_THE_ACCOUNT = {"uploads-list", "uploads-detail", "experiments-list"}  # whatever a token is limited to


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
    begin_upload(actor=owner, name="ratings.csv", size=9, sha256="0" * 64)
    limits = {"study": study, "other study": other, "project": projects[0], "other project": projects[1]}
    return study, report, {name: f"{name.split()[-1]}:{row.pk}" for name, row in limits.items()}


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
        response = client.get(address_of(name, study, report), **asking)
        is_held = name in OF_EVERY_TOKEN | ONLY_WRITTEN or ("data" if name in OF_DATA else "read") in held
        assert response.status_code == (_found(name) if is_held else 403), name
        _read(response)
    posts = {"reports-list": "report", "models-list": "upload", "runs-scores": "upload", "studies-withdrawals": ""}
    for name, narrow in posts.items():
        response = client.post(address_of(name, study, report), {}, **asking)
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
        response = client.get(address_of(name, study, report), **asking)
        text = _read(response)
        if name in LISTS:
            assert response.status_code == 200, name
            is_empty = name == "recommenders-list" or limit == "other project"
            without = ("reports-list", "jobs-list", "items-list", "webhooks-list")
            is_empty |= name in without and limit == "other study"
            is_empty &= name not in OF_THE_ACCOUNT
            assert bool(response.json()["results"]) != is_empty, name
            for of_it in (study.slug, study.dataset_version.content_hash):
                assert is_within or of_it not in text, name
        elif name in OF_EVERY_TOKEN | ONLY_WRITTEN | {"studies-templates"}:
            assert response.status_code == _found(name), name
        elif name in OF_THE_ACCOUNT:
            assert response.status_code == 200, name
        elif name == "runs-proposals":
            assert response.status_code == (200 if is_within else 409), name
        else:
            assert response.status_code == (200 if is_within else 404), name
    Job.objects.filter(kind="report").delete()
    built = client.post(reverse("api:reports-list"), {"study": study.slug}, "application/json", **asking)
    assert built.status_code == (202 if is_within else 404)
    person = {"participant": study.participants.get().code, "reason": "Asked."}
    address = address_of("studies-withdrawals", study, report)
    assert client.post(address, person, "application/json", **asking).status_code == (200 if is_within else 404)
    uploaded = client.post(
        reverse("api:models-list"), {"dataset": "small", "kind": "matrix", "file": _file()}, **asking
    )
    assert uploaded.status_code == (202 if is_within else 404)
    scores = client.post(address_of("runs-scores", study, report), {"name": "Mine", "file": _file()}, **asking)
    assert scores.status_code == (202 if is_within else 404)


def _file() -> SimpleUploadedFile:
    return SimpleUploadedFile("scores.csv", b"user,item,score\n")


def test_a_token_of_something_deleted_opens_nothing(client: Client, scene: Any) -> None:
    study, report, limits = scene
    asking = _as(study.memberships.get().researcher, only=limits["other project"])
    Project.objects.get(name="Music").delete()
    assert client.get(address_of("studies-detail", study, report), **asking).status_code == 404
    token = client.get(reverse("api:me"), **asking).json()["token"]
    assert (token["only"]["kind"], token["only"]["name"]) == ("project", "")
