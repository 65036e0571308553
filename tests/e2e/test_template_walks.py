"""Every template in Chromium: the whole study by touch on a phone, by keys at a desk, and without a script.

On every kind of page something goes wrong: the page is reloaded, left backwards, opened in a second tab, its connection
is lost, or the participant returns on another device. Each template meets each of these on each kind of page once, in
one of its two walks, in English and Italian; where several lists come in turn, on the pages of the second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import Error as PlaywrightError

from studies.allocation.selectors.allocations import replayed_log
from studies.design.selectors.placeholders import content_of
from studies.design.services.launch import launch_study
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, Study
from studies.participation.services.participant_state import list_lengths
from tests.e2e.clicker import Finger, Keyboard, Pointer, all_sent, until
from tests.e2e.test_accessibility import SIDEWAYS, violations, with_axe
from tests.e2e.tunnel import Tunnel
from tests.studies.test_templates import ALGORITHMS, TWO, Asked, books, created, expect_lists, films, news

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
LOCALES = {"en": "en-GB", "it": "it-IT", "de": "de-DE"}
DATA = {
    "explanations": films, "diversity-dose": books, "reading": news, "choose-one": films, "cremonesi-2011": films,
    "three-in-turn": films, "two-lists": news,
}  # fmt: skip
SAID = {"age": "33", "first_visit": "yes", "recommender_experience": "no", "gender": "woman"}  # admitted everywhere

# What is still to be answered on a page, in its order: the name of each control or group of them, and its values.
OPEN = """() => [...document.querySelectorAll('.question')].filter((one) => one.checkVisibility()).flatMap((part) => {
  const isMark = ({ type }) => ['radio', 'checkbox'].includes(type);
  const controls = [...part.querySelectorAll('input:not([type=hidden], [type=range]), select, textarea')]
    .filter((one) => !one.name.endsWith('--declined') && (one.closest('label') ?? one).checkVisibility());
  return [...new Set(controls.map(({ name }) => name))].flatMap((name) => {
    const own = controls.filter((one) => one.name === name);
    const values = own.flatMap((one) => one.options ? [...one.options].map(({ value }) => value) : [one.value]);
    const isAnswered = own.some((one) => isMark(one) ? one.checked : one.value);
    return isAnswered ? [] : [{ name, tag: own[0].type, values: values.filter(Boolean) }];
  });
})"""
STATE = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  return {
    answers: all('main .question :is(input:not([type=hidden], [type=range]), select, textarea)')
      .filter((one) => ['radio', 'checkbox'].includes(one.type) ? one.checked : one.value)
      .map(({ name, value }) => `${name}=${value}`).sort(),
    ratings: all('#grid form :is(input:checked, [aria-pressed=true])').map(({ form, value }) => form.id + value).sort(),
    titles: all('.film :is(h2, h3), .one-film h1').map((one) => one.textContent),
    code: all('#completion-code').map((one) => one.textContent),
  };
}"""
NOT_TOLD = "Object.keys(localStorage).filter((key) => key.startsWith('parallax.told.')).length"


