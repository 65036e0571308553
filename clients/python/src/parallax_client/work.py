"""What takes long: it is requested at once, and `wait()` waits until it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, Self, TypeVar

from parallax_client.low.api.jobs import job, job_cancel
from parallax_client.site import Connection

Row = TypeVar("Row", bound="Record")
OPEN = ("queued", "running")


class Failed(Exception):
    """Work that did not succeed; `result` has the facts about it."""

    def __init__(self, what: str, status: str, error: str, result: Any = None) -> None:
        self.result = result
        super().__init__(f"{what}: {status}. {error}".strip())


class Record:
    """A row of a site: the fields of its answer as attributes, and what can be done with it."""

    _key = "id"  # the field that names it in addresses

    def __init__(self, site: Connection, row: Any) -> None:
        self.site, self.row = site, row

    def __getattr__(self, name: str) -> Any:
        """A field of the answer."""
        return getattr(self.row, name)

    def __repr__(self) -> str:
        fields = [name for name in ("id", "slug", "name", "status") if hasattr(self.row, name)]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self.row, name)!r}' for name in fields)})"


def act(operation: ModuleType, words: str) -> Callable[[Row], Row]:
    """The method that calls an operation on a row, and returns the row as it is then."""

    def method(self: Row) -> Row:
        self.row = self.site.call(operation, getattr(self.row, self._key))
        return self

    method.__doc__ = words
    return method


class Work(Record):
    """A row with a status that changes while a worker is at it."""

    refresh: Callable[[], Self]

    def wait(self, *, timeout: float = 3600, shown: Callable[[str], object] | None = None) -> Any:
        """Wait until it is over; `shown` is called with each new activity. Raises Failed and TimeoutError."""
        end, seconds, activity = time.monotonic() + timeout, 0.2, ""
        while self.row.status in OPEN:
            if time.monotonic() > end:
                raise TimeoutError(f"{self!r} is not over after {timeout:g} s.")
            if shown and self.row.activity != activity:
                activity = self.row.activity
                shown(activity)
            time.sleep(seconds)
            seconds = min(2.0, seconds * 1.5)
            self.refresh()
        if self.row.status != "succeeded":
            raise Failed(repr(self), self.row.status, self.row.error, getattr(self.row, "result", None))
        return self.outcome()

    def outcome(self) -> Any:
        """What `wait` returns once it succeeded."""
        return self


class Job(Work):
    """A job; `wait` returns what it made, where that can be read."""

    def __init__(self, site: Connection, row: Any, read: Callable[[Job], Any] | None = None) -> None:
        super().__init__(site, row)
        self._read = read

    refresh = act(job, "Read it again.")

    def cancel(self) -> None:
        """Cancel it: its worker stops at the next step."""
        self.site.call(job_cancel, self.row.id)

    def outcome(self) -> Any:
        return self._read(self) if self._read else self
