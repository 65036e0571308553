"""Item fields, times and order: what classes that ask for them get, and the example package that reads an order."""

from __future__ import annotations

import doctest
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders import registry
from recommenders.data import History, Profiles, Ratings, Scale
from recommenders.expected_utility import ExpectedUtility
from recommenders.holdout import positions_of
from recommenders.items import Items
from recommenders.parameters import Parameters, parameter
from recommenders.popularity import TopPop
from recommenders.testing import CHECKS, Trial, check_algorithm

pytestmark = pytest.mark.unit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "how-to" / "your-own-sequential-algorithm"))
import parallax_markov  # noqa: E402 — the example is not installed
from parallax_markov import Markov  # noqa: E402

FIVE = Scale(1, 5, 1)
USED = Scale(1, 1, 1)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_sequential_example_keeps_the_contract(check) -> None:
    check(Trial(Markov))


def test_the_sequential_example_does_what_its_docstring_says() -> None:
    assert doctest.testmod(parallax_markov).failed == 0
    assert Markov.reads_order()


def test_what_follows_what_agrees_with_a_count_by_hand() -> None:
    rng = np.random.default_rng(4)
    liked = sparse.csr_array((rng.random((30, 8)) < 0.5).astype(np.float32))
    times = rng.integers(0, 6, liked.nnz)
    model = Markov.fit(Ratings(liked, USED, times=times), rng=rng)
    counts = np.zeros((8, 8))
    for user in range(30):
        own = slice(liked.indptr[user], liked.indptr[user + 1])
        for earlier, at in zip(liked.indices[own], times[own], strict=True):
            later = sorted({time for time in times[own] if time > at})
            for item, time in zip(liked.indices[own], times[own], strict=True):
                counts[earlier, item] += bool(later) and time == later[0]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    history = History("consumption", times=[30, 10, 20])
    expected = shares[5] + 0.5 * shares[7] + 0.25 * shares[2]
    scores = model.score(Profiles.single([5, 2, 7], [1, 1, 1], 8, USED, history))[0]
    np.testing.assert_allclose(np.where(np.isfinite(scores), scores, 0.0), expected, atol=1e-12)
    # The order alone says the same as the times; without either, all items of the profile weigh the same.
    by_order = Profiles.single([5, 2, 7], [1, 1, 1], 8, USED, History("consumption", order=[3, 1, 2]))
    np.testing.assert_array_equal(model.score(by_order)[0], scores)
    plain = model.score(Profiles.single([5, 2, 7], [1, 1, 1], 8, USED))[0]
    np.testing.assert_allclose(np.where(np.isfinite(plain), plain, 0.0), shares[[5, 7, 2]].sum(axis=0), atol=1e-12)


class Titled(TopPop):
    """As popular as TopPop, and shorter titles first among equals."""

    key, name, title = "titled", "Titled", "Short titles (Titled)"
    item_fields = frozenset({"ids", "titles"})
    asks_numbers = True

    def _score(self, user_items):
        lengths = np.array([len(title) for title in self.items.titles])
        return super()._score(user_items) - lengths / 1000


class NamedItems(Titled):
    def _score(self, user_items):
        return super()._score(user_items) + 100.0 * np.argsort(np.argsort(self.items.ids))


class SilentWithoutTimes(Markov):
    def _score_profiles(self, profiles):
        scores = super()._score_profiles(profiles)
        return np.full(scores.shape, -np.inf) if profiles.order is None else scores


class InBatches(Markov):
    def _score_profiles(self, profiles):
        scores = super()._score_profiles(profiles)
        return scores if profiles.order is None else scores * len(scores)


def test_a_class_gets_the_fields_that_it_asks_for_and_no_others() -> None:
    check_algorithm(Titled)
    model = Trial(Titled).fit()
    assert model.items.titles[3] == "Title 3"
    with pytest.raises(DataError, match="'years' was not asked for"):
        Items({"ids": tuple}).years  # noqa: B018 — a property
    assert Trial(TopPop).fit().items.fields == frozenset()


def test_checks_for_classes_that_ask_find_their_faults() -> None:
    checks = {check.__name__: check for check in CHECKS}
    with pytest.raises(AssertionError, match="depends on the ids"):
        checks["renamed_items_give_the_same_lists"](Trial(NamedItems))
    with pytest.raises(AssertionError, match="none without them"):
        checks["profiles_without_times_are_scored"](Trial(SilentWithoutTimes))
    with pytest.raises(AssertionError, match="alone than in a batch, with times"):
        checks["profiles_with_times_are_independent"](Trial(InBatches))


