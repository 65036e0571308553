"""Sizes compared on ratings kept from learning."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders import registry, size_selection
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from recommenders.positives import positives
from recommenders.size_selection import SIZES, choose

pytestmark = pytest.mark.unit

STARS = Scale(1, 5, 1)


def tastes(n_tastes: int, n_users: int = 90, n_items: int = 36, density: float = 0.5, seed: int = 0) -> Ratings:
    """People of so many tastes, who like the items of theirs and no others."""
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(rng.random((n_users, n_items)) < density)
    values = np.where(users % n_tastes == items % n_tastes, 5, 1)
    return Ratings.from_triples(users, items, values, n_users, n_items, scale=STARS)


def genres(n_items: int, n_genres: int, n_noise: int = 40) -> ItemFeatures:
    """An item's genre, beside words that mean nothing."""
    rng = np.random.default_rng(9)
    told = np.zeros((n_items, n_genres + n_noise), dtype=np.float32)
    told[np.arange(n_items), np.arange(n_items) % n_genres] = 3
    told[:, n_genres:] = rng.random((n_items, n_noise)) < 0.15
    kinds = [("genre", str(one)) for one in range(n_genres)] + [("word", str(one)) for one in range(n_noise)]
    return ItemFeatures(sparse.csr_array(told), tuple(kinds))


def chosen(key: str, ratings: Ratings, **more: object) -> size_selection.Choice:
    return choose(ratings, key, **({"rng": np.random.default_rng(1)} | more))


def test_aspect_finds_as_many_classes_as_there_are_tastes():
    choice = chosen("aspect", tastes(3), values=[1, 3, 12])
    assert choice.chosen == 3
    assert [size.value for size in choice.sizes] == [1, 3, 12]
    assert choice.is_higher_better
    assert all(size.epochs for size in choice.sizes)
    # With the right number, chance is one of a third of the items.
    assert choice.best.score == pytest.approx(-np.log(36 / 3), abs=0.2)


def test_lpca_prefers_axes_to_a_single_one_where_there_are_four_tastes():
    choice = chosen("lpca", tastes(4), values=[1, 3])
    assert choice.chosen == 3
    assert choice.best.epochs is None


def test_asysvd_minimises_the_error_and_tells_its_epochs():
    choice = chosen("asysvd", tastes(2), values=[2, 6], params={"epochs": 8})
    assert not choice.is_higher_better
    assert choice.best.score == min(size.score for size in choice.sizes)
    assert all(1 <= size.epochs <= 8 for size in choice.sizes if size.epochs is not None)


def test_lsa_needs_as_many_factors_as_there_are_genres():
    choice = chosen("lsa", tastes(4), values=[1, 4], features=genres(36, 4, n_noise=4))
    assert choice.chosen == 4
    assert choice.best.score > 0.8


def test_same_seed_gives_the_same_and_order_of_values_does_not_matter():
    first = chosen("asysvd", tastes(2), values=[2, 4, 6], params={"epochs": 3})
    again = chosen("asysvd", tastes(2), values=[6, 2, 4, 2], params={"epochs": 3})
    assert first == again
    fewer = chosen("asysvd", tastes(2), values=[2, 4], params={"epochs": 3})
    assert fewer.sizes == first.sizes[:2]


def test_hidden_ratings_never_matter():
    """The training side of a split, chosen on; then everything that was hidden is turned into its opposite."""
    whole = tastes(3)
    is_hidden = np.random.default_rng(5).random(whole.n_ratings) < 0.3
    users, items, values = whole.triples()

    def training_side(of_values: np.ndarray) -> Ratings:
        kept = ~is_hidden
        return Ratings.from_triples(users[kept], items[kept], of_values[kept], 90, 36, scale=STARS)

    turned = np.where(is_hidden, 6 - values, values)
    choices = [chosen("aspect", training_side(one), values=[1, 3, 6]) for one in (values, turned)]
    assert choices[0] == choices[1]
    assert choices[0].n_held_out <= 0.1 * (~is_hidden).sum()


