r"""Ratings of items with covariates of participants or of single answers beside the conditions.

.. math:: y_{pi} = \mu_{c(p)} + x_{pi}' \beta + u_p + v_{c(p)i} + e_{pi}

Variances are those of the mixed model with items nested in conditions. Means and slopes are those of least squares with
equal weights of participants, so that without covariates they are the observed means of `inference.item_effects`; their
errors follow from the fitted variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from inference.covariates import Covariate, UnusedCovariate, blocks_of
from inference.item_effects import ItemAnswers, ItemEffectsResult, ItemFit, nested_design, read_answers
from inference.results import Interval, Undefined
from inference.satterthwaite import observed_estimates
from inference.variance_components import RestrictedLikelihood

SMALLEST = 1e-12  # residual variance below this share of the variance of all answers is none


@dataclass(frozen=True)
class Slope:
    """How much a rating changes with one unit of a covariate, other things in the model equal."""

    name: str
    estimate: float
    se: float
    df: float
    p: float
    interval: Interval  # 95%


@dataclass(frozen=True)
class AdjustedItems:
    """The model with items nested in conditions, at the means of the covariates."""

    model: ItemEffectsResult
    slopes: tuple[Slope, ...]  # of covariates that are numbers
    unused: tuple[UnusedCovariate, ...]


def adjusted_items(
    answers: ItemAnswers, covariates: Sequence[Covariate], *, alpha: float = 0.05
) -> AdjustedItems | Undefined:
    """Compare means of conditions at equal covariates; a covariate has one value for each answer.

    The variances are those of R's ``lmer(value ~ condition + covariates + (1 | person) + (1 | condition:item))``.
    Undefined and errors as in `inference.item_effects.fit_items`, and undefined without a usable covariate.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> person, item, seen = np.repeat(np.arange(20), 4), np.tile(np.arange(4), 20), rng.integers(0, 2, 80)
    >>> values = rng.normal(0, 1, 20)[person] + 2 * seen + rng.normal(0, 1, 4)[item] + rng.normal(0, 0.3, 80)
    >>> answers = ItemAnswers(values, np.where(person < 10, "A", "B"), person, item)
    >>> round(adjusted_items(answers, [Covariate("seen", seen.tolist())]).slopes[0].estimate, 1)
    2.0
    """
    read = read_answers(answers)
    if isinstance(read, Undefined):
        return read
    design = nested_design(read)
    if isinstance(design, Undefined):
        return design
    blocks = blocks_of(covariates, read.condition)
    if not blocks.used:
        reasons = " ".join(f"{unused.name}: {unused.reason}" for unused in blocks.unused)
        return Undefined(f"There is no covariate to adjust for. {reasons}".strip())
    design = replace(design, covariates=blocks.columns(len(read.values)))
    likelihood = RestrictedLikelihood(design)
    if likelihood.df < 1:
        return Undefined("The covariates leave no residual degrees of freedom.")
    fit = likelihood.maximum()
    if fit.is_at_limit or fit.variance <= SMALLEST * float(read.values.var()):
        return Undefined("Participants, items and covariates reproduce all ratings.")
    estimates, k = observed_estimates(design, likelihood, fit), len(read.names)
    numbers = {covariate.name for covariate in covariates if not any(isinstance(v, str) for v in covariate.values)}
    slopes, column = [], k
    for block in blocks.used:
        if block.name in numbers:
            slopes.append(Slope(block.name, *estimates.test(np.eye(len(estimates.means))[column])))
        column += block.columns.shape[1]
    return AdjustedItems(ItemFit(read, fit, estimates.first(k)).result(alpha), tuple(slopes), blocks.unused)
