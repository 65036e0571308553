"""Response times of honest participants during a flood of requests and slow connections.

    python benchmarks/flood.py [--seconds 60] [--walkers 20] [--slow 50] [--connections 32] [--database URL]

Creates the demo's study of 210 places and starts the web server that `manage.py up` starts. For a minute one client
floods the study by many connections: it opens the consent page, gives consent with keys of its own, fills the form
about the person, declines. Fifty other connections send a head or a body byte by byte. Meanwhile honest participants
walk through the whole study, each from an address of their own, with 0.5 to 1.5 s before each request and the batches
of events that the pages' script sends. All clients use addresses of 127.0.0.0/8, on the same cores as the server;
nothing else is ever called. The goals: the honest participants' p95 is at most 500 ms, none of them is lost, no answer
of theirs is lost, and places are left.
"""

# ruff: noqa: PLC0415 -- Django is set up once the options are read, and what needs it is imported after that
from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

GOAL_P95_MS = 500.0
MOST_SECONDS, MOST_CONNECTIONS = 900.0, 500  # it stays a benchmark
THINKS = (0.5, 1.5)
FLOOD_ADDRESS, SLOW_ADDRESS = "127.0.0.2", "127.0.0.3"
# What a proxy would name, for sites with TRUSTED_PROXIES; others see one client, and one more with slow connections.
FLOOD_NETWORKS, SLOW_NETWORK = ("203.0.113.7", "198.51.100.7"), "192.0.2.7"
ABOUT = {
    "first_visit": "yes", "recommender_experience": "no", "age": "33", "gender": "woman", "education": "master",
    "items_per_month": "3_to_5",
}  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--walkers", type=int, default=20)
    options.add_argument("--slow", type=int, default=50, help="slow connections")
    options.add_argument("--connections", type=int, default=32, help="of the client that floods")
    options.add_argument("--per-condition", type=int, default=30)
    options.add_argument("--database", default="", help="postgresql://…; SQLite unless given")
    options.add_argument("--var", type=Path, default=Path(tempfile.gettempdir()) / "parallax-study-load")
    options.add_argument("--port", type=int, default=8791)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--attack", help=argparse.SUPPRESS)  # slug: this process is the one that attacks
    chosen = options.parse_args()
    chosen.seconds = min(chosen.seconds, MOST_SECONDS)
    chosen.slow, chosen.connections = min(chosen.slow, MOST_CONNECTIONS), min(chosen.connections, MOST_CONNECTIONS)
    if chosen.attack:
        print(json.dumps(asyncio.run(_attack(chosen))))
        return
    import study_load

    chosen.what, chosen.participants = "walk", 0
    study_load.prepare(chosen)
    with study_load.study_and_server(chosen) as (study, url):
        is_good = _measure(study, url, chosen)
    sys.exit(0 if is_good else 1)


# The attack, in a process of its own


async def _attack(chosen: argparse.Namespace) -> dict[str, Any]:
    """Flood and dawdle until the time is over, and count the answers by request and status."""
    until = time.monotonic() + chosen.seconds
    answers: Counter[str] = Counter()
    tasks = [_flood(chosen, number, until, answers) for number in range(chosen.connections)]
    tasks += [_dawdle(chosen, number, until, answers) for number in range(chosen.slow)]
    await asyncio.gather(*tasks)
    return dict(answers)


async def _flood(chosen: argparse.Namespace, number: int, until: float, answers: Counter[str]) -> None:
    entry, n = f"/s/{chosen.attack}/", 0
    while time.monotonic() < until:
        try:
            ask = await _connect(chosen.port, FLOOD_ADDRESS, FLOOD_NETWORKS[number % len(FLOOD_NETWORKS)])
            _status, head, _body = await ask("GET", entry)
            csrf = head.partition("csrftoken=")[2].partition(";")[0]
            while csrf and time.monotonic() < until:  # without one the site is not up: ask again
                n += 1
                form: dict[str, Any] = {"entry_key": f"{number:020d}-{n:020d}", "csrfmiddlewaretoken": csrf}
                status, head, _body = await ask(
                    "POST", entry, {**form, "choice": "yes", "box": ["1", "2", "3", "4"]}, csrf
                )
                answers[f"consent {status}"] += 1
                if status == 302:
                    location = head.lower().partition("location: ")[2].split("\r\n")[0]
                    at = head.lower().find(location)
                    status, _head, _body = await ask("POST", f"{head[at : at + len(location)]}about/", ABOUT)
                    answers[f"about {status}"] += 1
                form["entry_key"] += "-no"
                status, _head, _body = await ask("POST", entry, {**form, "choice": "no"}, csrf)
                answers[f"decline {status}"] += 1
                status, _head, _body = await ask("GET", entry)
                answers[f"open {status}"] += 1
        except (OSError, EOFError, asyncio.IncompleteReadError):
            answers["flood hung up on"] += 1
        await asyncio.sleep(0.05)


