"""What SQLite's `synchronous` costs a participant's save: three rows in one transaction, by four writers.

    python benchmarks/sqlite_saves.py [--seconds 10] [--folder .]

With FULL a save is on the disk when it is confirmed; with NORMAL a power cut can undo the last ones. The folder must be
on the disk that is to be measured.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

WRITERS = 4
ROWS = 3


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--folder", type=Path, default=Path.cwd())
    chosen = options.parse_args()
    print(f"{'synchronous':<12}{'saves/s':>10}{'median ms':>12}{'p95 ms':>10}{'p99 ms':>10}")
    for synchronous in ("NORMAL", "FULL"):
        with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
            times = sorted(saves(Path(folder, "saves.sqlite3"), synchronous, chosen.seconds))
        median, p95, p99 = (1000 * times[int(share * len(times))] for share in (0.5, 0.95, 0.99))
        print(
            f"{synchronous:<12}{len(times) / chosen.seconds:>10.0f}{median:>12.2f}{p95:>10.2f}{p99:>10.2f}", flush=True
        )


def saves(file: Path, synchronous: str, seconds: float) -> list[float]:
    """The seconds of each save."""
    times: list[float] = []
    with closing(connected(file, synchronous)) as database:
        database.execute("CREATE TABLE answers (id INTEGER PRIMARY KEY, person TEXT, answer TEXT)")
        database.execute("CREATE INDEX of_person ON answers (person)")

    def write(number: int) -> None:
        with closing(connected(file, synchronous)) as database:
            until = time.perf_counter() + seconds
            while (started := time.perf_counter()) < until:
                database.execute("BEGIN IMMEDIATE")
                database.executemany(
                    "INSERT INTO answers (person, answer) VALUES (?, ?)", [(str(number), "x" * 200)] * ROWS
                )
                database.execute("COMMIT")
                times.append(time.perf_counter() - started)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    return times


def connected(file: Path, synchronous: str) -> sqlite3.Connection:
    database = sqlite3.connect(file, isolation_level=None, timeout=30)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute(f"PRAGMA synchronous={synchronous}")
    return database


if __name__ == "__main__":
    main()
