"""One plausible drawing of every chart, with the seven algorithms of Cremonesi et al. (2011)."""

from __future__ import annotations

import copy
import http.server
import itertools
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from charting.marks import (
    Difference,
    Mediator,
    Path,
    Stage,
    bars,
    box_plot,
    consort,
    curves,
    forest,
    hasse,
    histogram,
    likert_bars,
    long_tail,
    matrix,
    path_diagram,
    scatter,
    trace,
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


def _differences() -> list[Difference]:
    pairs = itertools.combinations(sorted(MEANS, key=lambda name: -MEANS[name]), 2)
    found = [(a, b, MEANS[a] - MEANS[b]) for a, b in pairs]
    return [Difference(a, b, gap, gap - 0.45, gap + 0.45, "= .031", gap > 0.45) for a, b, gap in found]


def _steps() -> dict[str, dict[int, int]]:
    return {name: {1: 1, 2: 2 + place, 3: 9 - place, 4: 12, 5: 6} for place, name in enumerate(NAMES)}


def _coefficients() -> dict[str, dict[str, float | None]]:
    measures = ("Perceived\naccuracy", "First-order\nnovelty", "Second-order\nnovelty", "Global\nsatisfaction")
    lines = {
        "Recall at 5": (0.14, -0.52, -0.43, 0.05),
        "Fallout at 5 as served": (-0.33, 0.81, 0.71, 0.0),
        "Diversity at 5,\n5 ratings": (0.24, 0.05, 0.14, 1.0),
        "RMSE": (None, None, None, None),
    }
    return {name: dict(zip(measures, line, strict=True)) for name, line in lines.items()}


Draw = Callable[[], Spec]

DRAWINGS: dict[str, Draw] = {
    "box_plot": lambda: box_plot(
        _answers(),
        title="Participants find TopPop more accurate than CorNgr and NNCosNgr",
        y_title="Perceived accuracy, 1 to 5",
        domain=(1, 5),
        letters=dict(zip(NAMES, ("a", "c", "c", "abc", "ab", "abc", "bc"), strict=True)),
    ),
    "likert_bars": lambda: likert_bars(
        _steps(),
        steps=[1, 2, 3, 4, 5],
        title="Most answer 4 or 5",
        x_title="Global satisfaction, 1 to 5",
    ),
    "forest": lambda: forest(
        _differences(),
        title="8 of 21 pairs differ significantly in perceived accuracy",
        x_title="Difference of means in perceived accuracy, with simultaneous 95% CIs",
    ),
    "matrix": lambda: matrix(
        _coefficients(),
        title="Diversity goes with satisfaction",
        subtitle="Kendall’s rank correlation of each metric with each measure",
        outlined=[("Recall at 5", "Perceived\naccuracy")],
        emphasised=[("Diversity at 5,\n5 ratings", "Global\nsatisfaction")],
        reasons={("RMSE", "Global\nsatisfaction"): "TopPop has no value of RMSE."},
    ),
    "consort": lambda: consort(
        [
            Stage("Consented", 240, {"Screened out": 6, "Study full": 4}),
            Stage("Assigned to a condition", 230, {"Abandoned": 18, "Withdrew": 2}),
            Stage("Completed", 210, {"Excluded: answered in under two minutes": 3}),
            Stage("Analysed", 207, {}),
        ],
        title="207 of 240 who consented can be analysed",
    ),
    "path_diagram": lambda: path_diagram(
        "Algorithm",
        [
            Mediator("Perceived recommendation quality", Path("p = .003", True), Path("β = .42", True)),
            Mediator("Trust", Path("p = .210", False), Path("β = .08", False)),
        ],
        "Satisfaction",
        Path("p = .400", False),
        title="Perceived quality significantly predicts satisfaction",
        subtitle="Standardised paths",
    ),
    "hasse": lambda: hasse(
        _around(MEANS, 0.25),
        [("TopPop", "CorNgr"), ("TopPop", "NNCosNgr"), ("PureSVD50", "NNCosNgr")],
        title="TopPop and PureSVD50 differ significantly from two others",
        y_title="Perceived accuracy, mean on a scale of 1 to 5",
    ),
    "bars": lambda: bars(
        {"whole profile": _around(RECALL, 0.01), "profile of five": _around(RECALL, 0.01)},
        title="PureSVD finds twice as much as any other",
        x_title="Recall at 5, with 95% CIs over test users",
    ),
    "curves": lambda: curves(
        {name: [value * 1.9 * (1 - math.exp(-n / 6)) for n in range(1, 21)] for name, value in RECALL.items()},
        title="PureSVD leads at every length of the list",
        y_title="Recall",
        at_n=5,
        emphasised=["PureSVD50"],
    ),
    "scatter": lambda: scatter(
        _around(MEANS, 0.25),
        _around(RECALL, 0.01),
        title="Recall does not predict perceived accuracy (τ = .14, p = .77)",
        perceived_title="Perceived accuracy",
        objective_title="Recall at 5",
    ),
    "trace": lambda: trace(
        [(10, (0.20, 0.18, 0.22)), (50, (0.29, 0.27, 0.31)), (300, (0.25, 0.23, 0.27))],
        title="PureSVD is best with factors=50",
        x_title="factors",
        y_title="Recall",
        chosen=1,
        is_log=True,
    ),
    "histogram": lambda: histogram(
        {0.5: 1370, 1: 2811, 2: 7551, 3: 20047, 4: 26818, 5: 13211},
        title="Most ratings are 3 or more",
        x_title="Rating",
    ),
    "long_tail": lambda: long_tail(
        [1 + int(330 / (1 + place / 60) ** 1.25) for place in range(5000)],
        title="Few films hold most ratings",
    ),
}


@cache
def _drawn(name: str) -> Spec:
    return DRAWINGS[name]()


@pytest.fixture(params=sorted(DRAWINGS))
def draw(request: pytest.FixtureRequest) -> Draw:
    """A function that draws one of the charts; every chart comes in turn, and is drawn once."""

    return lambda: copy.deepcopy(_drawn(request.param))


@pytest.fixture(scope="session")
def all_drawings() -> dict[str, Draw]:
    """Every chart by the name of its function."""
    return DRAWINGS


@pytest.fixture(scope="module")
def serve_pages() -> Iterator[Callable[[Mapping[str, tuple[str, str]], tuple[str, ...]], str]]:
    """Serve texts by path under the policy of the pages; gives the address of the first."""
    servers: list[http.server.ThreadingHTTPServer] = []

    def start(pages: Mapping[str, tuple[str, str]], style_sources: tuple[str, ...]) -> str:
        policy = "default-src 'self'; script-src 'self'; img-src 'self' data:; style-src 'self' " + " ".join(
            style_sources
        )

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                kind, body = pages[self.path]
                self.send_response(200)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Security-Policy", policy)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: Any) -> None:
                """Keep the test's output quiet."""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
