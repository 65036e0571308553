r"""The cumulative link model of ordered answers: the check of single five-step answers that takes no means.

statsmodels fits it. What it does not offer is here: the test of proportional odds, comparisons of every pair, predicted
shares, errors of the thresholds on their own scale, and why there is no fit.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from inference.corrections import decided
from inference.groups import Groups, GroupValues, Number, exact, in_words
from inference.results import Floats, Integers, Pair, PairwiseResult, Undefined
from inference.t_tests import t_test

ORDINAL_HOLM = "Ordinal model, Wald-Holm"
MOST_CATEGORIES = 60
LARGEST_GRADIENT = 1e-6  # of the log likelihood of one answer, at a maximum


@dataclass(frozen=True)
class Threshold:
    """The border between two neighbouring answers, on the latent scale."""

    between: tuple[float, float]
    estimate: float
    se: float


@dataclass(frozen=True)
class OrdinalEffect:
    """A condition beside the reference."""

    condition: str
    estimate: float  # shift on the latent scale, log odds, positive for higher answers
    se: float
    z: float  # Wald's statistic, with its `p`
    p: float
    ci_low: float  # 95 % interval of the shift
    ci_high: float
    odds_ratio: float | None  # odds of a higher answer over those of the reference


@dataclass(frozen=True)
class OrdinalResult:
    """A cumulative link model with one effect a condition."""

    link: str  # "logit" (proportional odds)
    reference: str  # the condition whose shift is 0: the first with answers
    categories: tuple[float, ...]  # the answers that were given, ascending
    empty_categories: tuple[float, ...]  # points of the scale without answers: their thresholds cannot be estimated
    counts: dict[str, tuple[int, ...]]  # answers in each category by condition
    thresholds: tuple[Threshold, ...]  # one fewer than the categories
    effects: tuple[OrdinalEffect, ...]  # every condition but the reference, in the order of the data
    log_likelihood: float
    log_likelihood_null: float  # that of a model without conditions
    lr: float  # likelihood ratio test of all conditions together, with `df` and `p`
    df: int
    p: float
    # The same against a model in which every border has shifts of its own (nominal effects): a small p says that one
    # shift a condition is too few. None with two categories, where the two models are one.
    proportional_lr: float | None
    proportional_df: int | None
    proportional_p: float | None
    shares: dict[str, tuple[float, ...]]  # predicted share of each category by condition
    pairs: PairwiseResult  # differences of shifts between every two conditions, with Wald's p adjusted by Holm
    n: int  # answers
    left_out: tuple[str, ...]  # conditions without answers


def cumulative_link(
    groups: GroupValues, scale: Sequence[Number] = (), alpha: float = 0.05
) -> OrdinalResult | Undefined:
    r"""Fit a cumulative logit model to ordered answers, of which only the order counts.

    .. math:: \mathrm{logit}\big(P(Y \le j \mid c)\big) = \theta_j - \beta_c

    `scale` holds all points of the scale, to report those without answers; `alpha` is the level of the family of all
    pairs. Undefined with fewer than two conditions, with fewer than two different answers or more than
    `MOST_CATEGORIES`, or where the answers separate the conditions, so that a shift would be infinite. Raises DataError
    for answers that are not finite numbers. Sources: McCullagh (1980), Journal of the Royal Statistical Society B
    42(2):109-142; when no maximum exists, Albert & Anderson (1984), Biometrika 71(1):1-10.

    Examples
    --------
    >>> result = cumulative_link({"A": [1, 2, 2, 3, 3], "B": [2, 3, 3, 1, 3]})
    >>> result.thresholds[0].between, round(result.effects[0].estimate, 3), round(result.p, 3)
    ((1.0, 2.0), 0.58, 0.631)
    """
    from scipy import special

    read = Groups.read(groups)
    names, left_out = read.names, read.left_out
    if len(names) < 2:
        return Undefined(f"A comparison needs two conditions with answers; there are {len(names)}.")
    # Only points with answers: the threshold beside an empty one has no finite estimate.
    points = sorted({point for group in read.members for point in group.points})
    if len(points) < 2:
        return Undefined("All participants gave the same answer: nothing to compare.")
    if len(points) > MOST_CATEGORIES:
        return Undefined(
            f"There are {len(points)} different answers; the model takes at most {MOST_CATEGORIES}. Compare the "
            "means of so fine a scale."
        )
    counts = np.array([[group.points.count(point) for point in points] for group in read.members])
    categories = [Fraction(point, read.members[0].scale) for point in points]
    reason = _why_separated(names, counts, categories)
    if reason:
        return Undefined(reason)
    fit = _fitted(counts)
    if fit is None:
        return Undefined("The maximum likelihood fit did not converge.")
    empty = tuple(float(value) for value in map(exact, scale) if value not in categories)
    k, n_categories = counts.shape
    errors = np.sqrt(np.diag(fit.covariance))
    values = tuple(float(value) for value in categories)
    effects = []
    for row in range(1, k):
        estimate, se = float(fit.shifts[row]), float(errors[n_categories - 1 + row - 1])
        p, interval = t_test(estimate, se, math.inf)
        # Beyond 709 the exponential overflows; a shift of that size is as good as infinite either way.
        odds = math.exp(min(estimate, 700.0))
        effects.append(
            OrdinalEffect(names[row], estimate, se, estimate / se, p, interval.low, interval.high, odds_ratio=odds)
        )
    null, saturated = _log_likelihood(counts.sum(axis=0)[None, :]), _log_likelihood(counts)
    # The model contains the null model; less than 0 is the tolerance of the fit.
    lr = max(0.0, 2 * (fit.log_likelihood - null))
    proportional_df = (k - 1) * (n_categories - 2)
    proportional = max(0.0, 2 * (saturated - fit.log_likelihood)) if proportional_df else None
    below = special.expit(fit.thresholds[None, :] - fit.shifts[:, None])
    shares = np.diff(np.hstack([np.zeros((k, 1)), below, np.ones((k, 1))]), axis=1)
    return OrdinalResult(
        link="logit",
        reference=names[0],
        categories=values,
        empty_categories=empty,
        counts={name: tuple(row.tolist()) for name, row in zip(names, counts, strict=True)},
        thresholds=tuple(
            Threshold((values[j], values[j + 1]), float(fit.thresholds[j]), float(errors[j]))
            for j in range(n_categories - 1)
        ),
        effects=tuple(effects),
        log_likelihood=fit.log_likelihood,
        log_likelihood_null=null,
        lr=lr,
        df=k - 1,
        p=float(special.chdtrc(k - 1, lr)),
        proportional_lr=proportional,
        proportional_df=proportional_df or None,
        proportional_p=None if proportional is None else float(special.chdtrc(proportional_df, proportional)),
        shares={name: tuple(row.tolist()) for name, row in zip(names, shares, strict=True)},
        pairs=_pairs(fit, names, counts, left_out, alpha),
        n=int(counts.sum()),
        left_out=left_out,
    )


def _log_likelihood(counts: Integers) -> float:
    """Log likelihood of every row's own shares: without conditions one row, saturated a row a condition."""
    from scipy import special

    totals = counts.sum(axis=1, keepdims=True)
    return float(special.xlogy(counts, counts / totals).sum())


