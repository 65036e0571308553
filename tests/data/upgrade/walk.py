"""A participant of the stored study, by HTTP alone.

The walker of the product belongs to one version; `build.py` runs this walk in the older one and `finish.py` continues
it in the newer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django.test import Client
from lxml import html

ABOUT = {
    "not_met_before": "yes", "no_technical_knowledge": "yes", "age": "33", "gender": "woman", "education": "master",
    "nationality": "", "movies_per_month": "3_to_5",
}  # fmt: skip
HTMX = {"HX-Request": "true"}
STEPS = ("about", "rate", "recommendations", "items", "overall", "thanks")
LIST_LENGTH = 5


class Walk:
    """One browser; `number` varies the answers, and `base` is the address that a participant holds."""

    def __init__(self, number: int, base: str = "") -> None:
        self.client = Client()
        self.number = number
        self.base = base

    def consent(self, slug: str) -> None:
        path = f"/s/{slug}/"
        page = html.document_fromstring(self.client.get(path).text)
        fields: dict[str, Any] = {f.get("name"): f.get("value") for f in page.xpath("//form//input[@type='hidden']")}
        fields["box"] = [box.get("value") for box in page.xpath("//input[@name='box']")]
        response = self.client.post(path, {**fields, "choice": "yes"}, follow=True)
        match = re.match(r"/s/p/[^/]+/", response.request["PATH_INFO"])
        assert match, response.text
        self.base = match[0]

    def post(self, page: str, data: dict[str, Any], **options: Any) -> None:
        response = self.client.post(self.base + page, data, **options)
        assert response.status_code in (200, 204, 302), (page, response.status_code, response.text)

    def rate(self, items: Sequence[int]) -> None:
        for position, item in enumerate(items):
            self.post(f"rate/{item}/", {"rating": 1 + (self.number + position) % 5}, headers=HTMX)

    def answer_item(self, rank: int) -> None:
        rating = str(1 + (self.number + rank) % 5)
        if (self.number + rank) % 3 == 0:
            answers = {"watched": "yes", "rating": rating}
        else:
            answers = {"watched": "no", "heard": "yes", "trailer_seen": "no", "rating": rating}
        for question, value in answers.items():
            self.post(f"films/{rank}/", {question: value}, headers=HTMX)
        self.post(f"films/{rank}/", {**answers, "continue": "1"})

    def rate_all(self, items: Sequence[int], n_rated: int = 0) -> None:
        self.rate(items[n_rated:])
        self.post("rate/", {})

    def answer_all(self, n_answered: int = 0) -> None:
        for rank in range(n_answered + 1, LIST_LENGTH + 1):
            self.answer_item(rank)
        self.post("overall/", {"satisfaction": str(1 + self.number % 5), "continue": "1"})
        page = self.client.get(self.base, follow=True)
        assert 'data-step="thanks"' in page.text, page.text
