"""Simulation-based calibration of the two models of the Bayesian analysis.

    python benchmarks/calibration.py [--datasets 200] [--hits 300]

Draws parameters from the priors and data from the parameters, and counts the rank of every parameter among draws from
its posterior. If a sampler is right, ranks are uniform (Talts et al., 2018, arXiv:1804.06788). Prints a table in
Markdown. Seeded: the same numbers give the same table.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from inference.beta_binomial import HitPrior, hit_rate_draws
from inference.convergence import convergence
from inference.hierarchical_ordinal import THRESHOLD_SD, OrdinalDraws, OrdinalPrior, OrdinalRatings, sample_ordinal

SEED = 16
K, PERSONS, POOL, RATED, CATEGORIES = 3, 6, 8, 5, 5  # per condition: participants, items to choose from, items rated
WARM_UP, DRAWS = 500, 750  # of each of four chains
ACCEPTANCE = 0.95
SAID_EVERY = 20  # data sets between two tables of progress
THINNED = 99  # draws among which a rank is counted: ranks 0 to 99
BINS = 10
USERS, MOST_CASES = 40, 4
ORDINAL, HITS = OrdinalPrior(), HitPrior()

Ranks = dict[str, list[int]]


def rank_of(true: float, draws: NDArray[np.float64]) -> int:
    """How many of `THINNED` evenly spaced draws are below the true value."""
    spaced = draws.ravel()[np.linspace(0, draws.size - 1, THINNED).astype(int)]
    return int((spaced < true).sum())


def ordinal_ranks(n_datasets: int) -> Ranks:
    """Ranks of the identified quantities of the ordinal model."""
    ranks: Ranks = defaultdict(list)
    n_refused = 0
    for number in range(n_datasets):
        rng = np.random.default_rng([SEED, number])
        effects = rng.normal(0, ORDINAL.effect_sd, K)
        thresholds = np.sort(rng.normal(0, THRESHOLD_SD, CATEGORIES - 1))
        sds = np.abs(rng.standard_t(3, 2)) * ORDINAL.spread_scale
        persons, items = sds[0] * rng.standard_normal((K, PERSONS)), sds[1] * rng.standard_normal((K, POOL))
        rows, latent = [], []
        for condition in range(K):
            for person in range(PERSONS):
                for item in rng.choice(POOL, RATED, replace=False):
                    rows.append((condition, condition * PERSONS + person, item))
                    latent.append(effects[condition] + persons[condition, person] + items[condition, item])
        codes = np.searchsorted(thresholds, np.array(latent) + rng.standard_normal(len(latent)))
        conditions, participants, shown = (list(column) for column in zip(*rows, strict=True))
        ratings = OrdinalRatings.of(codes, conditions, participants, shown, CATEGORIES)
        posterior = converged(ratings, rng)
        if posterior is None:
            n_refused += 1
            continue
        ranks["effect of a condition"].append(rank_of(effects[0] - effects.mean(), posterior.identified()["effect 0"]))
        difference = posterior.effects[..., 1] - posterior.effects[..., 2]
        ranks["difference of two conditions"].append(rank_of(effects[1] - effects[2], difference))
        for index in (0, CATEGORIES - 2):
            own = posterior.identified()[f"threshold {index}"]
            ranks[f"threshold {index + 1}"].append(rank_of(thresholds[index] - effects.mean(), own))
        ranks["SD of participants"].append(rank_of(sds[0], posterior.sd_participants))
        ranks["SD of items"].append(rank_of(sds[1], posterior.sd_items))
        if (number + 1) % SAID_EVERY == 0:
            print(f"{number + 1} data sets, {n_refused} without convergence", *lines(ranks), sep="\n", file=sys.stderr)
    print(f"The chains of {n_refused} of {n_datasets} data sets did not converge; these are left out.", file=sys.stderr)
    return ranks


def converged(ratings: OrdinalRatings, rng: np.random.Generator) -> OrdinalDraws | None:
    """Draws that pass the diagnostics of reports, or None.

    Whether chains converge depends on the data and not on the parameters behind them, so ranks stay uniform.
    """
    draws = sample_ordinal(ratings, ORDINAL, warm_up=WARM_UP, draws=DRAWS, acceptance=ACCEPTANCE, rng=rng)
    is_good = not draws.divergences and all(convergence(chains).has_converged for chains in draws.identified().values())
    return draws if is_good else None


def hit_ranks(n_datasets: int) -> Ranks:
    """Ranks of the mean chance of a hit."""
    ranks: Ranks = defaultdict(list)
    for number in range(n_datasets):
        rng = np.random.default_rng([SEED, 1, number])
        mean, correlation = rng.beta(*HITS.mean), rng.beta(*HITS.correlation)
        precision = 1 / correlation - 1
        cases = rng.integers(1, MOST_CASES + 1, USERS)
        hits = rng.binomial(cases, rng.beta(mean * precision, (1 - mean) * precision, USERS))
        ranks["mean chance of a hit"].append(rank_of(mean, hit_rate_draws(hits, cases, HITS, draws=1000, rng=rng)))
    return ranks


def lines(ranks: Ranks) -> list[str]:
    """One row of the table for every quantity."""
    rows = []
    for name, values in ranks.items():
        array = np.array(values)
        counts = np.histogram(array, BINS, (0, THINNED + 1))[0]
        chi_squared, p = stats.chisquare(counts)
        middle = [np.mean(np.abs(array - THINNED / 2) < share * (THINNED + 1) / 2) for share in (0.5, 0.9)]
        shares = " | ".join(f"{100 * share:.0f}%" for share in middle)
        rows.append(f"| {name} | {len(array)} | {chi_squared:.1f} | {p:.3f} | {shares} |")
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=int, default=200, help="data sets of the ordinal model (default 200)")
    parser.add_argument("--hits", type=int, default=300, help="data sets of the model of hits (default 300)")
    options = parser.parse_args()
    print("| Quantity | Data sets | χ²(9) | p | in 50% interval | in 90% interval |")
    print("|---|--:|--:|--:|--:|--:|")
    for row in lines(hit_ranks(options.hits)) + lines(ordinal_ranks(options.datasets)):
        print(row, flush=True)


if __name__ == "__main__":
    main()
