"""Pages over HTTP, on one connection that libcurl keeps.

Hundreds of walks share the processor with the server that they load, and libcurl reads and writes HTTP outside
Python. What can go wrong is raised as httpx names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlencode, urljoin

import httpx
import pycurl

MOST_REDIRECTS = 10
TO_GET = (301, 302, 303)
REDIRECTS = (*TO_GET, 307, 308)


class Response(Protocol):
    """What a walk needs of a response; those of httpx have it too."""

    @property
    def status_code(self) -> int: ...
    @property
    def is_error(self) -> bool: ...
    @property
    def content(self) -> bytes: ...
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
        self._handle = pycurl.Curl()
        for option, value in (
            (pycurl.TIMEOUT_MS, round(timeout * 1000)),
            (pycurl.NOSIGNAL, 1),  # walks run in threads, and signals reach the first one only
            (pycurl.COOKIEFILE, ""),  # cookies are kept, and none are read
            (pycurl.NOPROXY, "*"),  # whatever the environment says
            (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),  # a redirect opens no file
        ):
            self._handle.setopt(option, value)

    def __enter__(self) -> PlainClient:
        return self

    def __exit__(self, *_what: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._handle.close()

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
        self._handle.setopt(pycurl.HTTPGET, 1)
        return self._answered(f"{url}?{urlencode(params)}" if params else url, headers or {}, follow_redirects)

    def post(
        self,
        url: str,
        *,
        data: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        follow_redirects: bool = True,
    ) -> PlainResponse:
        """Send a form; raises what `get` raises."""
        self._handle.setopt(pycurl.POSTFIELDS, urlencode(data or {}, doseq=True))
        return self._answered(url, headers or {}, follow_redirects)

    def _answered(self, url: str, headers: Mapping[str, str], follow_redirects: bool) -> PlainResponse:
        """Ask what the handle is set to, and follow: libcurl would do so by itself, and not say by which addresses."""
        handle, at = self._handle, urljoin(self.base_url, url)
        history: tuple[str, ...] = ()
        # A large form is sent at once, without asking first whether it may be.
        handle.setopt(pycurl.HTTPHEADER, ["Expect:", *(f"{name}: {value}" for name, value in headers.items())])
        while True:
            handle.setopt(pycurl.URL, at)
            try:
                # On a kept connection that the server has let go of, libcurl tries once more on a new one.
                content = handle.perform_rb()
            except pycurl.error as problem:
                raise self._told(problem) from problem
            status, onward = handle.getinfo(pycurl.RESPONSE_CODE), handle.getinfo(pycurl.REDIRECT_URL)
            if status not in REDIRECTS or not onward or not follow_redirects:
                return PlainResponse(status, at, content, history)
            if len(history) == MOST_REDIRECTS:
                raise httpx.TooManyRedirects(f"{url} led on more than {MOST_REDIRECTS} times.")
            history, at = (*history, at), onward
            if status in TO_GET:
                handle.setopt(pycurl.HTTPGET, 1)

    def _told(self, problem: pycurl.error) -> httpx.TransportError:
        code, text = problem.args[0], self._handle.errstr()
        if code == pycurl.E_COULDNT_CONNECT or not self._handle.getinfo(pycurl.REQUEST_SIZE):  # nothing was sent
            return httpx.ConnectError(text)
        return (httpx.ReadTimeout if code == pycurl.E_OPERATION_TIMEDOUT else httpx.RemoteProtocolError)(text)