async def _connect(port: int, address: str, network: str) -> Any:
    """Open a connection from an address, for a network, and return the function that asks on it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))

    async def ask(method: str, path: str, form: dict[str, Any] | None = None, csrf: str = "") -> tuple[int, str, bytes]:
        body = urlencode(form or {}, doseq=True).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: {network}\r\n"
        head += f"Content-Length: {len(body)}\r\n"
        if form is not None:
            head += f"Content-Type: application/x-www-form-urlencoded\r\nCookie: csrftoken={csrf}\r\n"
        writer.write(f"{head}\r\n".encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin1")
        length = answer.lower().partition("content-length: ")[2].split("\r\n")[0]
        content = await reader.readexactly(int(length or 0))
        return int(answer.split()[1]), answer, content

    return ask


async def _dawdle(chosen: argparse.Namespace, number: int, until: float, answers: Counter[str]) -> None:
    """A connection that sends byte by byte: of a head, of a short body, or of one that is announced as 3 MB."""
    announced = (0, 3000, 60_000)[number % 3]
    head = f"POST /s/{chosen.attack}/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: {SLOW_NETWORK}\r\n"
    while time.monotonic() < until:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", chosen.port, local_addr=(SLOW_ADDRESS, 0))
            writer.write(f"{head}Content-Length: {announced}\r\n\r\n".encode() if announced else head.encode())
            while time.monotonic() < until and not reader.at_eof():
                writer.write(b"X")
                await writer.drain()
                try:
                    response = await asyncio.wait_for(reader.read(4096), 1.0)
                except TimeoutError:
                    continue
                answers[f"slow {response[9:12].decode('latin1') if response else 'hung up on'}"] += 1
                break
            writer.close()
        except OSError:
            answers["slow hung up on"] += 1
            await asyncio.sleep(0.2)


# Honest participants


def _measure(study: Any, url: str, chosen: argparse.Namespace) -> bool:
    import numpy as np
    from study_load import integrity_findings
    from timed_browser import TimedTransport, Walks, start_threads

    from core.provenance import rng_for
    from studies.enums import HOLDS_SLOT

    walks = Walks(study, url)
    took: list[float] = []
    finished: list[str] = []

    def walk(number: int) -> None:
        rng = rng_for(chosen.seed, "flood", study.slug, number)
        time.sleep(rng.uniform(0, 5))
        transport = TimedTransport(
            lambda: time.sleep(rng.uniform(*THINKS)),
            lambda _request, _is_script, seconds: took.append(seconds),
            local_address=f"127.0.1.{1 + number % 250}",
        )
        finished.append(walks.run(number, rng, transport))

    command = [
        sys.executable, __file__, "--attack", study.slug, "--port", str(chosen.port), "--seconds", str(chosen.seconds),
        "--slow", str(chosen.slow), "--connections", str(chosen.connections),
    ]  # fmt: skip
    attack = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    started = time.perf_counter()
    threads = start_threads(walk, chosen.walkers)
    answers = json.loads(attack.communicate(timeout=chosen.seconds + 120)[0])
    during = len(took)
    for thread in threads:
        thread.join(timeout=300)
    seconds = time.perf_counter() - started
    study.refresh_from_db()
    people = study.participants.filter(mode="live")
    honest = people.filter(code__in=finished, status="completed").count()
    lost, problems = walks.lost_answers(), walks.problems
    n_slots_taken = people.filter(status__in=HOLDS_SLOT).count()
    n_slots = sum(study.conditions.values_list("target", flat=True))
    p50, p95, p99 = (1000 * float(value) for value in np.percentile(took, [50, 95, 99]))
    flooded = sum(n for name, n in answers.items() if not name.startswith("slow"))
    print(
        f"flood: {chosen.connections} connections of one client, {flooded:,} requests in {chosen.seconds:g} s, "
        f"{flooded / chosen.seconds:.0f} a second; {chosen.slow} slow connections; load {os.getloadavg()[0]:.1f}"
    )
    print("  " + ", ".join(f"{name}: {n:,}" for name, n in sorted(answers.items())))
    print(
        f"honest: {honest} of {chosen.walkers} completed in {seconds:.0f} s; {len(took):,} requests, {during:,} of "
        f"them during the flood: p50 {p50:.0f}, p95 {p95:.0f} (goal {GOAL_P95_MS:g}), p99 {p99:.0f}, max "
        f"{1000 * max(took):.0f} ms; problems: {problems[:3] or 'none'}"
    )
    print(
        f"answers given {len(walks.answered)}, lost or different {len(lost)}; places taken {n_slots_taken} of "
        f"{n_slots}, {n_slots_taken - honest} by the flood; declines counted {study.n_declined}; study {study.status}"
    )
    print(f"check_integrity: {integrity_findings()} findings")
    return p95 <= GOAL_P95_MS and honest == chosen.walkers and not lost and not problems and n_slots_taken < n_slots


if __name__ == "__main__":
    main()
