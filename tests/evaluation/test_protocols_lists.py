"""Full ranking, test observations, rating prediction and one list over everyone: small answers known by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from core.errors import DataError, ParameterError
from evaluation.metrics.beyond_accuracy import genre_distribution
from evaluation.metrics.curves import roc
from evaluation.metrics.definition import TASKS
from evaluation.metrics.registry import METRICS, metric
from evaluation.protocols import blocks
from evaluation.protocols.blocks import joined, measure_block
from evaluation.protocols.cases import Cases, build_cases
from evaluation.protocols.facts import ModelFacts, popularity_ranks, popularity_thirds, profile_popularity
from evaluation.protocols.full_ranking import first_items
from evaluation.protocols.observation_curves import observation_curves
from evaluation.protocols.observations import own_scores, predictions
from evaluation.protocols.outcomes import of_users, outcomes
from evaluation.protocols.registry import PROTOCOLS, protocol
from evaluation.protocols.unconstrained import all_pairs, global_curve, merged, pool_of, pooled_precision_recall
from recommenders.data import Profiles, Scale
from tests.factories.lists import lists_of

pytestmark = pytest.mark.unit

# Two users, five items. User 0 has rated item 0, and 1 (liked) and 2 are hidden; user 1 has rated item 4, and 0
# (liked) is hidden.
TRAIN = csr_array(np.array([[4.0, 0, 0, 0, 0], [0, 0, 0, 0, 3.0]]))
HIDDEN = (np.array([0, 0, 1]), np.array([1, 2, 0]), np.array([5.0, 2.0, 4.0]))
SCORES = np.array([[9.0, 3.0, 4.0, 3.0, -np.inf], [2.0, 5.0, 1.0, 3.0, 9.0]])
POPULARITY = np.array([1, 0, 0, 2, 1])
USERS = np.array([0, 1])
FACTS = ModelFacts("rating", True, 1.0, 5.0, POPULARITY, 2)


def made(*, excluded: str = "trained", **more) -> Cases:
    return build_cases(TRAIN, *HIDDEN, relevant=4, irrelevant=2, seed=1, every=True, excluded=excluded, **more)


def measured(name: str, names, cases: Cases | None = None, facts: ModelFacts = FACTS, **chosen):
    wanted = protocol(name).completed({"relevant": 4.0, "irrelevant": 2.0, **chosen})
    cases = cases or made()
    users = np.array([0, 1])
    arrays = joined(
        wanted, [measure_block(wanted, cases, slice(None), SCORES, users, popularity=POPULARITY, longest=3)]
    )
    arrays["popularity_ranks"] = popularity_ranks(cases, POPULARITY)
    arrays["profile_popularity"] = profile_popularity(TRAIN, facts.popularity)[cases.users]
    return outcomes(cases, arrays, wanted, names=names, n=3, longest=3, model=facts), arrays


def values(found) -> dict[str, float | None]:
    return {one.metric: one.value for one in found.values}


def test_full_ranking_ranks_everything_that_was_not_trained_on():
    found, arrays = measured("full-ranking", ["rr@3", "precision@3", "catalogue-coverage@2", "novelty@1", "gini@1"])
    # User 0: 2, 3 (more popular than 1), 1, 4; user 1: 1, 3, 0, 2.
    assert arrays["list_items"].tolist() == [[2, 3, 1], [1, 3, 0]]
    assert arrays["list_scored"].tolist() == [3, 4]
    assert values(found)["rr@3"] == pytest.approx(1 / 3)
    assert values(found)["precision@3"] == pytest.approx(1 / 3)
    assert values(found)["catalogue-coverage@2"] == pytest.approx(3 / 5)
    assert values(found)["novelty@1"] is None
    assert found.arrays["user_values"][:, 0].tolist() == pytest.approx([1 / 3, 1 / 3])
    assert found.arrays["user_ids"].tolist() == [0, 1]
    assert found.arrays["user_ids"].dtype == np.int64


def test_known_items_may_be_recommended_again():
    _, arrays = measured("full-ranking", ["rr@3"], made(excluded="none"), known="again")
    assert arrays["list_items"].tolist() == [[0, 2, 3], [4, 1, 3]]
    assert arrays["all_before"].tolist() == [3, 1, 3]


def test_first_items_are_those_that_serving_gives():
    rng = np.random.default_rng(1)
    dense = np.where(rng.random((20, 60)) < 0.2, 3.0, 0.0)
    scores = rng.integers(0, 5, (20, 60)).astype(np.float64)
    scores[rng.random((20, 60)) < 0.3] = -np.inf
    popularity = rng.integers(0, 6, 60)
    none = np.zeros(0, dtype=int)
    cases = build_cases(csr_array(dense), none, none, np.zeros(0), relevant=4, irrelevant=2, seed=1, excluded="trained")
    lists = first_items(cases, scores, np.arange(20), popularity, 7)
    served = lists_of(scores, popularity, Profiles(csr_array(dense), Scale(1, 5, 1)), 7)
    assert lists["list_items"].tolist() == [one.items.tolist() for one in served]
    assert first_items(cases, scores, np.arange(20), popularity, 70)["list_items"][0, -1] == -1
    assert {array.dtype.name for array in lists.values()} == {"int32"}


def test_test_observations_are_each_persons_own():
    names = ["croc-area", "roc-area", "kendall", "rr@1", "precision-recall-11", "half-life"]
    found, arrays = measured("test-observations", names)
    assert arrays["scores"].tolist() == [3.0, 4.0, 2.0]
    # The disliked item stands before the liked one for user 0; user 1 has one observation, and it is liked.
    assert values(found)["roc-area"] == 0.0
    assert values(found)["kendall"] == -1.0
    assert values(found)["rr@1"] == 0.5
    assert values(found)["croc-area"] is not None
    assert {"croc_x", "omniscient_x", "random_y"} <= set(found.arrays)
    # User 1 has one kind of observation: left out of the mean ROC, and not of precision at eleven recalls.
    assert (found.arrays["mean-roc_x"].tolist(), found.arrays["mean-roc_y"].tolist()) == ([0, 1, 1], [0, 0, 1])
    assert found.arrays["mean-roc_people"].tolist() == [1, 1]
    assert found.arrays["eleven-points_people"].tolist() == [2, 0]
    assert found.arrays["eleven-points_y"].tolist() == [0.75] * 11
    # Of the first items of both one is liked, of all three two.
    assert found.arrays["notes_x"].tolist() == pytest.approx([1 / 2, 1 / 3])
    assert found.arrays["notes_y"].tolist() == pytest.approx([1 / 2, 1])


def test_curves_are_left_out_where_nobody_keeps_them():
    wanted = protocol("test-observations").completed({})
    given = {"scores": np.array([3.0, 4.0, 2.0])}
    kept, left_out = (
        outcomes(made(), given, wanted, names=["rr@1"], n=1, longest=1, model=FACTS, are_curves_kept=is_kept)
        for is_kept in (True, False)
    )
    assert left_out.values == kept.values
    assert set(kept.arrays) > set(left_out.arrays) == {"user_ids", "user_values"}


def test_lists_are_diverse_by_what_is_known_of_their_items():
    terms = csr_array(np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 1]]))
    found, _ = measured("full-ranking", ["diversity@2"], facts=replace(FACTS, item_terms=terms))
    assert found.arrays["user_values"][:, 0].tolist() == [1.0, 1.0]  # items 2 and 3, and 1 and 3
    assert (found.values[0].value, found.values[0].reason) == (1.0, "")
    found, _ = measured("full-ranking", ["diversity@2"])
    assert found.values[0].value is None
    assert found.values[0].reason


def test_serendipitous_items_are_liked_and_not_listed_by_popularity():
    # By popularity user 0 is listed 3, 4, 1, 2, and user 1 is listed 3, 0, 1, 2.
    assert popularity_ranks(made(), POPULARITY).tolist() == [3, 4, 2]
    assert popularity_ranks(made(excluded="none"), POPULARITY).tolist() == [4, 5, 2]
    names = ["serendipity@2", "serendipity@3"]
    found, _ = measured("full-ranking", names)  # the liked item is third of both users' lists
    assert found.arrays["user_values"].tolist() == [[0, 0], [0, 0]]
    liked = np.array([True, True, False])
    cases = build_cases(TRAIN, *HIDDEN, relevant=4, irrelevant=2, seed=1, every=True, excluded="trained", good=liked)
    found, _ = measured("full-ranking", names, cases)
    # Item 2 is first of user 0's list and fourth by popularity; item 1 is third of both.
    assert found.arrays["user_values"][0].tolist() == pytest.approx([1 / 2, 1 / 3])
    assert np.isnan(found.arrays["user_values"][1]).all()
    assert values(found) == {"serendipity@2": pytest.approx(1 / 2), "serendipity@3": pytest.approx(1 / 3)}


def test_lists_are_as_popular_as_their_items_and_lifted_against_profiles():
    names = ["arp@1", "arp@3", "popularity-lift@3"]
    facts = replace(FACTS, popularity=np.array([4, 1, 0, 2, 1]))
    found, _ = measured("full-ranking", names, facts=facts)
    # Lists 2, 3, 1 and 1, 3, 0; profiles 0 and 4.
    assert found.arrays["user_values"].tolist() == [[0, 1, (1 - 4) / 4], [1, 7 / 3, (7 / 3 - 1) / 1]]
    assert values(found) == {
        "arp@1": 0.5,
        "arp@3": pytest.approx(5 / 3),
        "popularity-lift@3": pytest.approx((5 / 3 - 5 / 2) / (5 / 2)),
    }
    # User 1's profile has no training ratings: only user 0 is in the means.
    found, _ = measured("full-ranking", names, facts=replace(FACTS, popularity=np.array([4, 1, 0, 2, 0])))
    assert values(found)["popularity-lift@3"] == pytest.approx(-3 / 4)
    assert np.isnan(found.arrays["user_values"][1, 2])
    found, _ = measured("full-ranking", names, facts=replace(FACTS, popularity=np.zeros(5, dtype=int)))
    assert values(found) == {"arp@1": 0.0, "arp@3": 0.0, "popularity-lift@3": None}


def test_lists_are_calibrated_against_the_genres_of_profiles():
    genres = csr_array(np.array([[1, 0], [1, 0], [0, 1], [1, 1], [0, 0]]))
    arrays = measured("full-ranking", ["rr@3"])[1]
    arrays["list_profile_genres"] = genre_distribution(TRAIN, genres)
    wanted = protocol("full-ranking").completed({"relevant": 4.0, "irrelevant": 2.0})

    def found(facts: ModelFacts):
        return outcomes(made(), arrays, wanted, names=["calibration@3"], n=3, longest=3, model=facts)

    # User 0's profile is of the first genre, and so is half of the list 2, 3, 1; user 1's item has no genre.
    calibrated = found(replace(FACTS, item_genres=genres))
    assert values(calibrated)["calibration@3"] == pytest.approx(-np.log(0.99 * 0.5 + 0.01))
    assert np.isnan(calibrated.arrays["user_values"][:, 0]).tolist() == [False, True]
    assert found(FACTS).values[0].reason


def test_serendipity_of_test_observations_is_against_their_order_by_popularity():
    liked = np.array([False, True, True])
    cases = build_cases(TRAIN, *HIDDEN, relevant=4, irrelevant=2, seed=1, every=True, excluded="trained", good=liked)
    # User 0's items 1 and 2 are equally popular, so popularity lists item 1 first and the scores list item 2 first.
    found, _ = measured("test-observations", ["serendipity@1", "serendipity@2"], cases)
    assert found.arrays["user_values"].tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert values(found) == {"serendipity@1": 0.5, "serendipity@2": 0.0}


def test_popularity_ranks_are_those_of_a_list_by_popularity():
    rng = np.random.default_rng(3)
    dense = np.where(rng.random((20, 60)) < 0.2, 3.0, 0.0)
    users, items = np.nonzero((dense == 0) & (rng.random((20, 60)) < 0.1))
    popularity = rng.integers(0, 6, 60)
    cases = build_cases(
        csr_array(dense), users, items, np.full(len(users), 5.0), relevant=4, irrelevant=2, seed=1, every=True,
        excluded="trained",
    )  # fmt: skip
    lists = first_items(cases, np.zeros((20, 60)), np.arange(20), popularity, 60)["list_items"]
    ranks = popularity_ranks(cases, popularity)
    assert [lists[user, rank - 1] for user, rank in zip(cases.users, ranks, strict=True)] == cases.items.tolist()


def test_one_kind_of_observation_has_no_curve_and_unknown_ratings_no_order():
    cases = build_cases(
        TRAIN, *HIDDEN[:2], np.full(3, np.nan), relevant=4, irrelevant=2, seed=1, every=True,
        excluded="trained", good=np.ones(3, dtype=bool),
    )  # fmt: skip
    found, _ = measured("test-observations", ["croc-area", "kendall", "precision-recall-11"], cases)
    assert (values(found)["croc-area"], values(found)["kendall"]) == (None, None)
    assert values(found)["precision-recall-11"] == 1.0
    assert found.values[1].reason
    assert "croc_x" not in found.arrays


def test_precision_recall_of_nobody_has_no_value():
    cases = build_cases(
        TRAIN, *HIDDEN, relevant=4, irrelevant=2, seed=1, every=True, excluded="trained", good=np.zeros(3, dtype=bool)
    )
    found, _ = measured("test-observations", ["precision-recall-11"], cases)
    assert values(found) == {"precision-recall-11": None}


def test_rating_prediction_is_of_rating_predictors_alone():
    found, _ = measured("rating-prediction", ["mae", "prediction-coverage"])
    assert values(found) == {"mae": pytest.approx((2 + 2 + 2) / 3), "prediction-coverage": 1.0}
    order = ModelFacts("order", False, 1.0, 5.0, POPULARITY, 2)
    refused, _ = measured("rating-prediction", ["mae"], facts=order)
    assert [(one.value, bool(one.reason)) for one in refused.values] == [(None, True)]
    far = predictions(np.array([9.0, 0.0, -np.inf]), score_kind="rating", low=1, high=5)
    assert far.tolist()[:2] == [5.0, 1.0]
    plain = predictions(np.array([9.0]), score_kind="rating", low=1, high=5, is_clipped=False)
    assert plain.tolist() == [9.0]


def test_one_list_over_all_pairs_is_the_roc_of_all_scores():
    found, arrays = measured("unconstrained", ["groc-area", "groc-area(until=.5)"])
    scores = np.concatenate([SCORES[0, 1:], SCORES[1, :4]])
    liked = np.array([True, False, False, False, True, False, False, False])
    whole = roc(np.where(np.isinf(scores), np.nan, scores), liked)
    assert found.values[0].value == pytest.approx(whole.area)
    assert 0 <= found.values[1].value < 0.5
    assert found.values[0].reason == ""
    assert int(arrays["n_relevant"].sum()) == 2
    assert found.arrays["groc_x"][-1] == found.arrays["groc_y"][-1] == 1.0
    order = ModelFacts("order", False, 1.0, 5.0, POPULARITY, 2)
    marked, _ = measured("unconstrained", ["groc-area"], facts=order)
    assert marked.values[0].reason
    own, arrays = measured("unconstrained", ["groc-area"], pairs="observations")
    assert int(arrays["n_others"].sum()) == 1
    assert own.values[0].value == 0.0


def test_one_list_over_all_pairs_has_an_average_precision():
    names = ["average-precision", "groc-area", "groc-area(scale=standardised)", "groc-area(until=.5)"]
    found, _ = measured("unconstrained", names)
    # Best first: 5 and 4, neither liked; three times 3, one of them liked; 2, liked; 1; nothing.
    assert values(found) == {
        "average-precision": pytest.approx((1 / 5 + 2 / 6) / 2),
        "groc-area(until=1,scale=raw)": pytest.approx((2 + 2 / 2 + 2) / 12),
        "groc-area(until=1,scale=standardised)": pytest.approx(5 / 12),
        "groc-area(until=.5,scale=raw)": pytest.approx(1 / 2 * (1 / 2 - 1 / 3) * 1 / 4),
    }
    assert found.arrays["precision-recall_x"].tolist() == [0.0, 0.5, 0.5, 1.0]
    assert found.arrays["precision-recall_y"].tolist() == pytest.approx([1 / 5, 1 / 5, 1 / 3, 1 / 3])
    assert found.arrays["groc_x"].tolist() == pytest.approx([0, 1 / 6, 2 / 6, 4 / 6, 4 / 6, 5 / 6, 1])
    assert found.arrays["groc_y"].tolist() == [0, 0, 0, 0.5, 1, 1, 1]
    nobody = build_cases(
        TRAIN, *HIDDEN, relevant=4, irrelevant=2, seed=1, every=True, excluded="trained", good=np.zeros(3, dtype=bool)
    )
    found, _ = measured("unconstrained", names[:2], nobody)
    assert values(found) == {"average-precision": None, "groc-area(until=1,scale=raw)": None}
    assert found.arrays == {}


def test_a_line_with_fewer_steps_keeps_the_area():
    steps = pooled_precision_recall(pool_of(np.arange(8.0, 0.0, -1.0), np.array([1, 0, 1, 0, 0, 1, 1, 0], dtype=bool)))
    assert steps is not None
    assert steps.precision.tolist() == [1, 2 / 3, 1 / 2, 4 / 7]
    x, y = steps.line(2)
    assert x.tolist() == [0.0, 0.5, 0.5, 1.0]
    assert y.tolist() == pytest.approx([5 / 6, 5 / 6, 15 / 28, 15 / 28])
    assert steps.line(9)[1].tolist() == pytest.approx(np.repeat(steps.precision, 2))


def test_curves_of_observations_go_through_every_length():
    people, scores = np.array([0, 0, 0, 0, 1]), np.array([4.0, 3.0, 2.0, 1.0, 5.0])
    curves = observation_curves(people, scores, np.array([False, True, False, True, True]), n_users=2)
    # Recommended: two first items (user 1's is liked), then one more of user 0 each time.
    assert curves["notes_x"].tolist() == pytest.approx([1 / 2, 1 / 3, 2 / 4, 2 / 5])
    assert curves["notes_y"].tolist() == pytest.approx([1 / 3, 2 / 3, 2 / 3, 1])
    assert curves["croc_x"].tolist() == pytest.approx([0, 1 / 2, 1 / 2, 1, 1])
    assert curves["croc_y"].tolist() == pytest.approx([0, 1 / 3, 2 / 3, 2 / 3, 1])


def test_pools_are_the_same_however_they_are_cut():
    rng = np.random.default_rng(2)
    scores, liked = rng.integers(0, 9, 300).astype(np.float64), rng.random(300) < 0.3
    scores[:20] = -np.inf
    whole = pool_of(scores, liked)
    cut = merged([pool_of(part, mark) for part, mark in zip(np.split(scores, 6), np.split(liked, 6), strict=True)])
    assert whole.n_relevant.sum() + whole.n_others.sum() == 300
    for name in ("scores", "n_relevant", "n_others"):
        assert np.array_equal(getattr(cut, name), getattr(whole, name))
        assert getattr(cut, name).dtype == getattr(whole, name).dtype == (np.float64 if name == "scores" else np.int64)
    assert global_curve(whole).area == pytest.approx(roc(np.where(np.isinf(scores), np.nan, scores), liked).area)
    assert global_curve(pool_of(np.array([1.0]), np.array([True]))) is None


def test_pool_of_one_kind_has_no_value():
    everything = build_cases(
        TRAIN, *HIDDEN, relevant=4, irrelevant=2, seed=1, every=True, excluded="trained", good=np.ones(3, dtype=bool)
    )
    found, _ = measured("unconstrained", ["groc-area"], everything, pairs="observations")
    assert [(one.value, one.reason) for one in found.values] == [(None, "")]


@pytest.mark.kernels
def test_only_open_items_are_ranked_and_drawn():
    cases = made(excluded="rated", open_items=np.array([1, 2, 3]), negatives=9)
    assert cases.n_unrated.tolist() == [1, 1, 3]
    assert cases.candidates(0).tolist() == [3]
    assert cases.candidates(2).tolist() == [1, 2, 3]
    lists = first_items(cases, SCORES, np.array([0, 1]), POPULARITY, 3)
    assert lists["list_items"].tolist() == [[3, -1, -1], [1, 3, 2]]
    pool = all_pairs(cases, slice(None), SCORES, np.array([0, 1]))
    assert pool.n_relevant.sum() + pool.n_others.sum() == 4


def test_some_users_are_measured_apart():
    wanted = protocol("full-ranking").completed({"relevant": 4.0, "irrelevant": 2.0})
    _, arrays = measured("full-ranking", ["rr@3"])
    some, own = of_users(made(), arrays, np.array([1]))
    assert len(some) == 1
    assert own["list_items"].tolist() == [[1, 3, 0]]
    found = outcomes(some, own, wanted, names=["rr@3"], n=3, longest=3, model=FACTS)
    assert found.arrays["user_ids"].tolist() == [1]


def test_gains_are_ratings_where_all_are_above_zero():
    below = build_cases(
        csr_array(np.array([[4.0, 0, 0]])), np.array([0]), np.array([1]), np.array([0.0]), relevant=0, irrelevant=-1,
        seed=1, every=True, excluded="trained",
    )  # fmt: skip
    wanted = protocol("test-observations").completed({})
    found = outcomes(
        below, {"scores": np.array([1.0])}, wanted, names=["utility@1"], n=1, longest=1,
        model=ModelFacts("rating", True, -1, 1, np.zeros(3, int), 1),
    )  # fmt: skip
    assert found.values[0].value == 1.0


def test_every_protocol_names_metrics_that_exist_and_tasks_that_do():
    for one in PROTOCOLS.values():
        assert set(one.metrics) <= set(METRICS)
        assert set(one.tasks) <= set(TASKS)
        assert {metric(name.format(n=5)).key for name in one.usual} <= set(one.metrics)
        assert one.completed({"name": one.key}) == {"name": one.key, **one.settings}
    assert protocol("rating-prediction").task_problem("prediction") is None
    assert "observations" in (protocol("test-observations").task_problem("prediction") or "")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: protocol("ranking"), ParameterError, "Unknown protocol 'ranking'"),
        (lambda: protocol("full-ranking").completed({"g": 1}), ParameterError, "no setting g"),
        (lambda: protocol("rating-prediction").completed({"clip": "no"}), ParameterError, "one of scale, none"),
        (lambda: first_items(made(), SCORES[:1], np.array([0, 1]), POPULARITY, 3), DataError, "shape"),
        (
            lambda: first_items(made(), SCORES * np.nan, np.array([0, 1]), POPULARITY, 3),
            DataError,
            r"^A score is not a number \(NaN\): 'no score' must be -inf\.$",
        ),
        (
            lambda: own_scores(made(), slice(None), SCORES[:1], np.array([0, 1])),
            DataError,
            r"^The scores have shape \(1, 5\): it should be \(2, 5\), scored users × items\.$",
        ),
        (lambda: own_scores(made(), slice(None), SCORES[:1], np.array([0])), DataError, "User 1 has a case but no row"),
        (lambda: own_scores(made(), slice(None), SCORES * np.nan, np.array([0, 1])), DataError, "not a number"),
        (lambda: pool_of(np.array([np.nan]), np.array([True])), DataError, "not a number"),
        (
            lambda: measure_block(
                {"name": "odd"}, made(), slice(None), SCORES, np.array([0, 1]), popularity=POPULARITY, longest=1
            ),
            DataError,
            "Unknown protocol 'odd'",
        ),
        (
            lambda: outcomes(made(), {}, {"name": "odd"}, names=[], n=1, longest=1, model=FACTS),
            ParameterError,
            "Unknown protocol 'odd'",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_list_over_too_many_pairs_is_refused(monkeypatch):
    monkeypatch.setattr(blocks, "MAX_SCORES", 2)
    with pytest.raises(DataError, match="memory is 2"):
        measured("unconstrained", ["groc-area"])


def test_thirds_of_the_training_ratings_by_the_popularity_of_the_hidden_item():
    cases = build_cases(TRAIN, *HIDDEN, relevant=4, irrelevant=1, seed=1, every=True, excluded="trained")
    # In order: item 3 with two ratings, items 0 and 4 with one each; the middles lie at 1, 2.5 and 3.5 of 4.
    by_item = dict(zip(cases.items.tolist(), popularity_thirds(cases, POPULARITY).tolist(), strict=True))
    assert by_item == {1: 2, 2: 2, 0: 1}
    assert popularity_thirds(cases, np.zeros(5, dtype=np.int64)).tolist() == [0, 0, 0]
