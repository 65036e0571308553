"""What programs are given is what the console gives: the same answers, numbers, reports and files."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pyarrow import parquet

from accounts.models import User
from analysis.files.formats import report_json
from analysis.models import Report
from analysis.services import build_report
from core.models import LogEntry
from core.problem_details import problem_details
from evaluation import exports
from evaluation.models import EvaluationRun, TrainedModel
from jobs.models import Job
from jobs.services import do_job
from parallax.api.errors import REMEDIES
from parallax.error_pages import UNREAD, WORDS
from studies.data.codebook.cells import iso_time
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.design.services.launch import close_study
from studies.enums import Mode, Role
from studies.models import Event, Study
from studies.monitoring.selectors.outcomes import outcomes_of
from studies.monitoring.services.blinding import open_outcomes
from studies.monitoring.services.exclusions import exclude
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory, client_with_token
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, make_run_at
from tests.factories.studies import completed, enter, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
JSON_TYPES = ("application/json", "application/problem+json")
MEMBERS = {"type", "title", "status", "detail", "code", "remedy", "errors", "extra"}  # of every error


def parameters(problem: dict[str, Any]) -> list[str]:
    """The parameters that a problem names."""
    return list(dict.fromkeys(fault["parameter"] for fault in problem["errors"]))


class Program:
    """A program with a token of somebody."""

    def __init__(self, researcher: User, scope: str = "report") -> None:
        self.client = client_with_token(researcher, scope)

    def get(self, address: str, expected: int = 200, **query: Any) -> Any:
        response = self.client.get(f"/api/v1/{address}", query)
        self.text = (b"".join(response.streaming_content) if response.streaming else response.content).decode()
        assert response.status_code == expected, self.text
        self.response = response
        return json.loads(self.text) if response["Content-Type"] in JSON_TYPES else self.text

    def post(self, address: str, body: Any, expected: int) -> Any:
        response = self.client.post(f"/api/v1/{address}", body, content_type="application/json")
        assert response.status_code == expected, response.text
        return response.json()


@pytest.fixture(scope="module")
def stored(module_database: None) -> int:
    """The key of a blinded study with answers."""
    study = make_study(run=make_run_at("succeeded", profile_lengths=(5,)))
    for number in range(3):
        completed(study, number=number)
    entered = enter(study).participant
    Event.objects.create(participant=entered, kind="page_view", page="about", facts={"language": "en"})
    return study.pk


@pytest.fixture
def blinded(stored: int) -> Study:
    """Its rows are as new in each test."""
    return Study.objects.get(pk=stored)


@pytest.fixture
def study(blinded: Study) -> Study:
    open_outcomes(study=blinded, reason="A test.")
    return blinded


@pytest.fixture
def program(study: Study) -> Program:
    return Program(study.memberships.get(role=Role.OWNER).researcher)


@pytest.mark.parametrize("table", ["long", "wide", "ratings", "events", "pages"])
def test_a_table_is_that_of_the_export_byte_for_byte(
    study: Study, program: Program, table: str, tmp_path: Path
) -> None:
    stem = f"study-{study.slug}_{table}"
    write_export(study, table, tmp_path, Options())
    text = program.get(f"studies/{study.slug}/answers/{table}/", format="csv")
    assert text.encode() == (tmp_path / f"{stem}_data.csv").read_bytes()
    assert program.response["Content-Disposition"] == f'attachment; filename="{stem}_data.csv"'
    assert program.response["Cache-Control"] == "private, no-store"
    codebook = program.get(f"studies/{study.slug}/answers/{table}/codebook/")
    assert codebook["variables"] == json.loads((tmp_path / f"{stem}_codebook.json").read_text())
    assert codebook["table_schema"] == json.loads((tmp_path / f"{stem}_schema.json").read_text())
    rows = program.get(f"studies/{study.slug}/answers/{table}/")["rows"]
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(lines) > 0
    assert [list(row) for row in rows] == [list(line) for line in lines]
    names = {variable["name"] for variable in codebook["variables"]}
    assert set(rows[0]) == names


def test_answers_lead_back_to_nobody(study: Study, program: Program) -> None:
    for table in ("long", "wide", "ratings", "events", "pages", "allocation", "page-medians"):
        for form in ("json", "csv"):
            program.get(f"studies/{study.slug}/answers/{table}/", format=form)
            for participant in study.participants.all():
                assert participant.code not in program.text
    assert program.get(f"studies/{study.slug}/answers/wide/", 400, include_external_ids="on")["code"] == "invalid"


def test_simulated_participants_have_to_be_asked_for(program: Program, study: Study) -> None:
    completed(study, Mode.SIMULATED)
    people = program.get(f"studies/{study.slug}/answers/wide/")
    both = program.get(f"studies/{study.slug}/answers/wide/", include_simulated="true")
    assert (people["modes"], both["modes"]) == (["live"], ["live", "simulated"])
    assert (people["contains_simulated"], both["contains_simulated"]) == (False, True)
    assert {row["participant.mode"] for row in people["rows"]} == {"live"}
    assert len(both["rows"]) == len(people["rows"]) + 1


def test_a_study_of_simulated_participants_says_so_before_it_gives_any() -> None:
    study = make_study(slug="simulated-only")
    completed(study, Mode.SIMULATED)
    program = Program(study.memberships.get().researcher)
    refused = program.get(f"studies/{study.slug}/answers/wide/", 409)
    assert refused["code"] == "export.only_simulated"
    assert refused["remedy"] == "Add include_simulated=true."
    assert "--" not in refused["detail"]
    assert not LogEntry.objects.filter(facts__act="exported").exists()


def test_the_excluded_are_marked_or_left_out(study: Study, program: Program) -> None:
    exclude(participant=study.participants.earliest("pk"), reason="Asked twice.")
    rows = program.get(f"studies/{study.slug}/answers/wide/")["rows"]
    assert [row["participant.is_excluded"] for row in rows] == [True, False, False, False]
    left = program.get(f"studies/{study.slug}/answers/wide/", without_excluded="1")["rows"]
    assert [row["participant.id"] for row in left] == [row["participant.id"] for row in rows[1:]]


def test_taking_answers_is_recorded(study: Study, program: Program) -> None:
    program.get(f"studies/{study.slug}/answers/long/")
    entry = LogEntry.objects.get(facts__act="exported")
    assert entry.reason == "Data exported: long, by a program."
    assert entry.actor == study.memberships.get().researcher
    program.get(f"studies/{study.slug}/answers/no-such/", 404)
    program.get(f"studies/{study.slug}/answers/long/", 400, include_simulated="perhaps")
    program.get(f"studies/{study.slug}/answers/long/codebook/")
    assert LogEntry.objects.filter(facts__act="exported").count() == 1


def test_nobody_reads_who_is_in_which_condition_while_outcomes_are_blinded(blinded: Study, tmp_path: Path) -> None:
    program = Program(blinded.memberships.get(role=Role.OWNER).researcher)
    refused = program.get(f"studies/{blinded.slug}/answers/allocation/", 409)
    assert refused["code"] == "blinding.outcomes_shut"
    names = [file.name for file in write_export(blinded, "pages", tmp_path)]
    assert any("pages_data" in name for name in names)
    assert not any("allocation" in name for name in names)
    assert "participant.condition" not in program.get(f"studies/{blinded.slug}/answers/pages/", format="csv")
    close_study(study=blinded)
    assert program.get(f"studies/{blinded.slug}/answers/allocation/")["rows"]
    assert any("allocation" in file.name for file in write_export(blinded, "pages", tmp_path))


def test_outcomes_stay_shut_until_the_close_or_until_somebody_opens_them(blinded: Study) -> None:
    study = blinded
    program = Program(study.memberships.get(role=Role.OWNER).researcher)
    refused = program.get(f"studies/{study.slug}/outcomes/", 409)
    assert refused["code"] == "blinding.outcomes_shut"
    assert not program.get(f"studies/{study.slug}/")["design"]["are_outcomes_open"]
    simulated = program.get(f"studies/{study.slug}/outcomes/", mode="simulated")
    assert [line["n"] for line in simulated] == [0, 0]
    open_outcomes(study=study, reason="A test.")
    early = program.get(f"studies/{study.slug}/outcomes/")
    assert early == [vars(line) for line in outcomes_of(study)]
    assert sum(line["n"] for line in early) == 3
    close_study(study=study)
    assert program.get(f"studies/{study.slug}/outcomes/") == early
    assert program.get(f"studies/{study.slug}/")["design"]["are_outcomes_open"]
    program.get(f"studies/{study.slug}/outcomes/", 400, mode="preview")


def test_a_study_tells_its_design_and_its_counts(study: Study, program: Program) -> None:
    told = program.get(f"studies/{study.slug}/")
    design = told["design"]
    assert (told["status"], told["role"], design["design_hash"]) == ("live", "owner", study.design_hash)
    assert design["dataset"]["content_hash"] == study.dataset_version.content_hash
    pinned = dict(study.conditions.values_list("label", "model_digest"))
    assert {one["label"]: one["model_digest"] for one in design["conditions"]} == pinned
    assert sum(line["completed"] for line in design["counts"]) == 3
    assert {line["mode"] for line in design["counts"]} == {"live"}
    version = study.versions.get()
    assert program.get(f"studies/{study.slug}/design/") == {
        "design_hash": version.design_hash,
        "design": version.snapshot,
    }
    draft = make_study(slug="draft", status="draft", run=study.run, owner=study.memberships.get().researcher)
    told = program.get("studies/draft/design/")
    assert (told["design_hash"], told["design"]["conditions"][0]["target"]) == ("", draft.conditions.first().target)
    for outcome in ("accuracy_sum", "satisfaction_mean"):
        assert outcome not in json.dumps(design)


@pytest.mark.parametrize("n", [1, 3])
def test_lists_take_the_same_queries_for_one_row_and_three(
    study: Study, program: Program, n: int, django_assert_num_queries: Any
) -> None:
    owner = study.memberships.get().researcher
    build_report(study=study)
    for number in range(2, n + 1):
        make_study(slug=f"study-{number}", run=study.run, owner=owner)
        make_version(name=f"other-{number}", seed=number)
        make_run(version=study.dataset_version, seed=number)
        report = study.reports.get(number=1)
        Report.objects.create(
            study=study, run=study.run, number=number, mode="live", inputs_hash=str(number), results=report.results
        )
    program.get("me/")  # the token's use is noted
    for address, queries in (("studies/", 2), ("datasets/", 3), ("models/", 2), ("runs/", 2), ("reports/", 2)):
        with django_assert_num_queries(queries):
            found = program.get(address)["results"]
        assert len(found) == (TrainedModel.objects.count() if address == "models/" else n), address


def test_pages_of_a_list_hold_every_row_once_whatever_comes_in_meanwhile(study: Study, program: Program) -> None:
    for seed in range(2, 6):
        make_run(version=study.dataset_version, seed=seed)
    whole = [run["id"] for run in program.get("runs/")["results"]]
    page = program.get("runs/", page_size=2)
    seen = [run["id"] for run in page["results"]]
    make_run(version=study.dataset_version, seed=9)
    while page["next"]:
        page = program.get(page["next"].partition("/api/v1/")[2])
        seen += [run["id"] for run in page["results"]]
    assert seen == whole == sorted(whole, reverse=True)
    for size in ("0", "501", "x", "٣", "", "1e2"):
        assert parameters(program.get("runs/", 400, page_size=size)) == ["page_size"]
    for cursor in ("no", "cD14", "cD0lMDA=", "\x00", "", "ä"):
        assert parameters(program.get("runs/", 400, cursor=cursor)) == ["cursor"], cursor
    assert program.get("datasets/", 400, cursor="cD0lMDA=")["code"] == "invalid"  # a name with NUL


def test_runs_and_models_are_found_by_what_they_are(study: Study, program: Program) -> None:
    queued = make_run(version=study.dataset_version, seed=7)
    assert [run["id"] for run in program.get("runs/", status="queued")["results"]] == [queued.pk]
    assert len(program.get("runs/", dataset="small")["results"]) == 2
    assert program.get("runs/", dataset="other")["results"] == []
    for query in ({"status": "lost"}, {"dataset": "a\x00b"}, {"dataset": "a b"}):
        assert parameters(program.get("runs/", 400, **query)) == list(query)
    digest = study.conditions.earliest("position").model_digest
    (model,) = program.get("models/", digest=digest)["results"]
    assert (model["digest"], model["dataset"]) == (digest, "small")
    assert program.get(f"models/{model['id']}/") == model
    program.get("models/", 400, digest="abc")
    assert program.get("datasets/small/")["versions"][0]["content_hash"] == study.dataset_version.content_hash
    program.get("datasets/other/", 404)
    program.get("runs/99999999999999999999/", 404)


def test_a_run_gives_its_numbers_as_the_console_does(study: Study, program: Program) -> None:
    run = study.run
    assert program.get(f"runs/{run.pk}/results/") == json.loads(json.dumps(exports.run_document(run)))
    told = program.get(f"runs/{run.pk}/")
    assert [one["label"] for one in told["algorithms"]] == ["TopPop", "PureSVD4"]
    assert told["parts"]["done"] == told["parts"]["total"] > 0
    for name, rows in (("metrics", exports.metric_rows), ("users", exports.user_rows), ("curves", exports.curve_rows)):
        text = program.get(f"runs/{run.pk}/{name}/", format="csv")
        assert text == "".join(exports.csv_lines(rows(run)))
        told = program.get(f"runs/{run.pk}/{name}/")
        lines = list(csv.DictReader(io.StringIO(text)))
        assert told["run"] == run.pk
        assert len(told["rows"]) == len(lines) > 0
        for row, line in zip(told["rows"], lines, strict=True):
            for key, value in row.items():
                assert (line[key] in ("", "whole")) if value is None else (type(value)(line[key]) == value), key
    points = {(row["algorithm"], row["curve"], row["x"]): row["y"] for row in told["rows"] if not row["profile_length"]}
    recall = {row["algorithm"]: row["value"] for row in program.get(f"runs/{run.pk}/metrics/")["rows"]
              if (row["metric"], row["n"], row["profile_length"]) == ("recall", run.n, None)}  # fmt: skip
    assert recall == {label: points[label, "recall by n", run.n] for label in ("TopPop", "PureSVD4")}


def test_curves_of_other_protocols_and_runs_without_results(program: Program, study: Study) -> None:
    drawn = make_run_at(
        "succeeded", version=study.dataset_version, protocol={"name": "test-observations", "relevant": 4.0}, seed=3
    )
    rows = program.get(f"runs/{drawn.pk}/curves/")["rows"]
    assert {row["curve"] for row in rows} == {curve.name for curve in exports.curves_of(drawn)}
    assert all(row["x"] is not None and row["y"] is not None for row in rows)
    queued = make_run(version=study.dataset_version, seed=7)
    for name in ("results", "metrics", "users", "curves"):
        refused = program.get(f"runs/{queued.pk}/{name}/", 409)
        assert (refused["code"], refused["extra"]) == ("run.no_results", {"status": "queued"})
    assert program.get(f"runs/{queued.pk}/")["parts"]["done"] == 0


def worked(program: Program, study: Study) -> dict[str, Any]:
    """What a program is told of a report that it asked for, once a worker was at it."""
    asked = program.post("reports/", {"study": study.slug, "mode": "live"}, 202)
    address = asked["url"].partition("/api/v1/")[2]
    assert (program.get(address)["status"], asked["made_url"]) == ("queued", None)
    assert Job.objects.get(pk=asked["id"]).result == {}
    do_job(job_id=asked["id"])
    told: dict[str, Any] = program.get(address)
    return told


@pytest.mark.slow
def test_a_report_is_a_workers_business_and_its_files_are_those_of_the_console(
    study: Study, program: Program, django_capture_on_commit_callbacks: Any
) -> None:
    asked = program.post("reports/", {"study": study.slug, "mode": "live"}, 202)
    assert program.post("reports/", {"study": study.slug, "mode": "live"}, 202) == asked
    assert not Report.objects.exists()
    told = worked(program, study)
    assert (told["id"], told["status"], told["error"]) == (asked["id"], "succeeded", "")
    assert worked(program, study)["made_url"] == told["made_url"]
    report = Report.objects.get()
    made = program.get(told["made_url"].partition("/api/v1/")[2])
    del made["files"]
    assert (report.made_by, made["inputs_hash"]) == (study.memberships.get().researcher, report.inputs_hash)
    assert program.get("reports/", study=study.slug)["results"] == [made]
    assert program.get("reports/", study="other")["results"] == []
    files = {one["name"]: one for one in program.get(f"reports/{report.pk}/")["files"]}
    assert {"report.html", "report.json"} < set(files)
    Job.objects.filter(kind="package").delete()  # requested with the report
    for n_requested, name in ((1, "report.html"), (0, next(name for name in files if name.endswith(".svg")))):
        with django_capture_on_commit_callbacks() as waiting:
            waits = program.get(files[name]["url"].partition("/api/v1/")[2], 202)
        assert (waits["kind"], waits["status"], program.response["Retry-After"]) == ("package", "queued", "2")
        assert len(waiting) == n_requested
    do_job(job_id=Job.objects.get(kind="package").pk)
    for name in ("report.html", "report.json"):
        program.get(files[name]["url"].partition("/api/v1/")[2])
        assert study.title in program.text
        assert program.response["Content-Type"] == files[name]["content_type"]
    assert program.text == report_json(report)
    assert program.get(f"reports/{report.pk}/numbers/") == json.loads(program.text)
    table = next(name for name in files if name.startswith("tables/") and name.endswith(".csv"))
    assert "," in program.get(f"reports/{report.pk}/files/{table}")
    picture = next(name for name in files if name.endswith(".svg"))
    assert program.get(f"reports/{report.pk}/files/{picture}").startswith("<svg")
    assert program.response["Content-Disposition"].startswith(f'attachment; filename="{study.slug}-report-1-figures-')
    for name in ("figures/none.svg", "../settings.py", "report.html/", "\x00"):
        assert program.get(f"reports/{report.pk}/files/{name}", 404)["code"] == "not_found"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"study": ""},
        {"study": "a\x00b"},
        {"study": 1.5},
        {"study": ["x"]},
        {"study": "good-films", "mode": "preview"},
        [],
        "x",
        None,
        3,
    ],
)
def test_a_report_that_cannot_be_asked_for_names_the_field(study: Study, program: Program, body: Any) -> None:
    refused = program.post("reports/", json.dumps(body), 400)
    assert (refused["code"], bool(refused["detail"])) == ("invalid", True)
    assert refused["errors"]
    assert all(set(fault) == {"pointer", "detail"} and fault["detail"] for fault in refused["errors"])
    assert not Report.objects.exists()


def test_a_report_that_the_state_refuses_says_why(study: Study, program: Program) -> None:
    study.conditions.update(model_digest="0" * 64)
    told = worked(program, study)
    assert (told["status"], told["made_url"]) == ("failed", None)
    assert "model 000000000000" in told["error"]


def test_bad_requests_are_answered_in_one_shape(study: Study) -> None:
    researcher = study.memberships.get().researcher
    client = client_with_token(researcher, "report")
    found = {
        "malformed": client.post("/api/v1/reports/", "{", content_type="application/json"),
        "not JSON": client.post("/api/v1/reports/", "<a/>", content_type="application/xml"),
        "a form": client.post("/api/v1/reports/", {"study": study.slug}),
        "not given so": client.get("/api/v1/runs/", headers={"Accept": "image/png"}),
        "no such format": client.get(f"/api/v1/runs/{study.run_id}/users/", {"format": "xlsx"}),
        "a refusal of CSV": client.get(f"/api/v1/studies/{study.slug}/answers/no/", headers={"Accept": "text/csv"}),
        "method": client.delete("/api/v1/runs/"),
        "nowhere": client.get("/api/v1/no/such/place/"),
        "bytes": client.post("/api/v1/reports/", b"\xff\x00", content_type="application/json"),
    }
    told = {what: (response.status_code, response.json()["code"]) for what, response in found.items()}
    assert told == {
        "malformed": (400, "parse_error"),
        "not JSON": (415, "unsupported_media_type"),
        "a form": (415, "unsupported_media_type"),
        "not given so": (406, "not_acceptable"),
        "no such format": (400, "invalid"),
        "a refusal of CSV": (404, "not_found"),
        "method": (405, "method_not_allowed"),
        "nowhere": (404, "not_found"),
        "bytes": (400, "parse_error"),
    }
    assert all(set(response.json()) == MEMBERS for response in found.values())
    assert {response["Content-Type"] for response in found.values()} == {"application/problem+json"}
    remedies = {what: response.json()["remedy"] for what, response in found.items()}
    assert remedies["method"] == "Use GET or POST or HEAD or OPTIONS."
    assert remedies["a form"] == "Send application/json."
    assert remedies["not given so"] == "Accept application/json."


@pytest.mark.parametrize(
    ("address", "meant"),
    [
        ("/api/v1/runs?status=queued", "/api/v1/runs/?status=queued"),
        ("/api/v1", "/api/v1/"),
        ("/api/v1/docs", "/api/v1/docs/"),
        ("/api/v1/studies/any/answers/long", "/api/v1/studies/any/answers/long/"),
        ("/api", ""),
        ("/api/", ""),
        ("/api/v2/runs/", ""),
        ("/api/v1/no/such/place", ""),
        ("/api/v1/runs//", ""),
    ],
)
def test_an_address_that_is_not_there_is_a_problem_that_names_the_one_with_the_slash(
    study: Study, address: str, meant: str
) -> None:
    researcher = study.memberships.get().researcher
    client = client_with_token(researcher, "report")
    for response in (client.get(address), client.post(address, {}, content_type="application/json")):
        told = response.json()
        assert (response.status_code, response["Content-Type"]) == (404, "application/problem+json")
        assert (told["code"], told["remedy"]) == ("not_found", f"Use {meant}." if meant else "")
    assert Client().get(address).status_code == 401


def test_a_damaged_file_is_said_and_is_no_crash(study: Study, program: Program) -> None:
    run = EvaluationRun.objects.get(pk=study.run_id)
    for algorithm in run.algorithms.all():
        algorithm.results.update(users_digest="0" * 64)
    refused = program.get(f"runs/{run.pk}/results/", 503)
    assert refused["code"].startswith("artefact")


def test_an_analyst_takes_answers_and_a_member_who_left_takes_nothing(study: Study) -> None:
    analyst = UserFactory()
    membership = add_member(study=study, email=analyst.email, role=Role.ANALYST)
    program = Program(analyst)
    assert len(program.get(f"studies/{study.slug}/answers/wide/")["rows"]) == 4
    membership.delete()
    assert program.get(f"studies/{study.slug}/answers/wide/", 404)["code"] == "not_found"
    assert program.get("studies/")["results"] == []


def test_every_code_has_a_heading_on_the_page_that_its_type_names(client: Client) -> None:
    codes = {words.code for words in (*WORDS.values(), *UNREAD.values())} | set(REMEDIES)
    codes |= {"not_found", "method_not_allowed", "not_acceptable", "unsupported_media_type", "throttled"}
    for code in sorted(codes):
        address, _, anchor = problem_details(400, code, "")["type"].partition("#")
        assert f'id="{anchor}">{code}</h3>' in client.get(address).text, code


@pytest.mark.parametrize("address", [
    *(f"studies/good-films/answers/{table}/" for table in ("long", "wide", "ratings", "events", "pages", "allocation")),
    *(f"runs/RUN/{table}/" for table in ("metrics", "users", "curves", "profiles")),
])  # fmt: skip
def test_a_table_holds_the_same_rows_in_every_format(study: Study, program: Program, address: str) -> None:
    address = address.replace("RUN", str(study.run_id))
    whole = program.get(address)
    rows = whole.pop("rows")
    assert rows
    program.get(address, format="ndjson")
    assert program.response["Content-Type"] == "application/x-ndjson; charset=utf-8"
    assert program.response["Content-Disposition"].endswith('.ndjson"')
    assert [json.loads(line) for line in program.text.splitlines()] == rows
    response = program.client.get(f"/api/v1/{address}", headers={"Accept": "application/vnd.apache.parquet"})
    table = parquet.read_table(io.BytesIO(b"".join(response.streaming_content)))
    assert response["Content-Disposition"].endswith('.parquet"')
    assert json.loads(table.schema.metadata[b"parallax"]) == whole
    assert table.column_names == list(rows[0])
    types = {field.name: str(field.type) for field in table.schema}
    for stored, row in zip(table.to_pylist(), rows, strict=True):
        for name, value in row.items():
            if types[name] == "string" and not isinstance(value, str | None):
                value = json.dumps(value)
            assert as_json(stored[name]) == (None if value == "" else value), name
    assert set(types.values()) > {"string"}


def as_json(value: Any) -> Any:
    return iso_time(value) if isinstance(value, datetime) else value


def test_a_table_without_rows_has_its_columns(study: Study, program: Program) -> None:
    study.participants.all().delete()
    response = program.client.get(f"/api/v1/studies/{study.slug}/answers/wide/", {"format": "parquet"})
    table = parquet.read_table(io.BytesIO(b"".join(response.streaming_content)))
    codebook = program.get(f"studies/{study.slug}/answers/wide/codebook/")
    assert (table.num_rows, table.column_names) == (0, [variable["name"] for variable in codebook["variables"]])
