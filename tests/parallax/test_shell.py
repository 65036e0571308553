"""Front page, home, search, documentation: what they offer, to whom, and in how many queries."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.template import Context, Template
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from analysis.models import Report
from catalog.models import Dataset
from catalog.services import DEMO_NAME
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun
from jobs.models import JobStatus
from parallax.shell.attention import home_of
from parallax.shell.documentation import (
    GLOSSARY,
    INDEX,
    TOPICS,
    documentation_page,
    documentation_paths,
    glossary,
    topic_of,
)
from parallax.shell.search import PER_KIND, query_from, search
from studies.design.presets.loader import preset_keys
from studies.enums import Mode, NoticeKind, Role, StudyStatus
from studies.models import Study, StudyMembership
from studies.team.services.notices import mark_read, notify_owners
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at
from tests.factories.pages import flat
from tests.factories.studies import enter, make_study
from tests.parallax.test_every_url import CLOSED

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study(db: None) -> Study:
    return make_study(slug="our-films", run=make_run_at("succeeded"))


@pytest.fixture
def owner(study: Study) -> User:
    return study.memberships.get(role=Role.OWNER).researcher


def front(client: Client) -> str:
    return flat(client.get(reverse("home")).content.decode())


def test_visitors_see_the_question_and_a_labelled_example_while_there_is_no_sample(client: Client) -> None:
    assert_page_approved("home/visitor", client.get(reverse("home")).content.decode())
    page = front(client)
    assert ">Invented example<" in page
    assert "sample report" not in page
    assert "Try a study" not in page
    assert reverse("accounts:sign_in") in page
    assert "<form" not in page


def test_only_the_demo_study_is_offered_to_visitors(client: Client, study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(slug="demo")
    assert "Try a study" not in front(client), "a study of someone's own, whatever its address"
    version = make_version(name=DEMO_NAME)
    version.is_synthetic = True
    version.save()
    Study.objects.filter(pk=study.pk).update(dataset_version=version)
    assert f'href="{reverse("participant:consent", args=["demo"])}"' in front(client)
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.PAUSED)
    assert "Try a study" not in front(client)


def test_an_empty_account_gets_four_steps_with_the_next_one_marked() -> None:
    researcher = UserFactory()
    home = home_of(researcher)
    assert [step.is_done for step in home["steps"]] == [False] * 4
    assert home["next_step"] == home["steps"][0]
    run = make_run_at("succeeded")
    home = home_of(researcher)
    assert [step.is_done for step in home["steps"]] == [False] * 4, "the data and runs of others are no steps"
    Dataset.objects.update(owner=researcher)
    assert [step.is_done for step in home_of(researcher)["steps"]] == [True, False, False, False]
    EvaluationRun.objects.update(owner=researcher)
    home = home_of(researcher)
    assert [step.is_done for step in home["steps"]] == [True, True, False, False]
    assert home["next_step"] is not None
    assert home["next_step"].url == reverse("studies:new")
    draft = make_study(slug="draft", run=run, status="draft", owner=researcher)
    step = home_of(researcher)["next_step"]
    assert step is not None
    assert step.url == reverse("studies:launch", args=[draft.slug])
    Study.objects.filter(pk=draft.pk).update(status=StudyStatus.LIVE)
    step = home_of(researcher)["next_step"]
    assert step is not None
    assert step.url == reverse("analysis:new")


def fill(study: Study, owner: User, number: int) -> None:
    """One more of everything that the home page shows."""
    moment = timezone.now()
    make_study(slug=f"draft-{number}", run=study.run, status="draft", owner=owner)
    another = make_study(slug=f"live-{number}", run=study.run, owner=owner)
    notify_owners(study=another, kind=NoticeKind.FLAG, key="flag:1:fast", text="Fast")
    copied = {"version": study.run.version, "split": {}, "protocol": {"name": "x"}, "seed": 1, "owner": owner}
    EvaluationRun.objects.create(status=RunStatus.RUNNING, activity="Fitting LSA", **copied)
    EvaluationRun.objects.create(status=RunStatus.FAILED, error="Out of memory.", finished_at=moment, **copied)
    study.jobs.create(kind="report", owner=owner, status=JobStatus.FAILED, error="Not enough data.")
    study.jobs.create(kind="report", owner=owner, status=JobStatus.RUNNING)
    study.jobs.create(kind="export", owner=owner, status=JobStatus.FAILED, error="Disk full.")
    study.jobs.create(kind="export", owner=owner)
    Report.objects.create(
        study=study, run=study.run, number=number, mode=Mode.SIMULATED, inputs_hash=str(number), results={}
    )


def test_home_shows_what_needs_attention_in_a_fixed_number_of_queries(
    client: Client, study: Study, owner: User, django_assert_num_queries: Any
) -> None:
    client.force_login(owner)
    fill(study, owner, 1)
    with django_assert_num_queries(13):  # two of them for session and account
        page = flat(client.get(reverse("home")).content.decode())
    for words in (
        "1 new quality flag",
        "Out of memory.",
        "Not enough data.",
        "Disk full.",
        "0 of",
        "Fitting LSA",
        "Report 1",
        "draft-1",
        "simulated participants",
    ):
        assert words in page, words
    assert "Four steps" not in page
    for number in (2, 3):
        fill(study, owner, number)
    with django_assert_num_queries(13):
        client.get(reverse("home"))
    mark_read(researcher=owner)
    assert "new quality flag" not in front(client)


def test_home_holds_nothing_of_others_studies(study: Study, owner: User) -> None:
    fill(study, owner, 1)
    home = home_of(UserFactory())
    assert home["attention"] == home["reports"] == home["drafts"] == []
    assert [job.text for job in home["jobs"]] == ["Fitting LSA"], "runs are shared, as in the list of runs"
    interviewer = UserFactory()
    StudyMembership.objects.create(study=study, researcher=interviewer, role=Role.INTERVIEWER)
    home = home_of(interviewer)
    assert home["attention"] == home["reports"] == [], "counts and reports are for owners and analysts"


def titles(researcher: User, query: str) -> dict[str, list[str]]:
    found = search(researcher, query_from(query))
    return {kind: [match.title for match in matches] for kind, matches in found.items()}


def test_search_finds_studies_datasets_runs_and_participants(client: Client, study: Study, owner: User) -> None:
    participant = enter(study, Mode.SIMULATED).participant
    run = study.run
    assert titles(owner, " OUR-films ") == {"Studies": [study.title]}
    assert titles(owner, run.version.dataset.name)["Datasets"] == [run.version.dataset.title]
    for query in (str(run.pk), f"run {run.pk}", f"#{run.pk}"):
        assert titles(owner, query)["Runs"] == [f"Run {run.pk}"]
    assert titles(owner, participant.code[:5].upper())["Participants"] == [participant.code]
    client.force_login(owner)
    page = client.get(reverse("search"), {"q": participant.code}).content.decode()
    assert reverse("studies:participants", args=[study.slug]) in page
    assert client.get(reverse("search"), {"q": "\x00%"}).status_code == 200


def test_search_keeps_to_the_permissions_of_the_pages(study: Study) -> None:
    code = enter(study, Mode.LIVE).participant.code
    stranger, analyst, interviewer = UserFactory(), UserFactory(), UserFactory()
    StudyMembership.objects.create(study=study, researcher=analyst, role=Role.ANALYST)
    StudyMembership.objects.create(study=study, researcher=interviewer, role=Role.INTERVIEWER)
    assert titles(stranger, "our-films") == {}
    for researcher in (stranger, analyst, interviewer):
        assert titles(researcher, code) == {}, "the list of participants is the owners'"
    assert titles(analyst, "our-films") == {"Studies": [study.title]}


def test_search_is_short_and_says_when_nothing_matches(client: Client, study: Study, owner: User) -> None:
    for number in range(PER_KIND + 2):
        make_study(slug=f"our-films-{number}", run=study.run, owner=owner)
    assert len(titles(owner, "our-films")["Studies"]) == PER_KIND
    client.force_login(owner)
    assert "Nothing you" in client.get(reverse("search"), {"q": "no such thing"}).content.decode()
    assert "Nothing" not in client.get(reverse("search")).content.decode()


def test_search_is_for_researchers(client: Client) -> None:
    assert client.get(reverse("search"), {"q": "a"}).status_code == 302


def test_the_documentation_is_served_and_leads_nowhere_outside(client: Client) -> None:
    index = client.get(reverse("help"))
    assert "How-to guides" in index.content.decode()
    assert "<table>" in index.content.decode()
    for path in (
        "../pyproject.toml",
        "how-to/../../README.md",
        "how-to",
        "/etc/passwd",
        "reference/report.schema.json",
    ):
        assert documentation_page(path) is None, path
        assert client.get(f"/help/{path}").status_code == 404
    client.force_login(UserFactory())
    assert 'aria-label="Console"' in client.get(reverse("help", args=["how-to/plan-a-study.md"])).content.decode()


def test_pictures_of_the_documentation_are_served_and_small(client: Client) -> None:
    for path in documentation_paths():
        page = documentation_page(path)
        assert page is not None
        for source in re.findall(r'<img [^>]*?src="([^"]+)"', page.body):
            address = posixpath.normpath(posixpath.join("/help", posixpath.dirname(path), source))
            picture = client.get(address)
            assert picture.status_code == 200, (path, source)
            assert picture["Content-Type"].startswith("image/")
            assert len(b"".join(picture.streaming_content)) < 120_000, source  # type: ignore[attr-defined]
    tutorial = documentation_page("tutorials/first-study.md")
    assert tutorial is not None
    assert 4 <= tutorial.body.count("<img ") <= 8


def test_sample_reports_are_small_say_that_they_are_simulated_and_are_saved(client: Client) -> None:
    page = documentation_page("gallery/README.md")
    assert page is not None
    reports = re.findall(r'href="([a-z-]+)\.html"', page.body)
    assert sorted(reports) == [key for key in preset_keys() if key != "cremonesi-2011"]
    for key in reports:
        answer = client.get(f"/help/gallery/{key}.html")
        assert answer["Content-Disposition"] == f'attachment; filename="{key}.html"'
        report = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
        assert len(report) < 400_000
        assert "no evidence about people" in report


def test_every_link_between_pages_of_the_documentation_leads_to_a_page(client: Client) -> None:
    broken = []
    for path in documentation_paths():
        page = documentation_page(path)
        assert page is not None
        for link in re.findall(r'href="([^":#]+)(?:#[^"]*)?"', page.body):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link)) + "/" * link.endswith("/")
            if target.endswith((".md", "/")) and not target.startswith("../") and documentation_page(target) is None:
                broken.append((path, link))
    assert broken == []


def test_every_page_of_the_documentation_can_be_rendered() -> None:
    assert len(documentation_paths()) > 30
    for path in documentation_paths():
        page = documentation_page(path)
        assert page is not None
        assert page.title


def test_headings_of_the_documentation_can_be_linked_to_and_its_blocks_scroll_by_keyboard() -> None:
    page = documentation_page("reference/formats.md")
    assert page is not None
    assert '<h2 id="columns-and-roles">' in page.body
    assert "<pre>" not in page.body
    assert page.body.count('<pre tabindex="0">') > 1


def test_the_icon_is_found_at_the_usual_address(client: Client) -> None:
    answer = client.get("/favicon.ico")
    assert answer.status_code == 302
    assert finders.find(answer["Location"].removeprefix("/static/")) == str(settings.BASE_DIR / "static/icon.svg")


def ids_of(path: str) -> set[str]:
    page = documentation_page(path)
    assert page is not None, path
    return set(re.findall(r'<h\d id="([^"]+)"', page.body))


def test_help_has_a_topic_for_every_page_of_the_console() -> None:
    for name, _route in CLOSED:
        assert name == "search" or topic_of(name) != INDEX, name
    for topic in TOPICS.values():
        path, _, heading = topic.partition("#")
        assert not heading or heading in ids_of(path), topic


def test_help_opens_at_the_topic_of_the_page(client: Client, study: Study, owner: User) -> None:
    client.force_login(owner)
    page = client.get(reverse("studies:flow", args=[study.slug])).content.decode()
    assert f'href="{reverse("help", args=["how-to/plan-a-study.md"])}#known-items"' in page


def test_every_entry_of_the_glossary_has_a_source_and_a_term_of_its_own() -> None:
    text = (Path(settings.BASE_DIR) / "docs" / GLOSSARY).read_text()
    entries = re.findall(r"^### (.+?)\n\n(.+?)(?=\n\n#|\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(entries) == len(set(glossary().values())) > 50
    for heading, entry in entries:
        assert re.search(r"\(\d{4}\)|\.md", entry), f"{heading} has no source"
        assert len(entry.split(". ")) < 8, heading
    names = [name for heading, _ in entries for name in re.split(r" \(|, |\)", heading.lower()) if name]
    assert sorted(names) == sorted(glossary())
    for term in ("fallout", "fon", "tukey hsd", "design hash", "one plus random", "smallest effect of interest"):
        assert term in glossary()


def test_terms_lead_to_the_glossary_once_where_they_head_something() -> None:
    content = (
        '<h2 id="a">Recall</h2><h2 class="vh">Pilot</h2><th scope="col">Fallout </th><th scope="row">Precision</th>'
        "<dt>recall</dt><dt>Something else</dt><dt>Test cases</dt><p>Seed</p><legend>FON</legend><label>Power</label>"
        '<a class="sort" href="?">Recall</a><summary><h2>Strata</h2></summary>'
    )
    html = Template("{% load help_links %}{% with_terms %}{{ content|safe }}{% endwith_terms %}").render(
        Context({"content": content})
    )
    address = reverse("help", args=[GLOSSARY])
    assert re.findall(r'<a class="term" href="([^"]+)">([^<]+)</a>', html) == [
        (f"{address}#recall", "Recall"),
        (f"{address}#fallout", "Fallout"),
        (f"{address}#case-test-case", "Test cases"),
        (f"{address}#first-order-novelty-fon", "FON"),
        (f"{address}#power-power-of-the-plan", "Power"),
        (f"{address}#stratum-strata", "Strata"),
    ]
    assert "<summary><h2>Strata</h2></summary>" in html
    assert set(re.findall(r'#([^"]+)"', html)) <= ids_of(GLOSSARY)
    assert html.count('<label>Power</label><a class="sort"') == 1, "labels and heads that sort keep their own work"
