"""Starts and stops the web server and the workers as child processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from django.conf import settings

from core.errors import ParallaxError
from core.log_files import append_lines, rotate, write_whole
from core.site_address import site_file
from jobs.broker_queues import declare_queue
from jobs.parent_process import PARENT_VARIABLE
from jobs.worker_lock import is_worker_running
from parallax.web import THREADS, WORKERS

ANY_ADDRESS = str(IPv4Address(0))  # of a server that is met at each address of its machine
STOP_SECONDS = 10.0
START_SECONDS = 180.0
MOST_RESTARTS = 5  # of children, within a minute
LOG_BYTES = 10_000_000  # of a child's log file, after which another begins
LONGEST_LINE = 65_536
LOG_FILES = 4  # older ones that are kept
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def refuse_taken_port(host: str, port: int) -> None:
    """Raise ParallaxError `up.port_taken`, `up.bad_port` or `up.unknown_host` where nothing can be served."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the web server itself does: a port whose last connections are still closing is free for it.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except socket.gaierror as problem:
            raise ParallaxError(
                "up.unknown_host", f"The address {host} of --host was not found ({problem.strerror}). Use 127.0.0.1."
            ) from problem
        except OverflowError as problem:
            raise ParallaxError("up.bad_port", f"The port {port} does not exist; ports are 1 to 65535.") from problem
        except OSError as problem:
            raise ParallaxError(
                "up.port_taken",
                f"Parallax cannot use port {port} on {host} ({problem.strerror}). Stop the program that uses it, or "
                "choose another port, such as `make demo PORT=8765` or `make up PORT=8765`.",
            ) from problem


