"""The participant's way when things go wrong: no script, a killed server, a lost line, two tabs, another device."""

from __future__ import annotations

import os
import re
import signal
import socket
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from parallax.children import Children
from studies.enums import ParticipantStatus
from studies.models import Participant, ProfileRating, Response
from tests.e2e.clicker import Pointer, stored, until
from tests.factories.databases import database_url
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.mark.core
def test_the_whole_way_without_javascript_in_italian(live_server: Any, browser: Browser) -> None:
    study = make_study(per_condition=3)
    context = browser.new_context(
        java_script_enabled=False, locale="it-IT", viewport={"width": 320, "height": 640}, color_scheme="dark"
    )
    page = context.new_page()
    page.goto(f"{live_server.url}/s/{study.slug}/")
    do = Pointer(page)
    do.consent()
    expect(page.locator("h1")).to_have_text("Su di te")
    page.locator("input[name=age]").fill("33")
    page.locator("form.about button.go").click()
    expect(page.locator("input[name=age]")).to_have_value("33")
    expect(page.locator("#question-gender .problem")).to_contain_text("Rispondi")
    assert stored(0, age=33)(), "what was told is kept though the rest is missing"
    do.fill_in_about()
    do.leave_about()
    page.locator("#search").fill("film 1")
    page.locator(".search button").click()
    page.wait_for_url(re.compile(r"q=film(\+|%20)1"))
    found = page.url
    ids = [form.get_attribute("id") for form in page.locator("#grid form.rating").all()[:5]]
    for number, form in enumerate(ids):
        page.locator(f"#{form}".replace("rating-", "film-") + " summary").click()
        page.locator(f"#{form} label").nth(number).click()
        page.locator(f"#{form}").get_by_role("button", name="Salva").click()
        page.wait_for_url(f"{found}#{form}".replace("rating-", "film-"))  # the search is still there
    expect(page.locator("#count b")).to_have_text("5 su 5")
    do.go_on("recommendations")
    page.locator(".shelf a.poster").first.click()
    page.wait_for_url("**/details/**")
    page.get_by_role("link", name="Indietro").click()
    page.locator("#continue").click()
    for rank in range(1, 6):
        page.wait_for_url(f"**/items/1/{rank}/")
        do.answer(watched="no")
        page.locator("#continue").click()
        # The questions that follow open now, and nobody is blamed for not having answered them.
        expect(page.locator("#question-heard")).to_be_visible()
        expect(page.locator("[role=alert]")).to_have_count(0)
        do.answer(heard="no", trailer_seen="no", rating="4")
        page.locator("#continue").click()
    page.wait_for_url("**/overall/")
    do.answer(satisfaction="5")
    page.locator("#comment").fill("Va bene")
    do.go_on("thanks")
    me = Participant.objects.get()
    expect(page.locator("#completion-code")).to_have_text(me.completion_code)
    assert (me.status, me.language) == (ParticipantStatus.COMPLETED, "it")
    assert me.responses.filter(rank__gt=0).count() == 20
    assert me.responses.get(question="comment").value == "Va bene"
    context.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Web:
    """The web server that `up` starts, on the tests' database; killed and started again."""

    def __init__(self) -> None:
        self.port = _free_port()
        self.children = self._started()

    def _started(self) -> Children:
        return Children(port=self.port, workers=0).__enter__()

    @property
    def url(self) -> str:
        return self.children.url.rstrip("/")

    def kill(self) -> None:
        """SIGKILL to the server and all its workers."""
        ((_name, process),) = self.children._running
        family = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        psutil.wait_procs(family, timeout=10)  # the last of them to go lets the port go

    def start(self) -> None:
        self.children.stop()
        self.children = self._started()

    def restart(self) -> None:
        self.kill()
        self.start()


