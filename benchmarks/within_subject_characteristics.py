"""Error rates, power and coverage where every participant meets three conditions in turn, by simulation.

    PYTHONPATH=. python benchmarks/within_subject_characteristics.py [--studies 8000] [--only NAMES] [--rows FILE]

Draws studies with 36 participants in the six Williams sequences and has the functions of `inference` decide about each.
Prints the tables of docs/explanation/operating-characteristics.md. Seeded: the same number of studies gives the same
tables. Where no occasion is missing, the mixed model is computed for many studies at once by the sums of squares of
participants, positions and conditions; `tests/inference/test_within_subject_characteristics.py` compares these with
`inference.sequences.fit_within`, which decides about all other studies, one in `SLOW`.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from operating_characteristics import table
from scipy import special, stats
from table import Row, write_rows

from inference.paired import friedman
from inference.results import Undefined
from inference.sequences import Occasions, carry_over, fit_within, repeated_measures
from inference.studentized_range import critical_range

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
SEED, ALPHA, NAMES, N = 2011, 0.05, "ABC", 36
K = len(NAMES)
PAIRS = list(combinations(range(K), 2))
SEQUENCES = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 2, 1], [1, 0, 2]])
ORDER = np.tile(SEQUENCES, (N // 6, 1))  # (n, position) -> condition
POSITION = np.argsort(ORDER, axis=1)  # (n, condition) -> position
SHARE = 0.5  # ρ, of the variance that lies between participants
DRIFT = np.array([0.0, 0.2, -0.1])  # of the positions
# Spread f = .25 in standard deviations of a value, and A − B = .5, which is d_z = .5 with ρ = .5.
MEANS = np.array([0.25, -0.25, 0.0]) + math.sqrt((K * 0.25**2 - 2 * 0.25**2) / 6) * np.array([1.0, 1.0, -2.0])
SLOW = 5
LIKELY, UNLIKELY = 0.5, 0.05


@dataclass(frozen=True)
class Design:
    """What is true of a study's participants; values in standard deviations."""

    sds: tuple[float, ...] = (1.0,) * K
    carried: float = 0.0  # by A to the next occasion
    floor: float | None = None  # of single answers rounded to 1 to 5, the mean before rounding
    missing: tuple[float, ...] = (0.0,) * K  # share of the occasions of each condition, at random
    # Values (n_studies, n, position) and draws of the same shape -> the occasions after which people leave.
    leave: Callable[[Floats, Floats], Flags] | None = None
    is_unseen: bool = False  # whether they leave at this occasion instead, without its value

    @property
    def is_complete(self) -> bool:
        return self.leave is None and not any(self.missing)

    def truth(self, means: Floats) -> Floats:
        """The true means of the conditions, without carry-over and averaged over positions."""
        if self.floor is None:
            return means
        latent = self.floor + means[:, None] + DRIFT
        return np.asarray((1 + stats.norm.sf(np.arange(1.5, 5.0)[:, None, None], latent).sum(axis=0)).mean(axis=1))

    def draw(self, means: Floats, n_studies: int, rng: np.random.Generator) -> Floats:
        """Values of shape (n_studies, n, condition); NaN where there is none."""
        shape = (n_studies, N, K)
        noise = math.sqrt(SHARE) * rng.standard_normal((n_studies, N, 1)) + math.sqrt(1 - SHARE) * rng.standard_normal(
            shape
        )
        values = means[ORDER] + DRIFT + np.array(self.sds)[ORDER] * noise
        values[:, :, 1:] += self.carried * (ORDER[:, :-1] == 0)
        if self.floor is not None:
            values = np.clip(np.rint(values + self.floor), 1, 5)
        observed = rng.random(shape) >= np.array(self.missing)[ORDER]
        if self.leave is not None:
            left = np.cumsum(self.leave(values, rng.random(shape)), axis=2) > 0
            observed &= ~left if self.is_unseen else ~np.pad(left, ((0, 0), (0, 0), (1, 0)))[:, :, :-1]
        return np.take_along_axis(np.where(observed, values, np.nan), np.broadcast_to(POSITION, shape), axis=2)


