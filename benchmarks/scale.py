"""What more processes bring, what each costs in memory, and what that means for sizes that this machine cannot run.

    python benchmarks/scale.py web [--processes 1,2,3] [--per-condition 15] [--database URL]
    python benchmarks/scale.py mixed --minutes 60 [--processes 3] [--database URL]
    python benchmarks/scale.py ratings

`web` walks simulated participants through the demo's study as fast as the server answers, with each number of web
processes in turn, and prints requests a second, the processor time of web server and database for each request, the
memory of each process, and what a participant adds to the database. The client runs on the same cores, so requests a
second are a lower limit; processor time for each request is what the extrapolation uses. `mixed` lets participants walk
and a researcher open every page and file of the study, its run and its dataset in turn, and prints the memory of each
web process before and after. `ratings` prints the memory that the product estimates for each fit before it starts, up
to a billion ratings: estimates by formula, nothing is fitted.

Memory is the proportional set size: pages that processes share are counted once.
"""

# ruff: noqa: PLC0415 -- Django is set up once the options are read, and what needs it is imported after that
from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import study_load

MIB, GIB = 2**20, 2**30
GOAL_MIB = 150
CONCURRENT = 10_000  # participants on the pages at the same time
BETWEEN_REQUESTS = sum(study_load.THINKS) / 2  # seconds, as in study_load.py open
# The algorithms of Table 2, with neighbourhoods that stay bounded however many items there are.
BOUNDED = (
    "toppop,corngr:neighbourhood=item,nncosngr:neighbourhood=item,asysvd,puresvd:factors=50,puresvd:factors=300,lsa"
)
# Users, items and ratings: MovieLens 1M and 25M, the Netflix Prize, and a catalogue that no open dataset has.
SIZES = (
    (6_040, 3_706, 1_000_000),
    (162_000, 59_000, 25_000_000),
    (480_189, 17_770, 100_000_000),
    (5_000_000, 100_000, 1_000_000_000),
)
BUSY = 0.5  # share of the cores that is used at that rate, so that pages stay quick


@dataclass(frozen=True)
class Measured:
    """A walk of all participants against so many web processes."""

    processes: int
    seconds: float
    requests: int
    participants: int
    web_cpu: float  # seconds of processor, of the web server's processes together
    database_cpu: float  # the same of PostgreSQL; within the web server's with SQLite
    memory: list[float]  # MiB of each web process
    database_bytes: float  # added for each participant

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds

    def __str__(self) -> str:
        memory = " + ".join(f"{size:.0f}" for size in self.memory)
        return (
            f"{self.processes:>9}{self.rate:>12.0f}{1000 * self.web_cpu / self.requests:>12.1f}"
            f"{1000 * self.database_cpu / self.requests:>12.1f}{self.database_bytes / 1024:>14.0f}  {memory}"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("web", "mixed", "ratings"))
    options.add_argument("--processes", default="1,2,3")
    options.add_argument("--per-condition", type=int, default=15)
    options.add_argument("--parallel", type=int, default=16)
    options.add_argument("--minutes", type=float, default=60.0, help="of `mixed`, which has one number of --processes")
    options.add_argument("--database", default="", help="postgresql://…; SQLite unless given")
    options.add_argument("--var", type=Path, default=Path(tempfile.gettempdir()) / "parallax-scale")
    options.add_argument("--port", type=int, default=8791)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    {"web": _web, "mixed": _mixed, "ratings": _ratings}[chosen.what](chosen)


def _web(chosen: argparse.Namespace) -> None:
    study_load.prepare(chosen)
    print(f"{os.cpu_count()} cores, client on the same cores, {chosen.parallel} participants at a time")
    print(
        f"{'processes':>9}{'requests/s':>12}{'web ms':>12}{'database ms':>12}{'KiB a person':>14}  MiB of each process"
    )
    rows = []
    for number in chosen.processes.split(","):
        rows.append(_walk(chosen, int(number)))
        print(rows[-1], flush=True)
    _extrapolate(rows)


