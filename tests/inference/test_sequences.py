"""Conditions that every participant meets in turn: hand-computed cases, invariances, and data without a result."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.errors import DataError
from inference.ancova import LinearModel
from inference.average_advantage import average_advantage
from inference.paired import friedman, nemenyi
from inference.posthoc import games_howell
from inference.results import Undefined
from inference.sequences import Occasions, WithinFit, carry_over, fit_within, repeated_measures

pytestmark = pytest.mark.unit

WILLIAMS = {2: ("AB", "BA"), 3: ("ABC", "BCA", "CAB", "CBA", "ACB", "BAC"), 4: ("ABDC", "BCAD", "CDBA", "DACB")}


def met(sequences: list[str], values: list[list[float]]) -> Occasions:
    """Occasions of participants with these sequences, one letter a condition, and values in the order met."""
    rows = [
        (value, name, at + 1, sequence[at - 1] if at else None, participant)
        for participant, (sequence, own) in enumerate(zip(sequences, values, strict=True))
        for at, (name, value) in enumerate(zip(sequence, own, strict=True))
    ]
    return Occasions(*zip(*rows, strict=True), names=sorted(set("".join(sequences))))


def drawn(k: int, n: int, *, seed: int = 1, between: float = 1.0, carried: float = 0.0) -> Occasions:
    rng = np.random.default_rng(seed)
    sequences = [WILLIAMS[k][p % len(WILLIAMS[k])] for p in range(n)]
    values = between * rng.normal(size=(n, 1)) + rng.normal(size=(n, k))
    for row, sequence in enumerate(sequences):
        values[row, 1:] += [carried * (name == "A") for name in sequence[:-1]]
    return met(sequences, values.tolist())


def fitted(occasions: Occasions) -> WithinFit:
    fit = fit_within(occasions)
    assert isinstance(fit, WithinFit)
    return fit


def test_two_conditions_are_compared_as_in_a_cross_over_of_two_periods() -> None:
    first, second = [[5.0, 3.0], [6, 3], [4, 3.5], [7, 4]], [[2.0, 5.0], [3, 4.5], [1, 5]]
    result = fitted(met(["AB"] * 4 + ["BA"] * 3, first + second)).result()
    ab, ba = (np.array(of) @ [1, -1] for of in (first, second))
    pooled = (((ab - ab.mean()) ** 2).sum() + ((ba - ba.mean()) ** 2).sum()) / 5
    pair = result.pairs.pairs[0]
    # A minus B is in the first sequence what comes first, in the second what comes last.
    assert pair.difference == pytest.approx((ab.mean() - ba.mean()) / 2)
    assert pair.se == pytest.approx(math.sqrt(pooled * (1 / 4 + 1 / 3) / 4))
    assert pair.df == pytest.approx(5, rel=1e-5)
    assert result.test.f == pytest.approx((pair.difference / pair.se) ** 2)
    assert result.test.p == pytest.approx(pair.p)
    assert result.sd_residual == pytest.approx(math.sqrt(pooled / 2))


@pytest.mark.parametrize(("k", "n"), [(3, 12), (4, 16)])
def test_complete_sequences_give_observed_means_and_the_errors_of_fixed_participants(k: int, n: int) -> None:
    occasions = drawn(k, n)
    result = fitted(occasions).result()
    assert [mean.adjusted for mean in result.means] == pytest.approx([mean.mean for mean in result.means])
    names = sorted(set(occasions.conditions))
    condition = np.array([names.index(name) for name in occasions.conditions])
    rest = [np.eye(k)[np.array(occasions.positions) - 1][:, 1:], np.eye(n)[np.array(occasions.participants)]]
    full = LinearModel(np.hstack([np.eye(k)[condition][:, 1:], *rest]), np.array(occasions.values), 0)
    expected = full.against(np.hstack(rest))
    assert (result.test.f, result.test.df_within) == pytest.approx((expected.f, (n - 2) * (k - 1)), rel=1e-5)
    assert [pair.df for pair in result.pairs.pairs] == pytest.approx([(n - 2) * (k - 1)] * (k * (k - 1) // 2), rel=1e-5)
    assert (result.n_occasions, result.n_participants, result.n_complete) == (n * k, n, n)


def test_means_and_their_covariance_serve_the_verdict() -> None:
    fit = fitted(drawn(3, 18))
    pair = fit.pairs(0.05).pairs[0]
    found = average_advantage(fit.means, [("A", "B")])
    assert not isinstance(found, Undefined)
    assert (found.value, found.se, found.df) == pytest.approx((pair.difference, pair.se, pair.df))


def test_results_do_not_depend_on_order_origin_or_names() -> None:
    occasions = drawn(3, 20).only([number % 7 != 3 for number in range(60)])
    before, order = fitted(occasions).result(), np.random.default_rng(2).permutation(len(occasions.values))
    shuffled = Occasions(
        *([column[at] for at in order] for column in (
            [5 + 3 * value for value in occasions.values], occasions.conditions, occasions.positions,
            occasions.previous, [f"p{number}" for number in occasions.participants],
        )),
        names="CAB",
    )  # fmt: skip
    after = fitted(shuffled).result()
    assert after.test.f == pytest.approx(before.test.f, rel=1e-5)
    assert after.test.df_within == pytest.approx(before.test.df_within, rel=1e-4)
    assert after.positions.f == pytest.approx(before.positions.f, rel=1e-5)
    a_b, b_a = before.pairs.pairs[0], after.pairs.pairs[2]
    assert (b_a.a, b_a.b) == (a_b.a, a_b.b)
    assert [b_a.difference, b_a.ci_low, b_a.p] == pytest.approx([3 * a_b.difference, 3 * a_b.ci_low, a_b.p], rel=1e-4)


def test_participants_with_missing_occasions_count_with_those_they_have() -> None:
    occasions = drawn(3, 12).only([at >= 4 for at in range(36)])
    result = fitted(occasions).result()
    assert (result.n_occasions, result.n_participants, result.n_complete) == (32, 11, 10)
    completers = fitted(occasions.complete).result()
    assert completers.n_occasions == 30
    table = occasions.table
    assert np.isnan(table["A"][0]) or np.isnan(table["B"][0]) or np.isnan(table["C"][0])
    assert repeated_measures(table) == repeated_measures(occasions.complete.table)
    assert not isinstance(friedman(table), Undefined)
    assert not isinstance(nemenyi(table), Undefined)


def test_first_occasions_are_groups_of_different_participants() -> None:
    occasions = met(["AB", "BA", "AB"], [[1, 2], [3, 4], [5, 6]])
    assert occasions.first == {"A": [1, 5], "B": [3]}
    assert not isinstance(games_howell(drawn(3, 12).first), Undefined)


def test_a_condition_without_values_is_left_out_by_name() -> None:
    fit = fitted(replace(drawn(3, 12), names="ABCD"))
    assert fit.pairs(0.05).left_out == ("D",)
    assert fit.result().n_complete == 0
    assert isinstance(repeated_measures(fit.occasions.table), Undefined)


def test_carry_over_is_found_and_taken_out_of_the_differences() -> None:
    found = carry_over(drawn(3, 600, carried=1.0))
    assert not isinstance(found, Undefined)
    assert found.test.p < 1e-6
    # A never follows itself: at later positions the others have half of its carry-over each, and A none.
    assert found.unadjusted.pairs[0].difference == pytest.approx(-0.5, abs=0.2)
    assert found.adjusted.pairs[0].difference == pytest.approx(0.0, abs=0.2)
    none = carry_over(drawn(3, 60))
    assert not isinstance(none, Undefined)
    assert none.test.p > 0.05


def test_without_differences_between_participants_their_variance_is_zero() -> None:
    result = fitted(met(["ABC", "BCA", "CAB", "CBA"], [[1, 2, 4], [2, 4, 1], [3, 1, 2.5], [4, 2, 1]])).result()
    assert result.sd_participants == 0
    assert result.test.df_within == pytest.approx(12 - 5)


SAME = ["AB", "AB", "AB"]


@pytest.mark.parametrize(
    ("occasions", "reason"),
    [
        (Occasions([], [], [], [], []), "two conditions with values; there are 0"),
        (met(["A", "A"], [[1], [2]]), "two conditions with values; there are 1"),
        (met(SAME, [[1, 2], [3, 5], [2, 2]]), "cannot be separated"),
        (met(["A", "B", "A", "B"], [[1], [2], [3], [5]]), "too few occasions"),
        (met(["AB", "BA"], [[1, 2], [3, 5]]), "too few occasions"),
        (met(["AB", "BA", "AB"], [[2, 2], [2, 2], [2, 2]]), "All values are equal"),
        (met(["AB", "BA", "AB", "BA"], [[1, 2], [4, 3], [5, 6], [8, 7]]), "no residual variance"),
    ],
)
def test_data_without_a_comparison_say_why(occasions: Occasions, reason: str) -> None:
    found = fit_within(occasions)
    assert isinstance(found, Undefined)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("occasions", "reason"),
    [
        (drawn(2, 8), "always the other"),
        (drawn(3, 12).only([at % 3 == 0 for at in range(36)]), "two conditions with values; there are 0"),
        (met(["ABC", "BCA", "CAB"] * 3, np.random.default_rng(1).normal(size=(9, 3)).tolist()), "cannot be separated"),
        (replace(drawn(3, 12), previous=[None, "A", "A"] * 12), "cannot be separated"),
        (
            met(["ABC", "ACB"] * 4, np.random.default_rng(1).normal(size=(8, 3)).tolist()).only(
                [True, True, False] * 8
            ),
            "few",
        ),
    ],
)
def test_data_without_a_test_of_carry_over_say_why(occasions: Occasions, reason: str) -> None:
    found = carry_over(occasions)
    assert isinstance(found, Undefined)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": [math.nan] * 36}, "not a finite number"),
        ({"participants": [0] * 36}, "two values for one condition"),
        ({"positions": [1] * 36}, "two values for one position"),
        ({"previous": [None] * 36}, "previous condition is missing"),
        ({"previous": ["A"] * 36}, "given at position 1"),
    ],
)
def test_impossible_data_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        fit_within(replace(drawn(3, 12), **changes))


def test_greenhouse_and_geisser_correct_by_hand() -> None:
    table = np.array([[1.0, 2, 4], [2, 4, 4], [3, 3, 6], [4, 5, 5]])
    found = repeated_measures(dict(zip("ABC", table.T, strict=True)))
    assert not isinstance(found, Undefined)
    covariance = np.cov(table.T)
    centred = covariance - covariance.mean(0) - covariance.mean(1)[:, None] + covariance.mean()
    assert found.epsilon == pytest.approx(np.trace(centred) ** 2 / (2 * (centred**2).sum()))
    # The conditions' means are 2.5, 3.5 and 4.75, and the grand mean is 43/12.
    explained, residual = 4 * ((np.array([2.5, 3.5, 4.75]) - 43 / 12) ** 2).sum(), 3 * np.trace(centred)
    assert found.f == pytest.approx(explained / 2 / (residual / 6))
    assert found.partial_eta_squared == pytest.approx(explained / (explained + residual))


@pytest.mark.parametrize(
    "table",
    [{}, {"A": [1, 2]}, {"A": [1, math.nan], "B": [2, 3]}, {"A": [1, 2, 5], "B": [2, 3, 6]}],
)
def test_values_without_an_analysis_of_variance_say_why(table: dict[str, list[float]]) -> None:
    assert isinstance(repeated_measures(table), Undefined)
