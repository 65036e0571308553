"""All benchmarks, one after the other, into one table: ours, the peers', the machine's limits and the ratios.

    python benchmarks/bench.py [--only algorithms,metrics] [--out FILE]

Each program runs in a process of its own. What would not fit into ten minutes is smaller here and said in its row:
an import of a twelfth of MovieLens 25M, one pass of the protocol instead of three. The whole of Table 2 through Celery
(`benchmarks/evaluation.py table`) and every algorithm's time and memory (`benchmarks/algorithms.py --table`) have
tables of their own. The table is kept as `bench.md` under `var/benchmarks` (or `PARALLAX_VAR`).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import CACHE, environment
from table import Row, read_rows

HERE = Path(__file__).parent
PROGRAMS = {
    "algorithms": [],
    "metrics": [],
    "evaluation": ["rows", "--repeats", "1"],
    "serving": [],
    "operating_characteristics": ["--studies", "200"],
    "factorial_characteristics": ["--studies", "400"],
    "within_subject_characteristics": ["--studies", "200"],
    "side_by_side_characteristics": ["--studies", "200"],
    "imports": ["--ratings", "2000000", "--parts", "parse file,import file"],
}
PEERS = ("implicit", "sklearn", "surprise", "pytrec_eval")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default=",".join(PROGRAMS), help="some of the programs, by name")
    options.add_argument("--out", type=Path, default=CACHE / "bench.md")
    chosen = options.parse_args()
    for peer in PEERS:
        environment(peer)
    started = time.monotonic()
    lines, notes, failed = ["# Benchmarks", "", Row.HEAD], [], []
    paths = {"PYTHONPATH": str(HERE.parent), "PARALLAX_VAR": str(CACHE.parent)}
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.only.split(","):
            print(f"{name} …", flush=True)
            file, before = Path(folder) / f"{name}.json", time.monotonic()
            command = [sys.executable, HERE / f"{name}.py", *PROGRAMS[name], "--rows", file]
            done = subprocess.run(command, env={**os.environ, **paths}, check=False)
            took = time.monotonic() - before
            if done.returncode:
                failed.append(name)
                notes.append(f"- {name} failed: nothing of it is in the table.")
                continue
            words, rows = read_rows(file)
            lines += [row.text(1) for row in rows]
            notes.append(f"- {words}; {took:.0f} s.")
    lines += [
        "",
        "Medians of n repetitions, ours and the peer's in turn, in seconds; CPU s are those of all threads.",
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end, {time.monotonic() - started:.0f} s in all.",
        "",
        *notes,
    ]
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    print(f"\nWritten to {chosen.out}")
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
