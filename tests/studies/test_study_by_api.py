"""A study by programs alone: created, changed, simulated, launched, amended, closed and reported."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import User
from accounts.services import create_token
from accounts.services.projects import create_project
from catalog.models import Dataset, DatasetVersion
from evaluation.models import EvaluationRun
from jobs.models import Job, JobStatus
from jobs.services import do_job
from studies.enums import Mode
from studies.models import Study
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
STUDIES = "/api/v1/studies/"


class Program:
    """A program with a token of a researcher; a change names the state that it has just read."""

    def __init__(self, owner: User, only: str = "") -> None:
        text = create_token(owner=owner, name="program", scope="read data write", only=only)[1]
        self.client = Client(headers={"Authorization": f"Bearer {text}"})

    def get(self, address: str, expected: int = 200) -> Any:
        return self._read(self.client.get(address), expected)

    def post(self, address: str, body: Any = None, expected: int = 200) -> Any:
        return self._read(self.client.post(address, json.dumps(body or {}), "application/json"), expected)

    def change(self, method: str, address: str, body: Any, expected: int = 200) -> Any:
        state = {"If-Match": self.client.get(address)["ETag"]}
        send = getattr(self.client, method)
        return self._read(send(address, json.dumps(body), "application/json", headers=state), expected)

    @staticmethod
    def _read(response: Any, expected: int) -> Any:
        assert response.status_code == expected, response.content.decode()
        return response.json() if response.content else None


def _program(study: Study) -> Program:
    return Program(study.memberships.get(role="owner").researcher)


def _pointers(problem: Any) -> set[str]:
    return {fault["pointer"] for fault in problem["errors"]}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_program_runs_a_study_from_the_run_to_the_report(live_server: Any, sent: list[int], settings: Any) -> None:
    settings.SITE_URL = live_server.url
    run = make_run_at("succeeded", reserve=0.3)
    program = Program(run.owner or UserFactory())
    templates = {each["key"]: each for each in program.get(f"{STUDIES}templates/")}
    assert templates["diversity-dose"]["fewest_conditions"] == 4
    draft = program.post(STUDIES, {"title": "Good films", "run": run.pk}, 201)
    study = f"{STUDIES}{draft['slug']}/"
    assert (draft["status"], draft["role"], draft["design"]["run_id"]) == ("draft", "owner", run.pk)

    assert program.change("patch", study, {"title": "Better films"})["title"] == "Better films"
    texts = program.change("patch", f"{study}texts/", {"texts": {"en": {"title": "Your films"}}})["texts"]
    assert texts["en"]["title"] == "Your films"
    assert texts["en"]["consent"]
    questionnaire = program.get(f"{study}questionnaire/")
    questionnaire["after"] = [{"key": "why", "kind": "text", "text": {"en": "Why?", "de": "Warum?", "it": "Perché?"}}]
    assert program.change("put", f"{study}questionnaire/", questionnaire)["after"][0]["key"] == "why"
    labels = [condition["label"] for condition in draft["design"]["conditions"]]
    changes = {"settings": {"hypothesis": "A differs from B."}, "per_condition": 1, "targets": {labels[0]: 2}}
    design = program.change("patch", f"{study}design/", changes)["design"]
    assert design["settings"]["hypothesis"] == "A differs from B."
    assert [condition["target"] for condition in design["conditions"]] == [2, *[1] * (len(labels) - 1)]
    assert design["questionnaire"]["after"][0]["key"] == "why"
    overview = program.get(f"{study}launch/")
    assert overview["needed"] == []
    assert overview["minutes"] > 0
    assert any("pilot" in point["text"] for point in overview["advice"])
    text = program.client.get(f"{study}preregistration/osf/").content.decode()
    assert "A differs from B." in text

    effects = {labels[0]: {"accuracy": 0.5}}
    job = program.post(f"{study}simulations/", {"per_condition": 1, "seed": 3, "effects": effects}, 202)
    assert do_job(job_id=job["id"])
    job = program.get(job["url"])
    assert (job["status"], job["made_url"]) == ("succeeded", f"http://testserver{study}")
    assert Study.objects.get().design.planted_effects == effects

    live = program.post(f"{study}launch/")
    assert (live["status"], bool(live["design"]["design_hash"])) == ("live", True)
    amended = program.post(f"{study}amendments/", {"kind": "targets", "why": "More.", "targets": {labels[0]: 3}}, 201)
    assert (amended["number"], amended["why"]) == (2, "More.")
    assert program.get(f"{study}design/")["design"]["conditions"][0]["target"] == 3
    assert [each["number"] for each in program.get(f"{study}versions/")] == [2, 1]
    assert program.post(f"{study}close/")["status"] == "closed"
    built = program.post("/api/v1/reports/", {"study": draft["slug"], "mode": "simulated", "alpha": 0.01}, 202)
    assert do_job(job_id=built["id"])
    report = program.get(program.get(built["url"])["made_url"])
    assert (report["study"], report["mode"]) == (draft["slug"], "simulated")
    assert program.get(f"/api/v1/reports/{report['id']}/numbers/")["plan"]["alpha"] == 0.01


def test_models_that_are_not_evaluated_yet_make_a_job_of_the_study(sent: list[int]) -> None:
    owner = UserFactory()
    make_version()
    program = Program(owner)
    job = program.post(STUDIES, {"title": "Good films", "dataset": "small", "kind": "quick"}, 202)
    assert (job["kind"], job["made_url"]) == ("study", None)
    assert program.post(STUDIES, {"title": "Good films", "dataset": "small", "kind": "quick"}, 202)["id"] == job["id"]
    refused = program.post(STUDIES, {"title": "", "kind": "quik", "uploads": "x"}, 400)
    assert _pointers(refused) == {"/title", "/kind", "/dataset", "/uploads"}


def test_a_limited_token_creates_studies_within_its_project_alone() -> None:
    owner = UserFactory()
    project = create_project(name="Films", owner=owner)
    outside = make_run_at("succeeded")
    Dataset.objects.filter(pk=make_version(name="ours", seed=9).dataset_id).update(project=project)
    inside = make_run_at("succeeded", version=DatasetVersion.objects.get(dataset__name="ours"))
    EvaluationRun.objects.filter(pk=inside.pk).update(project=project)
    program = Program(owner, f"project:{project.pk}")
    program.post(STUDIES, {"title": "Theirs", "run": outside.pk}, 404)
    created = program.post(STUDIES, {"title": "Ours", "run": inside.pk}, 201)
    study = Study.objects.get(slug=created["slug"])
    Program(owner, f"study:{study.pk}").post(STUDIES, {"title": "Ours", "run": inside.pk}, 404)


def test_every_fault_of_a_document_is_named_with_its_place() -> None:
    study = make_study(status="draft")
    program, address = _program(study), f"{STUDIES}{study.slug}/"
    wrong = {"plan": {"alpha": 5, "level": 1}, "list_length": 0, "ratings_asked": "many"}
    refused = program.change("patch", f"{address}design/", {"settings": wrong}, 400)
    assert _pointers(refused) == {
        "/settings/plan/alpha", "/settings/plan/level", "/settings/list_length", "/settings/ratings_asked",
    }  # fmt: skip
    refused = program.change("patch", f"{address}design/", {"settings": {"factors": [], "flw": 1}}, 400)
    assert _pointers(refused) == {"/settings/factors", "/settings/flw"}
    refused = program.change("patch", f"{address}design/", {"targets": {"Nobody": 3}}, 400)
    assert _pointers(refused) == {"/targets/Nobody"}
    for value in ('"a\\u0000b"', '"\\ud800"', "1e999"):
        body = f'{{"settings": {{"hypothesis": {value}}}}}'
        refused = program.client.patch(f"{address}design/", body, "application/json", headers={"If-Match": "*"})
        assert _pointers(refused.json()) == {"/settings"}, value
    document = program.get(f"{address}questionnaire/")
    document["about"][0]["kind"] = "yesno"
    document["overall"].append({"key": "why", "text": {"en": "Why?"}})
    refused = program.change("put", f"{address}questionnaire/", document, 400)
    assert _pointers(refused) == {"/about/0/kind", f"/overall/{len(document['overall']) - 1}"}
    kept = program.change("put", f"{address}questionnaire/", {**program.get(f"{address}questionnaire/"), "after": None})
    assert "after" not in kept
    refused = program.change("put", f"{address}questionnaire/", {"about": []}, 400)
    assert "schema: 1" in refused["errors"][0]["detail"]
    refused = program.change("patch", f"{address}texts/", {"texts": {"en": {"titel": "x"}, "xx": {"title": 1}}}, 400)
    assert "/texts/en/titel" in _pointers(refused)
    assert _pointers(program.change("patch", f"{address}texts/", {"texts": {"xx": {}}}, 400)) == {"/texts/xx"}
    study.refresh_from_db()
    assert study.design.list_length == 5


def test_conditions_are_models_crossed_with_presentations() -> None:
    study = make_study(status="draft")
    program, address = _program(study), f"{STUDIES}{study.slug}/conditions/"
    before = program.get(address)
    plain, grid = {"name": "plain", "presentation": {}}, {"name": "grid", "presentation": {"layout": "grid"}}
    chosen = {"models": before["models"], "presentations": [{"key": "layout", "levels": [plain, grid]}]}
    after = program.change("put", address, chosen)
    assert [each["label"] for each in after["conditions"]] == [
        "TopPop · plain", "TopPop · grid", "PureSVD4 · plain", "PureSVD4 · grid",
    ]  # fmt: skip
    assert after["conditions"][1]["presentation"] == {"layout": "grid"}
    assert {name: after[name] for name in chosen} == chosen
    wrong = [{"key": "layout", "levels": [{"name": "grid", "presentation": {"layout": "squares"}}]}, {"levels": []}]
    refused = program.change("put", address, {"models": before["models"], "presentations": wrong}, 400)
    assert {"/presentations/0/levels/0/presentation/layout", "/presentations/1/key"} <= _pointers(refused)
    refused = program.change("put", address, {"models": ["0" * 64]}, 409)
    assert refused["code"] == "study.bad_conditions"
    file = SimpleUploadedFile("texts.csv", _texts(study).encode())
    crossed = program.client.post(f"{STUDIES}{study.slug}/explanations/", {"file": file}).json()
    assert [factor["key"] for factor in crossed["presentations"]] == ["explanation", "layout"]


def _texts(study: Study) -> str:
    lines = [f"{item.external_id},en,A film." for item in study.dataset_version.items.all()]
    return "\n".join(["item,language,text", *lines])


def test_what_is_frozen_refuses_and_names_the_amendment() -> None:
    study = make_study()
    program, address = _program(study), f"{STUDIES}{study.slug}/"
    bodies = {
        "design/": ("patch", {"per_condition": 3}),
        "texts/": ("patch", {"texts": {"en": {"title": "Other"}}}),
        "questionnaire/": ("put", program.get(f"{address}questionnaire/")),
        "conditions/": ("put", {"models": []}),
        "": ("patch", {"title": "Other"}),
    }
    for part, (method, body) in bodies.items():
        refused = program.change(method, address + part, body, 409)
        assert refused["code"] == "studies.not_draft", part
        assert "amendments/" in refused["remedy"]
    assert program.get(f"{address}launch/")["needed"] == []
    assert program.post(f"{address}launch/", {}, 409)["code"] == "studies.not_live"
    analyst = UserFactory()
    add_member(study=study, email=analyst.email, role="analyst")
    Program(analyst).change("patch", address, {"title": "Other"}, 403)


def test_amendments_are_versions_with_a_reason() -> None:
    study = make_study()
    program, address = _program(study), f"{STUDIES}{study.slug}/"
    words = program.get(f"{address}questionnaire/")
    words["overall"][0]["text"]["en"] = "In other words?"
    consent = program.get(f"{address}texts/")["texts"]["en"]["consent"]
    amendments: list[dict[str, Any]] = [
        {"kind": "targets", "targets": {"TopPop": 9}},
        {"kind": "words", "questionnaire": words},
        {"kind": "notes", "texts": {"en": {"contact": "Ask us."}}},
        {"kind": "consent", "texts": {"en": {"consent": f"{consent}\n\nOne more sentence."}}},
    ]
    for number, body in enumerate(amendments, start=2):
        response = program.client.post(
            f"{address}amendments/", json.dumps({**body, "why": "A reason."}), "application/json"
        )
        assert (response.status_code, response.json()["number"]) == (201, number), response.json()
        assert program.get(response["Location"])[0] == response.json()
    assert response.json()["made_by"] == study.memberships.get(role="owner").researcher.email
    for body, pointers in (
        ({"kind": "targets", "texts": {"en": {}}}, {"/targets"}),
        ({"kind": "notes", "texts": {"en": {"consent": "x"}}}, {"/texts/consent"}),
        ({"kind": "words", "questionnaire": {"schema": 1, "about": [{"key": "x"}]}}, None),
    ):
        found = _pointers(program.post(f"{address}amendments/", {**body, "why": "A reason."}, 400))
        assert found == pointers if pointers else all(each.startswith("/questionnaire/about/0") for each in found)
    words["overall"].pop()
    body = {"kind": "words", "questionnaire": words, "why": "Shorter."}
    assert program.post(f"{address}amendments/", body, 409)["code"] == "amend.other_questions"


def test_a_draft_that_cannot_be_launched_says_everything_that_it_lacks() -> None:
    study = make_study(status="draft")
    Study.objects.filter(pk=study.pk).update(texts={})
    program, address = _program(study), f"{STUDIES}{study.slug}/"
    needed = program.get(f"{address}launch/")["needed"]
    refused = program.post(f"{address}launch/", {}, 409)
    assert refused["code"] == "study.cannot_launch"
    assert refused["extra"]["problems"] == [point["text"] for point in needed]
    assert program.post(f"{address}simulations/", {}, 409)["code"] == "pilot.not_ready"
    assert _pointers(program.post(f"{address}simulations/", {"effects": {"Nobody": {}}}, 400)) == {"/effects"}


def test_the_life_of_a_study(sent: list[int]) -> None:
    study = make_study()
    completed(study)
    program, address = _program(study), f"{STUDIES}{study.slug}/"
    assert program.post(f"{address}pause/")["status"] == "paused"
    assert program.post(f"{address}resume/")["status"] == "live"
    assert program.post(f"{address}pause/")["status"] == "paused"
    assert program.post(f"{address}archive/")["archived_at"]
    refused = program.post(f"{address}close/", {}, 409)
    assert (refused["code"], "restore/" in refused["remedy"]) == ("study.archived", True)
    assert program.post(f"{address}simulations/", {}, 409)["code"] == "study.archived"
    assert program.post(f"{address}restore/")["archived_at"] is None
    assert program.post(f"{address}close/")["status"] == "closed"
    assert _pointers(program.post(f"{address}reopen/", {}, 400)) == {"/reason"}
    assert program.post(f"{address}reopen/", {"reason": "More."})["status"] == "live"
    named = {"title": "Copy", "slug": "copy"}
    copy = program.post(f"{address}duplicate/", named, 201)
    assert (copy["slug"], copy["status"]) == ("copy", "draft")
    assert program.post(f"{address}duplicate/", named, 409)["code"] == "study.slug_taken"
    assert program.client.delete(f"{STUDIES}{copy['slug']}/").status_code == 204
    assert program.client.delete(address).json()["code"] == "study.live_not_deleted"
    program.post(f"{address}close/")
    refused = program.client.delete(address).json()
    assert (refused["code"], "typed" in refused["remedy"]) == ("study.slug_not_typed", True)
    assert program.client.delete(f"{address}?typed={study.slug}").status_code == 204
    assert not Study.objects.exists()


@pytest.mark.slow
def test_a_report_is_requested_with_deviations_and_its_files_by_jobs(sent: list[int]) -> None:
    study = make_study()
    for number in range(2):
        completed(study, Mode.SIMULATED, number=number)
    program = _program(study)
    deviating = {"study": study.slug, "exclusions": "flags", "alpha": 7}
    assert _pointers(program.post("/api/v1/reports/", deviating, 400)) == {"/alpha", "/exclude"}
    built = program.post("/api/v1/reports/", {"study": study.slug, "exclusions": "none"}, 202)
    assert program.post("/api/v1/reports/", {"study": study.slug, "exclusions": "none"}, 202)["id"] == built["id"]
    assert do_job(job_id=built["id"])
    address = program.get(built["url"])["made_url"].removeprefix("http://testserver")
    package = program.post(f"{address}package/", None, 202)
    assert program.get(f"{address}files/study-package.zip", 202)["id"] == package["id"]
    assert do_job(job_id=package["id"])
    state = program.get(package["url"])
    assert state["made_url"] == f"http://testserver{address}files/study-package.zip"
    assert program.client.get(state["made_url"])["Content-Type"] == "application/zip"
    analysis = program.post(f"{address}bayesian/", None, 202)
    assert analysis["kind"] == "bayesian"
    Job.objects.filter(pk=analysis["id"]).update(status=JobStatus.SUCCEEDED)
    assert program.get(analysis["url"])["made_url"] == f"http://testserver{address}"
    assert {each["text"] for each in program.get(f"{address}comments/")} == {"=1+1, fine"}
