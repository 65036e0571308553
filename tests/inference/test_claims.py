"""Claims are judged by intervals and separated pairs; what is neither as claimed nor refuted stays open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy import stats

from inference.anova import welch
from inference.average_advantage import MeanEstimates
from inference.claim_estimates import (
    contrast_of_means,
    correlation_estimate,
    effect_estimate,
    median_estimate,
    share_estimate,
    student_estimate,
)
from inference.claims import AS, NOT_AS, OPEN, RULES, Estimate, Pairs, Weights, judge, least, most, near, verdict
from inference.results import Interval, WelchResult

pytestmark = pytest.mark.unit


@dataclass(frozen=True)
class Known:
    """Values with one standard error, and pairs."""

    values: Mapping[Any, Mapping[str, float | None]]
    error: float | None = 0.001
    separated: Mapping[Any, Pairs | None] = field(default_factory=dict)
    lower_better: tuple[Any, ...] = ()
    alpha: float = 0.05

    def value(self, quantity: Any, name: str) -> float | None:
        return self.values[quantity][name]

    def contrast(self, quantity: Any, weights: Weights) -> Estimate | None:
        values = [self.values[quantity].get(name) for name in weights]
        known = [value for value in values if value is not None]
        if self.error is None or len(known) < len(values):
            return None
        return student_estimate(sum(w * v for w, v in zip(weights.values(), known, strict=True)), self.error, 19)

    def pairs(self, quantity: Any) -> Pairs | None:
        return self.separated.get(quantity)

    def is_lower_better(self, quantity: Any) -> bool:
        return quantity in self.lower_better


def of_values(rule: str, values: tuple[float | None, ...], error: float | None = 0.001, **numbers: Any) -> str:
    names = "ABC"[: len(values)]
    known = {"q": dict(zip(names, values, strict=True))}
    return verdict(judge(rule, Known(known, error), ["q"], names, **numbers))


@pytest.mark.parametrize(
    ("rule", "values", "numbers", "expected"),
    [
        ("order", (0.3, 0.2, 0.1), {}, AS),
        ("order", (0.3, 0.3, 0.1), {}, OPEN),  # no difference is no evidence that there is none
        ("order", (0.2, 0.3, 0.1), {}, NOT_AS),
        ("order", (0.35, 0.3), {"by": 0.1}, NOT_AS),
        ("order", (0.401, 0.3), {"by": 0.1}, OPEN),
        ("order", (0.3, None, 0.1), {}, OPEN),
        ("order", (0.1, 0.2, None), {}, NOT_AS),
        ("highest", (0.3, 0.1, 0.2), {}, AS),
        ("highest", (0.2, 0.1, 0.3), {}, NOT_AS),
        ("lowest", (0.1, 0.3, 0.2), {}, AS),
        ("lowest", (0.2, 0.3, 0.1), {}, NOT_AS),
        ("between", (0.3,), {"low": 0.2, "high": 0.4}, AS),
        ("between", (0.3,), {"low": 0.3, "high": 0.4}, OPEN),
        ("between", (0.1, 0.2, 0.3), {"high": 0.21}, NOT_AS),
        ("between", (None,), {"low": 0.1}, OPEN),
        ("near", (0.3, 0.4), {"value": 0.35, "margin": 0.06}, AS),
        ("near", (0.3, 0.4), {"value": 0.35, "margin": 0.05}, OPEN),
        ("near", (0.3, 0.5), {"value": 0.35, "margin": 0.06}, NOT_AS),
        ("least", (0.7,), {"value": 0.75, "margin": 0.15}, NOT_AS),  # it is shown too that it lies above .60
        ("least", (0.8,), {"value": 0.75, "margin": 0.15}, AS),
        ("least", (0.75,), {"value": 0.75, "margin": 0.15}, AS),
        ("least", (0.75,), {"value": 0.75}, OPEN),
        ("most", (0.45,), {"value": 0.4, "margin": 0.1}, NOT_AS),
        ("most", (0.4,), {"value": 0.4, "margin": 0.1}, AS),
        ("alike", (0.30, 0.31, 0.32), {"within": 0.03}, AS),
        ("alike", (0.30, 0.31, 0.32), {"within": 0.02}, OPEN),
        ("alike", (0.30, 0.31, 0.32), {"within": 0.01}, NOT_AS),
        ("alike", (0.30, 0.31, None), {"within": 0.01}, OPEN),
    ],
)
def test_intervals_decide(
    rule: str, values: tuple[float | None, ...], numbers: dict[str, float], expected: str
) -> None:
    assert of_values(rule, values, **numbers) == expected


def test_the_larger_number_alone_decides_nothing() -> None:
    assert of_values("order", (0.31, 0.30), error=0.001) == AS
    assert of_values("order", (0.31, 0.30), error=0.02) == OPEN
    assert of_values("order", (0.31, 0.30), error=None) == OPEN
    assert of_values("order", (0.30, 0.31), error=0.001) == NOT_AS
    assert of_values("order", (0.30, 0.31), error=0.02) == OPEN


def test_several_intervals_are_corrected_by_bonferroni() -> None:
    # t = 2.3 with 19 degrees of freedom: p = .033, and .066 among two.
    assert of_values("least", (2.3,), error=1.0, value=0.0) == AS
    assert of_values("least", (2.3, 100.0), error=1.0, value=0.0) == OPEN
    assert of_values("least", (-2.3,), error=1.0, value=0.0) == NOT_AS
    assert of_values("least", (-2.3, 100.0), error=1.0, value=0.0) == OPEN
    known = Known({"p": {"A": 2.3}, "q": {"A": 9.9}}, error=1.0)
    assert [finding.confidence for finding in judge("least", known, ["p", "q"], "A", value=0)] == [0.975, 0.975]


def test_open_ends_are_strict() -> None:
    assert least(3.0).outcome(Interval(3.0, 4.0)) is None
    assert most(3.0).outcome(Interval(2.0, 3.0)) is None
    assert near(3.5, 0.5).outcome(Interval(3.0, 4.0)) is True


VALUES = {"q": dict.fromkeys("ABCD", 0.2), "r": dict.fromkeys("ABCD", 0.2)}


def of_pairs(rule: str, names: str, *separated: set[tuple[str, str]] | None, **options: Any) -> str:
    quantities = ["q", "r"][: len(separated)]
    known = Known(VALUES, separated=dict(zip(quantities, separated, strict=True)))
    return verdict(judge(rule, known, quantities, names, **options))


@pytest.mark.parametrize(
    ("rule", "names", "separated", "expected"),
    [
        ("top", "A", {("A", "B")}, AS),  # it need not be above all
        ("top", "AC", {("A", "B")}, OPEN),  # C is above nobody
        ("top", "AC", {("A", "B"), ("C", "A"), ("C", "D")}, AS),  # members may differ
        ("top", "AC", {("A", "C")}, OPEN),
        ("top", "AC", {("A", "B"), ("C", "B"), ("D", "C")}, NOT_AS),
        ("top", "A", set(), OPEN),
        ("top", "A", None, OPEN),
        ("bottom", "A", {("B", "A")}, AS),
        ("bottom", "A", {("B", "A"), ("A", "C")}, NOT_AS),
        ("nobody-alone", "ABCD", {("A", "B"), ("A", "C")}, AS),
        ("nobody-alone", "ABCD", {("A", "B"), ("A", "C"), ("A", "D")}, NOT_AS),
        ("nobody-alone", "ABCD", {("A", "B"), ("C", "B"), ("D", "B")}, NOT_AS),
        ("nobody-alone", "ABCD", set(), AS),  # it is about what was found
        ("nobody-alone", "ABCD", None, OPEN),
    ],
)
def test_separated_pairs_decide(rule: str, names: str, separated: set[tuple[str, str]] | None, expected: str) -> None:
    assert of_pairs(rule, names, separated) == expected


@pytest.mark.parametrize(
    ("first", "second", "order", "another_order"),
    [
        ({("A", "B")}, {("A", "B")}, AS, NOT_AS),
        ({("A", "B")}, {("B", "A")}, NOT_AS, AS),
        ({("A", "B")}, set(), OPEN, OPEN),
        (set(), set(), OPEN, OPEN),
        (None, {("A", "B")}, OPEN, OPEN),
    ],
)
def test_two_orders_are_compared_by_the_pairs_of_both(first: Any, second: Any, order: str, another_order: str) -> None:
    assert of_pairs("one-order", "AB", first, second) == order
    assert of_pairs("another-order", "AB", first, second) == another_order


def test_the_best_differs_if_each_leads_the_other_by_its_own_quantity() -> None:
    values = {"recall": {"A": 0.3, "B": 0.2, "C": 0.1}, "fallout": {"A": 0.3, "B": 0.1, "C": 0.2}}

    def by(recall: Pairs, fallout: Pairs, values: Mapping[str, Any] = values) -> str:
        known = Known(values, None, {"recall": recall, "fallout": fallout}, ("fallout",))
        return verdict(judge("another-best", known, ["recall", "fallout"], "ABC"))

    assert by({("A", "B")}, {("A", "B")}) == AS  # the lower fallout is the better one
    assert by({("A", "B")}, set()) == OPEN
    same = {**values, "fallout": {"A": 0.1, "B": 0.2, "C": 0.3}}
    assert by({("A", "B"), ("A", "C")}, {("B", "A"), ("C", "A")}, same) == NOT_AS
    assert by({("A", "B"), ("A", "C")}, {("B", "A")}, same) == OPEN
    assert by({("A", "B")}, {("A", "B")}, {**values, "fallout": {"A": None, "B": 0.1, "C": 0.2}}) == OPEN


def test_tiers_compare_their_means_and_no_minimal_is_above_a_maximal() -> None:
    def by(values: str, separated: Pairs, error: float = 0.001) -> str:
        known = {"q": dict(zip("ABCD", map(float, values), strict=True))}
        return verdict(judge("tiers", Known(known, error, {"q": separated}), ["q"], "AB", minimal="CD"))

    assert by("4411", set()) == AS
    assert by("4411", set(), error=9.0) == OPEN
    assert by("4411", {("C", "A")}) == NOT_AS
    assert by("1144", set()) == OPEN  # no single minimal one is above a maximal one


def test_no_effect_is_refuted_by_a_negligible_upper_limit_only() -> None:
    def by(*effects: tuple[float, float]) -> str:
        class Effects(Known):
            def contrast(self, quantity: Any, weights: Weights) -> Any:
                low, high = effects[quantity]
                return Estimate(low, lambda confidence: Interval(low, high))

        return verdict(judge("differs", Effects({}), range(len(effects)), (), negligible=0.1))

    assert by((0.2, 0.4), (0.01, 0.3)) == AS
    assert by((0.2, 0.4), (0.0, 0.3)) == OPEN
    assert by((0.2, 0.4), (0.0, 0.09)) == NOT_AS


def test_contradiction_needs_a_pair_that_both_sides_separate() -> None:
    values = {"rated": {"A": 4.0, "B": 3.0}, "recall": {"A": 0.1, "B": 0.2}, "fallout": {"A": 0.1, "B": 0.2}}

    def by(rated: Pairs, recall: Pairs, fallout: Pairs, error: float = 0.1) -> str:
        known = Known(values, error, {"rated": rated, "recall": recall, "fallout": fallout}, ("fallout",))
        return verdict(judge("contradicted", known, ["rated", "recall", "fallout"], "AB"))

    a, b = {("A", "B")}, {("B", "A")}
    assert by(a, b, a) == AS  # A is rated higher, and has the lower recall and the higher fallout
    assert by(a, b, set()) == OPEN
    assert by(set(), b, a) == OPEN
    assert by(a, a, b) == NOT_AS  # the better one by either metric is rated 1 point higher
    assert by(a, a, b, error=0.9) == OPEN
    assert by(a, a, a) == OPEN
    words = judge("contradicted", Known(values, 0.1, {"rated": a, "recall": b}, ()), ["rated", "recall"], "AB")[0].words
    assert words.startswith("D = 1, A over B; average advantage -1.000, 95% CI [")


def test_every_rule_leaves_a_claim_open_without_evidence() -> None:
    options = {
        "near": {"value": 0, "margin": 1}, "least": {"value": 0}, "most": {"value": 0}, "alike": {"within": 1},
        "tiers": {"minimal": "CD"}, "differs": {"negligible": 0.1},
    }  # fmt: skip
    for rule in RULES:
        known = Known({"q": dict.fromkeys("ABCD"), "r": dict.fromkeys("ABCD")}, None)
        findings = judge(rule, known, ["q", "r"], "AB", **options.get(rule, {}))
        assert verdict(findings) == OPEN, rule
    assert verdict([]) == OPEN


def test_interval_of_the_median_holds_its_confidence() -> None:
    rng = np.random.default_rng(5)
    for n, confidence in ((11, 0.95), (30, 0.99), (30, 0.9)):
        draws = np.sort(rng.exponential(size=(4000, n)), axis=1)
        intervals = [median_estimate(row, 0, 99).interval(confidence) for row in draws]
        covered = np.mean([one.low <= np.log(2) <= one.high for one in intervals])
        assert confidence - 0.012 < covered < 1  # Monte-Carlo error .005 at most
    assert median_estimate(np.array([1.0, 2, 3, 4, 5]), 1, 7).interval(0.99) == Interval(1, 7)  # 2/32 > .01


def test_estimates_agree_with_other_implementations() -> None:
    hits = np.repeat([1.0, 0.0], [27, 3])
    exact = stats.binomtest(27, 30).proportion_ci(0.99)
    share = share_estimate(hits).interval(0.99)
    assert (share.low, share.high) == pytest.approx((exact.low, exact.high))
    rng = np.random.default_rng(1)
    x, y, z = rng.normal(size=(3, 40))
    fisher = stats.pearsonr(x, x + y).confidence_interval(0.9)
    r = correlation_estimate(float(np.corrcoef(x, x + y)[0, 1]), 40).interval(0.9)
    assert (r.low, r.high) == pytest.approx((fisher.low, fisher.high))
    groups = {"A": list(x), "B": list(2 * y + 1), "C": list(z)}
    means = MeanEstimates.of_groups(groups)
    difference = contrast_of_means(means, {"A": 1.0, "B": -1.0}).interval(0.95)
    welch_t = stats.ttest_ind(x, 2 * y + 1, equal_var=False).confidence_interval(0.95)
    assert (difference.low, difference.high) == pytest.approx((welch_t.low, welch_t.high))
    constant = MeanEstimates.of_groups({"A": [3, 3], "B": [4, 4]})
    assert contrast_of_means(constant, {"A": 1.0}).interval(0.95) == Interval(3, 3)
    test = welch(groups)
    assert isinstance(test, WelchResult)
    for confidence in (1 - test.p - 1e-6, 1 - test.p + 1e-6):
        assert (effect_estimate(test).interval(confidence).low > 0) == (confidence < 1 - test.p)
    limit = effect_estimate(test).interval(0.95).high
    assert stats.ncf.cdf(test.f, test.df_between, test.df_within, limit**2 * test.n) == pytest.approx(0.05)


def test_estimates_have_the_values_of_their_samples() -> None:
    assert median_estimate(np.array([1.0, 2, 9]), 1, 9).value == 2.0
    assert share_estimate(np.array([1.0, 0, 0, 1])).value == 0.5
    test = WelchResult(3.0, 0.06, df_between=2, df_within=40.0, n=100, n_conditions=3, left_out=())
    assert effect_estimate(test).value == pytest.approx(0.2)
    # An F too large for its noncentral distribution has no upper limit.
    huge = WelchResult(1e9, 0.0, df_between=2, df_within=40.0, n=100, n_conditions=3, left_out=())
    assert effect_estimate(huge).interval(0.95) == Interval(effect_estimate(huge).value, np.inf)
