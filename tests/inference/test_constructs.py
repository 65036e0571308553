"""Models of constructs where data are degenerate, solutions improper or samples small."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from core.errors import DataError
from inference import factor_analysis
from inference.covariance_fit import ChiSquare, Minimum, indices, minimum_of
from inference.factor_analysis import FactorModel, OmegaResult, confirmatory_factors, mcdonald_omega
from inference.indicators import Indicators, indicators, why_degenerate
from inference.invariance import Change, InvarianceResult, measurement_invariance
from inference.polychoric import polychorics
from inference.results import Undefined
from inference.structural import Outcome, StructuralModel, structural_model

pytestmark = pytest.mark.unit
N = 160


def drawn(
    n: int = N, *, k: int = 3, loading: float = 0.7, factors: tuple[str, ...] = ("a",), seed: int = 1
) -> Indicators:
    """Continuous items of uncorrelated factors."""
    rng = np.random.default_rng(seed)
    names = tuple(f"{factor}{item}" for factor in factors for item in range(k))
    scores = np.repeat(rng.normal(size=(n, len(factors))), k, axis=1)
    noise = np.sqrt(1 - loading**2) * rng.normal(size=(n, k * len(factors)))
    return Indicators(loading * scores + noise, names, tuple(name[0] for name in names), 0)


def reason_of(result: object) -> str:
    assert isinstance(result, Undefined)
    return result.reason


def test_incomplete_participants_are_left_out_and_positions_kept() -> None:
    data, complete = indicators({"a": ["x"], "b": ["y"]}, [[1, 2], [None, 3], [4, 5]])
    assert (complete, data.n, data.n_left_out, data.factor_names) == ([0, 2], 2, 1, ("a", "b"))
    assert data.answers.tolist() == [[1, 2], [4, 5]]


def test_malformed_answers_are_refused() -> None:
    with pytest.raises(DataError):
        indicators({"a": ["x"]}, [[float("nan")]])


def test_degenerate_items_are_named() -> None:
    data = drawn()
    assert "3 questions need more" in reason_of(why_degenerate(replace(data, answers=data.answers[:2])))
    constant = data.answers.copy()
    constant[:, 1] = 4
    assert "same answer to a1" in reason_of(mcdonald_omega(replace(data, answers=constant)))
    double = data.answers.copy()
    double[:, 2] = 3 - 2 * double[:, 0]
    assert "a0 and a2 are perfectly correlated" in reason_of(confirmatory_factors(replace(data, answers=double)))
    total = data.answers.copy()
    total[:, 2] = total[:, 0] + total[:, 1]
    assert "sum of others" in reason_of(confirmatory_factors(replace(data, answers=total)))


def test_small_samples_and_short_scales_state_the_rule() -> None:
    assert "needs at least 100" in reason_of(confirmatory_factors(drawn(99)))
    assert "needs at least 30 participants" in reason_of(mcdonald_omega(drawn(29)))
    assert "at least 3 items; there are 2" in reason_of(mcdonald_omega(drawn(k=2)))
    assert reason_of(confirmatory_factors(drawn(k=2))).endswith("a.")
    assert reason_of(confirmatory_factors(drawn(k=0))).endswith("none.")


def test_omega_is_the_planted_reliability_and_its_interval_covers_it() -> None:
    truth = (3 * 0.7) ** 2 / ((3 * 0.7) ** 2 + 3 * (1 - 0.49))
    results = [mcdonald_omega(drawn(200, seed=seed)) for seed in range(60)]
    covered = [result.ci_low < truth < result.ci_high for result in results if isinstance(result, OmegaResult)]
    assert len(covered) == 60
    assert np.mean(covered) > 0.88
    large = mcdonald_omega(drawn(20_000))
    assert isinstance(large, OmegaResult)
    assert large.omega == pytest.approx(truth, abs=0.01)


def heywood() -> Indicators:
    """Three items whose one-factor solution has a communality above 1: .6 × .6 / .3."""
    target = np.array([[1, 0.6, 0.6], [0.6, 1, 0.3], [0.6, 0.3, 1]])
    rows = np.random.default_rng(2).normal(size=(N, 3))
    rows -= rows.mean(axis=0)
    white = rows @ np.linalg.inv(np.linalg.cholesky(np.cov(rows, rowvar=False))).T
    return Indicators(white @ np.linalg.cholesky(target).T, ("x", "y", "z"), ("f",) * 3, 0)


def test_improper_solutions_are_named() -> None:
    assert "negative residual variance of x" in reason_of(mcdonald_omega(heywood()))
    model = confirmatory_factors(heywood())
    assert isinstance(model, FactorModel)
    assert model.improper == ("x",)
    same = drawn(k=6, seed=3)
    split = replace(same, factors=("a", "a", "a", "b", "b", "b"))
    models = [
        confirmatory_factors(replace(split, answers=drawn(k=6, seed=seed).answers)) for seed in range(6)
    ]  # fmt: skip
    improper = [model.improper for model in models if isinstance(model, FactorModel)]
    assert ("a with b",) in improper


def test_three_items_reproduce_the_data() -> None:
    model = confirmatory_factors(drawn())
    assert isinstance(model, FactorModel)
    assert (model.fit.df, model.fit.p, model.fit.cfi, model.fit.rmsea) == (0, None, 1, 0)


@pytest.mark.slow
def test_ordinal_answers_are_recognised_and_weak_pairs_have_no_ratio() -> None:
    data = drawn(loading=0.0, factors=("a", "b"), seed=5)
    answers = np.clip(np.round(data.answers * 1.2 + 3), 1, 5)
    ordinal = replace(data, answers=answers)
    assert ordinal.is_ordinal
    assert not data.is_ordinal
    results = [
        confirmatory_factors(replace(drawn(loading=0.05, factors=("a", "b"), seed=seed)), is_ordinal=False)
        for seed in range(20)
    ]
    fitted = [result for result in results if isinstance(result, FactorModel)]
    assert any(pair.htmt is None for result in fitted for pair in result.pairs)
    assert any("did not converge" in result.reason for result in results if isinstance(result, Undefined))


def test_three_ordinal_items_leave_nothing_to_test(monkeypatch: pytest.MonkeyPatch) -> None:
    data = drawn()
    ordinal = replace(data, answers=np.clip(np.round(data.answers * 1.2 + 3), 1, 5))
    model = confirmatory_factors(ordinal)
    assert isinstance(model, FactorModel)
    assert (model.estimator, model.fit.df, model.fit.p) == ("WLSMV", 0, None)
    monkeypatch.setattr("inference.covariance_fit.MOST_STEPS", 1)
    assert "did not converge" in reason_of(confirmatory_factors(ordinal))


def test_polychoric_correlations_at_the_limit_have_no_estimate() -> None:
    column = np.tile([1.0, 2.0, 3.0], 40)
    assert "perfectly related" in reason_of(polychorics(np.column_stack([column, column]), ("x", "y")))
    assert "same answer to y" in reason_of(polychorics(np.column_stack([column, column * 0]), ("x", "y")))
    rng = np.random.default_rng(1)
    close = np.column_stack([column, column, rng.permutation(column), rng.permutation(column)])
    close[0, 1], close[1, 1], close[4, 1] = 2, 3, 1
    close[:, 1] = np.where(rng.random(120) < 0.03, rng.permutation(close[:, 1]), close[:, 1])
    data = Indicators(np.column_stack([column, column, column[::-1]]), ("x", "y", "z"), ("f",) * 3, 0)
    jittered = data.answers.copy()
    jittered[0, 1] = 2
    jittered[:20, 2] = 1
    model = confirmatory_factors(replace(data, answers=jittered))
    assert isinstance(model, Undefined)


@dataclass(frozen=True)
class Slope:
    """A discrepancy of one parameter with a fixed linearisation."""

    derivative: float
    residual: float
    rising: bool = False

    def value(self, parameters: np.ndarray) -> float:
        return abs(float(parameters[0])) if self.rising else -float(parameters[0])

    def linearised(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([self.residual]), np.array([[self.derivative]])


def test_steps_without_end_and_flat_models_have_no_minimum() -> None:
    start = np.array([0.0])
    assert "did not converge" in reason_of(minimum_of(Slope(1.0, 1.0), start))
    assert "did not converge" in reason_of(minimum_of(Slope(1e-3, 1.0, rising=True), start))
    assert "not identified" in reason_of(minimum_of(Slope(0.0, 1.0), start))
    assert isinstance(minimum_of(Slope(1.0, 0.0), start), Minimum)


def test_models_that_no_parameter_separates_are_not_identified() -> None:
    class Twins:
        def value(self, parameters: np.ndarray) -> float:
            return 0.0

        def linearised(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return np.zeros(2), np.ones((2, 2))

    assert "not identified" in reason_of(minimum_of(Twins(), np.zeros(2)))


def test_indices_at_their_limits() -> None:
    worse = indices(ChiSquare(50.0, 5), ChiSquare(40.0, 10), 0.2, (100, 1))
    assert worse.cfi == 0
    assert worse.rmsea_low < worse.rmsea < worse.rmsea_high
    huge = indices(ChiSquare(2.0, 2), ChiSquare(3.0, 3), 0.0, (100, 1))
    assert (huge.cfi, huge.tli, huge.rmsea) == (1, 1, 0)


def grouped(sizes: tuple[int, ...] = (90, 90), **changes: float) -> tuple[Indicators, list[str]]:
    """One scale in several groups; in the last, an item is shifted or its loading changed."""
    parts = [drawn(size, k=4, seed=10 + index).answers for index, size in enumerate(sizes)]
    parts[-1] = parts[-1].copy()
    parts[-1][:, 1] += changes.get("shift", 0.0)
    parts[-1][:, 2] *= changes.get("stretch", 1.0)
    labels = [f"g{index}" for index, size in enumerate(sizes) for _row in range(size)]
    return replace(drawn(k=4), answers=np.concatenate(parts)), labels


def test_invariance_is_lost_at_the_planted_level() -> None:
    equal = measurement_invariance(*grouped())
    assert isinstance(equal, InvarianceResult)
    assert [model.change.is_supported for model in equal.models if model.change] == [True, True]
    shifted = measurement_invariance(*grouped(shift=1.0))
    assert isinstance(shifted, InvarianceResult)
    assert [model.change.is_supported for model in shifted.models if model.change] == [True, False]
    stretched = measurement_invariance(*grouped(stretch=3.0))
    assert isinstance(stretched, InvarianceResult)
    assert stretched.models[1].change is not None
    assert not stretched.models[1].change.is_supported
    assert stretched.counts == (90, 90)
    assert Change(1.0, 1, 0.3, -0.02, 0.0).is_within_criteria is False


def test_invariance_needs_groups_items_and_participants() -> None:
    data, labels = grouped()
    assert "two groups" in reason_of(measurement_invariance(data, ["g"] * data.n))
    pair = replace(data, answers=data.answers[:, :2], items=data.items[:2], factors=data.factors[:2])
    assert "at least 3 items" in reason_of(measurement_invariance(pair, labels))
    assert "at least 40 participants in each group" in reason_of(measurement_invariance(*grouped((90, 39))))
    constant = data.answers.copy()
    constant[:90, 0] = 1
    assert reason_of(measurement_invariance(replace(data, answers=constant), labels)).startswith("g0: Every")


@pytest.mark.slow
def test_invariance_names_improper_groups_and_models_that_do_not_converge() -> None:
    one = heywood()
    both = replace(one, answers=np.concatenate([one.answers, drawn(N).answers]))
    result = measurement_invariance(both, ["odd"] * N + ["even"] * N)
    assert isinstance(result, InvarianceResult)
    assert "x (odd)" in result.improper
    failing = []
    for seed in range(12):
        noise = np.random.default_rng(seed).normal(size=(80, 3))
        data = replace(one, answers=noise)
        failing.append(measurement_invariance(data, ["a"] * 40 + ["b"] * 40))
    reasons = [result.reason for result in failing if isinstance(result, Undefined)]
    assert any("model: The" in reason for reason in reasons)


def studied(n: int = 300, effect: float = 0.8, seed: int = 4) -> tuple[Indicators, Outcome]:
    """Two qualities in two conditions; only the first responds to the condition and acts on the outcome."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    base = drawn(n, factors=("a", "b"), seed=seed)
    quality = rng.normal(size=n) + effect * labels
    answers = base.answers.copy()
    answers[:, :3] = 0.7 * quality[:, None] + 0.6 * rng.normal(size=(n, 3))
    outcome = 0.6 * quality + 0.7 * rng.normal(size=n)
    return replace(base, answers=answers), Outcome("satisfaction", outcome, tuple("AB"[label] for label in labels))


