"""What every algorithm of the registry owes, whoever wrote it.

A third party's algorithm is in the registry once its package is installed, and so it is in here; what the suite
has to know of it, the class says of itself (`small`, `asks_profile`, `asks_numbers`).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from recommenders.parameters import Parameters
from recommenders.progress import Progress, silent
from recommenders.ranking import top_n
from tests.factories.lists import lists_of

pytestmark = pytest.mark.unit

HALF_STARS = Scale(0.5, 5.0, 0.5)
every_algorithm = pytest.mark.parametrize("key", registry.keys())


def fitted(
    key: str,
    ratings: Ratings,
    features: ItemFeatures,
    *,
    seed: int = 5,
    progress: Progress = silent,
    **options: object,
) -> Algorithm:
    found = registry.algorithm(key)
    params = registry.params_of(key, dict(found.small) | options)
    given = features if found.needs_features else None
    return found.fit(ratings, params, features=given, rng=np.random.default_rng(seed), progress=progress)


def smallest(key: str) -> dict[str, object]:
    """Options that one user and one item can bear."""
    return {name: 1 for name in ("factors", "classes") if name in parameters(key)}


def parameters(key: str) -> set[str]:
    return {info.name for info in registry.algorithm(key).Params.described()}


def features_of(n_items: int) -> ItemFeatures:
    return ItemFeatures(sparse.csr_array(np.ones((n_items, 1), dtype=np.float32)), (("genre", "Drama"),))


@every_algorithm
def test_class_attributes_are_complete(key):
    found = registry.algorithm(key)
    assert found.key == key
    assert found.title.endswith(f"({found.name})") or found.name in found.title
    assert found.version >= 1
    assert found.score_kind in {"rating", "order"}
    assert found.label(found.Params()).startswith(found.name)
    for info in found.Params.described():
        assert info.description.endswith(".")
        assert info.type in {int, float, str, bool}


@every_algorithm
def test_scores_have_shape_and_no_nan(key, ratings, features, strangers):
    scores = fitted(key, ratings, features).score(strangers)
    assert scores.shape == (6, 10)
    assert scores.dtype == np.float64
    assert not np.isnan(scores).any()
    assert not np.isposinf(scores).any()
    assert np.isfinite(scores).any()


@every_algorithm
def test_checkerboard_is_completed(key):
    """Even users love even items and hate odd ones; each has one of either kind left to rate."""
    if not registry.algorithm(key).asks_profile:
        pytest.skip("does not look for tastes in the profile")
    n_users, n_items = 24, 12
    users, items = (side.ravel() for side in np.indices((n_users, n_items)))
    is_match = (users + items) % 2 == 0
    is_hidden = (items // 2) == (users // 2) % (n_items // 2)  # one item of each parity a user
    values = np.where(is_match, 5.0, 1.0)
    ratings = Ratings.from_triples(
        users[~is_hidden], items[~is_hidden], values[~is_hidden], n_users, n_items, scale=Scale(1, 5, 1)
    )
    parity = np.zeros((n_items, 2), dtype=np.float32)
    parity[np.arange(n_items), np.arange(n_items) % 2] = 1
    features = ItemFeatures(sparse.csr_array(parity), (("genre", "even"), ("genre", "odd")))
    options = {"epochs": 200, "patience": 200, "learning_rate": 0.02} if key == "asysvd" else {}
    model = fitted(key, ratings, features, **options)
    everybody = Profiles.of(ratings, np.arange(n_users))
    best = lists_of(model.score(everybody), model.popularity, everybody, n=1)
    assert [int(one.items[0]) % 2 for one in best] == [user % 2 for user in range(n_users)]


@every_algorithm
def test_item_nobody_rated_has_no_score_unless_features_tell_of_it(key, ratings, features, strangers):
    scores = fitted(key, ratings, features).score(strangers)
    unrated = ratings.n_items - 1
    assert ratings.item_counts[unrated] == 0
    if registry.algorithm(key).needs_features:
        assert np.isfinite(scores[:-1, unrated]).all()
    else:
        assert np.isneginf(scores[:, unrated]).all()


@every_algorithm
def test_empty_profile_is_filled_by_popularity(key, ratings, features):
    model = fitted(key, ratings, features)
    scores = model.score(Profiles.single([], [], ratings.n_items, HALF_STARS))
    best = top_n(scores[0], model.popularity, [], n=4)
    if not registry.algorithm(key).asks_profile:
        assert (np.isfinite(scores[0]) == (ratings.item_counts > 0)).all()
        return
    by_popularity = np.lexsort((np.arange(ratings.n_items), -ratings.item_counts))
    assert best.items.tolist() == by_popularity[:4].tolist()
    assert np.isneginf(scores).all()
    assert best.is_filled.all()


@every_algorithm
def test_profile_of_unknown_items_only_is_no_profile(key, ratings):
    """The one item of the profile was rated by nobody and has no features."""
    if not registry.algorithm(key).asks_profile:
        pytest.skip("does not look at the profile")
    last = ratings.n_items - 1
    counts = np.ones((ratings.n_items, 2), dtype=np.float32)
    counts[last] = 0
    features = ItemFeatures(sparse.csr_array(counts), (("genre", "Drama"), ("tag", "slow")))
    scores = fitted(key, ratings, features).score(Profiles.single([last], [4.0], ratings.n_items, HALF_STARS))
    assert np.isneginf(scores).all()


@every_algorithm
def test_single_user_single_item(key):
    ratings = Ratings.from_triples([0], [0], [3], n_users=1, n_items=1, scale=Scale(1, 5, 1))
    model = fitted(key, ratings, features_of(1), **smallest(key))
    profiles = Profiles(sparse.csr_array(np.array([[4.0], [0.0]])), Scale(1, 5, 1))
    scores = model.score(profiles)
    assert scores.shape == (2, 1)
    assert not np.isnan(scores).any()
    assert top_n(scores[0], model.popularity, [0], n=5).items.size == 0


@every_algorithm
def test_all_ratings_equal(key, features):
    everything = np.indices((6, 10)).reshape(2, -1)
    ratings = Ratings.from_triples(*everything, np.full(60, 3.0), 6, 10, scale=Scale(1, 5, 1))
    scores = fitted(key, ratings, features).score(Profiles.single([0, 4], [3, 3], 10, Scale(1, 5, 1)))
    assert not np.isnan(scores).any()


@every_algorithm
def test_same_seed_gives_same_bytes(key, ratings, features):
    first, second = fitted(key, ratings, features).state(), fitted(key, ratings, features).state()
    assert list(first) == list(second)
    for name in first:
        assert first[name].tobytes() == second[name].tobytes(), name


@every_algorithm
def test_state_round_trip_through_memory_maps_is_exact(key, ratings, features, strangers, tmp_path):
    model = fitted(key, ratings, features)
    for name, array in model.state().items():
        assert type(array) is np.ndarray
        assert array.ndim >= 1, name  # a file of a single number would come back as an array of one
        np.save(tmp_path / f"{name}.npy", array, allow_pickle=False)
    mapped = {path.stem: np.load(path, mmap_mode="r", allow_pickle=False) for path in tmp_path.glob("*.npy")}
    again = type(model).from_state(mapped, model.params, model.scale)
    assert again.score(strangers).tobytes() == model.score(strangers).tobytes()
    assert {name: array.tobytes() for name, array in again.state().items()} == {
        name: array.tobytes() for name, array in model.state().items()
    }


@every_algorithm
def test_batch_and_single_profiles_agree(key, ratings, features, strangers):
    model = fitted(key, ratings, features)
    together = model.score(strangers)
    for row in range(strangers.n_profiles):
        alone = model.score(Profiles(strangers.user_items[[row]], strangers.scale))
        np.testing.assert_allclose(alone[0], together[row], rtol=0, atol=1e-9)


@every_algorithm
def test_no_profile_gives_no_row(key, ratings, features):
    none = Profiles(sparse.csr_array((0, ratings.n_items), dtype=np.float32), HALF_STARS)
    assert fitted(key, ratings, features).score(none).shape == (0, ratings.n_items)


@every_algorithm
def test_training_user_is_scored_as_a_stranger_with_the_same_ratings(key, ratings, features):
    model = fitted(key, ratings, features)
    own = ratings.user_items[[0]]
    as_user = model.score(Profiles.of(ratings, [0]))
    as_stranger = model.score(Profiles.single(own.indices, own.data, ratings.n_items, HALF_STARS))
    assert as_user.tobytes() == as_stranger.tobytes()


@every_algorithm
def test_profile_on_another_scale_is_mapped(key, ratings, features):
    model = fitted(key, ratings, features)
    ten_points = Profiles.single([0, 2, 5], [1, 6, 10], ratings.n_items, Scale(1, 10, 1))
    half_stars = Profiles.single([0, 2, 5], [0.5, 3.0, 5.0], ratings.n_items, HALF_STARS)
    np.testing.assert_allclose(model.score(ten_points), model.score(half_stars), rtol=0, atol=1e-6)


@every_algorithm
def test_input_is_not_changed(key, ratings, features, strangers):
    def content(matrix):
        return matrix.data.tobytes(), matrix.indices.tobytes(), matrix.indptr.tobytes()

    held = (ratings.user_items, features.item_terms, strangers.user_items)
    before = [content(matrix) for matrix in held]
    model = fitted(key, ratings, features)
    state = {name: array.tobytes() for name, array in model.state().items()}
    model.score(strangers)
    assert [content(matrix) for matrix in held] == before
    assert {name: array.tobytes() for name, array in model.state().items()} == state


@every_algorithm
def test_list_longer_than_the_catalogue_ends_with_it(key, ratings, features, strangers):
    model = fitted(key, ratings, features)
    for best, row in zip(
        lists_of(model.score(strangers), model.popularity, strangers, n=99),
        strangers.user_items.toarray(),
        strict=True,
    ):
        assert sorted(best.items.tolist()) == np.flatnonzero(row == 0).tolist()


@every_algorithm
def test_renumbering_users_and_items_renumbers_the_result(key, ratings, features, strangers):
    if registry.algorithm(key).asks_numbers:
        pytest.skip("visits ratings in the order of their numbers")
    rng = np.random.default_rng(8)
    users, items = rng.permutation(ratings.n_users), rng.permutation(ratings.n_items)
    renumbered = Ratings(sparse.csr_array(ratings.user_items[users][:, items]), ratings.scale)
    moved = ItemFeatures(features.item_terms[items], features.terms)
    profiles = Profiles(sparse.csr_array(strangers.user_items[:, items]), strangers.scale)
    expected = fitted(key, ratings, features).score(strangers)[:, items]
    np.testing.assert_allclose(fitted(key, renumbered, moved).score(profiles), expected, rtol=0, atol=1e-9)


@every_algorithm
def test_too_many_factors_are_refused_with_the_maximum(key, ratings, features):
    if "factors" not in parameters(key):
        pytest.skip("has no factors")
    most = 8 if key == "lsa" else 10  # 14 users, 10 items, 8 terms
    with pytest.raises(ParameterError, match=rf"11 .*\b{most}\b"):
        fitted(key, ratings, features, factors=11)
    fitted(key, ratings, features, factors=most)


# Everything that changes how an algorithm explains itself, beside its defaults.
EXPLAINED_FORMS = [
    *((key, {}) for key in registry.keys()),  # noqa: SIM118 — a function, not a mapping's
    ("corngr", {"neighbours": 2}),
    ("corngr", {"neighbours": 2, "neighbourhood": "item", "correlate": "residuals"}),
    ("nncosngr", {"neighbours": 2}),
    ("nncosngr", {"sum_of": "ratings"}),
    ("nncosngr", {"sum_of": "ratings", "neighbours": 3, "neighbourhood": "item"}),
    ("itemitem", {"aggregate": "sum"}),
    ("itemitem", {"aggregate": "noisy-or"}),
    ("ease", {"reg": 2.0}),
    ("lsa", {"centre": "mean"}),
    ("expected-utility", {"scorer": "itemitem:aggregate=sum"}),
    ("expected-utility", {"scorer": "corngr"}),
    ("expected-utility", {"scorer": "ease"}),
    ("expected-utility", {"scorer": "toppop"}),
    ("expected-utility", {"scorer": "itemitem:aggregate=noisy-or"}),
]


@pytest.mark.parametrize(("key", "options"), EXPLAINED_FORMS)
@pytest.mark.parametrize("n_users", [14, 8])  # more and fewer than items: EASE keeps another matrix for each
def test_explanation_makes_the_score(key, options, n_users, features, strangers, make_ratings):
    ratings = make_ratings(1, n_users=n_users, n_items=10)
    model = fitted(key, ratings, features, **options)
    scores = model.score(strangers)
    n_explained = 0
    for row in range(strangers.n_profiles):
        profile = Profiles(strangers.user_items[[row]], strangers.scale)
        explained = model.explain(profile, np.arange(10))
        assert len(explained) == 10
        for item, one in enumerate(explained):
            if one is None:
                continue
            n_explained += 1
            assert one.score == pytest.approx(scores[row, item], rel=1e-9, abs=1e-9)
            assert one.items.tolist() == profile.user_items.indices.tolist()
            assert one.contributions.dtype == np.float64
            assert one.contributions.shape == one.items.shape
            assert np.isfinite(one.contributions).all()
    has_answer = model.explains and options.get("scorer") not in {"toppop", "itemitem:aggregate=noisy-or"}
    if key == "expected-utility":
        has_positive = has_answer * int((scores > 0).sum())
        assert has_positive <= n_explained <= has_answer * np.isfinite(scores).sum()
    else:
        assert n_explained == has_answer * np.isfinite(scores).sum()


@every_algorithm
def test_explanation_of_what_is_not_there_is_refused(key, ratings, features, strangers):
    model = fitted(key, ratings, features)
    one = Profiles(strangers.user_items[[0]], strangers.scale)
    with pytest.raises(DataError, match="One profile at a time can be explained; got 6"):
        model.explain(strangers, [0])
    with pytest.raises(DataError, match="no item number 10: numbers run from 0 to 9"):
        model.explain(one, [0, 10])
    with pytest.raises(DataError, match="over 4 items"):
        model.explain(Profiles.single([0], [3], 4, HALF_STARS), [0])
    assert model.explain(one, []) == ()


@every_algorithm
def test_explanation_is_the_same_from_another_scale(key, ratings, features):
    model = fitted(key, ratings, features)
    ten_points = Profiles.single([0, 2, 5], [1, 6, 10], ratings.n_items, Scale(1, 10, 1))
    half_stars = Profiles.single([0, 2, 5], [0.5, 3.0, 5.0], ratings.n_items, HALF_STARS)
    for one, other in zip(model.explain(ten_points, [1, 3]), model.explain(half_stars, [1, 3]), strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one.contributions, other.contributions, rtol=0, atol=1e-6)


@every_algorithm
def test_wrong_inputs_are_refused(key, ratings, features, strangers):
    found = registry.algorithm(key)
    rng = np.random.default_rng(0)
    empty = Ratings(sparse.csr_array((3, 10), dtype=np.float32), HALF_STARS)
    with pytest.raises(DataError, match="contain no ratings"):
        found.fit(empty, features=features, rng=rng)
    with pytest.raises(ParameterError, match="its own parameters"):
        found.fit(ratings, Parameters(), features=features, rng=rng)
    with pytest.raises(DataError, match="describe 3 items, but the ratings are of 10"):
        found.fit(ratings, features=features_of(3), rng=rng)
    if found.needs_features:
        with pytest.raises(DataError, match="needs item features"):
            found.fit(ratings, rng=rng)
    model = fitted(key, ratings, features)
    with pytest.raises(DataError, match="over 4 items, but the model was fitted on 10"):
        model.score(Profiles.single([0], [3], 4, HALF_STARS))
    with pytest.raises(ParameterError, match="its own parameters"):
        found.from_state(model.state(), Parameters(), model.scale)
    with pytest.raises(DataError, match="popularity"):
        found.from_state({}, model.params, model.scale)
    with pytest.raises(DataError, match=r"has the arrays .*popularity.*these are .*surplus"):
        found.from_state(model.state() | {"surplus": np.zeros(1)}, model.params, model.scale)


@every_algorithm
def test_progress_begins_never_falls_and_ends_at_1(key, ratings, features):
    told: list[tuple[float, str]] = []
    fitted(key, ratings, features, progress=lambda share, what: told.append((share, what)))
    shares = [share for share, _ in told]
    assert shares[0] >= 0.0
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert all(what for _, what in told)


def fresh(ratings: Ratings) -> Ratings:
    """The same ratings, of which no algorithm remembers a product."""
    return Ratings(ratings.user_items.copy(), ratings.scale)


@every_algorithm
def test_progress_that_raises_stops_the_fit(key, ratings, features):
    """At the first report, and at the last but one: the one that says that the model is there comes after it."""
    told: list[float] = []
    fitted(key, fresh(ratings), features, progress=lambda share, what: told.append(share))
    for last in {1, max(1, len(told) - 1)}:
        left = [last]

        def stop(share: float, what: str, left: list[int] = left) -> None:
            left[0] -= 1
            if not left[0]:
                raise InterruptedError(what)

        with pytest.raises(InterruptedError):
            fitted(key, fresh(ratings), features, progress=stop)
        assert left == [0]


@every_algorithm
def test_numbers_do_not_depend_on_who_listens(key, ratings, features):
    silent, heard = (fitted(key, ratings, features, **more).state() for more in ({}, {"progress": lambda *told: None}))
    assert {name: array.tobytes() for name, array in silent.items()} == {
        name: array.tobytes() for name, array in heard.items()
    }


@every_algorithm
def test_estimate_of_memory_is_positive_and_grows_with_the_data(key):
    found = registry.algorithm(key)
    params = registry.params_of(key, found.small)

    def estimate(size: int) -> int:
        sizes = (100 * size, 40 * size, 1000 * size)
        return found.fit_bytes(*sizes, params, n_terms=50 * size, n_item_terms=200 * size)

    # Below the size at which singular vectors are found another way, which takes less.
    estimates = [estimate(size) for size in (1, 2, 10, 50)]
    assert estimates[0] > 0
    assert all(isinstance(one, int) for one in estimates)
    assert estimates == sorted(set(estimates))


@pytest.mark.parametrize(
    ("key", "options", "label"),
    [
        ("toppop", {}, "TopPop"),
        ("corngr", {}, "CorNgr"),
        ("nncosngr", {}, "NNCosNgr"),
        ("asysvd", {}, "AsySVD"),
        ("puresvd", {"factors": 50}, "PureSVD50"),
        ("puresvd", {"factors": 300}, "PureSVD300"),
        ("lsa", {}, "LSA"),
        ("nncosngr", {"sum_of": "ratings"}, "NNCosNgr (sum_of=ratings)"),
        ("corngr", {"neighbours": 50, "shrinkage": 0.5}, "CorNgr (neighbours=50, shrinkage=0.5)"),
    ],
)
def test_label_names_the_condition(key, options, label):
    assert registry.label(key, options) == label
