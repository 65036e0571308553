"""Preferences between lists side by side: two conditions by the sign test, more by Davidson's model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.compute.in_turn import with_ties
from analysis.enums import Variable, scale_variables
from analysis.read.inputs import Answers, Judged
from analysis.results.rankings import Ranking
from analysis.results.side_by_side import ComparedPair, DavidsonModel, Preference
from inference.paired import sign_effect, sign_test
from inference.paired_comparisons import Judgements, davidson
from inference.partial_order import partial_order
from inference.results import Pair, PairwiseResult, Undefined

SIGN_TEST = "Exact sign test"
LIMITS = (0.025, 0.975)
LEAST_AXIS = 2  # of log-worths
Answered = Sequence[tuple[Judged, int]]  # lists that differ, with the answer


def preferences_of(
    answers: Answers, primary: str, rng: np.random.Generator, *, alpha: float, resamples: int
) -> dict[Variable, tuple[Preference, Ranking]]:
    """Every question of preference that the plan names, the `primary` one first, with the ranking that it gives."""
    preferences = {}
    for outcome in sorted(answers.outcomes, key=lambda outcome: outcome.key != primary) if answers.judged else ():
        answered = [
            (each, answer)
            for each in answers.judged
            if not each.is_identical and (answer := each.answers[outcome.key]) is not None
        ]
        pairs = tuple(_pair(a, b, answers.judged, answered) for a, b in combinations(answers.conditions, 2))
        rates, model = _rates(answered, answers.conditions), None
        values, low, high = rates, 0, 1
        if len(pairs) == 1:
            tests = _signed(pairs[0], rates, rng, alpha, resamples)
        else:
            tests, model = _worths(answered, answers.conditions, alpha)
        if model is not None:
            values, high = with_ties(model.worths), max(LEAST_AXIS, math.ceil(max(map(abs, model.worths.values()))))
            low = -high
        variable = Variable.of_scale(outcome.key, name=outcome.name, low=low, high=high, in_steps=False)
        result = Preference(
            variable_key=outcome.key,
            scale_variables=scale_variables([variable]),
            n_participants=len({each.participant for each, _answer in answered}),
            n_left=sum(answer < 0 for _each, answer in answered),
            n_right=sum(answer > 0 for _each, answer in answered),
            pairs=pairs,
            rates=rates,
            tests=tests,
            model=model,
        )
        order = partial_order(values, () if isinstance(tests, Undefined) else tests)
        preferences[variable] = result, Ranking(values=values, pairs=tests, order=order)
    return preferences


def _pair(a: str, b: str, judged: Sequence[Judged], answered: Answered) -> ComparedPair:
    own = [each for each in judged if {each.left, each.right} == {a, b}]
    n = Counter(
        answer if each.right == b else -answer for each, answer in answered if {each.left, each.right} == {a, b}
    )
    return ComparedPair(
        a=a,
        b=b,
        steps=(n[-2], n[-1], n[0], n[1], n[2]),
        effect=sign_effect(n[-2] + n[-1], n[1] + n[2], n[0]),
        n_identical=sum(each.is_identical for each in own),
        shared=fmean(each.shared for each in own) if own else None,
    )


def _rates(answered: Answered, conditions: Sequence[str]) -> dict[str, float]:
    points: dict[str, list[float]] = {name: [] for name in conditions}
    for each, answer in answered:
        of_right = (1 + math.copysign(1, answer) * (answer != 0)) / 2
        points[each.left].append(1 - of_right)
        points[each.right].append(of_right)
    return {name: fmean(own) for name, own in points.items() if own}


def _signed(
    pair: ComparedPair, rates: dict[str, float], rng: np.random.Generator, alpha: float, resamples: int
) -> PairwiseResult | Undefined:
    counts = np.array([pair.n_a, pair.n_b, pair.steps[2]])
    n, signs = int(counts.sum()), np.repeat([1.0, -1.0, 0.0], counts)
    test = sign_test(signs, np.zeros(n))
    if isinstance(test, Undefined):
        return Undefined("No participant preferred one of the lists.")
    # One judgement of each participant: drawing participants is drawing from the three counts.
    resampled = rng.multinomial(n, counts / n, size=resamples)
    low, high = np.quantile((resampled[:, 0] - resampled[:, 1]) / n, LIMITS).tolist()
    only = Pair(pair.a, pair.b, float(signs.mean()), test.p, test.p < alpha, low, high)
    return PairwiseResult(SIGN_TEST, alpha, (only,), rates, dict.fromkeys(rates, n))


def _worths(
    answered: Answered, conditions: Sequence[str], alpha: float
) -> tuple[PairwiseResult | Undefined, DavidsonModel | None]:
    judgements = Judgements(
        left=[each.left for each, _answer in answered],
        right=[each.right for each, _answer in answered],
        preferred=[(None if answer == 0 else each.right if answer > 0 else each.left) for each, answer in answered],
        participants=[each.participant for each, _answer in answered],
        names=conditions,
    )
    with threadpool_limits(limits=1, user_api="blas"):  # sums over threads differ in their last bits
        result = davidson(judgements, alpha=alpha)
    if isinstance(result, Undefined):
        return result, None
    worths = dict(zip(result.means.names, result.means.means.tolist(), strict=True))
    return result.pairs, DavidsonModel(worths=worths, test=result.test, side=result.side, tie=result.tie)
