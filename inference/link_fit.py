"""The fit of a cumulative link model, and the reasons where it has no maximum.

statsmodels fits it. What it does not offer is here: errors of the thresholds on their own scale, and why there is
no fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference.groups import in_words

LARGEST_GRADIENT = 1e-6  # of the log likelihood of one answer, at a maximum
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinkFit:
    """A model at its maximum."""

    shifts: Floats  # shape (n_conditions,); on the latent scale, the reference's 0 among them
    thresholds: Floats  # shape (n_categories - 1,); borders between neighbouring answers on the same scale, ascending
    covariance: Floats  # of the thresholds, and of the shifts without the reference's, in that order
    log_likelihood: float  # of all answers


def fitted(counts: NDArray[np.int64], link: str) -> LinkFit | None:
    """Fit one effect a condition by maximum likelihood; None where the fit did not reach a maximum.

    `counts` of shape (n_conditions, n_categories) holds the answers in each category, the reference's row first,
    without a row or a column of zeros. statsmodels keeps the steps between thresholds as logarithms; the covariance
    comes back to the latent scale by the delta method. Source: McCullagh (1980), Journal of the Royal Statistical
    Society B 42(2):109-142.

    Examples
    --------
    >>> found = fitted(np.array([[1, 2, 2], [1, 1, 3]]), "logit")
    >>> found.shifts.round(3).tolist()
    [0.0, 0.58]
    """
    from statsmodels.miscmodels import ordinal_model

    k, n_categories = counts.shape
    condition, category = (np.repeat(indices, counts.ravel()) for indices in map(np.ravel, np.indices(counts.shape)))
    design = (condition[:, None] == np.arange(1, k)).astype(np.float64)
    model: Any = ordinal_model.OrderedModel(category, design, distr=link)
    with warnings.catch_warnings():
        # BFGS may warn of lost precision where it has arrived; the gradient says whether it has.
        warnings.simplefilter("ignore")
        estimate = model.fit(method="bfgs", gtol=1e-9, maxiter=2000, disp=False)
    params, gradient = np.asarray(estimate.params), np.abs(model.score(np.asarray(estimate.params))).max()
    # The model keeps its first threshold, and the logarithms of the steps to the others: errors by the delta method.
    steps = np.exp(params[k:])
    thresholds = np.asarray(model.transform_threshold_params(params), dtype=np.float64)[1:-1]
    change = np.zeros((n_categories - 1, n_categories - 1))
    change[:, 0] = 1.0
    for step in range(1, n_categories - 1):
        change[step:, step] = steps[step - 1]
    whole = np.zeros((len(params), len(params)))
    whole[: n_categories - 1, k - 1 :] = change
    whole[n_categories - 1 :, : k - 1] = np.eye(k - 1)
    covariance = whole @ np.asarray(estimate.cov_params()) @ whole.T
    is_sound = np.isfinite(params).all() and np.isfinite(covariance).all() and (np.diag(covariance) > 0).all()
    if not is_sound or gradient / len(category) > LARGEST_GRADIENT:
        return None
    return LinkFit(np.concatenate([[0.0], params[: k - 1]]), thresholds, covariance, float(estimate.llf))


def why_separated(names: Sequence[str], counts: NDArray[np.int64], categories: Sequence[Fraction]) -> str:
    """Say in a sentence why the likelihood of such `counts` has no maximum; "" where it has one.

    A condition ties together the borders between its lowest and its highest answer. Where the conditions do not tie all
    borders into one piece, pushing the pieces apart raises the likelihood for ever; and so does pushing away a
    condition whose answers all stand at one end of the scale. `categories` are the answers that were given, ascending.
    Source: Albert & Anderson (1984), Biometrika 71(1):1-10.

    Examples
    --------
    >>> why_separated(["A", "B"], np.array([[2, 0], [1, 1]]), [Fraction(1), Fraction(2)])
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
