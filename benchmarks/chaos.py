"""Mixed traffic while processes are killed: is any answer lost or doubled, and is the balance exact?

    python benchmarks/chaos.py [--minutes 10] [--seed 1] [--walkers 8] [--every 20] [--clock PROCESS]

Starts a PostgreSQL cluster and a Redis server of its own, and on them the processes of docker-compose.yml (web,
worker, short worker, beat). Meanwhile participants arrive, answer, drop out and send a request again when no answer
comes; a researcher reads pages and exports data; a run is evaluated; two networks flood the study,
and slow connections send byte by byte. Networks are those that a proxy would name in X-Forwarded-For. Every --every
seconds one of the processes is killed (SIGKILL) and started again after a second, as a service manager does. Halfway
PostgreSQL is restarted. The clock of one process, drawn by the seed or named by --clock, is a day ahead from a third
of the time to two thirds of it.

Then the program checks that each answer and rating that the site said it had saved is stored once and as it was sent,
that all blocks of the assignment are balanced, that the study is still open and the run has succeeded, that
`check_integrity` finds nothing, and that the honest participants' p95 was short enough while all processes were up. It
prints each goal, and ends with status 1 if one is missed. All traffic goes to 127.0.0.1, and only processes that the
program started are ended. It needs PostgreSQL, Redis and a C compiler; root starts PostgreSQL as the
user `postgres`.
"""

# ruff: noqa: PLC0415 -- Django is set up once the options are read, and what needs it is imported after that
from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ALGORITHMS = "toppop,nncosngr,puresvd:factors=10"
MOST_MINUTES, RESTART_SECONDS, PATIENCE_SECONDS = 15.0, 1.0, 90.0
THINKS = (0.3, 1.2)
DROPOUT = 0.3  # share of participants who leave for good
FINISH_SECONDS = 240.0  # for walks and the run, after the traffic
GOAL_P95_MS = 500.0
SLOW, CONNECTIONS = 200, 4
DAY = 24 * 60 * 60
QUEUE = "parallax-chaos"
PROCESSES = ("web", "worker", "short-worker", "beat")
NETWORK_OF_RESEARCHER = "192.0.2.50"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--walkers", type=int, default=8, help="participants side by side")
    options.add_argument("--every", type=float, default=20.0, help="seconds between two kills")
    options.add_argument("--per-condition", type=int, default=60)
    options.add_argument("--clock", choices=PROCESSES, help="the process whose clock jumps")
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and so end what was started
    chosen.seconds, chosen.what, chosen.participants = 60 * min(chosen.minutes, MOST_MINUTES), "walk", 0
    chosen.clock = chosen.clock or random.Random(chosen.seed).choice(PROCESSES)  # noqa: S311
    compiler = shutil.which("cc")
    if compiler is None:
        sys.exit("What moves the clock of a process is compiled first, and there is no C compiler: apt-get install gcc")
    chosen.port = _free_port()
    with ExitStack() as stack:
        chosen.var = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parallax-chaos-")))
        chosen.moved_clock = chosen.var / "moved_clock.so"
        source = Path(__file__).with_name("moved_clock.c")
        subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", chosen.moved_clock, source], check=True)
        chosen.cluster = stack.enter_context(_cluster())
        chosen.database = chosen.cluster.url
        chosen.redis = stack.enter_context(_redis(chosen.var))
        is_good = _prepared_and_measured(chosen)
    sys.exit(0 if is_good else 1)


def _free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


