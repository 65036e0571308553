"""Mixed traffic while processes are killed: is any answer lost or doubled, and is the balance exact?

    python benchmarks/chaos.py [--seconds 60] [--database URL] [--redis URL] [--walkers 8] [--every 20]

Starts the processes of docker-compose.yml (web, worker, short worker, beat) on PostgreSQL and Redis, in a database of
its own that is dropped at the end. Meanwhile participants arrive, answer, drop out and send a request again when no
answer comes; a researcher reads pages, exports data and requests reports; a run is evaluated; one network floods the
study, and slow connections send byte by byte. Every --every seconds one of the processes is killed (SIGKILL) and
started again after a second, as a service manager does. Then the program checks that each answer that was sent is
stored once and as it was sent, that all blocks of the assignment are balanced, that the run has succeeded, and that
`check_integrity` finds nothing. It prints the honest participants' response times while all processes were up. All
traffic goes to 127.0.0.1.
"""

# ruff: noqa: PLC0415 -- Django is set up once the options are read, and what needs it is imported after that
from __future__ import annotations

import argparse
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ALGORITHMS = "toppop,nncosngr,puresvd:factors=10"
MOST_SECONDS, RESTART_SECONDS, PATIENCE_SECONDS = 900.0, 1.0, 90.0
THINKS = (0.3, 1.2)
DROPOUT = 0.3  # share of participants who leave for good
FINISH_SECONDS = 240.0  # for walks and the run, after the traffic
QUEUE = "parallax-chaos"
ADMIN = "postgresql://postgres@127.0.0.1:5432/postgres"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--database", default=ADMIN, help="of a server on which a database may be created")
    options.add_argument("--redis", default="redis://127.0.0.1:6379/9", help="an empty database")
    options.add_argument("--walkers", type=int, default=8, help="participants side by side")
    options.add_argument("--every", type=float, default=20.0, help="seconds between two kills")
    options.add_argument("--per-condition", type=int, default=60)
    options.add_argument("--port", type=int, default=8793)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    chosen.seconds, chosen.what, chosen.participants = min(chosen.seconds, MOST_SECONDS), "walk", 0
    import psycopg
    from redis import Redis

    server = Redis.from_url(chosen.redis)
    if server.dbsize():
        sys.exit(f"{chosen.redis} is not empty. Name an empty database with --redis.")
    name = f"parallax_chaos_{secrets.token_hex(6)}"
    with psycopg.connect(chosen.database, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    chosen.var = Path(tempfile.mkdtemp(prefix="parallax-chaos-"))
    admin, chosen.database = chosen.database, f"{chosen.database.rpartition('/')[0]}/{name}"
    try:
        is_good = _prepared_and_measured(chosen)
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        server.flushdb()  # it was empty before
        shutil.rmtree(chosen.var, ignore_errors=True)
    sys.exit(0 if is_good else 1)


def _prepared_and_measured(chosen: argparse.Namespace) -> bool:
    import study_load

    os.environ |= {
        "REDIS_URL": chosen.redis, "PARALLAX_QUEUE": QUEUE, "SWEEP_SECONDS": "0", "SECRET_KEY": secrets.token_hex(32),
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

    def __enter__(self) -> Supervisor:
        self.logs.mkdir(parents=True, exist_ok=True)
        for name in self.commands:
            self._start(name)
        if not self._answers(180):
            self.__exit__()
            sys.exit(f"The web server did not answer; see {self.logs}.")
        self.is_up.set()
        self.thread = threading.Thread(target=self._supervise, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_error: Any) -> None:
        self.is_over.set()
        if hasattr(self, "thread"):
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
                start_new_session=True,
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
        next_kill = time.monotonic() + self.every
        while not self.is_over.wait(0.2):
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


def _measure(study: Any, supervisor: Supervisor, chosen: argparse.Namespace) -> bool:
    import httpx
    import numpy as np
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

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if not self.is_script:
                self.pause()
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
                code = walks.run(
                    number, rng, Patient(pause, lambda *_: None, f"127.0.{2 + number // 250}.{1 + number % 250}")
                )
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
            str(chosen.port), "--seconds", str(chosen.seconds), "--slow", "10", "--connections", "4",
        ],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    started = time.monotonic()
    try:
        researcher.start()
        threads = start_threads(arrive, chosen.walkers)
        time.sleep(chosen.seconds)
    finally:
        over.set()
        supervisor.is_calm.set()
        attack.terminate()
        attack.wait(timeout=30)
    until = time.monotonic() + FINISH_SECONDS
    for thread in [*threads, researcher]:
        thread.join(timeout=max(1.0, until - time.monotonic()))
    status = _status_of_run(run, until)
    study.refresh_from_db()
    lost, doubled, uneven = walks.lost_answers(), _doubled(study), _uneven_blocks(study)
    people = study.participants.filter(mode="live")
    n_stored = people.filter(code__in=finished, status="completed").count()
    times = 1000 * np.array(took or [np.nan])
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    findings = integrity_findings()
    print(
        f"{time.monotonic() - started:.0f} s, killed {dict(supervisor.kills)}; load {os.getloadavg()[0]:.1f}\n"
        f"participants: {len(finished)} finished, {n_stored} of them stored as completed, {people.count()} rows with "
        f"the flood's; study {study.status}; sent again or left: {dict(tries)}; problems: {walks.problems[:3]}\n"
        f"answers sent {len(walks.answered)}, lost {len(lost)}, doubled {doubled}; uneven blocks {uneven}\n"
        f"requests while all processes were up: {len(took)}, p50 {p50:.0f}, p95 {p95:.0f}, p99 {p99:.0f}, max "
        f"{times.max():.0f} ms\n"
        f"researcher: {dict(statuses)}; run {status}; check_integrity: {findings} findings"
    )
    is_answered = not any(name.endswith("500") for name in statuses)
    return (
        not lost and not doubled and not uneven and not findings and not walks.problems and is_answered
        and status == "succeeded" and n_stored == len(finished) > 0
    )  # fmt: skip


def _research(study: Any, supervisor: Supervisor, over: threading.Event, statuses: Counter[str]) -> None:
    """Read the console, export the data and request reports, again and again."""
    import httpx
    from django.test import Client

    session = Client()
    session.force_login(study.memberships.first().researcher)
    cookies = {"sessionid": session.cookies["sessionid"].value}
    pages = (f"studies/{study.slug}/", f"studies/{study.slug}/export/long/", "runs/", "reports/")
    with httpx.Client(base_url=supervisor.url, cookies=cookies, timeout=60) as client:
        while not over.is_set():
            for page in pages:
                try:
                    statuses[f"{page.split('/')[-2]} {client.get(page).status_code}"] += 1
                except httpx.TransportError:
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