def in_form(value: Any) -> str:
    """A stored value as a form has it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


class Walk:
    """One participant, from the consent page to the last one, with what is to go wrong on each kind of page."""

    def __init__(
        self, browser: Browser, tunnel: Tunnel, study: Study, hands: type[Pointer], language: str, **device: Any
    ) -> None:
        self.browser, self.tunnel, self.study, self.hands, self.language = browser, tunnel, study, hands, language
        self.given: dict[Asked, str] = {}
        self.rated: dict[int, str] = {}
        self.problems: list[str] = []
        self.met: set[tuple[str, str]] = set()
        self.open(LOCALES[language], **device)

    def open(self, locale: str, **more: Any) -> None:
        """Take another device."""
        is_phone = issubclass(self.hands, Finger)
        self.context = self.browser.new_context(
            viewport=PHONE if is_phone else DESK,  # type: ignore[arg-type]
            has_touch=is_phone, locale=locale, reduced_motion="reduce", **more,
        )  # fmt: skip
        self.context.on("weberror", lambda error: self.problems.append(str(error.error)))
        self.context.on("request", self._stays_here)
        self.page = self.context.new_page()
        self.do = self.hands(self.page)

    def _stays_here(self, request: Any) -> None:
        if not request.url.startswith(self.tunnel.url):
            self.problems.append(f"another site is asked: {request.url}")

    @property
    def kind(self) -> str:
        return str(self.page.locator("body").get_attribute("data-kind") or "none")

    def state(self, page: Page | None = None) -> Any:
        return (page or self.page).evaluate(STATE)

    def expect_same(self, before: Any, page: Page | None = None) -> None:
        until(lambda: self.state(page) == before, self.page, f"{before} shows again")

    def is_stored(self) -> bool:
        me = Participant.objects.latest("pk")
        stored: dict[Asked, str] = {}
        for row in me.responses.all():
            parts = row.value.items() if isinstance(row.value, dict) else [("", row.value)]
            for part, value in parts:
                name = f"{row.question}.{part}" if part else row.question
                stored[row.occasion, row.rank, name] = in_form(value)
        profile = {pk: str(rating) for pk, rating in me.profile.values_list("item_id", "rating")}
        return (stored, profile) == (self.given, self.rated)

    def is_told(self) -> bool:
        """Whether the browser told that each page of each of several lists was shown."""
        me, flow = Participant.objects.get(), content_of(self.study).flow
        shown = set(me.events.filter(kind="page_shown").values_list("page", "rank", "occasion"))
        places = {place for place in flow.places(list_lengths(me)) if flow.is_repeated(place.page)}
        return {(place.page, place.rank, place.occasion) for place in places} <= shown

    def look(self) -> None:
        where = f"{self.kind} of {self.study.slug}, {self.language}"
        expect(self.page.locator("html")).to_have_attribute("lang", self.language)
        with_axe(self.page)
        self.problems += [f"{where}: {problem}" for problem in violations(self.page)]
        self.problems += [f"{where}: scrolls sideways"] * bool(self.page.evaluate(SIDEWAYS))

    # Answers

    def answer(self, do: Pointer, name: str, tag: str, values: list[str]) -> None:
        body = do.page.locator("body")
        occasion = int(body.get_attribute("data-occasion") or 1)
        rank = int(body.get_attribute("data-rank") or 0)
        if tag == "radio":
            value = SAID.get(name) or values[(len(name) + rank + occasion - 1) % min(5, len(values))]
            do.tick(f"input[name='{name}'][value='{value}']")
        elif tag.startswith("select"):
            value = SAID.get(name, values[-1])
            do.choose(f"select[name={name}]", value)
        else:
            value = SAID.get(name, "Così, così")
            do.fill(f"[name={name}]", value)
            do.page.locator(f"[name={name}]").blur()
        self.given[occasion, rank, name] = value

    def answer_until(self, n_left: int, do: Pointer | None = None) -> None:
        do = do or self.do
        while len(missing := do.page.evaluate(OPEN)) > n_left:
            self.answer(do, missing[0]["name"], missing[0]["tag"], missing[0]["values"])

    def rate(self, do: Pointer, number: int) -> dict[int, str]:
        item = str(do.page.locator("#grid > li[data-item]").nth(number).get_attribute("data-item"))
        do.press(f"#film-{item} summary")
        marks = do.page.locator(f"#rating-{item} input[type=radio]").count()
        if marks:
            do.tick(f"#rating-{item} input[value='{1 + number % marks}']")
        else:
            do.press(f"#rating-{item} .choose")
        return {int(item): str(1 + number % marks if marks else 1)}

    def rate_up_to(self, n: int) -> None:
        for number in range(len(self.rated), n):
            self.rated |= self.rate(self.do, number)
            expect(self.page.locator("#count b")).to_have_text(re.compile(rf"^\s*{number + 1}\b"))

    def leave(self, do: Pointer) -> None:
        do.press("form.about > button.go" if do.page.locator("form.about").count() else "#continue")

    # What goes wrong

    def reload(self) -> None:
        self.page.reload()

    def back(self) -> None:
        address = self.page.url
        self.page.go_back()
        expect(self.page.locator("h1")).to_have_count(1)
        self.page.go_forward()
        assert self.page.url == address

    def device(self) -> None:
        address = self.page.url
        until(lambda: self.page.evaluate(NOT_TOLD) == 0, self.page, "what the browser still has to tell")
        self.context.close()
        self.open("fr-FR")  # the language is the participant's, not the device's
        self.page.goto(re.sub(r"(/s/p/[^/]+/).*", r"\1", address))
        assert self.page.url == address

    def again(self, second: Page, kind: str, address: str) -> None:
        """The other tab is late with the same, and is led to where the participant is."""
        do, given = self.hands(second), dict(self.given)
        second.bring_to_front()
        if kind == "elicit":
            self.rate(do, len(self.rated))  # one too many, of which nothing is stored
        else:
            second.set_default_timeout(10_000)
            with suppress(PlaywrightError, AssertionError):  # led on at its first answer, whatever is pressed then
                self.answer_until(0, do)
                second.wait_for_timeout(700)
                if second.url == address:
                    self.leave(do)
        second.wait_for_url(self.page.url)
        second.close()
        assert self.given == given
        self.page.bring_to_front()

    def consent(self, wrong: tuple[str, ...]) -> None:
        entry = f"{self.tunnel.url}/s/{self.study.slug}/"
        self.page.goto(entry)
        self.look()
        if "reload" in wrong:
            self.page.reload()
        second = self.context.new_page() if "tab" in wrong else None
        if second:
            second.goto(entry)
            self.page.bring_to_front()
        if "lost" in wrong:
            self.tunnel.cut(self.context)
            for number in range(1, self.page.locator("input[name=box]").count() + 1):
                self.do.tick(f"#box-{number}")
            self.do.press("button[value=yes]")
            expect(self.page.locator("#connection")).to_be_visible()
            self.tunnel.mend(self.context)
            self.page.wait_for_url("**/about/")
        else:
            self.do.consent()
        if second:
            second.bring_to_front()
            self.hands(second).consent()
            assert second.url == self.page.url
            second.close()
        assert Participant.objects.count() == 1

    def visit(self, wrong: tuple[str, ...]) -> None:
        """One page, until the next one shows."""
        kind, address = self.kind, self.page.url
        self.met |= {(kind, each) for each in wrong}
        advances = kind == "item_questions" and isinstance(self.do, Finger)  # by itself after the last answer
        is_late = advances or bool({"lost", "tab"} & set(wrong))
        asked = self.study.design.items_asked.fewest
        if kind == "elicit":
            self.rate_up_to(asked - is_late)
        else:
            self.answer_until(int(is_late))
        self.look()
        until(self.is_stored, self.page, f"{self.given} and {self.rated} on {kind}")
        before = self.state()
        for each in wrong:
            if each in ("reload", "back", "device"):
                getattr(self, each)()
                self.expect_same(before)
        second = self.context.new_page() if "tab" in wrong else None
        if second:
            second.goto(address)
            self.expect_same(before, second)
            self.page.bring_to_front()
        if "lost" in wrong:
            self.tunnel.cut(self.context)
        if kind == "end":
            self.tunnel.mend(self.context)
            self.page.reload()
            self.expect_same(before)
            return
        if kind == "elicit":
            self.rate_up_to(asked)
        else:
            self.answer_until(0)
        if not advances:
            self.leave(self.do)
        if "lost" in wrong:
            expect(self.page.locator("#connection")).to_be_visible()
            self.tunnel.mend(self.context)
        self.page.wait_for_url(lambda url: url != address)
        all_sent(self.page)
        until(self.is_stored, self.page, f"{self.given} and {self.rated} after {kind}")
        if second:
            self.again(second, kind, address)
            until(self.is_stored, self.page, f"{self.given} and {self.rated} after both tabs left {kind}")

    def walk(self, wrong: tuple[str, ...]) -> None:
        self.consent(wrong)
        content = content_of(self.study)
        while (kind := self.kind) != "end":
            here, body = wrong, self.page.locator("body")
            if content.flow.is_repeated(str(body.get_attribute("data-page"))):
                occasion = int(body.get_attribute("data-occasion") or 1)
                here = wrong if occasion == min(2, content.n_occasions) else ()
            if kind == "item_questions":  # one thing on each item
                at = int(str(body.get_attribute("data-rank"))) - 1
                here = here[at : at + 1]
            self.visit(here)
        self.visit(wrong)
        until(self.is_told, self.page, "each page of each of several lists was shown")
        self.context.close()


@pytest.fixture
def tunnel(live_server: Any) -> Iterator[Tunnel]:
    with Tunnel(live_server.url) as made:
        yield made


def launched(key: str) -> Study:
    study = created(key, DATA[key](ALGORITHMS.get(key, TWO)), settings={"block_multiples": [1]})
    launch_study(study=study)
    study.refresh_from_db()
    return study


def expect_whole(study: Study) -> None:
    """One participant with one slot, the lists of their conditions and everything once."""
    me = Participant.objects.get()
    assert me.status == ParticipantStatus.COMPLETED
    expect_lists(me)
    assert me.allocations.count() == 1
    assert replayed_log(study, Mode.LIVE).problem == ""


# The hands and language of each template's two walks, and what goes wrong in them: all of it in one or the other.
FIRST, SECOND = ("reload", "device", "lost"), ("back", "tab")
WALKS = [
    ("explanations", Finger, "it", FIRST), ("explanations", Keyboard, "en", SECOND),
    ("diversity-dose", Finger, "en", SECOND), ("diversity-dose", Keyboard, "it", FIRST),
    ("reading", Finger, "en", FIRST), ("reading", Keyboard, "it", SECOND),
    ("choose-one", Finger, "it", SECOND), ("choose-one", Keyboard, "en", FIRST),
    ("cremonesi-2011", Finger, "it", SECOND), ("cremonesi-2011", Keyboard, "en", FIRST),
    ("three-in-turn", Finger, "en", FIRST), ("three-in-turn", Keyboard, "it", SECOND),
    ("two-lists", Finger, "it", SECOND), ("two-lists", Keyboard, "en", FIRST),
]  # fmt: skip


@pytest.mark.parametrize(("key", "hands", "language", "wrong"), WALKS)
def test_a_template_is_walked_whatever_goes_wrong(
    tunnel: Tunnel, browser: Browser, key: str, hands: type[Pointer], language: str, wrong: tuple[str, ...]
) -> None:
    study = launched(key)
    walk = Walk(browser, tunnel, study, hands, language)
    walk.walk(wrong)
    assert walk.problems == []
    kinds = {page.kind for page in content_of(study).flow.pages}
    assert walk.met == {(kind, each) for kind in kinds for each in wrong}
    expect_whole(study)
    if hands is Finger:  # keys pass other answers on their way, and a matrix is stored row by row
        me = Participant.objects.get()
        assert {row.n_changes for row in me.responses.all() if not isinstance(row.value, dict)} == {0}
        assert set(me.profile.values_list("n_changes", flat=True)) == {0}


WITHOUT_SCRIPT = [
    ("explanations", "en"), ("diversity-dose", "it"), ("reading", "de"), ("choose-one", "it"), ("three-in-turn", "en"),
    ("two-lists", "it"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "language"), WITHOUT_SCRIPT)
def test_a_template_is_walked_without_a_script(tunnel: Tunnel, browser: Browser, key: str, language: str) -> None:
    study = launched(key)
    walk = Walk(browser, tunnel, study, Pointer, language, java_script_enabled=False)
    page = walk.page
    page.goto(f"{tunnel.url}/s/{study.slug}/")
    walk.do.consent()
    met = set()
    while (kind := walk.kind) != "end":
        met.add(kind)
        expect(page.locator("html")).to_have_attribute("lang", language)
        if kind == "elicit":
            for number in range(study.design.items_asked.fewest):
                walk.rated |= walk.rate(walk.do, number)
                saved = page.locator("#grid details[open] noscript button")
                if saved.count():
                    saved.click()
                expect(page.locator("#count b")).to_have_text(re.compile(rf"^\s*{number + 1}\b"))
            walk.leave(walk.do)
            continue
        if page.locator(".question[data-required]").count():
            walk.leave(walk.do)  # what is missing is said, and nothing is lost
            expect(page.locator(".problem").first).to_be_visible()
        for _time in range(2):  # an answer may open another question
            walk.answer_until(0)
            at = page.url
            walk.leave(walk.do)
            page.wait_for_load_state()
            if page.url != at:
                break
    expect(page.locator("#completion-code")).to_have_text(Participant.objects.get().completion_code)
    assert walk.is_stored()
    assert {*met, "end"} == {each.kind for each in content_of(study).flow.pages}
    assert walk.problems == []
    expect_whole(study)
    walk.context.close()
