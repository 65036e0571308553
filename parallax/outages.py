"""Outages of what the site depends on: the database, Redis, the disk, the storage of files."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError, connection, connections
from django.http import HttpRequest, HttpResponseBase
from kombu.exceptions import OperationalError as NoBroker
from redis.exceptions import RedisError

from core.errors import StorageRefused, StorageUnavailable
from core.log_files import FULL

logger = logging.getLogger(__name__)
IDEMPOTENT = ("GET", "HEAD", "OPTIONS")
LOST = "parallax.lost_connection"  # in the request's META: its view lost the connection to the database


def is_outage(problem: BaseException | None) -> bool:
    """Whether an exception says that the database, Redis, disk or storage is away or full, and no code is wrong."""
    if isinstance(problem, OSError):
        return problem.errno in FULL
    outages = OperationalError | InterfaceError | NoBroker | RedisError | StorageUnavailable | StorageRefused
    return isinstance(problem, outages)


def note_outage(request: HttpRequest, problem: BaseException | None) -> None:
    """Mark a request whose view failed because its connection to a database server is lost."""
    # SQLite has no connection to lose: there the error is a lock or the disk, and a second attempt would fail as well.
    if isinstance(problem, OperationalError | InterfaceError) and connection.vendor != "sqlite":
        request.META[LOST] = True


class RetryLostConnection:
    """Answers a request that changes nothing a second time if the first attempt lost its connection to the database.

    The server may have been restarted since the connection was opened; a new one may well succeed.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        # A form may have been stored before the connection was lost, so it is never sent twice.
        if request.META.pop(LOST, False) and request.method in IDEMPOTENT:
            logger.warning("connection to the database lost: retried once")
            # The others of this thread may be lost too, as a restarted server closes them all.
            connections.close_all()
            response = self._get_response(request)
        return response
