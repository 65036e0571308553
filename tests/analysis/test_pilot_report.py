"""A report piloted on a draft: before the freeze, on simulated participants, and marked as such in every form."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from analysis.files.listing import PACKAGE, files_of, write_report
from analysis.models import Report
from analysis.read.reports import reports_of, studies_to_report
from analysis.services import build_report, download
from analysis.services.report_cache import cached_document
from core.errors import ParallaxError
from studies.design.services.design import change_design
from studies.design.services.launch import launch_study
from studies.enums import Mode
from studies.models import Study
from tests.analysis.conftest import ALGORITHMS, FEW_RESAMPLES, PLANTED
from tests.factories.analysis import plant
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.usefixtures("pictures_once")]

BADGE = "Pilot of simulated participants"


@pytest.fixture(scope="module")
def walked(module_database: None) -> Study:
    """A draft that simulated participants have walked."""
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    study = make_study(slug="piloted-films", status="draft", run=run, settings=FEW_RESAMPLES)
    plant(study, PLANTED, mode=Mode.SIMULATED)
    return study


@pytest.fixture(scope="module")
def piloted(walked: Study) -> Report:
    report = build_report(study=Study.objects.get(pk=walked.pk))
    cached_document(report)
    return report


@pytest.fixture
def draft(walked: Study) -> Study:
    return Study.objects.get(pk=walked.pk)


@pytest.fixture
def pilot(piloted: Report) -> Report:
    return Report.objects.get(pk=piloted.pk)


def listed(study: Study) -> Any:
    return reports_of(study.memberships.get().researcher).order_by("number")


def test_draft_is_reported_on_simulated_participants_before_the_freeze(draft: Study, pilot: Report) -> None:
    draft.refresh_from_db()
    assert (draft.status, draft.design_hash, draft.versions.count()) == ("draft", "", 0)
    assert (pilot.is_pilot, pilot.mode, pilot.results["is_pilot"]) == (True, Mode.SIMULATED, True)
    assert pilot.results["flow"]["analysed"] == 15
    assert len(pilot.provenance["pilot_design"]) == 64
    assert build_report(study=draft) == pilot
    assert draft in studies_to_report(draft.memberships.get().researcher)


def test_draft_without_simulated_participants_is_refused_with_the_command() -> None:
    study = make_study(status="draft", run=make_run_at("succeeded", algorithms=ALGORITHMS))
    with pytest.raises(ParallaxError, match=r"\.venv/bin/python manage\.py simulate_participants") as refused:
        build_report(study=study)
    assert refused.value.code == "report.not_launched"
    assert study not in studies_to_report(study.memberships.get().researcher)


def test_draft_has_no_report_on_people(draft: Study) -> None:
    with pytest.raises(ParallaxError, match="Launch it first") as refused:
        build_report(study=draft, mode=Mode.LIVE)
    assert refused.value.code == "report.not_launched"


@pytest.mark.slow
def test_every_file_of_a_pilot_says_so(pilot: Report, tmp_path: Path) -> None:
    written = write_report(report=pilot, folder=tmp_path, progress=lambda words: None)
    assert PACKAGE not in files_of(pilot)
    assert not (tmp_path / PACKAGE).exists()
    for file in written:
        name, content = file.relative_to(tmp_path).as_posix(), file.read_bytes()
        if name == "report.schema.json":
            continue
        if file.suffix == ".csv":
            rows = list(csv.DictReader(io.StringIO(content.decode())))
            assert all(row["report"].startswith(BADGE) for row in rows), (name, rows[0])
        elif file.suffix == ".pdf":
            text = subprocess.run(["pdftotext", str(file), "-"], capture_output=True, check=True).stdout
            pages = text.decode().rstrip("\f").split("\f")
            words = [" ".join(page.split()).lower() for page in pages]
            assert all("simulated participants" in page for page in words), name
        elif file.suffix == ".png":
            # Pixels: the drawing they are made from is held against the words below.
            assert BADGE in (tmp_path / name).with_suffix(".svg").read_text().replace("\n", " ")
        else:
            assert "pilot" in content.decode().lower(), name
            assert "imulated" in content.decode(), name
    told = json.loads((tmp_path / "report.json").read_text())
    assert told["is_pilot"] is True
    assert told["notice"].startswith("PILOT")
    assert told["results"]["is_pilot"] is True


@pytest.mark.slow
def test_files_of_a_pilot_are_saved_under_its_name(pilot: Report) -> None:
    assert download(report=pilot, name="report.json").filename.endswith("-pilot-report-1.json")
    assert "pilot-report-1-tables" in download(report=pilot, name="tables/table-1.csv").filename


@pytest.mark.slow
def test_page_and_list_of_a_pilot_are_marked(draft: Study, pilot: Report, client: Client) -> None:
    client.force_login(draft.memberships.get().researcher)
    page = client.get(pilot.get_absolute_url()).content.decode()
    assert f'<div class="watermark" aria-hidden="true"><span>{BADGE}</span></div>' in page
    assert "Pilot: " in page
    assert "PILOT" in page
    assert "study-package.zip" not in page
    assert client.get(f"{pilot.get_absolute_url()}{PACKAGE}").status_code == 404
    assert "simulated participants" in client.get("/reports/").content.decode()
    assert draft.slug in client.get("/reports/new/").content.decode()


def test_pilot_is_out_of_date_once_the_draft_is_changed(draft: Study, pilot: Report) -> None:
    assert [one.is_out_of_date for one in listed(draft)] == [False]
    change_design(study=draft, per_condition=31)
    assert [one.is_out_of_date for one in listed(draft)] == [True]
    with pytest.raises(ParallaxError, match="run simulated participants"):
        build_report(study=draft)


@pytest.mark.slow
def test_pilot_is_out_of_date_once_the_study_is_launched_and_never_taken_for_its_report(
    draft: Study, pilot: Report, client: Client
) -> None:
    launch_study(study=draft)
    assert [one.is_out_of_date for one in listed(draft)] == [True]
    report = build_report(study=draft)
    assert (report.pk != pilot.pk, report.is_pilot, "is_pilot" in report.results) == (True, False, False)
    assert [(one.is_pilot, one.is_out_of_date) for one in listed(draft)] == [(True, True), (False, False)]
    client.force_login(draft.memberships.get().researcher)
    assert "since this pilot" in client.get(pilot.get_absolute_url()).content.decode()
    assert "watermark" not in client.get(report.get_absolute_url()).content.decode()
    document = cached_document(report)
    assert not any("Pilot" in figure.spec["usermeta"]["title"] for figure in document.figures())


@pytest.mark.slow
def test_command_pilots_a_draft(draft: Study, tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("report", draft.slug, "--out", str(tmp_path), stdout=out)
    assert "PILOT" in out.getvalue()
    assert (tmp_path / "report.html").exists()
    with pytest.raises(CommandError, match="still a draft"):
        call_command("report", draft.slug, "--mode", "live", stdout=out)


@pytest.mark.slow
def test_api_says_which_report_is_a_pilot(draft: Study, pilot: Report, client: Client) -> None:
    client.force_login(draft.memberships.get().researcher)
    told = client.get(f"/api/v1/reports/{pilot.pk}/").json()
    assert told["is_pilot"] is True
    assert PACKAGE not in {file["name"] for file in told["files"]}
