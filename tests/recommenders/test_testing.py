"""Each check of `recommenders.testing` finds the fault it is there for, and a sound algorithm passes all of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pytest

from recommenders.base import Algorithm
from recommenders.explanation import Explanation
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positives
from recommenders.progress import no_progress
from recommenders.ranking import top_n
from recommenders.testing import CHECKS, Trial, check_algorithm

pytestmark = pytest.mark.unit


class Sound(Algorithm):
    """Items liked by the people who like the items of the profile."""

    key, name, title, version = "co-liked", "CoLiked", "Liked together (CoLiked)", 1
    score_kind = "order"
    explains = True
    arrays = ("pairs",)

    @dataclass(frozen=True)
    class Params(Parameters):
        damping: float = parameter(1.0, description="Added to the number of likes.", minimum=0.5, maximum=9.0)

    @classmethod
    def _fit(cls, ratings, params, features, rng, progress):
        progress(0.5, "Counting pairs")
        liked = positives(ratings.user_items, ratings.scale, 4.0).toarray().astype(np.float64)
        likes = liked.sum(axis=0) + params.damping
        return cls._with(pairs=liked.T @ liked / likes)

    def _likes(self, user_items):
        return positives(user_items, self.scale, 4.0).toarray()

    def _score(self, user_items):
        return self._silence(np.asarray(self._likes(user_items) @ self.pairs, dtype=np.float64), user_items)

    def _explain(self, user_items, item):
        contributions = (self._likes(user_items)[0] * self.pairs[:, item])[user_items.indices]
        return Explanation.over(user_items, user_items.indices, contributions)


class KeyWithSpaces(Sound):
    key = "Co Liked"


class UncheckedParameters(Sound):
    @dataclass(frozen=True)
    class Params(Sound.Params):
        def __post_init__(self):
            pass


class UnlimitedFactors(Sound):
    @dataclass(frozen=True)
    class Params(Sound.Params):
        factors: int = parameter(2, description="Number of latent factors.", minimum=1)


class IgnoredLimit(UnlimitedFactors):
    rank_parameter = "factors"

    @classmethod
    def check(cls, params, size):
        pass


class AnyProfile(Sound):
    def score(self, profiles):
        return np.zeros(profiles.user_items.shape)


class AnyExplanation(Sound):
    def explain(self, profile, items):
        return (None,) * len(items)


class ConstantMemory(Sound):
    @classmethod
    def fit_bytes(cls, n_users, n_items, n_ratings, params, *, n_terms=0, n_item_terms=0):
        return 1000


class NotANumber(Sound):
    def _score(self, user_items):
        return super()._score(user_items) * np.nan


class WorstFirst(Sound):
    def _score(self, user_items):
        return self._silence(-self._likes(user_items) @ self.pairs, user_items)


class EverythingScored(Sound):
    def _score(self, user_items):
        return self._likes(user_items) @ self.pairs


class EmptyProfileScored(Sound):
    def _score(self, user_items):
        return np.where(self.popularity > 0, self._likes(user_items) @ self.pairs, -np.inf)


class UnknownItemsScored(Sound):
    def _score(self, user_items):
        scores = np.where(self.popularity > 0, self._likes(user_items) @ self.pairs, -np.inf)
        scores[np.diff(user_items.indptr) == 0] = -np.inf
        return scores


class DroppedDimension(Sound):
    def _score(self, user_items):
        return super()._score(user_items).squeeze()


class Standardised(Sound):
    @classmethod
    def _fit(cls, ratings, params, features, rng, progress):
        with np.errstate(all="ignore"):
            return cls._with(pairs=super()._fit(ratings, params, features, rng, progress).pairs
                             * (0.0 / ratings.user_items.data.std()))  # fmt: skip


class CentredOnTheBatch(Sound):
    def _score(self, user_items):
        scores = self._likes(user_items) @ self.pairs
        return self._silence(scores - scores.mean(axis=0) if len(scores) else scores, user_items)


class BoundToRows(Sound):
    def _score(self, user_items):
        return super()._score(user_items) + np.arange(user_items.shape[0])[:, np.newaxis]


class OtherScaleIgnored(Sound):
    def score(self, profiles):
        return self._score(profiles.user_items)


class RatedItemsListed(Sound):
    def answer(self, items, ratings, scale, n):
        return top_n(np.arange(self.n_items, dtype=float), self.popularity, [], n)


class UnsortedList(Sound):
    def answer(self, items, ratings, scale, n):
        return top_n(np.arange(self.n_items, dtype=float), self.popularity, items, n)


class OrderedByNumber(Sound):
    def _score(self, user_items):
        return super()._score(user_items) + np.arange(self.n_items)


class WrongExplanation(Sound):
    def _explain(self, user_items, item):
        return Explanation.over(user_items, user_items.indices, np.ones(user_items.nnz), offset=100.0)


class ExplanationPromised(Sound):
    def _explain(self, user_items, item):
        return None


class ExplanationUndeclared(Sound):
    explains = False


class OwnSeed(Sound):
    @classmethod
    def _fit(cls, ratings, params, features, rng, progress):
        return cls._with(pairs=np.random.default_rng().random((ratings.n_items, ratings.n_items)))


class UnstoredAttribute(Sound):
    weight = 1.0

    @classmethod
    def _fit(cls, ratings, params, features, rng, progress):
        model = super()._fit(ratings, params, features, rng, progress)
        model.weight = 2.0
        return model

    def _score(self, user_items):
        return super()._score(user_items) * self.weight


class ScoringLearns(Sound):
    def _score(self, user_items):
        self.pairs *= 0.5
        return super()._score(user_items)


class ProgressFalls(Sound):
    @classmethod
    def _fit(cls, ratings, params, features, rng, progress):
        progress(0.9, "Nearly there")
        return super()._fit(ratings, params, features, rng, progress)


class Unstoppable(Sound):
    @classmethod
    def _fit(cls, ratings, params, features, rng, progress):
        def deaf(share, what):
            with suppress(InterruptedError):
                progress(share, what)

        return super()._fit(ratings, params, features, rng, deaf)


class ListenerCounts(Sound):
    @classmethod
    def _fit(cls, ratings, params, features, rng, progress):
        model = super()._fit(ratings, params, features, rng, progress)
        model.pairs += progress is no_progress
        return model


FAULTS = {
    "class_attributes_are_complete": [(KeyWithSpaces, "not in lower case")],
    "wrong_parameters_are_refused": [(UncheckedParameters, "expected for damping=None; none was raised")],
    "parameters_beyond_the_data_are_refused": [
        (UnlimitedFactors, "limits has no entry for factors"), (IgnoredLimit, "expected for factors=11"),
    ],
    "wrong_inputs_are_refused": [(AnyProfile, "expected for profiles over other items")],
    "wrong_requests_for_explanations_are_refused": [(AnyExplanation, "expected for six profiles")],
    "memory_estimate_grows_with_the_data": [(ConstantMemory, "does not grow")],
    "scores_are_numbers": [(NotANumber, "A score is NaN")],
    "tastes_are_learned": [(WorstFirst, "likes items of the same parity")],
    "unrated_item_has_no_score": [(EverythingScored, "without ratings has a score")],
    "empty_profile_has_no_score": [(EmptyProfileScored, "An empty profile has scores")],
    "profile_of_unknown_items_has_no_score": [(UnknownItemsScored, "items without information has scores")],
    "one_user_and_one_item_are_enough": [(DroppedDimension, r"have the shape \(2,\)")],
    "equal_ratings_give_numbers": [(Standardised, "NaN if all ratings are equal")],
    "profiles_are_independent": [(CentredOnTheBatch, "other scores alone")],
    "new_user_is_scored_as_a_training_user": [(BoundToRows, "Scores depend on the row")],
    "other_scales_are_mapped": [(OtherScaleIgnored, "change with the profile's scale")],
    "lists_exclude_rated_items": [(RatedItemsListed, "has rated items"), (UnsortedList, "by its scores it is")],
    "numbering_does_not_matter": [(OrderedByNumber, "depend on the numbering")],
    # Classes that ask for items or an order: tests/recommenders/test_optional_inputs.py.
    "renamed_items_give_the_same_lists": [],
    "profiles_without_times_are_scored": [],
    "profiles_with_times_are_independent": [],
    "explanations_add_up": [
        (WrongExplanation, "the explanation makes 10"), (ExplanationPromised, "explains no score"),
        (ExplanationUndeclared, "does not set explains"),
    ],
    "same_seed_gives_the_same_model": [(OwnSeed, "same seed differ in pairs")],
    "stored_model_has_the_same_scores": [(UnstoredAttribute, "loaded model has other scores")],
    "inputs_are_not_changed": [(ScoringLearns, "Scoring changed the model")],
    "progress_rises_to_one": [(ProgressFalls, "The progress falls")],
    "progress_can_stop_the_fit": [(Unstoppable, "expected for a fit whose progress was interrupted")],
    "listening_changes_nothing": [(ListenerCounts, "depends on who listens")],
}  # fmt: skip


def test_a_sound_algorithm_passes_every_check() -> None:
    check_algorithm(Sound)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_check_finds_its_faults(check) -> None:
    for broken, words in FAULTS[check.__name__]:
        with pytest.raises(AssertionError, match=words):
            check(Trial(broken))


def test_all_problems_are_said_with_the_names_of_their_checks() -> None:
    with pytest.raises(AssertionError) as caught:
        check_algorithm(OrderedByNumber)
    heading, *problems = [line for line in str(caught.value).splitlines() if line.startswith(("CoLiked", "- "))]
    assert heading == f"CoLiked fails 2 of {len(CHECKS)} checks:"
    assert [line.split(":")[0] for line in problems] == ["- numbering_does_not_matter", "- explanations_add_up"]
    assert "Scores depend on the numbering" in str(caught.value.__cause__)
