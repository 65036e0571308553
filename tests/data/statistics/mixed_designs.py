"""Random designs for the models of participants and items; printed as CSV for lme4_mixed.R.

Only `random.random` is drawn from, whose sequence Python guarantees for a seed, so the designs are the same everywhere.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist

NORMAL = NormalDist()


@dataclass(frozen=True)
class Kind:
    """What a design looks like: standard deviations in the unit of the answers, sizes, and how lists are chosen."""

    name: str
    n_designs: int
    conditions: int = 7
    persons: tuple[int, int] = (30, 30)  # in a condition: fewest, most
    list_lengths: tuple[int, int] = (5, 5)
    pool: int = 120
    sd_persons: float = 0.5
    sd_items: float = 0.6
    sd_residual: float = 0.8
    effect: float = 0.2  # standard deviation of the conditions' means
    taste: float = 1.0  # how differently conditions choose items: 0 at random, large the same few
    is_rating: bool = True  # whole numbers from 1 to 5
    has_fixed_list: bool = False  # the first condition shows the same items to everybody


STUDY = Kind("study", 20)
KINDS = (
    STUDY,
    replace(STUDY, name="study-weak", n_designs=14, sd_persons=0.15, sd_items=0.15),
    replace(STUDY, name="study-popular", n_designs=10, taste=4.0, has_fixed_list=True),
    replace(STUDY, name="no-persons", n_designs=12, sd_persons=0.0),
    replace(STUDY, name="no-items", n_designs=12, sd_items=0.0),
    replace(STUDY, name="neither", n_designs=8, sd_persons=0.0, sd_items=0.0, conditions=4),
    replace(STUDY, name="twelve", n_designs=16, conditions=3, persons=(12, 12), pool=40),
    replace(STUDY, name="ten-items", n_designs=14, conditions=4, persons=(10, 25), pool=10),
    replace(STUDY, name="sparse", n_designs=14, conditions=3, persons=(15, 30), list_lengths=(2, 3), pool=150),
    replace(STUDY, name="unbalanced", n_designs=14, conditions=5, persons=(3, 40), list_lengths=(1, 8), pool=60),
    replace(STUDY, name="continuous", n_designs=10, conditions=4, persons=(8, 20), pool=30, is_rating=False,
            sd_items=1.5, sd_residual=0.3),
)  # fmt: skip


@dataclass(frozen=True)
class MixedDesign:
    """Answers of one design, with the condition, the person and the item of each."""

    name: str
    conditions: list[str]
    persons: list[str]
    items: list[str]
    values: list[float]


def designs() -> Iterator[MixedDesign]:
    """Every design."""
    for kind in KINDS:
        for number in range(kind.n_designs):
            yield _design(kind, f"{kind.name}-{number + 1}")


def _design(kind: Kind, name: str) -> MixedDesign:
    source = random.Random(name)
    design = MixedDesign(name, [], [], [], [])
    item_effects = [kind.sd_items * _normal(source) for _ in range(kind.pool)]
    for condition in range(kind.conditions):
        mean = 3 + kind.effect * _normal(source)
        weights = [2.718281828459045 ** (kind.taste * _normal(source)) for _ in range(kind.pool)]
        fixed = _chosen(source, weights, kind.list_lengths[1])
        for person in range(_between(source, kind.persons)):
            person_effect = kind.sd_persons * _normal(source)
            length = _between(source, kind.list_lengths)
            is_fixed = kind.has_fixed_list and condition == 0
            for item in fixed if is_fixed else _chosen(source, weights, length):
                value = mean + person_effect + item_effects[item] + kind.sd_residual * _normal(source)
                design.conditions.append(f"c{condition}")
                design.persons.append(f"c{condition}p{person}")
                design.items.append(f"i{item}")
                design.values.append(float(min(5, max(1, round(value)))) if kind.is_rating else round(value, 2))
    return design


def _normal(source: random.Random) -> float:
    return NORMAL.inv_cdf(max(source.random(), 1e-12))


def _between(source: random.Random, bounds: tuple[int, int]) -> int:
    low, high = bounds
    return low + int(source.random() * (high - low + 1))


def _chosen(source: random.Random, weights: list[float], n: int) -> list[int]:
    """Different items, heavier ones more often."""
    keys = [source.random() ** (1 / weight) for weight in weights]
    return sorted(range(len(keys)), key=lambda index: -keys[index])[:n]


if __name__ == "__main__":
    sys.stdout.write("design,condition,person,item,value\n")
    for drawn in designs():
        for row in zip(drawn.conditions, drawn.persons, drawn.items, drawn.values, strict=True):
            sys.stdout.write(f"{drawn.name},{','.join(map(str, row))}\n")
