"""A participant walks the whole study in Chromium, with a reload and a back press at each step."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from studies.enums import ParticipantStatus
from studies.models import Participant, ProfileRating, Response, Study
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.slow]

STEPS = {"about", "rate", "recommendations", "item", "overall", "thanks"}


class Pointer:
    """Does everything with a mouse or a finger."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, selector: str) -> None:
        self.page.locator(selector).first.click()

    def tick(self, selector: str) -> None:
        # The round button is covered by its row: people press the row.
        self.page.locator(selector).first.locator("xpath=ancestor::label").click()

    def fill(self, selector: str, text: str) -> None:
        self.page.locator(selector).fill(text)

    def choose(self, selector: str, value: str) -> None:
        self.page.locator(selector).select_option(value)


class Keyboard(Pointer):
    """Does everything with keys alone."""

    def reach(self, selector: str) -> None:
        for _ in range(300):
            if self.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{selector} cannot be reached by the Tab key on {self.page.url}")

    def press(self, selector: str) -> None:
        self.reach(selector)
        self.page.keyboard.press("Enter")

    def tick(self, selector: str) -> None:
        """A group of radio buttons is one stop of the Tab key; arrows move within it."""
        name = self.page.locator(selector).first.get_attribute("name")
        kind = self.page.locator(selector).first.get_attribute("type")
        if kind == "checkbox":
            self.reach(selector)
            self.page.keyboard.press("Space")
            return
        form = self.page.locator(selector).first.evaluate("e => e.form.id ? '#' + e.form.id + ' ' : ''")
        self.reach(f"{form}input[name='{name}']")
        self.page.keyboard.press("Space")
        for _ in range(6):
            if self.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            self.page.keyboard.press("ArrowRight")
        raise AssertionError(f"{selector} cannot be reached by the arrow keys on {self.page.url}")

    def fill(self, selector: str, text: str) -> None:
        self.reach(selector)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def choose(self, selector: str, value: str) -> None:
        self.reach(selector)
        label = self.page.locator(f"{selector} option[value='{value}']").inner_text()
        self.page.keyboard.type(label)
        expect(self.page.locator(selector)).to_have_value(value)


def unsettle(page: Page, still_there: Callable[[], None]) -> None:
    """Reload, go back, come again: what was given has to be there each time."""
    url = page.url
    still_there()
    page.reload()
    still_there()
    page.go_back()
    assert page.locator("body").get_attribute("data-step") in STEPS
    page.goto(url)
    assert page.url == url
    still_there()


def until(is_so: Callable[[], bool], page: Page, what: str) -> None:
    """Wait until the server has it: answers are stored while the page stays as it is."""
    for _ in range(100):
        if is_so():
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"not stored: {what}")


@pytest.mark.parametrize(
    ("hands", "width"),
    [
        pytest.param(Pointer, 390, marks=pytest.mark.core),
        (Pointer, 1280),
        (Keyboard, 390),
        pytest.param(Keyboard, 1280, marks=pytest.mark.core),
    ],
)
def test_the_whole_way_with_a_reload_and_a_back_press_at_each_step(
    live_server, browser: Browser, hands: type[Pointer], width: int
) -> None:  # type: ignore[no-untyped-def]
    study = make_study(per_condition=3)
    context = browser.new_context(viewport={"width": width, "height": 844}, has_touch=False)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if _is_problem(message) else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request", lambda request: None if request.url.startswith(live_server.url) else problems.append(request.url)
    )
    do = hands(page)
    page.goto(f"{live_server.url}/s/{study.slug}/")
    consent(page, do)
    about(page, do)
    rate(page, do)
    recommendations(page, do)
    items(page, do)
    overall(page, do)
    thanks(page, study)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "the page scrolls sideways"
    assert problems == []
    context.close()


def _rating(pk: int) -> int | None:
    return ProfileRating.objects.filter(item_id=pk).values_list("rating", flat=True).first()


def _answer(rank: int, key: str) -> str:
    value = Response.objects.filter(rank=rank, question=key).values_list("value", flat=True).first()
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _is_problem(message: ConsoleMessage) -> bool:
    return message.type in {"error", "warning"}


def consent(page: Page, do: Pointer) -> None:
    page.reload()
    assert Participant.objects.count() == 0
    for number in (1, 2):
        do.tick(f"#box-{number}")
    do.press("button[value=yes]")
    page.wait_for_url("**/about/")


