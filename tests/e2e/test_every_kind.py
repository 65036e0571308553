"""Every kind of question answered by keys alone in Chromium, and the editor's pages looked at by axe-core."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from studies.enums import ParticipantStatus, Role
from tests.e2e.clicker import Keyboard, until
from tests.e2e.states import participant_at
from tests.e2e.test_accessibility import CUT_OFF, LOOKS, SIDEWAYS, WIDTHS, violations, with_axe
from tests.factories.questionnaires import every_kind, make_study_asking

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def looked_at(page: Page, what: str, *, may_scroll: bool = False) -> list[str]:
    with_axe(page)
    found: list[str] = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if page.evaluate(SIDEWAYS):
            found.append(f"{what} at {width}: the page scrolls sideways")
        if not may_scroll:  # the console's tables scroll by themselves
            found += [f"{what} at {width}: {part}" for part in page.evaluate(CUT_OFF)]
    for width, scheme in LOOKS["en"]:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        found += [f"{what} at {width}, {scheme}: {problem}" for problem in violations(page)]
    return found


def unfolded(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")


def test_every_kind_is_answered_by_keys_alone(live_server: Any, browser: Browser) -> None:
    study = make_study_asking(every_kind(), per_condition=5)
    person = participant_at("after", study)
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{live_server.url}{person.base}after/")
    do = Keyboard(page)

    def stored() -> dict[str, Any]:
        return dict(person.me.responses.filter(rank=0).values_list("question", "value"))

    expect(page.locator("#question-service")).to_be_hidden()
    do.tick("input[name=streams][value=yes]")
    expect(page.locator("#question-service")).to_be_visible()
    do.tick("input[name=service][value=other]")
    do.fill("[name='service.other']", "A friend")
    own = page.locator("[name='devices.other']")
    expect(own).to_be_hidden()
    do.tick("input[name=devices][value=other]")
    do.fill("[name='devices.other']", "On a train")
    do.tick("input[name=devices][value=nowhere]")
    expect(own).to_be_hidden()
    expect(own).to_be_disabled()
    do.tick("input[name=devices][value=other]")
    expect(own).to_have_value("On a train")
    expect(
        page.get_by_role("group", name="Where do you watch films?").get_by_label("In your own words")
    ).to_be_visible()
    do.tick("input[name=devices][value=tv]")
    expect(page.locator("input[name=devices][value=nowhere]")).not_to_be_checked()
    do.fill("[name=hours]", "1.5")
    do.reach("#question-mood [type=range]")
    assert page.locator("#mood").input_value() == ""
    page.keyboard.press("ArrowRight")
    expect(page.locator("#mood")).to_have_value("55")
    for name in page.locator("input[name^=trust_][value='4']").all():
        do.tick(f"input[name={name.get_attribute('name')}][value='4']")
    for row in page.locator(".matrix-row input[value='2']").all():
        do.tick(f"input[name='{row.get_attribute('name')}'][value='2']")
    do.tick("input[name=often][value='3']")
    do.tick("input[name=reads][value=second]")
    do.fill("[name=nickname]", "Varied")
    do.fill("[name=why]", "Because.")
    until(lambda: stored().get("why") == "Because.", page, "the last answer")
    expect(page.locator("#saved")).to_have_text("Saved.")
    page.reload()
    expect(page.locator("#mood")).to_have_value("55")
    expect(page.locator("[name='service.other']")).to_have_value("A friend")
    expect(page.locator("[name='devices.other']")).to_have_value("On a train")
    assert looked_at(page, "after") == []
    do.press("#continue")
    page.wait_for_url("**/thanks/")
    found = stored()
    wanted = ("streams", "service", "devices", "hours", "mood", "views", "often", "reads")
    assert {key: found[key] for key in wanted} == {
        "streams": True, "service": {"other": "A friend"}, "devices": ["tv", {"other": "On a train"}],
        "hours": 1.5, "mood": 55, "views": {"again": 2, "never": 2}, "often": 3, "reads": "second",
    }  # fmt: skip
    assert person.me.status == ParticipantStatus.COMPLETED
    assert problems == []
    context.close()


def test_the_editors_pages_have_no_violation(live_server: Any, browser: Browser) -> None:
    study = make_study_asking(every_kind(), status="draft")
    client = Client()
    owner = study.memberships.get(role=Role.OWNER).researcher
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    context = browser.new_context()
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    base = f"{live_server.url}/studies/{study.slug}/questionnaire/"
    found: list[str] = []
    own = ("", "?question=views", "?question=service", "?question=why", "?question=q_1&block=after&kind=slider")
    for path in (*own, "library/", "translations/?to=it", "import/"):
        page.goto(base + path)
        unfolded(page)
        assert page.locator("h1").count() == 1
        found += looked_at(page, path or "the list", may_scroll=True)
    assert not found, "\n".join(found)
    context.close()
