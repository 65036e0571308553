"""One plus random: which candidates, and where the test item stands among them."""

from __future__ import annotations

import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array

from core.errors import DataError
from evaluation.metrics.ranking import measure_ranking
from evaluation.protocols import kernels
from evaluation.protocols.cases import Cases, build_cases
from evaluation.protocols.one_plus_random import COUNTS, count_candidates
from evaluation.splitting.draws import draw_keys, mixed, stream_key
from tests.factories.kernels import interpreted_of
from tests.factories.splits import probe

pytestmark = pytest.mark.unit


def small_cases(seed: int = 1, *, n_users: int = 60, n_items: int = 1300, negatives: int = 1000) -> Cases:
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n_users, n_items)) < 0.05, rng.choice([1, 3, 5], (n_users, n_items)), 0)
    split = probe(csr_array(dense.astype(np.float32)), share=0.3, seed=seed)
    return build_cases(
        split.train,
        split.hidden_users,
        split.hidden_items,
        split.hidden_values,
        relevant=5,
        irrelevant=1,
        seed=seed,
        negatives=negatives,
    )


def cases_of_users(n_users: int, n_rated: int, n_items: int, negatives: int) -> Cases:
    """One case a user; everyone has rated the first items, the test item last among them."""
    train = csr_array(np.tile((np.arange(n_items) < n_rated - 1).astype(np.float32), (n_users, 1)))
    users = np.arange(n_users)
    return build_cases(
        train,
        users,
        np.full(n_users, n_rated - 1),
        np.full(n_users, 5.0),
        relevant=5,
        irrelevant=1,
        seed=11,
        negatives=negatives,
    )


def count_above(cases: Cases, rows, scores: np.ndarray, users: np.ndarray) -> SimpleNamespace:
    return SimpleNamespace(**count_candidates(cases, rows, scores, users, np.zeros(cases.n_items)))


def every_score(cases: Cases, scores: np.ndarray):
    users = np.unique(cases.users)
    return count_above(cases, slice(None), scores[users], users)


def test_build_cases_parts_hidden_ratings_by_relevance():
    train = csr_array(np.array([[1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 2]], dtype=np.float32))
    cases = build_cases(
        train,
        np.array([2, 0, 0, 0, 1]),
        np.array([1, 3, 1, 2, 0]),
        np.array([1.0, 5.0, 4.0, 3.0, 5.0]),
        relevant=4,
        irrelevant=2,
        seed=1,
    )
    assert cases.users.tolist() == [0, 0, 2]
    assert cases.items.tolist() == [1, 3, 1]
    assert cases.is_relevant.tolist() == [True, True, False]
    assert (cases.n_relevant, cases.n_irrelevant, cases.n_users, len(cases)) == (2, 1, 3, 3)
    assert cases.n_candidates.tolist() == [1, 1, 3]
    assert cases.n_short == 3
    assert cases.left_out == {
        "hidden ratings neither relevant nor irrelevant": 1,
        "hidden ratings of users without training ratings": 1,
    }
    # A hidden rating that is no case is rated all the same: user 0 has items 0 to 3.
    assert cases.candidates(0).tolist() == cases.candidates(1).tolist() == [4]
    assert cases.candidates(2).tolist() == [0, 2, 3]


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 40), st.integers(1, 40), st.integers(1, 50), st.integers(0, 10**9))
def test_candidates_are_distinct_and_unrated_and_as_many_as_there_can_be(n_items, n_rated, negatives, seed):
    n_rated = min(n_rated, n_items)
    rng = np.random.default_rng(seed)
    rated = rng.choice(n_items, n_rated, replace=False)
    train = np.zeros((1, n_items), dtype=np.float32)
    train[0, rated[1:]] = 3
    cases = build_cases(
        csr_array(train), np.array([0]), rated[:1], np.array([5.0]), relevant=5, irrelevant=1, seed=seed,
        negatives=negatives,
    )  # fmt: skip
    if n_rated == 1:
        assert len(cases) == 0
        return
    candidates = cases.candidates(0)
    assert len(candidates) == cases.n_candidates[0] == min(negatives, n_items - n_rated)
    assert (np.diff(candidates) > 0).all()
    assert not np.isin(candidates, rated).any()


