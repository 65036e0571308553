r"""Persons and items crossed as random effects: is a difference one of algorithms, or of the few items they show?

.. math:: y_{pi} = \mu_{c(p)} + u_p + v_i + e_{pi}

Everyone in a condition may judge the same five items. Then the mean of the condition is that of these items, and
comparing participants alone says nothing about other items. Here items are a sample too, and a condition carried by
few of them has a wide error. Fitted by restricted maximum likelihood; persons are eliminated in closed form, so the
work grows with the items that were shown, not with the answers.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from inference.corrections import check_alpha, holm
from inference.lazy import linalg, optimize, sparse, special
from inference.results import Interval, Pair, PairwiseResult, Result, Undefined

CROSSED = "Mixed model of persons and items"
CROSSED_HOLM = "Mixed model, Wald-Holm"
CONFIDENCE = 0.95
MOST_ITEMS = 2000  # the work grows with their cube: beyond, it is minutes
LARGEST_RATIO = 1e3  # of a random effect's standard deviation to the residual's
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ConditionEstimate(Result):
    """The mean of a condition over other persons and other items.

    Attributes
    ----------
    condition : str
        The condition.
    mean, se : float
        In the unit of the answers; the error holds both samples.
    interval : Interval
        95 %, by the normal distribution.
    n_answers, n_persons, n_items : int
        What it stands on.
    """

    condition: str
    mean: float
    se: float
    interval: Interval
    n_answers: int
    n_persons: int
    n_items: int


@dataclass(frozen=True)
class CrossedResult(Result):
    """A mixed model with persons and items crossed as random effects.

    Attributes
    ----------
    conditions : tuple of ConditionEstimate
        In the order of the data.
    sd_persons, sd_items, sd_residual : float
        Standard deviations of the random effects and of what is left, in the unit of the answers; 0 where the data
        ask for none.
    share_persons, share_items, share_residual : float
        The same as shares of variance.
    chi_squared, df, p : float, int, float
        Wald's test of all conditions together.
    pairs : PairwiseResult
        Differences of every two conditions with Wald's p adjusted by Holm.
    log_likelihood : float
        Restricted, at the maximum.
    n_answers, n_persons, n_items : int
        All of the data.
    left_out : tuple of str
        Conditions without answers.
    """

    conditions: tuple[ConditionEstimate, ...]
    sd_persons: float
    sd_items: float
    sd_residual: float
    share_persons: float
    share_items: float
    share_residual: float
    chi_squared: float
    df: int
    p: float
    pairs: PairwiseResult
    log_likelihood: float
    n_answers: int
    n_persons: int
    n_items: int
    left_out: tuple[str, ...]


def crossed_model(
    values: Sequence[float],
    conditions: Sequence[str],
    persons: Sequence[Hashable],
    items: Sequence[Hashable],
    names: Sequence[str] = (),
    alpha: float = 0.05,
) -> CrossedResult | Undefined:
    """Fit answers by condition, with persons and items as crossed random effects.

    Parameters
    ----------
    values : sequence of float, shape (n_answers,)
        Answers, finite.
    conditions, persons, items : sequences, shape (n_answers,)
        Of each answer its condition, person and item. A person belongs to one condition.
    names : sequence of str
        The conditions in the order wished; those of the data in order of appearance unless given.
    alpha : float
        Level of the family of all pairs, in (0, 1).

    Returns
    -------
    CrossedResult or Undefined
        Undefined with fewer than two conditions with answers, with answers that are all equal within conditions, with
        one answer a person (persons and residual cannot be told apart), where every item was answered about once, or
        with more than 2,000 items.

    Raises
    ------
    ParameterError, DataError
        `alpha` outside (0, 1); sequences of unequal length, values that are not finite, or a person in two conditions.

    References
    ----------
    Baayen, Davidson & Bates (2008), Journal of Memory and Language 59(4):390-412. Profiled restricted likelihood:
    Bates et al. (2015), Journal of Statistical Software 67(1), section 3.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> person, item = np.repeat(np.arange(20), 4), np.tile(np.arange(4), 20)
    >>> values = rng.normal(0, 1, 20)[person] + np.array([0.0, 1.0, 2.0, 3.0])[item] + rng.normal(0, 0.5, 80)
    >>> result = crossed_model(values, np.where(person < 10, "A", "B"), person, item)
    >>> round(result.sd_items, 1), result.n_items, result.df
    (1.3, 4, 1)
    """
    check_alpha(alpha)
    read = _read(values, conditions, persons, items, names)
    if isinstance(read, Undefined):
        return read
    found = _Profile(read)
    started = optimize.minimize(
        found.deviance, np.array([0.5, 0.5]), method="L-BFGS-B", bounds=[(0.0, LARGEST_RATIO)] * 2,
        options={"ftol": 1e-13, "gtol": 1e-6},
    )  # fmt: skip
    ratios = np.where(started.x < 1e-5, 0.0, started.x)  # a hair above none is none
    return _result(read, found, ratios, alpha)


@dataclass(frozen=True)
class _Answers:
    """Answers with whole numbers for condition, person and item."""

    values: Floats
    condition: NDArray[np.int64]
    person: NDArray[np.int64]
    item: NDArray[np.int64]
    names: tuple[str, ...]
    left_out: tuple[str, ...]


def _read(
    values: Sequence[float],
    conditions: Sequence[str],
    persons: Sequence[Hashable],
    items: Sequence[Hashable],
    names: Sequence[str],
) -> _Answers | Undefined:
    array = np.asarray(values, dtype=np.float64)
    labels = [str(one) for one in conditions]
    if not array.ndim == 1 or not len(array) == len(labels) == len(persons) == len(items):
        raise DataError("Every answer has one condition, one person and one item.")
    if not np.isfinite(array).all():
        raise DataError("An answer is not a finite number: leave missing answers out first.")
    wished = list(names) or list(dict.fromkeys(labels))
    present = [name for name in wished if name in set(labels)]
    left_out = tuple(name for name in wished if name not in present)
    if len(present) < 2:
        return Undefined(f"A comparison needs two conditions with answers; there are {len(present)}.", CROSSED)
    if unknown := set(labels) - set(present):
        raise DataError(f"Answers of conditions that were not asked for: {', '.join(sorted(unknown))}.")
    condition = np.array([present.index(label) for label in labels], dtype=np.int64)
    person, item = _numbered(persons), _numbered(items)
    if len(set(zip(person.tolist(), condition.tolist(), strict=True))) != person.max() + 1:
        raise DataError("A person has answers in two conditions: here everyone belongs to one.")
    n_persons, n_items = int(person.max()) + 1, int(item.max()) + 1
    if len(array) == n_persons:
        return Undefined("Every person answered about one item: persons and chance cannot be told apart.", CROSSED)
    if n_items < 2 or len(array) == n_items:
        return Undefined("The items are not shared between persons: their part cannot be told apart.", CROSSED)
    if n_items > MOST_ITEMS:
        return Undefined(f"There are {n_items:,} items, and the fit is made for up to {MOST_ITEMS:,}.", CROSSED)
    if all(np.ptp(array[condition == place]) == 0 for place in range(len(present))):
        return Undefined("Within every condition all answers are equal: there is no spread to take apart.", CROSSED)
    return _Answers(array, condition, person, item, tuple(present), left_out)


def _numbered(keys: Sequence[Hashable]) -> NDArray[np.int64]:
    number: dict[Hashable, int] = {}
    return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)


class _Profile:
    """The restricted deviance as a function of the two ratios of standard deviations to the residual's.

    With persons' ratio a, a person of n answers has the inverse covariance I - w 1 1', w = a² / (1 + n a²). So sums
    over answers become those of plain cross-products less those of persons' sums, weighted by w; persons of as many
    answers share their w, and the sums are taken once.
    """

    def __init__(self, read: _Answers) -> None:
        k, n_items = len(read.names), int(read.item.max()) + 1
        self.n, self.k, self.n_items = len(read.values), k, n_items
        centred = read.values - read.values.mean()
        self.shift = float(read.values.mean())
        sizes = np.bincount(read.person)
        own = np.zeros((len(sizes), k + 1))  # persons' sums of the design and of the answers
        np.add.at(own, (read.person, read.condition), 1.0)
        own[:, k] = np.bincount(read.person, centred)
        self.plain = np.zeros((k + 1, k + 1))
        self.plain[range(k), range(k)] = np.bincount(read.condition, minlength=k)
        self.plain[k, :k] = self.plain[:k, k] = np.bincount(read.condition, centred, minlength=k)
        self.plain[k, k] = float(centred @ centred)
        self.of_items = np.zeros((n_items, k + 1))
        np.add.at(self.of_items, (read.item, read.condition), 1.0)
        self.of_items[:, k] = np.bincount(read.item, centred, minlength=n_items)
        self.counts = np.bincount(read.item, minlength=n_items).astype(np.float64)
        self.parts: list[tuple[int, int, Floats, Floats, Floats]] = []
        met = sparse.csr_array((np.ones(self.n), (read.person, read.item)), shape=(len(sizes), n_items))
        for size in np.unique(sizes):
            chosen = np.flatnonzero(sizes == size)
            meeting, sums = met[chosen], own[chosen]
            together = np.asarray((meeting.T @ meeting).todense(), dtype=np.float64)
            met_sums = np.asarray(meeting.T @ sums, dtype=np.float64)
            self.parts.append((int(size), len(chosen), sums.T @ sums, met_sums, together))

    def deviance(self, ratios: Floats) -> float:
        """Minus twice the restricted log likelihood, the residual variance at its best."""
        return self.solved(ratios)[0]

    def solved(self, ratios: Floats) -> tuple[float, Floats, Floats, float]:
        """The deviance with the conditions' means, their covariance over the residual variance, and that variance."""
        a2, b2 = float(ratios[0]) ** 2, float(ratios[1]) ** 2
        products, crossed, log_determinant = self.plain.copy(), self.of_items.copy(), 0.0
        inner = np.diag(self.counts)
        for size, n, sums, met_sums, together in self.parts:
            weight = a2 / (1 + size * a2)
            products -= weight * sums
            crossed -= weight * met_sums
            inner -= weight * together
            log_determinant += n * math.log1p(size * a2)
        if b2 > 0:
            inner *= b2
            inner[np.diag_indices_from(inner)] += 1.0
            factor = linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
            log_determinant += 2 * float(np.log(np.diag(factor)).sum())
            half = linalg.solve_triangular(factor, crossed, lower=True, check_finite=False)
            products -= b2 * (half.T @ half)
        k = self.k
        design = linalg.cholesky(products[:k, :k], lower=True)
        log_determinant += 2 * float(np.log(np.diag(design)).sum())
        means = linalg.cho_solve((design, True), products[:k, k])
        df = self.n - k
        variance = max(float(products[k, k] - products[:k, k] @ means), 1e-300) / df
        value = df * (math.log(2 * math.pi * variance) + 1) + log_determinant
        return value, means, linalg.cho_solve((design, True), np.eye(k)), variance


