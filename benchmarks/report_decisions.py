"""What the procedures of a report decide about a simulated study, for `supplement_characteristics.py`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations

import numpy as np
from simulated_studies import ITEMS, NAMES, SD, Design, Floats, K, SimulatedStudy

from inference.agreement import kendall
from inference.ancova import ParticipantValues, ancova
from inference.anova import one_way, welch
from inference.attrition_bounds import Arm, lee_bounds, worst_case_bounds
from inference.bootstrap import mean_interval
from inference.contrasts import ContrastTest, planned_contrast
from inference.covariates import Covariate
from inference.equivalence import equivalence
from inference.item_effects import ItemAnswers, fit_items
from inference.ordinal import cumulative_link
from inference.pair_decisions import PairClass, decide_pairs, offline_pairs
from inference.paired import sign_tests_between, signed_ranks_between
from inference.partial_order import PartialOrder, partial_order
from inference.posthoc import games_howell, tukey_hsd
from inference.rank_sets import RankSets, relation_rank_sets
from inference.rank_tests import dunn_holm, kruskal_wallis
from inference.results import Pair, PairwiseResult, Undefined

ALPHA = 0.05
LARGE = 2_000_000  # people of a sample that serves as the truth
ERROR, POWER, COVERAGE = "error", "power", "coverage"  # the tables of the page
Decision = tuple[str, str, object]  # table, procedure, whether it found or held what the table counts


def decisions(design: Design, sample: SimulatedStudy, rng: np.random.Generator, *, is_rare: bool) -> Iterator[Decision]:
    """Every decision about a study; the slow procedures are left out unless it `is_rare`."""
    yield from _omnibus(design, sample, is_rare)
    tukey = tukey_hsd(sample.groups)
    yield from _pairs(design, "Tukey HSD", tukey)
    yield from _pairs(design, "Games–Howell", games_howell(sample.groups))
    yield from _pairs(design, "Dunn, Holm", dunn_holm(sample.groups))
    yield from _contrast(design, sample)
    yield from _equivalence(design, sample)
    signs = sign_tests_between(sample.by_user)
    yield from _paired(design, "Sign tests, Holm", signs)
    if is_rare:
        yield from _paired(design, "Signed rank tests, Holm", signed_ranks_between(sample.by_user))
    for name, values in sample.by_user.items():
        interval = mean_interval(values, 1000, rng)
        if not isinstance(interval, Undefined):
            rate = design.offline[NAMES.index(name)]
            yield COVERAGE, "Offline metric, bootstrap over users", interval.low <= rate <= interval.high
    yield from _joined(design, sample, tukey, signs)
    yield from _adjusted(design, sample, rng)
    yield from _lost(design, sample, rng)
    if is_rare:
        yield from _offline_ranks(design, sample)


def _omnibus(design: Design, sample: SimulatedStudy, is_rare: bool) -> Iterator[Decision]:
    table = ERROR if len(design.equal_pairs) == K * (K - 1) // 2 else POWER
    tests = {
        "ANOVA F": one_way(sample.groups),
        "Welch F": welch(sample.groups),
        "Kruskal–Wallis": kruskal_wallis(sample.groups),
    }
    for name, test in tests.items():
        yield table, name, not isinstance(test, Undefined) and test.p < ALPHA
    if is_rare:
        single = {name: of[:, 0].tolist() for name, of in zip(NAMES, sample.answers, strict=True)}
        ordinal = cumulative_link(single, range(1, 6))
        yield table, "Ordinal model, single answers", not isinstance(ordinal, Undefined) and ordinal.p < ALPHA
        yield from _items(design, sample, table)


def _items(design: Design, sample: SimulatedStudy, table: str) -> Iterator[Decision]:
    conditions = [name for name, of in zip(NAMES, sample.answers, strict=True) for _ in range(of.size)]
    persons = [
        f"{name}{row}"
        for name, of in zip(NAMES, sample.answers, strict=True)
        for row in range(len(of))
        for _ in range(ITEMS)
    ]
    fit = fit_items(
        ItemAnswers(
            values=np.concatenate([of.ravel() for of in sample.answers]).astype(float).tolist(),
            conditions=conditions,
            persons=persons,
            items=np.concatenate([of.ravel() for of in sample.items]).tolist(),
        )
    )
    if isinstance(fit, Undefined):
        return
    result = fit.result()
    yield table, "Mixed model, items nested", result.p < ALPHA
    truth = dict(zip(NAMES, design.means, strict=True))
    for pair in result.pairs.pairs:
        if pair.interval is not None:
            is_inside = pair.interval.low <= truth[pair.a] - truth[pair.b] <= pair.interval.high
            yield COVERAGE, "Mixed model, difference of a pair", is_inside


def _pairs(design: Design, name: str, result: PairwiseResult | Undefined) -> Iterator[Decision]:
    """False and true findings of a post hoc test, and whether all of its intervals hold the truth."""
    if isinstance(result, Undefined):
        return
    truth = dict(zip(NAMES, design.means, strict=True))
    equal = design.equal_pairs
    if equal:
        yield ERROR, f"{name}, any false pair", any(p.is_significant for p in result.pairs if (p.a, p.b) in equal)
    for pair in result.pairs:
        if (pair.a, pair.b) not in equal:
            is_right = (pair.difference > 0) == (truth[pair.a] > truth[pair.b])
            yield POWER, f"{name}, true pairs found", pair.is_significant and is_right
    if all(pair.ci_low is not None for pair in result.pairs):
        yield COVERAGE, f"{name}, all pairs together", all(_holds(pair, truth) for pair in result.pairs)


def _holds(pair: Pair, truth: Mapping[str, float]) -> bool:
    low, high = pair.ci_low, pair.ci_high
    return low is not None and high is not None and low <= truth[pair.a] - truth[pair.b] <= high


def _contrast(design: Design, sample: SimulatedStudy) -> Iterator[Decision]:
    higher, lower = NAMES[-2:], NAMES[:2]
    result = planned_contrast(sample.groups, higher, lower)
    if isinstance(result, Undefined):
        return
    truth = float(design.means[-2:].mean() - design.means[:2].mean())
    tests: dict[str, ContrastTest | None] = {
        "Planned contrast, pooled": result.pooled,
        "Planned contrast, Welch": result.welch,
    }
    for name, test in tests.items():
        if test is None:
            continue
        yield ERROR if abs(truth) < 1e-12 else POWER, name, test.p < ALPHA
        yield COVERAGE, name, test.ci_high is not None and test.ci_low <= truth <= test.ci_high


def _equivalence(design: Design, sample: SimulatedStudy) -> Iterator[Decision]:
    """With the bound at the true difference of the outermost pair, calling that pair equivalent, or beyond the bound,
    is an error.
    """
    bound = float(design.means[-1] - design.means[0])
    if bound < 1e-12:
        return
    result = equivalence(sample.groups, bound)
    if isinstance(result, Undefined):
        return
    outer = next(pair for pair in result.pairs if {pair.a, pair.b} == {NAMES[0], NAMES[-1]})
    yield ERROR, "Equivalence (TOST), pair at the bound", outer.is_equivalent
    yield ERROR, "Minimum effect, pair at the bound", outer.is_beyond
    for pair in result.pairs:
        if (pair.a, pair.b) in design.equal_pairs:
            yield POWER, "Equivalence (TOST), equal pairs", pair.is_equivalent


def _paired(design: Design, name: str, result: PairwiseResult | Undefined) -> Iterator[Decision]:
    if isinstance(result, Undefined):
        return
    rates = dict(zip(NAMES, design.offline, strict=True))
    equal = {(a, b) for a, b in combinations(NAMES, 2) if math.isclose(rates[a], rates[b])}
    if equal:
        yield ERROR, f"{name}, any false pair", any(p.is_significant for p in result.pairs if (p.a, p.b) in equal)
    for pair in result.pairs:
        if (pair.a, pair.b) not in equal:
            yield POWER, f"{name}, true pairs found", pair.is_significant


def _joined(
    design: Design, sample: SimulatedStudy, tukey: PairwiseResult | Undefined, signs: PairwiseResult | Undefined
) -> Iterator[Decision]:
    """The rank correlation of both sides, and the pairs that a report calls contradicted or agreed."""
    means = {name: math.fsum(values) / len(values) for name, values in sample.groups.items()}
    hits = {name: float(values.mean()) for name, values in sample.by_user.items()}
    tau = kendall([round(value, 9) for value in means.values()], [round(value, 9) for value in hits.values()])
    is_related = len(set(design.perceived)) > 1 and len(set(design.offline)) > 1
    is_found = not isinstance(tau, Undefined) and tau.p < ALPHA
    yield POWER if is_related else ERROR, "τ_b, exact permutation", is_found
    if isinstance(tukey, Undefined) or isinstance(signs, Undefined):
        return
    by_people: PartialOrder = partial_order(means, tukey)
    sets = relation_rank_sets(by_people.dominates, 1 - ALPHA)
    yield COVERAGE, "Rank sets by Tukey HSD, all algorithms together", _ranks_inside(sets, design.means)
    decided = decide_pairs(tukey, signs).pairs
    # In no design do the sides contradict each other.
    yield ERROR, "Any pair called contradicted", any(pair.decision is PairClass.CONTRADICT for pair in decided)
    equal = design.equal_pairs
    agreed = {tuple(sorted((pair.a, pair.b))) for pair in decided if pair.decision is PairClass.AGREE}
    if equal:
        yield ERROR, "Any equal pair called agreed", bool(agreed & equal)
    if is_related:
        for pair in combinations(NAMES, 2):
            if pair not in equal:
                yield POWER, "True pairs called agreed", pair in agreed


def _ranks_inside(sets: RankSets, truth: Floats) -> bool:
    """Whether every set has the true rank: one more than the number of truly better algorithms."""
    ranks = 1 + (truth[None, :] > truth[:, None] + 1e-12).sum(axis=1)
    return all(low <= rank <= high for rank, (low, high) in zip(ranks, sets.sets.values(), strict=True))


def _offline_ranks(design: Design, sample: SimulatedStudy) -> Iterator[Decision]:
    pairs = offline_pairs(dict(zip(NAMES, sample.users.T, strict=True)), alpha=ALPHA)
    if not isinstance(pairs, Undefined):
        sets = relation_rank_sets(partial_order(pairs.locations, pairs).dominates, 1 - ALPHA)
        inside = _ranks_inside(sets, np.array(design.offline))
        yield COVERAGE, "Rank sets of an offline metric, all algorithms together", inside


def _adjusted(design: Design, sample: SimulatedStudy, rng: np.random.Generator) -> Iterator[Decision]:
    """Analysis of covariance with a covariate that shares half of its variance with what participants differ by."""
    own = np.concatenate(sample.own) / (SD * math.sqrt(0.5))
    values = [value for group in sample.groups.values() for value in group]
    conditions = [name for name, group in sample.groups.items() for _ in group]
    covariate = Covariate("covariate", (own + rng.normal(size=own.size)).tolist())
    result = ancova(ParticipantValues(values, conditions, [covariate], NAMES))
    if isinstance(result, Undefined):
        return
    table = ERROR if len(design.equal_pairs) == K * (K - 1) // 2 else POWER
    yield table, "ANCOVA F, one covariate", result.adjusted.p < ALPHA
    truth = dict(zip(NAMES, design.means, strict=True))
    for pair in result.pairs:
        limits, difference = pair.adjusted.interval, truth[pair.a] - truth[pair.b]
        yield COVERAGE, "ANCOVA, difference of a pair", limits.low <= difference <= limits.high


LEAVING = 0.5  # chance that a participant of the last condition leaves whose own effect is below the mean


def _lost(design: Design, sample: SimulatedStudy, rng: np.random.Generator) -> Iterator[Decision]:
    """Bounds of the difference of the outermost conditions when those who like the last one less tend to leave it."""
    first, last = (np.array(sample.groups[name]) for name in (NAMES[0], NAMES[-1]))
    is_staying = (sample.own[-1] >= 0) | (rng.random(last.size) >= LEAVING)
    arms = Arm(last[is_staying].tolist(), last.size), Arm(first.tolist(), first.size)
    worst, lee = worst_case_bounds(*arms, 1, 5), lee_bounds(*arms)
    if not isinstance(worst, Undefined):
        difference = float(design.means[-1] - design.means[0])
        inside = worst.interval.low <= difference <= worst.interval.high
        yield COVERAGE, "Worst-case bounds under attrition, all assigned", inside
    if not isinstance(lee, Undefined):
        inside = lee.interval.low <= _difference_of_stayers(design) <= lee.interval.high
        yield COVERAGE, "Lee's bounds under attrition, those who stay", inside


@cache
def _difference_of_stayers(design: Design) -> float:
    """True difference of the last and the first condition among those who would stay in either, by a large sample."""
    rng = np.random.default_rng(LARGE)
    own = rng.normal(size=LARGE)
    is_staying = (own >= 0) | (rng.random(LARGE) >= LEAVING)
    means = []
    for position in (-1, 0):
        spread = design.sd[position] * math.sqrt(0.5)
        value = design.perceived[position] + spread * (own[is_staying] + rng.normal(size=int(is_staying.sum())))
        means.append(float(np.clip(np.rint(value), 1, 5).mean()))
    return means[0] - means[1]
