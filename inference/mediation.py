r"""How much of the difference of two conditions goes along with characteristics of the lists that they showed.

.. math:: m_j = a_{j,c} + \varepsilon_j, \quad y = c'_c + \sum_j b_j m_j + e

With several conditions the indirect part of a pair is the difference of its mean mediators times their slopes, relative
to the pair (Hayes & Preacher, 2014, British Journal of Mathematical and Statistical Psychology 67(3):451-470). Total
and direct part and the indirect ones add up. Lists are not randomised within conditions, so the slopes, and with them
the indirect parts, are associations: they are causes only if nothing else drives mediator and outcome.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from inference.ancova import LinearModel, ParticipantValues, read_conditions
from inference.bootstrap import percentile_intervals
from inference.covariates import independent
from inference.groups import finite
from inference.results import Floats, Integers, Interval, Undefined
from inference.t_tests import t_test

CHUNK = 2_000_000  # cells of resampled counts at a time


@dataclass(frozen=True)
class MediatorSlope:
    """The slope of the outcome on a mediator among participants of the same condition, the other mediators equal."""

    mediator: str
    estimate: float
    se: float
    p: float
    interval: Interval  # 95%, by Student's t


@dataclass(frozen=True)
class IndirectPart:
    """The part of a difference that goes along with one mediator; 95% percentile interval of the bootstrap."""

    mediator: str
    difference: float  # of the mean mediators, `a` minus `b`
    estimate: float
    interval: Interval


@dataclass(frozen=True)
class MediatedPair:
    """The difference of two conditions, `a` minus `b`, in its parts."""

    a: str
    b: str
    total: float
    direct: float
    direct_interval: Interval  # 95% percentile interval of the bootstrap
    indirect: tuple[IndirectPart, ...]


@dataclass(frozen=True)
class MediationResult:
    """Every pair of conditions in its parts."""

    n: int
    resamples: int
    slopes: tuple[MediatorSlope, ...]
    pairs: tuple[MediatedPair, ...]
    left_out: tuple[str, ...]  # conditions without participants


def mediation(
    data: ParticipantValues, mediators: Mapping[str, Sequence[float]], *, resamples: int, rng: np.random.Generator
) -> MediationResult | Undefined:
    """Split the differences of conditions; each mediator has one value per participant.

    The bootstrap resamples participants within conditions; a resample in which the slopes are not determined is drawn
    again, as part of the next draw. Undefined with fewer than two conditions, with mediators that do not vary within
    conditions apart from one another, or without residual degrees of freedom. Raises DataError for values that are not
    finite.

    Examples
    --------
    >>> data = ParticipantValues([1, 2, 3, 3.1, 5, 6], ["A", "A", "A", "B", "B", "B"], ())
    >>> popularity = {"popularity": [1, 2, 3, 2, 4, 5]}
    >>> pair = mediation(data, popularity, resamples=200, rng=np.random.default_rng(1)).pairs[0]
    >>> round(pair.total, 2), round(pair.indirect[0].estimate + pair.direct, 2)
    (-2.7, -2.7)
    """
    names, condition, values, left_out = read_conditions(data)
    k, q = len(names), len(mediators)
    if k < 2:
        return Undefined(f"A comparison needs two conditions with participants; there are {k}.")
    rows = finite([list(own) for own in mediators.values()], "A mediator is not a finite number.")
    columns = rows.reshape(-1, len(values)).T
    if not q or independent(np.eye(k)[condition], columns).shape[1] < q:
        return Undefined("The mediators do not vary within conditions independently of each other.")
    model = LinearModel(np.hstack([np.eye(k)[condition], columns]), values, k)
    if model.df < 1:
        return Undefined(f"{len(values)} participants leave no residual degrees of freedom.")
    errors = np.sqrt(model.variance * np.diag(model.unscaled)).tolist()
    estimated = zip(mediators, model.coefficients[k:].tolist(), errors[k:], strict=True)
    moments = _Moments(values, columns, condition)
    slopes, means = moments.at([np.ones((1, n)) for n in moments.sizes])
    resampled = _resampled(moments, resamples, rng)
    pairs = []
    for a, b in combinations(range(k), 2):
        (differences, indirect), (resampled_total, parts) = _parts(slopes, means, a, b), _parts(*resampled, a, b)
        direct = resampled_total[:, -1] - parts.sum(axis=1)
        *intervals, direct_interval = percentile_intervals(np.column_stack([parts, direct]))
        estimates = zip(mediators, differences[0, :-1].tolist(), indirect[0].tolist(), intervals, strict=True)
        total = float(differences[0, -1])
        parts_of_pair = tuple(IndirectPart(*own) for own in estimates)
        pairs.append(
            MediatedPair(names[a], names[b], total, total - float(indirect.sum()), direct_interval, parts_of_pair)
        )
    return MediationResult(
        n=len(values),
        resamples=resamples,
        slopes=tuple(MediatorSlope(name, value, se, *t_test(value, se, model.df)) for name, value, se in estimated),
        pairs=tuple(pairs),
        left_out=left_out,
    )


class _Moments:
    """Sums by condition of values, mediators and their products, for any weights of participants."""

    def __init__(self, values: Floats, mediators: Floats, condition: Integers) -> None:
        self.q, self.sizes = mediators.shape[1], np.bincount(condition).tolist()
        self.offset = np.append(mediators.mean(axis=0), values.mean())
        self.scale = np.append(mediators.std(axis=0), 1.0)
        centred = (np.column_stack([mediators, values]) - self.offset) / self.scale
        pairs = [centred[:, i] * centred[:, j] for i in range(self.q + 1) for j in range(self.q + 1)]
        products = np.column_stack([np.ones(len(values)), centred, *pairs])
        self.products = [products[condition == index] for index in range(len(self.sizes))]

    def at(self, weights: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Slopes, shape (r, q), and means of mediators and outcome by condition, shape (r, k, q + 1).

        `weights` are those of each condition's participants, shape (r, n); slopes that are not determined are NaN.
        """
        width, r = self.q + 1, len(weights[0])
        within, means = np.zeros((r, width, width)), np.zeros((r, len(self.sizes), width))
        for index, (own, products) in enumerate(zip(weights, self.products, strict=True)):
            sums = own @ products
            first = sums[:, 1 : 1 + width]
            means[:, index] = first / sums[:, :1]
            within += sums[:, 1 + width :].reshape(r, width, width) - first[:, :, None] * means[:, index][:, None, :]
        left, right = within[:, : self.q, : self.q], within[:, : self.q, self.q]
        is_determined = np.linalg.det(left) > 1e-9 * np.prod(np.diagonal(left, axis1=1, axis2=2), axis=1)
        is_determined &= np.diagonal(left, axis1=1, axis2=2).min(axis=1) > 1e-9
        slopes = np.full((r, self.q), np.nan)
        slopes[is_determined] = np.linalg.solve(left[is_determined], right[is_determined][..., None])[..., 0]
        return slopes / self.scale[: self.q], means * self.scale + self.offset


def _resampled(moments: _Moments, resamples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    slopes, means, n_drawn = [], [], 0
    while n_drawn < resamples:
        r = min(resamples - n_drawn, max(CHUNK // sum(moments.sizes), 1))
        own_slopes, own_means = moments.at([_counts(n, r, rng) for n in moments.sizes])
        is_determined = ~np.isnan(own_slopes).any(axis=1)
        slopes.append(own_slopes[is_determined])
        means.append(own_means[is_determined])
        n_drawn += int(is_determined.sum())
    return np.concatenate(slopes), np.concatenate(means)


def _counts(n: int, r: int, rng: np.random.Generator) -> Floats:
    """How often each of n participants is in r resamples of n of them, shape (r, n)."""
    chosen = rng.integers(0, n, (r, n)) + n * np.arange(r)[:, np.newaxis]
    return np.bincount(chosen.ravel(), minlength=r * n).reshape(r, n).astype(np.float64)


def _parts(slopes: Floats, means: Floats, a: int, b: int) -> tuple[Floats, Floats]:
    """Differences of mediators and outcome, shape (r, q + 1), and indirect parts, shape (r, q)."""
    differences = means[:, a] - means[:, b]
    return differences, differences[:, :-1] * slopes
