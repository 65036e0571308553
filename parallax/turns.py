"""One participant's request at a time in each web process, beside as many of the console's as there are threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import BytesIO
from threading import Lock
from typing import Any

from django.conf import settings

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class OneAtATime:
    """A WSGI application in which requests under a path take turns.

    Participants' requests are short and nearly all of them write. Where several run in one process, each waits for
    the interpreter's lock between two statements of a transaction, and everybody else waits for what it has locked
    in the database: taking turns, they are done sooner. What is long, as a report, goes on beside them.

    Parameters
    ----------
    application : callable
        The WSGI application.
    path : str
        What the paths of those requests begin with.
    long : str
        What the paths of forms among them end with that go on beside the others, because a model may have to be
        opened for one.
    """

    def __init__(self, application: Application, path: str, long: str) -> None:
        self._application = application
        self._path = path
        self._long = long
        self._turn = Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path, is_form = environ["PATH_INFO"], environ["REQUEST_METHOD"] == "POST"
        if not path.startswith(self._path) or (is_form and path.endswith(self._long)):
            return self._application(environ, start_response)
        # What is sent has come before the turn is taken: nobody waits for somebody else's network.
        _wait_for_body(environ)
        with self._turn:
            return self._application(environ, start_response)


def _wait_for_body(environ: dict[str, Any]) -> None:
    length = environ.get("CONTENT_LENGTH", "")
    # Django refuses what is larger, or has no length of its own, without reading it.
    if length.isdecimal() and 0 < int(length) <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        environ["wsgi.input"] = BytesIO(environ["wsgi.input"].read(int(length)))
