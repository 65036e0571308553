"""The hierarchical ordinal model: its posterior against importance sampling and a second sampler, recovery, errors.

Every shape of data and length of warm-up compiles the model again, which takes several seconds: one test of those that
are not slow samples.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special

from core.errors import ParallaxError
from inference.convergence import convergence
from inference.hierarchical_ordinal import THRESHOLD_SD, OrdinalDraws, OrdinalPrior, OrdinalRatings, sample_ordinal
from tests.factories.chains import simulated_ratings

REFERENCE = Path(__file__).parents[1] / "data" / "bayesian" / "hierarchical_ordinal.json"
Floats = NDArray[np.float64]
SMALL = OrdinalRatings.of(
    codes=[0, 1, 0, 2, 2, 1],
    conditions=[0, 0, 0, 1, 1, 1],
    participants=[0, 0, 1, 2, 2, 3],
    items=["a", "b", "a", "a", "b", "b"],
    n_categories=3,
)


def named(effects: Floats, thresholds: Floats, sds: Floats) -> dict[str, Floats]:
    """Quantities of draws, (…, n_conditions), (…, 2) and (…, 2); heavy tails are cut off."""
    difference = effects[..., 1] - effects[..., 0]
    return {
        "difference": difference,
        "above": (difference > 0).astype(float),
        "low": thresholds[..., 0] - effects.mean(axis=-1),
        "width": thresholds[..., 1] - thresholds[..., 0],
        "persons": np.minimum(sds[..., 0], 3),
        "items": np.minimum(sds[..., 1], 3),
    }


def importance_means(ratings: OrdinalRatings, prior: OrdinalPrior, n: int, seed: int) -> dict[str, tuple[float, float]]:
    """Posterior means, with errors, by draws from the prior weighted by their likelihood."""
    rng = np.random.default_rng(seed)
    effects = rng.normal(0, prior.effect_sd, (n, int(ratings.conditions.max()) + 1))
    thresholds = np.sort(rng.normal(0, THRESHOLD_SD, (n, ratings.n_categories - 1)), axis=1)
    sds = np.abs(rng.standard_t(3, (n, 2))) * prior.spread_scale
    eta = effects[:, ratings.conditions]
    for index, group in enumerate((ratings.participants, ratings.items)):
        eta = eta + (sds[:, index, None] * rng.standard_normal((n, group.max() + 1)))[:, group]
    bounds = np.pad(thresholds, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    mass = special.ndtr(bounds[:, ratings.codes + 1] - eta) - special.ndtr(bounds[:, ratings.codes] - eta)
    weights = mass.prod(axis=1)
    weights /= weights.sum()
    means = {}
    for name, values in named(effects, thresholds, sds).items():
        mean = float(weights @ values)
        means[name] = mean, float(np.sqrt(weights**2 @ (values - mean) ** 2))
    return means


def test_a_shift_of_all_effects_and_thresholds_changes_no_identified_quantity() -> None:
    rng = np.random.default_rng(4)
    effects, thresholds = rng.normal(size=(4, 6, 3)), np.sort(rng.normal(size=(4, 6, 2)), axis=2)
    sds = np.abs(rng.normal(size=(2, 4, 6)))

    def quantities(shift: float) -> dict[str, Floats]:
        return OrdinalDraws(effects + shift, thresholds + shift, sds[0], sds[1], 0.9, 0).identified()

    plain, shifted = quantities(0.0), quantities(2.5)
    assert list(plain) == [
        *("effect 0", "effect 1", "effect 2", "threshold 0", "threshold 1"),
        *("sd of participants", "sd of items"),
    ]
    for name, chains in plain.items():
        assert chains.shape == (4, 6)
        np.testing.assert_allclose(shifted[name], chains, atol=1e-12)
    np.testing.assert_allclose(plain["effect 0"] + plain["effect 1"] + plain["effect 2"], 0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize("prior", [OrdinalPrior(), OrdinalPrior(2.0, 0.5)])
def test_posterior_is_that_of_importance_sampling(prior: OrdinalPrior) -> None:
    draws = sample_ordinal(SMALL, prior, warm_up=200, draws=1500, rng=np.random.default_rng(8))
    sds = np.stack([draws.sd_participants, draws.sd_items], axis=-1)
    sampled = named(draws.effects, draws.thresholds, sds)
    for name, (mean, error) in importance_means(SMALL, prior, 200_000, 7).items():
        own = sampled[name].std() / np.sqrt(convergence(sampled[name]).ess_bulk)
        assert sampled[name].mean() == pytest.approx(mean, abs=4 * np.hypot(error, own)), name
        assert np.hypot(error, own) < 0.08  # so that the comparison says something


@pytest.mark.slow
@pytest.mark.reference
def test_posterior_is_that_of_a_second_sampler() -> None:
    """PyMC's model of the same data and priors, sampled by NUTS (see the script beside the values)."""
    reference: dict[str, Any] = json.loads(REFERENCE.read_text())
    draws = sample_ordinal(simulated_ratings(11), OrdinalPrior(), warm_up=300, draws=1200, rng=np.random.default_rng(5))
    quantities = draws.identified()
    assert set(quantities) == set(reference["posterior"])
    for name, (mean, sd) in reference["posterior"].items():
        chains = quantities[name]
        # Both means have a Monte Carlo error; five of their standard errors, and as much of the sd.
        error = sd * np.sqrt(1 / convergence(chains).ess_bulk + 1 / reference["ess"])
        assert chains.mean() == pytest.approx(mean, abs=5 * error), name
        assert chains.std() == pytest.approx(sd, rel=0.15), name


