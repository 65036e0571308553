"""Participants' requests take turns in a process; the console's go on beside them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

import pytest

from parallax.turns import OneAtATime

pytestmark = pytest.mark.unit

SOON = 5.0  # seconds; nothing here takes long


class Site:
    """Answers that wait until they are let go, and how many of them were under way at once."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Semaphore(0)
        self.lock = threading.Lock()
        self.at_once: dict[str, int] = {}
        self.most: dict[str, int] = {}

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        kind = environ["PATH_INFO"].split("/")[1]
        with self.lock:
            self.at_once[kind] = self.at_once.get(kind, 0) + 1
            self.most[kind] = max(self.most.get(kind, 0), self.at_once[kind])
        self.begun.release()
        try:
            assert self.may_end.acquire(timeout=SOON)
            if environ["PATH_INFO"].endswith("/fault/"):
                raise RuntimeError("a fault")
            return [b"done"]
        finally:
            with self.lock:
                self.at_once[kind] -= 1


def test_participants_take_turns_and_the_console_goes_on_beside_them() -> None:
    site = Site()
    asked = OneAtATime(site, "/s/", long="/rate/")

    def ask(path: str, method: str = "GET") -> list[bytes]:
        return list(asked({"PATH_INFO": path, "REQUEST_METHOD": method}, lambda *_what: None))

    with ThreadPoolExecutor(max_workers=6) as threads:
        answers = [threads.submit(ask, path) for path in ("/s/p/one/", "/s/p/two/", "/s/p/two/rate/")]
        assert site.begun.acquire(timeout=SOON)  # one participant is under way, and two wait for their turn
        console = [threads.submit(ask, path) for path in ("/studies/", "/studies/load/")]
        for _ in console:
            assert site.begun.acquire(timeout=SOON)
        assert not site.begun.acquire(timeout=0.2)
        listed = threads.submit(ask, "/s/p/two/rate/", "POST")  # a model works, and nobody waits behind it
        assert site.begun.acquire(timeout=SOON)
        for _ in range(6):
            site.may_end.release()
        assert [each.result(timeout=SOON) for each in (*answers, *console, listed)] == [[b"done"]] * 6
    assert site.most == {"s": 2, "studies": 2}


def test_a_fault_ends_its_turn() -> None:
    site = Site()
    asked = OneAtATime(site, "/s/", long="/rate/")
    for _ in range(2):
        site.may_end.release()
    with pytest.raises(RuntimeError, match="a fault"):
        asked({"PATH_INFO": "/s/fault/", "REQUEST_METHOD": "GET"}, lambda *_what: None)
    assert asked({"PATH_INFO": "/s/p/one/", "REQUEST_METHOD": "GET"}, lambda *_what: None) == [b"done"]


class Slow:
    """A form that comes when it is let go."""

    def __init__(self) -> None:
        self.asked, self.comes = threading.Event(), threading.Event()

    def read(self, n: int) -> bytes:
        self.asked.set()
        assert self.comes.wait(SOON)
        return b"a=1"[:n]


def test_nobody_waits_for_somebody_elses_network() -> None:
    asked = OneAtATime(lambda environ, _start: [environ["wsgi.input"].read()], "/s/", long="/rate/")
    slow, quick = Slow(), BytesIO(b"b=2")

    def ask(body: Any, length: str = "3") -> list[bytes]:
        environ = {"PATH_INFO": "/s/p/one/", "REQUEST_METHOD": "POST", "CONTENT_LENGTH": length, "wsgi.input": body}
        return list(asked(environ, lambda *_what: None))

    with ThreadPoolExecutor(max_workers=1) as threads:
        waiting = threads.submit(ask, slow)
        assert slow.asked.wait(SOON)
        assert ask(quick) == [b"b=2"]
        slow.comes.set()
        assert waiting.result(timeout=SOON) == [b"a=1"]


@pytest.mark.parametrize("length", ["", "-1", "none", "99999999999"])
def test_what_has_no_length_or_too_much_is_left_to_the_application(length: str) -> None:
    left = object()
    asked = OneAtATime(lambda environ, _start: [str(environ["wsgi.input"] is left).encode()], "/s/", long="/rate/")
    assert asked(
        {"PATH_INFO": "/s/x/", "REQUEST_METHOD": "POST", "CONTENT_LENGTH": length, "wsgi.input": left}, print
    ) == [b"True"]
