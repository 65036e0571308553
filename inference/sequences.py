r"""Participants who meet every condition in turn, each in an order of its own: one value for each of their occasions.

.. math:: y_{pj} = \mu_{c(p,j)} + \pi_j + u_p + e_{pj}, \qquad \sum_j \pi_j = 0

so that the means of conditions are averages over all positions, each position with the same weight. Participants are
random, with variances by restricted maximum likelihood. A missing occasion may depend on the condition and on the
participant's other answers (missing at random), not on the answer that is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
from inference.ancova import AdjustedMean, FTest, ParticipantValues, read_conditions
from inference.average_advantage import MeanEstimates
from inference.covariates import numbered
from inference.paired import by_algorithm
from inference.posthoc import pairs_of_means
from inference.results import Floats, PairwiseResult, Undefined
from inference.variance_components import Design, Estimates, Fit, RestrictedLikelihood, model_estimates

TUKEY_MIXED = "Mixed model, Tukey"
SMALLEST = 1e-12  # a residual variance below this share of the variance of all values is none


@dataclass(frozen=True)
class Occasions:
    """One value for each occasion at which a participant met a condition; sequences of shape (n_occasions,)."""

    values: Sequence[float]  # finite
    conditions: Sequence[str]
    positions: Sequence[int]  # of the occasion in the participant's sequence, from 1
    # The condition that the participant met just before, whether or not its value is known; None at position 1.
    previous: Sequence[str | None]
    participants: Sequence[Hashable]
    names: Sequence[str] = ()  # conditions in the wished order; those of the data in order of appearance unless given

    def only(self, keep: Sequence[bool]) -> Occasions:
        """Some of the occasions; `keep` of shape (n_occasions,)."""
        return Occasions(
            tuple(compress(self.values, keep)),
            tuple(compress(self.conditions, keep)),
            tuple(compress(self.positions, keep)),
            tuple(compress(self.previous, keep)),
            tuple(compress(self.participants, keep)),
            self.names,
        )

    @property
    def order(self) -> tuple[str, ...]:
        """The conditions, in the order of the results."""
        return tuple(self.names or dict.fromkeys(self.conditions))

    @property
    def table(self) -> dict[str, Floats]:
        """Of each condition the participants' values, NaN where there is none, for `repeated_measures`, `friedman` and
        `nemenyi`.
        """
        participant = numbered(self.participants)
        column = {name: at for at, name in enumerate(self.order)}
        values = np.full((len(column), int(participant.max(initial=-1)) + 1), np.nan)
        values[[column[name] for name in self.conditions], participant] = self.values
        return dict(zip(column, values, strict=True))

    @property
    def first(self) -> dict[str, list[float]]:
        """Of each condition the values of the participants who met it first: independent groups, free of carry-over."""
        by_name: dict[str, list[float]] = {name: [] for name in self.order}
        for value, name, position in zip(self.values, self.conditions, self.positions, strict=True):
            if position == 1:
                by_name[name].append(value)
        return by_name

    @property
    def complete(self) -> Occasions:
        """The occasions of participants with a value for every condition."""
        n_values = Counter(self.participants)
        return self.only([n_values[participant] == len(self.order) for participant in self.participants])


@dataclass(frozen=True)
class WithinResult:
    """Conditions compared within participants."""

    # `n_occasions`, `n_participants`, `n_complete`: of the last, those with a value for every condition
    n_occasions: int
    n_participants: int
    n_complete: int
    # The observed mean of each condition, and the one that the model adjusts for positions and missing occasions.
    means: tuple[AdjustedMean, ...]
    test: FTest  # of all conditions, with Satterthwaite's degrees of freedom
    positions: FTest  # of all positions
    pairs: PairwiseResult  # simultaneous intervals and p by the studentized range
    # `sd_participants`, `sd_residual`: standard deviations between and within participants, in the unit of the values
    sd_participants: float
    sd_residual: float
    log_likelihood: float  # restricted


@dataclass(frozen=True)
class CarryOver:
    """Whether the condition met just before matters, among all occasions but the first."""

    test: FTest  # of the previous conditions
    # Pairs of conditions over these occasions, without and with the previous condition in the model: their differences
    # are what carry-over does to them.
    unadjusted: PairwiseResult
    adjusted: PairwiseResult


@dataclass(frozen=True)
class RepeatedMeasures:
    """Analysis of variance of participants with a value for every condition."""

    n: int
    f: float
    df: int
    df_within: int
    p: float  # as if differences of all conditions varied alike
    epsilon: float  # of Greenhouse and Geisser, from 1 / (k - 1) to 1; multiplies both degrees of freedom
    p_corrected: float
    partial_eta_squared: float


@dataclass(frozen=True)
class WithinFit:
    """A fitted model of conditions and positions, with participants random."""

    occasions: Occasions
    names: tuple[str, ...]
    fit: Fit
    estimates: Estimates  # of conditions, then positions, then previous conditions
    sizes: tuple[int, ...]  # how many coefficients each of these has

    @property
    def means(self) -> MeanEstimates:
        """The conditions' means with their covariance and Satterthwaite's degrees of freedom."""
        own = self.estimates.first(len(self.names))
        return MeanEstimates(self.names, own.means, own.covariance, own.df)

    @property
    def n(self) -> dict[str, int]:
        """The number of values of each condition."""
        return {name: self.occasions.conditions.count(name) for name in self.names}

    def test(self, block: int) -> FTest:
        """Test a block of coefficients: 0 for the conditions, 1 for the positions, 2 for the previous conditions."""
        from scipy import linalg, special

        start, size = sum(self.sizes[:block]), self.sizes[block]
        effects = np.eye(sum(self.sizes))[start : start + size]
        if block:
            effects = np.vstack([effects, -effects.sum(axis=0)])
        # The denominator's df depend on the contrasts; of orthonormal ones they do not on the order of the levels.
        rows = linalg.helmert(len(effects)) @ effects
        f, df_within = self.estimates.joint(rows)
        return FTest(f, len(rows), df_within, float(special.fdtrc(len(rows), df_within, f)))

    def pairs(self, alpha: float) -> PairwiseResult:
        """Every pair of conditions, with simultaneous intervals and p by the studentized range."""
        left_out = tuple(name for name in self.occasions.order if name not in self.names)
        return pairs_of_means(TUKEY_MIXED, alpha, self.means, self.n, left_out)

    def result(self, alpha: float = 0.05) -> WithinResult:
        """Means, every pair, and all conditions and positions together."""
        table = self.occasions.table
        tests = [self.estimates.test(row) for row in np.eye(sum(self.sizes))[: len(self.names)]]
        return WithinResult(
            n_occasions=len(self.occasions.values),
            n_participants=len(set(self.occasions.participants)),
            n_complete=len(set(self.occasions.complete.participants)),
            means=tuple(
                AdjustedMean(name, n, float(np.nanmean(table[name])), of.value, of.se, of.interval)
                for (name, n), of in zip(self.n.items(), tests, strict=True)
            ),
            test=self.test(0),
            positions=self.test(1),
            pairs=self.pairs(alpha),
            sd_participants=float(np.sqrt(self.fit.variance * self.fit.ratios[0])),
            sd_residual=float(np.sqrt(self.fit.variance)),
            log_likelihood=self.fit.log_likelihood,
        )


def fit_within(occasions: Occasions) -> WithinFit | Undefined:
    """Fit R's ``lmer(value ~ condition + position + (1 | participant))``.

    Undefined with fewer than two conditions, where positions cannot be separated from conditions, where participants
    have too few occasions to separate them from the residual, or without residual variance. Raises DataError for values
    that are not finite, for a participant with two values for one condition or one position, and for a previous
    condition at position 1 or none later. Sources: Jones & Kenward (2014), Design and Analysis of Cross-Over Trials,
    chapter 5; Bates et al. (2015), Journal of Statistical Software 67(1); for degrees of freedom Kuznetsova, Brockhoff
    & Christensen (2017), ibid. 82(13); for all pairs Tukey and Kramer, as ``emmeans``.

    Examples
    --------
    >>> values, previous = [3, 5, 2, 4, 4, 2, 5, 4], [None, "A", None, "A", None, "B", None, "B"]
    >>> occasions = Occasions(values, list("ABABBABA"), [1, 2] * 4, previous, list("ppqqrrss"))
    >>> [(mean.condition, mean.adjusted) for mean in fit_within(occasions).result().means]
    [('A', 2.75), ('B', 4.5)]
    """
    return _fitted(occasions, has_previous=False)


def carry_over(occasions: Occasions, *, alpha: float = 0.05) -> CarryOver | Undefined:
    """Test the previous condition beside condition and position, among the occasions that have one.

    Undefined and errors as `fit_within`, and undefined with two conditions, where the previous one is always the other.
    A test that is not significant does not show that there is no carry-over. Source: Jones & Kenward (2014), chapter 5.

    Examples
    --------
    >>> carry_over(Occasions([3, 5], ["A", "B"], [1, 2], [None, "A"], ["p", "p"])).reason
    'With two conditions the previous one is always the other: compare the first occasions instead.'
    """
    if len(occasions.order) == 2:
        return Undefined(
            "With two conditions the previous one is always the other: compare the first occasions instead."
        )
    later = occasions.only([name is not None for name in occasions.previous])
    plain, full = _fitted(later, has_previous=False), _fitted(later, has_previous=True)
    if isinstance(plain, Undefined):
        return plain
    if isinstance(full, Undefined):
        return full
    return CarryOver(full.test(2), plain.pairs(alpha), full.pairs(alpha))


def repeated_measures(values: Mapping[str, ArrayLike]) -> RepeatedMeasures | Undefined:
    """Analysis of variance of conditions within participants, with the correction of Greenhouse and Geisser.

    `values` maps each condition to one value of each participant, in one order of participants; those with a NaN are
    left out as a whole. Undefined with fewer than two conditions or two complete participants, or where the differences
    of conditions are the same for all of these. Raises DataError for arrays of different lengths or with infinities.
    Source: Greenhouse & Geisser (1959), Psychometrika 24(2):95-112.

    Examples
    --------
    >>> found = repeated_measures({"A": [1, 2, 3, 4], "B": [2, 4, 3, 5], "C": [4, 4, 6, 5]})
    >>> round(found.f, 3), found.df, found.df_within, round(found.epsilon, 3)
    (7.957, 2, 6, 0.628)
    """
    from scipy import special

    table, k = np.array(list(by_algorithm(values).values())), len(values)
    if k < 2 or (n := len(whole := table.T[~np.isnan(table.T).any(axis=1)])) < 2:
        return Undefined("Fewer than two participants have a value for each of two conditions or more.")
    effects = whole.mean(axis=0) - whole.mean()
    rest = whole - whole.mean(axis=1, keepdims=True) - effects
    residual, explained = float((rest**2).sum()), n * float((effects**2).sum())
    if residual <= SMALLEST * float((whole**2).sum()):
        return Undefined("All participants differ alike between conditions: there is no residual variance.")
    df, df_within, products = k - 1, (n - 1) * (k - 1), rest.T @ rest
    f, epsilon = explained / df / (residual / df_within), residual**2 / (df * float((products**2).sum()))
    return RepeatedMeasures(
        n=n,
        f=f,
        df=df,
        df_within=df_within,
        p=float(special.fdtrc(df, df_within, f)),
        epsilon=epsilon,
        p_corrected=float(special.fdtrc(epsilon * df, epsilon * df_within, f)),
        partial_eta_squared=explained / (explained + residual),
    )


def _fitted(occasions: Occasions, *, has_previous: bool) -> WithinFit | Undefined:
    names, condition, values, _left_out = read_conditions(
        ParticipantValues(occasions.values, occasions.conditions, (), occasions.names)
    )
    _check(occasions)
    if len(names) < 2:
        return Undefined(f"A comparison needs two conditions with values; there are {len(names)}.")
    participant, coded = numbered(occasions.participants), [_sum_coded(occasions.positions)]
    if has_previous:
        coded.append(_sum_coded(occasions.previous))
    fixed = np.hstack([np.eye(len(names))[condition], *coded])
    n, n_participants, rank = len(values), int(participant.max()) + 1, np.linalg.matrix_rank(fixed)
    sums = np.zeros((n_participants, fixed.shape[1]))
    np.add.at(sums, participant, fixed)
    within = np.linalg.matrix_rank(fixed - (sums.T / np.bincount(participant)).T[participant])
    if rank < fixed.shape[1] or (has_previous and not coded[-1].size):
        further = " and previous conditions" if has_previous else ""
        return Undefined(f"Positions{further} go with conditions, so that their effects cannot be separated.")
    # Of the differences within participants and of those between them, some have to be left when all effects are known.
    if n - n_participants <= within or n_participants <= rank - within:
        return Undefined("There are too few occasions to tell participants, conditions and chance apart.")
    if not np.ptp(values):
        return Undefined("All values are equal: there is nothing to compare.")
    design = Design(
        values, condition, participant, np.zeros_like(participant), np.zeros_like(participant), np.hstack(coded)
    )
    likelihood = RestrictedLikelihood(design)
    fit = likelihood.maximum_of_one(0)
    if fit.is_at_limit or fit.variance <= SMALLEST * float(values.var()):
        return Undefined("Participants, conditions and positions reproduce all values: there is no residual variance.")
    sizes = (len(names), *(block.shape[1] for block in coded))
    return WithinFit(occasions, names, fit, model_estimates(likelihood, fit), sizes)


def _check(occasions: Occasions) -> None:
    for what, of in (("condition", occasions.conditions), ("position", occasions.positions)):
        if len(set(zip(occasions.participants, of, strict=True))) < len(occasions.values):
            raise DataError(f"A participant has two values for one {what}.")
    if any((name is None) != (at == 1) for name, at in zip(occasions.previous, occasions.positions, strict=True)):
        raise DataError("The previous condition is missing after position 1, or given at position 1.")


def _sum_coded(labels: Sequence[object]) -> Floats:
    """Columns whose coefficients are deviations of all levels but the last from the mean of all."""
    number = np.unique(np.asarray(labels), return_inverse=True)[1]
    rows = np.eye(int(number.max()) + 1)[number]
    return rows[:, :-1] - rows[:, -1:]
