"""A child process that leaves when the process it was started by is gone, even if that one was killed."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time

LEADER = "PARALLAX_LEADER"  # environment of a child: the process it belongs to
LOOK_SECONDS = 1.0


def watch_leader() -> None:
    """In a child: stop as soon as the process it was started by is gone; in any other process, do nothing.

    The leader is this process's parent. A grandchild is its own parent's to stop, which may `lead` it.
    """
    leader = os.environ.pop(LEADER, "")
    if not leader.isdigit():
        return

    def watch() -> None:
        while os.getppid() == int(leader):
            time.sleep(LOOK_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="leader-watch", daemon=True).start()


def lead() -> None:
    """Let children of this process that `watch_leader` leave with it."""
    os.environ[LEADER] = str(os.getpid())
