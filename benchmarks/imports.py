"""The import of a large `.csv` of ratings, against pandas reading the same file.

    python benchmarks/imports.py [--ratings 5000000] [--turns 3] [--keep FOLDER]

Makes a file of MovieLens 25M's shape (25,000,000 ratings of 59,000 movies by 162,541 users, or in proportion), then,
in turn, each in a process of its own: pandas `read_csv`; our reading and checking; and the whole import, with the
arrays hashed and written and the items as rows of a database of its own. Twice: the file alone, by its columns, and
the folder with its movies, whose rows pandas never sees. Prints medians, ratios and peak memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from machine import description
from table import Row, write_rows

ROOT = Path(__file__).resolve().parents[1]
N_MOVIES, HIGHEST_ID = 59_000, 209_171
RATINGS_25M, USERS_25M = 25_000_095, 162_541
GOAL = 1.3
# What is timed; the modules are loaded and compiled before, as they are in a server.
PARTS = {
    "pandas": "pandas.read_csv(file)",
    "parse file": "parse(file, options=options)",
    "import file": "import_dataset(path=file, name='file', options={'scale': scale})",
    "parse folder": "parse(file.parent)",
    "import folder": "import_dataset(path=file.parent, name='folder')",
}
CHILD = """
import json, resource, sys, time
from pathlib import Path
import pandas
file, what, warm = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
if what != "pandas.read_csv(file)":
    import django
    django.setup()
    from django.core.management import call_command
    call_command("migrate", verbosity=0)
    from catalog.importers.auto import parse
    from catalog.importers.base import RatingScale
    from catalog.importers.options import Options
    from catalog.services import import_dataset
    scale = RatingScale(0.5, 5.0, 0.5)
    options = Options(scale=scale)
    import_dataset(path=warm, name="warm")
else:
    pandas.read_csv(warm / "ratings.csv")
wall, cpu = time.perf_counter(), time.process_time()
kept = eval(what)
print(json.dumps({
    "wall": time.perf_counter() - wall,
    "cpu": time.process_time() - cpu,
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}))
"""


def write_set(folder: Path, n_ratings: int, *, seed: int = 1) -> int:
    """Write `ratings.csv` and `movies.csv`, user by user, and return how many ratings there are."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    ids = np.sort(rng.choice(np.arange(1, HIGHEST_ID + 1), size=N_MOVIES, replace=False))
    shares = 1 / (np.arange(N_MOVIES) + 30.0)
    rising = np.cumsum(shares / shares.sum())
    ranked = rng.permutation(ids)
    n_users = max(1, round(n_ratings * USERS_25M / RATINGS_25M))
    activity = rng.lognormal(0.0, 1.2, n_users) + 0.15
    wished = np.maximum(20, activity / activity.sum() * n_ratings).astype(np.int64)
    written = 0
    with (folder / "ratings.csv").open("w") as file:
        file.write("userId,movieId,rating,timestamp\n")
        for user in range(n_users):
            picks = np.unique(np.searchsorted(rising, rng.random(int(wished[user] * 1.3))))
            movies = np.sort(ranked[np.minimum(picks, N_MOVIES - 1)])
            ratings = rng.integers(1, 11, len(movies)) / 2
            times = rng.integers(800_000_000, 1_575_000_000) + rng.integers(0, 100_000, len(movies))
            rows = zip(movies.tolist(), ratings.tolist(), times.tolist(), strict=True)
            file.write("".join(f"{user + 1},{movie},{rating},{at}\n" for movie, rating, at in rows))
            written += len(movies)
            if written >= n_ratings:
                break
    lines = (f"{movie},Film {movie} ({1930 + movie % 90}),Drama|Comedy\n" for movie in ids.tolist())
    (folder / "movies.csv").write_text("movieId,title,genres\n" + "".join(lines))
    return written


def measured(file: Path, what: str, warm: Path) -> dict[str, float]:
    """One part in a process and an installation of its own."""
    with tempfile.TemporaryDirectory(prefix="parallax-bench-") as var:
        settings = {
            "DJANGO_SETTINGS_MODULE": "parallax.settings",
            "PARALLAX_VAR": var,
            "NUMBA_CACHE_DIR": str(ROOT / "var" / "numba"),
            "PYTHONPATH": str(ROOT),
        }
        command = [sys.executable, "-c", CHILD, str(file), what, str(warm)]
        done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{what} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Create the file, measure each part in turn, and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--ratings", type=int, default=5_000_000)
    arguments.add_argument("--turns", type=int, default=3)
    arguments.add_argument("--keep", type=Path, help="keep the file in this folder, and use it where it is there")
    arguments.add_argument("--parts", default=",".join(PARTS), help="some of what is timed, beside pandas")
    arguments.add_argument("--rows", type=Path, help="leave the rows here for the table of all benchmarks")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="parallax-bench-") as scratch:
        folder = chosen.keep or Path(scratch) / "set"
        file = folder / "ratings.csv"
        started = time.monotonic()
        if not file.exists():
            write_set(folder, chosen.ratings)
        warm = Path(scratch) / "warm"
        write_set(warm, 1000)
        print(
            f"{file.stat().st_size / 1e6:,.0f} MB, made in {time.monotonic() - started:.0f} s; Python "
            f"{platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} processors, load "
            f"{os.getloadavg()[0]:.1f}, median of {chosen.turns} in turn"
        )
        parts = {name: what for name, what in PARTS.items() if name in ("pandas", *chosen.parts.split(","))}
        measurements: dict[str, list[dict[str, float]]] = {name: [] for name in parts}
        for _ in range(chosen.turns):
            for name, what in parts.items():
                measurements[name].append(measured(file, what, warm))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'':<14}{'seconds':>9}{'ratio':>7}{'processor s':>13}{'ratio':>7}{'peak MB':>9}")
    middle = {
        name: {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        for name, runs in measurements.items()
    }
    for name, figures in middle.items():
        wall, cpu = (figures[key] / middle["pandas"][key] for key in ("wall", "cpu"))
        print(
            f"{name:<14}{figures['wall']:>9.2f}{wall:>7.2f}{figures['cpu']:>13.2f}{cpu:>7.2f}{figures['peak']:>9,.0f}"
        )
    print(f"The goal for `import file` is {GOAL} times pandas' seconds. (This process itself: {peak:,.0f} MB.)")
    rows = [
        Row(
            f"{name} of {chosen.ratings:,} ratings (.csv)",
            *({"seconds": middle[name]["wall"], "cpu": middle[name]["cpu"]}, "pandas read_csv"),
            {"seconds": middle["pandas"]["wall"], "cpu": middle["pandas"]["cpu"]},
            # What does not grow with the ratings, such as 59,000 items' rows, weighs too much in a small file.
            GOAL if name == "import file" and chosen.ratings >= RATINGS_25M // 2 else None,
        )
        for name in parts
        if name != "pandas"
    ]
    write_rows(chosen.rows, f"imports: {description(1)}", rows, chosen.turns)


if __name__ == "__main__":
    main()
