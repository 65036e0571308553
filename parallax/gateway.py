"""An ASGI application that reads a whole request before a thread answers it with a WSGI application.

The event loop of the web server waits for slow clients; the threads answer requests that are complete. A body that is
too large or too slow is refused before anything of it reaches Django.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, Any, TypeVar

from django.core.handlers.wsgi import WSGIRequest

from core.networks import client_address, network_of
from core.security_log import REFUSED, record_event
from parallax.body_limits import ANYONE, is_read, largest_body, seconds_for_body
from parallax.error_pages import refusal_page

T = TypeVar("T")
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Coroutine[Any, Any, None]]
Headers = list[tuple[bytes, bytes]]
IN_MEMORY = ANYONE  # bytes of a body; what is larger lies in a temporary file
FILE_CHUNK = 2**18
MOST_WAITING = 200  # requests of one network in one process, beside those that are being answered
READER_SECONDS = 60.0  # for a client to take one chunk of a streamed response
BODYLESS = ("GET", "HEAD", "OPTIONS")


class Refused(Exception):
    """The request is refused with this status before it is answered."""

    def __init__(self, status: HTTPStatus) -> None:
        self.status = status


class _Disconnected(Exception):
    """The client is gone before its request was complete."""


@dataclass
class _Queue:
    """The requests of one network: how many there are, and a permit for each that may have a thread."""

    permits: asyncio.Semaphore
    n_requests: int = 0


@dataclass
class FairThreads:
    """Runs functions on `threads` threads, for each network on half of them at most.

    Requests wait in the order of arrival within their network. While one network floods the server, a request of any
    other finds a free thread.
    """

    threads: int
    most_waiting: int = MOST_WAITING
    _queues: dict[str, _Queue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="request")

    async def run(self, network: str, function: Callable[[], T]) -> T:
        """Return what the function returns. Raises Refused where too many of the network's requests wait."""
        queue = self._queues.get(network)
        if queue is None:
            # Half of the threads: with all of them, one network's slow requests would leave none to anyone else.
            queue = self._queues[network] = _Queue(asyncio.Semaphore(max(1, self.threads // 2)))
        # Refused at once: a queue without end would hold the memory of every body read so far.
        if queue.n_requests >= self.most_waiting + self.threads:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE)
        queue.n_requests += 1
        try:
            async with queue.permits:
                return await asyncio.get_running_loop().run_in_executor(self._pool, function)
        finally:
            queue.n_requests -= 1
            if not queue.n_requests:
                # Networks without a request are forgotten, or a scan from many addresses would grow the table for
                # ever.
                del self._queues[network]


class FileBody:
    """A response body that is a file (`wsgi.file_wrapper`): between two chunks no thread waits for the client."""

    def __init__(self, file: IO[bytes], block_size: int = FILE_CHUNK) -> None:
        self.file = file

    def read(self) -> bytes:
        return self.file.read(FILE_CHUNK)

    def close(self) -> None:
        self.file.close()  # and with it Django's response


class Gateway:
    """Reads requests in the event loop, within limits, and answers them on threads.

    `n_proxies` are the installation's own proxies in front of this server, whose `X-Forwarded-For` is believed.
    `is_signed_in` says whether the headers `Cookie` and `Authorization` are those of an account; it is asked before a
    large body is read.
    """

    def __init__(
        self,
        wsgi: Callable[..., Any],
        *,
        threads: int,
        n_proxies: int,
        is_signed_in: Callable[[str, str], bool],
        seconds_for_body: Callable[[int], float] = seconds_for_body,
    ) -> None:
        self._wsgi = wsgi
        self._threads = FairThreads(threads)
        self._n_proxies = n_proxies
        self._is_signed_in = is_signed_in
        self._seconds_for_body = seconds_for_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"The gateway serves HTTP only, not {scope['type']}.")
        environ = _environ_of(scope, self._n_proxies)
        network = network_of(environ["REMOTE_ADDR"])
        try:
            with await self._body(environ, network, receive) as body:
                environ["wsgi.input"] = body
                await self._answer(environ, network, send)
        except _Disconnected:
            return
        except Refused as refusal:
            await _send_refusal(refusal.status, environ, send)

    async def _body(self, environ: dict[str, Any], network: str, receive: Receive) -> IO[bytes]:
        """The request's body from its first byte; raises Refused before reading what is too large or not expected."""
        # Judged by what the header declares, before a byte of the body is read.
        declared = environ.get("CONTENT_LENGTH", "")
        is_chunked = "HTTP_TRANSFER_ENCODING" in environ
        if not is_chunked and declared in ("", "0"):
            return BytesIO()
        if not is_read(environ["PATH_INFO"], environ.get("CONTENT_TYPE", "")):
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        # No page reads the body of such a request, so any byte of one is refused.
        limit = 0 if environ["REQUEST_METHOD"] in BODYLESS else largest_body(environ["PATH_INFO"])
        size = int(declared) if declared.isdecimal() else limit
        # Asked only for large bodies, because the answer is a query of the session; small ones are open to everyone.
        if min(size, limit) > ANYONE:
            headers = (environ.get("HTTP_COOKIE", ""), environ.get("HTTP_AUTHORIZATION", ""))
            if not await self._threads.run(network, lambda: self._is_signed_in(*headers)):
                limit = ANYONE
        if declared and size > limit:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        body: IO[bytes] = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 -- the caller closes it
        try:
            # The whole body has a limit, not each chunk: a client that sends a byte a second would satisfy the latter
            # for hours.
            async with asyncio.timeout(self._seconds_for_body(min(size, limit))):
                n_read = await _read(receive, body, limit)
        except BaseException as problem:
            body.close()
            if isinstance(problem, TimeoutError):
                raise Refused(HTTPStatus.REQUEST_TIMEOUT) from None
            raise
        # WSGI has no chunked bodies: Django reads as many bytes as CONTENT_LENGTH says, so it is told the number read.
        if is_chunked:
            environ["CONTENT_LENGTH"] = str(n_read)
            del environ["HTTP_TRANSFER_ENCODING"]
        body.seek(0)
        return body

    async def _answer(self, environ: dict[str, Any], network: str, send: Send) -> None:
        loop = asyncio.get_running_loop()

        async def sent(message: dict[str, Any]) -> None:
            await send(message)  # a server may return any awaitable, and a loop takes coroutines only

        def stream(message: dict[str, Any]) -> None:
            # The thread waits until the client has taken the chunk, so that an export is not made faster than it is
            # read.
            asyncio.run_coroutine_threadsafe(sent(message), loop).result(READER_SECONDS)

        started, body = await self._threads.run(network, lambda: self._run_wsgi(environ, stream))
        if isinstance(body, FileBody):
            try:
                await send(started)
                # A thread for each chunk and none while the client reads: large files to slow readers would occupy all
                # of them.
                while chunk := await self._threads.run(network, body.read):
                    await asyncio.wait_for(send(_body_message(chunk, more=True)), READER_SECONDS)
                await send(_body_message(b""))
            finally:
                await self._threads.run(network, body.close)
        elif body is not None:
            await send(started)
            await send(_body_message(body))

    def _run_wsgi(
        self, environ: dict[str, Any], stream: Callable[[dict[str, Any]], None]
    ) -> tuple[dict[str, Any], bytes | FileBody | None]:
        """On a thread: the start of the response and its body; None where the body has been streamed from here.

        What is made while it is sent, as an export from the database, keeps its thread to the end, because the
        thread holds the database connection.
        """
        started: dict[str, Any] = {}

        def start_response(status: str, headers: Iterable[tuple[str, str]], exc_info: Any = None) -> None:
            started.update(_start_message(int(status[:3]), headers))

        response = self._wsgi(environ, start_response)
        if isinstance(response, FileBody):
            return started, response
        try:
            if not getattr(response, "streaming", False):
                return started, b"".join(response)
            stream(started)
            for chunk in response:
                stream(_body_message(chunk, more=True))
            stream(_body_message(b""))
            return started, None
        finally:
            # Also where sending failed: Django ends the request's signals and connections in it.
            response.close()


async def _read(receive: Receive, body: IO[bytes], limit: int) -> int:
    """Write what the client sends to `body`, and return the number of bytes."""
    n_read = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Disconnected
        chunk = message.get("body", b"")
        n_read += len(chunk)
        if n_read > limit:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        body.write(chunk)
        if not message.get("more_body", False):
            return n_read


def _environ_of(scope: Scope, n_proxies: int) -> dict[str, Any]:
    server = scope.get("server") or ("localhost", 80)
    peer = (scope.get("client") or ("", 0))[0]
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        # WSGI carries bytes as text in Latin-1 (PEP 3333), whatever their encoding.
        "PATH_INFO": scope["path"].encode().decode("latin1"),
        "QUERY_STRING": scope["query_string"].decode("latin1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1] or 0),
        "REMOTE_ADDR": peer,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.errors": sys.stderr,
        "wsgi.file_wrapper": FileBody,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    forwarded: list[str] = []
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin1"), raw_value.decode("latin1")
        if "_" in name:  # it would take the place of the header with hyphens
            continue
        key = name.upper().replace("-", "_")
        # Collected over all headers of that name: a client could send one of its own before the proxy's.
        if key == "X_FORWARDED_FOR":
            forwarded.append(value)
        if key not in ("CONTENT_LENGTH", "CONTENT_TYPE"):
            key = f"HTTP_{key}"
        if key in environ:
            # HTTP/2 may split cookies over several headers, to be joined by semicolons; other lists are joined by
            # commas.
            value = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{value}"
        environ[key] = value
    # Limits of networks count this address, so only the installation's own proxies may name another one.
    environ["REMOTE_ADDR"] = client_address(peer, forwarded, n_proxies)
    return environ


def _start_message(status: int, headers: Iterable[tuple[str, str]]) -> dict[str, Any]:
    encoded: Headers = [(name.lower().encode("latin1"), value.encode("latin1")) for name, value in headers]
    return {"type": "http.response.start", "status": status, "headers": encoded}


def _body_message(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}


async def _send_refusal(status: HTTPStatus, environ: dict[str, Any], send: Send) -> None:
    """Answer a request that is not read any further, and close its connection."""
    request = WSGIRequest({**environ, "wsgi.input": BytesIO()})
    record_event("access.not_read", outcome=REFUSED, request=request, status=status.value)
    page = refusal_page(request, status)
    headers = [
        *page.items(),
        ("Content-Length", str(len(page.content))),
        # Part of the body is still on its way, and would be read as the next request of the connection.
        ("Connection", "close"),
        ("Cache-Control", "no-store"),
        # Django's middleware never sees this answer, so the headers it would add are written here.
        ("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'"),
        ("X-Content-Type-Options", "nosniff"),
    ]
    await send(_start_message(status.value, headers))
    await send(_body_message(page.content))