def _walk(chosen: argparse.Namespace, processes: int) -> Measured:
    from parallax.children import Children
    from studies.simulation.services import pilot

    study = study_load.new_study(chosen)
    with Children(port=chosen.port, workers=0, web_workers=processes) as children:
        serving = _web_processes()
        cpu, database, size = _cpu(serving), _cpu(_database_processes()), _database_size()
        started = time.perf_counter()
        end = pilot.walk_group(
            study=study, per_condition=chosen.per_condition, seed=chosen.seed, base_url=children.url,
            parallel=chosen.parallel, progress=lambda progress: None,
        )  # fmt: skip
        seconds = time.perf_counter() - started
        if end.finished != end.total:
            raise SystemExit(f"Only {end.finished} of {end.total} participants finished.")
        return Measured(
            processes, seconds, end.n_requests, end.total, _cpu(serving) - cpu,
            _cpu(_database_processes()) - database,
            [process.memory_full_info().pss / MIB for process in serving[1:]],
            (_database_size() - size) / end.total,
        )  # fmt: skip


def _mixed(chosen: argparse.Namespace) -> None:
    study_load.prepare(chosen)
    from analysis.services import build_report
    from analysis.services.report_cache import draw_pages
    from parallax.children import Children
    from studies.enums import Mode
    from studies.simulation.services import pilot

    studies = [study_load.new_study(chosen)]
    processes = int(chosen.processes.split(",")[-1])
    with Children(port=chosen.port, workers=0, web_workers=processes) as children:
        serving = _web_processes()[1:]
        opened: Counter[int] = Counter()

        def walk() -> int:
            return pilot.walk_group(
                study=studies[-1], per_condition=chosen.per_condition, seed=chosen.seed + len(studies),
                base_url=children.url, parallel=chosen.parallel, progress=lambda progress: None,
            ).n_requests  # fmt: skip

        _print_memory("start", serving)
        n_requests = walk()
        report = build_report(study=studies[0], mode=Mode.SIMULATED)
        draw_pages(report)  # as a worker does
        _print_memory("walk", serving)
        started = time.monotonic()
        until = started + 60 * chosen.minutes
        researcher = threading.Thread(target=_research, args=(report, children.url, until, opened))
        watch = threading.Thread(target=_watch, args=(serving, started, until))
        researcher.start()
        watch.start()
        while time.monotonic() < until:
            studies.append(study_load.new_study(chosen))
            n_requests += walk()
        researcher.join()
        watch.join()
        _print_memory("end", serving)
        largest = max(process.memory_full_info().pss / MIB for process in serving)
    print(f"{n_requests:,} requests of participants; a researcher's by status: {dict(opened)}")
    print(f"The largest process holds {largest:.0f} MiB (goal {GOAL_MIB})")


def _print_memory(name: str, serving: list[psutil.Process]) -> None:
    sizes = " + ".join(f"{process.memory_full_info().pss / MIB:.0f}" for process in serving)
    print(f"{name:<11}{sizes} MiB", flush=True)


def _watch(serving: list[psutil.Process], started: float, until: float) -> None:
    """Print the memory of each process every minute, so that growth is seen."""
    minute = 1
    while started + 60 * minute < until:
        time.sleep(max(0.0, started + 60 * minute - time.monotonic()))
        _print_memory(f"minute {minute}", serving)
        minute += 1


def _research(report: Any, url: str, until: float, opened: Counter[int]) -> None:
    """Open every page and file of a report, its study, run and dataset, again and again."""
    import httpx
    from django.test import Client

    signed_in = Client()
    researcher = report.study.memberships.get().researcher
    signed_in.force_login(researcher, backend="django.contrib.auth.backends.ModelBackend")
    cookies = {name: morsel.value for name, morsel in signed_in.cookies.items()}
    with httpx.Client(base_url=url, cookies=cookies, timeout=120) as client:
        while time.monotonic() < until:
            for address in _addresses(report):
                opened[client.get(address).status_code] += 1
                if time.monotonic() > until:
                    return


