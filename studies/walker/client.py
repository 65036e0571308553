"""Pages over HTTP, on one kept connection of the standard library.

Hundreds of walks share the processor with the server that they load: this takes a third of the time that httpx
takes over a request. What can go wrong is raised as httpx names it.
"""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any, Protocol
from urllib.parse import urlencode, urljoin, urlsplit

import httpx

MOST_REDIRECTS = 10
TO_GET = (301, 302, 303)
REDIRECTS = (*TO_GET, 307, 308)
FORM = "application/x-www-form-urlencoded"


class Response(Protocol):
    """What a walk needs of a response; those of httpx have it too."""

    @property
    def status_code(self) -> int: ...
    @property
    def is_error(self) -> bool: ...
    @property
    def text(self) -> str: ...
    @property
    def url(self) -> Any: ...
    @property
    def history(self) -> Any: ...


class Client(Protocol):
    """What a walk asks; `httpx.Client` can be asked so too."""

    @property
    def base_url(self) -> Any: ...
    def get(self, url: str, *, params: Any = None, headers: Any = None, follow_redirects: bool = True) -> Response: ...
    def post(self, url: str, *, data: Any = None, headers: Any = None, follow_redirects: bool = True) -> Response: ...


@dataclass(frozen=True)
class PlainResponse:
    """A response, with the addresses that led to it."""

    status_code: int
    url: str
    content: bytes
    history: tuple[str, ...]

    @property
    def is_error(self) -> bool:
        """Whether the site refused, or failed."""
        return self.status_code >= 400

    @property
    def text(self) -> str:
        """The page; the site writes UTF-8."""
        return self.content.decode()


class PlainClient:
    """A browser's connection, cookies and redirects, and no more.

    Parameters
    ----------
    base_url : str
        The site's address, which relative addresses are taken from.
    timeout : float
        Seconds that an answer may take.
    """

    def __init__(self, base_url: str, timeout: float) -> None:
        self.base_url = base_url
        self._timeout = timeout
        self._cookies: dict[str, str] = {}
        self._connection: http.client.HTTPConnection | None = None
        self._origin = ("", "")

    def __enter__(self) -> PlainClient:
        return self

    def __exit__(self, *_what: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(
        self,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        follow_redirects: bool = True,
    ) -> PlainResponse:
        """Get a page.

        Raises
        ------
        httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.TooManyRedirects
        """
        asked = f"{url}?{urlencode(params)}" if params else url
        return self._answered("GET", asked, None, headers or {}, follow_redirects)

    def post(
        self,
        url: str,
        *,
        data: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        follow_redirects: bool = True,
    ) -> PlainResponse:
        """Send a form; raises what `get` raises."""
        return self._answered("POST", url, urlencode(data or {}, doseq=True).encode(), headers or {}, follow_redirects)

    def _answered(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], follow_redirects: bool
    ) -> PlainResponse:
        history: tuple[str, ...] = ()
        at = urljoin(self.base_url, url)
        while True:
            status, location, content = self._sent(method, at, body, headers)
            if status not in REDIRECTS or not location or not follow_redirects:
                return PlainResponse(status, at, content, history)
            if len(history) == MOST_REDIRECTS:
                raise httpx.TooManyRedirects(f"{url} led on more than {MOST_REDIRECTS} times.")
            history, at = (*history, at), urljoin(at, location)
            if status in TO_GET:
                method, body = "GET", None

    def _sent(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, str | None, bytes]:
        """Send one request; on a kept connection that the server has let go of meanwhile, once more on a new one."""
        parts = urlsplit(url)
        if self._origin != (parts.scheme, parts.netloc):
            self.close()
            self._origin = (parts.scheme, parts.netloc)
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        whole = {"Accept-Encoding": "identity", **headers}
        if body is not None:
            whole["Content-Type"] = FORM
        if self._cookies:
            whole["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        is_kept = self._connection is not None
        try:
            return self._exchanged(method, target, body, whole)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as problem:
            self.close()
            if not is_kept:
                raise _told(problem) from problem
        except (http.client.HTTPException, OSError) as problem:
            self.close()
            raise _told(problem) from problem
        try:
            return self._exchanged(method, target, body, whole)
        except (http.client.HTTPException, OSError) as problem:
            self.close()
            raise _told(problem) from problem

    def _exchanged(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, str | None, bytes]:
        if self._connection is None:
            self._connection = self._opened()
        self._connection.request(method, target, body=body, headers=headers)
        answer = self._connection.getresponse()
        for line in answer.headers.get_all("Set-Cookie", ()):
            self._keep(line)
        return answer.status, answer.headers["Location"], answer.read()

    def _opened(self) -> http.client.HTTPConnection:
        scheme, place = self._origin
        kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        fresh = kind(place, timeout=self._timeout)
        try:
            fresh.connect()
        except OSError as problem:
            raise httpx.ConnectError(str(problem)) from problem
        return fresh

    def _keep(self, line: str) -> None:
        """Keep or forget a cookie, as the site says; it is the only site there is, so whose it is need not be asked."""
        try:
            said = SimpleCookie(line)
        except CookieError:
            return
        for name, cookie in said.items():
            if cookie["max-age"] == "0":
                self._cookies.pop(name, None)
            else:
                self._cookies[name] = cookie.coded_value


def _told(problem: Exception) -> httpx.TransportError:
    if isinstance(problem, httpx.TransportError):
        return problem
    kind = httpx.ReadTimeout if isinstance(problem, TimeoutError) else httpx.RemoteProtocolError
    return kind(str(problem))
