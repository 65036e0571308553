"""A progress line for a fit on the terminal."""

from __future__ import annotations

import time

from django.core.management.base import OutputWrapper

from evaluation.services.fit_progress import in_words

LINE_SECONDS = 0.2  # minimum time between two updates


class ProgressLine:
    """The progress of a fit on a terminal, removed afterwards; silent if the output is not a terminal."""

    def __init__(self, out: OutputWrapper) -> None:
        self._out = out
        self._started = time.monotonic()
        self._written_at: float | None = None

    def update(self, share: float, step: str, /) -> None:
        now = time.monotonic()
        if not self._out.isatty() or (self._written_at is not None and now - self._written_at < LINE_SECONDS):
            return
        self._written_at = now
        self._write(in_words(share, step, now - self._started))

    def clear(self) -> None:
        if self._written_at is not None:
            self._write("")

    def _write(self, text: str) -> None:
        # Without the wrapper's style, which would mark the line as an error.
        self._out.write(f"\r\x1b[2K{text}", lambda text: text, ending="")
        self._out.flush()
