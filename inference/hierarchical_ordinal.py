r"""A hierarchical ordinal model of ratings, by data augmentation.

.. math::
    P(y_i \le j) = \Phi(\gamma_j - \eta_i), \qquad \eta_i = \beta_{c(i)} + u_{p(i)} + v_{m(i)}

Conditions have the effects beta, participants u ~ N(0, sigma_u^2) and items within conditions v ~ N(0, sigma_v^2); the
residual standard deviation, 1, is the unit. Priors: beta ~ N(0, s^2) alike for every condition, both standard
deviations half-t with 3 degrees of freedom and scale A, thresholds N(0, `THRESHOLD_SD`^2) in ascending order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError, ParameterError
from inference.latent_normals import interval_mass, truncated_normals
from inference.results import Result

THRESHOLD_SD = 3.0
DF = 3.0  # of the half-t priors
ACCEPTED = 0.44  # of moves of single thresholds, to which warm-up tunes their steps
REPORT_EVERY = 50  # iterations between two reports of progress
CHAINS = 4

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class OrdinalPrior(Result):
    """Scales of the priors, in residual standard deviations."""

    effect_sd: float = 1.0  # s, of conditions
    spread_scale: float = 1.0  # A, of the half-t priors of participants' and items' standard deviations

    def __post_init__(self) -> None:
        if not (self.effect_sd > 0 and self.spread_scale > 0):
            raise ParameterError("The scales of a prior have to be positive.")


@dataclass(frozen=True)
class OrdinalRatings:
    """Ratings as integers: `codes` from 0 to `n_categories` - 1, and the index of condition, participant and item.

    All arrays have shape (n_ratings,). Items are indexed within conditions: an item that two conditions recommend has
    two indexes. Raises DataError where an index has no rating, the shapes differ, or a code is outside the scale.
    """

    codes: Ints
    conditions: Ints
    participants: Ints
    items: Ints
    n_categories: int

    def __post_init__(self) -> None:
        if self.n_categories < 2:
            raise DataError("An ordinal model needs two categories or more.")
        if self.codes.ndim != 1 or not self.codes.size:
            raise DataError("An ordinal model needs ratings in one dimension.")
        if self.codes.min() < 0 or self.codes.max() >= self.n_categories:
            raise DataError(f"A rating is outside the {self.n_categories} categories.")
        for indexes in (self.conditions, self.participants, self.items):
            if indexes.shape != self.codes.shape or indexes.min() < 0 or not np.bincount(indexes).all():
                raise DataError("Every rating has a condition, a participant and an item, numbered without gaps.")

    @classmethod
    def of(
        cls, codes: ArrayLike, conditions: ArrayLike, participants: ArrayLike, items: ArrayLike, n_categories: int
    ) -> OrdinalRatings:
        """Number participants, and items within conditions, in sorted order; conditions are numbers already.

        Examples
        --------
        >>> OrdinalRatings.of([0, 1, 1], [0, 0, 1], [7, 9, 3], ["x", "y", "x"], 2).items.tolist()
        [0, 1, 2]
        """
        by_condition = np.asarray(conditions, dtype=np.int64)
        _names, plain = np.unique(np.asarray(items), return_inverse=True)
        _cells, nested = np.unique(by_condition * (plain.max(initial=0) + 1) + plain, return_inverse=True)
        _people, persons = np.unique(np.asarray(participants), return_inverse=True)
        return cls(np.asarray(codes, dtype=np.int64), by_condition, persons, nested, n_categories)


@dataclass(frozen=True)
class OrdinalDraws:
    """Draws from the posterior; every array begins with (n_chains, n_draws)."""

    effects: Floats  # beta, (…, n_conditions)
    thresholds: Floats  # gamma, (…, n_categories - 1)
    sd_participants: Floats
    sd_items: Floats
    acceptance: float  # share of accepted moves of thresholds after warm-up

    def identified(self) -> dict[str, Floats]:
        """Every quantity that the data identify, by name, shape (n_chains, n_draws).

        A shift of all effects and thresholds changes nothing but the prior, so both are centred at the mean effect.
        """
        centre = self.effects.mean(axis=2, keepdims=True)
        quantities = {
            f"effect {index}": column for index, column in enumerate(np.moveaxis(self.effects - centre, 2, 0))
        }
        borders = np.moveaxis(self.thresholds - centre, 2, 0)
        quantities |= {f"threshold {index}": column for index, column in enumerate(borders)}
        return quantities | {"sd of participants": self.sd_participants, "sd of items": self.sd_items}


@dataclass
class _State:
    """The current draw of every chain; arrays begin with n_chains.

    A random effect is the product of a `factor` and raw values with a variance of their own: its standard deviation,
    the product of |factor| and their standard deviation, then has the half-t prior, and the chain mixes well near 0.
    """

    effects: Floats
    thresholds: Floats
    factors: Floats  # (n_chains, 2)
    variances: Floats  # (n_chains, 2), of the raw values
    raw: tuple[Floats, Floats]  # of participants, of items
    steps: Floats  # (n_chains, n_thresholds), of the moves of thresholds


def sample_ordinal(
    ratings: OrdinalRatings,
    prior: OrdinalPrior,
    *,
    warm_up: int,
    draws: int,
    rng: np.random.Generator,
    progress: Callable[[float], None] = lambda share: None,
) -> OrdinalDraws:
    """Draw from the posterior of the hierarchical ordinal model, `CHAINS` chains after `warm_up` iterations each.

    `progress` is called with the share that is done. Raises ParameterError for fewer than one iteration. Sources:
    Albert & Chib (1993), JASA 88(422):669-679, data augmentation; Cowles (1996), Statistics and Computing 6:101-111,
    thresholds without the latent values; Gelman (2006), Bayesian Analysis 1(3):515-534, half-t priors by parameter
    expansion; Liu & Sabatti (2000), Biometrika 87(2):353-369, moves along groups of transformations.

    Examples
    --------
    >>> ratings = OrdinalRatings.of([0, 1, 2, 2], [0, 0, 1, 1], [0, 1, 2, 3], [0, 1, 0, 1], 3)
    >>> found = sample_ordinal(ratings, OrdinalPrior(), warm_up=20, draws=10, rng=np.random.default_rng(1))
    >>> found.effects.shape, found.thresholds.shape
    ((4, 10, 2), (4, 10, 2))
    """
    if warm_up < 1 or draws < 1:
        raise ParameterError("Warm-up and sampling take one iteration or more.")
    sampler = _Sampler(ratings, prior, rng)
    state = sampler.start()
    history: tuple[list[Floats], list[Floats], list[Floats]] = ([], [], [])
    accepted = 0.0
    for iteration in range(warm_up + draws):
        if iteration % REPORT_EVERY == 0:
            progress(iteration / (warm_up + draws))
        state, acceptances = sampler.sweep(state)
        if iteration < warm_up:
            state = _tuned(state, acceptances, iteration)
            continue
        accepted += float(acceptances.mean())
        history[0].append(state.effects)
        history[1].append(state.thresholds)
        history[2].append(np.abs(state.factors) * np.sqrt(state.variances))
    effects, thresholds, spreads = (np.stack(values, axis=1) for values in history)
    return OrdinalDraws(effects, thresholds, spreads[..., 0], spreads[..., 1], accepted / draws)


def _tuned(state: _State, acceptances: Floats, iteration: int) -> _State:
    """Larger steps where moves were accepted, smaller ones where not, ever less (Robbins and Monro)."""
    return replace(state, steps=state.steps * np.exp((acceptances - ACCEPTED) / math.sqrt(1 + iteration / 10)))


class _Sampler:
    """The moves of one sweep, each of which leaves the posterior unchanged; all chains move at once."""

    def __init__(self, ratings: OrdinalRatings, prior: OrdinalPrior, rng: np.random.Generator) -> None:
        # In the order of their codes, so that the ratings beside a threshold are one slice.
        order = np.argsort(ratings.codes, kind="stable")
        ratings = replace(
            ratings,
            codes=ratings.codes[order],
            conditions=ratings.conditions[order],
            participants=ratings.participants[order],
            items=ratings.items[order],
        )
        self.ratings, self.prior, self.rng = ratings, prior, rng
        starts = np.searchsorted(ratings.codes, np.arange(ratings.n_categories + 1))
        self.beside = tuple(map(slice, starts[:-2], starts[2:]))
        self.groups = (ratings.participants, ratings.items)
        self.sizes = tuple(np.bincount(group).astype(np.float64) for group in self.groups)
        self.n_per_condition = np.bincount(ratings.conditions).astype(np.float64)
        self.k = len(self.n_per_condition)
        # The condition of every participant and item, by any of their ratings.
        self.owners = tuple(self._owner(group) for group in self.groups)

    def _owner(self, group: Ints) -> Ints:
        owner = np.zeros(group.max() + 1, dtype=np.int64)
        owner[group] = self.ratings.conditions
        return owner

    def start(self) -> _State:
        """Thresholds at the quantiles of all ratings, and effects and spreads from around the prior."""
        from scipy import special

        counts = np.bincount(self.ratings.codes, minlength=self.ratings.n_categories) + 0.5
        quantiles = special.ndtri(np.cumsum(counts)[:-1] / counts.sum())
        jitter = np.exp(self.rng.normal(0, 0.2, (CHAINS, 1)))
        return _State(
            effects=self.rng.normal(0, 0.5 * self.prior.effect_sd, (CHAINS, self.k)),
            thresholds=jitter * quantiles,
            factors=self.prior.spread_scale * self.rng.uniform(0.1, 1.0, (CHAINS, 2)),
            variances=np.ones((CHAINS, 2)),
            raw=tuple(self.rng.normal(0, 1, (CHAINS, sizes.size)) for sizes in self.sizes),  # type: ignore[arg-type]
            steps=np.full(jitter.shape[:1] + quantiles.shape, 0.1),
        )

    def sweep(self, state: _State) -> tuple[_State, Floats]:
        """One iteration; returns the new state and which moves of thresholds were accepted."""
        linear = self._linear(state)
        state, acceptances = self._thresholds(state, linear)
        latent = self._latent(state, linear)
        state, latent = self._rescaled(state, latent, linear)
        state = self._effects(state, latent)
        for index in (0, 1):
            state = self._random_effects(state, latent, index)
            state = self._shifted(state, index)
        return self._relocated(state), acceptances

    def _linear(self, state: _State) -> Floats:
        """The linear predictor of every rating, (n_chains, n_ratings)."""
        return self._fixed(state) + self._random(state, 0) + self._random(state, 1)

    def _fixed(self, state: _State) -> Floats:
        return state.effects[:, self.ratings.conditions]

    def _random(self, state: _State, index: int) -> Floats:
        return (state.factors[:, index, None] * state.raw[index])[:, self.groups[index]]

    def _thresholds(self, state: _State, linear: Floats) -> tuple[_State, Floats]:
        """Move every threshold in turn, with the latent values integrated out."""
        thresholds = state.thresholds.copy()
        acceptances = np.zeros_like(thresholds)
        for index in range(thresholds.shape[1]):
            proposed = thresholds.copy()
            proposed[:, index] += state.steps[:, index] * self.rng.standard_normal(CHAINS)
            is_ordered = (np.diff(proposed, axis=1) > 0).all(axis=1)
            codes, part = self.ratings.codes[self.beside[index]], linear[:, self.beside[index]]
            gain = self._log_mass(proposed, part, codes) - self._log_mass(thresholds, part, codes)
            gain += (thresholds[:, index] ** 2 - proposed[:, index] ** 2) / (2 * THRESHOLD_SD**2)
            is_accepted = is_ordered & (np.log(self.rng.uniform(size=CHAINS)) < gain)
            thresholds[is_accepted] = proposed[is_accepted]
            acceptances[:, index] = is_accepted
        return replace(state, thresholds=thresholds), acceptances

    def _log_mass(self, thresholds: Floats, linear: Floats, codes: Ints) -> Floats:
        """Log-likelihood of ratings given the linear predictor, by chain."""
        low, high = _limits(thresholds, codes)
        mass = interval_mass(low - linear, high - linear)
        total: Floats = np.log(np.maximum(mass, 1e-300)).sum(axis=1)
        return total

    def _latent(self, state: _State, linear: Floats) -> Floats:
        low, high = _limits(state.thresholds, self.ratings.codes)
        return linear + truncated_normals(low - linear, high - linear, self.rng)

    def _rescaled(self, state: _State, latent: Floats, linear: Floats) -> tuple[_State, Floats]:
        """Multiply latent values, thresholds, effects and factors by one draw from its conditional distribution."""
        squares = ((latent - linear) ** 2).sum(axis=1)
        squares += (state.thresholds**2).sum(axis=1) / THRESHOLD_SD**2
        squares += (state.effects**2).sum(axis=1) / self.prior.effect_sd**2
        squares += (state.factors**2).sum(axis=1) / self.prior.spread_scale**2
        n = latent.shape[1] + state.thresholds.shape[1] + self.k + 2
        scale = np.sqrt(self.rng.gamma(n / 2, 2 / squares))[:, None]
        scaled = replace(
            state,
            thresholds=scale * state.thresholds,
            effects=scale * state.effects,
            factors=scale * state.factors,
        )
        return scaled, scale * latent

    def _effects(self, state: _State, latent: Floats) -> _State:
        rest = latent - self._random(state, 0) - self._random(state, 1)
        precision = self.n_per_condition + 1 / self.prior.effect_sd**2
        mean = _sums(rest, self.ratings.conditions, self.k) / precision
        return replace(state, effects=mean + self.rng.standard_normal(mean.shape) / np.sqrt(precision))

    def _random_effects(self, state: _State, latent: Floats, index: int) -> _State:
        """Raw values, their factor and their variance, of participants (0) or items (1)."""
        group, sizes = self.groups[index], self.sizes[index]
        rest = latent - self._fixed(state) - self._random(state, 1 - index)
        factor, variance = state.factors[:, index, None], state.variances[:, index, None]
        sums = _sums(rest, group, sizes.size)
        precision = factor**2 * sizes + 1 / variance
        raw = factor * sums / precision + self.rng.standard_normal(sums.shape) / np.sqrt(precision)
        of_factor = (raw**2 * sizes).sum(axis=1) + 1 / self.prior.spread_scale**2
        new_factor = (raw * sums).sum(axis=1) / of_factor + self.rng.standard_normal(CHAINS) / np.sqrt(of_factor)
        rate = DF / 2 + (raw**2).sum(axis=1) / 2
        factors, variances = state.factors.copy(), state.variances.copy()
        factors[:, index] = new_factor
        variances[:, index] = rate / self.rng.gamma((DF + sizes.size) / 2, 1, CHAINS)
        both = (raw, state.raw[1]) if index == 0 else (state.raw[0], raw)
        return replace(state, factors=factors, variances=variances, raw=both)

    def _shifted(self, state: _State, index: int) -> _State:
        """Shift raw values of a condition against its effect, which leaves every linear predictor as it is."""
        factor, variance = state.factors[:, index, None], state.variances[:, index, None]
        owner = self.owners[index]
        counts = np.bincount(owner, minlength=self.k)
        precision = (factor / self.prior.effect_sd) ** 2 + counts / variance
        pull = _sums(state.raw[index], owner, self.k) / variance - factor * state.effects / self.prior.effect_sd**2
        shift = pull / precision + self.rng.standard_normal(precision.shape) / np.sqrt(precision)
        raw = state.raw[index] - shift[:, owner]
        both = (raw, state.raw[1]) if index == 0 else (state.raw[0], raw)
        return replace(state, effects=state.effects + factor * shift, raw=both)

    def _relocated(self, state: _State) -> _State:
        """Shift all effects and thresholds together: only their priors hold them."""
        n_thresholds = state.thresholds.shape[1]
        precision = n_thresholds / THRESHOLD_SD**2 + self.k / self.prior.effect_sd**2
        pull = state.thresholds.sum(axis=1) / THRESHOLD_SD**2 + state.effects.sum(axis=1) / self.prior.effect_sd**2
        shift = (-pull / precision + self.rng.standard_normal(CHAINS) / math.sqrt(precision))[:, None]
        return replace(state, effects=state.effects + shift, thresholds=state.thresholds + shift)


def _limits(thresholds: Floats, codes: Ints) -> tuple[Floats, Floats]:
    """Lower and upper threshold of every rating, by chain."""
    ends = np.full((len(thresholds), 1), np.inf)
    bounds = np.concatenate([-ends, thresholds, ends], axis=1)
    return bounds[:, codes], bounds[:, codes + 1]


def _sums(values: Floats, group: Ints, n_groups: int) -> Floats:
    """Sums by group within each chain, (n_chains, n_groups)."""
    chains = len(values)
    cells = (np.arange(chains)[:, None] * n_groups + group).ravel()
    sums: Floats = np.bincount(cells, values.ravel(), chains * n_groups).astype(np.float64).reshape(chains, n_groups)
    return sums
