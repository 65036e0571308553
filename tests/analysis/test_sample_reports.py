"""Sample reports: open to visitors, read-only, of simulated participants alone."""

from __future__ import annotations

import io
import re

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from analysis.files.document import KEYS
from analysis.models import Report
from analysis.services import build_report
from analysis.services.samples import publish_sample, rankings_html, withdraw_sample
from analysis.urls import urlpatterns
from core.errors import ParallaxError
from core.models import LogEntry
from studies.enums import Mode
from tests.analysis.conftest import ALGORITHMS, FEW_RESAMPLES, PLANTED
from tests.factories.accounts import UserFactory
from tests.factories.analysis import plant, report_page
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def drawn(module_database: None) -> Report:
    """A sample report with its pages, which take seconds to draw."""
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    study = make_study(slug="simulated-films", run=run, settings=FEW_RESAMPLES)
    plant(study, PLANTED, mode=Mode.SIMULATED)
    report = build_report(study=study, mode=Mode.SIMULATED, made_by=study.memberships.get().researcher)
    publish_sample(report=report)
    return report


@pytest.fixture
def sample(drawn: Report) -> Report:
    return Report.objects.get(pk=drawn.pk)


def pages_of(report: Report) -> list[str]:
    chapters = [report_page(report, "chapter", key) for key in KEYS]
    return [report.get_absolute_url(), *chapters]


def others_of(report: Report) -> list[str]:
    """Every other address of the report."""
    of_report = [page.name for page in urlpatterns if {"study", "number"} == set(page.pattern.converters)]
    named = [report_page(report, name) for name in of_report if name != "detail"]
    files = [f"{report.get_absolute_url()}{name}" for name in ("report.pdf", "report.json", "study-package.zip")]
    assert len(named) == 5
    return named + files


def test_anyone_reads_the_pages_of_a_sample_and_nothing_else(client: Client, sample: Report) -> None:
    for url in pages_of(sample):
        page = client.get(url)
        assert page.status_code == 200, url
        html = page.content.decode()
        assert "imulated participants" in html
        assert str(sample.made_by) not in html
        links = set(re.findall(r'(?:href|action|hx-get)="(/[^"#]*)', html))
        allowed = {"/", "/help/", "/account/sign-in/", *pages_of(sample)}
        assert {link for link in links if not link.startswith("/static/")} <= allowed, url
        assert all('method="get"' in form for form in re.findall(r"<form[^>]*>", html)), url
    for url in others_of(sample):
        for answer in (client.get(url), client.post(url)):
            assert answer.status_code == 302, url
            assert answer["Location"].startswith("/account/sign-in/"), url


def test_a_signed_in_stranger_reads_the_sample_as_visitors_do(client: Client, sample: Report) -> None:
    client.force_login(UserFactory())
    for url in pages_of(sample):
        html = client.get(url).content.decode()
        assert "Study package" not in html
        assert report_page(sample, "comments") not in html
    for url in others_of(sample):
        assert client.get(url).status_code in (404, 405), url
    assert sample.study.title not in client.get(reverse("analysis:list")).content.decode()


def test_members_read_it_as_before_and_see_that_it_is_public(client: Client, sample: Report) -> None:
    client.force_login(sample.study.memberships.get().researcher)
    html = client.get(sample.get_absolute_url()).content.decode()
    assert "Study package" in html
    assert "sample report" in html
    assert "public sample" in client.get(reverse("analysis:list")).content.decode()


def test_the_slope_chart_has_a_drawing_for_each_screen_in_the_colours_of_the_page(sample: Report) -> None:
    drawing = rankings_html(sample)
    assert drawing.count("<svg") == 2
    assert "var(--perceived)" in drawing
    assert "#ffffff" not in drawing
    assert "Data of this figure" in drawing
    assert "imulated participants" in drawing


def test_a_report_is_closed_by_default_and_after_it_is_withdrawn(client: Client, sample: Report) -> None:
    assert not Report().is_sample
    withdraw_sample(report=sample)
    assert LogEntry.objects.filter(kind="analysis.report", object_id=sample.pk).count() == 2
    for url in pages_of(sample):
        assert client.get(url)["Location"] == f"/account/sign-in/?next={url}"
    client.force_login(UserFactory())
    for url in pages_of(sample):
        assert client.get(url).status_code == 404


def test_a_report_of_participants_is_never_a_sample(client: Client, stored_report: Report) -> None:
    with pytest.raises(ParallaxError, match="simulated participants"):
        publish_sample(report=stored_report)
    with pytest.raises(IntegrityError), transaction.atomic():
        Report.objects.filter(pk=stored_report.pk).update(is_sample=True)
    assert client.get(stored_report.get_absolute_url()).status_code == 302
    absent = client.get(reverse("analysis:detail", args=[stored_report.study.slug, stored_report.number + 1000]))
    assert absent.status_code == 302  # a visitor cannot tell which reports exist


def test_the_command_publishes_and_withdraws(sample: Report) -> None:
    slug = sample.study.slug
    call_command("sample_report", slug, withdraw=True, stdout=io.StringIO())
    assert not Report.objects.get(pk=sample.pk).is_sample
    with pytest.raises(CommandError, match="no such"):
        call_command("sample_report", slug, withdraw=True)
    said = io.StringIO()
    call_command("sample_report", slug, stdout=said)
    assert sample.get_absolute_url() in said.getvalue()
    assert Report.objects.get(pk=sample.pk).is_sample
    with pytest.raises(CommandError, match="no report 99"):
        call_command("sample_report", slug, number=99)


def test_the_command_refuses_reports_of_participants(stored_report: Report) -> None:
    slug = stored_report.study.slug
    with pytest.raises(CommandError, match="can be samples"):
        call_command("sample_report", slug)
    with pytest.raises(CommandError, match="about participants"):
        call_command("sample_report", slug, number=1)


def test_a_former_address_leads_to_the_report(sample: Report, client: Client) -> None:
    for rest in ("", "chapters/method/", "chapters/comparison/?measure=fon"):
        answer = client.get(f"/reports/{sample.pk}/{rest}")
        assert answer.status_code == 301
        assert answer.headers["Location"] == f"/reports/studies/{sample.study.slug}/{sample.number}/{rest}"
    Report.objects.filter(pk=sample.pk).update(is_sample=False)
    assert client.get(f"/reports/{sample.pk}/").headers["Location"].startswith("/account/sign-in/")
