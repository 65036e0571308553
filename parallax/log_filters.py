"""Refusals and a full disk in one line of the log each, without a traceback."""

from __future__ import annotations

import logging

from django.conf import settings
from django.db import DatabaseError, connection

from core.log_files import FULL

IN_SECURITY_LOG = (401, 403, 429)  # with the account and network; the server's log would say less
# SQLite's own words, where only its shared memory does not fit too, and PostgreSQL's.
DATABASE_FULL = ("is full", "disk I/O error", "No space left")


class OneLine(logging.Filter):
    """Leaves refusals to the security log, and tracebacks to faults of the program."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let a line pass, without its traceback where that explains nothing; a request's id is added."""
        status = getattr(record, "status_code", 0)
        if record.name == "django.request" and status in IN_SECURITY_LOG:
            return False
        words = []
        if request_id := getattr(getattr(record, "request", None), "security_id", ""):
            words.append(f"request={request_id}")
        full = _full_disk(record.exc_info[1]) if record.exc_info else ""
        if full:
            words.append(full)
        if full or 400 <= status < 500:
            # The handler formats `exc_text` where another one has cached it; both have to go.
            record.exc_info = record.exc_text = None
        if words:
            # Formatted already, so no arguments may be left: a percent sign in a path would be read as a placeholder.
            record.msg, record.args = " ".join([record.getMessage(), *words]), ()
        return True


def _full_disk(problem: BaseException | None) -> str:
    """What is full; empty for any other problem."""
    if isinstance(problem, OSError) and problem.errno in FULL:
        return f"{problem.filename or f'a file in {settings.VAR_DIR}'}: {problem.strerror}"
    if isinstance(problem, DatabaseError) and any(words in str(problem) for words in DATABASE_FULL):
        return f"{connection.settings_dict['NAME']}: {str(problem).splitlines()[0]}"
    return ""
