"""Error rates, power and coverage of the verdict and of the decisions about pairs, by simulation.

    PYTHONPATH=. python benchmarks/operating_characteristics.py [--studies 4000] [--tables FILE] [--rows FILE]

Draws studies and has the functions of `inference` decide about each. Prints the tables of
docs/explanation/operating-characteristics.md. Seeded: the same number of studies gives the same tables. Games-Howell
is decided for many studies at once; `tests/inference/test_operating_characteristics.py` compares these decisions with
those of `inference.posthoc.games_howell`.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import interpolate, special, stats
from table import Row, write_rows

from inference.anova import one_way
from inference.average_advantage import MeanEstimates, Verdict, average_advantage, influential_algorithms, without_each
from inference.case_rates import rate_limits
from inference.contrasts import planned_contrast
from inference.item_effects import ItemAnswers, fit_items
from inference.pair_decisions import OfflinePairs, PairClass, decide_pairs, offline_pairs
from inference.posthoc import tukey_hsd
from inference.results import Pair, PairwiseResult, Undefined
from inference.studentized_range import critical_range

Floats = NDArray[np.float64]
SEED, ALPHA, F = 2011, 0.05, 0.25
ITEMS, USERS, CASES = 5, 600, 3
SHARE = 0.5  # of the variance of an answer before rounding that lies between participants
BY_USER, BY_CASE = 0.15, 0.35  # latent correlation of hits
LOWEST, HIGHEST = 0.05, 0.33  # hit rates
EQUAL = 1e-9  # true values that differ by less are equal
MIDDLE = 3.0  # of the answers, from 1 to 5
BLOCK = 100  # studies drawn at a time
SLOW = 10  # item luck is simulated in one study of so many
ITEM_SD = 0.35
# Items that each condition's recommender chooses from: one shows everyone the same five.
POOLS = (20, 40, 5, 80, 10, 30, 60)


# Orders of the conditions' true means, by the metric's rank from the lowest.


def agreeing(k: int) -> Floats:
    return np.arange(k, dtype=np.float64)


def partly(k: int) -> Floats:
    """Orders with τ_b of .33, .60 and .52 and Spearman's ρ of .50, .80 and .71 for 3, 5 and 7 conditions."""
    orders = {3: (0, 2, 1), 5: (1, 0, 2, 4, 3), 7: (0, 2, 1, 6, 3, 5, 4)}
    return np.array(orders[k], dtype=np.float64)


@cache
def balanced(k: int) -> Floats:
    """Means that differ although A is 0: the first order without rank correlation, for three a peak in the middle."""
    if k == 3:
        return np.array([0.0, 1.0, 0.0])
    weights = np.arange(k) - (k - 1) / 2
    orders = (np.array(order, dtype=np.float64) for order in permutations(range(k)))
    unrelated = [order for order in orders if abs(weights @ order) < 1e-9]
    return min(unrelated, key=lambda order: abs(concordance(order, np.arange(k))))


def sign_of(difference: float) -> float:
    """-1, 0 or 1; what differs by rounding is equal."""
    return 0.0 if abs(difference) < EQUAL else math.copysign(1.0, difference)


def tied(k: int) -> Floats:
    return np.zeros(k)


def concordance(x: Floats, y: Floats) -> float:
    """Concordant less discordant pairs, over all pairs."""
    pairs = list(combinations(range(len(x)), 2))
    return sum(sign_of(x[j] - x[i]) * sign_of(y[j] - y[i]) for i, j in pairs) / len(pairs)


@dataclass(frozen=True)
class Design:
    """What is true of a study's participants and of the metric."""

    k: int
    n: tuple[int, ...]
    order: Callable[[int], Floats] = tied
    rates: tuple[float, ...] = ()  # of hits, ascending; evenly spaced unless given
    sd: tuple[float, ...] = ()  # of an answer before rounding
    middle: float = MIDDLE
    n_items: int = ITEMS
    users: int = USERS
    cases: int = CASES
    share: float = 0.0  # where positive, answers are yes or no with this chance of yes
    leave: Callable[[Floats, np.random.Generator], NDArray[np.bool_]] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple("ABCDEFG"[: self.k])

    @property
    def hit_rates(self) -> Floats:
        return np.array(self.rates) if self.rates else np.linspace(LOWEST, HIGHEST, self.k)

    @property
    def latent_means(self) -> Floats:
        """Means of answers before rounding; their spread is f standard deviations of a participant's mean."""
        order = self.order(self.k)
        sd = math.sqrt(SHARE + (1 - SHARE) / ITEMS)
        centred = order - order.mean()
        return self.middle + (centred / centred.std() * F * sd if centred.any() else centred)

    @cached_property
    def means(self) -> Floats:
        """True means of the answers, rounded to the scale."""
        if self.share:
            return np.full(self.k, self.share)
        sd = np.array(self.sd or (1.0,) * self.k)
        inner = np.arange(1.5, 5.0)
        return np.asarray(1.0 + stats.norm.sf(inner, self.latent_means[:, None], sd[:, None]).sum(axis=1))


