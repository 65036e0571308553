"""The check of a recommender behind HTTP: each property that studies and offline measurement rely on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from uuid import uuid4

import httpcore
import numpy as np

from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_ids_of, ratings_of, timestamps_of
from core.errors import ParallaxError
from evaluation.remote import client
from evaluation.remote.client import Service
from evaluation.remote.messages import About, ListQuery, RatingScale
from evaluation.services.remote_lists import rated_items

N_PROFILES = 20
AT_ONCE = 20
N = 5
LONGEST_PROFILE = 50
_REFUSED, _NOT_OFFERED = range(400, 500), (404, 405, 501)


@dataclass(frozen=True)
class Finding:
    """One property of a service that was tried: whether it holds, and what was found or has to be fixed."""

    what: str
    holds: bool
    text: str


def sample_requests(version: DatasetVersion, n: int, sent: str) -> list[ListQuery]:
    """Requests of users spread over a dataset, with the order of their ratings where it has times."""
    ratings, times = ratings_of(version).user_items, timestamps_of(version)
    users = np.flatnonzero(np.diff(ratings.indptr))
    scale = RatingScale(low=version.scale_low, high=version.scale_high, step=version.scale_step)
    requests = []
    for user in users[np.linspace(0, users.size - 1, min(n, users.size)).astype(int)]:
        own = np.arange(ratings.indptr[user], ratings.indptr[user + 1])
        own = (own[np.argsort(times[own], kind="stable")] if times.size else own)[-LONGEST_PROFILE:]
        profile = rated_items(version, sent, ratings.indices[own].tolist(), ratings.data[own].tolist())
        exclude = [rated.item for rated in profile]
        requests.append(ListQuery(request=str(uuid4()), n=N, scale=scale, profile=profile, exclude=exclude))
    return requests


def check_service(service: Service, described: About, version: DatasetVersion) -> Iterator[Finding]:
    """Try a service with profiles of a dataset; a failure of one property does not keep the others from being tried."""
    requests = sample_requests(version, N_PROFILES, service.sent)
    trial = _Trial(service, described, frozenset(item_ids_of(version).tolist()), requests)
    for what, attempt in trial.parts.items():
        try:
            yield Finding(what, True, attempt())
        except ParallaxError as refusal:
            yield Finding(what, False, str(refusal))
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.RemoteProtocolError) as failure:
            yield Finding(what, False, f"The connection failed ({failure}). Answer every request.")


class _Trial:
    """One check of a service; each part returns what was found, or raises ParallaxError with what to fix."""

    def __init__(self, service: Service, described: About, known: frozenset[str], requests: list[ListQuery]) -> None:
        # Failures are to be seen, and not to be repaired by another attempt.
        self.service, self.described, self.known = replace(service, retry_after=()), described, known
        self.requests = requests

    @property
    def parts(self) -> dict[str, Callable[[], str]]:
        """The parts by their names."""
        return {
            "lists": self._lists,
            "exclusion": self._exclusion,
            "depth": self._depth,
            "determinism": self._determinism,
            f"{AT_ONCE} at once": self._at_once,
            "wrong requests": self._wrong_requests,
            "token": self._token,
            "recommend-many": self._many,
        }

    def _list_for(self, request: ListQuery, **changes: object) -> list[str]:
        new = request.model_copy(update={"request": str(uuid4()), **changes})
        reply = client.recommend(self.service, new, version=self.described.version, known=self.known)
        return [listed.item for listed in reply.content.items]

    def _timed(self, request: ListQuery) -> float:
        started = time.monotonic()
        self._list_for(request)
        return time.monotonic() - started

    def _lists(self) -> str:
        return self._latency([self._timed(request) for request in self.requests])

    def _at_once(self) -> str:
        repeated = [self.requests[at % len(self.requests)] for at in range(AT_ONCE)]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return self._latency(list(pool.map(self._timed, repeated)))

    def _latency(self, seconds: list[float]) -> str:
        median, slow, slowest = np.percentile(seconds, [50, 90, 100])
        text = f"{len(seconds)} lists; 50% within {median:.2f} s, 90% within {slow:.2f} s, all within {slowest:.2f} s."
        if slow > self.service.seconds / 2:
            raise _failure(
                f"{text} The limit is {self.service.seconds:g} s. Make the service faster, start more processes of it, "
                "or register it with a higher limit."
            )
        return text

    def _exclusion(self) -> str:
        first = self.requests[0]
        exclude = first.exclude + self._list_for(first)
        self._list_for(first, exclude=exclude)
        return f"None of the {N} best items came back when the request excluded them."

    def _depth(self) -> str:
        first = self.requests[0]
        n = min(self.described.max_depth, len(self.known) - len(first.exclude))
        self._list_for(first, n=n)
        return f"A list of {n} items is complete."

    def _determinism(self) -> str:
        n_changed = sum(self._list_for(request) != self._list_for(request) for request in self.requests)
        if n_changed and self.described.deterministic:
            raise _failure(
                f"{n_changed} of {len(self.requests)} profiles got two different lists, and /about says deterministic. "
                'Seed what is random, or state "deterministic": false.'
            )
        if not self.described.deterministic:
            return f"Not promised; {n_changed} of {len(self.requests)} profiles got two different lists."
        return "The same profiles got the same lists."

    def _wrong_requests(self) -> str:
        first = self.requests[0]
        as_text = first.model_copy(update={"profile": "x"})
        bodies = {
            "no JSON": b"{",
            "no profile": first.model_dump_json(exclude={"profile"}).encode(),
            "n = 0": first.model_copy(update={"n": 0}).model_dump_json().encode(),
            "a profile that is text": as_text.model_dump_json(warnings=False).encode(),
        }
        statuses = {name: client.send(self.service, "POST", "recommend", body)[0] for name, body in bodies.items()}
        if wrong := [f"{name}: {status}" for name, status in statuses.items() if status not in _REFUSED]:
            raise _failure(f"Wrong requests are to be refused with 400 or 422, and were not ({'; '.join(wrong)}).")
        return f"{len(statuses)} kinds are refused."

    def _token(self) -> str:
        if not self.service.token:
            return "None is registered."
        status, _ = client.send(replace(self.service, token=""), "GET", "about")
        if status not in (401, 403):
            raise _failure(f"A request without the token was answered with {status}. Refuse it with 401.")
        return "Required."

    def _many(self) -> str:
        status, _ = client.send(self.service, "POST", "recommend-many", b'{"requests": []}')
        if status in _NOT_OFFERED:
            return "Not offered; offline, lists are asked one by one."
        client.recommend_many(self.service, self.requests, version=self.described.version, known=self.known)
        return f"{len(self.requests)} lists in one call."


def _failure(text: str) -> ParallaxError:
    return ParallaxError("remote.check_failed", text)
