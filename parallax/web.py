"""Settings of the web server that `up` starts."""

from __future__ import annotations

import gc

from core.leader import watch_leader


def on_starting(server: object) -> None:
    """Let the web server leave with `up`, however that ended."""
    watch_leader()


def post_worker_init(worker: object) -> None:
    """Leave what was imported out of garbage collection, and collect less often: pages leave few circles behind."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
