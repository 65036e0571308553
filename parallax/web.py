"""Settings of the web server that `up` starts."""

from __future__ import annotations

from core.leader import watch_leader


def on_starting(server: object) -> None:
    """Let the web server leave with `up`, however that ended."""
    watch_leader()