@pytest.mark.parametrize(("n_unrated", "negatives"), [(6, 1), (6, 3), (6, 4), (6, 5), (7, 2)])
def test_candidates_are_every_set_equally_often(n_unrated, negatives):
    # 3 of 6 are drawn, of 4 and 5 the ones left out are drawn: both ways have to be uniform.
    cases = cases_of_users(6000, 4, 4 + n_unrated, negatives)
    sets = [tuple(cases.candidates(case).tolist()) for case in range(len(cases))]
    counts = [sets.count(one) for one in combinations(range(4, 4 + n_unrated), negatives)]
    assert sum(counts) == 6000
    assert stats.chisquare(counts).pvalue > 1e-4


def test_candidates_among_many_items_are_uniform():
    cases = cases_of_users(3000, 4, 5004, 100)
    times = np.bincount(np.concatenate([cases.candidates(case) for case in range(3000)]), minlength=5004)
    assert times[:4].sum() == 0
    share = 100 / 5000
    statistic = ((times[4:] - 3000 * share) ** 2).sum() / (3000 * share * (1 - share)) * 4999 / 5000
    assert 1e-4 < stats.chi2.sf(statistic, 4999) < 1 - 1e-4


def test_candidates_depend_on_seed_user_and_item_alone():
    cases = small_cases()
    fewer = build_cases(
        csr_array((np.ones(len(cases.rated_items)), cases.rated_items, cases.rated_indptr), shape=(60, 1300)),
        np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros(0), relevant=5, irrelevant=1, seed=1,
    )  # fmt: skip
    assert len(fewer) == 0
    case = len(cases) // 2
    alone = Cases(
        users=cases.users[case : case + 1],
        items=cases.items[case : case + 1],
        is_relevant=cases.is_relevant[case : case + 1],
        values=cases.values[case : case + 1],
        rated_indptr=cases.rated_indptr,
        rated_items=cases.rated_items,
        n_items=cases.n_items,
        negatives=cases.negatives,
        seed=cases.seed,
    )
    assert np.array_equal(alone.candidates(0), cases.candidates(case))
    assert not np.array_equal(cases.candidates(case), cases.candidates(case + 1))


def test_count_above_counts_what_a_slow_reading_counts():
    cases = small_cases(2, n_items=300, negatives=100)
    rng = np.random.default_rng(2)
    scores = rng.integers(0, 6, (60, 300)).astype(np.float64)
    scores[scores == 0] = -np.inf
    counts = every_score(cases, scores)
    for case, (user, item) in enumerate(zip(cases.users, cases.items, strict=True)):
        others = scores[user, cases.candidates(case)]
        assert counts.above[case] == (others > scores[user, item]).sum()
        assert counts.tied[case] == (others == scores[user, item]).sum()
        assert counts.n_items[case] == len(others) == 100


def test_count_above_is_the_same_in_any_blocks_order_and_precision():
    cases = small_cases(3)
    scores = np.random.default_rng(3).integers(0, 50, (60, 1300)).astype(np.float64)
    whole = every_score(cases, scores)
    order = np.random.default_rng(4).permutation(len(cases))
    for rows in np.array_split(order, 7):
        users = np.unique(cases.users[rows])
        part = count_above(cases, rows, scores[users].astype(np.float32), users)
        assert np.array_equal(part.above, whole.above[rows])
        assert np.array_equal(part.tied, whole.tied[rows])
        assert np.array_equal(part.n_items, whole.n_items[rows])


def test_count_above_of_no_case_is_empty():
    cases = small_cases(3)
    counts = count_above(cases, slice(0, 0), np.zeros((0, 1300)), np.zeros(0, dtype=int))
    assert len(counts.above) == len(counts.tied) == len(counts.n_items) == 0


