"""Random judgements of two conditions side by side; printed as CSV for judgements.R.

Only `random.random` is drawn from, whose sequence Python guarantees for a seed, so the judgements are always the same.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import NormalDist

NORMAL = NormalDist()
N_OF_EACH = 6  # studies of every number of conditions, with ties and without


@dataclass
class Study:
    """The judgements of one study: (design, participant, left, right, preferred or "")."""

    name: str
    rows: list[tuple[str, str, str, str, str]] = field(default_factory=list)


def studies() -> Iterator[Study]:
    """Every study: worths, sizes, sides and likeness within participants differ."""
    for k in (2, 3, 5):
        for has_ties in (True, False):
            for number in range(N_OF_EACH):
                yield _study(k, has_ties, f"{'ties' if has_ties else 'plain'}-{k}-{number + 1}")


def _study(k: int, has_ties: bool, name: str) -> Study:
    source, study = random.Random(name), Study(name)
    worths, side, tie = [0.6 * _normal(source) for _ in range(k)], 0.4 * _normal(source), -0.8 + source.random()
    for p in range(20 + int(source.random() * 40)):
        own = [worth + 0.8 * _normal(source) for worth in worths]
        for _ in range(1 + int(source.random() * 5)):
            i = int(source.random() * k)
            j = (i + 1 + int(source.random() * (k - 1))) % k
            heights = [math.exp(own[i] + side / 2), math.exp(own[j] - side / 2)]
            heights.append(math.exp(tie + (own[i] + own[j]) / 2) if has_ties else 0.0)
            drawn = source.random() * sum(heights)
            preferred = f"c{i}" if drawn < heights[0] else f"c{j}" if drawn < heights[0] + heights[1] else ""
            study.rows.append((name, f"p{p}", f"c{i}", f"c{j}", preferred))
    return study


def _normal(source: random.Random) -> float:
    return NORMAL.inv_cdf(max(source.random(), 1e-12))


if __name__ == "__main__":
    sys.stdout.write("design,participant,left,right,preferred\n")
    for drawn_study in studies():
        for row in drawn_study.rows:
            sys.stdout.write(",".join(row) + "\n")
