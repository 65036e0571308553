"""Error rates, power and coverage of planned effects of factors and doses, by simulation.

    PYTHONPATH=. python benchmarks/factorial_characteristics.py [--studies 8000] [--rows FILE]

Draws the answers of operating_characteristics.py in a 2 x 2 design of 128 participants and under four doses of 160, and
has the functions of `inference.factorial` decide about each study. Prints the tables of
docs/explanation/operating-characteristics.md. Seeded: the same number of studies gives the same tables.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from operating_characteristics import (
    ALPHA,
    SEED,
    Design,
    Floats,
    Summaries,
    draw_participants,
    table,
    tied,
    unhappy,
)
from scipy import stats
from table import Row, write_rows

from inference.factorial import (
    CellMeans,
    MeanContrast,
    Weights,
    interaction_weights,
    mean_contrast,
    pair_weights,
    trend_term,
    trend_weights,
)
from inference.results import Undefined

F = 0.25
NAMES = ("A", "B", "C", "D")
CELLS = {name: {"x": "12"[index // 2], "y": "12"[index % 2]} for index, name in enumerate(NAMES)}
DOSES = dict(zip(NAMES, (0.0, 0.3, 0.6, 0.9), strict=True))
LEAVING = (0.0, 0.1, 0.3, 0.4)  # a fifth of all, by condition
SPREADS = (1.6, 1.2, 0.8, 0.4)


def crossed(_k: int) -> Floats:
    """Means of which the interaction is all."""
    return np.array([1.0, 0.0, 0.0, 1.0])


def rising(_k: int) -> Floats:
    return np.arange(4.0)


@dataclass(frozen=True)
class Planned:
    """A planned effect, and other contrasts to watch."""

    name: str
    weights: Weights
    design: Design  # with the effect of f = .25


DESIGNS = (
    Planned(
        "2 × 2, interaction",
        interaction_weights(CELLS, pair_weights(CELLS, "x", "2", "1"), pair_weights(CELLS, "y", "2", "1")),
        Design(4, (32,) * 4, order=crossed),
    ),
    Planned("four doses, trend", trend_weights(DOSES), Design(4, (40,) * 4, order=rising)),
)
STRAINS = (
    "as planned", "answers at the floor (1.6)", "sizes inverse to spreads", "0 to 40% leave by condition",
    "the dissatisfied leave two conditions",
)  # fmt: skip


def strained(planned: Planned, strain: str) -> Design:
    design = planned.design
    if strain == "answers at the floor (1.6)":
        return replace(design, middle=1.6)
    if strain == "sizes inverse to spreads":
        n = design.n[0]
        return replace(design, n=(n // 2, n * 3 // 4, n * 5 // 4, n + n // 2), sd=SPREADS)
    return design


def draw_studies(design: Design, strain: str, n_studies: int, rng: np.random.Generator) -> Summaries:
    groups = draw_participants(design, n_studies, rng)
    for column, (values, share) in enumerate(zip(groups, LEAVING, strict=True)):
        if strain == "0 to 40% leave by condition":
            groups[column] = np.where(rng.random(values.shape) < share, np.nan, values)
        if strain == "the dissatisfied leave two conditions" and column in (1, 3):
            groups[column] = np.where(unhappy(values, rng), np.nan, values)
    return Summaries.of(groups)


def rates(planned: Planned, design: Design, strain: str, n_studies: int, seed: int) -> dict[str, float]:
    """How often the effect is found and its interval covers, and its bias in standard deviations."""
    of = draw_studies(design, strain, n_studies, np.random.default_rng([SEED, seed]))
    weights = np.array([planned.weights[name] for name in NAMES])
    truth, sd = float(weights @ design.means), float(np.sqrt((of.sds**2).mean()))
    pooled = ((of.ns - 1) * of.sds**2).sum(1) / (of.ns - 1).sum(1)
    t = (of.means @ weights) / np.sqrt(pooled * (weights**2 / of.ns).sum(1))
    counted = dict.fromkeys(("found", "covered", "other"), 0)
    values = np.empty(n_studies)
    for row in range(n_studies):
        means = CellMeans(NAMES, of.means[row], of.sds[row] ** 2 / of.ns[row], of.ns[row])
        result = mean_contrast(means, planned.weights, alpha=ALPHA)
        assert isinstance(result, MeanContrast)
        values[row] = result.value
        counted["found"] += result.p < ALPHA
        counted["covered"] += result.interval.low <= truth <= result.interval.high
        counted["other"] += _finds_absent_effect(planned, means)
    shares = {name: number / n_studies for name, number in counted.items()}
    # In SDs of a participant for each unit of the contrast's own size, so that a slope and a difference compare.
    bias = float(values.mean() - truth) / sd / float(np.abs(weights).sum() / 2)
    pooled_rate = float((2 * stats.t.sf(np.abs(t), of.ns.sum(1) - 4) < ALPHA).mean())
    return {**shares, "bias": bias, "pooled": pooled_rate}


def _finds_absent_effect(planned: Planned, means: CellMeans) -> bool:
    """Whether a test finds what is never there: a marginal difference beside the interaction, a bend in the line."""
    if planned is DESIGNS[0]:
        result = mean_contrast(means, pair_weights(CELLS, "x", "2", "1"), alpha=ALPHA)
        return isinstance(result, MeanContrast) and result.p < ALPHA
    bend = trend_term(means, DOSES).joint
    return not isinstance(bend, Undefined) and bend.p < ALPHA


def expected_power(n: int) -> float:
    """By the noncentral F distribution."""
    return float(stats.ncf.sf(stats.f.isf(ALPHA, 1, n - 4), 1, n - 4, n * F**2))


HEAD = ["design", "power", "size", "covers, f = .25", "covers, no effect", "bias, SD", "size of the other test",
        "size, pooled variance"]  # fmt: skip


def rows_of(n_studies: int, strains: tuple[str, ...] = STRAINS) -> dict[tuple[str, str], dict[str, float]]:
    """The rates of each design under each strain."""
    rows = {}
    for number, planned in enumerate(DESIGNS):
        for index, strain in enumerate(strains):
            design = strained(planned, strain)
            effect = rates(planned, design, strain, n_studies, 100 * number + index)
            null = rates(planned, replace(design, order=tied), strain, n_studies, 100 * number + 50 + index)
            rows[planned.name, strain] = {
                "power": effect["found"], "size": null["found"], "covers": effect["covered"],
                "covers null": null["covered"], "bias": max(effect["bias"], null["bias"], key=abs),
                "other": null["other"], "pooled": null["pooled"],
            }  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--rows", type=Path, help="rows for the table of benchmarks")
    chosen = parser.parse_args()
    if chosen.studies < 50:
        parser.error("Give at least 50 studies: fewer say nothing about rates.")
    began = time.perf_counter()
    rows = rows_of(chosen.studies)
    for planned in DESIGNS:
        n = sum(planned.design.n)
        print(f"{planned.name}, n = {n}: expected power {expected_power(n):.3f} by the noncentral F distribution\n")
        lines = [
            [strain, *(f"{value:.3f}".replace("0.", ".", 1).replace("-", "−") for value in by.values())]
            for (name, strain), by in rows.items()
            if name == planned.name
        ]
        print(table(HEAD, lines) + "\n")
    seconds = time.perf_counter() - began
    print(f"{chosen.studies} studies a row: {seconds:.0f} s")
    if chosen.rows:
        row = Row(f"factorial characteristics, {chosen.studies} studies a row", {"seconds": seconds}, repetitions=1)
        write_rows(chosen.rows, "factorial characteristics: one process", [row], 1)


if __name__ == "__main__":
    main()
