"""The console's pages about reports, designs and programs: no barrier that axe-core finds, nothing sideways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, Page

from accounts.models import User
from accounts.services import create_token
from analysis.enums import RequestStatus
from analysis.models import Report, ReportRequest
from analysis.services import build_report
from studies.design.services.amending import extend_targets
from studies.models import Study
from studies.monitoring.services.exclusions import exclude
from tests.e2e.test_accessibility import SIDEWAYS, violations, with_axe
from tests.factories.analysis import planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

LOOKS = ((390, "light"), (1280, "light"), (1280, "dark"))
# Swagger UI is drawn by its own program, and its markup is not ours to write; what stands around it is.
NOT_OURS = "#api"


@pytest.fixture
def study(transactional_db: None) -> Study:
    """Of people who answered differently; two are left out, and its targets have grown."""
    study = make_study(run=make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4"))
    ratings = {"TopPop": (5, 4, 5, 3, 4), "CorNgr": (2, 3, 1, 2, 4), "PureSVD4": (3, 3, 2, 4, 1)}
    for place in range(6):
        for label, given in ratings.items():
            turned = [1 + (rating - 1 + (place * (rank + 1)) // 4) % 5 for rank, rating in enumerate(given)]
            planted_person(study, label, turned, 1 + place % 5, n_watched=1 + place % 3)
    for participant in study.participants.order_by("pk")[:2]:
        exclude(participant=participant, reason="Answered at random")
    extend_targets(study=study, targets={"TopPop": 40}, why="More time", actor=study.memberships.get().researcher)
    return study


def drawn(page: Page) -> None:
    """Wait until every chart of a report is drawn."""
    page.wait_for_function(
        "document.querySelectorAll('figure[data-chart]').length === "
        "document.querySelectorAll('figure[data-chart] .chart-drawing svg').length",
        timeout=60_000,
    )


def unfolded(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def swagger(page: Page) -> None:
    page.wait_for_selector(f"{NOT_OURS} .opblock-summary", timeout=60_000)


def pages_of(study: Study, report: Report) -> dict[str, tuple[str, Callable[[Page], None] | None]]:
    """Each page by its name: its address, and what is done on it first."""
    owner = study.memberships.get().researcher
    asked = {"study": study, "asked_by": owner}
    draft = make_study(slug="draft", run=study.run, status="draft", owner=owner)
    requests = {
        "report waiting": ReportRequest.objects.create(**asked),
        "report running": ReportRequest.objects.create(
            **asked, status=RequestStatus.RUNNING, activity="Testing perceived accuracy"
        ),
        "report failed": ReportRequest.objects.create(
            **asked, status=RequestStatus.FAILED, error="Run 3 is failed; a report needs a run that has succeeded."
        ),
        "report cancelled": ReportRequest.objects.create(**asked, status=RequestStatus.CANCELLED),
        "package ready": ReportRequest.objects.create(
            **asked, kind="package", report=report, status=RequestStatus.SUCCEEDED
        ),
    }
    return {
        "reports": (reverse("analysis:list"), None),
        "new report": (reverse("analysis:new"), None),
        "new report, unfolded": (reverse("analysis:new"), unfolded),
        "report": (report.get_absolute_url(), drawn),
        **{name: (request.get_absolute_url(), None) for name, request in requests.items()},
        "versions": (reverse("studies:versions", args=[study.slug]), None),
        "design, unfolded": (reverse("studies:design", args=[draft.slug]), unfolded),
        "conditions": (reverse("studies:conditions", args=[draft.slug]), None),
        "tokens": (reverse("accounts:tokens"), None),
        "REST API": (reverse("api:docs"), swagger),
    }


def signed_in(context: Any, url: str, researcher: User) -> None:
    client = Client()
    client.force_login(researcher)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}])


def test_no_page_about_reports_has_a_violation(live_server: Any, browser: Browser, study: Study) -> None:
    owner = study.memberships.get().researcher
    create_token(owner=owner, name="a notebook", scope="read")
    pages = pages_of(study, build_report(study=study, made_by=owner))
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    signed_in(context, live_server.url, owner)
    found: list[str] = []
    looked_at = 0
    for name, (path, do) in pages.items():
        page = context.new_page()
        page.goto(live_server.url + path)
        if do:
            do(page)
        assert page.locator(f"h1:not({NOT_OURS} *)").count() == 1, name
        with_axe(page)
        for width, scheme in LOOKS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            if page.evaluate(SIDEWAYS):
                found.append(f"{name} at {width}: the page scrolls sideways")
            found += [
                f"{name} at {width}, {scheme}: {problem}"
                for problem in violations(page, without=NOT_OURS if do is swagger else "")
            ]
            looked_at += 1
        page.close()
    context.close()
    assert not found, "\n".join(found)
    assert looked_at == len(LOOKS) * len(pages) >= 36
