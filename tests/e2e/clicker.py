"""A participant who clicks through a study in Chromium, page by page, with a mouse, a finger or keys alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from studies.models import ProfileRating, Response


def until(is_so: Callable[[], bool], page: Page, what: str) -> None:
    """Wait until the server has it: answers are stored while the page stays as it is."""
    for _ in range(100):
        if is_so():
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"not stored: {what}")


NOT_SENT = """() => new Promise((resolve) => {
  const opening = indexedDB.open('parallax', 1);
  opening.onsuccess = () => {
    const posts = opening.result.transaction('posts').objectStore('posts').getAll();
    posts.onsuccess = () => resolve(posts.result.length);
  };
})"""


def all_sent(page: Page) -> None:
    """Wait until the browser has nothing left to send."""
    until(lambda: page.evaluate(NOT_SENT) == 0, page, "what the browser still holds")


def stored(rank: int, **answers: Any) -> Callable[[], bool]:
    def is_so() -> bool:
        found = dict(Response.objects.filter(rank=rank).values_list("question", "value"))
        return all(found.get(key) == value for key, value in answers.items())

    return is_so


def _look(_do: Pointer, is_there: Callable[[], None]) -> None:
    is_there()


class Pointer:
    """Does everything with a mouse or a finger.

    `look` is called on every page before it is left, with what checks that the answers are on it.
    """

    def __init__(self, page: Page, look: Callable[[Pointer, Callable[[], None]], None] = _look) -> None:
        self.page = page
        self.look = look

    def press(self, selector: str) -> None:
        self.page.locator(selector).first.click()

    def tick(self, selector: str) -> None:
        # The round button is covered by its row: people press the row.
        self.page.locator(selector).first.locator("xpath=ancestor::label").click()

    def fill(self, selector: str, text: str) -> None:
        self.page.locator(selector).fill(text)

    def choose(self, selector: str, value: str) -> None:
        self.page.locator(selector).select_option(value)

    def answer(self, **answers: str) -> None:
        for name, value in answers.items():
            self.tick(f"input[name={name}][value='{value}']")

    def come_back(self, here: str, following: str) -> None:
        """After the last answer about an item by pointer the next page comes by itself, sooner or later."""
        self.page.wait_for_url(f"**/{following}/")
        self.page.goto(here)

    def go_on(self, page: str) -> None:
        self.press("#continue")
        self.page.wait_for_url(f"**/{page}/")

    # Pages, each from its opening to the next one's

    def consent(self) -> None:
        for number in range(1, self.page.locator("input[name=box]").count() + 1):
            self.tick(f"#box-{number}")
        self.press("button[value=yes]")
        self.page.wait_for_url("**/about/")

    def about(self) -> None:
        self.look(self, lambda: expect(self.page.locator("h1")).to_have_text("About you"))
        self.fill_in_about()
        self.leave_about()

    def fill_in_about(self) -> None:
        self.answer(first_visit="yes", recommender_experience="no")
        self.fill("input[name=age]", "33")
        for name, value in (("gender", "woman"), ("education", "master"), ("items_per_month", "3_to_5")):
            self.choose(f"select[name={name}]", value)

    def leave_about(self) -> None:
        self.press("form.about button.go")
        self.page.wait_for_url("**/rate/")

    def rate(self) -> None:
        self.fill("#search", "film 1")
        self.page.wait_for_url(re.compile(r"q=film(\+|%20)1"))
        cards = self.page.locator("#grid > li[data-item]")
        expect(cards.first).to_be_visible()
        forms = [f"rating-{card.get_attribute('data-item')}" for card in cards.all()[:5]]
        given = {form: 5 - number for number, form in enumerate(forms)}
        for form, rating in given.items():
            self.press(f"#{form.replace('rating', 'film')} summary")
            self.tick(f"#{form} input[value='{rating}']")
            of_item = ProfileRating.objects.filter(item_id=form.removeprefix("rating-"), rating=rating)
            until(of_item.exists, self.page, f"{rating} of {form}")

        def is_there() -> None:
            expect(self.page.locator("#count b")).to_have_text("5 of 5")
            for form, rating in given.items():
                expect(self.page.locator(f"#{form} input[value='{rating}']")).to_be_checked()

        self.look(self, is_there)
        self.go_on("recommendations")

    def recommendations(self) -> None:
        titles = self.page.locator(".shelf h2").all_inner_texts()
        assert len(set(titles)) == 5

        def is_there() -> None:
            assert self.page.locator(".shelf h2").all_inner_texts() == titles

        self.look(self, is_there)
        self.go_on("items/1/1")

    def items(self) -> None:
        for rank in range(1, 6):
            here, following = self.page.url, f"items/1/{rank + 1}" if rank < 5 else "overall"
            watched = {"watched": "yes", "rating": "4"}
            given = (
                {"watched": "no", "heard": "yes", "trailer_seen": "no", "rating": str(rank)} if rank % 2 else watched
            )
            for key, value in given.items():
                expect(self.page.locator(f"#question-{key}")).to_be_visible()
                self.answer(**{key: value})
                kept = {"yes": True, "no": False}.get(value, int(value) if value.isdigit() else value)
                until(stored(rank, **{key: kept}), self.page, f"{key} of item {rank}")

            def is_there(given: dict[str, str] = given) -> None:
                for key, value in given.items():
                    expect(self.page.locator(f"input[name={key}][value='{value}']")).to_be_checked()

            self.come_back(here, following)
            self.look(self, is_there)
            self.go_on(following)

    def overall(self) -> None:
        self.answer(satisfaction="4")
        self.fill("#comment", "Quite good")
        until(stored(0, satisfaction=4, comment="Quite good"), self.page, "overall")
        expect(self.page.locator("#saved")).to_have_text("Saved.")

        def is_there() -> None:
            expect(self.page.locator("input[name=satisfaction][value='4']")).to_be_checked()
            expect(self.page.locator("#comment")).to_have_value("Quite good")

        self.look(self, is_there)
        self.go_on("thanks")

    def walk(self) -> None:
        """From the consent page to the last one."""
        for page in (self.consent, self.about, self.rate, self.recommendations, self.items, self.overall):
            page()


class Finger(Pointer):
    """Does everything with a finger on a screen; what a phone's own keyboard and pickers do is left to them."""

    def press(self, selector: str) -> None:
        self.page.locator(selector).first.tap()

    def tick(self, selector: str) -> None:
        self.page.locator(selector).first.locator("xpath=ancestor::label").tap()


class Keyboard(Pointer):
    """Does everything with keys alone."""

    def come_back(self, here: str, following: str) -> None:
        """By keys nothing comes by itself."""

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
        options = self.page.locator(f"{selector} option")
        for _ in range(options.count()):
            if self.page.locator(selector).input_value() == value:
                break
            self.page.keyboard.press("ArrowDown")
        expect(self.page.locator(selector)).to_have_value(value)
