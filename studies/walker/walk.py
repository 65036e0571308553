"""A simulated participant over HTTP: reads the pages a person would see, and answers what they ask.

Knows no database and no route: it follows links, fills the forms it finds and posts every answer by itself, as a
browser does. What it answers comes from a `SimulatedPerson`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

import numpy as np
from lxml import html

from core.errors import ParallaxError
from studies.answer_model import MODELLED, Answer, SimulatedPerson
from studies.walker.client import Client, Response
from studies.walker.pages import Page, xpath
from studies.walker.questions import QUESTIONS, Respondent, filled, is_answered, is_optional_text, key_of
from studies.walker.turns import Turn

PROVENANCE_HEADER = "X-Answer-Provenance"
MOST_STEPS = 60
MOST_ROUNDS = 12  # questions that open one after another on a page
CORE = frozenset({"watched", "heard", "trailer_seen", "rating", "satisfaction"})


@dataclass
class Walk:
    """What came of one walk."""

    code: str = ""
    completion_code: str = ""
    outcome: str = ""
    n_requests: int = 0
    counts: dict[str, int] = field(default_factory=dict)


class Walker:
    """Walks one study from the consent page to the end.

    Parameters
    ----------
    client : Client
        With the site's address as `base_url`; cookies are the walker's own.
    entry : str
        Path of the study's link.
    facts : mapping
        Gender and age; what else is asked about the person is drawn from what the page offers.
    person_for : callable
        From the participant code printed on the page to the person who answers. Called once the participant
        has a condition, because source users are drawn without replacement within a condition.
    item_titles : mapping of int to str
        Title of each item index, to search for it as a person would.
    item_ids : mapping of int to int
        Item index to the id by which pages name the item.
    ratings_asked : int
        Items to rate, for a person who comes back after having done so.
    rng : numpy.random.Generator
        For choices the person does not make: fields about the person, details looked at.
    turn : Turn
        When the person may enter a condition.
    negative : frozenset of str
        Names of the statements that find fault, which a person understands and a program does not.
    expected : mapping of str to str
        The answer that passes each attention check, for the same reason; the pages do not say it.
    """

    def __init__(
        self,
        *,
        client: Client,
        entry: str,
        facts: Mapping[str, Any],
        person_for: Callable[[str], SimulatedPerson],
        item_titles: Mapping[int, str],
        item_ids: Mapping[int, int],
        ratings_asked: int,
        rng: np.random.Generator,
        turn: Turn | None = None,
        negative: frozenset[str] = frozenset(),
        expected: Mapping[str, str] | None = None,
    ) -> None:
        self.client = client
        self.turn = turn or Turn()
        self.entry = entry
        self.respondent = Respondent(facts, rng, negative, expected or {})
        self.person_for = person_for
        self.item_titles = item_titles
        self.item_ids = item_ids
        self.item_indexes = {pk: index for index, pk in item_ids.items()}
        self.ratings_asked = ratings_asked
        self.rng = rng
        self.walk = Walk()

    def run(self) -> Walk:
        """Walk to the end and return what came of it.

        Raises
        ------
        ParallaxError
            A page is not as a participant needs it, or the site answers with an error.
        """
        page = self._get(self.entry)
        for _ in range(MOST_STEPS):
            step = page.find("//body").get("data-step", "")
            self.walk.counts[step] = self.walk.counts.get(step, 0) + 1
            if step in ("thanks", "message"):
                break
            page = getattr(self, f"_at_{step}")(page)
        else:
            raise ParallaxError("walker.in_circles", f"A simulated participant went in circles at {page.url}.")
        self.walk.outcome = step
        if step == "thanks":
            self.walk.completion_code = page.text("//*[@id='completion-code']")
        return self.walk

    # One method a page -------------------------------------------------------------------------------

    def _at_consent(self, page: Page) -> Page:
        form = page.find("//form[@method='post']")
        data = self._hidden(form)
        data["box"] = [box.get("value", "") for box in xpath(form, ".//input[@name='box']")]
        return self._post(page.url, {**data, "choice": "yes"}, MODELLED)

    def _at_about(self, page: Page) -> Page:
        self.walk.code = page.text("//footer//*[@class='code']")
        form = page.find("//form[@method='post']")
        data = {**self._hidden(form), **filled(form)}
        for question in xpath(form, f"{QUESTIONS}[not(@hidden)]"):
            if not is_answered(question):
                data |= self.respondent.answer_to(question, is_about=True)
        self.turn.wait()
        return self._post(page.url, data, MODELLED)

    def _at_rate(self, page: Page) -> Page:
        person = self.respondent.person = self._met(page)
        asked = int(page.find("//*[@id='tray']").get("data-asked", "5"))
        for item, rating in person.profile(asked).items():
            found = self._get(page.url, {"q": self.item_titles[item]})
            form = found.find(f"//form[@id='rating-{self.item_ids[item]}']")
            self._look_at_details(found, self.item_ids[item], probability=0.25)
            self._post(
                form.get("action", ""),
                {**self._hidden(form), "rating": str(rating)},
                person.rating_provenance,
                is_htmx=True,
            )
        return self._post(page.url, self._hidden(page.find("//*[@id='tray']//form")), MODELLED)

    def _at_recommendations(self, page: Page) -> Page:
        return self._post(page.url, self._hidden(page.find("//form[contains(@class, 'onward')]")), MODELLED)

    def _at_item(self, page: Page) -> Page:
        person = self._known_person(page)
        item = self._item_of(page)
        answers = person.about_item(self.item_indexes[item])
        if not answers["watched"].value:
            self._look_at_details(page, item, probability=0.8)
        for key, answer in answers.items():
            self._answer(page, key, answer)
        return self._onward(self._answer_the_rest(page))

    def _at_overall(self, page: Page) -> Page:
        self._answer(page, "satisfaction", self._known_person(page).satisfaction())
        return self._onward(self._answer_the_rest(page))

    def _at_after(self, page: Page) -> Page:
        if self.respondent.person is None:
            before = self._get(page.find("//*[@class='onward']/a").get("href", ""))
            self._known_person(before).satisfaction()
        return self._onward(self._answer_the_rest(page))

    # What the pages have in common -------------------------------------------------------------------

    def _met(self, page: Page) -> SimulatedPerson:
        """The person behind the code on the page, who has a condition."""
        self.walk.code = page.text("//footer//*[@class='code']")
        person = self.person_for(self.walk.code)
        self.turn.over()
        return person

    def _known_person(self, page: Page) -> SimulatedPerson:
        """The person who answers; one who comes back goes again through what they were asked before this page.

        A person's answers follow one another in one stream, and the last depends on those about the items.
        """
        person = self.respondent.person
        if person is None:
            person = self._met(page)
            person.profile(self.ratings_asked)
            for thumb in xpath(page.tree, "//ol[@class='thumbs']/li"):
                if "now" in thumb.get("class", ""):
                    break
                before = self._get(xpath(thumb, "string(a/@href)"))
                person.about_item(self.item_indexes[self._item_of(before)])
            self.respondent.person = person
        return person

    @staticmethod
    def _item_of(page: Page) -> int:
        return int(page.find("//*[@data-item]").get("data-item", ""))

    def _answer(self, page: Page, key: str, answer: Answer) -> None:
        """Post one answer by itself; a page that does not ask the question gets none."""
        form = page.find("//form[@id='questions']")
        value = ("yes" if answer.value else "no") if isinstance(answer.value, bool) else str(answer.value)
        page.find(f"//form[@id='questions']//input[@name='{key}'][@value='{value}']")
        self._send(page.url, {**self._hidden(form), key: value}, answer.provenance, is_htmx=True)

    def _answer_the_rest(self, page: Page) -> Page:
        """Answer what the page asks beside the study's own measures, as long as answers open more."""
        questions = xpath(page.tree, f"//form[@id='questions']{QUESTIONS[1:]}")
        if not any(key_of(question) not in CORE and not is_optional_text(question) for question in questions):
            return page
        for _ in range(MOST_ROUNDS):
            page = self._get(page.url)
            form = page.find("//form[@id='questions']")
            asked = [q for q in xpath(form, f"{QUESTIONS}[not(@hidden)]") if key_of(q) not in CORE]
            data: dict[str, Any] = {}
            for question in asked:
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
            link = page.find(f"//a[contains(@href, '/details/{item}/')]")
            self._get(link.get("href", ""), is_htmx=True)

    @staticmethod
    def _hidden(form: html.HtmlElement) -> dict[str, Any]:
        own = f".//input[@type='hidden'][not(ancestor::*[{QUESTIONS.partition('[')[2]})]"
        return {field.get("name", ""): field.get("value", "") for field in xpath(form, own)}

    def _get(self, url: str, query: Mapping[str, str] | None = None, *, is_htmx: bool = False) -> Page:
        headers = {"HX-Request": "true"} if is_htmx else {}
        found = self.client.get(url, params=query, headers=headers, follow_redirects=True)
        return self._page(self._checked("GET", found))

    def _post(self, url: str, data: Mapping[str, Any], provenance: str, *, is_htmx: bool = False) -> Page:
        return self._page(self._send(url, data, provenance, is_htmx=is_htmx))

    def _send(self, url: str, data: Mapping[str, Any], provenance: str, *, is_htmx: bool = False) -> Response:
        target = urljoin(str(self.client.base_url), url)
        headers = {
            "Referer": target,
            PROVENANCE_HEADER: provenance,
            **({"HX-Request": "true"} if is_htmx else {}),
        }
        found = self.client.post(target, data=dict(data), headers=headers, follow_redirects=True)
        return self._checked("POST", found)

    @staticmethod
    def _page(response: Response) -> Page:
        return Page.read(str(response.url), response.content)

    def _checked(self, method: str, response: Response) -> Response:
        self.walk.n_requests += 1 + len(response.history)
        if response.is_error:
            path = urlsplit(str(response.url)).path
            raise ParallaxError(
                "walker.error",
                f"{method} {path} answered {response.status_code}.",
                {"url": str(response.url), "status": response.status_code},
            )
        return response