def by_arm(_values: Floats, draws: Floats) -> Flags:
    return draws < np.array([LIKELY / 2, UNLIKELY, 0.0])[ORDER]


def dissatisfied(values: Floats, draws: Floats) -> Flags:
    return draws < np.where((ORDER == 0) & (values < values.mean()), LIKELY, UNLIKELY * (ORDER == 1))


DESIGNS = {
    "as planned": Design(),
    "answers at the floor": Design(floor=1.0),
    "carry-over of .2 SD": Design(carried=0.2),
    "SD .5, 1 and 1.5": Design(sds=(0.5, 1.0, 1.5)),
    "the same, 0, 15 and 30% missing": Design(sds=(0.5, 1.0, 1.5), missing=(0.0, 0.15, 0.3)),
    "20% leave, most after A": Design(leave=by_arm),
    "20% leave, most dissatisfied by A": Design(leave=dissatisfied),
    "the same, without that answer": Design(leave=dissatisfied, is_unseen=True),
}


@dataclass(frozen=True)
class Estimated:
    """What a procedure says of each of many studies; pairs in the order of `PAIRS`."""

    differences: Floats  # (n_studies, n_pairs), as the next two
    ses: Floats
    dfs: Floats
    p: Floats  # of all conditions; (n_studies,)

    def covers(self, truth: Floats) -> Flags:
        """Whether the 95% interval of each pair alone has the true difference."""
        return np.asarray(np.abs(self.differences - apart(truth)) <= special.stdtrit(self.dfs, 0.975) * self.ses)

    def cover_together(self, truth: Floats) -> Flags:
        """Whether all simultaneous intervals have the true differences."""
        known = {df: critical_range(ALPHA, K, df) / math.sqrt(2) for df in np.unique(self.dfs).tolist()}
        limits = np.vectorize(known.__getitem__)(self.dfs) * self.ses
        return np.asarray((np.abs(self.differences - apart(truth)) <= limits).all(axis=1))


def apart(means: Floats) -> Floats:
    return np.array([means[a] - means[b] for a, b in PAIRS])


def at_once(values: Floats) -> Estimated:
    """The mixed model of complete studies: balanced sums of squares."""
    centred = values - values.mean(axis=(1, 2), keepdims=True)
    conditions, participants = centred.mean(axis=1), centred.mean(axis=2)
    by_position = np.take_along_axis(centred, np.broadcast_to(ORDER, values.shape), axis=2).mean(axis=1)
    explained = N * (conditions**2).sum(axis=1)
    between = K * (participants**2).sum(axis=1)
    rest = (centred**2).sum(axis=(1, 2)) - explained - N * (by_position**2).sum(axis=1) - between
    df = np.full(len(values), (N - 2.0) * (K - 1))
    # Where participants differ less than chance has them differ, their variance is 0.
    is_pooled = between / (N - 1) <= rest / df
    variance = np.where(is_pooled, (rest + between) / (df + N - 1), rest / df)
    df = np.where(is_pooled, df + N - 1, df)
    differences = np.stack([conditions[:, a] - conditions[:, b] for a, b in PAIRS], axis=1)
    repeated = [np.repeat(of[:, None], len(PAIRS), axis=1) for of in (np.sqrt(2 * variance / N), df)]
    return Estimated(differences, *repeated, special.fdtrc(K - 1, df, explained / (K - 1) / variance))


def occasions_of(values: Floats) -> Occasions:
    """The occasions of one study; values (n, condition)."""
    rows = [
        (float(values[p, c]), NAMES[c], j + 1, NAMES[ORDER[p, j - 1]] if j else None, p)
        for p in range(N)
        for j, c in enumerate(ORDER[p].tolist())
        if not math.isnan(values[p, c])
    ]
    return Occasions(*zip(*rows, strict=True), names=NAMES)


