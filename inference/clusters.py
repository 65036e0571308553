r"""Conditions compared when participants share an interviewer: a random intercept of clusters.

.. math:: y_{ij} = \mu_{c(ij)} + v_j + e_{ij}

The variance of the intercepts is estimated by restricted maximum likelihood. Clusters may meet several conditions, or
belong to one each; in the latter case a comparison has few degrees of freedom, as it should.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from inference.ancova import Estimate, FTest, ParticipantValues, estimates_of, read_conditions
from inference.covariates import numbered
from inference.results import Undefined
from inference.variance_components import LARGEST_RATIO, Design, RestrictedLikelihood, model_estimates


@dataclass(frozen=True)
class ClusterPair:
    """The difference of two conditions, `a` minus `b`."""

    a: str
    b: str
    estimate: Estimate


@dataclass(frozen=True)
class ClusterResult:
    """Conditions compared with a random intercept of clusters."""

    n: int
    n_clusters: int
    sd_clusters: float  # in the unit of the values, as the next
    sd_residual: float
    icc: float  # share of the clusters in the variance within conditions
    likelihood_ratio: float  # of the cluster variance, restricted
    p_clusters: float  # by an equal mixture of χ² with 0 and 1 degrees of freedom
    test: FTest  # of all conditions, with Satterthwaite's degrees of freedom
    pairs: tuple[ClusterPair, ...]
    log_likelihood: float  # restricted
    left_out: tuple[str, ...]  # conditions without participants


def clustered(
    data: ParticipantValues, clusters: Sequence[Hashable], *, alpha: float = 0.05
) -> ClusterResult | Undefined:
    """Fit R's ``lmer(value ~ condition + (1 | cluster))``; the covariates of `data` are not used.

    Undefined with fewer than two conditions or two clusters, with one participant in every cluster, with as many
    clusters as conditions where each has one, without variance within conditions or without residual variance. Raises
    DataError for values that are not finite. Sources: Bates et al. (2015), Journal of Statistical Software 67(1); for
    the mixture Self & Liang (1987), Journal of the American Statistical Association 82(398):605-610.

    Examples
    --------
    >>> values = [1, 2, 1, 2, 4, 5, 4, 5.5]
    >>> data = ParticipantValues(values, ["A", "B"] * 4, ())
    >>> round(clustered(data, [1, 1, 1, 1, 2, 2, 2, 2]).icc, 2)
    0.99
    """
    from scipy import special

    names, condition, values, left_out = read_conditions(data)
    cluster = numbered(clusters)
    if reason := _why_not(len(names), condition.tolist(), cluster.tolist()):
        return Undefined(reason)
    if all(np.ptp(values[condition == index]) == 0 for index in range(len(names))):
        return Undefined("Within every condition all values are equal: there is no variance to partition.")
    likelihood = RestrictedLikelihood(
        Design(values, condition, np.arange(len(values)), cluster, np.zeros_like(condition))
    )
    fit = likelihood.maximum_of_one(1)
    if fit.is_at_limit:
        return Undefined("Interviewers and conditions reproduce all values: there is no residual variance.")
    estimates, k, ratio = model_estimates(likelihood, fit), len(names), min(fit.ratios[1], LARGEST_RATIO)
    f, denominator = estimates.joint(np.eye(k)[1:] - np.eye(k)[:1])
    indexes = list(combinations(range(k), 2))
    pairs = estimates_of([estimates.test(np.eye(k)[a] - np.eye(k)[b]) for a, b in indexes], alpha)
    likelihood_ratio = max(2 * (fit.log_likelihood - likelihood.at((0.0, 0.0)).log_likelihood), 0.0)
    return ClusterResult(
        n=len(values),
        n_clusters=int(cluster.max()) + 1,
        sd_clusters=math.sqrt(fit.variance * ratio),
        sd_residual=math.sqrt(fit.variance),
        icc=ratio / (1 + ratio),
        likelihood_ratio=likelihood_ratio,
        p_clusters=float(special.chdtrc(1, likelihood_ratio)) / 2 if likelihood_ratio > 0 else 1.0,
        test=FTest(f, k - 1, denominator, float(special.fdtrc(k - 1, denominator, f))),
        pairs=tuple(ClusterPair(names[a], names[b], pair) for (a, b), pair in zip(indexes, pairs, strict=True)),
        log_likelihood=fit.log_likelihood,
        left_out=left_out,
    )


def _why_not(k: int, condition: Sequence[int], cluster: Sequence[int]) -> str:
    n_clusters, n_cells = len(set(cluster)), len(set(zip(condition, cluster, strict=True)))
    if k < 2:
        return f"A comparison needs two conditions with participants; there are {k}."
    if n_clusters < 2:
        return "One interviewer led every interview: there is no variance between interviewers."
    if n_clusters == len(cluster):
        return "Every interviewer led one interview: interviewer and residual variance cannot be separated."
    if n_cells == n_clusters <= k:
        return "Every condition has one interviewer: interviewers and conditions cannot be separated."
    return ""
