"""Requests are read before a thread answers them: within limits, in time, and fairly among networks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from django.test import Client

from accounts.selectors import is_signed_in
from accounts.services import create_token
from core import security_log
from core.networks import client_address, network_of
from parallax.body_limits import ANYONE, KIB, LIMITS, is_read, largest_body, seconds_for_body
from parallax.gateway import FairThreads, FileBody, Gateway, Refused
from tests.factories.accounts import UserFactory
from tests.parallax import streamed_site

ROOT = Path(__file__).resolve().parents[2]
SOON = 5.0  # seconds; nothing here takes long

# The limits


@pytest.mark.unit
@pytest.mark.parametrize(
    ("path", "largest"),
    [
        ("/account/sign-in/", 64 * KIB),
        ("/s/films/", 64 * KIB),
        ("/s/p/token/events/", 60_000),
        ("/s/p/token/about/", 256 * KIB),
        ("/s/p/token/films/3/", 256 * KIB),
        ("/s/p/token/rate/", 64 * KIB),
        ("/studies/films/texts/", 2560 * KIB),
        ("/studies/films/submissions/", 10_000_000 + 512 * KIB),
        ("/catalog/ml/1/metadata/", 72 * KIB * KIB + 512 * KIB),
        ("/runs/models/upload/ml/1/", 64 * KIB * KIB + 512 * KIB),
        ("/api/v1/models/", 64 * KIB * KIB + 512 * KIB),
        ("/no/such/page/", 64 * KIB),
    ],
)
def test_each_address_has_a_largest_body(path: str, largest: int) -> None:
    assert largest_body(path) == largest
    assert seconds_for_body(largest) > seconds_for_body(0) >= 10


@pytest.mark.unit
def test_the_client_is_who_the_trusted_proxies_saw() -> None:
    assert client_address("10.0.0.1", ["1.1.1.1, 2.2.2.2"], 0) == "10.0.0.1"
    assert client_address("10.0.0.1", ["6.6.6.6, 1.1.1.1"], 1) == "1.1.1.1"  # what stands left of it is anybody's claim
    assert client_address("10.0.0.1", ["6.6.6.6, 1.1.1.1", "10.0.0.2"], 2) == "1.1.1.1"
    assert client_address("10.0.0.1", [], 1) == "10.0.0.1"
    assert client_address("10.0.0.1", ["unknown"], 1) == "10.0.0.1"


@pytest.mark.unit
def test_a_network_is_an_ipv4_address_or_the_56_bits_of_an_ipv6_address() -> None:
    assert network_of("192.0.2.7") == network_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert network_of("2001:db8::1") == network_of("2001:db8:0:ff::1") == "2001:db8::/56"
    assert network_of("2001:db8:0:100::1") != network_of("2001:db8::1")


@pytest.mark.unit
def test_the_proxy_limits_bodies_and_times_too_and_refuses_nothing_that_pages_accept() -> None:
    proxy = (ROOT / "Caddyfile").read_text()
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["proxy"]
    assert "./Caddyfile:/etc/caddy/Caddyfile:ro" in compose["volumes"]
    assert re.search(r"read_header \d+s", proxy)
    (body_minutes,) = re.findall(r"read_body (\d+)m", proxy)
    researchers, others = (int(size) for size in re.findall(r"max_size (\d+)KiB", proxy))
    paths = re.findall(r"@researchers path (.+)", proxy)[0].replace("*", "").split()
    for pattern, limit in LIMITS:
        is_researchers = any(path.strip("/") in pattern.pattern.removeprefix("/").split("/")[0] for path in paths)
        assert limit <= KIB * (researchers if is_researchers else others), pattern.pattern
    assert 60 * int(body_minutes) >= seconds_for_body(max(limit for _pattern, limit in LIMITS))


# Threads


@pytest.mark.unit
def test_a_network_that_floods_leaves_a_thread_to_the_others() -> None:
    may_end = threading.Event()

    async def scene() -> str:
        threads = FairThreads(3, most_waiting=40)
        flood = [asyncio.create_task(threads.run("flood", lambda: may_end.wait(SOON))) for _ in range(43)]
        await asyncio.sleep(0.1)
        try:
            with pytest.raises(Refused):
                await threads.run("flood", lambda: True)
            return await asyncio.wait_for(threads.run("other", lambda: "answered"), SOON)
        finally:
            may_end.set()
            assert all(await asyncio.gather(*flood))

    assert asyncio.run(scene()) == "answered"


# Bodies, chunk by chunk


class Exchange:
    """One request of an ASGI server: what it sends to the application, and what the application answers."""

    def __init__(self, chunks: list[bytes], *, waits: float = 0.0, **scope: Any) -> None:
        self.chunks = chunks
        self.waits = waits
        self.sent: list[dict[str, Any]] = []
        self.scope = {
            "type": "http", "method": "POST", "path": "/s/films/", "query_string": b"a=1", "http_version": "1.1",
            "scheme": "http", "server": ("localhost", 80), "client": ("192.0.2.7", 4000), "headers": [], **scope,
        }  # fmt: skip

    async def receive(self) -> dict[str, Any]:
        if self.waits:
            await asyncio.sleep(self.waits)
        chunk = self.chunks.pop(0) if self.chunks else None
        if chunk is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": bool(self.chunks)}

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])


class Site:
    """A WSGI application that answers with what it was sent."""

    def __init__(self) -> None:
        self.environ: dict[str, Any] = {}

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        self.environ = environ
        start_response("200 OK", [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")])
        return Answer(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))


class Answer(list[bytes]):
    def __init__(self, body: bytes) -> None:
        super().__init__([body])

    def close(self) -> None:
        """As Django's responses have it."""