def one_by_one(values: Floats) -> Estimated:
    """The mixed model by `fit_within`."""
    rows = []
    for study in values:
        fit = fit_within(occasions_of(study))
        assert not isinstance(fit, Undefined)
        pairs = fit.pairs(ALPHA).pairs
        rows.append(([q.difference for q in pairs], [q.se for q in pairs], [q.df for q in pairs], fit.test(0).p))
    return Estimated(*(np.array(column) for column in zip(*rows, strict=True)))


def first_occasions(values: Floats) -> Estimated:
    """Welch's t test of every pair between the participants who met a condition first; no test of all."""
    first = [values[:, ORDER[:, 0] == c, c] for c in range(K)]
    ns = [np.isfinite(of).sum(axis=1) for of in first]
    squared = [np.nanvar(of, axis=1, ddof=1) / n for of, n in zip(first, ns, strict=True)]
    columns = []
    for a, b in PAIRS:
        difference, variance = np.nanmean(first[a], 1) - np.nanmean(first[b], 1), squared[a] + squared[b]
        # Answers at a floor may have no variance at all.
        with np.errstate(invalid="ignore"):
            df = variance**2 / (squared[a] ** 2 / (ns[a] - 1) + squared[b] ** 2 / (ns[b] - 1))
        columns.append((difference, np.sqrt(variance), np.where(variance > 0, df, 1.0)))
    return Estimated(*(np.stack(of, axis=1) for of in zip(*columns, strict=True)), np.zeros(len(values)))


def rate(flags: Flags) -> str:
    text = f"{flags.mean():.3f}"
    return text if text.startswith("1") else text.removeprefix("0")


def bias(differences: Floats, truth: Floats, sd: float) -> str:
    return f"{(differences.mean() - apart(truth)[0]) / sd:+.3f}".replace("0.", ".").replace("-", "−")


MODEL = [
    "mixed model", "all, power", "all, null", "A − B, power", "any false pair", "A − B covered", "worst pair covered",
    "all pairs covered", "bias of A − B",
]  # fmt: skip
BESIDE = [
    "beside it", "Greenhouse–Geisser, power", "null", "Friedman, power", "null", "first occasion, A − B, power",
    "covered", "bias", "completers, A − B covered", "bias",
]  # fmt: skip
CARRIED = ["carry-over", "found", "bias of A − B without it in the model", "with it", "A − B covered"]


def rows_of(name: str, n_studies: int) -> tuple[list[str], list[str]]:
    """What the mixed model, and what the procedures beside it, say under one design."""
    design, n = DESIGNS[name], n_studies if DESIGNS[name].is_complete else n_studies // SLOW
    with_effect, without = (design.draw(means, n, generator(name, at)) for at, means in enumerate((MEANS, 0 * MEANS)))
    decide = at_once if design.is_complete else one_by_one
    effect, null = decide(with_effect), decide(without)
    truth, none, sd = design.truth(MEANS), 0 * MEANS, float(np.nanstd(without, axis=1, ddof=1).mean())
    covered, first = effect.covers(truth), first_occasions(with_effect)
    model = [
        name,
        rate(effect.p < ALPHA),
        rate(null.p < ALPHA),
        rate(~effect.covers(none)[:, 0]),
        rate(~null.cover_together(none)),
        rate(covered[:, 0]),
        min(rate(pair) for pair in covered.T),
        rate(effect.cover_together(truth)),
        bias(effect.differences[:, 0], truth, sd),
    ]
    further = [
        name,
        *(rate(test(values)) for test in (by_variance, by_ranks) for values in (with_effect, without)),
        rate(~first.covers(none)[:, 0]),
        rate(first.covers(truth)[:, 0]),
        bias(first.differences[:, 0], truth, sd),
        "",
        "",
    ]
    if not design.is_complete:
        completers = one_by_one(np.where(np.isnan(with_effect).any(axis=2, keepdims=True), np.nan, with_effect))
        further[-2:] = rate(completers.covers(truth)[:, 0]), bias(completers.differences[:, 0], truth, sd)
    return model, further


