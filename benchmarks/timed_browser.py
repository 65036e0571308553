"""Simulated participants in browsers that pause like a person, time every response and send the script's events.

Set Django up before you import it.
"""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import numpy as np

from studies.instrument.questionnaires.schema import questionnaire_from
from studies.models import ProfileRating, Response, Study
from studies.simulation.answer_model import SimulatedPerson, demographics
from studies.simulation.services.pilot import Pool, pool_of
from studies.simulation.walker.walk import Walker

Answers = dict[tuple[str, str, str], Any]  # by participant code, rank and question
Ratings = dict[tuple[str, int], int]  # by participant code and item


class MeasurementOver(Exception):
    """Raised by a pause to end a walk that is under way."""


class TimedTransport(httpx.HTTPTransport):
    """Calls `pause` before each request of a person, and `record` with the request and the seconds of its answer."""

    def __init__(
        self,
        pause: Callable[[], None],
        record: Callable[[httpx.Request, bool, float], None],
        local_address: str | None = None,
    ) -> None:
        super().__init__(local_address=local_address)
        self.pause = pause
        self.record = record
        self.is_script = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if not self.is_script:
            self.pause()
        before = time.perf_counter()
        response = super().handle_request(request)
        response.read()
        self.record(request, self.is_script, time.perf_counter() - before)
        return response


class TimedBrowser(Walker):
    """A participant drawn from the pool, who adds each answer to `answered` and each rating to `rated`."""

    def __init__(
        self,
        client: httpx.Client,
        study: Study,
        pool: Pool,
        number: int,
        *,
        rng: np.random.Generator,
        answered: Answers,
        rated: Ratings,
    ) -> None:
        facts = demographics(number, rng, low_age=pool.low_age, high_age=pool.high_age)
        person = SimulatedPerson(list(pool.users.values())[int(rng.integers(len(pool.users)))], pool.training, rng)
        questionnaire = questionnaire_from(study.questionnaire)
        super().__init__(
            client=client, entry=f"/s/{study.slug}/", answers={**facts, **questionnaire.passing},
            person_for=lambda code: person, item_titles=pool.item_titles, item_ids=pool.item_ids,
            requested=pool.requested, rng=rng, questionnaire=questionnaire,
        )  # fmt: skip
        self.answered = answered
        self.rated = rated

    def _send(self, url: str, data: Mapping[str, Any], provenance: str, *, is_htmx: bool = False) -> httpx.Response:
        response = super()._send(url, data, provenance, is_htmx=is_htmx)
        if rating := re.search(r"/rate/(\d+)/$", url):
            self.rated[self.walk.code, int(rating[1])] = int(data["rating"])
        return response

    def _answer(self, page: Any, key: str, answer: Any) -> None:
        super()._answer(page, key, answer)
        rank = page.url.rstrip("/").rpartition("/")[2] if "/items/" in page.url else "0"
        self.answered[self.walk.code, rank, key] = answer.value

    def _page(self, response: httpx.Response) -> Any:
        page = super()._page(response)
        body = page.tree.xpath("//body[@data-events]")
        if body:
            self.client._transport.is_script = True
            try:
                self.client.post(body[0].get("data-events"), json=_events_batch(body[0])).raise_for_status()
            finally:
                self.client._transport.is_script = False
        return page


class Walks:
    """Walks through a study, side by side: the answers sent, and what ended a walk before the last page."""

    def __init__(self, study: Study, url: str) -> None:
        study.settings["simulated_per_condition"] = 1  # of this row alone: a source user may serve many people here
        self.study = study
        self.url = url
        self.pool = pool_of(study)
        self.answered: Answers = {}
        self.rated: Ratings = {}
        self.problems: list[str] = []

    def run(self, number: int, rng: np.random.Generator, transport: TimedTransport) -> str:
        """Walk through the whole study; return the participant's code, or nothing if the last page is not reached."""
        with httpx.Client(base_url=self.url, timeout=60, transport=transport) as client:
            walker = TimedBrowser(
                client, self.study, self.pool, number, rng=rng, answered=self.answered, rated=self.rated
            )
            try:
                walker.run()
            except MeasurementOver:
                raise
            except Exception as problem:
                self.problems.append(repr(problem)[:300])
                return ""
        if walker.walk.outcome != "thanks":
            self.problems.append(f"{walker.walk.code}: the walk ended early, after {list(walker.walk.counts)}")
            return ""
        return walker.walk.code

    def lost_answers(self) -> list[tuple[str, str, str]]:
        """The answers that are not stored as they were sent."""
        rows = Response.objects.filter(participant__study=self.study).values_list(
            "participant__code", "rank", "question", "value"
        )
        stored = {(code, str(rank), key): value for code, rank, key, value in rows}
        return [key for key, value in self.answered.items() if stored.get(key) != value]

    def lost_ratings(self) -> list[tuple[str, int]]:
        """The ratings that are not stored as they were sent."""
        rows = ProfileRating.objects.filter(participant__study=self.study)
        stored = {
            (code, item): rating for code, item, rating in rows.values_list("participant__code", "item", "rating")
        }
        return [key for key, rating in self.rated.items() if stored.get(key) != rating]


def start_threads(target: Callable[[int], None], n: int) -> list[threading.Thread]:
    """Call the target with 0 to n - 1, each in a thread of its own."""
    threads = [threading.Thread(target=target, args=(number,), daemon=True) for number in range(n)]
    for thread in threads:
        thread.start()
    return threads


def _events_batch(body: Any) -> dict[str, Any]:
    """What the script of a page sends when the next one opens."""
    now = time.time() * 1000
    return {
        "events": [
            {"id": str(uuid.uuid4()), "kind": "page_shown", "page": body.get("data-step"), "at": now},
            {"id": str(uuid.uuid4()), "kind": "page_left", "page": body.get("data-step"), "at": now,
             "seconds": 5.0, "hidden_seconds": 0.0},
        ]
    }  # fmt: skip
