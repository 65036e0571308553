"""Random factorial and dose designs with unequal sizes and spreads, for factorial.R and the tests.

Only `random.random` is drawn from, whose sequence Python guarantees for a seed, so the studies are the same everywhere.

python tests/data/statistics/factorial_designs.py | \
  Rscript --vanilla tests/data/statistics/factorial.R > tests/data/statistics/factorial.csv
"""

from __future__ import annotations

import csv
import itertools
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

SHAPES = ((2, 2), (2, 3), (3, 2), (3, 3), (2, 2, 2), (2, 3, 2))
DOSES = ((0.0, 0.3, 0.6, 0.9), (0.0, 0.1, 0.5), (0.0, 0.25, 0.5, 0.75, 1.0))
REPEATS = 3


@dataclass(frozen=True)
class Design:
    """The values of every condition, its levels of the factors x, y and z, and its dose where there are doses."""

    name: str
    groups: dict[str, list[float]]
    cells: dict[str, dict[str, str]]
    doses: dict[str, float]


def designs() -> Iterator[Design]:
    """Every design: factors crossed, doses alone, and doses crossed with a factor."""
    for repeat, shape in itertools.product(range(REPEATS), SHAPES):
        levels = [[f"{factor}{place}" for place in range(size)] for factor, size in zip("xyz", shape, strict=False)]
        yield _drawn(f"{'by'.join(map(str, shape))}-{repeat}", list(itertools.product(*levels)))
    for repeat, doses in itertools.product(range(REPEATS), DOSES):
        levels = [f"x{place}" for place in range(len(doses))]
        yield _drawn(f"dose{len(doses)}-{repeat}", [(level,) for level in levels], doses)
        yield _drawn(f"crossed{len(doses)}-{repeat}", list(itertools.product(levels, ("y0", "y1"))), doses)


def _drawn(name: str, cells: Sequence[tuple[str, ...]], doses: Sequence[float] = ()) -> Design:
    source, design = random.Random(name), Design(name, {}, {}, {})
    for cell in cells:
        label, n = "-".join(cell), 3 + int(27 * source.random())
        normal = NormalDist(2.5 + source.random(), 0.4 + 1.2 * source.random())
        drawn = (normal.inv_cdf(source.random() or 0.5) for _ in range(n))
        # Means of five answers from 1 to 5, as participants give them.
        design.groups[label] = [min(max(round(5 * value), 5), 25) / 5 for value in drawn]
        design.cells[label] = dict(zip("xyz", cell, strict=False))
        if doses:
            design.doses[label] = doses[int(cell[0][1:])]
    return design


if __name__ == "__main__":
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["design", "x", "y", "z", "dose", "value"])
    for design in designs():
        for label, values in design.groups.items():
            levels = [design.cells[label].get(factor, "") for factor in "xyz"]
            for value in values:
                writer.writerow([design.name, *levels, design.doses.get(label, ""), value])
