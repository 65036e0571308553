"""Progress of a fit, stored as the activity of its run; a fit ends early when its run is over."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.db import Error as DatabaseError

from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun, RunPart
from evaluation.services.parts import describe
from jobs.leases import LeaseLost

logger = logging.getLogger(__name__)

WRITE_SECONDS = 1.5  # minimum time between two writes
ESTIMATE_SECONDS = 3.0  # the remaining time is shown after this time and this share of the work
ESTIMATE_SHARE = 0.05


class FitProgress:
    """Callback that receives the progress of a fit and stores it as the activity of the run.

    It writes at most once every `WRITE_SECONDS`. It raises LeaseLost when the worker must stop: as soon as a write
    finds that the run is over, or when the heartbeat reports a lost lease.
    """

    def __init__(self, part: RunPart, check: Callable[[], None]) -> None:
        self._part = part
        self._check = check
        self._activity = describe(part)
        self._started = self._written_at = time.monotonic()

    def __call__(self, share: float, step: str, /) -> None:
        """Report the share of the fit that is done."""
        self._check()
        now = time.monotonic()
        if now - self._written_at < WRITE_SECONDS:
            return
        self._written_at = now
        text = f"{self._activity}: {in_words(share, step, now - self._started)}"
        try:
            is_running = EvaluationRun.objects.filter(pk=self._part.run_id, status=RunStatus.RUNNING).update(
                activity=text[: EvaluationRun._meta.get_field("activity").max_length]
            )
        except DatabaseError:
            # A missed update is no reason to stop the fit; the heartbeat still guards the lease.
            logger.warning("progress not written part=%s", self._part.pk, exc_info=True)
            return
        if not is_running:
            raise LeaseLost("part.lease_lost", "This part's run is over.")


def in_words(share: float, step: str, seconds: float) -> str:
    """Format the progress of a fit: the share done, the current step, and the remaining time once it can be estimated.

    The remaining time is approximate, because algorithms that stop early often finish sooner.

    >>> in_words(0.25, "Epoch 3 of at most 10", 6.0)
    '25%, epoch 3 of at most 10, about 18 s left'
    """
    text = f"{int(100 * share)}%, {step[:1].lower()}{step[1:]}"
    if seconds >= ESTIMATE_SECONDS and ESTIMATE_SHARE <= share < 1.0:
        text += f", about {seconds * (1 - share) / share:,.0f} s left"
    return text
