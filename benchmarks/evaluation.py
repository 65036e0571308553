"""One plus random at the paper's scale: one model in one process, and the whole of Table 2 through Celery.

    PYTHONPATH=. python benchmarks/evaluation.py [rows|table] [--shape w1|w2|small] [--repeats 3] [--folder DIR]

`rows` prints, for one neighbourhood and one latent-factor model, the time to score and count every case (sampled
and exact in one pass) beside the machine's limit: the same multiplications by the linear algebra library and one
reading of the scores. `table` makes an installation in a folder (kept with --folder), runs the seven algorithms of
Table 2 by two workers of one numeric thread, on whole profiles and then on profiles of five ratings as well, and prints
the time from the command's start to its end and the most memory that all its processes held together (proportional set
size). At last one worker does the same, so that the second's worth is seen beside the most it can be: what two
processes multiply at once on this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

# This folder has a module of the same name as the package, which has to be found first.
sys.path.append(sys.path.pop(0))

import numpy as np
import psutil
from generator import SHAPES, Shape, ratings
from table import Row, write_rows
from threadpoolctl import threadpool_info, threadpool_limits

from evaluation.protocols.blocks import joined, measure_block
from evaluation.protocols.cases import Cases, build_cases
from evaluation.protocols.hit_metrics import one_plus_random
from evaluation.protocols.registry import protocol
from evaluation.splitting.holdout import share_of_all
from evaluation.splitting.rows import RatingRows
from recommenders import registry
from recommenders.data import Profiles, Ratings
from recommenders.holdout import part_of
from recommenders.threads import each, numeric_threads, one_library_thread, using

ROOT = Path(__file__).resolve().parents[1]
SHARE = 0.0484  # of ratings hidden: about 83,000 cases at W1, as many as the paper's and the project's goal
BLOCK_USERS = 1024  # as the product's workers do
ROWS = "nncosngr,puresvd:factors=50"
TABLE_2 = "toppop,corngr,nncosngr,asysvd,puresvd:factors=50,puresvd:factors=300,lsa"
# All pairs of so many items are too many to keep.
TABLE_2_LARGE = TABLE_2.replace("cosngr", "cosngr:neighbourhood=item").replace("corngr", "corngr:neighbourhood=item")
LARGE_ITEMS = 20_000
GOAL_SECONDS = {"whole profiles": 28, "both profile lengths": 38}
GOAL_MEGABYTES, GOAL_SECOND_WORKER = 1100, 1.6
SAMPLING_SECONDS = 0.25


def machine(threads: int) -> str:
    """Return a description of the machine and the versions."""
    blas = next((pool for pool in threadpool_info() if pool["user_api"] == "blas"), {})
    return (
        f"numpy {np.__version__}, {blas.get('internal_api')} {blas.get('version')} {blas.get('architecture')}, "
        f"{os.cpu_count()} cores, {threads} numeric thread(s)"
    )


def prepared(data: Ratings) -> tuple[Ratings, Cases]:
    """The training side and the cases, candidates drawn."""
    rows = RatingRows.of(data.user_items)
    probe = share_of_all(rows, share=SHARE, seed=1, purpose="probe")
    train = part_of(data.user_items, probe.train)
    hidden = (rows.users[probe.hidden], rows.items[probe.hidden], rows.values[probe.hidden])
    return Ratings(train, data.scale), build_cases(train, *hidden, relevant=5, irrelevant=1, seed=1)


def measured(model: Any, train: Ratings, cases: Cases) -> tuple[float, float]:
    """Seconds to score and count all cases, and those of the scores alone."""
    settings = protocol("one-plus-random").completed({})
    users = np.unique(cases.users)
    scoring: list[float] = []

    def block_of(at: int) -> Any:
        block = users[at : at + BLOCK_USERS]
        rows = slice(*np.searchsorted(cases.users, [block[0], block[-1] + 1]).tolist())
        before = time.perf_counter()
        scores = model.score(Profiles.of(train, block))
        scoring.append(time.perf_counter() - before)
        return measure_block(settings, cases, rows, scores, block, popularity=model.popularity, longest=20)

    started = time.perf_counter()
    with one_library_thread():
        blocks = each(block_of, range(0, len(users), BLOCK_USERS))
    one_plus_random(cases, joined(settings, blocks), settings, range(1, 21))
    return time.perf_counter() - started, sum(scoring) / numeric_threads()


def limit(factors: int, cases: Cases) -> float:
    """Seconds for the multiplications of a latent-factor model's scores, and one reading of them a user."""
    rng = np.random.default_rng(1)
    n_users = len(np.unique(cases.users))
    left, right = rng.random((BLOCK_USERS, factors)), rng.random((factors, cases.n_items))
    out = np.empty((BLOCK_USERS, cases.n_items))
    started = time.perf_counter()
    for _ in range(-(-n_users // BLOCK_USERS)):
        np.matmul(left, right, out=out)
        out.max()
    return time.perf_counter() - started


def rows(shape: Shape, repeats: int, threads: int, rows_to: Path | None) -> None:
    """Print a line for each of two models."""
    left = []
    train, cases = prepared(ratings(shape))
    print(f"{shape.name}: {len(cases):,} cases of {len(np.unique(cases.users)):,} users; {machine(threads)}")
    before = time.perf_counter()
    bits = cases.bitmaps(np.arange(len(cases)))
    before = time.perf_counter()
    bits = cases.bitmaps(np.arange(len(cases)))
    print(f"candidates drawn once for all models in {time.perf_counter() - before:.2f} s, {bits.nbytes / 1e6:.0f} MB")
    cases = Cases(**{name: getattr(cases, name) for name in Cases.__slots__ if name != "bits"}, bits=bits)
    with threadpool_limits(threads), using(threads):
        floor = statistics.median(limit(50, cases) for _ in range(repeats))
        print(f"{'model':<12}{'ours s':>9}{'scores s':>10}{'rest s':>8}{'limit s':>9}{'ours/limit':>12}")
        for key, params in map(registry.parse, registry.specifications(ROWS)):
            kind = registry.algorithm(key)
            model = kind.fit(train, params, features=None, rng=np.random.default_rng(1))
            model.score(Profiles.of(train, np.arange(2)))
            timings = [measured(model, train, cases) for _ in range(repeats)]
            whole, scoring = (statistics.median(column) for column in zip(*timings, strict=True))
            words = f"one plus random, sampled and exact, {len(cases):,} cases, {kind.label(params)}, {shape.name[:2]}"
            of_limit = (floor, 3, "the scores' multiplications, one reading") if key == "puresvd" else ()
            left.append(Row(words, {"seconds": whole}, "", None, None, *of_limit))
            own = f"{floor:>9.2f}{whole / floor:>12.2f}" if key == "puresvd" else f"{'–':>9}{'–':>12}"
            print(f"{kind.label(params):<12}{whole:>9.2f}{scoring:>10.2f}{whole - scoring:>8.2f}{own}", flush=True)
    write_rows(rows_to, f"evaluation: {machine(threads)}", left, repeats)


MAKE = """
import sys
sys.path.insert(0, "benchmarks")
import django
django.setup()
import numpy as np
from catalog.importers.base import ImportReport, ParsedDataset, ParsedItem, RatingScale
from catalog.services import import_parsed
from generator import SHAPES, ratings
shape = SHAPES[sys.argv[1]]
data = ratings(shape)
rng = np.random.default_rng(3)
def features(index):
    own = [("genre", f"Genre {index % 19}"), ("director", f"Director {rng.integers(900)}")]
    return tuple(own + sorted({("cast", f"Actor {one}") for one in rng.integers(0, 4000, 8)}))
items = tuple(
    ParsedItem(external_id=str(index), title=f"Film {index}", year=1950 + index % 70, plot="", features=features(index))
    for index in range(data.n_items)
)
users, rated, values = data.triples()
n = len(values)
parsed = ParsedDataset(
    user_ids=np.arange(data.n_users).astype(str), items=items, users=users.astype(np.int32),
    items_rated=rated.astype(np.int32), values=values, timestamps=None, scale=RatingScale(1, 5, 1),
    report=ImportReport("generator", ("generated",), n, n, {}, {}, (), "1 to 5 in steps of 1"),
)
import_parsed(parsed=parsed, name="bench", title="Generated", source_format="generator", is_synthetic=True)
"""


class Usage:
    """The most memory that a process and its descendants held together, by proportional set size, and their processor
    time. A command ends its idle workers at once, so that the system does not add their time to its own.
    """

    def __init__(self, pid: int) -> None:
        self.peak = 0.0
        self.processor: dict[int, float] = {}  # seconds by process, when it was last seen
        self.shares: list[float] = []  # of each process at that moment
        self._pid = pid
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """Megabytes."""
        self._stop.set()
        self._thread.join()
        return self.peak

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLING_SECONDS):
            family = _family(self._pid)
            for pid in family:
                with suppress(psutil.Error):
                    self.processor[pid] = sum(psutil.Process(pid).cpu_times()[:2])
            shares = [_megabytes(pid) for pid in family]
            if sum(shares) > self.peak:
                self.peak, self.shares = sum(shares), shares


def _family(pid: int) -> list[int]:
    pids = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            pids += _family(int(child))
    return pids


def _megabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def worth_of_a_second_core(repeats: int) -> float:
    """How much two processes multiply at once, in units of what one does alone."""
    code = f"""
import numpy as np, time
rng = np.random.default_rng(1)
left, right = rng.random(({BLOCK_USERS}, 50)), rng.random((50, 2137))
started = time.perf_counter()
for _ in range(400):
    (left @ right).max()
print(time.perf_counter() - started)
"""
    single = {**os.environ, **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}}

    def seconds(processes: int) -> float:
        started = [
            subprocess.Popen([sys.executable, "-c", code], env=single, stdout=subprocess.PIPE, text=True)
            for _ in range(processes)
        ]
        return statistics.mean(float(process.communicate()[0]) for process in started)

    return statistics.median(2 * seconds(1) / seconds(2) for _ in range(repeats))


