"""A client of one recommender behind HTTP: bounded in time and size, without redirects, cookies or proxies."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import httpcore
import httpx

from core.errors import ParallaxError, ParameterError
from core.field_problems import FieldProblems, read_model
from evaluation.remote.addresses import check_service_address, resolved
from evaluation.remote.messages import (
    EXAMPLES,
    About,
    ListAnswer,
    ListQuery,
    ManyAnswers,
    ManyRequests,
    Message,
    check_list,
)

CONNECT_SECONDS = 2.0
MOST_BYTES = 2**20
RETRY_AFTER = (1.0, 3.0, 8.0)  # seconds
_OK, _TOO_MANY, _FAULT = 200, 429, 500
_SHOWN = 200  # characters of an answer in an error

Content = TypeVar("Content", bound=Message)


@dataclass(frozen=True)
class Service:
    """A recommender behind HTTP, and how it is asked."""

    name: str
    address: str
    hosts: Collection[str]  # names and addresses that may be asked
    seconds: float  # for one answer
    token: str = field(default="", repr=False)
    sent: str = "ids"  # of rated items, as `evaluation.enums.Sent`
    retry_after: tuple[float, ...] = RETRY_AFTER


@dataclass(frozen=True)
class Reply(Generic[Content]):
    """A message of a service, the attempts it took, and the seconds of the last one."""

    content: Content
    attempts: int
    seconds: float


def about(service: Service) -> Reply[About]:
    """What the service says of itself. Raises ParallaxError as `recommend` does."""
    return _ask(service, "GET", "about", b"", About)


def recommend(service: Service, request: ListQuery, *, version: str, known: Collection[str]) -> Reply[ListAnswer]:
    """The service's list for one request, checked against it.

    `version` is the one that lists must come from, and `known` are the ids of the catalogue. Raises ParallaxError, with
    `attempts` and `seconds` in its `extra`: ``remote.unreachable`` (no connection, no answer in time, 429 or 5xx, each
    time); ``remote.not_allowed`` (an address that may not be asked); ``remote.refused`` (any other status, redirects
    among them); ``remote.malformed`` (no message of the protocol, or more than `MOST_BYTES`); ``remote.other_version``;
    ``remote.bad_list`` (unknown, excluded or repeated items, or another number of them).
    """
    reply = _ask(service, "POST", "recommend", request.model_dump_json(exclude_none=True).encode(), ListAnswer)
    _check(service, request, reply.content, version, known, reply)
    return reply


def recommend_many(
    service: Service, requests: Iterable[ListQuery], *, version: str, known: Collection[str]
) -> Reply[ManyAnswers]:
    """The lists for several requests, each checked as by `recommend`, whose errors it raises."""
    many = ManyRequests(requests=list(requests))
    reply = _ask(service, "POST", "recommend-many", many.model_dump_json(exclude_none=True).encode(), ManyAnswers)
    if len(reply.content.answers) != len(many.requests):
        problem = f"{len(reply.content.answers)} answers to {len(many.requests)} requests. Answer each request once."
        raise _error(service, "malformed", problem, reply.attempts, reply.seconds)
    for request, answer in zip(many.requests, reply.content.answers, strict=True):
        _check(service, request, answer, version, known, reply)
    return reply


def send(service: Service, method: str, path: str, content: bytes = b"") -> tuple[int, bytes]:
    """Send one request once and return the status and the body.

    Raises ParallaxError with code ``remote.not_allowed`` or ``remote.malformed`` (too large), and the errors of
    httpcore where the service cannot be reached or is too slow.
    """
    headers = {"Content-Type": "application/json"}
    if service.token:
        headers["Authorization"] = f"Bearer {service.token}"
    address = f"{service.address.rstrip('/')}/{path}"
    try:
        check_service_address(service.address, service.hosts)
        status, body = exchange(
            method, address, content, headers, hosts=service.hosts, seconds=service.seconds, most_bytes=MOST_BYTES
        )
    except ParameterError as refusal:
        raise _error(service, "not_allowed", str(refusal)) from refusal
    if len(body) > MOST_BYTES:
        raise _error(service, "malformed", f"The answer has more than {MOST_BYTES // 2**20} MB.")
    return status, body


def exchange(
    method: str,
    address: str,
    content: bytes,
    headers: Mapping[str, str],
    *,
    hosts: Collection[str],
    seconds: float,
    most_bytes: int,
) -> tuple[int, bytes]:
    """Send one request once and return the status and the body, which is cut off soon after `most_bytes`.

    Raises ParameterError where `resolved` does for the host and `hosts`, and the errors of httpcore where the host
    cannot be reached or takes more than `seconds`.
    """
    is_encrypted = urlsplit(address).scheme == "https"
    backend = _CheckedAddresses(hosts, seconds, is_encrypted=is_encrypted)
    with (
        httpcore.ConnectionPool(ssl_context=_tls() if is_encrypted else None, network_backend=backend) as pool,
        pool.stream(
            method,
            address,
            headers=[*headers.items(), ("Connection", "close")],
            content=content,
            extensions={"timeout": {"connect": CONNECT_SECONDS}},
        ) as response,
    ):
        body = b""
        for block in response.iter_stream():
            body += block
            if len(body) > most_bytes:
                break
        return response.status, body


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # verifies certificates; SSL_CERT_FILE may name an institution's own authority


class _CheckedAddresses(httpcore.NetworkBackend):
    """Connections to allowed addresses only: what was checked is connected to, as no name is looked up twice."""

    def __init__(self, hosts: Collection[str], seconds: float, *, is_encrypted: bool) -> None:
        self._hosts, self._seconds, self._is_encrypted = hosts, seconds, is_encrypted

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *args: Any, **more: Any) -> _Timed:
        problem: Exception | None = None
        try:
            addresses = resolved(host, port, self._hosts, is_encrypted=self._is_encrypted)
        except OSError as unknown:
            raise httpcore.ConnectError(f"the name {host} cannot be looked up") from unknown
        for address in addresses:
            try:
                stream = httpcore.SyncBackend().connect_tcp(address, port, timeout, *args, **more)
            except httpcore.ConnectError as refused:
                problem = refused
            else:
                return _Timed(stream, time.monotonic() + self._seconds)
        raise httpcore.ConnectError(str(problem)) from problem


class _Timed(httpcore.NetworkStream):
    """A connection with one limit for the whole answer: a server that sends a byte now and then would pass a limit of
    each read.
    """

    def __init__(self, stream: httpcore.NetworkStream, until: float) -> None:
        self._stream, self._until = stream, until

    def _left(self, error: type[Exception]) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise error("no answer in time")
        return left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left(httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left(httpcore.WriteTimeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Timed:
        return _Timed(self._stream.start_tls(ssl_context, server_hostname, timeout), self._until)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _ask(service: Service, method: str, path: str, content: bytes, kind: type[Content]) -> Reply[Content]:
    """Ask until there is an answer, or no attempt is left."""
    for attempt, pause in enumerate((*service.retry_after, None), start=1):
        started = time.monotonic()
        try:
            status, body = send(service, method, path, content)
            problem = f"It answered /{path} with {status}." if status == _TOO_MANY or status >= _FAULT else ""
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.RemoteProtocolError) as failure:
            problem = _failure(service, failure)
        except ParallaxError as refusal:
            refusal.extra.update(attempts=attempt, seconds=time.monotonic() - started)
            raise
        seconds = time.monotonic() - started
        if not problem:
            return Reply(_read(service, path, status, body, kind, attempt, seconds), attempt, seconds)
        if pause is None:
            break
        time.sleep(pause)
    advice = "Look at the log of the service, start it again, and check its address."
    raise _error(service, "unreachable", f"{problem} {advice}", attempt, seconds)


def _failure(service: Service, failure: Exception) -> str:
    if isinstance(failure, httpcore.ConnectTimeout):
        return f"It did not accept a connection within {CONNECT_SECONDS:g} seconds."
    if isinstance(failure, httpcore.TimeoutException):
        return f"It did not answer within {service.seconds:g} seconds."
    if isinstance(failure, httpcore.ConnectError):
        return f"No connection: {failure}."
    return f"The connection ended before the answer: {failure}."


def _read(
    service: Service, path: str, status: int, body: bytes, kind: type[Content], attempts: int, seconds: float
) -> Content:
    if status != _OK:
        shown = body[:_SHOWN].decode("utf-8", "replace").strip()
        advice = "Redirects are not followed: register the final address." if status // 100 == 3 else shown
        raise _error(service, "refused", f"It answered /{path} with {status}. {advice}".strip(), attempts, seconds)
    try:
        return read_model(kind, json.loads(body, parse_constant=_refuse_constant))
    except FieldProblems as problem:
        first = " ".join(map(str, problem.problems[:EXAMPLES]))
        text = f"Its answer to /{path} is not a message of the protocol ({len(problem.problems)} errors). {first}"
        raise _error(service, "malformed", text, attempts, seconds) from problem
    except (ValueError, RecursionError) as problem:
        shown = repr(body[:_SHOWN].decode("utf-8", "replace"))
        text = f"Its answer to /{path} is not JSON: {shown}."
        raise _error(service, "malformed", text, attempts, seconds) from problem


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _check(
    service: Service, request: ListQuery, answer: ListAnswer, version: str, known: Collection[str], reply: Reply[Any]
) -> None:
    numbers = (reply.attempts, reply.seconds)
    if answer.request != request.request:
        problem = f"It answered request {request.request} with the list of request {answer.request[:64]}."
        raise _error(service, "malformed", f"{problem} Repeat the id of the request.", *numbers)
    if answer.version != version:
        problem = f"Its list comes from version {answer.version}, and lists must come from version {version}."
        raise _error(service, "other_version", f"{problem} Start that version again, or store the new one.", *numbers)
    try:
        check_list(request, answer, known)
    except ParameterError as problem:
        raise _error(service, "bad_list", str(problem), *numbers) from problem


def _error(service: Service, code: str, problem: str, attempts: int = 1, seconds: float = 0.0) -> ParallaxError:
    facts = {"service": service.name, "attempts": attempts, "seconds": seconds}
    return ParallaxError(f"remote.{code}", f"The recommender {service.name} cannot be used. {problem}", facts)
