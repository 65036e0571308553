"""Random studies in which participants meet all conditions in turn; printed as CSV for within.R.

Only `random.random` is drawn from, whose sequence Python guarantees for a seed, so the studies are the same everywhere.
One row is one occasion.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import NormalDist

NORMAL = NormalDist()
N_OF_EACH = 6  # studies of every number of conditions and kind
KINDS = ("complete", "missing", "alike", "ratings")  # alike: participants do not differ
WILLIAMS = {2: ("01", "10"), 3: ("012", "120", "201", "210", "021", "102"), 4: ("0132", "1203", "2310", "3021")}


@dataclass
class Study:
    """The occasions of one study: (design, participant, position, condition, previous condition, value)."""

    name: str
    rows: list[tuple[str, str, int, str, str, float]] = field(default_factory=list)


def studies() -> Iterator[Study]:
    """Every study: numbers of conditions, sizes, effects and losses differ."""
    for k in WILLIAMS:
        for kind in KINDS:
            for number in range(N_OF_EACH):
                yield _study(k, kind, f"{kind}-{k}-{number + 1}")


def _study(k: int, kind: str, name: str) -> Study:
    source, study = random.Random(name), Study(name)
    means, drift = [0.4 * _normal(source) for _ in range(k)], [0.3 * _normal(source) for _ in range(k)]
    carried = [0.3 * _normal(source) for _ in range(k)]
    sequences = WILLIAMS[k]
    # Whole rounds of the sequences, or some more participants.
    n = len(sequences) * (3 + int(source.random() * 4)) + (0 if kind == "complete" else int(source.random() * 3))
    for p in range(n):
        own = 0.0 if kind == "alike" else 0.8 * _normal(source)
        previous = ""
        for position, at in enumerate(map(int, sequences[p % len(sequences)])):
            value = 3 + means[at] + drift[position] + own + 0.7 * _normal(source)
            value += carried[int(previous[1:])] if previous else 0.0
            rounded = float(min(5, max(1, round(value)))) if kind == "ratings" else round(value, 2)
            if not (kind == "missing" and source.random() < 0.2):
                study.rows.append((name, f"p{p}", position + 1, f"c{at}", previous, rounded))
            previous = f"c{at}"
    return study


def _normal(source: random.Random) -> float:
    return NORMAL.inv_cdf(max(source.random(), 1e-12))


if __name__ == "__main__":
    sys.stdout.write("design,participant,position,condition,previous,value\n")
    for drawn in studies():
        for row in drawn.rows:
            sys.stdout.write(",".join(map(str, row)) + "\n")
