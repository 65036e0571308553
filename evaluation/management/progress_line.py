"""A progress line for a fit on the terminal."""

from __future__ import annotations

import time
from types import TracebackType

from django.core.management.base import CommandError, OutputWrapper

from evaluation.services.fit_progress import in_words
from recommenders.progress import Progress

LINE_SECONDS = 0.2  # minimum time between two updates


class ProgressLine:
    """The progress of a fit on a terminal, removed afterwards; silent if the output is not a terminal.

    A context whose value is the progress. A ParallaxError inside it ends the command with its message, Ctrl-C with
    `stopped` (empty: it passes).
    """

    def __init__(self, out: OutputWrapper, stopped: str = "") -> None:
        self._out, self._stopped = out, stopped
        self._started = time.monotonic()
        self._written_at: float | None = None

    def __enter__(self) -> Progress:
        return self.update

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._written_at is not None:
            self._write("")
        if isinstance(problem, KeyboardInterrupt) and self._stopped:
            raise CommandError(self._stopped, returncode=130) from None

    def update(self, share: float, step: str, /) -> None:
        now = time.monotonic()
        if not self._out.isatty() or (self._written_at is not None and now - self._written_at < LINE_SECONDS):
            return
        self._written_at = now
        self._write(in_words(share, step, now - self._started))

    def _write(self, text: str) -> None:
        # Without the wrapper's style, which would mark the line as an error.
        self._out.write(f"\r\x1b[2K{text}", lambda text: text, ending="")
        self._out.flush()