def _pairs(
    fit: _LinkFit, names: Sequence[str], counts: Integers, left_out: tuple[str, ...], alpha: float
) -> PairwiseResult:
    """Differences of shifts with Wald's test, adjusted as one family by Holm."""
    # The reference's shift is 0.
    # The reference's shift is fixed, so it varies with nothing.
    covariance = np.pad(fit.covariance[len(fit.thresholds) :, len(fit.thresholds) :], (1, 0))
    pairs = []
    for a, b in combinations(range(len(names)), 2):
        difference = float(fit.shifts[a] - fit.shifts[b])
        se = math.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b])
        z, (p, _interval) = difference / se, t_test(difference, se, math.inf)
        pairs.append(Pair(names[a], names[b], difference, None, False, statistic=z, se=se, p_unadjusted=p))
    return PairwiseResult(
        test=ORDINAL_HOLM,
        alpha=alpha,
        pairs=decided(pairs, alpha),
        locations={name: float(shift) for name, shift in zip(names, fit.shifts, strict=True)},
        n={name: int(row.sum()) for name, row in zip(names, counts, strict=True)},
        left_out=left_out,
    )


@dataclass(frozen=True)
class _LinkFit:
    shifts: Floats  # shape (n_conditions,); on the latent scale, the reference's 0 among them
    thresholds: Floats  # shape (n_categories - 1,); borders between neighbouring answers on the same scale, ascending
    covariance: Floats  # of the thresholds, and of the shifts without the reference's, in that order
    log_likelihood: float  # of all answers