def test_rule_of_one_standard_error_takes_the_smallest_that_is_near():
    ratings = tastes(2, n_users=30, density=0.3)
    best = chosen("aspect", ratings, values=[1, 2, 3, 4, 6])
    near = chosen("aspect", ratings, values=[1, 2, 3, 4, 6], rule="smallest-near")
    assert best.sizes == near.sizes
    limit = best.best.score - best.best.standard_error
    assert near.chosen == min(size.value for size in near.sizes if size.score >= limit)
    assert best.chosen == best.best.value


def test_of_equal_sizes_the_smaller_is_best():
    sizes = tuple(size_selection.Size(value, 0.5, 0.1, None) for value in (2, 3))
    for is_higher_better in (True, False):
        assert size_selection.Choice("lsa", "factors", "", is_higher_better, sizes, 1, 1, "best", 2).best.value == 2


def test_criteria_against_slow_loops():
    ratings = tastes(3, n_users=20, n_items=12)
    criteria = {
        "lpca": {"factors": 2},
        "aspect": {"classes": 3},
        "asysvd": {"factors": 2, "epochs": 3},
        "lsa": {"factors": 3},
    }
    features = genres(12, 3)
    for key, options in criteria.items():
        criterion, params = SIZES[key], registry.params_of(key, options)
        split = size_selection._split(ratings, criterion, params, 0.2, np.random.default_rng(2))
        model = registry.algorithm(key).fit(split.training, params, features=features, rng=np.random.default_rng(3))
        found, error = size_selection._score(model, split, criterion, lambda share, what: None)
        shown, held = split.shown.toarray(), split.held_out
        scores = model.score(Profiles(split.shown, STARS))
        by_person: dict[int, list[float]] = {}
        for user, item in zip(*held.nonzero(), strict=True):
            score = scores[user, item]
            others = [j for j in range(12) if shown[user, j] == 0 and held[user, j] == 0]
            value = {
                "asysvd": (score - held[user, item]) ** 2,
                "aspect": np.log(score) if score > 0 else 0,
                "lsa": np.mean([(scores[user, j] < score) + 0.5 * (scores[user, j] == score) for j in others]),
                "lpca": score - np.logaddexp(0, score),
            }[key]
            by_person.setdefault(int(user), []).append(float(value))
        if key == "lpca":
            for user, logs in by_person.items():
                for j in range(12):
                    if shown[user, j] == 0 and held[user, j] == 0 and np.isfinite(scores[user, j]):
                        logs[0] -= np.logaddexp(0, scores[user, j])
        if key == "lsa":
            by_person = {user: [float(np.mean(logs))] for user, logs in by_person.items()}
        sums = np.array([sum(logs) for logs in by_person.values()])
        counts = np.array([len(logs) for logs in by_person.values()])
        if key == "lpca":
            counts = np.diff(held.indptr)[np.diff(held.indptr) > 0]
        mean = sums.sum() / counts.sum()
        n = len(sums)
        spread = np.sqrt(((sums - mean * counts) ** 2).sum() * n / (n - 1)) / counts.sum()
        if key == "asysvd":
            mean, spread = np.sqrt(mean), spread / (2 * np.sqrt(mean))
        assert found == pytest.approx(mean, abs=1e-9), key
        assert error == pytest.approx(spread, abs=1e-9), key


def test_person_without_another_item_has_no_area():
    scores, seen = np.array([[0.5, 0.1]]), np.array([[False, True]])
    areas, counts = size_selection._areas(scores, seen, np.array([[5.0, 0.0]]))
    assert (areas.tolist(), counts.tolist()) == ([0.0], [0.0])


def test_perfect_predictions_have_no_error():
    """All ratings are equal, so the baseline alone foretells them."""
    everything = np.indices((8, 8)).reshape(2, -1)
    ratings = Ratings.from_triples(*everything, np.full(64, 3.0), 8, 8, scale=STARS)
    choice = chosen("asysvd", ratings, values=[1, 2], params={"epochs": 2, "spread": 1e-6})
    assert choice.best.score == pytest.approx(0.0, abs=1e-6)
    criterion = SIZES["asysvd"]
    split = size_selection._split(ratings, criterion, None, 0.2, np.random.default_rng(2))

    class Knowing:
        def score(self, profiles: Profiles) -> np.ndarray:
            return np.full((profiles.n_profiles, 8), 3.0)

    assert size_selection._score(Knowing(), split, criterion, lambda share, what: None) == (0.0, 0.0)


