"""Paired tests of hits: by sign flips of whole users, and McNemar's where each user owns one case."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError, ParameterError
from inference.paired import Alternative
from inference.results import Result, Undefined
from inference.sign_flips import is_countable, share_at_least

SIGN_FLIP = "Sign-flip permutation by user"
MCNEMAR = "McNemar"
RESAMPLES = 20_000
CELLS = 4_000_000  # signs drawn at a time
SAME = 1e-9  # hits in expectation are fractions; sums that differ by less are equal on paper


@dataclass(frozen=True)
class SignFlipResult(Result):
    """Sign-flip permutation of two algorithms' hits, users as units."""

    difference: float  # mean hit of the first algorithm less that of the second, over cases
    p: float
    p_method: str  # "exact" or "random signs"
    p_standard_error: float  # of random signs; 0 where exact
    alternative: str
    n_cases: int
    n_users: int
    n_tied_users: int  # users whose hits add up to the same with both; flipping changes nothing for them


def sign_flip(
    users: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    alternative: Alternative = "two-sided",
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> SignFlipResult | Undefined:
    r"""Do two algorithms' hits differ, where cases of one user are not independent?

    Under the null hypothesis the two algorithms could change places for any user, all the user's cases at once:

    .. math:: T = \sum_u s_u d_u, \quad d_u = \sum_{c \in u} (a_c - b_c), \quad s_u = \pm 1

    Counted over all signs where the :math:`d_u` are whole numbers, over `resamples` random signs otherwise, with the
    observed ones as one more. `users` names the owner of each case, in any order; `a` and `b` are 0 or 1, or a
    probability where ties count in expectation. The alternative "greater" is that the first has more hits. Undefined
    where every user has as many hits with both, or there is no case. Raises ParameterError for an unknown alternative
    or `resamples` below 1, and DataError for arrays of different lengths or hits outside [0, 1]. Sources: Fisher
    (1935), The Design of Experiments, section 21; for the observed signs among the random ones Phipson & Smyth (2010),
    Statistical Applications in Genetics and Molecular Biology 9(1):39.

    Examples
    --------
    >>> found = sign_flip([0, 0, 1, 2, 3], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1], rng=np.random.default_rng(1))
    >>> found.p, found.p_method, found.n_tied_users
    (0.25, 'exact', 1)
    """
    if alternative not in ("greater", "two-sided"):
        raise ParameterError(f"The alternative {alternative!r} is unknown: choose greater or two-sided.")
    if resamples < 1:
        raise ParameterError(f"The test was asked for {resamples} resamples: it needs 1 or more.")
    owners, first, second = (
        np.asarray(users, dtype=np.int64),
        np.asarray(a, dtype=np.float64),
        np.asarray(b, dtype=np.float64),
    )
    if owners.ndim != 1 or not owners.shape == first.shape == second.shape:
        raise DataError(f"There are {owners.size} owners of {first.size} and {second.size} hits: give one of each.")
    if not ((first >= 0) & (first <= 1) & (second >= 0) & (second <= 1)).all():
        raise DataError("A hit is outside 0 to 1, or missing.")
    known, owner = np.unique(owners, return_inverse=True)
    sums = np.zeros(len(known))
    np.add.at(sums, owner, first - second)
    n_differing = int(np.count_nonzero(np.abs(sums) > SAME))
    if not n_differing:
        return Undefined("Every user has equally many hits under both algorithms.", SIGN_FLIP)
    p, method = flip_sums(sums, alternative, rng=rng, resamples=resamples)
    error = 0.0 if method == "exact" else math.sqrt(p * (1 - p) / resamples)
    return SignFlipResult(
        difference=math.fsum(first - second) / owners.size,
        p=p,
        p_method=method,
        p_standard_error=error,
        alternative=alternative,
        n_cases=owners.size,
        n_users=len(known),
        n_tied_users=len(known) - n_differing,
    )


def flip_sums(
    sums: NDArray[np.float64],
    alternative: Alternative = "two-sided",
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> tuple[float, str]:
    """Test users' sums of differences, shape (n_users,), by sign flips; returns p, 1 where all are 0, and its method.

    Examples
    --------
    >>> flip_sums(np.array([1.0, 2.0, -1.0, 0.0]), rng=np.random.default_rng(1))
    (0.75, 'exact')
    """
    differing = sums[np.abs(sums) > SAME]
    total = float(differing.sum())
    observed = abs(total) if alternative == "two-sided" else total
    whole = np.rint(differing)
    weights = np.abs(whole).astype(np.int64)
    if (np.abs(differing - whole) <= SAME).all() and is_countable(weights):
        # A sum with signs is twice the sum of those that are +, less all of them.
        p = share_at_least(weights, math.ceil((round(observed) + int(weights.sum())) / 2))
        return (min(1.0, 2 * p) if alternative == "two-sided" else p), "exact"
    n_beyond = _beyond(np.abs(differing), observed, alternative, resamples, rng)
    return (1 + n_beyond) / (1 + resamples), "random signs"


def _beyond(
    sizes: NDArray[np.float64], observed: float, alternative: str, resamples: int, rng: np.random.Generator
) -> int:
    """How many random signs give a sum at least as far out as the observed one."""
    n_beyond = 0
    at_once = max(1, CELLS // sizes.size)
    for start in range(0, resamples, at_once):
        signs = rng.integers(2, size=(min(at_once, resamples - start), sizes.size), dtype=np.int8)
        sums = 2 * (signs @ sizes) - sizes.sum()
        sums = np.abs(sums) if alternative == "two-sided" else sums
        n_beyond += int(np.count_nonzero(sums >= observed - SAME))
    return n_beyond


@dataclass(frozen=True)
class McNemarResult(Result):
    """McNemar's test of two algorithms' hits, one case a user."""

    # `n_both`, `n_only_a`, `n_only_b`, `n_neither`: users hit by both, by one, by neither.
    n_both: int
    n_only_a: int
    n_only_b: int
    n_neither: int
    p: float  # exact, two-sided
    p_greater: float  # exact, that the first has more hits
    mid_p: float  # two-sided: the exact p less the probability of just what was observed
    # `chi_squared`, `chi_squared_p`: without continuity correction.
    chi_squared: float
    chi_squared_p: float
    # `corrected_chi_squared`, `corrected_p`: with it; 0 and 1 where both differ equally often.
    corrected_chi_squared: float
    corrected_p: float
    # Users hit only by the first over those hit only by the second; None where there are none of these.
    odds_ratio: float | None


def mcnemar(users: ArrayLike, a: ArrayLike, b: ArrayLike) -> McNemarResult | Undefined:
    """McNemar's test, for users who own one case each. Undefined where no user is hit by one algorithm only.

    Raises DataError for a user with several cases, whose hits are not independent (use `sign_flip`), for arrays of
    different lengths, and for hits that are neither 0 nor 1. Sources: McNemar (1947), Psychometrika 12(2):153-157; for
    the mid-p Fagerland, Lydersen & Laake (2013), BMC Medical Research Methodology 13:91.

    Examples
    --------
    >>> found = mcnemar(range(5), [1, 1, 1, 0, 1], [0, 0, 0, 0, 1])
    >>> found.n_only_a, found.n_only_b, found.p, found.odds_ratio
    (3, 0, 0.25, None)
    """
    from scipy import special, stats

    owners, first, second = np.asarray(users, dtype=np.int64), np.asarray(a), np.asarray(b)
    if owners.ndim != 1 or not owners.shape == first.shape == second.shape:
        raise DataError(f"There are {owners.size} owners of {first.size} and {second.size} hits: give one of each.")
    if len(np.unique(owners)) != owners.size:
        raise DataError(
            "A user owns several cases, whose hits are not independent: McNemar's test needs one case a user. Test by "
            "sign flips of whole users instead."
        )
    if not (np.isin(first, (0, 1)) & np.isin(second, (0, 1))).all():
        raise DataError("A hit is neither 0 nor 1.")
    hit_a, hit_b = first.astype(np.bool_), second.astype(np.bool_)
    only_a, only_b = int((hit_a & ~hit_b).sum()), int((~hit_a & hit_b).sum())
    discordant = only_a + only_b
    if discordant == 0:
        return Undefined("There are no discordant users: no user has a hit under one algorithm only.", MCNEMAR)
    smaller, apart = min(only_a, only_b), abs(only_a - only_b)
    tail = float(stats.binom.cdf(smaller, discordant, 0.5))
    at = float(stats.binom.pmf(smaller, discordant, 0.5))
    chi_squared = apart**2 / discordant
    corrected = max(0, apart - 1) ** 2 / discordant
    return McNemarResult(
        n_both=int((hit_a & hit_b).sum()),
        n_only_a=only_a,
        n_only_b=only_b,
        n_neither=int((~hit_a & ~hit_b).sum()),
        p=min(1.0, 2 * tail),
        p_greater=float(stats.binom.sf(only_a - 1, discordant, 0.5)),
        mid_p=min(1.0, 2 * tail) - at,
        chi_squared=chi_squared,
        chi_squared_p=float(special.chdtrc(1, chi_squared)),
        corrected_chi_squared=corrected,
        corrected_p=float(special.chdtrc(1, corrected)),
        odds_ratio=only_a / only_b if only_b else None,
    )