def test_the_planted_indirect_effect_is_recovered() -> None:
    model = structural_model(*studied(), np.random.default_rng(1))
    assert isinstance(model, StructuralModel)
    first, second = model.indirect
    assert (model.reference, model.conditions, first.quality, second.quality) == ("A", ("B",), "a", "b")
    assert first.ci_low > 0
    assert first.ci_low < 0.6 * 0.8 / np.sqrt(0.36 * 1.16 + 0.49) < first.ci_high
    assert second.ci_low < 0 < second.ci_high
    assert model.tests[0].p < 0.001 < 0.01 < model.tests[1].p
    assert model.improper == ()
    again = structural_model(*studied(), np.random.default_rng(1))
    assert again == model


def test_the_structural_model_states_why_it_is_missing() -> None:
    data, outcome = studied()
    rng = np.random.default_rng(1)
    one = replace(outcome, conditions=("A",) * data.n)
    assert "two conditions" in reason_of(structural_model(data, one, rng))
    few = replace(outcome, conditions=("A",) * (data.n - 9) + ("B",) * 9)
    assert "B has 9" in reason_of(structural_model(data, few, rng))
    pair = replace(data, answers=data.answers[:, :2], items=data.items[:2], factors=data.factors[:2])
    assert "at least 3 items: a" in reason_of(structural_model(pair, outcome, rng))
    constant = replace(outcome, values=np.ones(data.n))
    assert "same answer to satisfaction" in reason_of(structural_model(data, constant, rng))
    assert "free parameters" in reason_of(structural_model(*studied(80), rng))
    noise = [np.random.default_rng(seed) for seed in range(15)]
    results = [
        structural_model(
            replace(data, answers=source.normal(size=(300, 6))),
            replace(outcome, values=source.normal(size=300)),
            source,
        )
        for source in noise
    ]
    reasons = [result.reason for result in results if isinstance(result, Undefined)]
    assert any("negative variance of" in reason for reason in reasons)


def test_omega_without_a_fit_of_its_model_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factor_analysis, "minimum_of", lambda *_: Undefined("No minimum."))
    assert reason_of(mcdonald_omega(drawn())) == "No minimum."
