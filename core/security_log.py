"""The security log: who did what, from which network, and whether it was done or refused. One JSON object a line."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pwd
import re
import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.utils.crypto import salted_hmac

from core.log_files import append_lines, write_whole
from core.networks import network_of

logger = logging.getLogger(__name__)

DONE, REFUSED = "done", "refused"
STDOUT = "stdout"
# Refusals within a minute that one process writes: of one kind, account and network, and of all together. A flood does
# not fill the disk.
MOST_ALIKE, MOST_REFUSALS = 20, 300
LONGEST_TEXT = 200
# Commands that read or change accounts, keys or answers.
COMMANDS = {
    *("backup", "restore", "create_account", "create_token", "reset_password", "reset_second_factor"),
    *("export_study", "erase_expired", "withdraw_participant", "report"),
    *("createsuperuser", "changepassword", "shell", "dbshell", "dumpdata", "loaddata", "flush"),
}

# A participant's own link, a personal link that has not been used, an invitation, and a link to a new password.
_SECRET = re.compile(r"(/s/p/|/s/[a-z0-9-]+/link/|/account/invitation/|/account/password/reset/[^/\s?]+/)[^/\s?]+")
_request: ContextVar[Any] = ContextVar("security_log_request", default=None)
_operator: ContextVar[str] = ContextVar("security_log_operator", default="")
_written: dict[str, Counter[tuple[Any, ...]]] = {}  # refusals of the current minute
_lock = threading.Lock()


def record_event(
    event: str,
    *,
    outcome: str = DONE,
    request: Any = None,
    account: Any = None,
    address: str = "",
    **details: Any,
) -> None:
    """Write one line; it never raises.

    `request` is the one that is being answered, unless another is passed; `account` is its account, unless another is
    meant, such as the one of a failed sign-in. `address` is for events outside a request. Details are
    short values: the slug of a study, the code of a participant, a role; never secrets, answers or free text.
    """
    request = _request.get() if request is None else request
    account = _account_of(request) if account is None else account
    address = address or (request.META.get("REMOTE_ADDR", "") if request is not None else "")
    token = getattr(getattr(request, "auth", None), "pk", None)
    line: dict[str, Any] = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "event": event,
        "outcome": outcome,
        "account": getattr(account, "pk", None),
        "role": _role(request, account),
        "token": token,
        "operator": _operator.get(),
        "request": getattr(request, "security_id", None),
        "network": network_digest(address) if address else None,
        "address": address if settings.SECURITY_LOG_ADDRESSES else None,
        "method": getattr(request, "method", None),
        "path": masked(request.path) if request is not None else None,
        **details,
    }
    if line["role"] == "participant" and "participant" in details:
        line["network"] = line["address"] = None  # no line says from where a participant came
    if outcome != REFUSED or _is_counted(line):
        _write(line)


def network_digest(address: str) -> str:
    """The digest by which the log names the network of an address; it is keyed with `SECRET_KEY`."""
    return salted_hmac("parallax.security-log", network_of(address), algorithm="sha256").hexdigest()[:16]


@contextlib.contextmanager
def events_of(request: Any) -> Iterator[None]:
    """Within the block, events belong to this request, which gets an id."""
    request.security_id = secrets.token_hex(8)
    before = _request.set(request)
    try:
        yield
    finally:
        _request.reset(before)


@contextlib.contextmanager
def events_of_operator(command: str) -> Iterator[None]:
    """Within the block, events belong to the account of the machine that runs a command; it may be an event itself."""
    number = os.getuid()
    try:
        name = pwd.getpwuid(number).pw_name
    except KeyError:  # as in a container that runs by a number
        name = str(number)
    before, outcome = _operator.set(name), REFUSED
    try:
        yield
        outcome = DONE
    finally:
        if command in COMMANDS:
            record_event(f"command.{command}", outcome=outcome)
        _operator.reset(before)


def delete_old_days() -> int:
    """Delete the files of days that are kept no longer, and return their number."""
    oldest = (datetime.now(UTC) - timedelta(days=settings.SECURITY_LOG_DAYS)).date().isoformat()
    old = [path for path in _folder().glob("security-*.jsonl") if path.stem.removeprefix("security-") < oldest]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def _account_of(request: Any) -> Any:
    try:
        user = getattr(request, "user", None)
        return user if user is not None and user.is_authenticated else None
    except DatabaseError:  # the session cannot be read
        return None


def _role(request: Any, account: Any) -> str:
    if account is not None:
        return "administrator" if getattr(account, "is_superuser", False) else "researcher"
    if request is not None:
        return "participant" if request.path.startswith("/s/") else "visitor"
    return "operator" if _operator.get() else "system"


def _is_counted(line: dict[str, Any]) -> bool:
    """Count a refusal, unless too many of this minute were written; the last one says that more are omitted."""
    minute, key = line["time"][:16], (line["event"], line["account"], line["network"])
    with _lock:
        if minute not in _written:
            _written.clear()
        counts = _written.setdefault(minute, Counter())
        if counts[key] == MOST_ALIKE or counts.total() == MOST_REFUSALS:
            return False
        counts[key] += 1
        if counts[key] == MOST_ALIKE or counts.total() == MOST_REFUSALS:
            line["more"] = "omitted"
        return True


def _folder() -> Path:
    return Path(settings.VAR_DIR) / "logs"


def _write(line: dict[str, Any]) -> None:
    shown = {
        name: value[:LONGEST_TEXT] if isinstance(value, str) else value
        for name, value in line.items()
        if value not in (None, "")
    }
    data = f"{json.dumps(shown, default=str)}\n".encode()
    if settings.SECURITY_LOG == STDOUT:
        write_whole(2 if _operator.get() else 1, data)  # a command's standard output is its result
        return
    path = _folder() / f"security-{line['time'][:10]}.jsonl"
    try:
        if append_lines(path, data) == 0:
            delete_old_days()
    except OSError as problem:
        logger.error("%s: %s. Not stored: %s", problem.filename, problem.strerror, data.decode().rstrip())


def masked(text: str) -> str:
    """The text without the secret parts of links."""
    return _SECRET.sub(r"\1…", text)


class MaskLinks(logging.Filter):
    """Removes the secret part of links of participants, invitations and new passwords from every line."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if (without := masked(message)) != message:
            record.msg, record.args = without, ()
        return True
