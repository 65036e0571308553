"""A simulated participant over HTTP: reads the pages a person would see, and answers what they ask.

Knows no database and no route: it follows links, fills the forms it finds and posts every answer by itself, as a
browser does. What it answers comes from a `SimulatedPerson`.
"""

from __future__ import annotations

import http.client
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import httpx
import numpy as np
from lxml import html

from core.errors import ParallaxError
from studies.answer_model import MODELLED, TRUE, Answer, SimulatedPerson

PROVENANCE_HEADER = "X-Answer-Provenance"
MOST_STEPS = 60
MOST_ROUNDS = 12  # questions that open one after another on a page
CORE = frozenset({"watched", "heard", "trailer_seen", "rating", "satisfaction"})
DECLINED = "--declined"
ASKS_FOR_ONE = re.compile(r"\b(choose|select|pick|tick|scegli|seleziona)\b", re.IGNORECASE)
IN_WORDS = "Nothing comes to my mind."
BOXES = f".//input[@type='checkbox'][not(contains(@name, '{DECLINED}'))]"
QUESTIONS = ".//*[contains(concat(' ', normalize-space(@class), ' '), ' question ')]"


def _says(text: str, label: str) -> bool:
    """Whether a text holds a label as words of their own."""
    return bool(re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text))


class PlainTransport(httpx.BaseTransport):
    """One kept connection through the standard library, which takes a third of the time of httpx's own pool.

    Hundreds of walks share the processor with the server that they load.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._connection: http.client.HTTPConnection | None = None
        self._origin: tuple[str, str, int | None] | None = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request; on a kept connection that the server has let go of meanwhile, once more on a new one."""
        url = request.url
        if self._origin != (url.scheme, url.host, url.port):
            self.close()
            self._origin = (url.scheme, url.host, url.port)
        is_kept = self._connection is not None
        try:
            return self._sent(request)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as problem:
            self.close()
            if not is_kept:
                raise self._told(problem, request) from problem
        except (http.client.HTTPException, OSError) as problem:
            self.close()
            raise self._told(problem, request) from problem
        try:
            return self._sent(request)
        except (http.client.HTTPException, OSError) as problem:
            self.close()
            raise self._told(problem, request) from problem

    def _sent(self, request: httpx.Request) -> httpx.Response:
        if self._connection is None:
            kind = http.client.HTTPSConnection if request.url.scheme == "https" else http.client.HTTPConnection
            fresh = kind(request.url.host, request.url.port, timeout=self._timeout)
            try:
                fresh.connect()
            except OSError as problem:
                raise httpx.ConnectError(str(problem), request=request) from problem
            self._connection = fresh
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers.raw}
        target = request.url.raw_path.decode("ascii")
        self._connection.request(request.method, target, body=request.read() or None, headers=headers)
        answer = self._connection.getresponse()
        return httpx.Response(answer.status, headers=answer.getheaders(), content=answer.read())

    @staticmethod
    def _told(problem: Exception, request: httpx.Request) -> httpx.TransportError:
        kind = httpx.ReadTimeout if isinstance(problem, TimeoutError) else httpx.RemoteProtocolError
        return kind(str(problem), request=request)

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@dataclass
class Page:
    """A page as it came: its address and its parsed tree."""

    url: str
    tree: html.HtmlElement

    def find(self, expression: str) -> html.HtmlElement:
        """Return the one element that the XPath names.

        Raises ParallaxError `walker.not_found`: the page is not as a participant needs it.
        """
        found = self.tree.xpath(expression)
        if not isinstance(found, list) or not found:
            title = self.tree.findtext(".//title", default="").strip()
            raise ParallaxError(
                "walker.not_found",
                f"A simulated participant stopped at {self.url} ({title!r}): the page has no {expression}.",
                {"url": self.url},
            )
        return found[0]

    def text(self, expression: str) -> str:
        """Return the text of the element that the XPath names."""
        return str(self.find(expression).text_content()).strip()

    def has(self, expression: str) -> bool:
        """Return whether the XPath names anything."""
        return bool(self.tree.xpath(expression))


