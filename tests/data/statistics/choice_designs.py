"""Random counts of picks, of opened items and of picked ranks, for choices.R and the tests.

Only `random.random` is drawn from, whose sequence Python guarantees for a seed, so the studies are the same everywhere.

python tests/data/statistics/choice_designs.py | \
  Rscript --vanilla tests/data/statistics/choices.R > tests/data/statistics/choices.csv
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass

CONDITIONS, REPEATS = (2, 3, 4, 6), 5
FEW, MANY = 12, 60  # participants of a condition, at most


@dataclass(frozen=True)
class Design:
    """Picked and participants of each condition; opened and shown of each participant by condition; picks of ranks with
    the numbers of ratings of the list's items.
    """

    name: str
    picked: dict[str, tuple[int, int]]
    opened: dict[str, list[tuple[int, int]]]
    picks: list[tuple[int, list[int]]]


def designs() -> Iterator[Design]:
    """Small and large studies of every number of conditions, with lists of one length and of several."""
    for k in CONDITIONS:
        for repeat in range(REPEATS):
            for most in (FEW, MANY):
                yield _drawn(f"{k}-{most}-{repeat}", k, most)


def _drawn(name: str, k: int, most: int) -> Design:
    source, design = random.Random(name), Design(name, {}, {}, [])
    is_mixed = source.random() < 0.5
    for label in "ABCDEF"[:k]:
        n, share = int(most * (0.5 + source.random() / 2)), 0.15 + 0.7 * source.random()
        design.picked[label] = sum(source.random() < share for _ in range(n)), n
        design.opened[label] = []
        for _ in range(n):
            own = min(max(share + 0.4 * (source.random() - 0.5), 0), 1)  # participants differ
            shown = 3 + int(5 * source.random()) if is_mixed else 5
            design.opened[label].append((sum(source.random() < own for _ in range(shown)), shown))
    for _ in range(most):
        ratings = [int(1000 * source.random() ** 3) for _ in range(5)]
        chances = [(1 + n) ** 0.3 / rank for rank, n in enumerate(ratings, 1)]
        at = source.random() * sum(chances)
        rank = next(rank for rank in range(1, 6) if at <= sum(chances[:rank]) or rank == 5)
        design.picks.append((rank, ratings))
    return design


if __name__ == "__main__":
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["design", "kind", "group", "a", "b", "c"])
    for each in designs():
        for label, (picked, n) in each.picked.items():
            writer.writerow([each.name, "picked", label, picked, n, 0])
        for label, people in each.opened.items():
            for number, (opened, shown) in enumerate(people):
                writer.writerow([each.name, "opened", label, opened, shown, number])
        for number, (rank, ratings) in enumerate(each.picks):
            for at, n in enumerate(ratings, 1):
                writer.writerow([each.name, "pick", number, int(at == rank), at, n])