def _addresses(report: Any) -> list[str]:
    from django.urls import reverse

    from analysis.files.document import KEYS
    from tests.factories.addresses import named_addresses

    study, run = report.study, report.study.run
    dataset = {"name": run.version.dataset.name, "number": run.version.number}
    arguments: dict[str, dict[str, Any]] = {
        "studies": {"slug": study.slug}, "evaluation": {"pk": run.pk, **dataset}, "catalog": {**dataset, "index": 0},
        "analysis": {"pk": report.pk}, "projects": {}, "replication": {},
    }  # fmt: skip
    addresses = [reverse("evaluation:figure", args=[run.pk, name]) for name in ("recall", "fallout")]
    addresses += [reverse("studies:export", args=[study.slug, kind]) for kind in ("long", "psych-ds")]
    addresses += [reverse("analysis:chapter", args=[report.study.slug, report.number, key]) for key in KEYS]
    for space, name, names in named_addresses():
        if space in arguments and names <= arguments[space].keys():
            chosen = {each: arguments[space][each] for each in names}
            addresses.append(reverse(f"{space}:{name}", kwargs=chosen))
    return addresses


def _web_processes() -> list[psutil.Process]:
    """The web server's first process, which is this one's newest child, and those that answer."""
    first = max(psutil.Process().children(), key=psutil.Process.create_time)
    return [first, *first.children(recursive=True)]


def _cpu(processes: list[psutil.Process]) -> float:
    """Seconds of processor of these, and of those children of theirs that have ended."""
    return sum(sum(process.cpu_times()[:4]) for process in processes)


def _database_processes() -> list[psutil.Process]:
    from django.db import connection

    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        server = psutil.Process(cursor.fetchone()[0]).parent()
    assert server is not None
    return [server, *server.children()]


def _database_size() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        return int(cursor.fetchone()[0])


def _extrapolate(rows: list[Measured]) -> None:
    """Say what `CONCURRENT` participants would need, from the processor time of the largest number of processes."""
    last = rows[-1]
    rate = CONCURRENT / BETWEEN_REQUESTS
    web, database = (rate * cpu / last.requests for cpu in (last.web_cpu, last.database_cpu))
    each = max(last.memory)
    print(
        f"\n{last.processes} processes answer {last.rate / rows[0].rate:.2f} "
        f"times the requests of {rows[0].processes}. The largest process holds {each:.0f} MiB (goal {GOAL_MIB}).\n"
        f"Extrapolated, not measured: {CONCURRENT:,} participants with {BETWEEN_REQUESTS:g} s between requests send "
        f"{rate:,.0f} requests a second. At {BUSY:.0%} load that is {web / BUSY:.0f} cores for web processes"
        + (f" and {database / BUSY:.0f} for PostgreSQL" if database else "")
        + f"; {last.participants:,} participants made {last.requests / last.participants:.0f} requests each."
    )


def _ratings(_chosen: argparse.Namespace) -> None:
    """Print the estimate of every fit's memory, for catalogues with twelve features for each item."""
    from recommenders import registry

    parsed = map(registry.parse, registry.specifications(BOUNDED))
    kinds = [(registry.algorithm(key), params) for key, params in parsed]
    labels = [kind.label(params) for kind, params in kinds]
    print("GiB by the product's own estimate; in brackets the ratings themselves, which all fits share\n")
    for label, *sizes in zip(["ratings", *labels], *(_estimates(kinds, *size) for size in SIZES), strict=True):
        print(f"{label:<34}" + "".join(f"{size:>22}" for size in sizes))


def _estimates(kinds: list[Any], n_users: int, n_items: int, n_ratings: int) -> list[str]:
    rows = [f"{n_ratings / 1e6:,.0f} M ({8 * n_ratings / GIB:.1f})"]
    for kind, params in kinds:
        needed = kind.fit_bytes(n_users, n_items, n_ratings, params, n_terms=20_000, n_item_terms=12 * n_items)
        rows.append(f"{needed / GIB:.1f}")
    return rows


if __name__ == "__main__":
    main()