# Drawing.


def draw_participants(design: Design, n_studies: int, rng: np.random.Generator) -> list[Floats]:
    """Participants' values of each condition, shape (n_studies, n); NaN for those who left."""
    sds, groups = design.sd or (1.0,) * design.k, []
    for mean, sd, n in zip(design.latent_means, sds, design.n, strict=True):
        if design.share:
            values = rng.binomial(design.n_items, design.share, (n_studies, n)) / design.n_items
        else:
            own = rng.normal(0, sd * math.sqrt(SHARE), (n_studies, n, 1))
            answers = mean + own + rng.normal(0, sd * math.sqrt(1 - SHARE), (n_studies, n, design.n_items))
            values = np.clip(np.rint(answers), 1, 5).mean(axis=2)
        if design.leave is not None:
            values = np.where(design.leave(values, rng), np.nan, values)
        groups.append(values)
    return groups


def draw_hits(design: Design, rng: np.random.Generator) -> dict[str, Floats]:
    """Users' mean hits under each algorithm; hits of one user and of one case are alike."""
    user = rng.standard_normal((design.users, 1, 1)) * math.sqrt(BY_USER)
    case = rng.standard_normal((design.users, design.cases, 1)) * math.sqrt(BY_CASE)
    own = rng.standard_normal((design.users, design.cases, design.k)) * math.sqrt(1 - BY_USER - BY_CASE)
    hits = (user + case + own < special.ndtri(design.hit_rates)).mean(axis=1)
    return {name: hits[:, column] for column, name in enumerate(design.names)}


def offline_of(design: Design, rng: np.random.Generator) -> OfflinePairs:
    compared = offline_pairs(draw_hits(design, rng), np.full(design.users, design.cases), alpha=ALPHA)
    assert not isinstance(compared, Undefined)
    return compared


# Deciding.


@dataclass(frozen=True)
class Summaries:
    """Means, standard deviations and sizes of the conditions of many studies, each of shape (n_studies, k)."""

    means: Floats
    sds: Floats
    ns: Floats

    @classmethod
    def of(cls, groups: Sequence[Floats]) -> Summaries:
        columns = [(np.nanmean(v, 1), np.nanstd(v, 1, ddof=1), np.isfinite(v).sum(1)) for v in groups]
        return cls(*(np.stack(part, axis=1) for part in zip(*columns, strict=True)))


@cache
def critical_by_df(k: int) -> Callable[[Floats], Floats]:
    """`critical_range` as a function of many degrees of freedom, within 1e-6 from 1.5 up."""
    inverse = np.linspace(0, 0.8, 161)
    nodes = [critical_range(ALPHA, k, 1 / value if value else math.inf) for value in inverse]
    spline = interpolate.CubicSpline(inverse, np.log(nodes))
    return lambda df: np.exp(spline(1 / df))