def _fitted(counts: Integers) -> _LinkFit | None:
    """Fit one effect a condition by maximum likelihood; None where the fit did not reach a maximum.

    `counts` of shape (n_conditions, n_categories) holds the answers in each category, the reference's row first,
    without a row or a column of zeros. statsmodels keeps the steps between thresholds as logarithms; the covariance
    comes back to the latent scale by the delta method.
    """
    from statsmodels.miscmodels import ordinal_model

    k, n_categories = counts.shape
    condition, category = (np.repeat(indices, counts.ravel()) for indices in map(np.ravel, np.indices(counts.shape)))
    design = (condition[:, None] == np.arange(1, k)).astype(np.float64)
    model: Any = ordinal_model.OrderedModel(category, design, distr="logit")
    with warnings.catch_warnings():
        # BFGS may warn of lost precision where it has arrived; the gradient says whether it has.
        warnings.simplefilter("ignore")
        estimate = model.fit(method="bfgs", gtol=1e-9, maxiter=2000, disp=False)
    params, gradient = np.asarray(estimate.params), np.abs(model.score(np.asarray(estimate.params))).max()
    # The model keeps its first threshold, and the logarithms of the steps to the others: errors by the delta method.
    steps = np.exp(params[k:])
    thresholds = np.asarray(model.transform_threshold_params(params), dtype=np.float64)[1:-1]
    change = np.tril(np.tile(np.concatenate([[1.0], steps]), (n_categories - 1, 1)))
    whole = np.zeros((len(params), len(params)))
    whole[: n_categories - 1, k - 1 :] = change
    whole[n_categories - 1 :, : k - 1] = np.eye(k - 1)
    covariance = whole @ np.asarray(estimate.cov_params()) @ whole.T
    is_sound = np.isfinite(params).all() and np.isfinite(covariance).all() and (np.diag(covariance) > 0).all()
    # Per answer, so that large samples are not held to a stricter rule than small ones.
    if not is_sound or gradient / len(category) > LARGEST_GRADIENT:
        return None
    return _LinkFit(np.concatenate([[0.0], params[: k - 1]]), thresholds, covariance, float(estimate.llf))


def _why_separated(names: Sequence[str], counts: Integers, categories: Sequence[Fraction]) -> str:
    """Say in a sentence why the likelihood of such `counts` has no maximum; "" where it has one.

    A condition ties together the borders between its lowest and its highest answer. Where the conditions do not tie all
    borders into one piece, pushing the pieces apart raises the likelihood for ever; and so does pushing away a
    condition whose answers all stand at one end of the scale. `categories` are the answers that were given, ascending.
    Source: Albert & Anderson (1984), Biometrika 71(1):1-10.

    Examples
    --------
    >>> _why_separated(["A", "B"], np.array([[2, 0], [1, 1]]), [Fraction(1), Fraction(2)])
    'Everyone in A gave the lowest answer that occurs, 1: its effect would be infinite.'
    """
    lows = [int(np.flatnonzero(row)[0]) for row in counts]
    highs = [int(np.flatnonzero(row)[-1]) for row in counts]
    last = len(categories) - 1
    at_end = {0: "lowest", last: "highest"}
    ends = [
        f"Everyone in {name} gave the {at_end[low]} answer that occurs, {float(categories[low]):g}"
        for name, low, high in zip(names, lows, highs, strict=True)
        if low == high and low in at_end
    ]
    if ends:
        return f"{'; '.join(ends)}: its effect would be infinite."
    reached = {0}
    grown = True
    while grown:
        spans = [range(low, high) for low, high in zip(lows, highs, strict=True)]
        wider = reached.union(*(span for span in spans if reached.intersection(span)))
        grown, reached = wider != reached, wider
    if len(reached) == last:
        return ""
    below = [name for name, high in zip(names, highs, strict=True) if high in reached or high - 1 in reached]
    above = [name for name in names if name not in below]
    return (
        f"No answer of {in_words(below)} is above an answer of {in_words(above)}: they are separated, and their "
        "effect would be infinite."
        if above
        else "The answers fall into parts that no condition links: their distance would be infinite."
    )
