"""Progress of a fit, stored as the activity of its run; a fit ends early when its run is over."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.db import Error as DatabaseError

from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun, RunPart
from evaluation.services.parts import describe
from evaluation.services.training import expected_fit_seconds
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
        self._expected = (
            None
            if part.algorithm is None
            else expected_fit_seconds(
                version=part.run.version, algorithm=part.algorithm.algorithm, params=part.algorithm.params
            )
        )
        self._started = self._written_at = time.monotonic()

    def __call__(self, share: float, step: str, /) -> None:
        """Report the share of the fit that is done."""
        self._check()
        now = time.monotonic()
        if now - self._written_at < WRITE_SECONDS:
            return
        self._written_at = now
        text = f"{self._activity}: {in_words(share, step, now - self._started, expected=self._expected)}"
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


def in_words(share: float, step: str, seconds: float, *, expected: float | None = None) -> str:
    """Format the progress of a fit: the share done, the current step, and the remaining time once it can be estimated:
    from what the fit is `expected` to take, in seconds, or else from the share done.

    No time is shown for a step "of at most" so many, because fits that stop early do so long before the last one.

    >>> in_words(0.25, "Rows 101 to 200", 6.0)
    '25%, rows 101 to 200, about 18 s left'
    >>> in_words(0.25, "Epoch 3 of at most 10", 6.0)
    '25%, epoch 3 of at most 10'
    """
    text = f"{int(100 * share)}%, {step[:1].lower()}{step[1:]}"
    if seconds < ESTIMATE_SECONDS or share >= 1.0:
        return text
    left = None
    if expected is not None:
        left = expected - seconds
    elif share >= ESTIMATE_SHARE and "of at most" not in step:
        left = seconds * (1 - share) / share
    return text if left is None or left < 1.0 else f"{text}, about {left:,.0f} s left"
