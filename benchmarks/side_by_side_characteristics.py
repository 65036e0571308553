"""Error rates, power and coverage where participants compare lists side by side, by simulation.

    PYTHONPATH=. python benchmarks/side_by_side_characteristics.py [--studies 8000] [--rows FILE]

Two conditions by the exact sign test, each participant one judgement; three by Davidson's model, each participant a
judgement of every pair in one of the six balanced sequences. The functions of `inference` decide about each study.
Prints the tables of docs/explanation/operating-characteristics.md. Seeded: the same number of studies gives the same
tables. Davidson's model under other designs than the planned one decides about one study in `SLOW`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from operating_characteristics import table
from scipy import special, stats
from table import Row, write_rows

from inference.paired import SignEffect, sign_effect, sign_test
from inference.paired_comparisons import Judgements, davidson
from inference.results import Undefined
from studies.allocation.assignment.sequences import pair_sequences

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
SEED, ALPHA, NAMES = 2011, 0.05, "ABC"
UNTIED, SHARE = 100, 0.65
SLOW, LARGE = 8, 100_000
PLANTED = (0.3, -0.3, 0.0)  # log-worths: A − B = .6
RESAMPLES = 1000


@dataclass(frozen=True)
class Signs:
    """Two conditions: participants with a preference, those without, and what becomes of them."""

    untied: int = UNTIED
    tied: int = 25
    side: float = 0.0  # added to the chance of the left list
    stay: tuple[float, float] = (1.0, 1.0)  # share of those with A on the left, and on the right

    def draw(self, share: float, n_studies: int, rng: np.random.Generator) -> Integers:
        """Participants for A, for B and without a preference, shape (n_studies, 3)."""
        counts = np.zeros((n_studies, 3), dtype=np.int64)
        for side, stay in zip((1, -1), self.stay, strict=True):
            n = rng.binomial(self.untied // 2, stay, n_studies)
            of_a = rng.binomial(n, share + side * self.side)
            counts[:, 0] += of_a
            counts[:, 1] += n - of_a
            counts[:, 2] += rng.binomial(self.tied // 2, stay, n_studies)
        return counts


SIGNS = {
    "as planned": Signs(),
    "three in four see no difference": Signs(tied=300),
    "the left list gains .15": Signs(side=0.15),
    "the same, 40% of one side leave": Signs(untied=124, side=0.15, stay=(1.0, 0.6)),
}


@dataclass(frozen=True)
class Design:
    """Three conditions; log-worths differ between participants by `sd`."""

    n: int = 110
    sd: float = 0.8
    tie: float = -0.5
    side: float = 0.0
    rounds: int = 1  # how often each pair is judged
    stay: tuple[float, ...] = (1.0,) * 6  # share of each sequence that goes on after a judgement
    carried: float = 0.0  # added to the worth of what was preferred before

    def draw(self, worths: Sequence[float], n: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Conditions (n, n_judgements, 2) and the side that was chosen, 2 for a tie, -1 where there is no judgement."""
        sequence = np.arange(n) % 6
        order = np.tile(np.array(pair_sequences(3))[sequence], (1, self.rounds, 1))
        own = np.array(worths) + self.sd * rng.standard_normal((n, 3))
        chosen = np.empty(order.shape[:2], dtype=np.int64)
        is_here = np.ones(n, dtype=bool)
        for at in range(order.shape[1]):
            left, right = (np.take_along_axis(own, order[:, at, [side]], axis=1)[:, 0] for side in (0, 1))
            left, right = left + self.side / 2, right - self.side / 2
            liked = np.stack([left, right, self.tie + (left + right) / 2], axis=1) + rng.gumbel(size=(n, 3))
            choice = liked.argmax(axis=1)
            chosen[:, at] = np.where(is_here, choice, -1)
            decided = np.flatnonzero(choice < 2)
            own[decided, order[decided, at, choice[decided]]] += self.carried
            is_here &= rng.random(n) < np.array(self.stay)[sequence]
        return order, chosen


DESIGNS = {
    "as planned": Design(),
    "two in three see no difference": Design(tie=1.6),
    "the left list gains .5": Design(side=0.5),
    "what was preferred before gains .2": Design(carried=0.2),
    "20% leave, most in two sequences": Design(stay=(0.6, 0.6, 0.95, 0.95, 0.95, 0.95)),
    "60 people judge each pair twice": Design(n=60, rounds=2),
    "60 people judge each pair three times": Design(n=60, rounds=3),
}


@cache
def sign_p(n_a: int, n_b: int) -> float:
    result = sign_test([1] * n_a + [-1] * n_b, [0] * (n_a + n_b))
    return 1.0 if isinstance(result, Undefined) else result.p


@cache
def covers(n_a: int, n_b: int, truth: float) -> bool:
    effect = sign_effect(n_a, n_b, 0)
    return isinstance(effect, SignEffect) and effect.interval.low <= truth <= effect.interval.high


def rate(flags: object) -> str:
    text = f"{np.mean(np.asarray(flags)):.3f}"
    return text if text.startswith("1") else text.removeprefix("0")


def signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".").replace("-", "−")


