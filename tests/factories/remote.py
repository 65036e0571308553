"""Recommenders behind HTTP: the examples of docs/how-to, each a server of its own on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from misbehaving import misbehaving
from service import Server

from evaluation.remote.client import Service
from evaluation.remote.messages import ListQuery, RatedItem, RatingScale

HERE = frozenset({"127.0.0.1"})


@contextmanager
def running(server: Server) -> Iterator[str]:
    """The address of a server that runs in a thread."""
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def write_items(file: Path, n: int = 20) -> frozenset[str]:
    ids = [str(number) for number in range(n)]
    file.write_text("".join(json.dumps({"item": item, "title": f"Title {item}"}) + "\n" for item in ids))
    return frozenset(ids)


@contextmanager
def service_that_is(how: str, items: Path, *, token: str = "", **settings: Any) -> Iterator[Service]:
    """A service with one fault; retries wait for no time."""
    with running(misbehaving(items, how, token=token)) as address:
        stated = {"hosts": HERE, "seconds": 10, "retry_after": (0.0, 0.0, 0.0), "token": token, **settings}
        yield Service("GRU", address, **stated)


def make_request(n: int = 5, request: str = "first", rated: tuple[str, ...] = ("3", "7")) -> ListQuery:
    return ListQuery(
        request=request,
        n=n,
        scale=RatingScale(low=1.0, high=5.0, step=1.0),
        profile=[RatedItem(item=item, rating=4.0, order=place) for place, item in enumerate(rated, start=1)],
        exclude=list(rated),
    )
