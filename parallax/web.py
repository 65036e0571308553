"""The web server, which `up` and the image start: `.venv/bin/python -m parallax.web --host 127.0.0.1 --port 8000`."""

from __future__ import annotations

from argparse import ArgumentParser

from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server.mp import MPServer

from core.leader import lead, watch_leader

WORKERS = 3  # processes; in each one participant's request is answered at a time, see parallax.turns
THREADS = 4  # of each process: the console's requests go on beside the participants'
KEPT_SECONDS = 600  # of a thread without requests: it holds a connection to the database
STOP_SECONDS = 8  # for requests in hand, when told to stop


def server_at(host: str, port: int, *, workers: int, threads: int) -> MPServer:
    """Make the server of `workers` processes, which answer `threads` requests each at a time."""
    return MPServer(
        "parallax.wsgi:application",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        blocking_threads=threads,
        blocking_threads_idle_timeout=KEPT_SECONDS,
        http=HTTPModes.http1,
        websockets=False,
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
    )


def main() -> None:
    """Serve until told to stop."""
    options = ArgumentParser(description=__doc__)
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, default=8000)
    options.add_argument("--workers", type=int, default=WORKERS, help="processes")
    options.add_argument("--threads", type=int, default=THREADS, help="requests that each process answers at a time")
    chosen = options.parse_args()
    watch_leader()
    lead()
    server_at(chosen.host, chosen.port, workers=chosen.workers, threads=chosen.threads).serve()


if __name__ == "__main__":
    main()