def generator(name: str, at: int) -> np.random.Generator:
    return np.random.default_rng([SEED, list(DESIGNS).index(name), at])


def by_variance(values: Floats) -> Flags:
    results = [repeated_measures(dict(zip(NAMES, study.T, strict=True))) for study in values]
    return np.array([not isinstance(of, Undefined) and of.p_corrected < ALPHA for of in results])


def by_ranks(values: Floats) -> Flags:
    results = [friedman(dict(zip(NAMES, study.T, strict=True))) for study in values]
    return np.array([not isinstance(of, Undefined) and of.p < ALPHA for of in results])


def carried_row(name: str, n_studies: int) -> list[str]:
    """What the test of carry-over says, and what the previous condition in the model does to A − B."""
    rejections, pairs = [], []
    for values in DESIGNS[name].draw(MEANS, n_studies, generator(name, 2)):
        result = carry_over(occasions_of(values))
        assert not isinstance(result, Undefined)
        rejections.append(result.test.p < ALPHA)
        before, after = result.unadjusted.pairs[0], result.adjusted.pairs[0]
        assert after.se is not None
        assert after.df is not None
        pairs.append((before.difference, after.difference, after.se, after.df))
    before_all, after_all, se, df = np.array(pairs).T
    covered = np.abs(after_all - apart(MEANS)[0]) <= special.stdtrit(df, 0.975) * se
    return [
        name,
        rate(np.array(rejections)),
        *(bias(differences, MEANS, 1.0) for differences in (before_all, after_all)),
        rate(covered),
    ]


def expected() -> tuple[float, float]:
    """Power by noncentral F and t, without the product: of all conditions, and of one contrast in its own spread."""
    critical = stats.f.isf(ALPHA, K - 1, (N - 1) * (K - 1))
    power = stats.ncf.sf(critical, K - 1, (N - 1) * (K - 1), N * K * 0.25**2 / (1 - SHARE))
    t, noncentrality = stats.t.isf(ALPHA / 2, N - 1), 0.5 * math.sqrt(N)
    return float(power), float(stats.nct.sf(t, N - 1, noncentrality) + stats.nct.cdf(-t, N - 1, noncentrality))


def tables(names: list[str], n_studies: int) -> Iterator[str]:
    """Every table, as it is done."""
    rows = []
    for name in names:
        rows.append(rows_of(name, n_studies))
        print(*rows[-1][0], *rows[-1][1][1:], file=sys.stderr, flush=True)
    for head, own in zip((MODEL, BESIDE), zip(*rows, strict=True), strict=True):
        yield table(head, own)
    carried = [name for name in ("as planned", "carry-over of .2 SD") if name in names]
    if carried:
        yield table(CARRIED, [carried_row(name, n_studies // SLOW) for name in carried])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--only", nargs="+", choices=list(DESIGNS), default=list(DESIGNS), help="some designs")
    parser.add_argument("--rows", type=Path, help="rows for the table of benchmarks")
    chosen = parser.parse_args()
    if chosen.studies < 50:
        parser.error("Give at least 50 studies: fewer say nothing about rates.")
    began = time.perf_counter()
    print("Expected power: {:.3f} of all conditions, {:.3f} of one contrast".format(*expected()))
    for text in tables(chosen.only, chosen.studies):
        print(text + "\n", flush=True)
    seconds = time.perf_counter() - began
    print(f"{chosen.studies} studies a row: {seconds:.0f} s")
    if chosen.rows:
        row = Row(
            f"within-subject characteristics, {chosen.studies} studies a row", {"seconds": seconds}, repetitions=1
        )
        write_rows(chosen.rows, "within-subject characteristics: one process", [row], 1)


if __name__ == "__main__":
    main()
