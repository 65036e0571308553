"""A fixed number of threads, of which no single network can occupy all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from core.errors import ParallaxError

T = TypeVar("T")
MOST_WAITING = 200  # requests of one network in one process, beside those that are being answered


class Overloaded(ParallaxError):
    """Too many requests of one network are waiting already."""

    def __init__(self) -> None:
        super().__init__("web.overloaded", "Too many requests are waiting.")


@dataclass
class _Queue:
    """The requests of one network: how many there are, and a permit for each that may have a thread."""

    permits: asyncio.Semaphore
    n_requests: int = 0


@dataclass
class FairThreads:
    """Runs functions on `threads` threads, for each network on half of them at most.

    Requests wait in the order of arrival within their network. While one network floods the server, a request of any
    other finds a free thread.
    """

    threads: int
    most_waiting: int = MOST_WAITING
    _queues: dict[str, _Queue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="request")

    async def run(self, network: str, function: Callable[[], T]) -> T:
        """Return what the function returns. Raises Overloaded where too many of the network's requests wait."""
        queue = self._queues.get(network)
        if queue is None:
            queue = self._queues[network] = _Queue(asyncio.Semaphore(max(1, self.threads // 2)))
        if queue.n_requests >= self.most_waiting + self.threads:
            raise Overloaded
        queue.n_requests += 1
        try:
            async with queue.permits:
                return await asyncio.get_running_loop().run_in_executor(self._pool, function)
        finally:
            queue.n_requests -= 1
            if not queue.n_requests:
                del self._queues[network]
