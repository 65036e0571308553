"""Re-rankers: agreement with a dense implementation written from the formulas, prefixes, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders import registry
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from recommenders.reranking import CANDIDATES, PLACES, RERANKERS, calibration, mmr, popularity

FIVE = Scale(1, 5, 1)
N_ROWS = 1000
BASES = {"puresvd": {"factors": 6}, "itemitem": {}, "toppop": {}}


def greedy(values_of, n):
    """Fill the places by trying every candidate; of equal values the first wins."""
    chosen: list[int] = []
    while len(chosen) < min(20, n):
        best, best_value = -1, -math.inf
        for candidate in range(n):
            if candidate not in chosen and (value := round(values_of(candidate, chosen), 9)) > best_value:
                best, best_value = candidate, value
        chosen.append(best)
    return chosen + [candidate for candidate in range(n) if candidate not in chosen]


def draw(rng):
    """A small row: number of candidates, strength, and a 0-1 table of terms in which some items have none."""
    n, n_terms = int(rng.integers(1, 31)), int(rng.integers(1, 7))
    return n, float(rng.choice([0.0, 0.1, 0.3, 0.5, 0.9, 1.0])), (rng.random((n, n_terms)) < 0.35).astype(float)


def test_mmr_agrees_with_the_formula():
    rng = np.random.default_rng(1)
    for _ in range(N_ROWS):
        n, strength, terms = draw(rng)
        terms *= rng.integers(1, 4, terms.shape)
        lengths = [math.sqrt(sum(x * x for x in row)) or 1.0 for row in terms.tolist()]

        def value(i, chosen, terms=terms, lengths=lengths, strength=strength):
            cosines = [float(terms[i] @ terms[j]) / lengths[i] / lengths[j] for j in chosen]
            return (1 - strength) * (1 - i / 200) - strength * max(cosines, default=0.0)

        vectors = sparse.csr_array(terms / np.array(lengths)[:, np.newaxis])
        assert mmr(vectors, strength).tolist() == greedy(value, n)


def test_popularity_agrees_with_the_formula():
    rng = np.random.default_rng(2)
    for _ in range(N_ROWS):
        n, strength, _terms = draw(rng)
        quantiles = rng.integers(0, 20, n) / 20
        expected = greedy(lambda i, _, q=quantiles, w=strength: (1 - w) * (1 - i / 200) - w * float(q[i]), n)
        assert popularity(quantiles, strength).tolist() == expected


def test_calibration_agrees_with_the_formula():
    rng = np.random.default_rng(3)
    for _ in range(N_ROWS):
        n, strength, terms = draw(rng)
        shares = terms / np.maximum(terms.sum(axis=1, keepdims=True), 1)
        wanted = rng.random(terms.shape[1]) * (rng.random(terms.shape[1]) < 0.7)
        wanted = wanted / (wanted.sum() or 1.0)

        def value(i, chosen, shares=shares, p=wanted, strength=strength):
            listed = [row for row in shares[[*chosen, i]].tolist() if sum(row) > 0]
            q = [sum(column) / len(listed) for column in zip(*listed, strict=True)] or [0.0] * len(p)
            divergence = sum(a * math.log(a / (0.99 * b + 0.01 * a)) for a, b in zip(p.tolist(), q, strict=True) if a)
            relevance = sum(1 - j / 200 for j in [*chosen, i])
            return (1 - strength) * relevance - strength * divergence

        expected = greedy(value, n) if wanted.any() else list(range(n))
        assert calibration(shares, wanted, strength).tolist() == expected


def world(seed=5, n_users=80, n_items=260, per_user=25):
    """Ratings of more items than there are candidates, some unrated; genres and tags, some items without any."""
    rng = np.random.default_rng(seed)
    weights = np.arange(1, n_items + 1) ** -0.7 * (np.arange(n_items) < n_items - 10)
    items = np.concatenate(
        [rng.choice(n_items, per_user, replace=False, p=weights / weights.sum()) for _ in range(n_users)]
    )
    users = np.repeat(np.arange(n_users), per_user)
    values = rng.integers(1, 6, len(users))
    ratings = Ratings.from_triples(users, items, values, n_users=n_users, n_items=n_items, scale=FIVE)
    table = (rng.random((n_items, 12)) < 0.2).astype(float)
    table[::9] = 0.0
    terms = tuple(("genre" if at < 8 else "tag", str(at)) for at in range(12))
    return ratings, ItemFeatures(sparse.csr_array(table), terms)


def fitted(key, ratings, features, **params):
    kind = registry.algorithm(key)
    return kind.fit(ratings, registry.params_of(key, params), features=features, rng=np.random.default_rng(0))


@pytest.mark.parametrize("method", RERANKERS)
@pytest.mark.parametrize("base", BASES)
def test_list_is_that_of_the_scores_and_longer_lists_begin_with_shorter_ones(base, method):
    ratings, features = world()
    model = fitted(f"{base}|{method}", ratings, features, **BASES[base], **{f"{method}_strength": 0.6})
    plain = fitted(base, ratings, features, **BASES[base])
    scores = model.score(Profiles.of(ratings, range(20)))
    n_changed = 0
    for user in range(20):
        row = ratings.user_items[[user]]
        profile = (row.indices, row.data, FIVE)
        longest = model.answer(*profile, ratings.n_items)
        for n in (1, 5, 20, 21, CANDIDATES, CANDIDATES + 5):
            assert model.answer(*profile, n).items.tolist() == longest.items[:n].tolist()
        base_list = plain.answer(*profile, ratings.n_items)
        n_changed += longest.items.tolist() != base_list.items.tolist()
        assert sorted(longest.items[:CANDIDATES]) == sorted(base_list.items[:CANDIDATES])  # all of these have a score
        assert longest.items[CANDIDATES:].tolist() == base_list.items[CANDIDATES:].tolist()
        assert longest.is_filled.tolist() == base_list.is_filled.tolist()
        # Every protocol ranks by the scores of `score`: they are those of the list, place by place.
        assert scores[user, longest.items].tolist() == longest.scores.tolist()
        assert longest.scores[:3].tolist() == [-1.0, -2.0, -3.0]
    assert n_changed == 20


@pytest.mark.parametrize("method", RERANKERS)
@pytest.mark.parametrize("base", BASES)
def test_strength_of_nothing_gives_the_list_of_the_algorithm_to_the_bit(base, method):
    ratings, features = world()
    model = fitted(f"{base}|{method}", ratings, features, **BASES[base], **{f"{method}_strength": 0.0})
    plain = fitted(base, ratings, features, **BASES[base])
    profiles = Profiles.of(ratings, range(30))
    scores, base_scores = model.score(profiles), plain.score(profiles)
    everything = np.arange(ratings.n_items)
    for user in range(30):
        row = ratings.user_items[[user]]
        ours, theirs = (each.answer(row.indices, row.data, FIVE, ratings.n_items) for each in (model, plain))
        assert ours.items.tobytes() == theirs.items.tobytes()
        assert ours.is_filled.tobytes() == theirs.is_filled.tobytes()
        # With the profile's own items too, which a protocol may recommend again.
        order = np.lexsort((everything, -ratings.item_counts, -scores[user]))
        assert order.tolist() == np.lexsort((everything, -ratings.item_counts, -base_scores[user])).tolist()


def test_only_scored_items_are_candidates():
    ratings, features = world()
    model = fitted("itemitem|popularity", ratings, features, popularity_strength=1.0)
    empty = model.answer([], [], FIVE, 8)
    assert empty.is_filled.all()
    assert empty.items.tolist() == np.lexsort((np.arange(ratings.n_items), -ratings.item_counts))[:8].tolist()
    assert np.isneginf(model.score(Profiles.single([], [], ratings.n_items, FIVE))).all()


def test_only_the_first_places_are_filled_anew():
    vectors = sparse.csr_array(np.ones((60, 1)))
    order = mmr(vectors, 0.9).tolist()
    assert order == list(range(60))  # all alike: nothing is more different than the next
    quantiles = np.linspace(1.0, 0.0, 60)
    order = popularity(quantiles, 1.0).tolist()
    assert order == [*range(59, 59 - PLACES, -1), *range(60 - PLACES)]


def test_calibration_follows_the_ratings_of_the_profile():
    """Two genres rated 5 and 1: the list has about five of the first for each of the second."""
    n = 120
    genres = np.zeros((n, 2))
    genres[np.arange(n), np.arange(n) % 2] = 1.0
    users = np.repeat(np.arange(40), 30)
    items = np.concatenate([np.random.default_rng(user).choice(n, 30, replace=False) for user in range(40)])
    ratings = Ratings.from_triples(users, items, np.full(len(users), 4), n_users=40, n_items=n, scale=FIVE)
    features = ItemFeatures(sparse.csr_array(genres), (("genre", "a"), ("genre", "b")))
    model = fitted("toppop|calibration", ratings, features, calibration_strength=0.99)
    listed = model.answer([0, 1], [5.0, 1.0], FIVE, 18).items
    assert (listed % 2 == 0).sum() == 15
    plain = fitted("toppop", ratings, features)
    assert (plain.answer([0, 1], [5.0, 1.0], FIVE, 18).items % 2 == 0).sum() != 15


def test_kinds_of_features_are_those_named():
    ratings, features = world()
    by_tags, by_all = (
        fitted("toppop|mmr", ratings, features, mmr_strength=0.7, mmr_kinds=kinds) for kinds in ("tag", "all")
    )
    assert int(by_tags.indices.max()) == 3
    both = fitted("toppop|mmr", ratings, features, mmr_strength=0.7, mmr_kinds="tag + genre")
    assert all((getattr(both, name) == getattr(by_all, name)).all() for name in both.arrays)
    profile = ([1, 2], [4.0, 5.0], FIVE)
    assert by_tags.answer(*profile, 20).items.tolist() != by_all.answer(*profile, 20).items.tolist()


def test_data_without_the_named_features_are_refused():
    ratings, features = world()
    with pytest.raises(DataError, match=r"no item features of kind mood; the kinds it has: genre, tag\. Add them"):
        fitted("toppop|mmr", ratings, features, mmr_kinds="mood+tag")
    with pytest.raises(DataError, match=r"TopPop \+ Calibration .* of kind genre; the kinds it has: none"):
        fitted("toppop|calibration", ratings, None)
    with pytest.raises(DataError, match="of kind any"):
        fitted("toppop|mmr", ratings, None)


def test_explanations_are_those_of_the_algorithm():
    ratings, features = world()
    model = fitted("itemitem|mmr", ratings, features, mmr_strength=0.5)
    plain = fitted("itemitem", ratings, features)
    profile = Profiles.single([1, 2, 3], [5.0, 4.0, 1.0], ratings.n_items, FIVE)
    items = model.answer([1, 2, 3], [5.0, 4.0, 1.0], FIVE, 5).items
    for ours, theirs in zip(model.explain(profile, items), plain.explain(profile, items), strict=True):
        assert ours is not None
        assert ours.contributions.tolist() == theirs.contributions.tolist()
    assert model.explains == plain.explains


def test_model_comes_back_from_its_arrays_and_the_model_it_re_ranks():
    ratings, features = world()
    model = fitted("puresvd|mmr", ratings, features, factors=6)
    assert set(model.state()) == {"indptr", "indices", "values"}
    again = type(model).opened(model.base, model.params, model.state())
    profiles = Profiles.of(ratings, range(5))
    assert again.score(profiles).tobytes() == model.score(profiles).tobytes()
    with pytest.raises(DataError, match="the model it re-ranks"):
        type(model).from_state(model.state(), model.params, FIVE)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("puresvd|sort:strength=0.3", "There is no re-ranker 'sort'; the re-rankers are: mmr, popularity, calibration"),
        ("puresvd|mmr:lambda=0.3", "re-ranker mmr has no parameter lambda; its parameters are: strength, kinds"),
        ("puresvd|popularity:kinds=genre", "re-ranker popularity has no parameter kinds; its parameters are: strength"),
        ("puresvd|mmr:strength=1.5", r"PureSVD \+ MMR \(puresvd\|mmr\): .*mmr_strength must be at most 1"),
        ("puresvd|mmr|popularity", "names 2 re-rankers, and a list is re-ranked once"),
        ("nothing|mmr", "There is no algorithm 'nothing'"),
        ("puresvd|", "There is no re-ranker ''"),
        ("puresvd|mmr:strength", "'strength' in 'mmr:strength' is not of the form name=value"),
    ],
)
def test_wrong_specification_says_what_is_wrong(text, complaint):
    with pytest.raises(ParameterError, match=complaint):
        registry.parse(text)
    if text.count("|") > 1:
        with pytest.raises(ParameterError, match="names two re-rankers"):
            registry.algorithm(text)


def test_lists_of_specifications_are_split_between_algorithms():
    text = "puresvd|mmr,strength=.3,toppop,ials:factors=3,reg=4|mmr:strength=.3,kinds=tag+genre, random"
    pieces = registry.specifications(text)
    assert [registry.named_values(piece) for piece in pieces] == [
        ("puresvd|mmr", {"mmr_strength": ".3"}),
        ("toppop", {}),
        ("ials|mmr", {"factors": "3", "reg": "4", "mmr_strength": ".3", "mmr_kinds": "tag+genre"}),
        ("random", {}),
    ]


def test_label_states_the_strength_and_unusual_kinds():
    assert registry.label("puresvd|mmr", {"factors": 9}) == "PureSVD9 + MMR 0.3"
    assert registry.label("puresvd|mmr", {"mmr_strength": 0.5, "mmr_kinds": "tag"}) == "PureSVD50 + MMR 0.5 (tag)"
    assert registry.base_of("toppop", {}) is None


@pytest.mark.parametrize("method", ["mmr", "calibration"])
def test_without_a_place_there_is_no_list(method):
    ratings, features = world(n_users=20)
    model = fitted(f"toppop|{method}", ratings, features)
    with pytest.raises(ParameterError, match="at least one place; n is 0"):
        model.answer([0], [5], FIVE, 0)
    own = ratings.user_items[:3]
    assert model._score(own).tolist() == model.score(Profiles(own, FIVE)).tolist()


def test_scores_that_are_no_numbers_are_refused():
    ratings, features = world(n_users=20)
    model = fitted("puresvd|popularity", ratings, features, factors=2)
    model.base.item_factors[:] = np.nan
    with pytest.raises(DataError, match="A score of PureSVD is not a number"):
        model.score(Profiles.of(ratings, [0]))
