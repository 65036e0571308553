"""Child processes that stop when their parent process is gone, even if it was killed."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time

PARENT_VARIABLE = "PARALLAX_PARENT"  # environment of a child: the process id of its parent
POLL_SECONDS = 1.0


def watch_parent() -> None:
    """In a child process: stop as soon as its parent is gone. In any other process: do nothing. A grandchild is stopped
    by its own parent, which calls `adopt_children` first.
    """
    # Removed, so that this process's own children do not watch a process that is not their parent.
    parent = os.environ.pop(PARENT_VARIABLE, "")
    if not parent.isdigit():
        return

    def watch() -> None:
        # Polled, because a parent killed by SIGKILL sends nothing; an orphan is given another parent by the system.
        while os.getppid() == int(parent):
            time.sleep(POLL_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            # A signal and not an exit: the handlers for an orderly stop run in the main thread.
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def adopt_children() -> None:
    """Let children of this process that call `watch_parent` stop with it."""
    os.environ[PARENT_VARIABLE] = str(os.getpid())
