"""A simulated participant over HTTP: reads the pages a person would see and answers their questions.

The walker uses neither the database nor URL routes. Like a browser, it follows links, fills in forms and posts each
answer separately. The answers come from a `SimulatedPerson`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

import httpx
import numpy as np
from lxml import html

from core.errors import ParallaxError
from studies.flow_pages import CHOSEN, ELICIT, END, ITEM_QUESTIONS, LIST, NONE
from studies.instrument.measures import TRAILER_SEEN
from studies.instrument.questionnaires.conditions import as_text
from studies.instrument.questionnaires.core import MEASURED, is_measured, measures_of
from studies.instrument.questionnaires.kinds import Preference
from studies.instrument.questionnaires.schema import Questionnaire
from studies.known_items import ItemsAsked
from studies.simulation.answer_model import MODELLED, TRUE, Answer, SimulatedPerson
from studies.simulation.walker.questions import QUESTIONS, Respondent, form_values, is_answered, key_of

PROVENANCE_HEADER = "X-Answer-Provenance"
MOST_STEPS = 200
MOST_ROUNDS = 12  # of follow-up questions on one page
# The site uses UTF-8, but htmx fragments do not declare it.
PARSER = html.HTMLParser(encoding="utf-8")
SECONDS_PLAYED = 4.0  # of a sample, for each point of interest in its item, from 1 to 5
PREPARATION_POLL_SECONDS, LONGEST_PREPARATION_SECONDS = 1.0, 600.0
SATISFACTION = "//form[@id='questions']//input[@name='satisfaction']"
BACK = "//*[contains(@class, 'onward')]/a/@href"


class EntryTurn:
    """One person's turn to enter a condition: it begins when all turns before it are over.

    Conditions and source users depend on the order of entry. To make concurrent walks reproducible, each walk waits
    for its turn before it consents and ends the turn once both are assigned.
    """

    def __init__(self, before: EntryTurn | None = None) -> None:
        self._before = before
        self._over = threading.Event()

    def wait(self) -> None:
        """Block until all earlier participants are assigned, unless this turn is over."""
        while self._before is not None and not self._over.is_set():
            self._before._over.wait()
            self._before = self._before._before

    def over(self) -> None:
        self._over.set()


@dataclass
class Page:
    """A received page: its address and parsed tree."""

    url: str
    tree: html.HtmlElement

    @classmethod
    def read(cls, url: str, content: bytes) -> Self:
        return cls(url, html.document_fromstring(content, parser=PARSER))

    @property
    def step(self) -> str:
        """The page's name; `message` for pages outside the flow."""
        return str(self.find("//body").get("data-step", ""))

    @property
    def kind(self) -> str:
        """The kind of a page of the flow; of others their name."""
        return str(self.find("//body").get("data-kind", "")) or self.step

    @property
    def occasion(self) -> int:
        """Which of several lists the page is about, from 1."""
        return int(self.find("//body").get("data-occasion", 1))

    def find(self, expression: str) -> html.HtmlElement:
        """Return the first element that matches the XPath.

        Raises ParallaxError `walker.not_found` if the page has no such element.
        """
        elements = self.tree.xpath(expression)
        if not isinstance(elements, list) or not elements:
            title = self.tree.findtext(".//title", default="").strip()
            raise ParallaxError(
                "walker.not_found",
                f"A simulated participant stopped at {self.url} ({title!r}): the page has no {expression}.",
                {"url": self.url},
            )
        return elements[0]

    def text(self, expression: str) -> str:
        return str(self.find(expression).text_content()).strip()


@dataclass
class Walk:
    """Result of one walk."""

    code: str = ""
    completion_code: str = ""
    outcome: str = ""
    n_requests: int = 0
    counts: dict[str, int] = field(default_factory=dict)


