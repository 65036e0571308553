"""The connection is lost at each kind of page: participants go on, and everything they gave arrives once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from studies.design.services.launch import close_study, pause_study, resume_study
from studies.enums import ParticipantStatus
from studies.models import ProfileRating, Response
from tests.e2e.clicker import Pointer, all_sent, stored, until
from tests.e2e.states import participant_at
from tests.e2e.tunnel import Tunnel
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.slow]

WAITS = "You’re offline. This continues by itself once you’re back."
CARRY_ON = "You’re offline. Carry on: your answers are safe on this device."
KEPT = "async (page) => (await caches.open('parallax-pages')).match(page).then(Boolean)"


@pytest.fixture
def tunnel(live_server: Any) -> Iterator[Tunnel]:
    with Tunnel(live_server.url) as made:
        yield made


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, locale="en-GB")
    yield made
    made.close()


def ready(page: Page, address: str) -> None:
    """Wait until the browser keeps a page."""
    until(lambda: page.evaluate("Boolean(navigator.serviceWorker.controller)"), page, "the service worker")
    until(lambda: bool(page.evaluate(KEPT, address)), page, address)


def tap(page: Page, **answers: str) -> None:
    for name, value in answers.items():
        page.locator(f"input[name={name}][value='{value}']").locator("xpath=ancestor::label").tap()


@pytest.mark.core
def test_ratings_and_answers_given_without_a_connection_arrive_once(tunnel: Tunnel, context: BrowserContext) -> None:
    person = participant_at("rate", make_study(per_condition=3))
    here = f"{tunnel.url}{person.base}"
    page = context.new_page()
    page.goto(f"{here}rate/")
    ready(page, f"{here}offline")
    page.reload()
    ready(page, f"{here}rate/")
    cards = page.locator("#grid > li[data-item]")
    for number in range(5):
        if number == 2:
            until(lambda: ProfileRating.objects.count() == 2, page, "two ratings")
            tunnel.cut(context)
        cards.nth(number).locator("summary").tap()
        cards.nth(number).locator("form label").nth(number).tap()
        expect(page.locator("#count b")).to_have_text(f"{number + 1} of 5")
    expect(page.locator("#connection")).to_have_text(CARRY_ON)
    assert ProfileRating.objects.count() == 2
    page.reload()
    expect(page.locator("#count b")).to_have_text("5 of 5")
    expect(cards.nth(4)).to_have_class(re.compile("rated"))
    page.get_by_role("button", name="See your recommendations").tap()
    expect(page.locator("#connection")).to_have_text(WAITS)
    tunnel.mend(context)
    page.wait_for_url("**/recommendations/")
    assert sorted(person.me.profile.values_list("rating", "n_changes")) == [(n, 0) for n in range(1, 6)]

    ready(page, f"{here}overall/")
    tunnel.cut(context)
    page.locator("#continue").tap()
    for rank in range(1, 6):
        page.wait_for_url(f"**/items/1/{rank}/")
        expect(page.locator("#question-watched")).to_be_visible()
        tap(page, watched="yes", rating=str(rank))  # and the next page comes by itself
    page.wait_for_url("**/overall/")
    page.keyboard.press("Alt+ArrowLeft")
    page.wait_for_url("**/items/1/5/")
    expect(page.locator("input[name=rating][value='5']")).to_be_checked()
    page.reload()
    expect(page.locator("input[name=watched][value=yes]")).to_be_checked()
    page.locator("#continue").tap()
    page.wait_for_url("**/overall/")
    tap(page, satisfaction="4")
    page.locator("#comment").fill("In a tunnel")
    page.locator("#continue").tap()
    expect(page.locator("#connection")).to_have_text(WAITS)
    assert not Response.objects.filter(rank__gt=0).exists()
    tunnel.mend(context)
    page.wait_for_url("**/thanks/", timeout=60_000)
    me = person.me
    assert me.status == ParticipantStatus.COMPLETED
    expect(page.locator("#completion-code")).to_have_text(me.completion_code)
    given = {(row.rank, row.question): row.value for row in me.responses.filter(rank__gt=0)}
    assert given == {(n, key): value for n in range(1, 6) for key, value in (("watched", True), ("rating", n))}
    assert (
        stored(0, satisfaction=4, comment="In a tunnel")(),
        set(me.responses.values_list("n_changes", flat=True)),
    ) == (
        True,
        {0},
    )
    page.wait_for_load_state()
    until(lambda: "parallax-pages" not in page.evaluate("caches.keys()"), page, "nothing to be left on the device")
    all_sent(page)


def test_a_page_that_was_never_seen_waits_and_goes_on_by_itself(tunnel: Tunnel, context: BrowserContext) -> None:
    person = participant_at("about", make_study(per_condition=3))
    here = f"{tunnel.url}{person.base}"
    page = context.new_page()
    page.goto(f"{here}about/")
    ready(page, f"{here}offline")
    Pointer(page).fill_in_about()
    until(stored(0, age=33, items_per_month="3_to_5"), page, "about")
    tunnel.cut(context)
    page.locator("form.about > button.go").tap()
    expect(page.locator("#connection")).to_have_text(WAITS)
    tunnel.mend(context)
    page.wait_for_url("**/rate/")
    tunnel.cut(context)
    page.goto(f"{here}recommendations/")  # nothing keeps it
    expect(page.get_by_role("heading", name="You’re offline")).to_be_visible()
    tunnel.mend(context)
    page.wait_for_url("**/rate/", timeout=30_000)


def test_two_tabs_send_what_was_given_in_both_once(tunnel: Tunnel, context: BrowserContext) -> None:
    person = participant_at("item", make_study(per_condition=3))
    address = f"{tunnel.url}{person.base}items/1/1/"
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.goto(address)
    tunnel.cut(context)
    tap(first, watched="no")
    tap(second, watched="no", heard="yes")
    expect(second.locator("#connection")).to_have_text(CARRY_ON)
    tunnel.mend(context)
    until(stored(1, watched=False, heard=True), first, "both")
    all_sent(first)
    assert set(Response.objects.filter(rank=1).values_list("n_changes", flat=True)) == {0}


def test_an_answer_after_the_end_is_told_that_the_study_is_over(tunnel: Tunnel, context: BrowserContext) -> None:
    study = make_study(per_condition=3)
    person = participant_at("item", study)
    page = context.new_page()
    page.goto(f"{tunnel.url}{person.base}items/1/1/")
    tunnel.cut(context)
    tap(page, watched="no")
    close_study(study=study)
    tunnel.mend(context)
    expect(page.get_by_role("heading", level=1)).to_have_text("This study is over")
    expect(page.locator("main")).to_contain_text("that answer was not saved")


def test_an_answer_during_a_pause_is_kept_and_sent_when_the_participant_is_back(
    live_server: Any, context: BrowserContext
) -> None:
    study = make_study(per_condition=3)
    person = participant_at("item", study)
    page = context.new_page()
    posts: list[int] = []
    context.on("response", lambda reply: posts.append(reply.status) if reply.request.method == "POST" else None)
    page.goto(f"{live_server.url}{person.base}items/1/1/")
    tap(page, watched="yes")
    until(stored(1, watched=True), page, "the answer before the pause")
    pause_study(study=study)
    tap(page, rating="4")
    expect(page.get_by_role("heading", level=1)).to_have_text("The study is paused")
    expect(page.locator("main")).to_contain_text("The last one is kept in this browser")
    page.wait_for_timeout(4000)
    assert posts.count(423) <= 3, "the server is not asked for the whole pause"
    page.reload()
    expect(page.locator("main")).to_contain_text("The last one is kept in this browser")
    assert not Response.objects.filter(question="rating").exists()
    study.refresh_from_db()
    resume_study(study=study)
    page.goto(f"{live_server.url}{person.base}")
    until(stored(1, watched=True, rating=4), page, "the answer of the pause")
    all_sent(page)
    page.goto(f"{live_server.url}{person.base}items/1/1/")
    expect(page.locator("input[name=rating][value='4']")).to_be_checked()
    page.locator("#continue").tap()
    page.wait_for_url("**/items/1/2/")
    assert set(Response.objects.filter(rank=1).values_list("n_changes", flat=True)) == {0}


def test_the_page_of_a_pause_is_not_shown_for_another_one_without_a_connection(
    tunnel: Tunnel, context: BrowserContext
) -> None:
    study = make_study(per_condition=3)
    here = f"{tunnel.url}{participant_at('item', study).base}"
    page = context.new_page()
    page.goto(f"{here}items/1/1/")
    ready(page, f"{here}items/1/2/")
    pause_study(study=study)
    page.goto(f"{here}items/1/2/")
    expect(page.get_by_role("heading", level=1)).to_have_text("The study is paused")
    study.refresh_from_db()
    resume_study(study=study)
    page.goto(f"{here}items/1/1/")
    ready(page, f"{here}items/1/3/")
    tunnel.cut(context)
    page.goto(f"{here}items/1/2/")
    expect(page.locator("#question-watched")).to_be_visible()
    tunnel.mend(context)


def test_a_rating_during_a_pause_is_kept_and_sent_when_the_participant_is_back(
    live_server: Any, context: BrowserContext
) -> None:
    study = make_study(per_condition=3)
    person = participant_at("rate", study)
    page = context.new_page()
    page.goto(f"{live_server.url}{person.base}rate/")
    page.mouse.wheel(0, 4000)
    expect(page.locator("#grid > li[data-item]")).to_have_count(40)  # nothing is left to load during the pause
    page.locator("#grid summary").first.tap()
    pause_study(study=study)
    page.locator("#grid form.rating").first.locator("label").nth(2).tap()
    expect(page.get_by_role("heading", level=1)).to_have_text("The study is paused")
    study.refresh_from_db()
    resume_study(study=study)
    page.reload()
    expect(page.locator("#count b")).to_have_text("1 of 5")
    until(lambda: list(person.me.profile.values_list("rating", flat=True)) == [3], page, "the rating of the pause")


def test_reloading_after_a_refused_continue_stays_on_the_page(live_server: Any, context: BrowserContext) -> None:
    person = participant_at("item", make_study(per_condition=3))
    page = context.new_page()
    page.goto(f"{live_server.url}{person.base}items/1/1/")
    with page.expect_navigation():  # as without the script, which would not send it
        page.evaluate("""() => {
          const form = document.getElementById('questions');
          form.insertAdjacentHTML('beforeend', '<input type="hidden" name="continue" value="1">');
          form.submit();
        }""")
    expect(page.locator("#question-watched .problem")).to_be_visible()
    page.keyboard.press("Tab")  # keys do not move on by themselves
    for name, value in (("watched", "yes"), ("rating", "4")):
        page.locator(f"input[name={name}][value='{value}']").focus()
        page.keyboard.press("Space")
    until(stored(1, watched=True, rating=4), page, "the answers")
    page.reload()
    assert page.url.endswith("/items/1/1/")
    expect(page.locator("input[name=rating][value='4']")).to_be_checked()


def test_a_trailer_plays_over_the_picture_and_a_swipe_goes_back(live_server: Any, context: BrowserContext) -> None:
    person = participant_at("item 2", make_study(per_condition=3))
    page = context.new_page()
    page.goto(f"{live_server.url}{person.base}items/1/2/")
    page.evaluate("""() => {
      const touch = (x) => new Touch({ identifier: 1, target: document.querySelector('h1'), clientX: x, clientY: 200 });
      const send = (name, x) => document.querySelector('h1').dispatchEvent(new TouchEvent(name,
        { bubbles: true, touches: name === 'touchend' ? [] : [touch(x)], changedTouches: [touch(x)] }));
      send('touchstart', 40);
      send('touchend', 240);
    }""")
    page.wait_for_url("**/items/1/1/")