@dataclass
class Children:
    """Web server and workers; leaving the `with` block stops them and their own children.

    Entering it waits until the web server answers, unless `is_awaited` is false: then `wait_for_worker` and
    `wait_until_ready` wait for what is needed next, and work of this process runs beside the start.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    web_workers: int = WORKERS
    threads: int = THREADS
    is_awaited: bool = True
    _running: list[tuple[str, subprocess.Popen[bytes]]] = field(default_factory=list)
    _log_threads: list[threading.Thread] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{'127.0.0.1' if self.host == ANY_ADDRESS else self.host}:{self.port}/"

    @property
    def logs(self) -> Path:
        return Path(settings.VAR_DIR) / "logs"

    def __enter__(self) -> Self:
        refuse_taken_port(self.host, self.port)
        # In a process of its own, which is large; without the file, the site's system checks say what to do.
        subprocess.run([sys.executable, "-m", "charting.runtime"], cwd=settings.BASE_DIR, check=False)
        try:
            # By the parent, once: children that create the same queue at once may read its file before it is written.
            for queue in (settings.CELERY_TASK_DEFAULT_QUEUE, settings.LONG_QUEUE):
                declare_queue(queue)
            self._start("web", self._web_command())
            if self.workers:  # else it is a command's own server
                site_file().write_text(self.url, encoding="utf-8")
            for number in range(self.workers):
                self._start(f"worker-{number + 1}", self._worker_command(str(number + 1)))
            if self.workers:  # so that fits leave exports, reports and sweeps a worker
                self._start("worker-short", self._worker_command("short", "-Q", settings.CELERY_TASK_DEFAULT_QUEUE))
            if self.is_awaited:
                self.wait_until_ready()
        # Ctrl-C during the start too: `__exit__` is not called where `__enter__` raises.
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _web_command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "parallax.web", "--host", self.host, "--port", str(self.port)),
            *("--workers", str(self.web_workers), "--threads", str(self.threads)),
        ]

    def _worker_command(self, name: str, *options: str) -> list[str]:
        return [
            *(sys.executable, "-m", "celery", "-A", "parallax", "worker", "--pool", "solo", "--loglevel", "WARNING"),
            *("--without-gossip", "--without-mingle", "-n", f"up-{os.getpid()}-{name}@%h", *options),
        ]

    def _start(self, name: str, command: list[str]) -> None:
        threads = str(settings.NUMERIC_THREADS)
        environment: Mapping[str, str] = {
            **os.environ,
            # Numeric libraries read these when they are loaded, so they cannot be set in the child any more.
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            "NUMBA_NUM_THREADS": threads,
            PARENT_VARIABLE: str(os.getpid()),
        }
        # A session of its own keeps the terminal's Ctrl-C from reaching the children before we stop them in order.
        process = subprocess.Popen(
            command,
            cwd=settings.BASE_DIR,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._running.append((name, process))
        self._log_threads = [thread for thread in self._log_threads if thread.is_alive()]
        self._log_threads.append(
            # Read by a thread and not written by the child itself, so that lines of several processes do not tear and
            # files rotate.
            threading.Thread(target=_store_output, args=(process.stdout, self.logs / f"{name}.log"), daemon=True)
        )
        self._log_threads[-1].start()

    def wait_for_worker(self) -> None:
        """Wait until a worker takes messages. Raises ParallaxError `up.child_ended` or `up.no_worker`."""
        self._wait_for(is_worker_running, "up.no_worker", "No worker was ready")

    def wait_until_ready(self) -> None:
        """Wait until the web server answers. Raises ParallaxError `up.child_ended` or `up.no_answer`."""
        self._wait_for(self._answers, "up.no_answer", "The web server did not answer")

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}health/", timeout=5):  # noqa: S310 -- our own address  # nosec B310
                return True
        except OSError:  # and those of urllib
            return False

    def _wait_for(self, is_there: Callable[[], bool], code: str, what: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not is_there():
            # A child that died explains more than a timeout would, and three minutes earlier.
            self.check()
            if time.monotonic() > deadline:
                raise ParallaxError(code, f"{what} within {START_SECONDS:.0f} s; see {self.logs}.")
            time.sleep(0.1)

    def check(self) -> None:
        """Raise ParallaxError `up.child_ended` when a child is gone."""
        for name, process in self._running:
            if process.poll() is not None:
                raise ParallaxError(
                    "up.child_ended",
                    f"The process {name} ended with status {process.returncode}; see {self.logs / (name + '.log')}.",
                )

    def wait(self) -> None:
        """Wait until a signal stops this process; restart children that end, the web server among them.

        Another worker takes over what a lost worker held when the lease runs out. Children that keep ending are not
        restarted after a few times in a row: raises ParallaxError `up.child_ended`.
        """
        self._supervise(threading.Event())

    @contextmanager
    def supervised(self) -> Iterator[None]:
        """Restart children that end while the block runs, as `wait` does: the block may be waiting for their work.

        Main thread only. Raises ParallaxError `up.child_ended`, interrupting the block, if children keep ending.
        """
        is_over, problems, this_thread = threading.Event(), [], threading.get_ident()

        def supervise() -> None:
            try:
                self._supervise(is_over)
            except ParallaxError as problem:
                problems.append(problem)
                # The main thread may sleep in a system call for minutes; only a signal interrupts it.
                signal.pthread_kill(this_thread, signal.SIGINT)

        watcher = threading.Thread(target=supervise, daemon=True)
        watcher.start()
        try:
            yield
        except BaseException as interruption:
            if problems:
                # The interrupt was sent by the watcher: what people should read is why.
                raise problems[0] from interruption
            raise
        finally:
            is_over.set()
            watcher.join()

    def _supervise(self, is_over: threading.Event) -> None:
        ended_at: list[float] = []
        while not is_over.is_set():
            for index, (name, process) in enumerate(self._running):
                if process.poll() is None:
                    continue
                # Counted over all children within a minute: one that fails at its start would be restarted for ever.
                ended_at = [at for at in ended_at if time.monotonic() - at < 60.0]
                if len(ended_at) >= MOST_RESTARTS:
                    self.check()
                ended_at.append(time.monotonic())
                self._start(name, list(process.args))  # type: ignore[arg-type]
                # `_start` has appended the new one; it takes the place of the old, which keeps the order for stopping.
                self._running[index] = self._running.pop()
            is_over.wait(0.5)

    def stop(self) -> None:
        """Ask every child to stop, and kill those that do not within ten seconds; further Ctrl-C is ignored."""
        with _signals_ignored():
            for _, process in self._running:
                if process.poll() is None:
                    # All are asked before any is waited for, so that ten seconds suffice for all together.
                    process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + STOP_SECONDS
            for _, process in self._running:
                try:
                    process.wait(timeout=max(0.1, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            self._running.clear()
            if self.workers:
                site_file().unlink(missing_ok=True)
            for thread in self._log_threads:
                thread.join(timeout=1.0)  # a process that outlives the child keeps its pipe open
            self._log_threads.clear()


def _store_output(output: IO[bytes], path: Path) -> None:
    """Append what a child and its own children write to a file, line by line, and begin another when it is large.

    A child of a parent that was killed has no reader: what it still logs is dropped (`core.log_files.write_whole`).
    """
    is_full = False
    with output:
        while piece := output.readline(LONGEST_LINE):
            line = piece.rstrip(b"\n") + b"\n"
            try:
                if append_lines(path, line) + len(line) > LOG_BYTES:
                    rotate(path, n_kept=LOG_FILES)
                is_full = False
            except OSError as problem:  # the child goes on, and its lines are dropped
                if not is_full:
                    write_whole(2, f"{problem.filename}: {problem.strerror}. The log is not written.\n".encode())
                is_full = True


def stop_on_signals() -> None:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does."""

    def handle(number: int, frame: object) -> None:
        # One way out for all three signals: the `with` blocks end and stop the children.
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, handle)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup ignores SIGHUP
        signal.signal(signal.SIGHUP, handle)


@contextmanager
def _signals_ignored() -> Iterator[None]:
    """Ignore the signals that stop this process, so that no child is left running."""
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
