from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from inference import rank_tests
from inference.results import Undefined

sample = st.lists(st.integers(0, 10), min_size=1, max_size=10)


@given(st.lists(sample, min_size=2, max_size=4).filter(lambda data: len(set(chain(*data))) > 1))
def test_kruskal_wallis_agrees_with_scipy(data: list[list[int]]) -> None:
    found = rank_tests.kruskal_wallis({str(place): values for place, values in enumerate(data)})
    expected = stats.kruskal(*data)
    assert found.h == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    n = sum(map(len, data))
    total = sum(rank * len(values) for rank, values in zip(found.mean_ranks.values(), data, strict=True))
    assert total == pytest.approx(n * (n + 1) / 2)


@given(st.lists(sample, min_size=2, max_size=3).filter(lambda data: len(set(chain(*data))) > 1))
def test_ranks_know_only_the_order_of_the_values(data: list[list[int]]) -> None:
    groups = {str(place): values for place, values in enumerate(data)}
    bent = {name: [value**3 + 2 * value for value in values] for name, values in groups.items()}
    assert rank_tests.dunn_holm(groups) == rank_tests.dunn_holm(bent)
    assert rank_tests.kruskal_wallis(groups) == rank_tests.kruskal_wallis(bent)


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ({}, "none has"),
        ({"A": [1, 2], "B": []}, "only A has"),
        ({"A": [3, 3], "B": [3]}, "All 3 participants"),
    ],
)
def test_rank_tests_name_the_reason_when_they_are_undefined(groups: dict, reason: str) -> None:
    for procedure in (rank_tests.kruskal_wallis, rank_tests.dunn_holm):
        found = procedure(groups)
        assert isinstance(found, Undefined)
        assert reason in found.reason


def test_rank_eta_squared_is_missing_with_one_observation_each() -> None:
    found = rank_tests.kruskal_wallis({"A": [1], "B": [2], "C": [3], "D": []})
    assert found.rank_eta_squared is None
    assert (found.h, found.left_out) == (pytest.approx(2.0), ("D",))
