"""One line on a terminal that says how far a fit is."""

from __future__ import annotations

import time

from django.core.management.base import OutputWrapper

from evaluation.services.telling import in_words

LINE_SECONDS = 0.2  # between two changes


class ProgressLine:
    """The progress of a fit, shown on a terminal and gone with it; nothing on what is no terminal."""

    def __init__(self, out: OutputWrapper) -> None:
        self._out = out
        self._started = time.monotonic()
        self._told: float | None = None

    def tell(self, share: float, what: str, /) -> None:
        now = time.monotonic()
        if not self._out.isatty() or (self._told is not None and now - self._told < LINE_SECONDS):
            return
        self._told = now
        self._write(in_words(share, what, now - self._started))

    def wipe(self) -> None:
        if self._told is not None:
            self._write("")

    def _write(self, words: str) -> None:
        # Plainly, and not as an error, which is what the wrapper's own style would make of it.
        self._out.write(f"\r\x1b[2K{words}", lambda text: text, ending="")
        self._out.flush()