def test_constant_scorer_gets_exactly_n_of_1001():
    cases = small_cases(5)
    assert cases.n_short == 0
    for constant in (0.0, -np.inf, np.inf):
        counts = every_score(cases, np.full((60, 1300), constant))
        assert (counts.tied == 1000).all()
        ns = [1, 5, 10, 50, 1000, 1001, 1500]
        result = measure_ranking(cases.users, cases.is_relevant, counts.above, counts.tied, ns)
        assert result.recall == result.fallout == tuple(min(n / 1001, 1.0) for n in ns)
        assert set(result.user_recall.values[:, 1]) == {5 / 1001}


def test_constant_scorer_gets_exactly_n_of_m_plus_1_where_fewer_exist():
    cases = cases_of_users(37, 4, 17, 1000)
    counts = every_score(cases, np.zeros((37, 17)))
    assert cases.n_short == 37
    assert set(counts.n_items) == {13}
    result = measure_ranking(cases.users, cases.is_relevant, counts.above, counts.tied, [1, 5, 14])
    assert result.recall == (1 / 14, 5 / 14, 1.0)


def test_item_without_any_candidate_is_a_hit():
    cases = cases_of_users(1, 4, 4, 1000)
    counts = every_score(cases, np.zeros((1, 4)))
    assert counts.n_items.tolist() == [0]
    assert measure_ranking(cases.users, cases.is_relevant, counts.above, counts.tied, [1]).recall == (1.0,)


def test_omniscient_scorer_recalls_everything_and_nothing_it_should_not():
    cases = small_cases(6)
    scores = np.zeros((60, 1300))
    scores[cases.users, cases.items] = np.where(cases.is_relevant, 1.0, -np.inf)
    counts = every_score(cases, scores)
    result = measure_ranking(cases.users, cases.is_relevant, counts.above, counts.tied, [1, 5])
    assert result.recall == (1.0, 1.0)
    assert result.fallout == (0.0, 0.0)
    assert result.precision == (1.0, 1.0)
    assert result.f == (1.0, 1.0)


def test_random_scorer_is_within_its_standard_error():
    cases = small_cases(7, n_users=200)
    counts = every_score(cases, np.random.default_rng(70).random((200, 1300)))
    result = measure_ranking(cases.users, cases.is_relevant, counts.above, counts.tied, [5, 50, 500])
    for n, recall in zip((5, 50, 500), result.recall or (), strict=True):
        expected = n / 1001
        # Cases of one user share the scores of candidates, which makes them less than independent.
        assert abs(recall - expected) < 4 * math.sqrt(expected * (1 - expected) / cases.n_relevant) * 1.5


def test_sampled_recall_is_within_its_standard_error_of_the_closed_form():
    cases = small_cases(8, negatives=200)
    scores = np.random.default_rng(8).integers(0, 400, (60, 1300)).astype(np.float64)
    counts = every_score(cases, scores)
    sampled = measure_ranking(cases.users, cases.is_relevant, counts.above, counts.tied, [5]).recall
    exact = []
    for user, item, wanted in zip(cases.users, cases.items, cases.is_relevant, strict=True):
        if wanted:
            is_unrated = np.ones(1300, dtype=bool)
            is_unrated[cases.rated_items[cases.rated_indptr[user] : cases.rated_indptr[user + 1]]] = False
            above = (scores[user, is_unrated] > scores[user, item]).sum()
            tied = (scores[user, is_unrated] == scores[user, item]).sum()
            unrated = is_unrated.sum()
            drawn_tied = np.arange(min(tied, 200) + 1)[:, None]
            drawn = np.arange(5)  # with five above it the item is in no list of five
            p_tied = stats.hypergeom.pmf(drawn_tied, unrated, tied, 200)
            p_above = stats.hypergeom.pmf(drawn, unrated - tied, above, 200 - drawn_tied)
            exact.append((p_tied * p_above * np.clip((5 - drawn) / (drawn_tied + 1), 0, 1)).sum())
    assert sampled is not None
    spread = math.sqrt(sum(p * (1 - p) for p in exact)) / len(exact)
    assert abs(sampled[0] - np.mean(exact)) < 3 * spread