def about(page: Page, do: Pointer) -> None:
    unsettle(page, lambda: expect(page.locator("h1")).to_have_text("About you"))
    do.tick("input[name=first_visit][value=yes]")
    do.tick("input[name=recommender_experience][value=no]")
    do.fill("input[name=age]", "33")
    do.choose("select[name=gender]", "woman")
    do.choose("select[name=education]", "master")
    do.choose("select[name=movies_per_month]", "3_to_5")
    do.press("form.about button.go")
    page.wait_for_url("**/rate/")


def rate(page: Page, do: Pointer) -> None:
    do.fill("#search", "film 1")
    page.wait_for_url(re.compile(r"q=film(\+|%20)1"))
    forms = page.locator("#grid form.rating")
    ids = [forms.nth(i).get_attribute("id") for i in range(5)]
    for number, form in enumerate(ids):
        stars = f"#{form} input[value='{5 - number}']"
        do.tick(stars)
        pk = int(str(form).removeprefix("rating-"))
        until(lambda pk=pk, n=5 - number: _rating(pk) == n, page, stars)  # type: ignore[misc]
    expect(page.locator("#tray .count")).to_have_text("5 of 5")

    def still_there() -> None:
        expect(page.locator("#tray .count")).to_have_text("5 of 5")
        for number, form in enumerate(ids):
            expect(page.locator(f"#{form} input[value='{5 - number}']")).to_be_checked()

    unsettle(page, still_there)
    assert sorted(ProfileRating.objects.values_list("rating", flat=True)) == [1, 2, 3, 4, 5]
    # Details open over the page and give the place back.
    link = page.locator("#grid a.poster").first
    link.focus() if isinstance(do, Keyboard) else link.click()
    if isinstance(do, Keyboard):
        page.keyboard.press("Enter")
    expect(page.locator("#sheet")).to_be_visible()
    expect(page.locator("#sheet h2")).to_contain_text("Film")
    page.keyboard.press("Escape")
    expect(page.locator("#sheet")).to_be_hidden()
    expect(link).to_be_focused()
    do.press("#tray #continue")
    page.wait_for_url("**/recommendations/")


def recommendations(page: Page, do: Pointer) -> None:
    titles = page.locator(".shelf h2").all_inner_texts()
    assert len(set(titles)) == 5

    def still_there() -> None:
        assert page.locator(".shelf h2").all_inner_texts() == titles

    unsettle(page, still_there)
    do.press("#continue")
    page.wait_for_url("**/films/1/")


def items(page: Page, do: Pointer) -> None:
    for rank in range(1, 6):
        page.wait_for_url(f"**/films/{rank}/")
        if rank % 2:
            given = {"watched": "no", "heard": "yes", "trailer_seen": "no", "rating": str(rank)}
        else:
            given = {"watched": "yes", "rating": "4"}
        for key, value in given.items():
            selector = f"input[name='{key}'][value='{value}']"
            expect(page.locator(selector).locator("xpath=ancestor::label")).to_be_visible()
            do.tick(selector)
            until(lambda key=key, value=value, rank=rank: _answer(rank, key) == value, page, selector)  # type: ignore[misc]

        def still_there(given: dict[str, str] = given) -> None:
            for key, value in given.items():
                expect(page.locator(f"input[name='{key}'][value='{value}']")).to_be_checked()

        unsettle(page, still_there)
        do.press("#continue")


def overall(page: Page, do: Pointer) -> None:
    page.wait_for_url("**/overall/")
    do.tick("input[name=satisfaction][value='4']")
    do.fill("#comment", "Quite good")
    until(lambda: (_answer(0, "satisfaction"), _answer(0, "comment")) == ("4", "Quite good"), page, "overall")
    expect(page.locator("#saved")).to_have_text("Saved.")

    def still_there() -> None:
        expect(page.locator("input[name=satisfaction][value='4']")).to_be_checked()
        expect(page.locator("#comment")).to_have_value("Quite good")

    unsettle(page, still_there)
    do.press("#continue")
    page.wait_for_url("**/thanks/")


def thanks(page: Page, study: Study) -> None:
    participant = Participant.objects.get()
    unsettle(page, lambda: expect(page.locator("#completion-code")).to_have_text(participant.completion_code))
    assert re.fullmatch(r"[A-Z0-9]{8}", participant.completion_code)
    assert participant.status == ParticipantStatus.COMPLETED
    answers = {(r.rank, r.question): r.value for r in Response.objects.filter(participant=participant)}
    per_item = {1: 4, 2: 2, 3: 4, 4: 2, 5: 4}
    assert {rank: sum(key[0] == rank for key in answers) for rank in per_item} == per_item
    assert answers[(0, "satisfaction")] == 4
    assert answers[(0, "comment")] == "Quite good"
    assert (answers[(1, "rating")], answers[(3, "rating")], answers[(5, "rating")]) == (1, 3, 5)
