r"""A hierarchical ordinal model of ratings, sampled by NumPyro.

.. math::
    P(y_i \le j) = \Phi(\gamma_j - \eta_i), \qquad \eta_i = \beta_{c(i)} + u_{p(i)} + v_{m(i)}

Conditions have the effects beta, participants u ~ N(0, sigma_u^2) and items within conditions v ~ N(0, sigma_v^2); the
residual standard deviation, 1, is the unit. Priors: beta ~ N(0, s^2) alike for every condition, both standard
deviations half-t with 3 degrees of freedom and scale A, thresholds N(0, t^2) in ascending order, where t is
`THRESHOLD_SD`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from core.errors import ParallaxError
from inference.results import Floats, Integers

if TYPE_CHECKING:
    from jax import Array

THRESHOLD_SD = 3.0
DF = 3.0  # of the half-t priors
REPORT_EVERY = 50  # iterations between two reports of progress
OUTERMOST = 1e3  # instead of infinity, whose gradient is not a number
LEAST_GAP = -1e-15  # between the logarithms of both limits, where thresholds coincide
CHAINS = 4

NEEDS_NUMPYRO = (
    "The Bayesian analysis needs NumPyro, which is not installed. Run `.venv/bin/pip install -r "
    "requirements-bayesian.txt`, restart the worker, and request it again."
)


@dataclass(frozen=True)
class OrdinalPrior:
    """Scales of the priors, in residual standard deviations."""

    effect_sd: float = 1.0  # s, of conditions
    spread_scale: float = 1.0  # A, of the half-t priors of participants' and items' standard deviations


@dataclass(frozen=True)
class OrdinalRatings:
    """Ratings as integers: `codes` from 0 to `n_categories` - 1, and the index of condition, participant and item.

    All arrays have shape (n_ratings,). Items are indexed within conditions: an item that two conditions recommend has
    two indexes.
    """

    codes: Integers
    conditions: Integers
    participants: Integers
    items: Integers
    n_categories: int

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
    acceptance: float  # mean acceptance probability after warm-up
    divergences: int  # transitions after warm-up whose trajectory diverged

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


def sample_ordinal(
    ratings: OrdinalRatings,
    prior: OrdinalPrior,
    *,
    warm_up: int,
    draws: int,
    rng: np.random.Generator,
    acceptance: float = 0.9,
    progress: Callable[[float], None] = lambda share: None,
) -> OrdinalDraws:
    """Draw from the posterior of the hierarchical ordinal model, `CHAINS` chains after `warm_up` iterations each.

    Warm-up tunes the steps to a mean probability of `acceptance`: higher values take longer and diverge less.
    `progress` is called with the share that is done. The same state of `rng` gives the same draws on the same machine.
    Raises `bayesian.library_missing` where NumPyro is not installed. Source: Hoffman & Gelman (2014), JMLR
    15:1593-1623, the No-U-Turn Sampler, as implemented by NumPyro (Phan, Pradhan & Jankowiak, 2019, arXiv:1912.11554).
    """
    try:
        import jax
        import numpyro  # noqa: F401
    except ImportError as missing:
        raise ParallaxError("bayesian.library_missing", NEEDS_NUMPYRO) from missing

    groups = (ratings.conditions, ratings.participants, ratings.items)
    # The threshold in the middle divides the ratings most evenly.
    below = np.cumsum(np.bincount(ratings.codes, minlength=ratings.n_categories))[:-1]
    middle = int(np.abs(below - ratings.codes.size / 2).argmin())
    sizes = (*(int(group.max()) + 1 for group in groups), ratings.n_categories - 1, middle)
    data = (ratings.codes, *groups, prior.effect_sd, prior.spread_scale)
    parts = []
    with jax.enable_x64(True):  # for this thread and this block alone
        start, advance = _compiled(sizes, warm_up, acceptance)
        keys = jax.random.split(jax.random.key(int(rng.integers(2**63))), CHAINS)
        state = start(keys, _starting_values(sizes, rng), *data)
        for done in range(0, warm_up + draws, REPORT_EVERY):
            progress(done / (warm_up + draws))
            state, part = advance(state, *data)
            parts.append(jax.tree.map(np.asarray, part))
    drawing = slice(warm_up, warm_up + draws)
    whole = {name: np.concatenate([part[name] for part in parts], axis=1)[:, drawing] for name in parts[0]}
    return OrdinalDraws(
        effects=whole["effects"],
        thresholds=whole["thresholds"],
        sd_participants=whole["sd_participants"],
        sd_items=whole["sd_items"],
        acceptance=float(whole["acceptance"].mean()),
        divergences=int(whole["is_divergent"].sum()),
    )


def _starting_values(sizes: tuple[int, ...], rng: np.random.Generator) -> dict[str, Floats]:
    """Values on the unconstrained scale, by chain: logarithms of standard deviations and of gaps of thresholds."""
    n_conditions, n_participants, n_items, n_thresholds, _middle = sizes
    shapes = {"effects": n_conditions, "participants": n_participants, "items": n_items, "gaps": n_thresholds - 1}
    values = {name: rng.uniform(-1, 1, (CHAINS, size)) for name, size in shapes.items()}
    values["middle"] = rng.uniform(-1, 1, CHAINS)
    return values | {name: rng.uniform(-2, 0, CHAINS) for name in ("sd_participants", "sd_items")}


def _thresholds(values: dict[str, Array], middle: int) -> Array:
    """Thresholds in ascending order from the one in the middle and the gaps between neighbours.

    A category without ratings leaves its gap to the prior. Counted from the middle, no threshold that the data know
    depends on that gap; counted from the lowest one, all would, and the chains would diverge.
    """
    from jax import numpy as jnp

    start = values["middle"][None]
    below, above = values["gaps"][:middle], values["gaps"][middle:]
    return jnp.concatenate([start - jnp.cumsum(below[::-1])[::-1], start, start + jnp.cumsum(above)])


def _model(
    sizes: tuple[int, ...],
    codes: Array,
    conditions: Array,
    participants: Array,
    items: Array,
    effect_sd: Array,
    spread_scale: Array,
) -> None:
    """The model of the module's heading; random effects are standard normal values times their standard deviation."""
    import numpyro
    from jax import numpy as jnp
    from jax.scipy.special import log_ndtr
    from numpyro import distributions as dist

    n_conditions, n_participants, n_items, n_thresholds, middle = sizes
    effects = numpyro.sample("effects", dist.Normal(0, effect_sd).expand([n_conditions]).to_event(1))
    anywhere = dist.ImproperUniform(dist.constraints.real, (), ())
    positive = dist.ImproperUniform(dist.constraints.positive, (), (n_thresholds - 1,))
    thresholds = _thresholds(
        {"middle": numpyro.sample("middle", anywhere), "gaps": numpyro.sample("gaps", positive)}, middle
    )
    numpyro.factor("prior of thresholds", dist.Normal(0, THRESHOLD_SD).log_prob(thresholds).sum())
    linear = effects[conditions]
    for name, size, group in (("participants", n_participants, participants), ("items", n_items, items)):
        sd = numpyro.sample(f"sd_{name}", dist.FoldedDistribution(dist.StudentT(DF, 0, spread_scale)))
        raw = numpyro.sample(name, dist.Normal(0, 1).expand([size]).to_event(1))
        linear = linear + sd * raw[group]
    bounds = jnp.concatenate([jnp.array([-OUTERMOST]), thresholds, jnp.array([OUTERMOST])])
    low, high = bounds[codes] - linear, bounds[codes + 1] - linear
    is_upper = low > 0  # differences are taken in the lower tail, where they lose no digits
    above = log_ndtr(jnp.where(is_upper, -low, high))
    gap = log_ndtr(jnp.where(is_upper, -high, low)) - above
    numpyro.factor("ratings", (above + jnp.log(-jnp.expm1(jnp.minimum(gap, LEAST_GAP)))).sum())


