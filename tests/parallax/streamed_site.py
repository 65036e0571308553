"""A site behind the gateway whose only page is made while it is sent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
django.setup()

from parallax.gateway import Gateway  # noqa: E402

CHUNKS = [f"line {number}\n".encode() * 1000 for number in range(50)]


class Stream:
    """A response as Django makes it of a generator."""

    streaming = True

    def __iter__(self) -> Iterator[bytes]:
        return iter(CHUNKS)

    def close(self) -> None:
        """Nothing is open."""


def site(environ: dict[str, Any], start_response: Callable[..., Any]) -> Stream:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return Stream()


application = Gateway(site, threads=2, n_proxies=0, is_signed_in=lambda cookie, authorization: False)
