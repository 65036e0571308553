r"""Participants and items as random effects: is a difference one of algorithms, or of the few items they show?

.. math:: y_{pi} = \mu_{c(p)} + u_p + v_{c(p)i} + e_{pi}

Everyone in a condition may judge the same five items. Then the mean of the condition is that of these items, and
comparing participants alone says nothing about other items. Here items are a sample too, of those that the condition's
algorithm recommends, and a condition carried by few of them has a wide error: would a difference hold with other
participants and other items from the same algorithms? The means are those observed, so items count as often as the
algorithm recommended them.

With covariates of participants or of single answers beside the conditions the model is

.. math:: y_{pi} = \mu_{c(p)} + x_{pi}' \beta + u_p + v_{c(p)i} + e_{pi}

Means and slopes are then those of least squares with equal weights of participants, so that without covariates they are
the observed means; their errors follow from the fitted variances.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from core.errors import DataError
from inference.ancova import ParticipantValues, read_conditions
from inference.average_advantage import MeanEstimates
from inference.corrections import decided
from inference.covariates import Covariate, UnusedCovariate, blocks_of, numbered
from inference.results import Floats, Integers, Interval, Pair, PairwiseResult, Undefined
from inference.variance_components import Design, Estimates, Fit, RestrictedLikelihood, observed_estimates

HOLM = "Mixed model, t-Holm"
SMALLEST = 1e-12  # residual variance below this share of the variance of all answers is none
MOST_LEVELS = 2000  # the work grows with their cube: beyond, it is minutes


@dataclass(frozen=True)
class ConditionEstimate:
    """The mean of a condition over other persons and other items."""

    condition: str  # the condition
    # `mean`, `se`: in the unit of the answers; the error holds both samples.
    mean: float
    se: float
    interval: Interval  # 95%, by Student's t
    # `n_answers`, `n_persons`, `n_items`: size of the sample behind the mean.
    n_answers: int
    n_persons: int
    n_items: int
    # Satterthwaite's degrees of freedom; None in older results, with limits by the normal distribution.
    df: float | None = None


@dataclass(frozen=True)
class ItemPair(Pair):
    """The difference of two conditions; `interval` holds 95% limits of this pair alone, by Student's t."""

    interval: Interval | None = None


@dataclass(frozen=True)
class ItemPairs(PairwiseResult):
    """Every pair of conditions under a model of participants and items."""

    pairs: tuple[ItemPair, ...]


@dataclass(frozen=True)
class ItemEffectsResult:
    """A mixed model with random intercepts of participants and of items nested in conditions."""

    conditions: tuple[ConditionEstimate, ...]  # in the order of the data
    # `sd_persons`, `sd_items`, `sd_residual`: standard deviations of the random effects and of what is left, in the
    # unit of the answers; 0 where the data ask for none.
    sd_persons: float
    sd_items: float
    sd_residual: float
    # `share_persons`, `share_items`, `share_residual`: the same as shares of variance.
    share_persons: float
    share_items: float
    share_residual: float
    # `chi_squared`, `df`, `p`: test of all conditions together: Wald's statistic, F times df, with the p of F.
    chi_squared: float
    df: int
    p: float
    # Differences of every two conditions, t tests with Satterthwaite's degrees of freedom, adjusted by Holm.
    pairs: ItemPairs
    log_likelihood: float  # restricted, at the maximum
    # `n_answers`, `n_persons`, `n_items`: all of the data; an item in two conditions counts once.
    n_answers: int
    n_persons: int
    n_items: int
    left_out: tuple[str, ...]  # conditions without answers
    # Satterthwaite's denominator degrees of freedom of F; None in older results, whose p are by χ² and normal.
    df_denominator: float | None = None

    @property
    def f(self) -> float:
        """F of all conditions together."""
        return self.chi_squared / self.df


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


@dataclass(frozen=True)
class ItemAnswers:
    """Answers to single items; sequences of shape (n_answers,)."""

    values: Sequence[float]  # answers, finite
    # `conditions`, `persons`, `items`: of each answer its condition, person and item. A person belongs to one
    # condition.
    conditions: Sequence[str]
    persons: Sequence[Hashable]
    items: Sequence[Hashable]
    # The conditions in the order wished; those of the data in order of appearance unless given.
    names: Sequence[str] = ()


