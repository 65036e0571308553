"""Random studies with covariates, interviewers, losses and lists; printed as CSV for covariates.R.

Only `random.random` is drawn from, whose sequence Python guarantees for a seed, so the studies are the same everywhere.
One row is one answer about one item; what belongs to a participant is repeated in each of their rows.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import NormalDist

NORMAL = NormalDist()
N_DESIGNS = 30
HEADS = ("design", "condition", "person", "cluster", "item", "value", "watched", "heard", "age", "group", "popularity",
         "diversity", "n_assigned")  # fmt: skip


@dataclass
class Study:
    """The rows of one study."""

    name: str
    rows: list[tuple[str, str, str, str, str, float, int, int, str, str, float, float, int]] = field(
        default_factory=list
    )


def studies() -> Iterator[Study]:
    """Every study: sizes, effects, missing ages, crossed and nested interviewers differ."""
    for number in range(1, N_DESIGNS + 1):
        yield _study(f"study-{number}", number)


def _study(name: str, number: int) -> Study:
    source, study = random.Random(name), Study(name)
    k, pool = 2 + int(source.random() * 5), 40 + int(source.random() * 60)
    item_effects = [0.6 * _normal(source) for _ in range(pool)]
    popularity = [source.random() for _ in range(pool)]
    n_clusters, sd_cluster = 2 * k + int(source.random() * 3), 0.0 if number % 3 == 0 else 0.4
    cluster_effects = [sd_cluster * _normal(source) for _ in range(n_clusters)]
    for c in range(k):
        mean, taste = 3 + 0.4 * _normal(source), 3 * source.random()
        n = 8 + int(source.random() * 22)
        n_assigned = n + int(source.random() * 6 * (number % 4))
        length = 3 + int(source.random() * 4)
        for p in range(n):
            person_effect, age = 0.4 * _normal(source), 18 + int(source.random() * 40)
            group = ("men", "women", "others")[min(int(source.random() * 2.3), 2)]
            is_nested = number % 2 == 0
            cluster = (c + k * int(source.random() * 2)) if is_nested else int(source.random() * n_clusters)
            keys = [source.random() ** (1 / (0.2 + popularity[i] ** taste)) for i in range(pool)]
            items = sorted(range(pool), key=lambda i, keys=keys: -keys[i])[:length]
            list_popularity = sum(popularity[i] for i in items) / length
            diversity = round(source.random(), 3)
            for item in items:
                watched = int(source.random() < 0.2 + 0.5 * popularity[item])
                heard = int(not watched and source.random() < 0.5)
                value = mean + person_effect + item_effects[item] + cluster_effects[cluster] + 0.02 * (age - 35)
                value += 0.5 * watched + 0.2 * heard + 0.8 * list_popularity + 0.7 * _normal(source)
                study.rows.append((
                    name, f"c{c}", f"c{c}p{p}", f"t{cluster}", f"i{item}", round(value, 2), watched, heard,
                    "" if number % 5 == 0 and p % 6 == 5 else str(age), group, round(list_popularity, 4), diversity,
                    n_assigned,
                ))  # fmt: skip
    return study


def _normal(source: random.Random) -> float:
    return NORMAL.inv_cdf(max(source.random(), 1e-12))


if __name__ == "__main__":
    sys.stdout.write(",".join(HEADS) + "\n")
    for drawn in studies():
        for row in drawn.rows:
            sys.stdout.write(",".join(map(str, row)) + "\n")