def test_compiled_generator_is_the_generator_of_the_splits():
    words = draw_keys(stream_key(1, "candidates"), [3], [4])
    assert kernels.mixed(words[0]) == mixed(words)[0]


@pytest.mark.kernels
@pytest.mark.parametrize("negatives", [3, 20, 60, 100])
def test_kernels_do_the_same_compiled_and_interpreted(negatives):
    cases = small_cases(9, n_users=6, n_items=80, negatives=negatives)
    scores = np.random.default_rng(9).integers(0, 9, (6, 80)).astype(np.float64)
    key = stream_key(cases.seed, "candidates")
    with np.errstate(over="ignore"):  # words wrap around, which numpy remarks on for single numbers
        assert interpreted_of(kernels.mixed)(key) == kernels.mixed(key)
        none = np.empty(0, dtype=np.int32)
        for case, (user, item) in enumerate(zip(cases.users, cases.items, strict=True)):
            rated = cases.rated_items[cases.rated_indptr[user] : cases.rated_indptr[user + 1]]
            drawn = np.empty(min(negatives, 80), dtype=np.int32)
            size = interpreted_of(kernels.draw_candidates)(
                key, user, item, rated, none, negatives, np.empty(80, dtype=np.bool_), drawn
            )
            assert np.array_equal(np.sort(drawn[:size]), cases.candidates(case))
        drawn = np.zeros((len(cases), 10), dtype=np.uint8)
        rated = (cases.rated_indptr, cases.rated_items)
        interpreted_of(kernels.draw_bitmaps)(key, cases.users, cases.items, negatives, *rated, none, 80, drawn)
        assert np.array_equal(drawn, cases.bitmaps(np.arange(len(cases))))
        popularity = np.random.default_rng(10).integers(0, 3, 80)
        tables = [np.zeros((len(cases), 5), dtype=np.int32) for _ in range(2)]
        rows = cases.users.astype(np.int64)
        arguments = (cases.users, cases.items, drawn, *rated, none, scores, rows, popularity, *tables)
        assert interpreted_of(kernels.count_cases)(*arguments) == -1
        places = count_candidates(cases, slice(None), scores[np.unique(rows)], np.unique(rows), popularity)
        for table, prefix in zip(tables, ("", "all_"), strict=True):
            for column, name in enumerate(("above", "tied", "before", "scored", "n_items")):
                assert np.array_equal(table[:, column], places[f"{prefix}{name}"])
        first = int(np.searchsorted(cases.users, cases.users[-1]))
        scores[cases.users[-1], cases.items[first]] = np.nan
        assert interpreted_of(kernels.count_cases)(*arguments) == first
        scores[cases.users[-1]] = np.nan
        assert interpreted_of(kernels.count_cases)(*arguments) == first


class TakenItems:
    """Marks of a catalogue too large to hold, for the interpreted kernel."""

    def __init__(self, n_items: int) -> None:
        self.n_items = n_items
        self.taken: set[int] = set()

    def __len__(self) -> int:
        return self.n_items

    def __getitem__(self, item: int) -> bool:
        return int(item) in self.taken

    def __setitem__(self, item: int | slice, is_taken: bool) -> None:
        if is_taken:
            self.taken.add(int(item))
        else:
            self.taken.clear()


