"""Restricts mutation testing to a seeded random sample of mutants, and reports the score per package.

All mutants are too many for one machine and one night. `make mutants MUTANTS='inference.groups.*'` creates them and
measures which test reaches which function. Then::

    python benchmarks/mutant_sample.py draw --size 250 --seed 15
    make mutants
    python benchmarks/mutant_sample.py score

`draw` marks the mutants outside the sample as skipped. The sample depends on the seed and the mutants' names alone: the
mutants of each package, in the order of a hash of seed and name, up to its size. `draw` with a larger size extends the
sample and keeps the results so far.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict
from pathlib import Path

MUTANTS = Path(__file__).resolve().parents[1] / "mutants"
SKIPPED = 34  # as mutmut's exit codes have it
STATUS = {None: "not checked", 0: "survived", 1: "killed", 3: "killed", 33: "no tests", SKIPPED: "skipped"}
TIMEOUTS = {36, -24, 24, 152, 255}


def package_of(meta: Path) -> str:
    """The package of a module, from the file that holds its results."""
    return meta.parent.relative_to(MUTANTS).as_posix()


def draw(size: int, seed: int) -> None:
    """Mark all mutants but the first `size` of each package as skipped."""
    results = {meta: json.loads(meta.read_text()) for meta in sorted(MUTANTS.rglob("*.py.meta"))}
    names = defaultdict(list)
    for meta, result in results.items():
        names[package_of(meta)] += result["exit_code_by_key"]
    sample = {
        name
        for mutants in names.values()
        for name in sorted(mutants, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())[:size]
    }
    for meta, result in results.items():
        codes = result["exit_code_by_key"]
        for name, code in codes.items():
            if name not in sample:
                codes[name] = SKIPPED
            elif code == SKIPPED:
                codes[name] = None
        meta.write_text(json.dumps(result, indent=4))
    for package, mutants in names.items():
        print(f"{package}: {len(sample.intersection(mutants))} of {len(mutants)}")


def score() -> None:
    """Print killed, timed-out and surviving mutants of each package, skipped ones apart."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for meta in sorted(MUTANTS.rglob("*.py.meta")):
        for code in json.loads(meta.read_text())["exit_code_by_key"].values():
            counts[package_of(meta)]["timeout" if code in TIMEOUTS else STATUS.get(code, "suspicious")] += 1
    for package, count in counts.items():
        n = count.total() - count["skipped"] - count["not checked"]
        dead = count["killed"] + count["timeout"]
        share = f"{dead / n:.1%}" if n else "no result"
        print(f"{package}: {dead} of {n} killed ({share})", dict(count))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="skip all mutants outside a random sample")
    drawing.add_argument("--size", type=int, default=250, help="mutants per package")
    drawing.add_argument("--seed", type=int, default=15)
    commands.add_parser("score", help="count the results per package")
    arguments = parser.parse_args()
    if arguments.command == "draw":
        draw(arguments.size, arguments.seed)
    else:
        score()


if __name__ == "__main__":
    main()