def test_held_out_ratings_are_likes_of_people_and_items_with_others():
    ratings = tastes(3)
    split = size_selection._split(ratings, SIZES["lsa"], registry.params_of("lsa"), 0.3, np.random.default_rng(4))
    liked = positives(ratings.user_items, STARS, 4.0).toarray()
    kept = split.training.user_items.toarray()
    people = [int(np.flatnonzero((kept == row).all(axis=1))[0]) for row in split.shown.toarray()]
    assert split.held_out.nnz > 0
    assert (split.held_out.toarray() <= liked[people]).all()
    assert split.shown.multiply(split.held_out).nnz == 0
    assert split.training.n_ratings == ratings.n_ratings - int(0.3 * ratings.n_ratings)
    assert split.held_out.toarray()[:, kept.sum(axis=0) == 0].sum() == 0


def test_people_kept_apart_are_not_learned_from():
    ratings = tastes(3)
    split = size_selection._split(ratings, SIZES["lpca"], registry.params_of("lpca"), 0.2, np.random.default_rng(4))
    assert split.training.n_users == 72
    assert split.held_out.shape[0] <= 18
    learned = {row.tobytes() for row in split.training.user_items.toarray()}
    apart = [row for row in ratings.user_items.toarray() if row.tobytes() not in learned]
    assert len(apart) == 18
    together = split.shown.toarray() + 5 * split.held_out.toarray()
    for row in together:  # all that is shown or held out of a person is theirs
        assert any(((row == 0) | (row == one)).all() for one in apart)
    assert split.shown.multiply(split.held_out).nnz == 0


def test_progress_goes_through_all_sizes_and_can_stop_it():
    told: list[tuple[float, str]] = []
    chosen("aspect", tastes(2), values=[1, 2], progress=lambda share, what: told.append((share, what)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert any(what.startswith("classes=2: step 1 of") for _, what in told)

    def stop(share: float, what: str) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        chosen("aspect", tastes(2), values=[1, 2], progress=stop)


@pytest.mark.parametrize(
    ("key", "options", "words"),
    [
        ("toppop", {}, "no size to choose for 'toppop'; there is for lpca, aspect, asysvd, lsa"),
        ("lpca", {"params": {"factors": 3}}, "factors is what is chosen"),
        ("lpca", {"values": [3, 3]}, "at least two values"),
        ("lpca", {"share": 0.0}, "must lie above 0 and be at most 0.5"),
        ("lpca", {"share": 0.6}, "must lie above 0 and be at most 0.5"),
        ("lpca", {"rule": "least"}, "The rule is one of best, smallest-near"),
        ("lpca", {"values": [0, 3]}, "factors must be at least 1"),
        ("lpca", {"values": [3, 99]}, "factors=99 is more than the data can have"),
        ("lpca", {"params": {"speed": 3}}, "no parameter speed"),
    ],
)
def test_what_cannot_be_chosen_is_refused(key, options, words):
    with pytest.raises(ParameterError, match=words):
        chosen(key, tastes(2), **({"values": [1, 2]} | options))


def test_data_without_anything_to_foretell_are_refused():
    ratings = Ratings.from_triples([0, 1], [0, 1], [5, 5], n_users=2, n_items=2, scale=STARS)
    with pytest.raises(DataError, match="can be predicted"):
        chosen("aspect", ratings, values=[1, 2])


def test_counts_of_observations_stay_with_their_pairs():
    ratings = tastes(2)
    counted = Ratings(ratings.user_items, ratings.scale, np.where(np.arange(ratings.n_ratings) % 5, 1, 3))
    params = {"counts": "use", "iterations": 20}
    rng = np.random.default_rng
    with_counts = size_selection.choose(counted, "aspect", values=[1, 2], params=params, rng=rng(1))
    without = size_selection.choose(counted, "aspect", values=[1, 2], params={"iterations": 20}, rng=rng(1))
    assert with_counts.n_held_out == without.n_held_out
    assert with_counts.sizes != without.sizes
