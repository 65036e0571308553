"""The web server, which `up` and the image start: `.venv/bin/python -m parallax.web --host 127.0.0.1 --port 8000`."""

from __future__ import annotations

import gc
import multiprocessing
import os
import tempfile
from argparse import ArgumentParser
from importlib import import_module

import django
from django.core.wsgi import get_wsgi_application
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer

from jobs.parent_process import adopt_children, watch_parent
from parallax.database import refuse_unfinished_restore

WORKERS = 3  # processes
THREADS = 4  # of each process, see parallax.gateway
HEADER_SECONDS = 30  # for a client to send the head of a request, and to send the next one on an open connection
STOP_SECONDS = 8  # for requests in hand, when told to stop
# How many threads each process has, for the processes themselves; see parallax.settings.
SHARED = ("numba", "scipy.optimize", "scipy.special", "scipy.stats")
METRICS_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"  # where processes share their counts of requests
THREADS_VARIABLE = "PARALLAX_WEB_THREADS"


def load_application() -> None:
    """Import the application and open live studies before the processes fork: they share it, and start faster.

    Opening a model imports Numba, and power and tests of runs need SciPy: where they are
    imported here, their memory is shared. No page imports another large library (tests/parallax/test_weight.py).
    The first compiled function loads 30 MiB of Numba, so one is compiled here even if no study is live. The REST API's
    description takes 7 MiB of each process that has shown it.
    The objects are frozen because garbage collection writes to every object it examines, and a memory page that is
    written to is no longer shared.

    What each process does for itself is in `parallax.wsgi`, which only the processes import.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
    django.setup()
    # Before anything is opened: database and secret key may not belong together.
    refuse_unfinished_restore()
    import_module("evaluation.services.malloc_tuning").return_large_blocks()
    for module in ("parallax.urls", "parallax.gateway", *SHARED):
        import_module(module)
    get_wsgi_application()  # imports the middleware
    import_module("numba").njit(lambda: None)()
    import_module("parallax.api.operations").interface()
    import_module("studies.participation.services.warming").start_warming().join()
    gc.collect()
    gc.freeze()


def server_at(host: str, port: int, *, workers: int, threads: int) -> MPServer:
    """Create the server of `workers` processes, which answer `threads` requests each at a time."""
    os.environ[THREADS_VARIABLE] = str(threads)
    return MPServer(
        "parallax.asgi:application",
        address=host,
        port=port,
        interface=Interfaces.ASGINL,
        workers=workers,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_SECONDS * 1000),
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
    # Before children are adopted, which takes over the variable that names the parent.
    watch_parent()
    adopt_children()
    with tempfile.TemporaryDirectory(prefix="parallax-metrics-") as counts:
        os.environ[METRICS_FOLDER_VARIABLE] = counts
        server = server_at(chosen.host, chosen.port, workers=chosen.workers, threads=chosen.threads)
        # Processes that are spawned import everything for themselves, so loading it here would be for nothing.
        if multiprocessing.get_start_method() == "fork":
            load_application()
        server.serve()


if __name__ == "__main__":
    main()
