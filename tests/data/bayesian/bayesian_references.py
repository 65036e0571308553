"""Reference values of PyMC and ArviZ for the hierarchical ordinal model and the diagnostics of chains.

In an environment of its own (pymc 5.28.5, nutpie 0.16.8, arviz 0.23.4), from the root of the repository:
PYTHONPATH=. python tests/data/bayesian/bayesian_references.py
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import arviz
import numpy as np
import nutpie
import pymc
import pytensor.tensor as pt

from inference.hierarchical_ordinal import THRESHOLD_SD, OrdinalPrior
from tests.factories.chains import autoregressive, simulated_ratings

FOLDER = Path(__file__).parent
CASES = [  # phi, chains, draws, seed, distance of the first chain
    (0.0, 4, 500, 1, 0.0),
    (0.7, 4, 501, 2, 0.0),
    (-0.6, 2, 400, 3, 0.0),
    (0.95, 4, 300, 4, 0.0),
    (0.3, 3, 200, 5, 1.0),
]


def diagnostics() -> None:
    cases = []
    for phi, chains, draws, seed, apart in CASES:
        array = autoregressive(phi, (chains, draws), seed, apart)
        values = {
            "r_hat": float(arviz.rhat(array, method="rank")),
            "ess_bulk": float(arviz.ess(array, method="bulk")),
            "ess_tail": float(arviz.ess(array, method="tail")),
        }
        cases.append({"phi": phi, "chains": chains, "draws": draws, "seed": seed, "apart": apart, **values})
    write("convergence.json", {"source": f"ArviZ {arviz.__version__}", "cases": cases})


def posterior() -> None:
    ratings, prior = simulated_ratings(11), OrdinalPrior()
    n_thresholds, k = ratings.n_categories - 1, int(ratings.conditions.max()) + 1
    with pymc.Model() as model:
        effects = pymc.Normal("effects", 0, prior.effect_sd, shape=k)
        thresholds = pymc.Normal(
            "thresholds",
            0,
            THRESHOLD_SD,
            shape=n_thresholds,
            transform=pymc.distributions.transforms.ordered,
            initval=np.linspace(-1.5, 1.5, n_thresholds),
        )
        sds = [pymc.HalfStudentT(f"sd_{name}", nu=3, sigma=prior.spread_scale) for name in ("participants", "items")]
        eta = effects[ratings.conditions]
        for sd, name, group in zip(sds, ("u", "v"), (ratings.participants, ratings.items), strict=True):
            eta = eta + (sd * pymc.Normal(name, 0, 1, shape=int(group.max()) + 1))[group]
        below = pt.concatenate([pt.zeros(1), pt.ones(1)])
        cumulative = 0.5 * pt.erfc(-(thresholds[None, :] - eta[:, None]) / np.sqrt(2))
        whole = pt.concatenate([below[0] * pt.ones((len(ratings.codes), 1)), cumulative,
                                pt.ones((len(ratings.codes), 1))], axis=1)  # fmt: skip
        pymc.Categorical("codes", p=whole[:, 1:] - whole[:, :-1], observed=ratings.codes)
    start = time.monotonic()
    compiled = nutpie.compile_pymc_model(model, backend="numba")
    compile_seconds = time.monotonic() - start
    trace = nutpie.sample(compiled, draws=4000, tune=1500, chains=4, cores=1, seed=3, target_accept=0.95,
                          progress_bar=False)  # fmt: skip
    seconds = time.monotonic() - start - compile_seconds
    values = trace.posterior
    effects_drawn, thresholds_drawn = values["effects"].to_numpy(), values["thresholds"].to_numpy()
    centre = effects_drawn.mean(axis=2, keepdims=True)
    named = {f"effect {index}": column for index, column in enumerate(np.moveaxis(effects_drawn - centre, 2, 0))}
    named |= {f"threshold {index}": column for index, column in enumerate(np.moveaxis(thresholds_drawn - centre, 2, 0))}
    named |= {"sd of participants": values["sd_participants"].to_numpy(), "sd of items": values["sd_items"].to_numpy()}
    write(
        "hierarchical_ordinal.json",
        {
            "source": f"PyMC {pymc.__version__}, nutpie {nutpie.__version__}, simulated_ratings(11), seed 3",
            "divergences": int(trace.sample_stats["diverging"].sum()),
            "ess": min(float(arviz.ess(draws, method="bulk")) for draws in named.values()),
            "posterior": {name: [float(draws.mean()), float(draws.std())] for name, draws in named.items()},
        },
    )
    print(f"compiled in {compile_seconds:.0f} s, sampled in {seconds:.0f} s")  # noqa: T201


def write(name: str, values: dict[str, object]) -> None:
    (FOLDER / name).write_text(json.dumps(values, indent=2) + "\n")


if __name__ == "__main__":
    diagnostics()
    posterior()
