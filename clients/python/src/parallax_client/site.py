"""The connection to a site: requests are done once, wait where they are told to, and say what was refused."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from inspect import signature
from types import ModuleType
from typing import Any
from uuid import uuid4

import httpx

from parallax_client.low.client import AuthenticatedClient
from parallax_client.low.models import Problem

PLACES = ("parameter", "header", "pointer")
PATIENCE = 5  # times that a request is sent to a site that is too busy for it


class Refused(Exception):
    """The site refused a request. `problem` is its answer (RFC 9457), `faults` are all faults with their places."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        self.problem = problem
        self.code: str = problem["code"]
        self.faults = [
            ": ".join(text for text in (*(fault.get(kind) for kind in PLACES), fault["detail"]) if text)
            for fault in problem["errors"]
        ]
        super().__init__("\n".join(filter(None, [problem["detail"], *self.faults, problem["remedy"]])))


class _Patient(httpx.HTTPTransport):
    """Sends a request again, as soon as the site allows, when there were too many."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        for _ in range(PATIENCE):
            response = super().handle_request(request)
            if response.status_code != httpx.codes.TOO_MANY_REQUESTS:
                break
            time.sleep(float(response.headers["Retry-After"]))
        return response


class Document(dict[str, Any]):
    """A body that is written as a document, without the class that describes it."""

    def to_dict(self) -> dict[str, Any]:
        """The document itself."""
        return dict(self)


class Connection:
    """Calls the operations of a site. `url` and `token` are `PARALLAX_URL` and `PARALLAX_TOKEN` unless given."""

    def __init__(self, url: str = "", token: str = "", *, timeout: float = 60) -> None:
        url, token = url or os.environ.get("PARALLAX_URL", ""), token or os.environ.get("PARALLAX_TOKEN", "")
        if not url or not token:
            raise ValueError("Give the address of the site and a token, or set PARALLAX_URL and PARALLAX_TOKEN.")
        self.low = AuthenticatedClient(
            base_url=url.rstrip("/"),
            token=token,
            timeout=httpx.Timeout(timeout),
            httpx_args={"transport": _Patient(retries=2)},
        )

    def call(self, operation: ModuleType, *address: Any, **arguments: Any) -> Any:
        """The parsed answer to an operation of `parallax_client.low.api`; a POST has a key, so that it is done once.

        Raises Refused.
        """
        if "idempotency_key" in signature(operation.sync_detailed).parameters:
            arguments["idempotency_key"] = str(uuid4())
        response = operation.sync_detailed(*address, client=self.low, **arguments)
        if isinstance(response.parsed, Problem):
            raise Refused(response.parsed.to_dict())
        return response.parsed

    def change(self, reading: ModuleType, changing: ModuleType, *address: Any, body: Mapping[str, Any]) -> Any:
        """Change what is read at the same address, as it is now. Raises Refused."""
        present = reading.sync_detailed(*address, client=self.low)
        if isinstance(present.parsed, Problem):
            raise Refused(present.parsed.to_dict())
        return self.call(changing, *address, body=Document(body), if_match=present.headers["ETag"])

    def get(self, path: str, **query: Any) -> httpx.Response:
        """The answer of an address whose content is a file or a table, once a worker has made it. Raises Refused."""
        while True:
            response = self.low.get_httpx_client().get(path, params=query)
            if response.is_error:
                raise Refused(response.json())
            if response.status_code != httpx.codes.ACCEPTED:
                return response
            time.sleep(float(response.headers.get("Retry-After", 2)))

    def every(self, operation: ModuleType, **filters: Any) -> Iterator[Any]:
        """The rows of a list, page by page."""
        page = self.call(operation, **filters)
        yield from page.results
        while page.next_:
            page = self.call(operation, **filters, cursor=httpx.URL(page.next_).params["cursor"])
            yield from page.results
