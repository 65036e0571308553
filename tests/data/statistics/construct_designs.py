"""Random answers to scales for the models of constructs; printed as CSV for lavaan_constructs.R.

Only `random.random` is drawn from, whose sequence Python guarantees for a seed, so the designs are the same everywhere.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import NormalDist

NORMAL = NormalDist()
N_DESIGNS = 14  # of each kind
KINDS = ("continuous", "ordinal", "invariance", "structural")


@dataclass
class ConstructDesign:
    """Answers of one design, with the group of each participant; the last column of a structural one is its outcome."""

    name: str
    kind: str
    scales: dict[str, list[str]]
    groups: list[str] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)


def designs() -> Iterator[ConstructDesign]:
    """Every design."""
    for kind in KINDS:
        for number in range(N_DESIGNS):
            yield _design(kind, number)


def _design(kind: str, number: int) -> ConstructDesign:
    source = random.Random(f"{kind}-{number + 1}")
    n_factors = 1 if kind == "invariance" else 1 + number % 3
    scales: dict[str, list[str]] = {}
    for factor in range(n_factors):
        scales[f"f{factor + 1}"] = [f"f{factor + 1}q{item + 1}" for item in range(_between(source, 3, 5))]
    design = ConstructDesign(f"{kind}-{number + 1}", kind, scales)
    loadings = {item: 0.5 + 0.35 * source.random() for items in scales.values() for item in items}
    shift = {item: 0.4 * _normal(source) for item in loadings}
    n_categories = 3 + number % 5 if kind == "ordinal" else 7
    n_groups = 2 + number % 3 if kind in ("invariance", "structural") else 1
    size = _between(source, 60, 110) if n_groups > 1 else _between(source, 150, 320)
    shared = 0.3 + 0.4 * source.random()
    for group in range(n_groups):
        effects = [0.5 * _normal(source) * (group > 0) for _ in range(n_factors)]
        tilt = {item: 0.25 * _normal(source) * (number % 2) for item in loadings}
        for _person in range(size + 7 * group):
            general = _normal(source)
            factors = [
                effect + shared**0.5 * general + (1 - shared) ** 0.5 * _normal(source) for effect in effects
            ]  # fmt: skip
            row = []
            for value, items in zip(factors, scales.values(), strict=True):
                for item in items:
                    noise = (1 - loadings[item] ** 2) ** 0.5 * _normal(source)
                    row.append(_answer(kind, shift[item] + tilt[item] + loadings[item] * value + noise, n_categories))
            if kind == "structural":
                total = sum(factors) * 0.4 + 0.3 * (group == 1) + 0.8 * _normal(source)
                row.append(_answer("ordinal", total, 5))
            design.groups.append(f"g{group + 1}")
            design.rows.append(row)
    return design


def _answer(kind: str, value: float, n_categories: int) -> float:
    if kind == "continuous":
        return round(10 * value, 3)
    step = 4.0 / n_categories
    return float(min(n_categories, max(1, 1 + int((value + 2) // step))))


def _normal(source: random.Random) -> float:
    return NORMAL.inv_cdf(max(source.random(), 1e-12))


def _between(source: random.Random, low: int, high: int) -> int:
    return low + int(source.random() * (high - low + 1))


if __name__ == "__main__":
    sys.stdout.write("design,kind,person,group,item,value\n")
    for drawn in designs():
        items = [item for names in drawn.scales.values() for item in names]
        columns = [*items, "outcome"] if drawn.kind == "structural" else items
        for person, (group, row) in enumerate(zip(drawn.groups, drawn.rows, strict=True)):
            for item, value in zip(columns, row, strict=True):
                sys.stdout.write(f"{drawn.name},{drawn.kind},{person},{group},{item},{value:g}\n")
