"""Answers to the items of several scales, and whether they can carry a model of latent variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from inference.groups import finite
from inference.results import Floats, Undefined

LEAST_N = 100  # participants of a factor model
PER_PARAMETER = 5  # participants for each free parameter (Bentler & Chou, 1987)
PERFECT = 1e-8  # smallest eigenvalue of correlations of items that are no sums of one another
MOST_CATEGORIES = 7  # answers that are modelled as ordered categories


@dataclass(frozen=True)
class Indicators:
    """Complete answers to the items of one or more factors."""

    answers: Floats  # shape (participants, items), without missing values
    items: tuple[str, ...]
    factors: tuple[str, ...]  # the factor of each item
    n_left_out: int  # participants excluded for a missing answer

    @property
    def n(self) -> int:
        """Participants."""
        return len(self.answers)

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Each factor once, in the order of the items."""
        return tuple(dict.fromkeys(self.factors))

    def of(self, factor: str) -> list[int]:
        """Positions of the items of a factor."""
        return [index for index, name in enumerate(self.factors) if name == factor]

    @property
    def is_ordinal(self) -> bool:
        """Whether every item has at most `MOST_CATEGORIES` different answers."""
        return all(len(np.unique(column)) <= MOST_CATEGORIES for column in self.answers.T)


def indicators(
    scales: Mapping[str, Sequence[str]], answers: Sequence[Sequence[float | None]]
) -> tuple[Indicators, list[int]]:
    """Complete participants, and their positions among the rows of `answers`; columns are the items in the order of
    `scales`, which maps factors to items. Raises DataError for values that are not finite.

    Examples
    --------
    >>> data, rows = indicators({"Trust": ["calm", "sure"]}, [[4, 5], [3, None], [2, 2]])
    >>> data.n, data.n_left_out, rows
    (2, 1, [0, 2])
    """
    items = tuple(item for names in scales.values() for item in names)
    factors = tuple(factor for factor, names in scales.items() for _item in names)
    complete = [index for index, row in enumerate(answers) if all(value is not None for value in row)]
    rows = [[float(value or 0) for value in answers[index]] for index in complete]
    table = finite(rows, "Answers must be finite numbers.").reshape(len(complete), len(items))
    return Indicators(table, items, factors, len(answers) - len(complete)), complete


def why_degenerate(data: Indicators) -> Undefined | None:
    """The reason why the covariances of the items are not those of distinct variables; None if they are."""
    if data.n < 2 or data.n <= len(data.items):
        return Undefined(f"{data.n} participants answered every question; {len(data.items)} questions need more.")
    constant = [name for name, column in zip(data.items, data.answers.T, strict=True) if np.ptp(column) == 0]
    if constant:
        return Undefined(f"Every participant gave the same answer to {', '.join(constant)}.")
    correlations = np.atleast_2d(np.corrcoef(data.answers, rowvar=False))
    for a, b in combinations(range(len(data.items)), 2):
        if abs(correlations[a, b]) > 1 - PERFECT:
            return Undefined(f"{data.items[a]} and {data.items[b]} are perfectly correlated.")
    if np.linalg.eigvalsh(correlations)[0] < PERFECT:
        return Undefined("An item is a sum of others, so the covariances are singular.")
    return None


def why_too_few(n: int, n_parameters: int, least_n: int = LEAST_N) -> Undefined | None:
    """The reason why so many participants are too few for a model; None if they are enough."""
    needed = max(least_n, PER_PARAMETER * n_parameters)
    if n >= needed:
        return None
    return Undefined(
        f"The model has {n_parameters} free parameters and needs at least {needed} participants with complete answers "
        f"({PER_PARAMETER} for each parameter{f', and at least {least_n}' if least_n else ''}); there are {n}."
    )
