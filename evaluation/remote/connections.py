"""One HTTP request to an address that people gave: bounded in time and size, without redirects, cookies or proxies."""

from __future__ import annotations

import ssl
import time
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from evaluation.remote.addresses import resolved

CONNECT_SECONDS = 2.0


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
            headers={**headers, "Connection": "close"},
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
