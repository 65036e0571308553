"""Pages of the console in states that need an action or other data: no barrier that axe-core finds, nothing sideways.

Every page as it opens: test_every_console_page.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from analysis.files.document import KEYS
from analysis.models import Report
from analysis.services import build_report
from analysis.services.samples import publish_sample, withdraw_sample
from jobs.models import Job, JobStatus
from studies.design.services.amending import extend_targets
from studies.enums import Mode
from studies.models import Study
from studies.monitoring.services.exclusions import exclude
from tests.e2e.test_accessibility import SIDEWAYS, violations_of_look, with_axe
from tests.factories.accounts import UserFactory
from tests.factories.analysis import plant, planted_person, report_page
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

# Wide pages in the dark: test_every_console_page.py. Colours do not depend on the width.
LOOKS = ((390, "light"), (390, "dark"), (1280, "light"))
STUDY_TABS = ("detail", "dataset", "questionnaire", "recruiting", "quality", "settings")
STAGES = ("conditions", "flow", "texts", "sample", "plan", "launch")


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


def finished_replication(study: Study) -> Job:
    """A replication with verdicts, whose archive is no longer kept."""
    chosen = {"per_condition": 30, "seed": 1, "factors": [50, 300], "reserve": 0.15}
    verdict = ["as in the paper", "TopPop has a high perceived accuracy.", "3.20 [2.90, 3.50]"]
    job: Job = study.jobs.create(
        kind="replication", status=JobStatus.SUCCEEDED, result={"verdicts": [verdict]},
        payload={"paper": "cremonesi-2011", "run": study.run_id, "chosen": chosen},
    )  # fmt: skip
    return job


def drawn(page: Page) -> None:
    """Wait until every chart of a report is drawn."""
    waiting = page.locator("figure[data-chart]:not(:has(.chart-drawing svg))")
    expect(waiting).to_have_count(0, timeout=60_000)


def unfolded(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def pages_of(study: Study, report: Report) -> dict[str, tuple[str, Callable[[Page], None] | None]]:
    """Each page by its name: its address, and what is done on it first."""
    owner = study.memberships.get().researcher
    draft = make_study(slug="draft", run=study.run, status="draft", owner=owner)
    requests = {
        "report waiting": study.jobs.create(kind="report", owner=owner),
        "report failed": study.jobs.create(
            kind="report",
            owner=owner,
            status=JobStatus.FAILED,
            error="Run 3 is failed; a report needs a run that has succeeded.",
        ),
        "report cancelled": study.jobs.create(kind="report", owner=owner, status=JobStatus.CANCELLED),
        "package ready": study.jobs.create(
            kind="package", owner=owner, status=JobStatus.SUCCEEDED, payload={"report": report.pk}
        ),
    }
    return {
        "new report, unfolded": (reverse("analysis:new"), unfolded),
        **{f"chapter {key}": (report_page(report, "chapter", key), drawn) for key in KEYS},
        "chosen pair of measures": (
            f"{report_page(report, 'chapter', 'comparison')}?measure=fon&highlight=TopPop",
            drawn,
        ),
        **{name: (reverse("analysis:request", args=[request.pk]), None) for name, request in requests.items()},
        **{
            f"{name} of {each.slug}": (reverse(f"studies:{name}", args=[each.slug]), unfolded)
            for each in (study, draft)
            for name in STUDY_TABS
        },
        "reports of the study": (f"{reverse('analysis:list')}?study={study.slug}", None),
        **{f"stage {name}": (reverse(f"studies:{name}", args=[draft.slug]), unfolded) for name in STAGES},
        "versions, unfolded": (reverse("studies:versions", args=[study.slug]), unfolded),
    }


def signed_in(context: Any, url: str, researcher: User) -> None:
    client = Client()
    client.force_login(researcher)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}])


def test_no_page_about_reports_has_a_violation(live_server: Any, browser: Browser, study: Study) -> None:
    owner = study.memberships.get().researcher
    pages = pages_of(study, build_report(study=study, made_by=owner))
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    signed_in(context, live_server.url, owner)
    assert look_at(context, live_server.url, pages) == len(LOOKS) * len(pages)


def test_no_page_about_runs_has_a_violation(live_server: Any, browser: Browser, study: Study) -> None:
    run = study.run
    other = make_run_at("succeeded", version=run.version, seed=2, algorithms="toppop,corngr")
    compare = reverse("evaluation:compare")
    pages: dict[str, tuple[str, Callable[[Page], None] | None]] = {
        "no such runs": (f"{reverse('evaluation:list')}?status=cancelled", None),
        "run, unfolded": (f"{reverse('evaluation:detail', args=[run.pk])}?sort=recall&baseline=TopPop", unfolded),
        "tests": (reverse("evaluation:tests", args=[run.pk]), unfolded),
        "second run asked for": (f"{compare}?a={run.pk}", None),
        "two runs": (f"{compare}?a={run.pk}&b={other.pk}", None),
        "replicate a paper": (reverse("replication:start"), None),
        "replication": (reverse("replication:job", args=[finished_replication(study).pk]), None),
    }
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    signed_in(context, live_server.url, study.memberships.get().researcher)
    assert look_at(context, live_server.url, pages) == len(LOOKS) * len(pages)


@pytest.fixture
def sample(transactional_db: None) -> Report:
    """A sample report, of simulated participants."""
    study = make_study(slug="simulated", run=make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4"))
    plant(study, {"TopPop": [4, 5, 4, 5], "CorNgr": [2, 1, 2, 1], "PureSVD4": [2, 1, 3, 2]}, mode=Mode.SIMULATED)
    report = build_report(study=study, mode=Mode.SIMULATED, made_by=study.memberships.get().researcher)
    publish_sample(report=report)
    return report


def test_no_page_of_the_shell_has_a_violation(live_server: Any, browser: Browser, sample: Report) -> None:
    everywhere = {
        "unknown address": ("/nowhere/", None),
        "documentation": (reverse("help"), None),
        "documentation page": (reverse("help", args=["reference/metrics.md"]), None),
        "sample report": (sample.get_absolute_url(), drawn),
    }
    for_visitors = {"front page": (reverse("home"), None), "sign in": (reverse("accounts:sign_in"), None), **everywhere}
    visitor = browser.new_context(viewport={"width": 1280, "height": 900})
    look_at(visitor, live_server.url, for_visitors)
    withdraw_sample(report=sample)
    look_at(visitor, live_server.url, {"front page without a sample": (reverse("home"), None)})
    publish_sample(report=sample)
    for researcher in (UserFactory(), sample.made_by):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        signed_in(context, live_server.url, researcher)
        searched = {f"search for {q}": (f"{reverse('search')}?q={q}", None) for q in ("simulated", "nothing at all")}
        look_at(context, live_server.url, {"home": (reverse("home"), None), **searched, **everywhere})


def look_at(context: Any, url: str, pages: dict[str, tuple[str, Callable[[Page], None] | None]]) -> int:
    """Look at each page in every width and scheme, fail on what is found, and return the number of looks."""
    found: list[str] = []
    looked_at = 0
    for name, (path, do) in pages.items():
        page = context.new_page()
        page.goto(url + path, timeout=60_000)  # the first page with charts waits until their runtime is bundled
        if do:
            do(page)
        assert page.locator("h1").count() == 1, name
        with_axe(page)
        for width, scheme in LOOKS:
            found += [f"{name} {problem}" for problem in violations_of_look(page, width, scheme, LOOKS)]
            if page.evaluate(SIDEWAYS):
                found.append(f"{name} at {width}: the page scrolls sideways")
            looked_at += 1
        page.close()
    assert not found, "\n".join(found)
    return looked_at
