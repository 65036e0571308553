"""LPCA: people and items on a few axes, by the log odds that a person likes an item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import Floats, ItemFeatures, Ratings
from recommenders.memory import binary_bytes, singular_bytes, sparse_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.positives import liked_items, positive_from_parameter, positives
from recommenders.progress import Progress, no_progress, within
from recommenders.singular import right_singular_vectors

# Cells worked on at a time: the few arrays of this size that a pass needs stay in the processor's cache.
BLOCK_CELLS = 1 << 17
# Folding in ends for a profile with the step that moves no coordinate further than this: the next of Newton's
# would be about its square. It takes some eight steps, and is given up after many more.
FOLDED = 1e-8
LONGEST_FOLD = 200
# A likelihood that is lower by no more than this share is as high as before.
ROUNDING = 1e-13
# Added to log odds, it changes only 0 itself, where 0/0 would occur instead of the limit 1/4.
NEXT_TO_NOTHING = 1e-300

# What the singular vectors take of the whole, about; only the progress is told by it.
START_WORK = 0.01

Cells = tuple[slice, Floats, Floats]


class LPCA(Algorithm):
    r"""Logistic principal component analysis of the matrix of positive ratings.

    With :math:`X_{pm} = 1` where person p rated item m positively and 0 elsewhere, missing ratings included,

    .. math::
        L = \sum_{p,m} X_{pm} \log \sigma(\Theta_{pm}) + (1 - X_{pm}) \log \sigma(-\Theta_{pm}),
        \qquad \Theta = U V + \Delta

    is maximised dimension by dimension: when one has been learned it is fixed and the next begins. Within a
    dimension least squares alternate between its column of :math:`U` and its row of :math:`V` together with
    the offsets :math:`\Delta`, each time on the quadratic that touches :math:`L` where it stands and lies
    below it everywhere else, so that no step lowers it. A profile is folded in by maximising over its own
    row of :math:`U`; its scores are its row of :math:`\Theta`. No score for items without a positive
    rating, nor for profiles that hold none of the others with a positive rating.

    Cost: every step of each dimension visits all users × items, not only the ratings, in blocks; a profile costs items
    × dimensions for each of a few steps.

    Sources: Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 4.1, equations 3
    and 4; the steps are those of Schein, Saul & Ungar (2003), AISTATS. Deviations: half of ``reg`` times the
    squares of U and V is subtracted from L, which otherwise has no maximum where an axis separates those
    who like an item from the rest; a dimension starts at a singular vector of X
    instead of at random, so that the result does not depend on how people and items are numbered; the number
    of dimensions is a parameter and not chosen here.

    Examples
    --------
    Two tastes that never meet.

    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> users, items = [0, 0, 1, 1, 2, 3], [0, 1, 0, 1, 2, 2]
    >>> ratings = Ratings.from_triples(users, items, [5] * 6, n_users=4, n_items=3, scale=scale)
    >>> model = LPCA.fit(ratings, LPCA.Params(factors=1), rng=np.random.default_rng(0))
    >>> (model.score(Profiles.single([0], [4], n_items=3, scale=scale)) > 0).tolist()
    [[True, True, False]]
    """

    key = "lpca"
    name = "LPCA"
    title = "Logistic principal component analysis (LPCA)"
    version = 2  # since the block Lanczos that it starts from takes other steps
    score_kind = "order"
    rank_parameter = "factors"
    small = {"factors": 2}
    arrays = ("axes", "offsets")

    @dataclass(frozen=True)
    class Params(Parameters):
        factors: int = parameter(10, description="Number of dimensions; at most min(users, items).", minimum=1)
        iterations: int = parameter(10, description="Alternations within each dimension.", minimum=1)
        reg: float = parameter(1.0, description="Weight of the squares of U and V.", minimum=1e-3)
        positive_from: float = positive_from_parameter()

    params: Params
    axes: Floats  # V transposed, shape (n_items, factors)
    offsets: Floats  # Δ, shape (n_items,); -inf without a positive rating

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        # Before anything is left out, so that the limit on the factors is that of the data.
        part = within(progress, 0.0, START_WORK)
        start = right_singular_vectors(liked, params.factors, rng, what="users, items", progress=part)
        is_liked = liked_items(liked)
        axes = np.zeros((ratings.n_items, params.factors))
        offsets = np.full(ratings.n_items, -np.inf)
        liked_columns = sparse.csr_array(liked[:, np.flatnonzero(is_liked)])
        _, axes[is_liked], offsets[is_liked] = decompose(
            liked_columns, start[is_liked], params.iterations, params.reg, within(progress, START_WORK, 1.0)
        )
        return cls._with(axes=axes, offsets=offsets)

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Params, **terms: int) -> int:
        """The positive ratings from both sides, the singular vectors it starts at, the coordinates, a few blocks."""
        coordinates = 8 * (3 * n_users + 3 * n_items) * (params.factors + 1)
        binary = binary_bytes(n_users, n_ratings) + 2 * sparse_bytes(n_users + n_items, n_ratings)
        start = singular_bytes(n_users, n_items, n_ratings, params.factors)
        return binary + start + coordinates + 32 * BLOCK_CELLS

    def _score(self, user_items: sparse.csr_array) -> Floats:
        liked = positives(user_items, self.scale, self.params.positive_from)
        known = np.flatnonzero(np.isfinite(self.offsets))
        scores = np.full(user_items.shape, -np.inf)
        liked_columns = sparse.csr_array(liked[:, known])
        rows = np.flatnonzero(np.diff(liked_columns.indptr))
        axes, offsets = self.axes[known], self.offsets[known]
        coordinates = fold_in(sparse.csr_array(liked_columns[rows]), axes, offsets, self.params.reg)
        scores[np.ix_(rows, known)] = coordinates @ axes.T + offsets
        return scores


def decompose(
    liked: sparse.csr_array, start: Floats, iterations: int, reg: float, progress: Progress = no_progress
) -> tuple[Floats, Floats, Floats]:
    """Fit U, V and Δ stage by stage. Returns U of shape (n_users, factors), V transposed of shape (n_items, factors), Δ
    of shape (n_items,).

    `liked`: sparse float64 array, shape (n_users, n_items); ones; every column has at least one. `start`: float64
    array, shape (n_items, factors); a direction to start each dimension at; a column of 0 leaves its dimension unused.
    `iterations`: alternations within each dimension. `reg`: weight of the squares of U and V.
    """
    n_users, n_items = liked.shape
    columns = sparse.csr_array(liked.T)
    counts = np.asarray(columns.sum(axis=1))
    offsets = np.log(counts + 0.5) - np.log(n_users - counts + 0.5)
    # As long as the axes of ones, so that coordinates and reg have the same meaning on data of every size.
    axes = start * np.sqrt(n_items)
    coordinates = np.zeros((n_users, start.shape[1]))
    factors, passes = start.shape[1], 2 * iterations + 1
    for k in range(factors):
        for number in range(passes):
            done = k * passes + number
            part = within(progress, done / (factors * passes), (done + 1) / (factors * passes))
            if number % 2 == 0:
                _move_people(liked, coordinates, axes, offsets, k=k, reg=reg, progress=part)
            else:
                _move_items(columns, coordinates, axes, offsets, k=k, reg=reg, progress=part)
    return coordinates, axes, offsets


def fold_in(liked: sparse.csr_array, axes: Floats, offsets: Floats, reg: float) -> Floats:
    """Find the coordinates of profiles with V and Δ fixed.

    `liked`: sparse float64 array, shape (n_profiles, n_items); ones. `axes`: float64 array, shape (n_items, factors); v
    transposed. `offsets`: float64 array, shape (n_items,); Δ. `reg`: weight of the squares of the coordinates, > 0.
    Returns a float64 array, shape (n_profiles, factors): the coordinates of the largest likelihood less half of `reg`
    times their squares.
    """
    upper = np.triu_indices(axes.shape[1])
    products = axes[:, upper[0]] * axes[:, upper[1]]
    coordinates = np.zeros((liked.shape[0], axes.shape[1]))
    step = np.zeros_like(coordinates)
    highest = np.full(liked.shape[0], -np.inf)
    moving = np.arange(liked.shape[0])
    for _ in range(LONGEST_FOLD):
        tried = coordinates[moving] + step[moving]
        value, newton = _newton(sparse.csr_array(liked[moving]), tried, axes, products, offsets, reg=reg)
        is_higher = value >= highest[moving] - ROUNDING * np.abs(value)
        higher = moving[is_higher]
        coordinates[higher], highest[higher], step[higher] = tried[is_higher], value[is_higher], newton[is_higher]
        step[moving[~is_higher]] /= 2  # too far: half the way is tried from the same place
        is_moving = np.abs(step[moving]).max(axis=1) > FOLDED
        there = moving[~is_moving]
        coordinates[there] += step[there]
        moving = moving[is_moving]
        if moving.size == 0:
            break
    return coordinates


def _newton(
    liked: sparse.csr_array, coordinates: Floats, axes: Floats, products: Floats, offsets: Floats, *, reg: float
) -> tuple[Floats, Floats]:
    """Return each profile's likelihood less its penalty, and Newton's step from there.

    `products` are those of every two axes, by item.
    """
    factors = axes.shape[1]
    upper = np.triu_indices(factors)
    value = np.asarray(liked @ offsets) - 0.5 * reg * (coordinates**2).sum(axis=1)
    pull = np.asarray(liked @ axes)
    value += (pull * coordinates).sum(axis=1)
    pull -= reg * coordinates
    curvature = np.empty((coordinates.shape[0], factors, factors))
    for rows in _blocks(coordinates.shape[0], axes.shape[0]):
        theta = coordinates[rows] @ axes.T + offsets
        small = np.exp(-np.abs(theta))
        chance = np.where(theta > 0, 1.0, small) / (1.0 + small)
        value[rows] -= (np.maximum(theta, 0.0) + np.log1p(small)).sum(axis=1)
        pull[rows] -= chance @ axes
        sums = (chance * (1.0 - chance)) @ products
        curvature[rows, upper[0], upper[1]] = sums
        curvature[rows, upper[1], upper[0]] = sums
    curvature += reg * np.eye(factors)
    return value, np.linalg.solve(curvature, pull[:, :, np.newaxis])[:, :, 0]


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    height = max(1, BLOCK_CELLS // max(1, n_columns))
    return (slice(first, first + height) for first in range(0, n_rows, height))


def _cells(left: Floats, right: Floats, shift: Floats | None, progress: Progress, what: str) -> Iterator[Cells]:
    """Yield, block of rows by block, σ(θ) and the weight of the quadratic bound, tanh(θ/2) / 2θ."""
    for rows in _blocks(left.shape[0], right.shape[0]):
        progress(rows.start / left.shape[0], what)
        theta = left[rows] @ right.T
        if shift is not None:
            theta += shift
        theta += NEXT_TO_NOTHING
        theta *= 0.5
        half = np.tanh(theta)
        weight = half / theta
        weight *= 0.25
        half += 1.0
        half *= 0.5
        yield rows, half, weight


def _move_people(
    liked: sparse.csr_array,
    coordinates: Floats,
    axes: Floats,
    offsets: Floats,
    *,
    k: int,
    reg: float,
    progress: Progress = no_progress,
) -> None:
    axis = axes[:, k]
    pull = np.asarray(liked @ axis) - reg * coordinates[:, k]
    curvature = np.full(coordinates.shape[0], reg)
    for rows, chance, weight in _cells(
        coordinates[:, : k + 1], axes[:, : k + 1], offsets, progress, f"Dimension {k + 1} of {axes.shape[1]}, people"
    ):
        pull[rows] -= chance @ axis
        curvature[rows] += weight @ axis**2
    coordinates[:, k] += np.divide(pull, curvature, out=np.zeros_like(pull), where=curvature > 0)


def _move_items(
    columns: sparse.csr_array,
    coordinates: Floats,
    axes: Floats,
    offsets: Floats,
    *,
    k: int,
    reg: float,
    progress: Progress = no_progress,
) -> None:
    """Maximise the bound in the k-th coordinate and the offset of every item together, in place.

    The offset is one more coordinate, in which every user has the value 1.
    """
    coordinate = coordinates[:, k]
    constant = np.ones_like(coordinate)
    pull = np.asarray(columns @ np.column_stack((coordinate, constant)))
    pull[:, 0] -= reg * axes[:, k]
    sums = np.empty((axes.shape[0], 3))
    basis = np.column_stack((coordinate**2, coordinate, constant))
    extended = np.column_stack((coordinates[:, : k + 1], constant))
    for rows, chance, weight in _cells(
        np.column_stack((axes[:, : k + 1], offsets)),
        extended,
        None,
        progress,
        f"Dimension {k + 1} of {axes.shape[1]}, items",
    ):
        pull[rows] -= chance @ basis[:, 1:]
        sums[rows] = weight @ basis
    squares, crossed, total = sums[:, 0] + reg, sums[:, 1], sums[:, 2]
    spread = squares - crossed**2 / total  # what is left of the coordinate when the offset has its share
    rest = pull[:, 0] - crossed / total * pull[:, 1]
    is_free = spread > 1e-12 * total
    along = np.divide(rest, spread, out=np.zeros_like(rest), where=is_free)
    axes[:, k] += along
    offsets += (pull[:, 1] - crossed * along) / total
