"""Log files that several processes append to: lines stay whole, and a full disk leaves no part of one."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import stat
from pathlib import Path
from select import PIPE_BUF

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a disk, a quota or a file says that can take no more


def append_lines(path: Path, lines: bytes) -> int:
    """Append whole lines to a file for this account alone, and return the size of the file before.

    Raises OSError, which names the file; nothing of the lines is stored then.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            try:
                if os.write(descriptor, lines) < len(lines):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError:
                os.ftruncate(descriptor, size)
                raise
            return size
        finally:
            os.close(descriptor)
    except OSError as problem:
        problem.filename = str(path)
        raise


def rotate(path: Path, *, n_kept: int) -> None:
    """Rename a file to `….1`, after the older ones were renamed to `….2` and so on; `n_kept` of them stay."""
    for number in range(n_kept, 0, -1):
        older = path.with_name(f"{path.name}.{number}")
        newer = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
        with contextlib.suppress(FileNotFoundError):
            newer.replace(older)


def write_whole(descriptor: int, lines: bytes) -> None:
    """Write lines so that no other process writes into them; what cannot be written is dropped.

    A pipe takes 4 KiB at once, into which longer lines are broken.
    """
    with contextlib.suppress(OSError):
        is_pipe = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
        while lines:
            end = len(lines)
            if is_pipe and end > PIPE_BUF:
                end = lines.rfind(b"\n", 0, PIPE_BUF) + 1
                if not end:
                    end = PIPE_BUF
                    lines = b"%b\n%b" % (lines[: end - 1], lines[end - 1 :])
            lines = lines[os.write(descriptor, lines[:end]) :]


class StandardError(logging.Handler):
    """Writes each record to standard error, so that processes do not write into each other's lines."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.format(record)
        except Exception:
            self.handleError(record)
        else:
            write_whole(2, f"{text}\n".encode(errors="backslashreplace"))
