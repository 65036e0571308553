"""One plausible drawing of every chart, with the seven algorithms of Cremonesi et al. (2011)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from charting.marks import (
    Counts,
    bars,
    box_plot,
    curves,
    hasse,
    histogram,
    long_tail,
    progress,
    scatter,
    slope,
)
from charting.theme import Spec

NAMES = ("TopPop", "CorNgr", "NNCosNgr", "AsySVD", "PureSVD50", "PureSVD300", "LSA")
MEANS = dict(zip(NAMES, (3.92, 3.09, 3.05, 3.55, 3.61, 3.49, 3.30), strict=True))
RECALL = dict(zip(NAMES, (0.11, 0.08, 0.12, 0.13, 0.29, 0.25, 0.01), strict=True))


def _answers() -> dict[str, list[float]]:
    rng = np.random.default_rng(7)
    return {
        name: [float(value) for value in np.clip(np.round(rng.normal(mean, 0.8, 30) * 5) / 5, 1, 5)]
        for name, mean in MEANS.items()
    }


def _around(values: Mapping[str, float], half: float) -> dict[str, tuple[float, float, float]]:
    return {name: (value, value - half, value + half) for name, value in values.items()}


def _ranks(values: Mapping[str, float]) -> dict[str, tuple[float, float, float]]:
    ordered = sorted(values, key=lambda name: -values[name])
    return {name: (rank, max(1, rank - 1), min(7, rank + 2)) for rank, name in enumerate(ordered, start=1)}


Draw = Callable[..., Spec]

DRAWINGS: dict[str, Draw] = {
    "box_plot": lambda **options: box_plot(
        _answers(),
        title="Participants find TopPop more accurate than CorNgr and NNCosNgr",
        y_title="Perceived accuracy, 1 to 5",
        domain=(1, 5),
        letters=dict(zip(NAMES, ("a", "c", "c", "abc", "ab", "abc", "bc"), strict=True)),
        **options,
    ),
    "slope": lambda **options: slope(
        _ranks(MEANS),
        _ranks(RECALL),
        title="What scores best offline is not what people find best",
        perceived_title="Perceived accuracy",
        objective_title="Recall at 5",
        contradicted=[("TopPop", "NNCosNgr")],
        **options,
    ),
    "hasse": lambda **options: hasse(
        _around(MEANS, 0.25),
        [("TopPop", "CorNgr"), ("TopPop", "NNCosNgr"), ("PureSVD50", "NNCosNgr")],
        title="TopPop and PureSVD50 are told apart from two others",
        y_title="Perceived accuracy, mean on a scale of 1 to 5",
        **options,
    ),
    "bars": lambda **options: bars(
        {"whole profile": _around(RECALL, 0.01), "profile of five": _around(RECALL, 0.01)},
        title="PureSVD finds twice as much as any other",
        x_title="Recall at 5, with 95 % intervals over test users",
        **options,
    ),
    "curves": lambda **options: curves(
        {name: [value * 1.9 * (1 - math.exp(-n / 6)) for n in range(1, 21)] for name, value in RECALL.items()},
        title="PureSVD leads at every length of the list",
        y_title="Recall",
        at_n=5,
        emphasised=["PureSVD50"],
        **options,
    ),
    "scatter": lambda **options: scatter(
        _around(MEANS, 0.25),
        _around(RECALL, 0.01),
        title="Recall does not predict perceived accuracy (τ = .14, p = .77)",
        perceived_title="Perceived accuracy",
        objective_title="Recall at 5",
        **options,
    ),
    "progress": lambda **options: progress(
        {name: Counts(30 - 3 * place, place % 3, place % 2, place) for place, name in enumerate(NAMES)},
        dict.fromkeys(NAMES, 30),
        title="147 of 210 have completed",
        **options,
    ),
    "histogram": lambda **options: histogram(
        {0.5: 1370, 1: 2811, 2: 7551, 3: 20047, 4: 26818, 5: 13211},
        title="Most ratings are 3 or more",
        x_title="Rating",
        **options,
    ),
    "long_tail": lambda **options: long_tail(
        [1 + int(330 / (1 + place / 60) ** 1.25) for place in range(5000)],
        title="Few films hold most ratings",
        **options,
    ),
}


@pytest.fixture(params=sorted(DRAWINGS))
def draw(request: pytest.FixtureRequest) -> Draw:
    """A function that draws one of the charts; every chart comes in turn."""
    return DRAWINGS[request.param]


@pytest.fixture
def all_drawings() -> dict[str, Draw]:
    """Every chart by the name of its function."""
    return DRAWINGS
