"""Expected utility: how likely an item is taken, times what it is worth if it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders.association import ItemItem
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Profiles, Ratings
from recommenders.data_limits import TrainingSize
from recommenders.explanation import Explanation
from recommenders.parameters import Parameters, parameter
from recommenders.progress import Progress
from recommenders.scale import Scale

__all__ = ["UTILITY_KIND", "ExpectedUtility", "with_utilities"]

# The kind of item feature that holds a given table of utilities: one term, its count the utility.
UTILITY_KIND = "utility"
# The arrays of the model that scores are saved among this one's under their names after this word.
SCORER = "scorer_"


class ExpectedUtility(Algorithm):
    r"""Another algorithm's scores, read as probabilities, times what each item is worth.

    .. math:: E[j \mid a] = \tilde{\mathrm{pr}}(j \mid a) \cdot \tilde u(j)

    The probability is the score divided by its highest possible value: the top of the scale for predicted
    ratings, 1 for conditional probabilities, the number of the profile's likes for a sum of these; for a
    scorer without such a bound, the highest score it gives to this profile. Scores below 0 count as 0.

    The utility of an item is the mean of its training ratings (with ratings that are amounts, such as the
    price paid, its mean utility), or is given: as item features of kind ``"utility"``, which may have one term
    only. An item without a utility has no score, nor has one that the scorer has none for.

    References
    ----------
    Gunawardana & Shani (2009), JMLR 10:2935-2962, sections 6.2.4 and 6.3.2. The highest score of the profile
    as divisor is ours; it changes no list.

    Examples
    --------
    Items 1 and 2 are equally likely after item 0, but 2 was rated higher.

    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> users, items, values = [0, 0, 1, 1], [0, 1, 0, 2], [4, 4, 4, 5]
    >>> ratings = Ratings.from_triples(users, items, values, n_users=2, n_items=3, scale=scale)
    >>> model = ExpectedUtility.fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.one([0], [5], n_items=3, scale=scale)).tolist()
    [[-inf, 2.0, 2.5]]
    """

    key = "expected-utility"
    name = "ExpUtility"
    title = "Expected utility (ExpUtility)"
    version = 1
    score_kind = "order"
    explains = True  # where its scorer does
    arrays = ("utility",)

    @dataclass(frozen=True)
    class Params(Parameters):
        """Parameters of `ExpectedUtility`."""

        scorer: str = parameter(
            "itemitem",
            description=(
                "The algorithm that tells how likely an item is taken: its key, options after a colon, "
                "separated by semicolons."
            ),
        )
        utility: str = parameter(
            "ratings",
            description=(
                "What an item is worth: the mean of its training ratings, or what a given table says (item "
                "features of kind utility)."
            ),
            choices=("ratings", "given"),
        )

    params: Params
    utility: NDArray[np.float64]  # shape (n_items,), 0 where there is none
    scorer: Algorithm

    @classmethod
    def check(cls, params: Any, size: TrainingSize) -> None:
        """Refuse what the scorer refuses, and a given table of utilities that is not there."""
        super().check(params, size)
        found, scorer_params = _scorer(params)
        found.check(scorer_params, size)
        if params.utility == "given":
            _given(size.features)

    @classmethod
    def _fit(
        cls,
        ratings: Ratings,
        params: Params,
        features: ItemFeatures | None,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Self:
        found, scorer_params = _scorer(params)
        utility = _mean_ratings(ratings) if params.utility == "ratings" else _given(features)
        model = cls._with(utility=utility)
        model.scorer = found.fit(ratings, scorer_params, features=features, rng=rng, progress=progress)
        return model

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Any, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """The utilities, and what the scorer takes."""
        found, scorer_params = _scorer(params)
        of_scorer = found.fit_bytes(
            n_users, n_items, n_ratings, scorer_params, n_terms=n_terms, n_item_terms=n_item_terms
        )
        return of_scorer + 24 * n_items

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        scores = self.scorer.score(Profiles(user_items, self.scale))
        divisors = _highest(self.scorer, user_items, scores)
        has_score = np.isfinite(scores) & (self.utility > 0)
        probabilities = np.maximum(scores, 0.0) / divisors[:, np.newaxis]
        return np.where(has_score, probabilities * self.utility, -np.inf)

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation | None:
        """Return the scorer's explanation times the item's utility over the divisor.

        None where that is not true: the scorer has no answer, its score is below 0 and counted as 0, or its parts
        combine by noisy-or, which multiplied through is none.
        """
        profile = Profiles(user_items, self.scale)
        (of_scorer,) = self.scorer.explain(profile, [item])
        scores = self.scorer.score(profile)
        if of_scorer is None or of_scorer.how == "noisy-or" or scores[0, item] < 0:
            return None
        worth = float(self.utility[item] / _highest(self.scorer, user_items, scores)[0])
        return Explanation(of_scorer.items, of_scorer.contributions * worth, of_scorer.offset * worth, of_scorer.how)

    def state(self) -> dict[str, NDArray[Any]]:
        """The model as plain arrays: its own, and those of the scorer under their names after ``scorer_``."""
        return super().state() | {f"{SCORER}{name}": getattr(self.scorer, name) for name in self.scorer.arrays}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], params: Parameters, scale: Scale) -> Self:
        """The model from its arrays, which may be read-only memory maps; they are not copied.

        Raises
        ------
        ParameterError
            If the parameters are those of another algorithm.
        DataError
            If an array is missing or one is there that this algorithm or its scorer does not have.
        """
        if not isinstance(params, cls.Params):
            raise ParameterError(f"{cls.name} takes its own parameters; got {type(params).__qualname__}.")
        found, scorer_params = _scorer(params)
        expected = {"popularity", *cls.arrays, *(f"{SCORER}{name}" for name in found.arrays)}
        if set(arrays) != expected:
            raise DataError(
                f"A stored {cls.name} model over {found.name} has the arrays {', '.join(sorted(expected))}; "
                f"these are {', '.join(sorted(arrays)) or 'none'}."
            )
        model = super().from_state({name: arrays[name] for name in ("popularity", *cls.arrays)}, params, scale)
        of_scorer = {name: arrays[f"{SCORER}{name}"] for name in found.arrays} | {"popularity": arrays["popularity"]}
        model.scorer = found.from_state(of_scorer, scorer_params, scale)
        return model

    @classmethod
    def takes_features(cls, params: Params) -> bool:
        """Where the table of utilities is given, or the scorer takes features."""
        found, scorer_params = _scorer(params)
        return params.utility == "given" or found.takes_features(scorer_params)


def with_utilities(features: ItemFeatures, utilities: NDArray[np.float64]) -> ItemFeatures:
    """Features with this table of utilities in the place of the one they have, if any.

    Parameters
    ----------
    features : ItemFeatures
    utilities : float64 array, shape (n_items,)
        What each item is worth; one that is not above 0 has no utility.

    Returns
    -------
    ItemFeatures
        The table is the last column, of kind ``"utility"``.

    Examples
    --------
    >>> features = ItemFeatures(sparse.csr_array(np.array([[1.0], [1.0]])), (("genre", "Comedy"),))
    >>> with_utilities(features, np.array([2.5, 0.0])).item_terms.toarray().tolist()
    [[1.0, 2.5], [1.0, 0.0]]
    """
    kept = [at for at, (kind, _) in enumerate(features.terms) if kind != UTILITY_KIND]
    column = sparse.csr_array(np.maximum(utilities, 0.0)[:, np.newaxis])
    matrix = sparse.hstack([features.item_terms[:, kept], column], format="csr")
    return ItemFeatures(sparse.csr_array(matrix), (*(features.terms[at] for at in kept), (UTILITY_KIND, "given")))


def _scorer(params: ExpectedUtility.Params) -> tuple[type[Algorithm], Parameters]:
    """Return the algorithm that scores and its parameters.

    The registry imports this module, so it is asked for at the moment of use.
    """
    registry = import_module("recommenders.registry")
    key, scorer_params = registry.parse(params.scorer.replace(";", ","))
    found = registry.algorithm(key)
    if issubclass(found, ExpectedUtility):
        raise ParameterError("The scorer of expected utilities cannot be another expected utility.")
    return cast(type[Algorithm], found), cast(Parameters, scorer_params)


def _mean_ratings(ratings: Ratings) -> NDArray[np.float64]:
    """Return each item's mean rating, 0 for items nobody rated."""
    user_items = ratings.user_items
    sums = np.bincount(user_items.indices, weights=user_items.data.astype(np.float64), minlength=ratings.n_items)
    return np.asarray(sums / np.maximum(ratings.item_counts, 1))


def _given(features: ItemFeatures | None) -> NDArray[np.float64]:
    """Return the table of utilities among the features, 0 for items without one."""
    columns = [] if features is None else [at for at, (kind, _) in enumerate(features.terms) if kind == UTILITY_KIND]
    if features is None or len(columns) != 1:
        raise DataError(
            f"ExpUtility (expected-utility): a given table of utilities is one item feature of kind {UTILITY_KIND}; "
            f"these data have {len(columns)}. Add the table to the features, or take the mean rating."
        )
    return np.asarray(features.item_terms[:, columns].toarray()[:, 0].astype(np.float64))


def _highest(scorer: Algorithm, user_items: sparse.csr_array, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each profile's scores are divided by, > 0."""
    if scorer.score_kind == "rating":
        return np.full(scores.shape[0], scorer.scale.high)
    if isinstance(scorer, ItemItem):
        return np.maximum(scorer.highest(user_items), 1.0)  # a profile that likes nothing has no score to divide
    highest = scores.max(axis=1, initial=0.0)
    return np.asarray(np.where(highest > 0, highest, 1.0))