class Cluster:
    """A PostgreSQL server of the program's own; PostgreSQL refuses to run as root."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, _free_port()
        versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        initdb = str(versions[-1]) if versions else shutil.which("initdb")
        if initdb is None:
            sys.exit("PostgreSQL is not installed: apt-get install postgresql")
        self.programs = Path(initdb).parent
        self.launcher = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.launcher:
            shutil.chown(folder, "postgres")
        self.run("initdb", "--pgdata", "data", "--username", "parallax", "--auth", "trust", "--no-instructions")
        self.control("start")
        self.run("createdb", "--host", "127.0.0.1", "--port", str(self.port), "--username", "parallax", "parallax")
        self.url = f"postgresql://parallax@127.0.0.1:{self.port}/parallax"

    def run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [*self.launcher, str(self.programs / program), *arguments], cwd=self.folder, check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def control(self, what: str) -> None:
        """Start, restart or stop the server, and wait until that is done."""
        server = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        self.run("pg_ctl", what, "--pgdata", "data", "--wait", "--mode", "fast", "--log", "log", "--options", server)


@contextmanager
def _cluster() -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="parallax-chaos-postgresql-"))
    cluster = Cluster(folder)
    try:
        yield cluster
    finally:
        cluster.run("pg_ctl", "stop", "--pgdata", "data", "--wait", "--mode", "immediate")
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    port = _free_port()
    server = subprocess.Popen(
        ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


def _prepared_and_measured(chosen: argparse.Namespace) -> bool:
    import study_load

    os.environ |= {
        "REDIS_URL": chosen.redis, "PARALLAX_QUEUE": QUEUE, "SWEEP_SECONDS": "0", "SECRET_KEY": secrets.token_hex(32),
        "TRUSTED_PROXIES": "1",
    }  # fmt: skip
    study_load.prepare(chosen)
    study = study_load.new_study(chosen, ALGORITHMS)
    with Supervisor(chosen) as supervisor:
        return _measure(study, supervisor, chosen)


class Supervisor:
    """The processes of docker-compose.yml: killed at random, and started again when they have ended."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        celery = [sys.executable, "-m", "celery", "-A", "parallax"]
        worker = [*celery, "worker", "--pool", "solo", "--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
        web = [sys.executable, "-m", "parallax.web", "--host", "127.0.0.1", "--port", str(chosen.port)]
        self.commands = {
            "web": [*web, "--workers", "2"],
            "worker": [*worker, "-n", "chaos-long@%h", "-Q", f"{QUEUE},{QUEUE}-long"],
            "short-worker": [*worker, "-n", "chaos-short@%h", "-Q", QUEUE],
            "beat": [*celery, "beat", "--loglevel", "WARNING"],
        }
        self.url = f"http://127.0.0.1:{chosen.port}/"
        self.logs = chosen.var / "logs"
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.kills: Counter[str] = Counter()
        self.is_up = threading.Event()
        self.every, self.draw = chosen.every, random.Random(chosen.seed)  # noqa: S311
        self.is_over, self.is_calm = threading.Event(), threading.Event()
        self.clock, self.clock_file = chosen.clock, chosen.var / "clock"
        self.clock_environment = {"LD_PRELOAD": str(chosen.moved_clock), "MOVED_CLOCK": str(self.clock_file)}
        self.cluster, self.seconds = chosen.cluster, chosen.seconds

    def __enter__(self) -> Supervisor:
        self.logs.mkdir(parents=True, exist_ok=True)
        self.clock_file.write_text("0")
        for name in self.commands:
            self._start(name)
        if not self._answers(180):
            self.__exit__()
            sys.exit(f"The web server did not answer; see {self.logs}.")
        self.is_up.set()
        self.thread = threading.Thread(target=self._supervise, daemon=True)
        return self

    def begin(self) -> None:
        """Begin to kill, to move the clock and to restart the database."""
        self.thread.start()

    def __exit__(self, *_error: Any) -> None:
        self.is_over.set()
        if hasattr(self, "thread") and self.thread.is_alive():
            self.thread.join(timeout=200)
        for process in self.running.values():
            self._signal(process, signal.SIGTERM)
        until = time.monotonic() + 15
        for process in self.running.values():
            try:
                process.wait(timeout=max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                self._signal(process, signal.SIGKILL)
                process.wait()

    def _start(self, name: str) -> None:
        with (self.logs / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                self.commands[name], cwd=Path(__file__).resolve().parents[1], stdout=log, stderr=log,
                env=os.environ | (self.clock_environment if name == self.clock else {}), start_new_session=True,
            )  # fmt: skip

    @staticmethod
    def _signal(process: subprocess.Popen[bytes], number: int) -> None:
        """To the process and its children, whose group has the number of the process; as a container ends."""
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return

    def _answers(self, seconds: float) -> bool:
        import httpx

        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.is_over.is_set():
            try:
                if httpx.get(f"{self.url}health/", timeout=5).status_code == 200:
                    return True
            except httpx.TransportError:
                time.sleep(0.2)
        return False

    def _supervise(self) -> None:
        began = time.monotonic()
        next_kill = began + self.every
        events = [
            (self.seconds / 3, lambda: self.clock_file.write_text(str(DAY))),
            (self.seconds / 2, self._restart_database),
            (self.seconds * 2 / 3, lambda: self.clock_file.write_text("0")),
        ]
        while not self.is_over.wait(0.2):
            if events and time.monotonic() >= began + events[0][0]:
                events.pop(0)[1]()
            if time.monotonic() >= next_kill and not self.is_calm.is_set():
                name = self.draw.choice(list(self.commands))
                self.is_up.clear()
                self._signal(self.running[name], signal.SIGKILL)
                self.kills[name] += 1
                next_kill = time.monotonic() + self.every
            ended = [name for name, process in self.running.items() if process.poll() is not None]
            if ended:
                self.is_up.clear()
                time.sleep(RESTART_SECONDS)
                for name in ended:
                    self._start(name)
                if self._answers(60):
                    self.is_up.set()

    def _restart_database(self) -> None:
        self.is_up.clear()
        self.cluster.control("restart")
        self.kills["PostgreSQL (restarted)"] += 1
        if self._answers(60):
            self.is_up.set()


def _measure(study: Any, supervisor: Supervisor, chosen: argparse.Namespace) -> bool:
    import httpx
    import numpy as np
    from django.db import connections
    from study_load import integrity_findings
    from timed_browser import MeasurementOver, TimedTransport, Walks, start_threads

    from core.provenance import rng_for
    from evaluation.services.runs import create_run

    walks = Walks(study, supervisor.url)
    took: list[float] = []
    tries: Counter[str] = Counter()
    finished: list[str] = []
    over = threading.Event()

    class Patient(TimedTransport):
        """Sends a request again, unchanged, until it is answered, as a person reloads a page."""

        def __init__(self, pause: Any, network: str) -> None:
            super().__init__(pause, lambda *_: None)
            self.network = network

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if not self.is_script:
                self.pause()
            request.headers["X-Forwarded-For"] = self.network
            until = time.monotonic() + PATIENCE_SECONDS
            while True:
                was_up, before = supervisor.is_up.is_set(), time.perf_counter()
                try:
                    response = httpx.HTTPTransport.handle_request(self, request)
                    response.read()
                except httpx.TransportError:
                    if time.monotonic() > until:
                        raise
                    tries["no answer"] += 1
                else:
                    if response.status_code not in (429, 502, 503) or time.monotonic() > until:
                        if was_up and supervisor.is_up.is_set():
                            took.append(time.perf_counter() - before)
                        return response
                    tries[f"status {response.status_code}"] += 1
                time.sleep(1.0)

    def arrive(lane: int) -> None:
        """One participant after the other, each from a network of their own."""
        n = 0
        while not over.is_set():
            number = lane + n * chosen.walkers
            rng = rng_for(chosen.seed, "chaos", study.slug, number)
            left = int(rng.integers(3, 40)) if rng.random() < DROPOUT else 10**9
            steps = iter(range(left))

            def pause(steps: Any = steps, rng: Any = rng) -> None:
                time.sleep(rng.uniform(*THINKS))
                if next(steps, None) is None:
                    raise MeasurementOver

            try:
                code = walks.run(number, rng, Patient(pause, f"100.64.{number // 250}.{1 + number % 250}"))
                if code:
                    finished.append(code)
            except MeasurementOver:
                tries["dropped out"] += 1
            n += 1

    statuses: Counter[str] = Counter()
    researcher = threading.Thread(target=_research, args=(study, supervisor, over, statuses), daemon=True)
    run = create_run(
        version=study.run.version, algorithms="puresvd:factors=20,nncosngr,lsa", split={"name": "k-fold", "k": 3},
        protocol={"name": "one-plus-random", "negatives": 1000, "relevant": 5.0, "irrelevant": 1.0}, reserve=0.15,
        seed=chosen.seed, owner=study.memberships.first().researcher,
    )  # fmt: skip
    attack = subprocess.Popen(
        [
            sys.executable, str(Path(__file__).with_name("flood.py")), "--attack", study.slug, "--port",
            str(chosen.port), "--seconds", str(chosen.seconds), "--slow", str(SLOW), "--connections", str(CONNECTIONS),
        ],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    started = time.monotonic()
    try:
        supervisor.begin()
        researcher.start()
        threads = start_threads(arrive, chosen.walkers)
        time.sleep(chosen.seconds)
    finally:
        over.set()
        supervisor.is_calm.set()
        try:
            flooded = json.loads(attack.communicate(timeout=30)[0])  # it ends by itself
        finally:
            attack.kill()
    until = time.monotonic() + FINISH_SECONDS
    for thread in [*threads, researcher]:
        thread.join(timeout=max(1.0, until - time.monotonic()))
    connections.close_all()  # the server was restarted since
    status = _status_of_run(run, until)
    study.refresh_from_db()
    people = study.participants.filter(mode="live")
    n_stored = people.filter(code__in=finished, status="completed").count()
    times = 1000 * np.array(took or [np.nan])
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    n_errors = sum(n for name, n in statuses.items() if name.endswith("500"))
    print(
        f"{time.monotonic() - started:.0f} s, load {os.getloadavg()[0]:.1f}; killed or restarted: "
        f"{dict(supervisor.kills)}; clock of {chosen.clock} a day ahead for {chosen.seconds / 3:.0f} s\n"
        f"flood: {flooded}\n"
        f"honest: {len(finished)} finished, {tries.pop('dropped out', 0)} dropped out; sent again after "
        f"{dict(tries)}; {len(walks.answered)} answers and {len(walks.rated)} ratings; {len(took)} requests while all "
        f"processes were up: p50 {p50:.0f}, p99 {p99:.0f}, max {times.max():.0f} ms; participants with the flood's: "
        f"{people.count()}\n"
        f"researcher: {dict(statuses)}\n"
        f"problems: {walks.problems[:3] or 'none'}\n"
    )
    lost = len(walks.lost_answers()) + len(walks.lost_ratings())
    goals: list[tuple[str, object, bool]] = [
        ("answers and ratings lost or changed", lost, not lost and bool(walks.answered)),
        ("answers and ratings doubled", doubled := _doubled(study), not doubled),
        ("finished blocks out of balance", uneven := _uneven_blocks(study), not uneven),
        ("honest walks that ended early", len(walks.problems), not walks.problems),
        ("finished walks stored as completed", f"{n_stored} of {len(finished)}", n_stored == len(finished) > 0),
        ("findings of check_integrity", findings := integrity_findings(), not findings),
        ("status of the run", status, status == "succeeded"),
        ("status of the study", study.status, study.status == "live"),
        ("researcher's pages with status 500", n_errors, not n_errors),
        (f"honest p95, at most {GOAL_P95_MS:g} ms", f"{p95:.0f} ms", bool(p95 <= GOAL_P95_MS)),
    ]
    for words, value, is_reached in goals:
        print(f"{words:<40}{value!s:>14}  {'reached' if is_reached else 'MISSED'}")
    return all(is_reached for _words, _value, is_reached in goals)


def _research(study: Any, supervisor: Supervisor, over: threading.Event, statuses: Counter[str]) -> None:
    """Read the console and export the data, again and again; a clock that jumps signs the researcher out."""
    import httpx
    from django.db import Error, connection
    from django.test import Client

    from studies.monitoring.services.blinding import open_outcomes

    owner = study.memberships.first().researcher
    open_outcomes(study=study, reason="Exports are a part of the traffic.")
    pages = (f"studies/{study.slug}/", f"studies/{study.slug}/export/long/", "runs/", "reports/")
    via_proxy = {"X-Forwarded-For": NETWORK_OF_RESEARCHER}
    with httpx.Client(base_url=supervisor.url, headers=via_proxy, timeout=60) as client:
        while not over.is_set():
            for page in pages:
                try:
                    if "sessionid" not in {cookie.name for cookie in client.cookies.jar}:
                        connection.close()  # the server may have been restarted since
                        session = Client()
                        session.force_login(owner)
                        client.cookies.set("sessionid", session.cookies["sessionid"].value, domain="127.0.0.1")
                    response = client.get(page)
                    statuses[f"{page.split('/')[-2]} {response.status_code}"] += 1
                    if response.status_code == 302:
                        client.cookies.clear()
                except (httpx.TransportError, Error):
                    statuses["no answer"] += 1
                if over.wait(1.0):
                    return


def _status_of_run(run: Any, until: float) -> str:
    """The status of the run once it is over, or when the time is."""
    while time.monotonic() < until:
        run.refresh_from_db()
        if run.status not in ("queued", "running"):
            break
        time.sleep(1.0)
    return str(run.status)


def _doubled(study: Any) -> int:
    """Answers and ratings stored more than once."""
    from django.db.models import Count

    from studies.models import ProfileRating, Response

    rows = Response.objects.filter(participant__study=study).order_by().values("participant", "question", "rank")
    ratings = ProfileRating.objects.filter(participant__study=study).order_by().values("participant", "item")
    return sum(each.annotate(n=Count("pk")).filter(n__gt=1).count() for each in (rows, ratings))


def _uneven_blocks(study: Any) -> int:
    """Finished blocks of the assignment in which the conditions do not appear equally often."""
    from studies.models import Allocation

    blocks: dict[tuple[str, int], Counter[int]] = defaultdict(Counter)
    for line in Allocation.objects.filter(study=study, kind__in=("assigned", "skipped")).order_by("pk"):
        blocks[line.stratum, line.block][line.condition_id] += 1
    newest = {stratum: max(block for each, block in blocks if each == stratum) for stratum, _block in blocks}
    n_conditions = study.conditions.count()
    return sum(
        len(counts) != n_conditions or len(set(counts.values())) != 1
        for (stratum, block), counts in blocks.items()
        if block != newest[stratum]
    )


if __name__ == "__main__":
    main()
