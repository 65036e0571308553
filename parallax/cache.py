"""The cache in Redis; while Redis does not answer, each process uses a cache of its own."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
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
        self._local = LocMemCache("redis-away", params)
        self._away_until = 0.0

    def _ask(self, shared: Callable[[], Any], local: Callable[[], Any]) -> Any:
        if time.monotonic() < self._away_until:
            return local()
        try:
            return shared()
        except (NoConnection, NoAnswer, RedisError) as problem:
            self._away_until = time.monotonic() + AWAY_SECONDS
            logger.warning("Redis does not answer (%s): this process caches on its own", type(problem).__name__)
            return local()

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> Any:
        """Store a value unless the key has one."""
        rest = (key, value, timeout, version)
        return self._ask(lambda: RedisCache.add(self, *rest), lambda: self._local.add(*rest))

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """Return the value, or the default."""
        rest = (key, default, version)
        return self._ask(lambda: RedisCache.get(self, *rest), lambda: self._local.get(*rest))

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        """Store a value."""
        rest = (key, value, timeout, version)
        self._ask(lambda: RedisCache.set(self, *rest), lambda: self._local.set(*rest))

    def delete(self, key: Any, version: int | None = None) -> Any:
        """Delete a key; return whether it had a value."""
        return self._ask(lambda: RedisCache.delete(self, key, version), lambda: self._local.delete(key, version))

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> Any:
        """Add to a number. Raises ValueError where the key has none."""
        rest = (key, delta, version)
        return self._ask(lambda: RedisCache.incr(self, *rest), lambda: self._local.incr(*rest))

    def clear(self) -> None:
        """Delete everything."""
        self._local.clear()
        self._ask(lambda: RedisCache.clear(self), lambda: None)
