"""The average advantage of a metric's better algorithms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from inference.average_advantage import (
    AverageAdvantage,
    MeanEstimates,
    Verdict,
    average_advantage,
    influential_algorithms,
    without_each,
)
from inference.contrasts import planned_contrast
from inference.equivalence import bound_test
from inference.results import Undefined
from inference.variance_components import Estimates

pytestmark = pytest.mark.unit
GROUPS = {"A": [4, 5, 5, 3], "B": [1, 2, 2, 4, 3], "C": [2, 3, 2]}


def advantage(means, sd=0.5, n=30, separated=None, **kwargs) -> AverageAdvantage:
    """The advantage of equally precise means, by default over all pairs in the order of the names."""
    names = list(means)
    pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]] if separated is None else separated
    found = average_advantage(MeanEstimates.independent(means, [sd] * len(means), [n] * len(means)), pairs, **kwargs)
    assert isinstance(found, AverageAdvantage)
    return found


def test_one_pair_is_welchs_t_test():
    found = average_advantage(MeanEstimates.of_groups(GROUPS), [("B", "A")])
    expected = stats.ttest_ind(GROUPS["B"], GROUPS["A"], equal_var=False)
    limits = expected.confidence_interval()
    assert (found.t, found.df, found.p) == pytest.approx((expected.statistic, expected.df, expected.pvalue))
    assert (found.interval.low, found.interval.high) == pytest.approx((limits.low, limits.high))
    assert found.weights == {"A": -1, "B": 1, "C": 0}


def test_pairs_with_one_side_in_common_are_welchs_contrast():
    found = average_advantage(MeanEstimates.of_groups(GROUPS), [("A", "B"), ("A", "C")])
    expected = planned_contrast(GROUPS, ["A"], ["B", "C"])
    assert (found.value, found.t, found.df) == pytest.approx((expected.difference, expected.welch.t, expected.welch.df))


def test_it_is_the_mean_difference_of_the_separated_pairs():
    means = {"A": 3.9, "B": 3.1, "C": 3.5, "D": 2.8}
    pairs = [("A", "D"), ("B", "D"), ("C", "B")]
    assert advantage(means, separated=pairs).value == pytest.approx(((3.9 - 2.8) + (3.1 - 2.8) + (3.5 - 3.1)) / 3)
    turned = advantage(means, separated=[(b, a) for a, b in pairs])
    assert turned.value == -advantage(means, separated=pairs).value


def test_the_covariance_of_a_design_counts():
    covariance = np.array([[0.04, 0.03], [0.03, 0.04]])
    normal = average_advantage(MeanEstimates(("A", "B"), np.array([3.3, 3.0]), covariance), [("A", "B")])
    assert normal.se == pytest.approx(math.sqrt(0.02))
    assert normal.df is None
    assert normal.p == pytest.approx(2 * stats.norm.sf(0.3 / math.sqrt(0.02)))
    mixed = Estimates(np.array([3.3, 3.0]), covariance, (covariance,), np.array([[0.1]]))
    few = average_advantage(MeanEstimates(("A", "B"), mixed.means, covariance, mixed.df), [("A", "B")])
    assert few.df == pytest.approx(10)
    assert few.p == pytest.approx(2 * stats.t.sf(few.t, 10))


@pytest.mark.parametrize(
    ("first", "bound", "verdict"),
    [
        (3.6, 0.2, Verdict.AGREE),
        (2.4, 0.2, Verdict.DISAGREE),
        (3.01, 0.25, Verdict.NO_RELEVANT_RELATION),
        (3.01, None, Verdict.CANNOT_TELL),
        (3.01, 0.1, Verdict.CANNOT_TELL),
        (3.4, 1.0, Verdict.AGREE),  # found, though within the bound
    ],
)
def test_verdicts(first, bound, verdict):
    found = advantage({"A": first, "B": 3.0}, bound=bound)
    assert found.verdict is verdict
    if bound is not None:
        expected = bound_test(found.value, found.se, found.df, bound)
        assert found.p_equivalence == pytest.approx(expected.p_equivalence)
        assert (found.narrow_interval.low, found.narrow_interval.high) == pytest.approx(
            (expected.interval.low, expected.interval.high)
        )


def test_the_equivalence_test_is_the_narrow_interval():
    for bound in np.linspace(0.05, 0.5, 46):
        found = advantage({"A": 3.1, "B": 3.0}, bound=float(bound))
        inside = -bound < found.narrow_interval.low and found.narrow_interval.high < bound
        assert (found.p_equivalence < 0.05) == inside


def test_without_an_algorithm_its_pairs_are_gone():
    means = {"A": 3.5, "B": 3.1, "C": 3.05, "D": 3.0, "E": 2.95}
    estimates = MeanEstimates.independent(means, [0.6] * 5, [40] * 5)
    pairs = [("A", "B"), ("A", "C"), ("A", "D"), ("A", "E"), ("B", "E")]
    overall, without = average_advantage(estimates, pairs), without_each(estimates, pairs)
    assert overall.verdict is Verdict.AGREE
    assert without["A"].value == pytest.approx(3.1 - 2.95)
    assert without["E"].n_pairs == 3
    assert influential_algorithms(overall, without) == ("A",)
    # Where no pair is left, nothing is shown either.
    only = pairs[:4]
    lost = without_each(estimates, only)
    assert isinstance(lost["A"], Undefined)
    assert influential_algorithms(average_advantage(estimates, only), lost) == ("A",)


def test_the_check_is_for_decided_verdicts_of_five_or_more_algorithms():
    four = {"A": 3.6, "B": 3.0, "C": 3.0, "D": 3.0}
    estimates = MeanEstimates.independent(four, [0.5] * 4, [30] * 4)
    pairs = [("A", "B"), ("A", "C"), ("A", "D")]
    assert influential_algorithms(average_advantage(estimates, pairs), without_each(estimates, pairs)) == ()
    equal = MeanEstimates.independent(dict.fromkeys("ABCDE", 3.0), [0.5] * 5, [30] * 5)
    assert influential_algorithms(average_advantage(equal, pairs), without_each(equal, pairs)) == ()


def test_undefined():
    estimates = MeanEstimates.of_groups(GROUPS)
    assert "separates no pair" in average_advantage(estimates, []).reason
    cycle = [("A", "B"), ("B", "C"), ("C", "A")]
    assert "as many" in average_advantage(estimates, cycle).reason
    constant = MeanEstimates.of_groups({"A": [5, 5], "B": [4, 4, 4], "C": [1, 2]})
    assert "all values are equal" in average_advantage(constant, [("A", "B")]).reason


def test_a_condition_without_variance_has_no_degrees_of_freedom():
    found = average_advantage(MeanEstimates.of_groups({"A": [5, 5, 5], "B": [4, 3, 4]}), [("A", "B")])
    assert found.df == pytest.approx(2)
    assert found.p == pytest.approx(stats.ttest_1samp([4, 3, 4], 5).pvalue)