@pytest.fixture
def web(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setenv("DATABASE_URL", database_url())
    server = Web()
    yield server
    server.children.stop()


def test_a_server_killed_at_every_step_costs_nothing(web: Web, browser: Browser) -> None:
    study = make_study(per_condition=3)
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()

    def killed() -> None:
        web.restart()
        page.reload()

    page.goto(f"{web.url}/s/{study.slug}/")
    killed()
    assert Participant.objects.count() == 0
    do = Pointer(page)
    do.consent()

    do.fill_in_about()
    page.locator("input[name=age]").blur()
    until(stored(0, age=33, gender="woman", items_per_month="3_to_5"), page, "about")
    killed()
    expect(page.locator("input[name=age]")).to_have_value("33")
    expect(page.locator("select[name=education]")).to_have_value("master")
    expect(page.locator("input[name=first_visit][value=yes]")).to_be_checked()
    do.leave_about()

    stars = page.locator("#grid form.rating")
    summaries = page.locator("#grid summary")
    for number in range(3):
        summaries.nth(number).click()
        stars.nth(number).locator("label").nth(number).click()
        until(lambda n=number: ProfileRating.objects.count() == n + 1, page, "rating")  # type: ignore[misc]
    killed()
    expect(page.locator("#count b")).to_have_text("3 of 5")
    # A rating given while the server is gone is said to be unsaved, tried again, and arrives once.
    web.kill()
    summaries.nth(3).click()
    stars.nth(3).locator("label").nth(3).click()
    expect(page.locator("#connection")).to_be_visible()
    web.start()
    until(lambda: ProfileRating.objects.count() == 4, page, "rating given while the server was gone")
    expect(page.locator("#connection")).to_be_hidden()
    summaries.nth(4).click()
    stars.nth(4).locator("label").nth(4).click()
    expect(page.locator("#count b")).to_have_text("5 of 5")
    do.go_on("recommendations")

    titles = page.locator(".shelf h2").all_inner_texts()
    killed()
    assert page.locator(".shelf h2").all_inner_texts() == titles
    page.locator("#continue").click()

    for rank in range(1, 6):
        page.wait_for_url(f"**/items/1/{rank}/")
        do.answer(watched="no", heard="yes", trailer_seen="no")
        until(stored(rank, watched=False, heard=True, trailer_seen=False), page, f"film {rank}")
        if rank in (1, 4):
            killed()
            expect(page.locator("input[name=heard][value=yes]")).to_be_checked()
        do.answer(rating="4")
        page.locator("#continue").click()

    page.wait_for_url("**/overall/")
    do.answer(satisfaction="2")
    page.locator("#comment").fill("Still here")
    until(stored(0, satisfaction=2, comment="Still here"), page, "overall")
    killed()
    expect(page.locator("#comment")).to_have_value("Still here")
    do.go_on("thanks")
    killed()
    me = Participant.objects.get()
    expect(page.locator("#completion-code")).to_have_text(me.completion_code)
    assert me.status == ParticipantStatus.COMPLETED
    assert me.responses.filter(rank__gt=0).count() == 20
    assert sorted(me.profile.values_list("rating", flat=True)) == [1, 2, 3, 4, 5]
    assert set(me.responses.values_list("n_changes", flat=True)) == {0}, "nothing was stored twice"
    context.close()


def test_a_tab_hears_of_its_refused_answer_though_another_tab_sent_it(live_server: Any, browser: Browser) -> None:
    study = make_study(per_condition=3)
    context = browser.new_context(viewport={"width": 1280, "height": 844}, service_workers="block")
    page = context.new_page()
    page.goto(f"{live_server.url}/s/{study.slug}/")
    do = Pointer(page)
    do.consent()
    do.fill_in_about()
    second = context.new_page()
    second.goto(page.url)
    do.leave_about()
    page.evaluate("window.isSamePage = true")
    # The second tab reaches no server, so that its answer waits in the store that both share.
    second.route("**/about/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    second.locator("input[name=age]").fill("40")
    second.locator("input[name=age]").blur()
    expect(second.locator("#connection")).to_be_visible()
    with page.expect_response(lambda reply: "/about/" in reply.url) as sent:
        page.evaluate("dispatchEvent(new Event('online'))")
    assert sent.value.request.method == "POST"
    second.unroute("**/about/**")
    second.wait_for_url("**/rate/")
    assert Response.objects.get(question="age").value == 33
    assert page.evaluate("window.isSamePage")
    context.close()


@pytest.mark.core
def test_two_tabs_and_another_device_meet_at_the_same_place(live_server: Any, browser: Browser) -> None:
    study = make_study(per_condition=3)
    context = browser.new_context(viewport={"width": 1280, "height": 844}, locale="en-GB")
    page = context.new_page()
    page.goto(f"{live_server.url}/s/{study.slug}/")
    do = Pointer(page)
    do.consent()
    own_link = page.url.removesuffix("about/")
    do.fill_in_about()
    second = context.new_page()
    second.goto(f"{live_server.url}/s/{study.slug}/")
    assert second.url == f"{own_link}about/"
    do.leave_about()
    # The older tab answers late: it is led to where the participant is.
    second.locator("input[name=age]").fill("40")
    second.locator("input[name=age]").blur()
    second.wait_for_url("**/rate/")
    assert Response.objects.get(question="age").value == 33

    def rate(tab: Page, number: int, points: int) -> None:
        tab.locator("#grid summary").nth(number).click()
        tab.locator("#grid form.rating").nth(number).locator("label").nth(points).click()

    for number in range(4):
        rate(page, number, number)
    expect(page.locator("#count b")).to_have_text("4 of 5")
    # The other tab does not know of these four; it may give one, and is told in words that there are five.
    forms = second.locator("#grid form.rating")
    rate(second, 10, 4)
    expect(second.locator("#count b")).to_have_text("5 of 5")
    rate(second, 11, 4)
    expect(second.locator("#line")).to_contain_text("Which one makes room")
    second.locator("#keep-all").click()
    expect(forms.nth(11).locator("input:checked")).to_have_count(0)

    # A phone, with no cookie of this browser, in Italian: the same link, the same ratings.
    phone = browser.new_context(viewport={"width": 320, "height": 640}, locale="it-IT")
    small = phone.new_page()
    small.goto(own_link)
    expect(small.locator("#count b")).to_have_text("5 of 5")
    small.get_by_role("link", name="Italiano").click()
    expect(small.locator("#count b")).to_have_text("5 su 5")
    small.locator("#tray #continue").dblclick()
    small.wait_for_url("**/recommendations/")
    rate(page, 0, 4)
    page.wait_for_url("**/recommendations/")
    expect(page.locator("h1")).to_have_text("Consigli per te")
    assert Participant.objects.get().recommendation_list.slots.count() == 5

    # Without any cookie an answer is stored all the same: the address is what opens the page.
    do.go_on("items/1/1")
    context.clear_cookies()
    page.locator("input[name=watched][value=yes]").check()
    until(stored(1, watched=True), page, "an answer after the cookies were lost")
    expect(page.locator("#connection")).to_be_hidden()
    assert Participant.objects.count() == 1
    phone.close()
    context.close()