@dataclass(frozen=True)
class ItemFit:
    """A fitted model of participants and items nested in conditions."""

    read: NumberedAnswers
    fit: Fit
    estimates: Estimates  # of the conditions alone

    @property
    def means(self) -> MeanEstimates:
        """The conditions' means with their covariance over participants and items."""
        return MeanEstimates(self.read.names, self.estimates.means, self.estimates.covariance, self.estimates.df)

    def result(self, alpha: float = 0.05) -> ItemEffectsResult:
        """Every pair of conditions and all of them together."""
        from scipy import special

        read, fit, estimates = self.read, self.fit, self.estimates
        k = len(read.names)
        f, denominator = estimates.joint(np.eye(k)[1:] - np.eye(k)[:1])
        parts = np.array([*fit.ratios, 1.0])
        (sd_persons, sd_items, sd_residual), shares = np.sqrt(fit.variance * parts), parts / parts.sum()
        return ItemEffectsResult(
            conditions=tuple(_estimate(read, index, estimates) for index in range(k)),
            sd_persons=float(sd_persons),
            sd_items=float(sd_items),
            sd_residual=float(sd_residual),
            share_persons=float(shares[0]),
            share_items=float(shares[1]),
            share_residual=float(shares[2]),
            chi_squared=f * (k - 1),
            df=k - 1,
            p=float(special.fdtrc(k - 1, denominator, f)),
            pairs=_pairs(read, estimates, alpha),
            log_likelihood=fit.log_likelihood,
            n_answers=len(read.values),
            n_persons=int(read.person.max()) + 1,
            n_items=int(read.item.max()) + 1,
            left_out=read.left_out,
            df_denominator=denominator,
        )


def fit_items(answers: ItemAnswers) -> ItemFit | Undefined:
    """Compare means of conditions, with participants and items-in-condition as random effects.

    The variances are those of R's ``lmer(value ~ condition + (1 | person) + (1 | condition:item))``. The means are
    observed means over participants, for the reason that `observed_estimates` gives. Undefined with
    fewer than two conditions with answers, with answers that are all equal within conditions or without a residual,
    with one answer per person, with one person or one item in every condition, with items that one person of their
    condition rated, or with more than about 2,000 persons and items. Raises DataError for values that are not finite
    and a person in two conditions. Sources: Clark (1973), Journal of Verbal Learning and Verbal Behavior 12(4):335-359;
    for the profiled restricted likelihood Bates et al. (2015), Journal of Statistical Software 67(1), section 3.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> person, item = np.repeat(np.arange(20), 4), np.tile(np.arange(4), 20)
    >>> values = rng.normal(0, 1, 20)[person] + np.array([0.0, 1.0, 2.0, 3.0])[item] + rng.normal(0, 0.5, 80)
    >>> result = fit_items(ItemAnswers(values, np.where(person < 10, "A", "B"), person, item)).result()
    >>> round(result.sd_items, 1), result.n_items, result.df
    (1.3, 4, 1)
    """
    nested = _nested_design(answers)
    if isinstance(nested, Undefined):
        return nested
    read, design = nested
    likelihood = RestrictedLikelihood(design)
    fit = likelihood.maximum()
    if fit.is_at_limit:
        return Undefined("Participants and items reproduce all ratings: there is no residual variance.")
    return ItemFit(read, fit, observed_estimates(design, likelihood, fit))


def adjusted_items(
    answers: ItemAnswers, covariates: Sequence[Covariate], *, alpha: float = 0.05
) -> AdjustedItems | Undefined:
    """Compare means of conditions at equal covariates; a covariate has one value for each answer.

    The variances are those of R's ``lmer(value ~ condition + covariates + (1 | person) + (1 | condition:item))``.
    Undefined and errors as in `fit_items`, and undefined without a usable covariate.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> person, item, seen = np.repeat(np.arange(20), 4), np.tile(np.arange(4), 20), rng.integers(0, 2, 80)
    >>> values = rng.normal(0, 1, 20)[person] + 2 * seen + rng.normal(0, 1, 4)[item] + rng.normal(0, 0.3, 80)
    >>> answers = ItemAnswers(values, np.where(person < 10, "A", "B"), person, item)
    >>> round(adjusted_items(answers, [Covariate("seen", seen.tolist())]).slopes[0].estimate, 1)
    2.0
    """
    nested = _nested_design(answers)
    if isinstance(nested, Undefined):
        return nested
    read, design = nested
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


