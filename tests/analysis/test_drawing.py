"""What is drawn from a report is kept: the same bytes as drawn anew, at once, and again by other code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from analysis.files import document as arranging
from analysis.files.document import Content, document_from, document_of
from analysis.files.listing import PACKAGE, Outputs, files_of
from analysis.models import Drawing, Report
from analysis.results.codec import encode
from analysis.services import build_report, download, report_cache
from analysis.services.packages import request_files
from analysis.services.report_cache import cached_document, page_of
from charting import render
from charting.frame import PICTURE
from jobs.services import do_job
from studies.models import Study, StudyMembership
from tests.analysis.conftest import ALGORITHMS, FEW_RESAMPLES, PLANTED
from tests.factories.analysis import plant, planted_person, report_page
from tests.factories.evaluation import make_run_at
from tests.factories.pages import flat
from tests.factories.studies import make_study

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.django_db,
    pytest.mark.usefixtures("pictures_once"),
]


@pytest.fixture(scope="module")
def built(module_database: None) -> Report:
    """A report that has something to show in every chapter, with nothing drawn."""
    study = make_study(run=make_run_at("succeeded", algorithms=ALGORITHMS), settings=FEW_RESAMPLES)
    plant(study, PLANTED)
    for place, label in enumerate(("TopPop", "CorNgr", "PureSVD4") * 3):
        planted_person(study, label, [1 + place % 5, 3, 4, 2, 5], 1 + place % 5, n_watched=place % 4)
    return build_report(study=study)


@pytest.fixture(scope="module")
def document(built: Report) -> arranging.Document:
    """The report, arranged once for all tests."""
    return document_of(Report.objects.get(pk=built.pk))


@pytest.fixture
def report(built: Report) -> Report:
    return Report.objects.get(pk=built.pk)


@pytest.fixture
def planted(report: Report) -> Study:
    return report.study


@pytest.fixture
def owner(planted: Study, client: Client) -> Client:
    client.force_login(StudyMembership.objects.get(study=planted).researcher)
    return client


@pytest.fixture(autouse=True)
def arranged(monkeypatch: pytest.MonkeyPatch, built: Report, document: arranging.Document) -> list[int]:
    """The reports that were arranged, in order."""
    found: list[int] = []

    def noted(report: Report) -> arranging.Document:
        found.append(report.pk)
        return document if report.pk == built.pk else document_of(report)

    monkeypatch.setattr(report_cache, "document_of", noted)
    return found


def test_a_document_comes_back_from_json_as_it_was(report: Report, document: arranging.Document) -> None:
    assert document_from(json.loads(json.dumps(encode(Content, document))), report) == document
    assert document.summary.blocks
    assert len(document.figures()) > 10


def test_every_file_of_a_kept_document_is_the_one_that_is_drawn_anew(
    report: Report, document: arranging.Document
) -> None:
    whole = ("report.html", "report.pdf")
    anew = {file.name: file.make() for file in Outputs(report, lambda: document).files()}
    cached_document(report)
    files = Outputs(report, lambda: cached_document(report)).files()
    assert [file.name for file in files] == list(anew)
    kept = {file.name: file.make() for file in files if file.name not in whole}
    assert [name for name in kept if kept[name] != anew[name]] == []
    for name in whole:  # drawn from the kept document, then kept themselves
        assert download(report=report, name=name).content == anew[name]
        assert download(report=report, name=name).content == anew[name]


def test_a_report_is_arranged_once_for_its_page_and_its_files(
    owner: Client, report: Report, arranged: list[int]
) -> None:
    first = owner.get(report.get_absolute_url())
    assert download(report=report, name="report.html")  # as a worker draws it
    for name in ("figures/box-accuracy.svg", "tables/flow.csv", "report.html", "report.qmd"):
        assert owner.get(f"{report.get_absolute_url()}{name}").content
    second = owner.get(report.get_absolute_url())
    assert arranged == [report.pk]
    assert second.context["page"].body == first.context["page"].body
    assert flat(second.context["page"].body) in flat(second.text)
    assert [file.name for file in second.context["page"].files] == list(files_of(report))
    assert second.context["page"].files[0].name == PACKAGE


def test_a_page_that_is_kept_costs_few_queries_and_draws_nothing(
    owner: Client, report: Report, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    owner.get(report.get_absolute_url())

    def refused(*given: Any) -> None:
        raise AssertionError("It was drawn again.")

    monkeypatch.setattr(report_cache, "_page", refused)
    with django_assert_num_queries(10):
        assert "Both sides" in owner.get(report.get_absolute_url()).text


def test_other_code_draws_again_and_keeps_nothing_of_the_old(
    owner: Client, report: Report, arranged: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    owner.get(report.get_absolute_url())
    Drawing.objects.filter(name=report_cache.PAGE).update(content=b"of other code")
    n = Drawing.objects.count()
    monkeypatch.setattr(report_cache, "drawing_version", lambda: "an upgrade")
    assert "Both sides" not in owner.get(report.get_absolute_url()).text  # until a worker has drawn it
    page_of(report)
    assert "Both sides" in owner.get(report.get_absolute_url()).text
    assert arranged == [report.pk, report.pk]
    assert Drawing.objects.count() == n
    assert set(Drawing.objects.values_list("version", flat=True)) == {"an upgrade"}


def test_what_was_drawn_goes_with_the_report(owner: Client, report: Report) -> None:
    page_of(report)
    assert Drawing.objects.exists()
    report.delete()
    assert not Drawing.objects.exists()


def test_two_reports_have_a_page_each(owner: Client, report: Report, planted: Study) -> None:
    planted_person(planted, "TopPop", [5] * 5, 5)
    other = build_report(study=planted)
    assert other.pk != report.pk
    pages = [owner.get(one.get_absolute_url()).context["page"].body for one in (report, other)]
    assert pages[0] != pages[1]


def test_files_are_drawn_with_the_report_and_the_page_lists_what_is_left(
    owner: Client, report: Report, django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with django_capture_on_commit_callbacks() as waiting:
        request = request_files(report=report, asked_by=report.study.memberships.get().researcher)
    n_files = len([file for file in page_of(report).files if file.is_drawn])
    assert len(waiting) == 1
    page = owner.get(report.get_absolute_url()).text
    assert f"{n_files + 1} are left." in page
    assert "every 2s" in page
    part = report_page(report, "files")
    drawn: list[str] = []
    draw = render.svg

    def draw_and_look(spec: Any, **given: Any) -> str:
        drawn.append(owner.get(part).text)
        return draw(spec, **given)

    monkeypatch.setattr(render, "svg", draw_and_look)
    do_job(job_id=request.pk)
    figures = cached_document(report).figures()
    of_verdict = [figure for figure in figures if PICTURE in figure.spec]
    # Each chart is drawn once for SVG, PNG, PDF, the page, the paper and the package; those of the verdict twice more,
    # for wide screens and for phones.
    assert len(drawn) == len(figures) + 2 * len(of_verdict)
    assert f"{n_files - 2} are left." in drawn[1]
    assert "every 2s" not in owner.get(part).text
    assert "are left" not in owner.get(part).text
    monkeypatch.setattr(render, "svg", None)  # nothing is drawn for a download
    for name in ("report.html", "report.pdf", "figures/slope.png", PACKAGE):
        assert owner.get(f"{report.get_absolute_url()}{name}").status_code == 200
