"""In from Prolific, through the study, and out to Prolific, in Chromium; and an interviewer hands over the device."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from accounts.models import User
from studies.enums import ParticipantStatus, Role
from studies.models import ExternalId, Participant
from studies.recruitment.panels.exits import Exit
from studies.recruitment.selectors.recruitment import InterviewPlace
from studies.recruitment.services.recruitment import set_exits, set_places
from studies.team.services.members import add_member
from tests.e2e.clicker import Pointer
from tests.factories.studies import make_study, recruit_on_prolific
from tests.factories.walking import Person

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.core]


def _led_to(page: Page) -> list[str | None]:
    """Where the exit sends the browser: asked of the real server, and not followed out of this machine."""
    found: list[str | None] = []

    def stop(route: Route) -> None:
        answer = route.fetch(max_redirects=0)
        found.append(answer.headers.get("location"))
        route.fulfill(status=200, content_type="text/plain", body="elsewhere")

    page.route("**/exit/", stop)
    return found


def test_in_from_prolific_to_the_end_and_back_with_the_code(live_server: Any, browser: Browser) -> None:
    study = make_study(per_condition=3)
    recruit_on_prolific(study)
    set_exits(study=study, exits={"complete": Exit("static", "C1A2B3")})
    # What a service worker asks for cannot be stopped.
    page = browser.new_context(viewport={"width": 390, "height": 844}, service_workers="block").new_page()
    do = Pointer(page)
    page.goto(f"{live_server.url}/s/{study.slug}/?PROLIFIC_PID=5f1&STUDY_ID=st&SESSION_ID=se&wave=2")
    do.consent()
    person = Participant.objects.get()
    assert dict(ExternalId.objects.values_list("name", "value")) == {"PROLIFIC_PID": "5f1", "SESSION_ID": "se"}
    assert person.parameters == {"STUDY_ID": "st", "wave": "2"}
    between = Person(study)
    between.base = urlsplit(page.url).path.removesuffix("about/")
    between.to("overall")
    page.reload()
    page.wait_for_url("**/overall/")
    do.overall()
    expect(page.locator("#completion-code")).to_have_text("C1A2B3")
    expect(page.locator("#exit")).to_have_text("Go back to Prolific")
    page.reload()
    expect(page.locator("#completion-code")).to_have_text("C1A2B3")
    person.refresh_from_db()
    assert person.status == ParticipantStatus.COMPLETED
    led = _led_to(page)
    page.locator("#exit").click()
    expect(page.locator("body")).to_have_text("elsewhere")
    assert led == ["https://app.prolific.com/submissions/complete?cc=C1A2B3"]
    # Without scripts it is the same plain link; and by the id from another device, the press and then the link.
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(f"{live_server.url}/s/{study.slug}/?PROLIFIC_PID=5f1")
    expect(plain.locator("h1")).to_have_text("Welcome back")
    plain.locator("button[value=resume]").click()
    expect(plain.locator("#completion-code")).to_have_text("C1A2B3")
    led = _led_to(plain)
    plain.locator("#exit").click()
    assert led == ["https://app.prolific.com/submissions/complete?cc=C1A2B3"]
    assert Participant.objects.count() == 1


def test_an_interviewer_passes_the_device_and_no_way_leads_back(live_server: Any, browser: Browser) -> None:
    study = make_study(per_condition=3)
    set_places(study=study, places=[InterviewPlace("lab", "Laboratory")])
    user = User.objects.create_user("i@example.org", "a long enough passphrase")
    add_member(study=study, email=user.email, role=Role.INTERVIEWER)
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    console = f"{live_server.url}/studies/{study.slug}/interview/"
    page.goto(console)
    page.fill("input[name=username]", user.email)
    page.fill("input[name=password]", "a long enough passphrase")
    page.locator("button.go").click()
    page.wait_for_url(console)
    page.select_option("select[name=place]", "lab")
    page.fill("input[name=label]", "A7")
    page.locator("button[value=here]").click()
    page.wait_for_url("**/hand-over/")
    expect(page.locator("h1")).to_have_text("Please hand over the device")
    page.locator("a.go").click()
    Pointer(page).consent()
    expect(page.locator("h1")).to_have_text("About you")
    for _press in range(6):
        page.go_back()
        assert "/studies/" not in page.url or page.locator("input[name=password]").count() == 1
        assert page.locator("text=Your newest sessions").count() == 0
        assert "Laboratory" not in page.content()
    page.goto(console)
    expect(page.locator("input[name=secret]")).to_be_visible()
    person = Participant.objects.get()
    assert (person.interview.place, person.interview.label, person.interview.interviewer) == ("lab", "A7", user)