@lru_cache(maxsize=3)
def _compiled(
    sizes: tuple[int, ...], warm_up: int, acceptance: float
) -> tuple[Callable[..., Any], Callable[..., tuple[Any, dict[str, Array]]]]:
    """The start of all chains, and `REPORT_EVERY` iterations of each: compiled once, then used for every prior.

    `MCMC.run` would compile them in every call, and tell nothing of warm-up until it is over.
    """
    import jax
    from numpyro.infer import NUTS

    # Shifts of all effects and thresholds are correlated a posteriori, so these share a dense mass matrix.
    kernel = NUTS(partial(_model, sizes), target_accept_prob=acceptance, dense_mass=[("effects", "middle", "gaps")])

    @jax.jit
    def start(keys: Array, values: dict[str, Array], *data: Array) -> Any:
        return jax.lax.map(lambda chain: kernel.init(chain[0], warm_up, chain[1], data), (keys, values))

    @jax.jit
    def advance(states: Any, *data: Array) -> tuple[Any, dict[str, Array]]:
        def iterate(state: Any, _number: None) -> tuple[Any, dict[str, Array]]:
            state = kernel.sample(state, data, {})
            values = kernel.get_constrain_fn(data)(state.z)
            sample = {name: values[name] for name in ("effects", "sd_participants", "sd_items")}
            sample["thresholds"] = _thresholds(values, sizes[4])
            return state, sample | {"acceptance": state.accept_prob, "is_divergent": state.diverging}

        moved: tuple[Any, dict[str, Array]]
        moved = jax.lax.map(lambda state: jax.lax.scan(iterate, state, length=REPORT_EVERY), states)
        return moved

    return start, advance