def sign_row(name: str, n_studies: int) -> list[str]:
    """Power, size and coverage of the exact sign test, and of the bootstrap interval of the difference."""
    design, rng = SIGNS[name], np.random.default_rng([SEED, 1, list(SIGNS).index(name)])
    effect, null = (design.draw(share, n_studies, rng) for share in (SHARE, 0.5))
    p_effect, p_null = ([sign_p(a, b) for a, b in counts[:, :2].tolist()] for counts in (effect, null))
    shares = effect[:, 0] / effect[:, :2].sum(axis=1)
    total = effect.sum(axis=1)
    is_in = []
    truth = (2 * SHARE - 1) * design.untied / (design.untied + design.tied)
    for counts, n in zip(effect, total.tolist(), strict=True):
        resampled = rng.multinomial(n, counts / n, size=RESAMPLES)
        low, high = np.quantile((resampled[:, 0] - resampled[:, 1]) / n, [0.025, 0.975])
        is_in.append(low <= truth <= high)
    return [
        name,
        rate(np.array(p_effect) < ALPHA),
        rate(np.array(p_null) < ALPHA),
        rate([covers(a, b, SHARE) for a, b in effect[:, :2].tolist()]),
        rate([covers(a, b, 0.5) for a, b in null[:, :2].tolist()]),
        signed(float(shares.mean() - SHARE)),
        rate(is_in),
    ]


def fitted(order: Integers, chosen: Integers, *, is_clustered: bool) -> tuple[float, float, float, float] | None:
    """A − B with its standard error and degrees of freedom, and p of all conditions; None without a model."""
    people, at = np.nonzero(chosen >= 0)
    left, right = (order[people, at, side].tolist() for side in (0, 1))
    preferred = [
        (NAMES[a], NAMES[b], None)[side] for a, b, side in zip(left, right, chosen[people, at].tolist(), strict=True)
    ]
    clusters = people.tolist() if is_clustered else list(range(len(people)))
    of_left, of_right = [NAMES[a] for a in left], [NAMES[b] for b in right]
    result = davidson(Judgements(of_left, of_right, preferred, clusters, NAMES), alpha=ALPHA)
    if isinstance(result, Undefined):
        return None
    contrast = np.array([1.0, -1.0, 0.0])
    value, se = float(contrast @ result.means.means), float(np.sqrt(contrast @ result.means.covariance @ contrast))
    return value, se, result.n_participants - 1, result.test.p


def davidson_row(name: str, n_studies: int) -> list[str]:
    """Rates of the contrast A − B and of the test of all conditions, clustered and not."""
    design = DESIGNS[name]
    n = n_studies if name == "as planned" else max(n_studies // SLOW, 50)
    rng = np.random.default_rng([SEED, 2, list(DESIGNS).index(name)])
    # Participants who differ flatten the preferences of all together: the model's A − B is that of very many.
    large = fitted(*design.draw(PLANTED, LARGE // design.rounds, rng), is_clustered=True)
    assert large is not None
    truth = large[0]
    rows: dict[tuple[bool, bool], list[tuple[float, float, float, float]]] = {}
    for has_effect in (True, False):
        for _study in range(n):
            judgements = design.draw(PLANTED if has_effect else (0.0, 0.0, 0.0), design.n, rng)
            for is_clustered in (True, False):
                if (result := fitted(*judgements, is_clustered=is_clustered)) is not None:
                    rows.setdefault((has_effect, is_clustered), []).append(result)
    columns = {key: np.array(own).T for key, own in rows.items()}

    def is_rejected(key: tuple[bool, bool], value: float = 0.0) -> NDArray[np.bool_]:
        estimates, ses, dfs, _p = columns[key]
        return np.asarray(np.abs(estimates - value) > special.stdtrit(dfs, 0.975) * ses)

    effect, null, plain = (True, True), (False, True), (False, False)
    return [
        name,
        rate(is_rejected(effect)),
        rate(is_rejected(null)),
        rate(columns[effect][3] < ALPHA),
        rate(columns[null][3] < ALPHA),
        rate(~is_rejected(effect, truth)),
        signed(float(columns[effect][0].mean() - truth)),
        f"{truth:.2f}".removeprefix("0"),
        rate(is_rejected(plain)),
        rate(columns[plain][3] < ALPHA),
    ]


def expected() -> tuple[float, float]:
    """Power and size of the sign test of 100 untied, from the binomial distribution alone."""
    wins = np.arange(UNTIED + 1)
    is_found = np.array([stats.binomtest(int(k), UNTIED).pvalue < ALPHA for k in wins])
    power, size = (float(stats.binom.pmf(wins, UNTIED, share)[is_found].sum()) for share in (SHARE, 0.5))
    return power, size


SIGN_HEAD = [
    "sign test", "power", "size", "covered, 65%", "covered, 50%", "bias of the share",
    "difference covered by bootstrap",
]  # fmt: skip
DAVIDSON_HEAD = [
    "Davidson", "A − B, power", "null", "all, power", "null", "A − B covered", "bias", "true A − B",
    "unclustered, A − B, null", "all, null",
]  # fmt: skip


def rows_of(n_studies: int) -> tuple[list[list[str]], list[list[str]]]:
    """The rows of both tables."""
    signs = [sign_row(name, n_studies) for name in SIGNS]
    worths = []
    for name in DESIGNS:
        worths.append(davidson_row(name, n_studies))
        print(*worths[-1], file=sys.stderr, flush=True)
    return signs, worths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--rows", type=Path, help="rows for the table of benchmarks")
    chosen = parser.parse_args()
    if chosen.studies < 50:
        parser.error("Give at least 50 studies: fewer say nothing about rates.")
    began = time.perf_counter()
    print("Expected of the sign test: power {:.3f}, size {:.3f}".format(*expected()))
    for head, rows in zip((SIGN_HEAD, DAVIDSON_HEAD), rows_of(chosen.studies), strict=True):
        print(table(head, rows) + "\n", flush=True)
    seconds = time.perf_counter() - began
    print(f"{chosen.studies} studies a row: {seconds:.0f} s")
    if chosen.rows:
        row = Row(f"side-by-side characteristics, {chosen.studies} studies a row", {"seconds": seconds}, repetitions=1)
        write_rows(chosen.rows, "side-by-side characteristics: one process", [row], 1)


if __name__ == "__main__":
    main()
