from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.errors import DataError
from inference import bootstrap, order_bootstrap
from inference.results import Undefined


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_same_seed_gives_the_same_bytes() -> None:
    values = [[1, 2], [2, 2], [5, 4]]
    one, two = (bootstrap.user_means(values, 50, rng(4)) for _ in range(2))
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != bootstrap.user_means(values, 50, rng(5)).tobytes()


def test_users_count_for_every_algorithm_or_for_none() -> None:
    values = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    means = bootstrap.user_means(values, 200, rng())
    assert np.allclose(means[:, 1], 10 * means[:, 0])
    assert len(set(means[:, 0])) > 5


def test_users_without_all_values_are_left_out() -> None:
    means = bootstrap.user_means([[1.0, 2.0], [9.0, np.nan], [1.0, 2.0]], 20, rng())
    assert (means == [1.0, 2.0]).all()
    assert isinstance(bootstrap.user_means([[np.nan, 1.0]], 5, rng()), Undefined)
    assert isinstance(bootstrap.user_means(np.empty((4, 0)), 5, rng()), Undefined)


def test_algorithms_with_equal_values_are_equal_in_every_resample() -> None:
    column = rng(9).random(500)
    means = bootstrap.user_means(np.column_stack([column, rng(8).random(500), column]), 100, rng())
    assert (means[:, 0] == means[:, 2]).all()


def test_resampling_in_pieces_has_the_moments_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    values = rng(2).random((50, 2))
    monkeypatch.setattr(bootstrap, "CHUNK", 1000)  # ten resamples at a time
    means = bootstrap.user_means(values, 4005, rng())
    error = values.std(axis=0) / np.sqrt(50)
    assert means.mean(axis=0) == pytest.approx(values.mean(axis=0), abs=6 * error.max() / np.sqrt(4005))
    assert means.std(axis=0) == pytest.approx(error, rel=0.08)


def test_bootstrap_refuses_what_it_cannot_resample() -> None:
    with pytest.raises(DataError, match="infinity"):
        bootstrap.user_means([[1.0], [np.inf]], 5, rng())


def test_percentile_intervals_refuse_what_is_not_a_sample() -> None:
    with pytest.raises(DataError, match="not finite"):
        bootstrap.percentile_intervals([[1.0], [np.nan]])


samples = st.integers(1, 5).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 3), min_size=k, max_size=k), min_size=1, max_size=20)
)


@given(samples)
def test_rank_probabilities_sum_to_one_and_agree_with_mean_ranks(rows: list[list[int]]) -> None:
    k = len(rows[0])
    found = order_bootstrap.rank_distribution(rows, [str(place) for place in range(k)])
    table = np.array(found.probabilities)
    assert table.sum(axis=0) == pytest.approx(np.ones(k))
    assert table.sum(axis=1) == pytest.approx(np.ones(k))
    ranks = stats.rankdata(-np.array(rows), axis=1).mean(axis=0)
    assert found.mean_ranks == pytest.approx(tuple(ranks))
    assert table @ np.arange(1, k + 1) == pytest.approx(ranks)


@given(samples, st.randoms())
def test_tau_of_each_resample_is_kendalls(rows: list[list[int]], shuffler) -> None:
    other = [list(row) for row in rows]
    for row in other:
        shuffler.shuffle(row)
    taus = [
        stats.kendalltau(a, b).statistic
        for a, b in zip(rows, other, strict=True)
        if len(set(a)) > 1 and len(set(b)) > 1
    ]
    found = order_bootstrap.tau_distribution(rows, other)
    if not taus:
        assert isinstance(found, Undefined)
        return
    assert found.mean == pytest.approx(np.mean(taus))
    assert found.median == pytest.approx(np.median(taus))
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(np.quantile(taus, [0.025, 0.975])))
    assert found.share_positive == pytest.approx(np.mean([tau > 1e-12 for tau in taus]))
