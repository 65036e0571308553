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
    parent = os.environ.pop(PARENT_VARIABLE, "")
    if not parent.isdigit():
        return

    def watch() -> None:
        while os.getppid() == int(parent):
            time.sleep(POLL_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def adopt_children() -> None:
    """Let children of this process that call `watch_parent` stop with it."""
    os.environ[PARENT_VARIABLE] = str(os.getpid())
