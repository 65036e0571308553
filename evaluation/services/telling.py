"""How far a fit is, written where its run shows it; and the end of a fit whose run is over."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.db import Error as DatabaseError

from core.heartbeat import LeaseLost
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun, RunPart
from evaluation.services.parts import describe

logger = logging.getLogger(__name__)

TELL_SECONDS = 1.5  # between two writes
JUDGED_SECONDS = 3.0  # before that, or a twentieth of the work, the time left would be a guess
JUDGED_SHARE = 0.05


class FitTeller:
    """The progress of a fit inside a run: heard by the algorithm's reports, written at most every second or so.

    Each report raises LeaseLost where this worker is no longer to go on: at once where the run is found to be
    over when something is written, and otherwise as soon as the heartbeat knows.
    """

    def __init__(self, part: RunPart, check: Callable[[], None]) -> None:
        self._part = part
        self._check = check
        self._what = describe(part)
        self._started = self._told = time.monotonic()

    def __call__(self, share: float, what: str, /) -> None:
        """Take note of how far the fit is."""
        self._check()
        now = time.monotonic()
        if now - self._told < TELL_SECONDS:
            return
        self._told = now
        words = f"{self._what}: {in_words(share, what, now - self._started)}"
        try:
            is_running = EvaluationRun.objects.filter(pk=self._part.run_id, status=RunStatus.RUNNING).update(
                activity=words[: EvaluationRun._meta.get_field("activity").max_length]
            )
        except DatabaseError:
            # Not worth a fit that goes on well; the heartbeat watches over the lease.
            logger.warning("progress not written part=%s", self._part.pk, exc_info=True)
            return
        if not is_running:
            raise LeaseLost("part.lease_lost", "This part's run is over.")


def in_words(share: float, what: str, seconds: float) -> str:
    """Say how far a fit is: share, what it is at, and the time left as soon as there is something to judge by.

    The time left is said as "about": an algorithm that may stop early is often done sooner.

    >>> in_words(0.25, "Epoch 3 of at most 10", 6.0)
    '25 %, epoch 3 of at most 10, about 18 s left'
    """
    words = f"{int(100 * share)} %, {what[:1].lower()}{what[1:]}"
    if seconds >= JUDGED_SECONDS and JUDGED_SHARE <= share < 1.0:
        words += f", about {seconds * (1 - share) / share:,.0f} s left"
    return words