class Walker:
    """Walks one study from the consent page to the end.

    `client` has the site's address as its `base_url`, and its own cookies. `answers` are fixed answers by the name of
    the form's control; the others about the person are drawn from the options on the page. `person_for` maps the
    participant code on the page to the answering person; it is called after assignment, because source users are drawn
    without replacement within a condition. `item_titles` and `item_ids` are by item index: the title to search for, and
    the id used in pages. `requested` serves walks that are resumed after the rating step. `rng` is for choices outside
    the answer model. `questionnaire` is the study's.
    """

    def __init__(
        self,
        *,
        client: httpx.Client,
        entry: str,
        answers: Mapping[str, Any],
        person_for: Callable[[str], SimulatedPerson],
        item_titles: Mapping[int, str],
        item_ids: Mapping[int, int],
        requested: ItemsAsked,
        questionnaire: Questionnaire,
        rng: np.random.Generator,
        turn: EntryTurn | None = None,
    ) -> None:
        self.client = client
        self.turn = turn or EntryTurn()
        self.entry = entry
        self.respondent = Respondent(answers, rng, questionnaire)
        measures = measures_of(questionnaire)
        self.core = frozenset(key for block, key in MEASURED if is_measured(block, key, measures))
        self.asks_about_items = bool(questionnaire.items)
        self.person_for = person_for
        self.item_titles = item_titles
        self.item_ids = item_ids
        self.item_indexes = {pk: index for index, pk in item_ids.items()}
        self.requested = requested
        self.rng = rng
        self.walk = Walk()

    def run(self) -> Walk:
        """Walk to the end and return the result.

        Raises ParallaxError when a page lacks a required element, or the site responds with an error.
        """
        for page in self.pages():
            self.walk.outcome = page.step
        if page.kind == END:
            self.walk.completion_code = page.text("//*[@id='completion-code']")
        return self.walk

    def pages(self) -> Iterator[Page]:
        """Yield every page of the way; a page is answered when the next one is requested.

        Raises ParallaxError as `run` does.
        """
        page = self._get(self.entry)
        for _ in range(MOST_STEPS):
            self.walk.counts[page.step] = self.walk.counts.get(page.step, 0) + 1
            yield page
            if page.kind in (END, "message"):
                return
            page = getattr(self, f"_at_{page.kind}")(page)
        raise ParallaxError("walker.in_circles", f"A simulated participant went in circles at {page.url}.")

    # One method per kind of page -----------------------------------------------------------------------

    def _at_consent(self, page: Page) -> Page:
        form = page.find("//form[@method='post']")
        data = self._hidden(form)
        data["box"] = [box.get("value", "") for box in form.xpath(".//input[@name='box']")]
        self.turn.wait()  # studies may assign at consent
        return self._post(page.url, {**data, "choice": "yes"}, MODELLED)

    def _at_questions(self, page: Page) -> Page:
        if page.tree.xpath("//form[@id='about']"):
            return self._assigned_by(page)
        self._remember(page)
        if "satisfaction" in self.core and page.tree.xpath(SATISFACTION):
            self._answer(page, "satisfaction", self._known_person(page).satisfaction())
        return self._onward(self._answer_the_rest(page))

    def _assigned_by(self, page: Page) -> Page:
        self.walk.code = page.text("//footer//*[@class='code']")
        form = page.find("//form[@method='post']")
        data = {**self._hidden(form), **form_values(form)}
        for question in form.xpath(f"{QUESTIONS}[not(@hidden)]"):
            if not is_answered(question):
                data |= self.respondent.answer_to(question, is_about=True)
        # Simulated participants mean what they answer, also where it excludes them.
        data |= {button.get("name"): button.get("value", "") for button in form.xpath(".//button[@name]")}
        self.turn.wait()
        return self._post(page.url, data, MODELLED)

    def _at_text(self, page: Page) -> Page:
        return self._post(page.url, self._hidden(page.find("//form[contains(@class, 'onward')]")), MODELLED)

    def _at_list(self, page: Page) -> Page:
        if not self.asks_about_items:
            self._judge_list(self._known_person(page), page)
        return self._at_text(page)

    def _judge_list(self, person: SimulatedPerson, page: Page) -> None:
        """Where nothing is asked about single items, they are judged as they are seen."""
        for item in page.tree.xpath("//li[@data-item]/@data-item"):
            person.about_item(self.item_indexes[int(item)])

    def _at_elicit(self, page: Page) -> Page:
        person = self.respondent.person = self._assigned_person(page)
        tray = page.find("//*[@id='tray']")
        fewest = int(tray.get("data-asked", "5"))
        for item, rating in person.profile(fewest, int(tray.get("data-most", fewest))).items():
            results = self._get(page.url, {"q": self.item_titles[item]})
            form = results.find(f"//form[@id='rating-{self.item_ids[item]}']")
            self._look_at_details(results, self.item_ids[item], probability=0.25)
            if form.xpath(".//button[@aria-pressed='true']"):
                continue  # chosen before an interruption; another press would remove it
            is_choice = bool(form.xpath(".//button[@aria-pressed]"))
            self._post(
                form.get("action", ""),
                self._hidden(form) if is_choice else {**self._hidden(form), "rating": str(rating)},
                TRUE if is_choice else person.rating_provenance,
                is_htmx=True,
            )
        return self._post(page.url, self._hidden(page.find("//*[@id='tray']//form")), MODELLED)

    def _at_preparation(self, page: Page) -> Page:
        until = time.monotonic() + LONGEST_PREPARATION_SECONDS
        while page.step == "preparation" and time.monotonic() < until:
            time.sleep(PREPARATION_POLL_SECONDS)
            page = self._get(page.url)
        return page

    def _at_item_questions(self, page: Page) -> Page:
        person = self._known_person(page)
        item = self._item_of(page)
        answers = person.about_item(self.item_indexes[item])
        if not answers["watched"].value:
            self._look_at_details(page, item, probability=0.8)
        for key, answer in answers.items():
            if key not in self.core:
                continue
            if key != TRAILER_SEEN or page.tree.xpath(f"//form[@id='questions']//input[@name='{key}']"):
                self._answer(page, key, answer)
        return self._onward(self._answer_the_rest(page))

    def _at_choice(self, page: Page) -> Page:
        person = self._known_person(page)
        cards = page.tree.xpath("//input[@name='chosen'][@data-item]")
        items = [int(card.get("data-item")) for card in sorted(cards, key=lambda card: int(card.get("value")))]
        answer = person.choose([self.item_indexes[item] for item in items], self.rng)
        if answer.value != NONE:
            self._look_at_details(page, items[answer.value - 1], probability=0.5)
        self._answer(page, CHOSEN, answer)
        return self._onward(page)

    def _at_compare(self, page: Page) -> Page:
        person, questions = self._known_person(page), self.respondent.questions
        shown = page.tree.xpath("//*[@class='lists']/section")
        left, right = ([self.item_indexes[int(item)] for item in each.xpath(".//li/@data-item")] for each in shown)
        for key in map(key_of, page.tree.xpath(f"//form[@id='questions']{QUESTIONS[1:]}[not(@hidden)]")):
            if isinstance(questions[key], Preference):
                self._answer(page, key, person.prefer(left, right, self.rng))
        return self._onward(self._answer_the_rest(page))

    # Shared steps -------------------------------------------------------------------

    def _assigned_person(self, page: Page) -> SimulatedPerson:
        self.walk.code = page.text("//footer//*[@class='code']")
        person = self.person_for(self.walk.code)
        self.turn.over()
        return person

    def _remember(self, page: Page) -> None:
        """Turn the person to the page's list; after a resume, replay their answers, as far as links lead back."""
        if self.respondent.person is not None or page.tree.xpath(BACK):
            self._known_person(page)

    def _known_person(self, page: Page) -> SimulatedPerson:
        """Return the answering person, turned to the page's list; after a resume, replay their answers before it.

        All answers of a person come from one stream, and satisfaction depends on the item ratings.
        """
        person = self.respondent.person
        if person is None:
            person = self._assigned_person(page)
            person.profile(self.requested.fewest, self.requested.most)
            before: list[Page] = []
            while back := (before[-1] if before else page).tree.xpath(BACK):
                before.append(self._get(back[0]))
            for earlier in reversed(before):
                self._replay(person, earlier)
            self.respondent.person = person
        person.turn_to(page.occasion)
        return person

    def _replay(self, person: SimulatedPerson, page: Page) -> None:
        person.turn_to(page.occasion)
        if page.kind == ITEM_QUESTIONS:
            person.about_item(self.item_indexes[self._item_of(page)])
        elif page.kind == LIST and not self.asks_about_items:
            self._judge_list(person, page)
        elif page.tree.xpath(SATISFACTION) and "satisfaction" in self.core:
            person.satisfaction()

    @staticmethod
    def _item_of(page: Page) -> int:
        return int(page.find("//*[@data-item]").get("data-item", ""))

    def _answer(self, page: Page, key: str, answer: Answer) -> None:
        form = page.find("//form[@id='questions']")
        value = as_text(answer.value)
        page.find(f"//form[@id='questions']//input[@name='{key}'][@value='{value}']")
        self._send(page.url, {**self._hidden(form), key: value}, answer.provenance, is_htmx=True)

    def _answer_the_rest(self, page: Page) -> Page:
        questions = page.tree.xpath(f"//form[@id='questions']{QUESTIONS[1:]}")
        if all(key_of(question) in self.core for question in questions):
            return page
        for _ in range(MOST_ROUNDS):
            page = self._get(page.url)
            form = page.find("//form[@id='questions']")
            shown = [q for q in form.xpath(f"{QUESTIONS}[not(@hidden)]") if key_of(q) not in self.core]
            data: dict[str, Any] = {}
            for question in shown:
                if not is_answered(question):
                    data |= self.respondent.answer_to(question)
            if not data:
                break
            self._send(page.url, {**self._hidden(form), **data}, MODELLED, is_htmx=True)
        return page

    def _onward(self, page: Page) -> Page:
        form = page.find("//form[@id='questions']")
        return self._post(page.url, {**self._hidden(form), "continue": "1"}, MODELLED)

    def _look_at_details(self, page: Page, item: int, *, probability: float) -> None:
        if self.rng.random() < probability:
            for address in page.tree.xpath(f"//a[contains(@href, '/details/{item}/')]/@href")[:1]:
                details = self._get(address, is_htmx=True)
                if page.kind != ELICIT and page.tree.xpath("//body[@data-times-samples]"):
                    self._play(page, item, details.tree.xpath("//*[self::audio or self::video]/@data-item"))

    def _play(self, page: Page, item: int, names: list[str]) -> None:
        """Play the sample in an item's details, the longer the greater the interest is, as a browser reports it."""
        body, person = page.find("//body"), self._known_person(page)
        seconds = SECONDS_PLAYED * person.interest(self.item_indexes[item])
        for name in names:
            event = {
                "id": self.rng.bytes(8).hex(),
                "kind": "sample_played",
                "page": body.get("data-page"),
                "rank": int(body.get("data-rank", 0)),
                "occasion": page.occasion,
                "at": 1000 * time.time(),
                "item": name,
                "seconds": seconds,
            }
            self._checked("POST", self.client.post(body.get("data-events", ""), json={"events": [event]}))

    @staticmethod
    def _hidden(form: html.HtmlElement) -> dict[str, Any]:
        own = f".//input[@type='hidden'][not(ancestor::*[{QUESTIONS.partition('[')[2]})]"
        return {field.get("name", ""): field.get("value", "") for field in form.xpath(own)}

    def _get(self, url: str, query: Mapping[str, str] | None = None, *, is_htmx: bool = False) -> Page:
        headers = {"HX-Request": "true"} if is_htmx else {}
        response = self.client.get(url, params=query, headers=headers, follow_redirects=True)
        return self._page(self._checked("GET", response))

    def _post(self, url: str, data: Mapping[str, Any], provenance: str, *, is_htmx: bool = False) -> Page:
        return self._page(self._send(url, data, provenance, is_htmx=is_htmx))

    def _send(self, url: str, data: Mapping[str, Any], provenance: str, *, is_htmx: bool = False) -> httpx.Response:
        target = urljoin(str(self.client.base_url), url)
        headers = {
            "Referer": target,
            PROVENANCE_HEADER: provenance,
            **({"HX-Request": "true"} if is_htmx else {}),
        }
        response = self.client.post(target, data=dict(data), headers=headers, follow_redirects=True)
        return self._checked("POST", response)

    @staticmethod
    def _page(response: httpx.Response) -> Page:
        return Page.read(str(response.url), response.content)

    def _checked(self, method: str, response: httpx.Response) -> httpx.Response:
        self.walk.n_requests += 1 + len(response.history)
        if response.is_error:
            path = urlsplit(str(response.url)).path
            raise ParallaxError(
                "walker.error",
                f"{method} {path} answered {response.status_code}.",
                {"url": str(response.url), "status": response.status_code},
            )
        return response
