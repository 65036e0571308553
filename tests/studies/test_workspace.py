"""The workspace of a study: header with tabs or line of stages on every page, by role and state; the launch page."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from lxml.html import HtmlElement

from accounts.models import User
from catalog.models import DatasetVersion, Feature
from studies.console.stages import STAGES
from studies.design.services.archiving import archive_study
from studies.design.services.design import change_design
from studies.enums import Mode, NoticeKind, Role
from studies.models import Participant, Study
from studies.monitoring.selectors.monitor import progress_of
from studies.recruitment.panels.exits import Exit
from studies.recruitment.services.entry_links import read_entry
from studies.recruitment.services.recruitment import set_exits, set_panel
from studies.team.services.members import add_member
from studies.team.services.notices import mark_read, notify_owners
from tests.factories.accounts import UserFactory
from tests.factories.console import EXTRA, console_url, owner_of, signed_in
from tests.factories.studies import assigned, completed, make_study
from tests.factories.walking import tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]

TABS = ["Live", "Design", "Recruit", "Data", "Report", "Settings"]
# Every page of a study that is there to be read, with the tab or the stage it belongs to.
PAGES = {
    "detail": "Live", "recruiting": "Recruit", "submissions": "Recruit", "interview": "Recruit",
    "quality": "Data", "participants": "Data", "withdraw": "Data",
    "settings": "Settings", "members": "Settings", "duplicate": "Settings", "delete": "Settings",
}  # fmt: skip
STAGE_PAGES = {
    "dataset": "Data", "conditions": "Conditions", "lists": "Conditions", "explanations": "Conditions",
    "flow": "Flow", "estimate": "Flow",
    "questionnaire": "Questions", "questionnaire-import": "Questions",
    "questionnaire-translations": "Questions", "scale-library": "Questions", "texts": "Texts and consent",
    "consent": "Texts and consent", "sample": "Participants", "imbalance": "Participants", "plan": "Plan",
    "power": "Plan", "launch": "Pilot and launch", "versions": "Pilot and launch", "simulate": "Pilot and launch",
}  # fmt: skip


def member(study: Study, role: str) -> User:
    other: User = UserFactory()
    add_member(study=study, email=other.email, role=role)
    return other


def page_of(study: Study, name: str = "detail", researcher: User | None = None) -> HtmlElement:
    client = signed_in(researcher) if researcher else owner_of(study)
    response = client.get(console_url(name, study, **EXTRA.get(name, {})))
    assert response.status_code == 200, name
    return tree(response)


def tabs(page: HtmlElement) -> dict[str, str | None]:
    """Each tab with its aria-current."""
    return {link.text_content().strip(): link.get("aria-current") for link in page.xpath("//nav[@class='tabs']/a")}


def actions(page: HtmlElement) -> list[str]:
    """The texts of the buttons in the header."""
    buttons = page.xpath("//div[@class='study-head']//div[@class='actions']//*[self::a or self::button]")
    return [button.text_content().strip() for button in buttons]


def test_every_page_of_a_study_has_its_header_and_marks_its_tab() -> None:
    study = make_study(status="draft")
    own_pages = {"detail", "recruiting", "quality", "settings"}
    for name, tab in PAGES.items():
        page = page_of(study, name)
        (title,) = page.xpath("//p[@class='study-title']/a")
        assert (title.text_content(), title.get("href")) == (study.title, console_url("detail", study)), name
        marked = {label: current for label, current in tabs(page).items() if current}
        assert marked == {tab: "page" if name in own_pages else "true"}, name
        assert len(page.xpath("//h1")) == 1, name


def test_every_page_of_a_stage_has_the_line_of_stages_and_marks_its_own() -> None:
    study = make_study(status="draft")
    for name, label in STAGE_PAGES.items():
        page = page_of(study, name)
        stops = page.xpath("//ol[@class='line']//span[@class='name']/text()[1]")
        assert [stop.strip() for stop in stops] == [stage.label for stage in STAGES], name
        (current,) = page.xpath("//ol[@class='line']//a[@aria-current='step']")
        assert label in current.text_content(), name
        assert len(page.xpath("//h1")) == 1, name
        assert [link.text_content() for link in page.xpath("//nav[@class='rail-links small']/a")] == [
            "Live", "Recruit", "Data", "Report", "Settings",
        ]  # fmt: skip


def test_the_tab_of_the_reports_lists_those_of_the_study() -> None:
    draft = make_study(status="draft")
    address = f"{reverse('analysis:list')}?study={draft.slug}"
    page = tree(owner_of(draft).get(address))
    assert tabs(page)["Report"] == "page"
    assert "after a pilot with simulated participants" in page.text_content()
    assert not page.xpath("//button[text()='Build report']")
    interviewer = member(draft, Role.INTERVIEWER)
    assert draft.title not in signed_in(interviewer).get(address).text


def test_each_role_sees_the_tabs_it_may_open() -> None:
    study = make_study()
    assert list(tabs(page_of(study))) == TABS
    analyst, interviewer = member(study, Role.ANALYST), member(study, Role.INTERVIEWER)
    assert list(tabs(page_of(study, researcher=analyst))) == [tab for tab in TABS if tab != "Recruit"]
    assert list(tabs(page_of(study, researcher=interviewer))) == ["Live", "Sessions"]
    for researcher in (analyst, interviewer):
        client = signed_in(researcher)
        for link in page_of(study, researcher=researcher).xpath("//nav[@class='tabs']/a/@href"):
            assert client.get(link).status_code == 200, link


def test_settings_show_what_the_role_may_see() -> None:
    study = make_study()
    analyst = member(study, Role.ANALYST)
    for text in ("Manage members", "Data retention", "Contact on participants"):
        assert text in page_of(study, "settings").text_content()
    page = page_of(study, "settings", analyst).text_content()
    assert "Contact on participants" in page
    for text in ("Manage members", "Data retention", "Delete"):
        assert text not in page
    assert "Pause or close it before" in page_of(study, "settings").text_content()


@pytest.mark.parametrize(
    ("status", "owner", "analyst", "interviewer"),
    [
        ("draft", ["Launch…"], [], []),
        ("live", ["Live data", "Pause"], ["Live data"], ["Start a session"]),
        ("paused", ["Live data", "Resume"], ["Live data"], []),
        ("closed", ["Build report"], ["Build report"], []),
    ],
)
def test_the_header_offers_the_next_action(
    status: str, owner: list[str], analyst: list[str], interviewer: list[str]
) -> None:
    study = make_study(status=status)
    assert actions(page_of(study)) == owner
    assert actions(page_of(study, researcher=member(study, Role.ANALYST))) == analyst
    assert actions(page_of(study, researcher=member(study, Role.INTERVIEWER))) == interviewer
    link = page_of(study).xpath("//a[@id='participant-link']")
    assert bool(link) == (status in ("live", "paused"))
    if link:
        assert link[0].get("href") == link[0].text_content() == f"http://testserver/s/{study.slug}/"


def test_an_archived_study_can_be_restored_from_its_header() -> None:
    study = make_study(status="paused")
    archive_study(study=study)
    assert actions(page_of(study)) == ["Restore"]
    assert actions(page_of(study, researcher=member(study, Role.ANALYST))) == []


def test_progress_counts_people_who_completed_in_one_query(django_assert_num_queries: Any) -> None:
    study = make_study(per_condition=4)
    first, second = completed(study), completed(study, number=1)
    assigned(study)
    for mode in (Mode.SIMULATED, Mode.PREVIEW):
        completed(study, mode)
    with django_assert_num_queries(1):
        progress = progress_of(study)
    assert (progress.completed, progress.target) == (2, 8)
    assert {line.label: line.completed for line in progress.conditions} == {
        label: sum(person.condition.label == label for person in (first, second))  # type: ignore[union-attr]
        for label in ("TopPop", "PureSVD4")
    }
    study.settings["refill_excluded"] = True
    Participant.objects.filter(pk=first.pk).update(place=None)  # its slot is open again
    assert progress_of(study).completed == 1
    shown = page_of(study).xpath("string(//div[@class='progress-line'])").split()
    assert " ".join(shown).startswith("2 of 8 completed TopPop")
    interviewer = member(study, Role.INTERVIEWER)
    assert not page_of(study, researcher=interviewer).xpath("//div[@class='progress-line']")
    assert not page_of(make_study(slug="draft", run=study.run, status="draft")).xpath("//div[@class='progress-line']")


def test_progress_bars_end_at_the_target() -> None:
    study = make_study(per_condition=2)
    for number in range(3):
        person = completed(study, number=number)
        Participant.objects.filter(pk=person.pk).update(condition=study.conditions.earliest("position"))
    first, other = progress_of(study).conditions
    assert (first.completed, first.percent, other.percent) == (3, 100, 0)


def test_unread_notices_of_the_study_are_alerts_on_its_overview() -> None:
    study = make_study()
    other = make_study(slug="other", run=study.run, owner=study.memberships.get().researcher)
    for each, text in ((study, "Half of the targets are reached."), (other, "Of another study.")):
        notify_owners(study=each, kind=NoticeKind.values[0], key="k", text=text)
    page = page_of(study).text_content()
    assert "Half of the targets are reached." in page
    assert "Of another study." not in page
    mark_read(researcher=study.memberships.get().researcher)
    assert "Half of the targets" not in page_of(study).text_content()


def test_recruit_shows_a_qr_code_and_test_links_that_are_previews() -> None:
    study = make_study()
    page = page_of(study, "recruiting")
    assert len(page.xpath("//figure/div[@role='img']/svg")) == 1
    assert "Test link" not in page.text_content()
    set_exits(study=study, exits={"complete": Exit("static", "C1")})
    for panel, name in (("prolific", "PROLIFIC_PID"), ("mturk", "workerId"), ("sona", "id")):
        set_panel(study=study, panel=panel)
        link = page_of(study, "recruiting").xpath("string(//a[starts-with(., 'Test link')]/@href)")
        assert f"&{name}=test-" in link
        assert signed_in(None).get(link).status_code == 200
        signed = link.partition("as=")[2].partition("&")[0]
        assert read_entry(study=study, signed=signed)[0] == Mode.PREVIEW
    closed = make_study(slug="closed", run=study.run, status="closed")
    set_panel(study=closed, panel="mturk")
    assert "Test link" not in page_of(closed, "recruiting").text_content()


def advice(study: Study) -> dict[str, str]:
    """What the launch page advises, each with the address of its button."""
    lines = page_of(study, "launch").xpath("//section[@aria-labelledby='advice']//li")
    return {" ".join(line.xpath("string(p)").split()): line.xpath("string(a/@href)") for line in lines}


def test_the_launch_page_advises_and_links_to_the_field_that_settles_it() -> None:
    study = make_study(status="draft", seed=None)
    before = advice(study)
    assert [text.partition(" is ")[0] for text in before] == [
        "No preview completed.", "No simulated pilot.", "Power", "No hypothesis.",
    ]  # fmt: skip
    assert list(before.values()) == [
        console_url("preview", study), "", f"{console_url('sample', study)}#id_per_condition",
        f"{console_url('plan', study)}#id_hypothesis",
    ]  # fmt: skip
    change_design(study=study, settings={"hypothesis": "Recall ranks them."})
    completed(study, Mode.PREVIEW)
    for number in range(2):
        completed(study, Mode.SIMULATED, number=number)
    assert [text.partition(" is ")[0] for text in advice(study)] == ["Power"]
    assigned(study, Mode.SIMULATED)
    assert "1 simulated participant started and did not finish." in advice(study)


def test_the_items_without_what_participants_see_are_counted() -> None:
    study = make_study(status="draft")
    version = study.dataset_version
    first = version.items.get(index=0)

    def shown() -> str:
        return " ".join(text for text in advice(study) if text.startswith("Of "))

    assert shown() == ""
    Feature.objects.filter(item=first, kind__in=("director", "cast")).delete()
    assert shown() == f"Of {version.n_items} items, 1 has no director or cast."
    version.items.filter(pk=first.pk).update(plot="")
    DatasetVersion.objects.filter(pk=version.pk).update(is_synthetic=False)
    assert shown() == (
        f"Of {version.n_items} items, 1 has no description, {version.n_items} have no picture and 1 has no director or "
        "cast."
    )
    Study.objects.filter(pk=study.pk).update(settings={**study.settings, "item_type": "recipe"})
    assert "no director" not in shown()
    version.items.update(plot="A plot.", image="0.png")
    assert shown() == ""


def test_a_pilot_that_left_a_condition_out_has_not_passed() -> None:
    study = make_study(status="draft")
    completed(study, Mode.SIMULATED)
    page = page_of(study, "launch").text_content()
    assert "No simulated participant has completed " in page


def test_what_prevents_the_launch_is_needed_and_holds_its_button() -> None:
    study = make_study(status="draft")
    study.conditions.update(target=0)
    page = page_of(study, "launch")
    needed = page.xpath("//section[@aria-labelledby='needed']//li")
    assert ["needs a target of at least one participant." in line.text_content() for line in needed] == [True, True]
    assert {line.xpath("string(a/@href)") for line in needed} == {f"{console_url('sample', study)}#id_per_condition"}
    assert page.xpath("//button[@class='go']/@disabled")
    study.conditions.update(target=2)
    study.texts["en"]["consent"] = ""
    study.save(update_fields=["texts"])
    page = page_of(study, "launch")
    assert "The texts in 'en' lack consent." in page.xpath("string(//section[@aria-labelledby='needed'])")
    assert f"{console_url('texts', study)}#id_consent_en" in advice(study).values()