def test_a_missing_full_stop_and_a_title_without_the_short_name_are_warnings() -> None:
    class Careless(TopPop):
        title = "What most people rated"

    class Terse(Markov):
        @dataclass(frozen=True)
        class Params(Markov.Params):
            decay: float = parameter(0.5, description="Weight of older items", minimum=0.0, maximum=1.0)

    with pytest.warns(UserWarning, match="does not contain 'TopPop'"):
        check_algorithm(Careless)
    with pytest.warns(UserWarning, match="The description of decay is not a sentence"):
        check_algorithm(Terse)


def test_fields_that_do_not_exist_and_an_array_called_items_are_faults() -> None:
    class Coloured(Titled):
        item_fields = frozenset({"colours"})

    class Stored(Titled):
        arrays = ("items",)

    check = next(check for check in CHECKS if check.__name__ == "class_attributes_are_complete")
    with pytest.raises(AssertionError, match="no item fields colours"):
        check(Trial(Coloured))
    with pytest.raises(AssertionError, match="array called items"):
        check(Trial(Stored))


def test_profiles_of_timed_ratings_have_an_order_of_consumption() -> None:
    ratings = Ratings.from_triples([0, 0, 0, 1, 2], [0, 1, 3, 2, 0], [5, 4, 3, 2, 1], 3, 4, scale=FIVE)
    timed = replace(ratings, times=np.array([50, 20, 20, 7, 9]))
    profiles = Profiles.of(timed, [2, 0, 0])
    assert profiles.order_kind == "consumption"
    assert profiles.times.tolist() == [9, 50, 20, 20, 50, 20, 20]
    assert profiles.order.tolist() == [1, 2, 1, 1, 2, 1, 1]
    mapped = profiles.on(Scale(1, 10, 1))
    assert (mapped.order_kind, mapped.order.tolist()) == (profiles.order_kind, profiles.order.tolist())
    untimed = Profiles.of(ratings, [0])
    assert (untimed.times, untimed.order, untimed.order_kind) == (None, None, None)


def test_a_history_follows_the_items_of_its_profile() -> None:
    history = History("rating", times=[30.5, 10.0], context={"language": "it"})
    profile = Profiles.single([3, 1], [5, 4], 4, FIVE, history)
    assert (profile.times.tolist(), profile.order.tolist()) == ([10.0, 30.5], [1, 2])
    assert (profile.order_kind, profile.context) == ("rating", ({"language": "it"},))
    unknown = Profiles.single([3, 1], [5, 4], 4, FIVE, History("rating"))
    assert (unknown.order, unknown.order_kind) == (None, None)
    empty = Profiles.single([], [], 4, FIVE, History("rating", times=[]))
    assert empty.order.tolist() == []


MATRIX = sparse.csr_array(np.array([[5.0, 4.0], [0.0, 3.0]]))


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda: Ratings(MATRIX, FIVE, times=np.array([1, 2])), "3 ratings need as many times; got 2"),
        (lambda: Ratings(MATRIX, FIVE, times=np.array([1, np.nan, 2])), "not a number of seconds"),
        (lambda: Profiles(MATRIX, FIVE, np.zeros(3)), "order_kind is 'rating' or 'consumption'"),
        (lambda: Profiles(MATRIX, FIVE, order=np.ones(2), order_kind="rating"), "places in an order; got 2"),
        (lambda: Profiles(MATRIX, FIVE, context=({},)), "2 profiles need as many contexts; got 1"),
        (lambda: Profiles.single([0, 1], [5, 4], 2, FIVE, History("rating", [1.0])), "2 items need as many times"),
        (lambda: positions_of(MATRIX, sparse.csr_array(np.array([[5.0, 4.0], [3.0, 0.0]]))), "1 ratings are not among"),
        (lambda: positions_of(MATRIX, sparse.csr_array((2, 2))), "3 ratings are not among"),
    ],
)
def test_wrong_times_and_orders_are_refused(refused, words) -> None:
    with pytest.raises(DataError, match=words):
        refused()


def test_unsorted_rows_cannot_have_times() -> None:
    unsorted = sparse.csr_array((np.array([4.0, 5.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    with pytest.raises(DataError, match="in order of user and item"):
        Ratings(unsorted, FIVE, times=np.array([1, 2]))


def test_expected_utility_refuses_a_scorer_that_asks_for_more_than_ratings() -> None:
    class Over(ExpectedUtility):
        @classmethod
        def find_scorer(cls, specification: str) -> tuple[type[Markov], Parameters]:
            return Markov, Markov.Params()

    with pytest.raises(ParameterError, match=r"Markov \(markov\) cannot be the scorer"):
        Trial(Over).fit()


def test_own_algorithms_ask_for_ratings_alone() -> None:
    kinds = [registry.algorithm(key) for key in registry.keys() if registry.package_of(key) is None]  # noqa: SIM118
    assert kinds
    assert not [kind.key for kind in kinds if kind.item_fields or kind.needs_times or kind.reads_order()]