def _result(read: _Answers, found: _Profile, ratios: Floats, alpha: float) -> CrossedResult:
    value, means, covariance, variance = found.solved(ratios)
    means, covariance = means + found.shift, covariance * variance
    k, half = len(read.names), float(special.ndtri((1 + CONFIDENCE) / 2))
    estimates = []
    for place, name in enumerate(read.names):
        here = read.condition == place
        mean, se = float(means[place]), math.sqrt(covariance[place, place])
        estimates.append(
            ConditionEstimate(
                condition=name,
                mean=mean,
                se=se,
                interval=Interval(mean - half * se, mean + half * se),
                n_answers=int(here.sum()),
                n_persons=len(np.unique(read.person[here])),
                n_items=len(np.unique(read.item[here])),
            )
        )
    contrasts = np.eye(k)[1:] - np.eye(k)[:1]
    differences = contrasts @ means
    chi_squared = float(differences @ np.linalg.solve(contrasts @ covariance @ contrasts.T, differences))
    parts = np.array([ratios[0] ** 2, ratios[1] ** 2, 1.0])
    shares = parts / parts.sum()
    return CrossedResult(
        conditions=tuple(estimates),
        sd_persons=float(ratios[0]) * math.sqrt(variance),
        sd_items=float(ratios[1]) * math.sqrt(variance),
        sd_residual=math.sqrt(variance),
        share_persons=float(shares[0]),
        share_items=float(shares[1]),
        share_residual=float(shares[2]),
        chi_squared=chi_squared,
        df=k - 1,
        p=float(special.chdtrc(k - 1, chi_squared)),
        pairs=_pairs(estimates, covariance, read.left_out, alpha),
        log_likelihood=-value / 2,
        n_answers=found.n,
        n_persons=int(read.person.max()) + 1,
        n_items=found.n_items,
        left_out=read.left_out,
    )


def _pairs(
    estimates: Sequence[ConditionEstimate], covariance: Floats, left_out: tuple[str, ...], alpha: float
) -> PairwiseResult:
    compared = []
    for a, b in combinations(range(len(estimates)), 2):
        difference = estimates[a].mean - estimates[b].mean
        se = math.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b])
        z = difference / se
        compared.append((a, b, difference, se, z, 2 * float(special.ndtr(-abs(z)))))
    adjusted = holm([p for *_, p in compared])
    return PairwiseResult(
        test=CROSSED_HOLM,
        alpha=alpha,
        pairs=tuple(
            Pair(
                estimates[a].condition, estimates[b].condition, difference, p, p < alpha, statistic=z, se=se,
                p_unadjusted=alone,
            )
            for (a, b, difference, se, z, alone), p in zip(compared, adjusted, strict=True)
        ),
        location_name="mean",
        locations={one.condition: one.mean for one in estimates},
        n={one.condition: one.n_persons for one in estimates},
        left_out=left_out,
    )  # fmt: skip
