"""Participants in tests who walk a study's pages: the walker of the product, with answers that are known beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
from django.http import HttpResponse
from django.test import Client
from lxml import html

from core.errors import ParallaxError
from studies.instrument.flow import questionnaire_of
from studies.models import Participant, Study
from studies.settings import USED
from studies.simulation.answer_model import MODELLED, TRUE, Answer, SimulatedPerson, SourceUser, TrainingSide
from studies.simulation.walker.walk import Page, Walker

HTMX = {"HX-Request": "true"}
ABOUT = {
    "first_visit": "yes", "recommender_experience": "no", "age": "33", "gender": "woman", "education": "master",
    "nationality": "", "items_per_month": "3_to_5",
}  # fmt: skip
UNCURIOUS = 14  # a seed with which no details are opened while rating


def tree(response: HttpResponse) -> html.HtmlElement:
    return html.document_fromstring(response.text)


def leads(response: HttpResponse) -> str:
    """The page of the participant that a redirect leads to."""
    return response.headers["Location"].rstrip("/").rsplit("/s/p/", 1)[-1].partition("/")[2]


class Site(httpx.BaseTransport):
    """The site in this process, asked by a test client, which keeps the cookies."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.response = HttpResponse()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        sent = {name: value for name, value in request.headers.items() if name in ("hx-request", "referer")}
        sent |= {name: value for name, value in request.headers.items() if name.startswith("x-")}
        self.response = self.client.generic(
            request.method,
            request.url.raw_path.decode(),
            request.read(),
            content_type=request.headers.get("content-type", ""),
            headers=sent,
        )
        headers = list(self.response.headers.items())
        return httpx.Response(self.response.status_code, headers=headers, content=self.response.getvalue())


class Viewer(SimulatedPerson):
    """Rates the first items of the dataset 1 to 5 in turn, and says the same of everything recommended."""

    def __init__(self, **about_item: bool | int) -> None:
        self.answers = about_item or {"watched": True, "rating": 4}
        side = TrainingSide(3.0, np.zeros(0), np.zeros(0, dtype=np.int64), 1.0, 5.0)
        super().__init__(SourceUser("viewer", {}), side, np.random.default_rng(1))

    def profile(self, fewest: int, most: int | None = None) -> dict[int, int]:
        return {number: 1 + number % 5 for number in range(fewest)}

    def about_item(self, item: int) -> dict[str, Answer]:
        return {key: Answer(value, TRUE) for key, value in self.answers.items()}

    def satisfaction(self) -> Answer:
        return Answer(4, MODELLED)

    def choose(self, items: Sequence[int], rng: np.random.Generator) -> Answer:
        return Answer(2, MODELLED)


def walker_of(study: Study, client: httpx.Client, entry: str, **given: Any) -> Walker:
    """The product's walker on a study; a viewer who passes its checks, unless another person answers."""
    items = list(study.dataset_version.items.values_list("index", "pk", "title"))
    questionnaire = questionnaire_of(study)
    return Walker(
        **{
            "client": client,
            "entry": entry,
            "answers": {"gender": "woman", "age": 30, **questionnaire.passing},
            "person_for": lambda code: Viewer(),
            "item_titles": {index: title for index, _pk, title in items},
            "item_ids": {index: pk for index, pk, _title in items},
            "requested": study.design.items_asked,
            "rng": np.random.default_rng(UNCURIOUS),
            "questionnaire": questionnaire,
            **given,
        }
    )


class Person:
    """A browser with one participant in it, who passes all checks unless `answers` says otherwise."""

    def __init__(
        self,
        study: Study,
        client: Client | None = None,
        *,
        answers: Mapping[str, Any] | None = None,
        viewer: Viewer | None = None,
    ) -> None:
        self.study = study
        self.viewer = viewer or Viewer()
        self.client = client or Client()
        self.answers = {**questionnaire_of(study).passing, **ABOUT, **(answers or {})}
        self.base = ""
        self.site = Site(self.client)

    def pages(self, entry: str = "") -> Iterator[Page]:
        """The pages from the entry, or from where the participant is; each is answered when the next is asked for."""
        entry = entry or self.base or f"/s/{self.study.slug}/"
        with httpx.Client(transport=self.site, base_url="http://testserver") as client:
            walker = walker_of(self.study, client, entry, answers=self.answers, person_for=lambda code: self.viewer)
            for page in walker.pages():
                found = re.match(r"/s/p/[^/]+/", urlsplit(page.url).path)
                self.base = found[0] if found else ""
                yield page

    def consent(self, entry: str = "") -> HttpResponse:
        """Agree, and return the page that follows or the refusal."""
        with suppress(ParallaxError):
            next(page for page in self.pages(entry) if page.step != "consent")
        return self.site.response

    def to(self, step: str, entry: str = "") -> Person:
        """Walk until a page of this step is open."""
        for page in self.pages(entry):
            if page.step == step:
                return self
        raise AssertionError(f"The walk to {step} ended at {page.url}.")

    @property
    def me(self) -> Participant:
        return Participant.objects.latest("pk")

    def get(self, page: str, **kwargs: Any) -> HttpResponse:
        return self.client.get(self.base + page, **kwargs)

    def post(self, page: str, data: dict[str, Any] | None = None, **kwargs: Any) -> HttpResponse:
        return self.client.post(self.base + page, data or {}, **kwargs)

    def rate_five(self) -> None:
        for number, item in enumerate(self.study.dataset_version.items.order_by("index")[:5]):
            rating = USED if self.study.design.is_choice else 1 + number
            self.post(f"rate/{item.pk}/", {"rating": rating}, headers=HTMX)