def table(shape_key: str, repeats: int, folder: Path, workers: int) -> None:
    """Print the time and memory of the whole of Table 2, run by run, and what the second worker is worth."""
    environment = {**os.environ, "PARALLAX_VAR": str(folder), "PYTHONPATH": str(ROOT)}
    environment |= {"DJANGO_SETTINGS_MODULE": "parallax.settings", "NUMERIC_THREADS": "1"}
    environment |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    if not (folder / "made").exists():
        for command in (["manage.py", "migrate", "-v0"], ["manage.py", "compile_kernels"], ["-c", MAKE, shape_key]):
            subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, check=True)
        (folder / "made").touch()
    print(f"{SHAPES[shape_key].name}; {machine(1)}")
    seconds_by_workers: dict[int, list[float]] = {}
    file = folder / "table.json"
    algorithms = TABLE_2_LARGE if SHAPES[shape_key].n_items > LARGE_ITEMS else TABLE_2
    plan = [(kind, workers) for kind in GOAL_SECONDS] + [("both profile lengths", 1)]
    for kind, n_workers in [pair for pair in dict.fromkeys(plan) for _ in range(repeats)]:
        command = ["manage.py", "evaluate", "bench", "--algorithms", algorithms, "--split", f"probe:share={SHARE}"]
        command += ["--workers", str(n_workers), "--json", str(file)]
        if kind == "whole profiles":
            command += ["--profile-length", "0"]
        # A seed of its own, so that no model is found that was fitted before.
        command += ["--seed", str(time.time_ns() % 2**31)]
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        )
        usage = Usage(process.pid)
        output, _ = process.communicate()
        seconds, peak, used = time.perf_counter() - started, usage.stop(), sum(usage.processor.values())
        if process.returncode:
            raise SystemExit(output)
        if not seconds_by_workers:
            print(output[output.index("\nalgorithm") :].rstrip())
        if kind == "both profile lengths":
            seconds_by_workers.setdefault(n_workers, []).append(seconds)
        parts = sum(row["fit_seconds"] for row in json.loads(file.read_text())["algorithms"])
        print(
            f"{kind}, {n_workers} worker(s): {seconds:.1f} s (goal of two workers {GOAL_SECONDS[kind]}); "
            f"{used:.1f} s of processor, fits took {parts:.1f} s; "
            f"peak {peak:,.0f} MB over all processes ({' + '.join(f'{share:,.0f}' for share in usage.shares)}; "
            f"goal {GOAL_MEGABYTES:,})",
            flush=True,
        )
    if len(seconds_by_workers) == 2:
        worth = statistics.median(seconds_by_workers[1]) / statistics.median(seconds_by_workers[workers])
        print(
            f"{workers} workers do {worth:.2f} times as much as one (goal {GOAL_SECOND_WORKER}); two processes that "
            f"only multiply do {worth_of_a_second_core(repeats):.2f} times as much as one on this machine"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", nargs="?", choices=("rows", "table"), help="default: both")
    options.add_argument("--shape", choices=sorted(SHAPES), default="w1")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--threads", type=int, default=2, help="of the single process")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--rows", type=Path, help="leave the rows here for the table of all benchmarks")
    options.add_argument("--folder", type=Path, help="keep the installation here")
    chosen = options.parse_args()
    if chosen.what in (None, "rows"):
        rows(SHAPES[chosen.shape], chosen.repeats, chosen.threads, chosen.rows)
    if chosen.what in (None, "table"):
        with tempfile.TemporaryDirectory() as temporary:
            folder = (chosen.folder or Path(temporary)).resolve()
            folder.mkdir(parents=True, exist_ok=True)
            table(chosen.shape, chosen.repeats, folder, chosen.workers)


if __name__ == "__main__":
    main()