class Turn:
    """When it is this person's turn to enter a condition; by itself nobody has to wait.

    Walks go on side by side, and conditions and source users depend on who comes first: who waits for their turn
    before the form about the person, and says when both are theirs, gets the same ones every time.
    """

    def wait(self) -> None:
        """Return when everybody before has a condition."""

    def over(self) -> None:
        """Let the next one go on; said again, it changes nothing."""


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
    client : httpx.Client
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
    """

    def __init__(
        self,
        *,
        client: httpx.Client,
        entry: str,
        facts: Mapping[str, Any],
        person_for: Callable[[str], SimulatedPerson],
        item_titles: Mapping[int, str],
        item_ids: Mapping[int, int],
        ratings_asked: int,
        rng: np.random.Generator,
        turn: Turn | None = None,
        negative: frozenset[str] = frozenset(),
    ) -> None:
        self.client = client
        self.turn = turn or Turn()
        self.entry = entry
        self.facts = facts
        self.person_for = person_for
        self.item_titles = item_titles
        self.item_ids = item_ids
        self.item_indexes = {pk: index for index, pk in item_ids.items()}
        self.ratings_asked = ratings_asked
        self.rng = rng
        self.negative = negative
        self.walk = Walk()
        self.person: SimulatedPerson | None = None

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
        data["box"] = [box.get("value", "") for box in form.xpath(".//input[@name='box']")]
        return self._post(page.url, {**data, "choice": "yes"}, MODELLED)

    def _at_about(self, page: Page) -> Page:
        self.walk.code = page.text("//footer//*[@class='code']")
        form = page.find("//form[@method='post']")
        data = {**self._hidden(form), **self._filled(form)}
        for question in form.xpath(f"{QUESTIONS}[not(@hidden)]"):
            if not self._is_answered(question):
                data |= self._answer_to(question, is_about=True)
        self.turn.wait()
        return self._post(page.url, data, MODELLED)

    def _at_rate(self, page: Page) -> Page:
        self.person = self._met(page)
        asked = int(page.find("//*[@id='tray']").get("data-asked", "5"))
        for item, rating in self.person.profile(asked).items():
            found = self._get(page.url, {"q": self.item_titles[item]})
            form = found.find(f"//form[@id='rating-{self.item_ids[item]}']")
            self._look_at_details(found, self.item_ids[item], probability=0.25)
            self._post(form.get("action", ""), {**self._hidden(form), "rating": str(rating)}, TRUE, is_htmx=True)
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
        if self.person is None:
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
        if self.person is None:
            person = self._met(page)
            person.profile(self.ratings_asked)
            for thumb in page.tree.xpath("//ol[@class='thumbs']/li"):
                if "now" in thumb.get("class", ""):
                    break
                before = self._get(thumb.xpath("string(a/@href)"))
                person.about_item(self.item_indexes[self._item_of(before)])
            self.person = person
        return self.person

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
        questions = page.tree.xpath(f"//form[@id='questions']{QUESTIONS[1:]}")
        if not any(self._key(question) not in CORE and not self._is_optional_text(question) for question in questions):
            return page
        for _ in range(MOST_ROUNDS):
            page = self._get(page.url)
            form = page.find("//form[@id='questions']")
            asked = [q for q in form.xpath(f"{QUESTIONS}[not(@hidden)]") if self._key(q) not in CORE]
            data: dict[str, Any] = {}
            for question in asked:
                if not self._is_answered(question):
                    data |= self._answer_to(question)
            if not data:
                break
            self._send(page.url, {**self._hidden(form), **data}, MODELLED, is_htmx=True)
        return page

    @staticmethod
    def _key(question: html.HtmlElement) -> str:
        return str(question.get("id", "")).removeprefix("question-")

    @staticmethod
    def _is_optional_text(question: html.HtmlElement) -> bool:
        return bool(question.xpath("./label/span[@class='quiet']")) and not question.xpath(".//input | .//select")

    @staticmethod
    def _is_answered(question: html.HtmlElement) -> bool:
        """Whether every group of buttons, list and field of the question holds something."""
        if question.xpath(f".//input[@checked][@value='{DECLINED}' or contains(@name, '{DECLINED}')]"):
            return True
        radios = set(question.xpath(".//input[@type='radio']/@name"))
        if radios != set(question.xpath(".//input[@type='radio'][@checked]/@name")):
            return False
        boxes = question.xpath(BOXES)
        if boxes and not any(box.get("checked") is not None for box in boxes):
            return False
        if question.xpath(".//select[not(option[@selected][@value != ''])]"):
            return False
        fields = question.xpath(".//input[@type='text'][not(ancestor::label)]")
        return all(field.get("value") for field in fields) and all(
            (area.text or "").strip() for area in question.xpath(".//textarea")
        )

    def _answer_to(self, question: html.HtmlElement, *, is_about: bool = False) -> dict[str, Any]:
        """What the person says to a question, read from its controls."""
        told = " ".join(str(question.text_content()).split())
        data: dict[str, Any] = {}
        for name in dict.fromkeys(question.xpath(".//input[@type='radio']/@name")):
            data[name] = self._button(question, name, told, is_about=is_about)
        boxes = question.xpath(f"{BOXES}[not(@data-exclusive)]")
        if boxes:
            (around,) = question.xpath(".//div[contains(@class, 'rows')]")
            least, most = int(around.get("data-least", 1)), int(around.get("data-most", len(boxes)))
            values = [box.get("value", "") for box in boxes]
            n = int(self.rng.integers(max(1, least), min(most, len(values)) + 1))
            data[boxes[0].get("name", "")] = [values[i] for i in sorted(self.rng.permutation(len(values))[:n])]
        for control in question.xpath(".//select"):
            name = control.get("name", "")
            offered = [value for value in control.xpath(".//option/@value") if value not in ("", DECLINED)]
            data[name] = str(self.facts[name]) if name in self.facts else str(self.rng.choice(offered))
        is_optional = bool(question.xpath("./label/span[@class='quiet']"))
        for control in question.xpath(".//input[@type='text'][not(ancestor::label)] | .//textarea"):
            name, mode = control.get("name", ""), control.get("inputmode")
            if name in self.facts:
                data[name] = str(self.facts[name])
            elif mode:
                data[name] = self._number(question, control)
            elif not is_optional:
                data[name] = IN_WORDS
        return data

    def _button(self, question: html.HtmlElement, name: str, told: str, *, is_about: bool) -> str:
        buttons = [b for b in question.xpath(f".//input[@type='radio'][@name='{name}']") if b.get("value") != DECLINED]
        labels = {str(b.get("value", "")): " ".join(b.getparent().text_content().split()) for b in buttons}
        legend, _first_label, _rest = told.partition(next(iter(labels.values()), "\n"))
        # A statement such as "Choose 'Agree' here" is read as it is meant.
        named = [value for value, label in labels.items() if _says(legend, label.split(",")[0])]
        if ASKS_FOR_ONE.search(legend) and len(named) == 1:
            return named[0]
        if name in self.facts:
            return str(self.facts[name])
        if is_about:
            # The questions of screening are asked so that "yes" lets someone in.
            return "yes" if set(labels) == {"yes", "no"} else str(self.rng.choice(sorted({*labels} - {"other"})))
        if self.person is not None and all(value.lstrip("-").isdigit() for value in labels):
            answer = self.person.opinion(len(labels), self.rng, is_negative=name in self.negative)
            return sorted(labels, key=int)[int(answer.value) - 1]
        return str(self.rng.choice([value for value in labels if value != "other"]))

    def _number(self, question: html.HtmlElement, field: html.HtmlElement) -> str:
        ranges = question.xpath(".//input[@type='range']")
        if ranges:
            low, high = float(ranges[0].get("min", 0)), float(ranges[0].get("max", 100))
            step = float(ranges[0].get("step", 1))
            points = round((high - low) / step) + 1
            negative = self._key(question) in self.negative
            n = points // 2
            if self.person is not None:
                n = self.person.opinion(points, self.rng, is_negative=negative).value - 1
            return f"{low + n * step:g}"
        low, high = int(float(field.get("data-minimum", 1))), int(float(field.get("data-maximum", 100)))
        return str(int(self.rng.integers(low, high + 1)))

    @staticmethod
    def _filled(form: html.HtmlElement) -> dict[str, Any]:
        """What the form holds already, as a browser sends it."""
        found: dict[str, Any] = {}
        for control in form.xpath(f"{QUESTIONS}[not(@hidden)]//input | {QUESTIONS}[not(@hidden)]//select"):
            name, kind = control.get("name"), control.get("type")
            if not name or kind == "hidden":
                continue
            if kind in ("radio", "checkbox"):
                if control.get("checked") is not None:
                    found.setdefault(name, []).append(control.get("value", ""))
            elif control.tag == "select":
                found[name] = control.xpath("string(option[@selected]/@value)")
            else:
                found[name] = control.get("value", "")
        return found

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
        return {field.get("name", ""): field.get("value", "") for field in form.xpath(own)}

    def _get(self, url: str, query: Mapping[str, str] | None = None, *, is_htmx: bool = False) -> Page:
        headers = {"HX-Request": "true"} if is_htmx else {}
        return self._page(self._checked(self.client.get(url, params=query, headers=headers, follow_redirects=True)))

    def _post(self, url: str, data: Mapping[str, Any], provenance: str, *, is_htmx: bool = False) -> Page:
        return self._page(self._send(url, data, provenance, is_htmx=is_htmx))

    def _send(self, url: str, data: Mapping[str, Any], provenance: str, *, is_htmx: bool = False) -> httpx.Response:
        target = urljoin(str(self.client.base_url), url)
        headers = {
            "Referer": target,
            PROVENANCE_HEADER: provenance,
            **({"HX-Request": "true"} if is_htmx else {}),
        }
        return self._checked(self.client.post(target, data=dict(data), headers=headers, follow_redirects=True))

    @staticmethod
    def _page(response: httpx.Response) -> Page:
        return Page(str(response.url), html.document_fromstring(response.text))

    def _checked(self, response: httpx.Response) -> httpx.Response:
        self.walk.n_requests += 1 + len(response.history)
        if response.is_error:
            raise ParallaxError(
                "walker.error",
                f"{response.request.method} {response.url.path} answered {response.status_code}.",
                {"url": str(response.url), "status": response.status_code},
            )
        return response