@pytest.mark.kernels
def test_draws_reject_the_words_that_would_favour_the_first_items():
    # Of 3 · 2^30 items a quarter of all 32-bit words is rejected, or every third item were twice as likely.
    n_items = 3 * 2**30
    key = stream_key(11, "candidates")
    drawn = np.empty(200, dtype=np.int64)
    with np.errstate(over="ignore"):
        interpreted_of(kernels.draw_candidates)(
            key, 0, 1, np.array([1]), np.array([], dtype=int), 200, TakenItems(n_items), drawn
        )
    stream = draw_keys(key, [0], [1])
    words = mixed(stream + np.arange(1, 200, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    expected = []
    for word in words.tolist():
        for half in (word & 0xFFFFFFFF, word >> 32):
            item, rest = divmod(half * n_items, 2**32)
            if rest >= 2**32 % n_items:
                expected.append(item)
    assert drawn.tolist() == expected[:200]
    assert len(expected) < 0.85 * 2 * len(words)


def test_build_cases_refuses_a_rating_that_is_hidden_and_trained_on():
    train = csr_array(np.array([[0, 4.0, 0]]))
    with pytest.raises(DataError, match="item 1 by user 0"):
        build_cases(train, np.array([0]), np.array([1]), np.array([5.0]), relevant=5, irrelevant=1, seed=1)
    with pytest.raises(DataError, match="item 2 by user 0"):
        build_cases(train, np.array([0, 0]), np.array([2, 2]), np.array([5.0, 1.0]), relevant=5, irrelevant=1, seed=1)


@pytest.mark.parametrize(
    ("users", "items", "values", "message"),
    [
        ([1], [0], [5.0], "outside the training set"),
        ([0], [3], [5.0], "outside the training set"),
        ([0], [-1], [5.0], "outside the training set"),
        ([0], [0], [np.nan], "not a finite number"),
    ],
)
def test_build_cases_refuses_hidden_ratings_that_cannot_be(users, items, values, message):
    with pytest.raises(DataError, match=message):
        build_cases(
            csr_array(np.array([[0, 4.0, 0]])), np.array(users), np.array(items), np.array(values),
            relevant=5, irrelevant=1, seed=1,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "users", "message"),
    [
        (np.zeros((2, 16)), [0, 1], r"shape \(2, 16\): it should be \(2, 17\)"),
        (np.zeros((1, 17)), [0, 1], r"it should be \(2, 17\)"),
        (np.zeros((2, 17), dtype=np.int64), [0, 1], "floating point"),
        (np.zeros((1, 17)), [0], "User 1 has a case but no row"),
        (np.zeros((2, 17)), [1, 2], "User 0 has a case but no row"),
    ],
)
def test_count_above_refuses_scores_of_other_shapes_or_users(scores, users, message):
    with pytest.raises(DataError, match=message):
        count_above(cases_of_users(2, 4, 17, 5), slice(None), scores, np.array(users))


@pytest.mark.parametrize("where", ["item", "candidate"])
def test_count_above_refuses_nan(where):
    cases = cases_of_users(2, 4, 17, 5)
    scores = np.zeros((2, 17))
    scores[1, 3 if where == "item" else cases.candidates(1)[2]] = np.nan
    with pytest.raises(DataError, match="user 1 is"):
        count_above(cases, slice(None), scores, np.array([0, 1]))


def test_places_are_what_a_slow_reading_counts_with_and_without_candidates():
    cases = small_cases(12, n_items=300, negatives=100)
    rng = np.random.default_rng(12)
    scores = rng.integers(0, 6, (60, 300)).astype(np.float64)
    scores[scores == 0] = -np.inf
    popularity = rng.integers(0, 4, 300)
    users = np.unique(cases.users)
    places = count_candidates(cases, slice(None), scores[users], users, popularity)
    for case, (user, item) in enumerate(zip(cases.users, cases.items, strict=True)):
        rated = cases.rated_items[cases.rated_indptr[user] : cases.rated_indptr[user + 1]]
        for prefix, among in (("", cases.candidates(case)), ("all_", np.setdiff1d(range(300), rated))):
            counts = {name: int(places[f"{prefix}{name}"][case]) for name in COUNTS}
            others = scores[user, among]
            ours = (-scores[user, item], -popularity[item], item)
            served = [(-scores[user, other], -popularity[other], other) for other in among]
            assert counts == {
                "above": (others > scores[user, item]).sum(),
                "tied": (others == scores[user, item]).sum(),
                "before": sum(one < ours for one in served),
                "scored": (others > -np.inf).sum() + (scores[user, item] > -np.inf),
                "n_items": len(among),
            }


@pytest.mark.kernels
def test_test_item_is_not_counted_among_items_that_it_is_one_of():
    # Where only training ratings are excluded the test item is among the others, and still not counted.
    train = csr_array(np.array([[4.0, 0, 0, 0]]))
    cases = build_cases(
        train, np.array([0]), np.array([1]), np.array([5.0]), relevant=5, irrelevant=1, seed=1, excluded="trained"
    )
    everyone = count_candidates(
        cases,
        slice(None),
        np.array([[9.0, 2.0, 2.0, -np.inf]]),
        np.array([0]),
        np.array([1, 1, 2, 0]),
        is_sampled=False,
    )
    found = {name: int(count[0]) for name, count in everyone.items()}
    assert found == {"all_above": 0, "all_tied": 1, "all_before": 1, "all_scored": 2, "all_n_items": 2}


def test_places_refuse_popularity_of_another_catalogue():
    with pytest.raises(DataError, match="17 items"):
        count_candidates(cases_of_users(1, 4, 17, 5), slice(None), np.zeros((1, 17)), np.array([0]), np.zeros(16))


@pytest.mark.reference
def test_toppop_on_movielens_small_lies_where_an_independent_implementation_found_it(movielens_small):
    table = np.genfromtxt(movielens_small / "ratings.csv", delimiter=",", skip_header=1, usecols=(0, 1, 2))
    users = np.unique(table[:, 0], return_inverse=True)[1]
    items = np.unique(table[:, 1], return_inverse=True)[1]
    user_items = csr_array((table[:, 2].astype(np.float32), (users, items)), shape=(610, 9742))
    user_items.sort_indices()
    recalls, fallouts = [], []
    for seed in (1, 2, 3):
        split = probe(user_items, share=0.1, seed=seed)
        cases = build_cases(
            split.train, split.hidden_users, split.hidden_items, split.hidden_values,
            relevant=5, irrelevant=1, seed=seed,
        )  # fmt: skip
        popularity = np.bincount(split.train.indices, minlength=9742).astype(np.float64)
        counts = every_score(cases, np.tile(popularity, (610, 1)))
        result = measure_ranking(cases.users, cases.is_relevant, counts.above, counts.tied, [5])
        recalls.append(result.recall[0])
        fallouts.append(result.fallout[0])
        assert 1250 < cases.n_relevant < 1400
        assert 340 < cases.n_irrelevant < 470
    assert np.mean(recalls) == pytest.approx(0.266, abs=0.03)
    assert np.mean(fallouts) == pytest.approx(0.075, abs=0.03)


@pytest.mark.kernels
def test_closed_items_and_the_test_item_are_no_candidates():
    users, items = np.array([0], dtype=np.int32), np.array([7], dtype=np.int32)
    rated, closed = (np.array([0, 1]), np.array([1], dtype=np.int32)), np.array([2], dtype=np.int32)
    tables, bits = [], []
    with np.errstate(over="ignore"):
        for draw, count in (
            (kernels.draw_bitmaps, kernels.count_cases),
            (interpreted_of(kernels.draw_bitmaps), interpreted_of(kernels.count_cases)),
        ):
            drawn = np.zeros((1, 2), dtype=np.uint8)
            draw(np.uint64(3), users, items, 20, *rated, closed, 10, drawn)
            sampled, everyone = (np.zeros((1, 5), dtype=np.int32) for _ in range(2))
            scores, popularity = np.arange(10.0)[None, :], np.ones(10, dtype=np.int64)
            count(
                users, items, drawn, *rated, closed, scores, np.zeros(1, dtype=np.int64), popularity, sampled, everyone
            )
            tables.append((sampled.tolist(), everyone.tolist()))
            bits.append(np.flatnonzero(np.unpackbits(drawn[0], bitorder="little")).tolist())
    assert bits == [[0, 3, 4, 5, 6, 8, 9]] * 2
    assert tables[0] == tables[1]
    ((above, tied, _before, scored, n_items),) = tables[0][0]
    assert (above, tied, scored, n_items) == (2, 0, 8, 7)
