"""Baseline covariates as columns of a linear model.

A number is centred; where it is missing it has the mean, which leaves the comparison of randomised conditions unbiased
(White & Thompson, 2005, Statistics in Medicine 24(7):993-1007). Of labels each but the first is a centred indicator,
and a missing label is a level of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.errors import DataError
from inference.results import Floats, Integers

MISSING = "not given"
TOLERANCE = 1e-9  # of the length that a column adds to those before it, relative to its own


@dataclass(frozen=True)
class Covariate:
    """A measurement before assignment: all numbers, or all labels; None where it is missing."""

    name: str
    values: Sequence[float | str | None]


@dataclass(frozen=True)
class UnusedCovariate:
    """A covariate that cannot enter the model, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Block:
    """The columns of one covariate, shape (n, df), and its number of missing values."""

    name: str
    columns: Floats
    n_missing: int


@dataclass(frozen=True)
class Blocks:
    """The covariates of a model, independent of one another and separable from the conditions."""

    used: tuple[Block, ...]
    unused: tuple[UnusedCovariate, ...]

    def columns(self, n: int, without: str | None = None) -> Floats:
        """All columns side by side, those of one covariate left out; shape (n, q)."""
        return np.hstack([np.zeros((n, 0)), *(block.columns for block in self.used if block.name != without)])


def numbered(keys: Sequence[Hashable]) -> Integers:
    """Number the distinct keys from 0 in the order in which they appear.

    Examples
    --------
    >>> numbered(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    number: dict[Hashable, int] = {}
    return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)


def blocks_of(covariates: Sequence[Covariate], condition: Integers) -> Blocks:
    """Code covariates in their order for participants whose conditions are numbered from 0, shape (n,).

    A covariate is left out if it does not vary, if the earlier ones determine it, or if it cannot be separated from the
    conditions. Raises DataError when a covariate mixes numbers and labels or has a number that is not finite.

    Examples
    --------
    >>> blocks = blocks_of([Covariate("age", [20, 30, None, 40])], np.array([0, 0, 1, 1]))
    >>> blocks.used[0].columns.ravel().tolist(), blocks.used[0].n_missing
    ([-10.0, 0.0, 0.0, 10.0], 1)
    """
    indicators = np.eye(int(condition.max()) + 1)[condition]
    used: list[Block] = []
    unused: list[UnusedCovariate] = []
    for covariate in covariates:
        block = _coded(covariate)
        before = np.hstack([np.ones((len(condition), 1)), *(earlier.columns for earlier in used)])
        own = independent(before, block.columns)
        if not np.ptp(block.columns, axis=0).any():
            unused.append(UnusedCovariate(covariate.name, "It has the same value for every participant."))
        elif not own.shape[1]:
            unused.append(UnusedCovariate(covariate.name, "The other covariates determine it."))
        elif independent(np.hstack([indicators, before[:, 1:]]), own).shape[1] < own.shape[1]:
            unused.append(UnusedCovariate(covariate.name, "It cannot be separated from the conditions."))
        else:
            used.append(replace(block, columns=own))
    return Blocks(tuple(used), tuple(unused))


def independent(before: Floats, columns: Floats) -> Floats:
    """Those of `columns`, shape (n, q), that neither `before` nor earlier ones determine."""
    basis, chosen = np.linalg.qr(before)[0], []
    for column in columns.T:
        length = float(np.linalg.norm(column))
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        added = float(np.linalg.norm(rest))
        if length and added > TOLERANCE * length:
            chosen.append(column)
            basis = np.column_stack([basis, rest / added])
    return np.column_stack(chosen) if chosen else np.zeros((len(before), 0))


def _coded(covariate: Covariate) -> Block:
    present = [value for value in covariate.values if value is not None]
    n_missing, are_labels = len(covariate.values) - len(present), {isinstance(value, str) for value in present}
    if len(are_labels) > 1:
        raise DataError(f"The covariate {covariate.name!r} mixes numbers and labels.")
    if are_labels == {True}:
        labels = [MISSING if value is None else str(value) for value in covariate.values]
        levels, number = np.unique(labels, return_inverse=True)
        columns = np.eye(len(levels))[number][:, 1:]
        return Block(covariate.name, columns - columns.mean(axis=0), n_missing)
    numbers = np.array([np.nan if value is None else value for value in covariate.values], dtype=float)
    if np.isinf(numbers).any():
        raise DataError(f"The covariate {covariate.name!r} has a value that is not finite.")
    centred = numbers - (np.nanmean(numbers) if present else 0.0)
    return Block(covariate.name, np.nan_to_num(centred, nan=0.0)[:, np.newaxis], n_missing)