def games_howell_decisions(design: Design, of: Summaries) -> list[PairwiseResult]:
    """The significant pairs of `games_howell`, in each study."""
    first, second = np.triu_indices(design.k, 1)
    squared = of.sds**2 / of.ns
    difference, variance = of.means[:, first] - of.means[:, second], squared[:, first] + squared[:, second]
    parts = squared**2 / (of.ns - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = variance**2 / (parts[:, first] + parts[:, second])
        # A pair without variance is not tested.
        q = np.where(variance > 1e-20, np.abs(difference) / np.sqrt(variance / 2), 0.0)
        is_significant = q > critical_by_df(design.k)(np.where(df > 1.3, df, 1.3))
    a, b = ([design.names[at] for at in positions] for positions in (first, second))
    return [
        PairwiseResult(
            "Games-Howell",
            ALPHA,
            tuple(
                Pair(name, below, d, None, bool(s))
                for name, below, d, s in zip(a, b, difference[row].tolist(), is_significant[row].tolist(), strict=True)
            ),
            dict(zip(design.names, of.means[row].tolist(), strict=True)),
            {},
        )
        for row in range(len(of.means))
    ]


class Tally:
    """How often something happened, of how many studies."""

    def __init__(self) -> None:
        self.hits: Counter[str] = Counter()
        self.of: Counter[str] = Counter()

    def add(self, name: str, share: float) -> None:
        self.hits[name] += share  # type: ignore[assignment]
        self.of[name] += 1

    def rate(self, name: str) -> float:
        return self.hits[name] / self.of[name]

    def __getitem__(self, name: str) -> str:
        if not self.of[name]:
            return "–"
        text = f"{self.rate(name):.3f}"
        return text if text.startswith("1") else text.removeprefix("0")


def judge(
    design: Design, offline: OfflinePairs, people: PairwiseResult, estimates: MeanEstimates, tally: Tally
) -> None:
    """What a study says, against what is true of its design."""
    decided = decide_pairs(people, offline)
    n_pairs, truth = len(decided.pairs), dict(zip(design.names, design.means, strict=True))
    rates = dict(zip(design.names, design.hit_rates, strict=True))
    agreed, contradicted = decided.counts[PairClass.AGREE], decided.counts[PairClass.CONTRADICT]
    tally.add("C/N", agreed / n_pairs)
    true_tau = concordance(design.means, design.hit_rates)
    undecided = n_pairs - agreed - contradicted
    tally.add(
        "τ covered",
        abs(true_tau - (agreed - contradicted) / n_pairs) <= undecided / n_pairs + EQUAL,
    )
    false = {PairClass.AGREE: 1.0, PairClass.CONTRADICT: -1.0}
    is_false = False
    for pair in decided.pairs:
        relation = sign_of(truth[pair.a] - truth[pair.b]) * sign_of(rates[pair.a] - rates[pair.b])
        is_false = is_false or (pair.decision in false and false[pair.decision] != relation)
    tally.add("false C or D", is_false)
    sides = ((people, truth, "false pair, participants"), (offline, rates, "false pair, offline"))
    for compared, true_values, name in sides:
        wrong = any(
            pair.is_significant and np.sign(pair.difference) != sign_of(true_values[pair.a] - true_values[pair.b])
            for pair in compared.pairs
        )
        tally.add(name, wrong)
    advantage = average_advantage(estimates, decided.offline.direct, alpha=ALPHA)
    verdict = Verdict.CANNOT_TELL if isinstance(advantage, Undefined) else advantage.verdict
    tally.add("agree", verdict is Verdict.AGREE)
    tally.add("disagree", verdict is Verdict.DISAGREE)
    tally.add("M = 0", not decided.offline.direct)
    if isinstance(advantage, Undefined):
        tally.add("wrong", False)
        return
    true_value = sum(weight * truth[name] for name, weight in advantage.weights.items()) / advantage.n_pairs
    tally.add("covered", advantage.interval.low <= true_value <= advantage.interval.high)
    is_wrong = {Verdict.AGREE: true_value <= EQUAL, Verdict.DISAGREE: true_value >= -EQUAL}.get(verdict, False)
    tally.add("wrong", is_wrong)
    tally.add("excludes 0", verdict in (Verdict.AGREE, Verdict.DISAGREE))
    if verdict is Verdict.AGREE and design.order is agreeing:
        tally.add(
            "rests on one", bool(influential_algorithms(advantage, without_each(estimates, decided.offline.direct)))
        )


def simulate(designs: Mapping[str, Design], n_studies: int, seed: Sequence[int]) -> dict[str, Tally]:
    """Judge so many studies of each design; designs with the same hit rates share the offline side."""
    tallies = {name: Tally() for name in designs}
    for start in range(0, n_studies, BLOCK):
        size = min(BLOCK, n_studies - start)
        rng = np.random.default_rng([SEED, *seed, start])
        groups = {name: draw_participants(design, size, rng) for name, design in designs.items()}
        offline: dict[tuple[float, ...], list[OfflinePairs]] = {}
        for name, design in designs.items():
            of, key = Summaries.of(groups[name]), tuple(design.hit_rates)
            if key not in offline:
                offline[key] = [offline_of(design, rng) for _ in range(size)]
            for row, people in enumerate(games_howell_decisions(design, of)):
                means = dict(zip(design.names, of.means[row].tolist(), strict=True))
                estimates = MeanEstimates.independent(means, of.sds[row].tolist(), of.ns[row].tolist())
                judge(design, offline[key][row], people, estimates, tallies[name])
    return tallies


# The main table: three numbers of algorithms and three sizes.

PARTICIPANTS = {"agree": agreeing, "partly": partly, "balanced": balanced, "tied": tied}


def main_designs(k: int, n: int) -> dict[str, Design]:
    plain = Design(k, (n,) * k)
    equal = (float(np.mean((LOWEST, HIGHEST))),) * k
    return {
        **{name: replace(plain, order=order) for name, order in PARTICIPANTS.items()},
        "opposite": replace(plain, order=lambda k: agreeing(k)[::-1]),
        "offline tied": replace(plain, order=agreeing, rates=equal),
        "both tied": replace(plain, rates=equal),
    }


def main_row(k: int, n: int, n_studies: int) -> tuple[list[str], dict[str, Tally]]:
    by = simulate(main_designs(k, n), n_studies, (k, n))
    false = max((tally.rate("false C or D"), name) for name, tally in by.items())[1]
    covered = min((tally.rate("τ covered"), name) for name, tally in by.items())[1]
    with_pairs = [tally for name, tally in by.items() if "offline" not in name and "both" not in name]
    coverage = [tally.rate("covered") for tally in with_pairs]
    cells = [
        str(k), str(n), by["agree"]["agree"], by["partly"]["agree"], by["opposite"]["disagree"],
        by["balanced"]["excludes 0"], by["tied"]["wrong"], by[false]["false C or D"], by[covered]["τ covered"],
        by["agree"]["C/N"], f"{min(coverage):.3f} to {max(coverage):.3f}".replace("0.", "."),
        by["tied"]["false pair, participants"], by["offline tied"]["false pair, offline"], by["agree"]["rests on one"],
    ]  # fmt: skip
    return cells, by


MAIN = [
    "k", "n", "agree, τ=1", "agree, partial τ", "disagree, τ=−1", "wrong, A=0", "wrong, participants tied",
    "any false C or D, worst design", "τ set covers, worst design", "C/N, τ=1", "A covers",
    "Games–Howell, any false pair", "metric, any false pair", "agree rests on one algorithm",
]  # fmt: skip


# Designs that strain the rules, all with seven algorithms.


def at_random(values: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    return rng.random(values.shape) < 0.2


def unhappy(values: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Two in five of those with a mean below 3 leave, one in ten of the others."""
    return rng.random(values.shape) < np.where(values < MIDDLE, 0.4, 0.1)


SIZES = (8, 13, 19, 24, 29, 35, 40)
SPREADS = tuple(np.linspace(1.6, 0.4, 7).tolist())
RARE_RATES = tuple(np.linspace(0.004, 0.03, 7).tolist())


def strained_designs() -> dict[str, Design]:
    plain = Design(7, (30,) * 7)
    rare = replace(plain, rates=RARE_RATES, users=83)  # 249 cases
    return {
        "n = 5": replace(plain, n=(5,) * 7),
        "n = 12": replace(plain, n=(12,) * 7),
        "single answers, n = 12": replace(plain, n=(12,) * 7, n_items=1),
        "shares near the floor (.06), n = 12": replace(plain, n=(12,) * 7, share=0.06),
        "answers near the ceiling (4.6), n = 12": replace(plain, n=(12,) * 7, middle=4.6),
        "answers near the ceiling (4.6), n = 30": replace(plain, middle=4.6),
        "n from 8 to 40, SD from 1.6 to .4": replace(plain, n=SIZES, sd=SPREADS),
        "20% leave at random": replace(plain, leave=at_random),
        "the dissatisfied leave": replace(plain, leave=unhappy),
        "rates .004 to .03, 249 cases": rare,
        "all rates .01, 249 cases": replace(rare, rates=(0.01,) * 7),
    }


STRAINED = [
    "participants tied", "A wrong", "A covers", "Games–Howell, any false pair", "metric, any false pair",
    "any false C or D", "with f = .25: agree", "A covers", "M = 0",
]  # fmt: skip


def strained_row(index: int, name: str, n_studies: int) -> list[str]:
    null = strained_designs()[name]
    designs = {"null": null} if null.share else {"null": null, "effect": replace(null, order=agreeing)}
    rates = simulate(designs, n_studies, (100, index))
    by = rates["null"]
    with_effect = ["–", "–"] if null.share else [rates["effect"]["agree"], rates["effect"]["covered"]]
    false_offline = by["false pair, offline"]
    return [
        name, by["wrong"], by["covered"], by["false pair, participants"], false_offline, by["false C or D"],
        *with_effect, by["M = 0"],
    ]  # fmt: skip


def unequal_row(n_studies: int) -> dict[str, str]:
    """Tests with pooled variance under unequal sizes and spreads, without a true difference."""
    design, tally = strained_designs()["n from 8 to 40, SD from 1.6 to .4"], Tally()
    for start in range(0, n_studies, BLOCK):
        size = min(BLOCK, n_studies - start)
        groups = draw_participants(design, size, np.random.default_rng([SEED, 200, start]))
        for row in range(size):
            values = {
                name: (np.rint(group[row] * ITEMS) / ITEMS).tolist()
                for name, group in zip(design.names, groups, strict=True)
            }
            tukey = tukey_hsd(values, ALPHA)
            contrast = planned_contrast(values, design.names[-3:], design.names[:3], alpha=ALPHA)
            tally.add("Tukey HSD, any false pair", any(pair.is_significant for pair in tukey.pairs))
            tally.add("planned contrast, pooled", contrast.pooled.p < ALPHA)
            tally.add("planned contrast, Welch", contrast.welch is not None and contrast.welch.p < ALPHA)
    return {name: tally[name] for name in tally.of}


# Participants who leave one side only, and item luck.


def lopsided_tally(n_studies: int) -> Tally:
    """The dissatisfied leave under the metric's three best algorithms, others at random; no true difference."""
    plain, tally = Design(7, (30,) * 7), Tally()
    for start in range(0, n_studies, BLOCK):
        size = min(BLOCK, n_studies - start)
        rng = np.random.default_rng([SEED, 300, start])
        groups = draw_participants(plain, size, rng)
        for column, values in enumerate(groups):
            leave = unhappy if column >= 4 else at_random
            groups[column] = np.where(leave(values, rng), np.nan, values)
        of = Summaries.of(groups)
        for row, people in enumerate(games_howell_decisions(plain, of)):
            means = dict(zip(plain.names, of.means[row].tolist(), strict=True))
            estimates = MeanEstimates.independent(means, of.sds[row].tolist(), of.ns[row].tolist())
            judge(plain, offline_of(plain, rng), people, estimates, tally)
    return tally


def item_luck(n_studies: int) -> Tally:
    """Items differ with SD .35, and conditions show few of them; no difference between the algorithms' items at large.

    Rates are those of studies without a true difference that find one.
    """
    design, tally = Design(7, (30,) * 7), Tally()
    separated = [(b, a) for a, b in combinations(design.names, 2)]
    for number in range(n_studies):
        rng = np.random.default_rng([SEED, 400, number])
        conditions, persons, items, values = [], [], [], []
        for condition, (name, pool) in enumerate(zip(design.names, POOLS, strict=True)):
            appeal = rng.normal(0, ITEM_SD, pool)
            for person in range(design.n[condition]):
                own = rng.normal(0, math.sqrt(SHARE))
                for item in rng.choice(pool, ITEMS, replace=False).tolist():
                    answer = MIDDLE + own + appeal[item] + rng.normal(0, math.sqrt(1 - SHARE))
                    conditions.append(name)
                    persons.append((name, person))
                    items.append((name, item))
                    values.append(float(np.clip(np.rint(answer), 1, 5)))
        means = np.array(values).reshape(-1, ITEMS).mean(axis=1).reshape(7, -1)
        groups = {name: (np.rint(means[row] * ITEMS) / ITEMS).tolist() for row, name in enumerate(design.names)}
        of = Summaries.of([means[row : row + 1] for row in range(7)])
        (people,) = games_howell_decisions(design, of)
        tally.add("ANOVA", one_way(groups).p < ALPHA)
        tally.add("Games–Howell, any pair", any(pair.is_significant for pair in people.pairs))
        tally.add("A", _excludes_0(MeanEstimates.of_groups(groups), separated))
        fit = fit_items(ItemAnswers(values, conditions, persons, items))
        assert not isinstance(fit, Undefined)
        tally.add("A, nested model", _excludes_0(fit.means, separated))
    return tally


def _excludes_0(estimates: MeanEstimates, separated: Sequence[tuple[str, str]]) -> bool:
    advantage = average_advantage(estimates, separated, alpha=ALPHA)
    return not isinstance(advantage, Undefined) and advantage.p < ALPHA


# Limits of rates.

RATES = (0.004, 0.008, 0.016, 0.05, 0.2)
CORRELATIONS = (0.0, 0.1, 0.2, 0.3)
RESAMPLES = 1000


def limits_coverage(rate: float, correlation: float, n_studies: int) -> tuple[float, float]:
    """Coverage of `rate_limits` and of the percentile bootstrap: 83 users with three cases each."""
    rng = np.random.default_rng([SEED, 500, round(1000 * rate), round(100 * correlation)])
    users, cases = 83, 3
    chance: float | Floats = rate
    if correlation:
        total = 1 / correlation - 1
        chance = rng.beta(rate * total, (1 - rate) * total, (users, n_studies))
    hits = rng.binomial(cases, chance, (users, n_studies))
    limits = rate_limits(hits, np.full(users, cases))
    assert not isinstance(limits, Undefined)
    exact = np.mean((np.array(limits.low) <= rate) & (rate <= np.array(limits.high)))
    weights = rng.multinomial(users, np.full(users, 1 / users), RESAMPLES)
    low, high = np.percentile(weights @ hits / (users * cases), (2.5, 97.5), axis=0)
    return float(exact), float(np.mean((low <= rate) & (rate <= high)))


# Output.


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables(n_studies: int) -> Iterator[str]:
    """Every table, as it is done; rows go to the standard error output before."""
    rows = []
    for k in (3, 5, 7):
        for n in (12, 30, 60):
            rows.append(main_row(k, n, n_studies)[0])
            print(*rows[-1], file=sys.stderr, flush=True)
    yield "## Verdict and pairs\n\n" + table(MAIN, rows)
    rows = []
    for index, name in enumerate(strained_designs()):
        rows.append(strained_row(index, name, n_studies))
        print(*rows[-1], file=sys.stderr, flush=True)
    yield "## Strained designs\n\n" + table(STRAINED, rows)
    unequal = unequal_row(n_studies)
    yield table(["n from 8 to 40, SD from 1.6 to .4", "wrong"], list(unequal.items()))
    lopsided = lopsided_tally(n_studies)
    yield table(
        ["the dissatisfied leave the three best, others leave at random", "rate"],
        [[name, lopsided[name]] for name in ("agree", "disagree", "covered", "false pair, participants")],
    )
    luck = item_luck(max(n_studies // SLOW, 20))
    yield "## Item luck\n\n" + table(["finds a difference", "rate"], [[name, luck[name]] for name in luck.of])
    rows = []
    for rate in RATES:
        for correlation in CORRELATIONS:
            exact, bootstrap = limits_coverage(rate, correlation, n_studies)
            rows.append([f"{rate:g}", f"{correlation:g}", f"{exact:.3f}", f"{bootstrap:.3f}"])
    yield "## Limits of rates\n\n" + table(
        ["rate", "intraclass correlation", "Clopper–Pearson, n / deff", "percentile bootstrap"], rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--tables", type=Path, help="also write the tables to this file")
    parser.add_argument("--rows", type=Path, help="rows for the table of benchmarks")
    chosen = parser.parse_args()
    if chosen.studies < 50:
        parser.error("Give at least 50 studies: fewer say nothing about rates.")
    began, done = time.perf_counter(), []
    for text in tables(chosen.studies):
        done.append(text)
        print(text + "\n", flush=True)
    seconds = time.perf_counter() - began
    print(f"{chosen.studies} studies a row: {seconds:.0f} s")
    if chosen.tables:
        chosen.tables.write_text("\n\n".join(done) + "\n", encoding="utf-8")
    if chosen.rows:
        row = Row(f"operating characteristics, {chosen.studies} studies a row", {"seconds": seconds}, repetitions=1)
        write_rows(chosen.rows, "operating characteristics: one process", [row], 1)


if __name__ == "__main__":
    main()
