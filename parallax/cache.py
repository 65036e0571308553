"""The cache in Redis; while Redis does not answer, each process uses a cache of its own."""

from __future__ import annotations

import logging
import time
from functools import partialmethod
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as NoAnswer

logger = logging.getLogger(__name__)
TIMEOUT_SECONDS = 1.0  # for Redis to answer
AWAY_SECONDS = 5.0  # until Redis is asked again


class RedisOrLocalCache(RedisCache):
    """Django's Redis cache; pages and rate limits keep working without Redis, by process."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        options = {"socket_timeout": TIMEOUT_SECONDS, "socket_connect_timeout": TIMEOUT_SECONDS}
        super().__init__(server, {**params, "OPTIONS": {**options, **params.get("OPTIONS", {})}})
        # Limits of rates then count in each process: laxer than agreed, but never without a limit.
        self._local = LocMemCache("redis-away", params)
        self._away_until = 0.0

    def _ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= self._away_until:
            try:
                return getattr(super(), name)(*args, **kwargs)
            except (NoConnection, NoAnswer, RedisError) as problem:
                # Otherwise every request would wait for the timeout as long as Redis is away.
                self._away_until = time.monotonic() + AWAY_SECONDS
                logger.warning("Redis does not answer (%s): this process caches on its own", type(problem).__name__)
        return getattr(self._local, name)(*args, **kwargs)

    # The methods that the project uses; Django's others reach Redis alone.
    add = partialmethod(_ask, "add")
    get = partialmethod(_ask, "get")
    set = partialmethod(_ask, "set")
    delete = partialmethod(_ask, "delete")
    incr = partialmethod(_ask, "incr")

    def clear(self) -> None:
        """Delete everything, also what this process stored while Redis was away."""
        self._local.clear()
        self._ask("clear")
