"""Rate limits, counted for all processes together; no address is stored."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.utils.crypto import salted_hmac

from core.models import RateCount

COUNT = (
    "INSERT INTO core_ratecount (key, n, ends_at) VALUES (%s, 1, %s) "
    "ON CONFLICT (key) DO UPDATE SET n = core_ratecount.n + 1 RETURNING n"
)


@dataclass(frozen=True)
class RateLimit:
    """At most `most` requests within `seconds`, counted in windows that begin at multiples of `seconds`."""

    most: int
    seconds: int


def seconds_to_wait(limit: RateLimit, *subject: str, is_shared: bool = True, now: float | None = None) -> int:
    """Count a request of `subject`; return 0, or the seconds to wait if the request exceeds the limit.

    Counts are in Redis or, without it, in the database. Their keys are keyed digests that change with each window: the
    subject cannot be read from them, and two windows cannot be linked. A limit that is not `is_shared`, such as that of
    a single browser, is counted in the cache, without Redis by each process.
    """
    key, window, wait = _window(limit, subject, time.time() if now is None else now)
    if cache.get(f"{key}:over"):  # a flood asks the database nothing
        return wait
    if is_shared and not settings.REDIS_URL:
        n = _count_in_database(key, ends_at=(window + 1) * limit.seconds)
    else:
        n = _count_in_cache(key, limit.seconds)
    if n <= limit.most:
        return 0
    cache.set(f"{key}:over", True, timeout=wait)
    return wait


def seconds_left(limit: RateLimit, *subject: str, now: float | None = None) -> int:
    """Return 0, or the seconds to wait if the requests of `subject` exceed a shared limit; counts nothing."""
    key, _number, wait = _window(limit, subject, time.time() if now is None else now)
    if cache.get(f"{key}:over"):
        return wait
    if settings.REDIS_URL:
        is_over = int(cache.get(key) or 0) > limit.most
    else:
        is_over = RateCount.objects.filter(key=key, n__gt=limit.most).exists()
    return wait if is_over else 0


def _window(limit: RateLimit, subject: tuple[str, ...], moment: float) -> tuple[str, int, int]:
    """The key of the subject's count, the number of the window, and the seconds until it ends."""
    window, passed = divmod(moment, limit.seconds)
    text = "\n".join((str(int(window)), str(limit.seconds), *subject))
    digest = salted_hmac("parallax.rate-limit", text, algorithm="sha256").hexdigest()[:40]
    return f"rate:{digest}", int(window), max(1, int(limit.seconds - passed))


def forget_counts() -> int:
    """Delete the counts of windows that are over, and return their number."""
    return RateCount.objects.filter(ends_at__lt=int(time.time())).delete()[0]


def _count_in_database(key: str, *, ends_at: int) -> int:
    """Add one; a full or absent database counts nothing outside of a transaction, so that pages can still be read."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(COUNT, [key, ends_at])
            return int(cursor.fetchone()[0])
    except DatabaseError:
        if connection.in_atomic_block:
            raise
        return 0


def _count_in_cache(key: str, seconds: int) -> int:
    cache.add(key, 0, timeout=seconds)
    try:
        return int(cache.incr(key))
    except ValueError:  # expired in between: the next request begins anew
        return 0