def _asked(exchange: Exchange, site: Any = None, *, signed_in: bool = False, seconds: float = SOON) -> Any:
    site = site or Site()
    gateway = Gateway(
        site, threads=2, n_proxies=0, is_signed_in=lambda *_headers: signed_in, seconds_for_body=lambda _size: seconds
    )
    asyncio.run(asyncio.wait_for(gateway(exchange.scope, exchange.receive, exchange.send), 2 * SOON))
    return site


def _length(n: int) -> list[tuple[bytes, bytes]]:
    return [(b"content-length", str(n).encode()), (b"x_forwarded_for", b"6.6.6.6"), (b"cookie", b"a=1")]


@pytest.mark.unit
def test_a_body_arrives_whole() -> None:
    exchange = Exchange([b"ab", b"cde"], headers=_length(5))
    environ = _asked(exchange).environ
    assert (exchange.status, exchange.body) == (200, b"abcde")
    assert exchange.sent[0]["headers"] == [(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2")]
    assert (environ["REMOTE_ADDR"], environ["HTTP_COOKIE"], environ["QUERY_STRING"]) == ("192.0.2.7", "a=1", "a=1")
    assert "HTTP_X_FORWARDED_FOR" not in environ  # with an underline it would stand in for the header of a proxy


@pytest.mark.unit
def test_a_body_without_a_length_is_counted() -> None:
    exchange = Exchange([b"ab", b"cde"], headers=[(b"transfer-encoding", b"chunked")])
    assert _asked(exchange).environ["CONTENT_LENGTH"] == "5"
    assert exchange.body == b"abcde"
    exchange = Exchange([b"x" * KIB] * 65, headers=[(b"transfer-encoding", b"chunked")])
    assert _asked(exchange).environ == {}
    assert exchange.status == 413


@pytest.mark.unit
@pytest.mark.parametrize(
    ("method", "path", "size", "signed_in", "status"),
    [
        ("POST", "/s/films/", 65 * KIB, False, 413),
        ("GET", "/s/films/", 1, False, 413),
        ("POST", "/studies/films/submissions/", 1_000_000, False, 413),
        ("POST", "/studies/films/submissions/", 1_000_000, True, 200),
        ("POST", "/studies/films/submissions/", 11_000_000, True, 413),
        ("POST", "/studies/films/submissions/", ANYONE, False, 200),
    ],
)
def test_a_body_is_refused_by_its_length_before_a_byte_is_read(
    method: str, path: str, size: int, signed_in: bool, status: int
) -> None:
    exchange = Exchange([b"x" * size], method=method, path=path, headers=_length(size))
    _asked(exchange, signed_in=signed_in)
    assert exchange.status == status
    assert bool(exchange.chunks) == (status == 413)
    if status == 413:
        assert exchange.headers[b"connection"] == b"close"
        assert b"Go back, shorten" in exchange.body


@pytest.mark.unit
@pytest.mark.parametrize(
    ("path", "content_type", "status"),
    [
        ("/s/films/", "multipart/form-data; boundary=x", 415),
        ("/s/p/token/about/", " Multipart/Form-Data; boundary=x", 415),
        ("/account/sign-in/", "multipart/mixed", 415),
        ("/studies/films/texts/", "multipart/form-data; boundary=x", 415),
        ("/no/such/page/", "multipart/form-data", 415),
        ("/s/films/", "application/x-www-form-urlencoded", 200),
        ("/s/p/token/events/", "application/json", 200),
        ("/studies/films/submissions/", "multipart/form-data; boundary=x", 200),
        ("/studies/films/recruiting/guests/", "multipart/form-data; boundary=x", 200),
        ("/catalog/import/", "multipart/form-data; boundary=x", 200),
        ("/catalog/ml/1/metadata/", "multipart/form-data; boundary=x", 200),
        ("/runs/models/upload/ml/1/", "multipart/form-data; boundary=x", 200),
        ("/api/v1/models/", "multipart/form-data; boundary=x", 200),
        ("/api/v1/reports/", "multipart/form-data; boundary=x", 415),
    ],
)
def test_files_are_refused_before_they_are_read_where_no_form_takes_them(
    path: str, content_type: str, status: int
) -> None:
    exchange = Exchange([b"x" * 100], path=path, headers=[*_length(100), (b"content-type", content_type.encode())])
    _asked(exchange)
    assert exchange.status == status
    assert bool(exchange.chunks) == (status == 415)


@pytest.mark.unit
def test_what_is_refused_before_it_is_read_is_in_the_security_log(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(security_log, "_written", {})
    headers = [*_length(100), (b"content-type", b"multipart/form-data; boundary=x")]
    _asked(Exchange([b"x" * 100], path="/s/p/SECRET/rate/", headers=headers))
    (file,) = (tmp_path / "logs").glob("security-*.jsonl")
    line = json.loads(file.read_text())
    assert (line["event"], line["outcome"], line["status"]) == ("access.not_read", "refused", 415)
    assert (line["network"], line["path"]) == (security_log.network_digest("192.0.2.7"), "/s/p/…/rate/")


@pytest.mark.unit
def test_every_form_with_files_is_read() -> None:
    """Each form that templates send in parts has a page that takes files."""
    urls = {
        "console/catalog/import.html": "/catalog/import/",
        "console/catalog/import_items.html": "/catalog/import/7/items/",
        "console/catalog/metadata.html": "/catalog/ml/1/metadata/",
        "console/evaluation/upload.html": "/runs/models/upload/ml/1/",
        "console/evaluation/run_scores.html": "/runs/1/scores/",
        "console/studies/new.html": "/studies/new/",
        "console/studies/explanations.html": "/studies/x/conditions/explanations/",
        "console/_post_form.html": "/studies/x/recruiting/links/",  # of `post_form`, which draws one form with a file
        "console/studies/questionnaire_import.html": "/studies/x/questionnaire/import/",
        "console/studies/submissions.html": "/studies/x/submissions/",
    }
    templates = ROOT / "templates"
    shared = "console/catalog/_upload_form.html"  # the form itself, drawn by the pages that include it
    with_files = {
        str(file.relative_to(templates))
        for file in templates.rglob("*.html")
        if re.search(f"multipart/|{shared}", file.read_text())
    }
    assert with_files == {*urls, shared}
    assert all(is_read(url, "multipart/form-data; boundary=x") for url in urls.values())
    # What other scripts send is encoded as a form without files is.
    sends_parts = re.compile(r"(body: |send\()new FormData")
    scripts = {file.name for file in (ROOT / "static/js").glob("*.js") if sends_parts.search(file.read_text())}
    assert scripts == {"upload.js"}


@pytest.mark.unit
def test_a_slow_body_is_given_up_and_never_reaches_the_site() -> None:
    exchange = Exchange([b"x"] * 100, waits=0.1, headers=_length(100))
    assert _asked(exchange, seconds=0.3).environ == {}
    assert (exchange.status, exchange.headers[b"retry-after"]) == (408, b"10")
    gone = Exchange([b"x", b"x"], headers=_length(5))
    gone.chunks = [b"x"]
    gone.receive = _disconnecting(gone.receive)  # type: ignore[method-assign]
    assert _asked(gone).environ == {}
    assert gone.sent == []


def _disconnecting(receive: Any) -> Any:
    """The same client, which goes away after its first chunk."""

    async def first_then_gone() -> dict[str, Any]:
        message: dict[str, Any] = await receive()
        return {**message, "more_body": True}

    return first_then_gone


@pytest.mark.unit
def test_a_refusal_speaks_the_browsers_language_and_json_to_scripts() -> None:
    italian = Exchange([b"x"], headers=[*_length(10**9), (b"accept-language", b"it-IT,it;q=0.9,en;q=0.5")])
    _asked(italian)
    assert '<html lang="it">' in italian.body.decode()
    assert "Go back" not in italian.body.decode()
    events = Exchange([b"x"], path="/s/p/token/events/", headers=_length(10**6))
    _asked(events)
    assert b'"code": "web.too_large"' in events.body


@pytest.mark.unit
def test_files_and_streams_are_sent_to_the_last_byte(tmp_path: Path) -> None:
    content = b"0123456789" * 100_000
    (tmp_path / "file").write_bytes(content)
    opened: list[Any] = []

    def file_site(environ: dict[str, Any], start_response: Any) -> Any:
        start_response("200 OK", [])
        opened.append((tmp_path / "file").open("rb"))
        return environ["wsgi.file_wrapper"](opened[0], 4096)

    class Stream(Answer):
        streaming = True

    def stream_site(environ: dict[str, Any], start_response: Any) -> Any:
        start_response("200 OK", [])
        return Stream(content)

    for site in (file_site, stream_site):
        exchange = Exchange([], method="GET")
        _asked(exchange, site)
        assert exchange.body == content
        assert exchange.sent[-1]["more_body"] is False
    assert opened[0].closed
    assert isinstance(FileBody(opened[0]), FileBody)


# Who may send large files


@pytest.mark.integration
@pytest.mark.django_db
def test_large_files_are_taken_from_sessions_and_tokens_only() -> None:
    user = UserFactory()
    client = Client()
    client.force_login(user)
    cookie = f"other=1; sessionid={client.cookies['sessionid'].value}"
    assert is_signed_in(cookie, "")
    assert not is_signed_in("sessionid=made-up", "")
    assert not is_signed_in("", "")
    _token, text = create_token(owner=user, name="upload")
    assert is_signed_in("", f"Bearer {text}")
    assert not is_signed_in("", "Bearer plx_made_up")
    anonymous = Client()
    anonymous.get("/account/sign-in/")
    session = anonymous.session
    session["seen"] = True
    session.save()
    assert not is_signed_in(f"sessionid={session.session_key}", "")


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/no/such/page/", "/no/such/page", "/s/p/x/no/no/"])
def test_a_malformed_body_to_an_unknown_address_is_no_fault_of_ours(path: str) -> None:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.get("/account/sign-in/")  # brings the CSRF cookie
    response = client.post(path, data=b"malformed", content_type="multipart/form-data")
    assert response.status_code == 400
    assert client.post(path, {"a": "1"}).status_code == 404


# The server itself


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, migrated_copy: Callable[[Path], None]) -> Iterator[int]:
    """The port of a web server of two threads, with a database of its own."""
    import os

    folder = tmp_path_factory.mktemp("web")
    environment = {**os.environ, "PARALLAX_VAR": str(folder), "SECRET_KEY": "a secret key that is only for tests"}
    for name in ("DATABASE_URL", "REDIS_URL"):
        environment.pop(name, None)
    migrated_copy(folder / "parallax.sqlite3")
    port = _free_port()
    command = [sys.executable, "-m", "parallax.web", "--port", str(port), "--workers", "1", "--threads", "2"]
    web = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        _wait_for(port, "/health/")
        yield port
    finally:
        web.terminate()
        web.wait(20)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, path: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        with contextlib.suppress(urllib.error.URLError, OSError):
            _get(port, path)
            return
        assert time.monotonic() < deadline
        time.sleep(0.2)


def _get(port: int, path: str) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=SOON) as response:
        return int(response.status)


def _head(path: str, length: int) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.slow
@pytest.mark.integration
def test_silent_bodies_and_silent_heads_leave_the_pages_to_the_others(server: int) -> None:
    begun = [_head("/s/films/", 3000) + b"a=", _head("/account/sign-in/", 60_000), b"GET /health/ HTTP/1.1\r\nHost"]
    with contextlib.ExitStack() as stack:
        for number in range(50):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", server), timeout=SOON))
            client.sendall(begun[number % len(begun)])
        with ThreadPoolExecutor(10) as threads:
            assert list(threads.map(lambda _n: _get(server, "/account/sign-in/"), range(30))) == [200] * 30


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("path", ["/account/sign-in/", "/s/films/", "/no/such/page/", "/studies/films/submissions/"])
def test_hundreds_of_megabytes_are_refused_at_once(server: int, path: str) -> None:
    with socket.create_connection(("127.0.0.1", server), timeout=SOON) as client:
        client.sendall(_head(path, 299 * 2**20))
        answer = client.recv(4096)
        assert answer.startswith(b"HTTP/1.1 413"), answer[:200]
        while client.recv(4096):  # the server hangs up
            pass


@pytest.mark.slow
@pytest.mark.integration
def test_what_a_browser_has_already_is_not_sent_again(server: int) -> None:
    path = "/static/css/base.css"
    first = httpx.get(f"http://127.0.0.1:{server}{path}", timeout=SOON)
    again = httpx.get(
        f"http://127.0.0.1:{server}{path}", headers={"If-Modified-Since": first.headers["Last-Modified"]}, timeout=SOON
    )
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


@pytest.mark.slow
@pytest.mark.integration
def test_a_stream_reaches_the_client_of_the_real_server() -> None:
    port = _free_port()
    site = [sys.executable, "-m", "granian", "--interface", "asginl", "--port", str(port)]
    web = subprocess.Popen([*site, "tests.parallax.streamed_site:application"], cwd=ROOT)
    try:
        _wait_for(port, "/")
        with httpx.stream("GET", f"http://127.0.0.1:{port}/", timeout=SOON) as response:
            assert response.status_code == 200
            assert b"".join(response.iter_raw()) == b"".join(streamed_site.CHUNKS)
    finally:
        web.terminate()
        web.wait(20)
