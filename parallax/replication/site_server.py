"""A web server for simulated participants: child processes as in production, or threads of this process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application

from parallax.children import Children

HOST = "127.0.0.1"


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the command has lines of its own."""


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def child_server() -> Iterator[str]:
    """The site on web workers of its own, by its address."""
    with Children(host=HOST, port=free_port(), workers=0) as children:
        yield children.url


@contextmanager
def own_server() -> Iterator[str]:
    """The site in threads of this process, by its address: no other process is started."""
    server = ThreadedWSGIServer((HOST, 0), _Quiet)
    server.set_app(get_wsgi_application())
    thread = threading.Thread(target=server.serve_forever, name="replication-server", daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
