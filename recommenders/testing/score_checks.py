"""Checks of scores, recommendation lists and explanations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from recommenders.ranking import top_n
from recommenders.testing.trial import (
    HALF_STARS,
    Trial,
    checkerboard,
    require,
    require_close,
    sample_items,
    sample_times,
    timed,
    uniform_features,
)


def scores_are_numbers(trial: Trial) -> None:
    """One float64 score for each profile and item; -inf where there is none, never NaN or +inf."""
    scores = trial.fit().score(trial.profiles)
    shape = trial.profiles.user_items.shape
    require(scores.shape == shape, f"Scores of {shape[0]} profiles and {shape[1]} items have the shape {scores.shape}.")
    require(scores.dtype == np.float64, f"Scores are {scores.dtype}, not float64.")
    require(not np.isnan(scores).any(), "A score is NaN; use -inf where there is no score.")
    require(not np.isposinf(scores).any(), "A score is +inf.")
    require(np.isfinite(scores).any(), "No profile has a score.")


def tastes_are_learned(trial: Trial) -> None:
    """On a checkerboard of tastes, the best unrated item of each user is of the kind they love."""
    if not trial.algorithm.asks_profile:
        return
    ratings, features = checkerboard()
    model = trial.fit(ratings, features)
    scores = model.score(Profiles.of(ratings, np.arange(ratings.n_users)))
    for user, row in enumerate(scores):
        best = top_n(row, model.popularity, ratings.user_items[[user]].indices, 1).items[0]
        require(best % 2 == user % 2, f"User {user} likes items of the same parity only and gets item {best}.")


def unrated_item_has_no_score(trial: Trial) -> None:
    """An item without ratings has the score -inf, unless item features describe it."""
    unrated = trial.ratings.n_items - 1
    scores = trial.fit().score(trial.profiles)[:, unrated]
    if trial.algorithm.needs_features:
        require(np.isfinite(scores[:-1]).all(), "An item that has features and no ratings has no score.")
    else:
        require(np.isneginf(scores).all(), "An item without ratings has a score; it should be -inf.")


def empty_profile_has_no_score(trial: Trial) -> None:
    """An empty profile has no scores, so that the most popular items fill its list.

    If scores do not depend on the profile, it has the scores of any other.
    """
    model = trial.fit()
    scores = model.score(Profiles.single([], [], trial.ratings.n_items, HALF_STARS))[0]
    if trial.algorithm.asks_profile:
        require(np.isneginf(scores).all(), "An empty profile has scores; set asks_profile = False if that is meant.")
        best = top_n(scores, model.popularity, [], 4)
        popular = np.lexsort((np.arange(trial.ratings.n_items), -trial.ratings.item_counts))
        require(best.items.tolist() == popular[:4].tolist(), "The popularity of the model is not that of the ratings.")
    else:
        is_rated = trial.ratings.item_counts > 0
        require((np.isfinite(scores) == is_rated).all(), "An empty profile has not exactly the rated items' scores.")


def profile_of_unknown_items_has_no_score(trial: Trial) -> None:
    """A profile whose only item has neither ratings nor features counts as empty."""
    if not trial.algorithm.asks_profile:
        return
    last = trial.ratings.n_items - 1
    counts = np.ones((trial.ratings.n_items, 2), dtype=np.float32)
    counts[last] = 0
    features = ItemFeatures(sparse.csr_array(counts), (("genre", "Drama"), ("tag", "slow")))
    scores = trial.fit(features=features).score(Profiles.single([last], [4.0], trial.ratings.n_items, HALF_STARS))
    require(np.isneginf(scores).all(), "A profile of items without information has scores; they should be -inf.")


def one_user_and_one_item_are_enough(trial: Trial) -> None:
    """The smallest possible data give a model."""
    names = {info.name for info in trial.algorithm.Params.described()}
    smallest: dict[str, Any] = {name: 1 for name in ("factors", "classes") if name in names}
    ratings = Ratings.from_triples([0], [0], [3], n_users=1, n_items=1, scale=Scale(1, 5, 1))
    model = trial.fit(ratings, uniform_features(1), options=smallest)
    scores = model.score(Profiles(sparse.csr_array(np.array([[4.0], [0.0]])), Scale(1, 5, 1)))
    require(scores.shape == (2, 1), f"Scores of two profiles and one item have the shape {scores.shape}.")
    require(not np.isnan(scores).any(), "A score is NaN with one user and one item.")


def equal_ratings_give_numbers(trial: Trial) -> None:
    """Ratings without variance, which many formulas divide by, do not give NaN."""
    users, items = np.indices((6, trial.ratings.n_items)).reshape(2, -1)
    scale = Scale(1, 5, 1)
    values = np.full(users.size, 3.0)
    ratings = Ratings.from_triples(users, items, values, 6, trial.ratings.n_items, scale=scale)
    scores = trial.fit(ratings).score(Profiles.single([0, 4], [3, 3], ratings.n_items, scale))
    require(not np.isnan(scores).any(), "A score is NaN if all ratings are equal.")


def profiles_are_independent(trial: Trial) -> None:
    """A profile has the same scores alone and in a batch, and no profile gives no row."""
    model = trial.fit()
    together = model.score(trial.profiles)
    for row in range(trial.profiles.n_profiles):
        alone = model.score(Profiles(trial.profiles.user_items[[row]], trial.profiles.scale))
        require_close(alone[0], together[row], 1e-9, f"Profile {row} has other scores alone than in a batch.")
    none = Profiles(sparse.csr_array(np.zeros((0, trial.ratings.n_items))), HALF_STARS)
    require(model.score(none).shape == (0, trial.ratings.n_items), "No profile should give an array without rows.")


def new_user_is_scored_as_a_training_user(trial: Trial) -> None:
    """A person with the ratings of a training user gets the same scores, and no fit is needed for that."""
    model, own = trial.fit(), trial.ratings.user_items[[0]]
    training_user = model.score(Profiles.of(trial.ratings, [0]))
    new_user = model.score(Profiles.single(own.indices, own.data, trial.ratings.n_items, HALF_STARS))
    message = "A new user with the ratings of a training user has other scores."
    require(training_user.tobytes() == new_user.tobytes(), message)
    order = np.arange(1, trial.profiles.n_profiles + 1) % trial.profiles.n_profiles
    turned = Profiles(trial.profiles.user_items[order], trial.profiles.scale)
    require_close(model.score(turned), model.score(trial.profiles)[order], 1e-9, "Scores depend on the row.")


def other_scales_are_mapped(trial: Trial) -> None:
    """Ratings on another scale give the same scores and explanations as their equivalents on the training scale."""
    model, n_items = trial.fit(), trial.ratings.n_items
    ten_points = Profiles.single([0, 2, 5], [1, 6, 10], n_items, Scale(1, 10, 1))
    half_stars = Profiles.single([0, 2, 5], [0.5, 3.0, 5.0], n_items, HALF_STARS)
    require_close(model.score(ten_points), model.score(half_stars), 1e-6, "Scores change with the profile's scale.")
    for mapped, plain in zip(model.explain(ten_points, [1, 3]), model.explain(half_stars, [1, 3]), strict=True):
        require((mapped is None) == (plain is None), "Explanations change with the profile's scale.")
        if mapped is not None and plain is not None:
            message = "Contributions change with the profile's scale."
            require_close(mapped.contributions, plain.contributions, 1e-6, message)


def lists_exclude_rated_items(trial: Trial) -> None:
    """A list holds every item that the profile has not rated, once, ordered by score."""
    model, n_items = trial.fit(), trial.ratings.n_items
    for row in range(trial.profiles.n_profiles):
        own = trial.profiles.user_items[[row]]
        unrated = np.setdiff1d(np.arange(n_items), own.indices).tolist()
        for n in (3, n_items + 99):
            items = model.answer(own.indices, own.data, trial.profiles.scale, n).items.tolist()
            require(set(items) <= set(unrated), f"The list of profile {row} has rated items: {items}.")
            scores = model.score(Profiles(own, trial.profiles.scale))[0]
            expected = top_n(scores, model.popularity, own.indices, n).items.tolist()
            require(items == expected, f"The list of profile {row} is {items}; by its scores it is {expected}.")


def numbering_does_not_matter(trial: Trial) -> None:
    """Other numbers for the same users and items give the same scores, unless `asks_numbers` is set."""
    if trial.algorithm.asks_numbers:
        return
    rng = np.random.default_rng(8)
    users, items = rng.permutation(trial.ratings.n_users), rng.permutation(trial.ratings.n_items)
    renumbered = Ratings(sparse.csr_array(trial.ratings.user_items[users][:, items]), trial.ratings.scale)
    features = ItemFeatures(trial.features.item_terms[items], trial.features.terms)
    own = trial.ratings.user_items
    times = sparse.csr_array((sample_times(trial.ratings), own.indices, own.indptr), shape=own.shape)
    times = sparse.csr_array(times[users][:, items])
    times.sort_indices()
    renumbered = replace(renumbered, times=times.data, items=sample_items(items, features))
    profiles = Profiles(sparse.csr_array(trial.profiles.user_items[:, items]), trial.profiles.scale)
    scores, expected = trial.fit(renumbered, features).score(profiles), trial.fit().score(trial.profiles)[:, items]
    require_close(scores, expected, 1e-9, "Scores depend on the numbering; set asks_numbers = True if that is meant.")


def renamed_items_give_the_same_lists(trial: Trial) -> None:
    """Other ids of the same items, in another order, give the same lists. For classes with `item_fields`."""
    if not trial.algorithm.item_fields:
        return
    numbers = np.arange(trial.ratings.n_items)
    items = sample_items(numbers, trial.features, id_of=lambda number: f"{999 - number} of another source")
    model, renamed = trial.fit(), trial.fit(replace(trial.ratings, items=items))
    for row in range(trial.profiles.n_profiles):
        profile = Profiles(trial.profiles.user_items[[row]], trial.profiles.scale)
        lists = [each.answer_profile(profile, len(numbers)).items.tolist() for each in (model, renamed)]
        require(lists[0] == lists[1], f"The list of profile {row} depends on the ids of the items.")


def profiles_without_times_are_scored(trial: Trial) -> None:
    """A profile whose order and times are unknown has scores too. For classes with `_score_profiles`."""
    if not trial.algorithm.reads_order():
        return
    model = trial.fit()
    plain, with_times = model.score(trial.profiles), model.score(timed(trial.profiles))
    require(not np.isnan(plain).any(), "A score of a profile without times is NaN.")
    is_scored, is_scored_with_times = (np.isfinite(scores).any(axis=1) for scores in (plain, with_times))
    require((is_scored == is_scored_with_times).all(), "A profile has scores with times, and none without them.")


def profiles_with_times_are_independent(trial: Trial) -> None:
    """A profile with times has the same scores alone and in a batch. For classes with `_score_profiles`."""
    if not trial.algorithm.reads_order():
        return
    model, profiles = trial.fit(), timed(trial.profiles)
    together, times = model.score(profiles), sample_times(Ratings(profiles.user_items, profiles.scale))
    for row in range(profiles.n_profiles):
        entries = slice(*profiles.user_items.indptr[row : row + 2])
        alone = Profiles(profiles.user_items[[row]], profiles.scale, times[entries], order_kind="consumption")
        message = f"Profile {row} has other scores alone than in a batch, with times."
        require_close(model.score(alone)[0], together[row], 1e-9, message)


def explanations_add_up(trial: Trial) -> None:
    """If `explains` is set, the contributions of an explanation make the score; otherwise there is none."""
    n_explained = count_explained(trial.fit(), trial.profiles)
    if trial.algorithm.explains:
        require(n_explained > 0, "The class sets explains and explains no score.")
    else:
        require(n_explained == 0, "The class explains scores and does not set explains.")


def count_explained(model: Algorithm, profiles: Profiles) -> int:
    """The number of explained scores, each of which is required to follow from its explanation."""
    scores = model.score(profiles)
    n_explained = 0
    for row in range(profiles.n_profiles):
        profile = Profiles(profiles.user_items[[row]], profiles.scale)
        explanations = model.explain(profile, np.arange(model.n_items))
        require(len(explanations) == model.n_items, "There is not one explanation per item.")
        for item, explanation in enumerate(explanations):
            if explanation is None:
                continue
            n_explained += 1
            cell = f"profile {row}, item {item}"
            contributions = explanation.contributions
            is_same = np.isclose(explanation.score, scores[row, item], rtol=1e-9, atol=1e-9)
            require(is_same, f"{cell}: the explanation makes {explanation.score}; the score is {scores[row, item]}.")
            own = profile.user_items.indices.tolist()
            require(explanation.items.tolist() == own, f"{cell}: the explanation is not over the profile's items.")
            is_number = contributions.dtype == np.float64 and np.isfinite(contributions).all()
            is_whole = contributions.shape == explanation.items.shape
            require(is_number and is_whole, f"{cell}: not one finite contribution per rated item.")
    return n_explained