def _nested_design(answers: ItemAnswers) -> tuple[NumberedAnswers, Design] | Undefined:
    """The design with an effect of each item in each condition, or why it cannot be fitted."""
    read = read_answers(answers)
    if isinstance(read, Undefined):
        return read
    item = np.unique(read.item + read.condition * (read.item.max() + 1), return_inverse=True)[1]
    design = Design(read.values, read.condition, read.person, item, read.condition)
    reason = _why_inseparable(design, len(read.names))
    return Undefined(reason) if reason else (read, design)


@dataclass(frozen=True)
class NumberedAnswers:
    """Answers with whole numbers for condition, person and item."""

    values: Floats
    condition: Integers
    person: Integers
    item: Integers
    names: tuple[str, ...]
    left_out: tuple[str, ...]


def read_answers(answers: ItemAnswers) -> NumberedAnswers | Undefined:
    """Number conditions, participants and items; errors as in `fit_items`."""
    own = ParticipantValues(answers.values, answers.conditions, (), answers.names)
    names, condition, values, left_out = read_conditions(own)
    if len(names) < 2:
        return Undefined(f"A comparison needs two conditions with answers; there are {len(names)}.")
    person, item = numbered(answers.persons), numbered(answers.items)
    if len(set(zip(person.tolist(), condition.tolist(), strict=True))) != person.max() + 1:
        raise DataError("A person has answers in two conditions; the design is between-subjects.")
    return NumberedAnswers(values, condition, person, item, names, left_out)


def _why_inseparable(design: Design, k: int) -> str:
    """Why these answers cannot be partitioned, or cannot soon; empty where they can."""
    n, n_persons, n_items = len(design.values), int(design.person.max()) + 1, int(design.item.max()) + 1
    if n == n_persons:
        return "Every participant rated one item: participant and residual variance cannot be separated."
    if n == n_items:
        return "The participants of a condition share no items: item and residual variance cannot be separated."
    if n_persons == k:
        return "Every condition has one participant: participants and conditions cannot be separated."
    if len(np.unique(design.item * k + design.condition)) == k:
        return "Every condition shows one item: items and conditions cannot be separated."
    if all(np.ptp(design.values[design.condition == index]) == 0 for index in range(k)):
        return "Within every condition all answers are equal: there is no variance to partition."
    if sum(size**3 for size in design.sizes()) > MOST_LEVELS**3:
        return f"The model is fitted for up to {MOST_LEVELS:,} participants or items; there are more of both."
    return ""


def _estimate(read: NumberedAnswers, index: int, estimates: Estimates) -> ConditionEstimate:
    here = read.condition == index
    mean = estimates.test(np.eye(len(read.names))[index])
    return ConditionEstimate(
        condition=read.names[index],
        mean=mean.value,
        se=mean.se,
        interval=mean.interval,
        n_answers=int(here.sum()),
        n_persons=len(np.unique(read.person[here])),
        n_items=len(np.unique(read.item[here])),
        df=mean.df,
    )


def _pairs(read: NumberedAnswers, estimates: Estimates, alpha: float) -> ItemPairs:
    k, names, pairs = len(read.names), read.names, []
    for a, b in combinations(range(k), 2):
        difference = estimates.test(np.eye(k)[a] - np.eye(k)[b])
        pair = ItemPair(names[a], names[b], difference.value, None, False, interval=difference.interval)
        t = difference.value / difference.se
        pairs.append(replace(pair, statistic=t, df=difference.df, se=difference.se, p_unadjusted=difference.p))
    return ItemPairs(
        test=HOLM,
        alpha=alpha,
        pairs=decided(pairs, alpha),
        locations=dict(zip(read.names, estimates.means.tolist(), strict=True)),
        n={name: len(np.unique(read.person[read.condition == index])) for index, name in enumerate(read.names)},
        left_out=read.left_out,
    )
