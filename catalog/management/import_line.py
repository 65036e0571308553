"""A progress line of the commands that store datasets."""

from __future__ import annotations

import time

from django.core.management.base import OutputWrapper

LINE_SECONDS = 0.2  # minimum time between two updates of the same activity
LINE_WIDTH = 72


class ImportLine:
    """What is being done and how far, on one line that is overwritten; silent if the output is not a terminal."""

    def __init__(self, out: OutputWrapper) -> None:
        self._out = out
        self._activity = ""
        self._written_at = 0.0

    def update(self, activity: str, done: int, total: int | None, /) -> None:
        now = time.monotonic()
        is_recent = activity == self._activity and now - self._written_at < LINE_SECONDS
        if is_recent or not self._out.isatty():
            return
        self._activity, self._written_at = activity, now
        of = f" of {total:,}" if total is not None else ""
        self._out.write(f"\r{f'{activity}: {done:,}{of}':<{LINE_WIDTH}.{LINE_WIDTH}}", ending="")
        self._out.flush()

    def clear(self) -> None:
        if self._written_at:
            self._out.write("\r" + " " * LINE_WIDTH + "\r", ending="")
