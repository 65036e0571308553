"""Polychoric correlations of ordered answers, with the asymptotic covariances of their estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from inference.results import Floats, Integers, Undefined

HIGHEST = 0.99  # absolute correlation; beyond it the two questions are the same measurement
N_NODES = 48  # of the quadrature of the bivariate normal distribution
MOST_STEPS = 100
STEP = 1e-10


@dataclass(frozen=True)
class Polychorics:
    """Correlations of the normal variables behind ordered answers."""

    thresholds: tuple[Floats, ...]  # of each item, ascending
    correlations: Floats  # shape (items, items)
    covariance: Floats  # of √n times the estimates below the diagonal, in the order of `numpy.tril_indices`


@dataclass(frozen=True)
class _Item:
    """One item: categories counted from 0, and the derivatives of its log-likelihood by its thresholds."""

    codes: Integers
    thresholds: Floats
    scores: Floats  # shape (participants, thresholds)


@dataclass(frozen=True)
class _Pair:
    correlation: float
    scores: Floats  # shape (participants,)
    by_thresholds: tuple[Floats, Floats]  # information shared by the correlation with the thresholds of both items


def polychorics(answers: Floats, names: tuple[str, ...]) -> Polychorics | Undefined:
    """Thresholds from the margins, then each correlation by maximum likelihood; from participants by items.

    Categories that do not occur are dropped. Undefined with an item that takes one value, or a pair whose correlation
    is beyond ±`HIGHEST`. Sources: Olsson (1979), Psychometrika 44(4):443-460; for the covariances Muthén (1984),
    Psychometrika 49(1):115-132.

    Examples
    --------
    >>> table = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [30, 20, 20, 30], axis=0)
    >>> round(float(polychorics(table, ("calm", "sure")).correlations[0, 1]), 3)
    0.309
    """
    items = []
    for column, name in zip(answers.T, names, strict=True):
        if np.ptp(column) == 0:
            return Undefined(f"Every participant gave the same answer to {name}.")
        items.append(_item(column))
    k = len(items)
    pairs: dict[tuple[int, int], _Pair] = {}
    for a, b in combinations(range(k), 2):
        pair = _pair(items[a], items[b])
        if pair is None:
            return Undefined(
                f"The answers to {names[a]} and {names[b]} are (nearly) perfectly related, so their polychoric "
                "correlation has no estimate."
            )
        pairs[b, a] = pair
    correlations = np.eye(k)
    influences = []
    for b, a in sorted(pairs):
        pair = pairs[b, a]
        correlations[a, b] = correlations[b, a] = pair.correlation
        # The influence of each participant on the correlation, thresholds being estimated too.
        own = pair.scores
        for item, shared in zip((items[a], items[b]), pair.by_thresholds, strict=True):
            # Ignoring that thresholds are estimated from the same answers would make the errors too small.
            own = own - item.scores @ np.linalg.solve(item.scores.T @ item.scores, shared)
        influences.append(own / (pair.scores @ pair.scores))
    influence = np.array(influences)
    return Polychorics(tuple(item.thresholds for item in items), correlations, influence @ influence.T * len(answers))


def _item(column: Floats) -> _Item:
    from scipy import stats

    values, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    shares = counts / len(column)
    thresholds = stats.norm.ppf(np.cumsum(shares)[:-1])
    densities = stats.norm.pdf(thresholds)
    by_category = np.zeros((len(values), len(thresholds)))
    for index, density in enumerate(densities):
        by_category[index, index] = density / shares[index]
        by_category[index + 1, index] = -density / shares[index + 1]
    return _Item(codes, thresholds, by_category[codes])


def _pair(first: _Item, second: _Item) -> _Pair | None:
    counts = np.zeros((len(first.thresholds) + 1, len(second.thresholds) + 1))
    np.add.at(counts, (first.codes, second.codes), 1)
    cells = _Cells(first.thresholds, second.thresholds)
    correlation = _maximum(counts, cells)
    if correlation is None:
        return None
    # Cells without probability up to rounding may come out at 0 or below, and are divided by.
    shares = np.maximum(cells.shares(correlation), 1e-300)
    scores = cells.by_correlation(correlation) / shares
    weighted = counts * scores / shares
    on_first = cells.by_first_threshold(correlation)
    on_second = _Cells(second.thresholds, first.thresholds).by_first_threshold(correlation)
    shared = (
        np.array([(weighted[i] - weighted[i + 1]) @ on_first[i] for i in range(len(on_first))]),
        np.array([(weighted[:, j] - weighted[:, j + 1]) @ on_second[j] for j in range(len(on_second))]),
    )
    return _Pair(correlation, scores[first.codes, second.codes], shared)


def _maximum(counts: Floats, cells: _Cells) -> float | None:
    """The root of the derivative of the log-likelihood, by scoring steps within a shrinking bracket."""
    n, low, high, correlation = counts.sum(), -HIGHEST, HIGHEST, 0.0
    for _step in range(MOST_STEPS):  # pragma: no branch (halving a bracket converges before)
        shares = np.maximum(cells.shares(correlation), 1e-300)
        by_correlation = cells.by_correlation(correlation)
        gradient = float((counts / shares * by_correlation).sum())
        if gradient > 0:
            low = correlation
        else:
            high = correlation
        proposal = correlation + gradient / float(n * (by_correlation**2 / shares).sum())
        if not low < proposal < high:
            # The scoring step left the bracket, as it may far from the root; halving always converges.
            proposal = (low + high) / 2
        if abs(proposal - correlation) < STEP:
            break
        correlation = proposal
    return correlation if abs(correlation) < HIGHEST - 1e-6 else None


class _Cells:
    """Probabilities of the cells of a table of two items, and their derivatives."""

    def __init__(self, rows: Floats, columns: Floats) -> None:
        from scipy import special

        nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
        self.nodes, self.weights = (nodes + 1) / 2, weights / 2
        self.rows, self.columns = rows, columns
        self.x, self.y = np.meshgrid(rows, columns, indexing="ij")
        self.margins = special.ndtr(rows), special.ndtr(columns)

    def shares(self, correlation: float) -> Floats:
        """Probabilities, by integration of the density over the angle arcsin(ρ) (Plackett, 1954)."""
        angles = math.asin(correlation) * self.nodes
        sines, cosines = np.sin(angles), np.cos(angles)
        squares = (self.x**2 + self.y**2)[..., None] - 2 * (self.x * self.y)[..., None] * sines
        integral = np.exp(-squares / (2 * cosines**2)) @ self.weights * math.asin(correlation) / (2 * math.pi)
        rows, columns = self.margins
        total = np.zeros((len(rows) + 2, len(columns) + 2))
        total[1:-1, 1:-1] = np.outer(rows, columns) + integral
        total[-1, 1:-1], total[1:-1, -1], total[-1, -1] = columns, rows, 1
        return np.diff(np.diff(total, axis=0), axis=1)

    def by_correlation(self, correlation: float) -> Floats:
        rest = 1 - correlation**2
        squares = self.x**2 + self.y**2 - 2 * correlation * self.x * self.y
        total = np.pad(np.exp(-squares / (2 * rest)) / (2 * math.pi * math.sqrt(rest)), 1)
        return np.diff(np.diff(total, axis=0), axis=1)

    def by_first_threshold(self, correlation: float) -> Floats:
        """Derivatives of the cells below each row threshold; those above have the opposite sign."""
        from scipy import special, stats

        conditional = special.ndtr((self.y - correlation * self.x) / math.sqrt(1 - correlation**2))
        cells = np.diff(np.pad(conditional, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))), axis=1)
        return stats.norm.pdf(self.rows)[:, None] * cells