@pytest.mark.slow
@pytest.mark.unit
def test_effects_are_recovered_and_chains_converge() -> None:
    ratings = simulated_ratings(3, n_persons=25, n_items=30)
    draws = sample_ordinal(ratings, OrdinalPrior(), warm_up=150, draws=300, rng=np.random.default_rng(1))
    means = draws.effects.mean(axis=(0, 1))
    assert means[1] - means[0] == pytest.approx(0.5, abs=0.4)
    assert means[2] - means[0] == pytest.approx(1.0, abs=0.4)
    assert draws.sd_participants.mean() == pytest.approx(0.6, abs=0.15)
    assert draws.sd_items.mean() == pytest.approx(0.4, abs=0.15)
    assert draws.acceptance == pytest.approx(0.9, abs=0.05)
    assert draws.divergences == 0
    for name, chains in draws.identified().items():
        assert convergence(chains).r_hat < 1.03, name


@pytest.mark.slow
@pytest.mark.unit
def test_same_seed_same_draws_and_progress_is_told() -> None:
    import jax

    shares: list[float] = []
    first, second = (
        sample_ordinal(
            SMALL, OrdinalPrior(), warm_up=60, draws=60, rng=np.random.default_rng(1), progress=shares.append
        )
        for _ in range(2)
    )
    assert np.array_equal(first.effects, second.effects)
    assert np.array_equal(first.thresholds, second.thresholds)
    assert shares[:3] == [0.0, 50 / 120, 100 / 120]
    other = sample_ordinal(SMALL, OrdinalPrior(), warm_up=60, draws=60, rng=np.random.default_rng(2))
    assert not np.array_equal(first.effects, other.effects)
    assert first.effects.dtype == np.float64
    assert first.effects.shape == (4, 60, 2)
    assert (np.diff(first.thresholds, axis=2) > 0).all()
    assert 0 <= first.divergences <= 240
    assert jax.numpy.ones(1).dtype == np.float32  # double precision stays within the sampler


@pytest.mark.unit
def test_jax_is_imported_where_it_samples_and_nowhere_else() -> None:
    script = "import sys, analysis.compute.bayesian, analysis.tasks; assert not {'jax', 'numpyro'} & set(sys.modules)"
    django = "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'parallax.settings'; django.setup(); "
    subprocess.run([sys.executable, "-c", django + script], check=True, cwd=Path(__file__).parents[2])


@pytest.mark.unit
def test_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpyro", None)
    with pytest.raises(ParallaxError, match=r"needs NumPyro, which is not installed\. Run `\.venv/bin/pip install -r"):
        sample_ordinal(SMALL, OrdinalPrior(), warm_up=1, draws=1, rng=np.random.default_rng(1))


@pytest.mark.slow
@pytest.mark.unit
def test_a_category_that_nobody_chose_leaves_its_thresholds_to_the_prior() -> None:
    ratings = OrdinalRatings.of([0, 0, 2, 2], [0, 0, 1, 1], [0, 1, 2, 3], ["x", "y", "x", "y"], 5)
    draws = sample_ordinal(ratings, OrdinalPrior(), warm_up=100, draws=300, rng=np.random.default_rng(1))
    assert (np.diff(draws.thresholds, axis=2) > 0).all()
    assert np.isfinite(draws.thresholds).all()


@pytest.mark.unit
def test_items_are_numbered_within_conditions() -> None:
    assert SMALL.items.tolist() == [0, 1, 0, 2, 3, 3]
    assert SMALL.participants.tolist() == [0, 0, 1, 2, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("empty", [0, 2, 4])
def test_chains_converge_where_nobody_gave_a_rating(empty: int) -> None:
    """With thresholds counted from the lowest one, the chains of these data diverged in hundreds of transitions."""
    rng = np.random.default_rng([7, empty])
    given = [code for code in range(5) if code != empty]
    participants = np.repeat(np.arange(60), 5)
    ratings = OrdinalRatings.of(
        rng.choice(given, participants.size), participants % 3, participants, rng.integers(0, 40, participants.size), 5
    )
    draws = sample_ordinal(ratings, OrdinalPrior(), warm_up=500, draws=750, rng=rng)
    assert draws.divergences == 0
    for name, chains in draws.identified().items():
        assert convergence(chains).r_hat < 1.02, name
    assert (np.diff(draws.thresholds, axis=2) > 0).all()
