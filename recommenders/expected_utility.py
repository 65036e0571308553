"""Expected utility: the probability that an item is chosen, times its utility."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders.association import ItemItem
from recommenders.base import Algorithm, TitleWords
from recommenders.data import Floats, ItemFeatures, Profiles, Ratings
from recommenders.data_limits import TrainingSize
from recommenders.explanation import Explanation
from recommenders.parameters import Parameters, parameter
from recommenders.progress import Progress
from recommenders.scale import Scale

# The kind of item feature that holds a table of utilities: a single term, whose count is the utility.
UTILITY_KIND = "utility"
# The scorer's arrays are stored with this model's, under their names with this prefix.
SCORER = "scorer_"


class ExpectedUtility(Algorithm):
    r"""Another algorithm's scores, read as probabilities, times the utility of each item.

    The algorithm is the scorer; `recommenders.registry`, which knows every algorithm, supplies it (`find_scorer`).

    .. math:: E[j \mid a] = \tilde{\mathrm{pr}}(j \mid a) \cdot \tilde u(j)

    The probability is the score divided by its highest possible value: the top of the scale for predicted
    ratings, 1 for conditional probabilities, the number of the profile's likes for a sum of these; for a
    scorer without such a bound, the highest score it gives to this profile. Scores below 0 count as 0.

    The utility of an item is the mean of its training ratings (where ratings are amounts such as the price paid, this
    is the mean amount), or comes from a table: item features of kind ``"utility"`` with a single term. Items without a
    utility, and items without a score by the scorer, have no score. Sources: Gunawardana & Shani (2009), JMLR
    10:2935-2962, sections 6.2.4 and 6.3.2. Dividing by the highest score of the profile is our addition; it changes no
    list.

    Cost: that of the scorer; the utilities add one pass over the ratings.

    Examples
    --------
    Items 1 and 2 are equally likely after item 0, but 2 was rated higher.

    >>> from recommenders.data import Profiles, Scale
    >>> from recommenders.registry import algorithm
    >>> scale = Scale(1, 5, 1)
    >>> users, items, values = [0, 0, 1, 1], [0, 1, 0, 2], [4, 4, 4, 5]
    >>> ratings = Ratings.from_triples(users, items, values, n_users=2, n_items=3, scale=scale)
    >>> model = algorithm("expected-utility").fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [5], n_items=3, scale=scale)).tolist()
    [[-inf, 2.0, 2.5]]
    """

    key = "expected-utility"
    name = "ExpUtility"
    title = "Expected utility (ExpUtility)"
    version = 1
    score_kind = "order"
    explains = True  # where its scorer does
    arrays = ("utility",)
    preloaded = ("recommenders.kernels.association", "recommenders.kernels.products")  # of the default scorer

    @dataclass(frozen=True)
    class Params(Parameters):
        scorer: str = parameter(
            "itemitem",
            description=(
                "The algorithm whose scores are read as probabilities: its key, then a colon and its options, "
                "separated by semicolons."
            ),
        )
        utility: str = parameter(
            "ratings",
            description=(
                "The utility of an item: the mean of its training ratings, or its value in a table (item "
                "features of kind utility)."
            ),
            choices=("ratings", "given"),
        )

    params: Params
    utility: Floats  # shape (n_items,), 0 where there is none
    scorer: Algorithm

    @classmethod
    @abstractmethod
    def find_scorer(cls, specification: str) -> tuple[type[Algorithm], Parameters]:
        """Find the scorer and its parameters. `specification` has the form that `recommenders.registry.parse` reads.
        Raises ParameterError when there is no such algorithm or option.
        """

    @classmethod
    def _scorer(cls, params: Params) -> tuple[type[Algorithm], Parameters]:
        scorer, scorer_params = cls.find_scorer(params.scorer.replace(";", ","))
        # It would multiply by the utility twice, and could name itself without end.
        if issubclass(scorer, ExpectedUtility):
            raise ParameterError("The scorer of expected utilities cannot be another expected utility.")
        if scorer.item_fields or scorer.needs_times or scorer.reads_order():
            raise ParameterError(
                f"{scorer.name} ({scorer.key}) cannot be the scorer of expected utilities, which has ratings and item "
                "features alone: it asks for item fields, times or the order of profiles."
            )
        return scorer, scorer_params

    @classmethod
    def check(cls, params: Any, size: TrainingSize) -> None:
        """Refuse what the scorer refuses, and a missing table of utilities."""
        super().check(params, size)
        scorer, scorer_params = cls._scorer(params)
        scorer.check(scorer_params, size)
        if params.utility == "given":
            _table_of(size.features)

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        scorer, scorer_params = cls._scorer(params)
        if params.utility == "ratings":
            rated, values = ratings.user_items.indices, ratings.user_items.data.astype(np.float64)
            sums = np.bincount(rated, weights=values, minlength=ratings.n_items)
            model = cls._with(utility=sums / np.maximum(ratings.item_counts, 1))
        else:
            model = cls._with(utility=_table_of(features))
        model.scorer = scorer.fit(ratings, scorer_params, features=features, rng=rng, progress=progress)
        return model

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Any, **terms: int) -> int:
        """The utilities, and what the scorer takes."""
        scorer, scorer_params = cls._scorer(params)
        return scorer.fit_bytes(n_users, n_items, n_ratings, scorer_params, **terms) + 24 * n_items

    def _score(self, user_items: sparse.csr_array) -> Floats:
        scores = self.scorer.score(Profiles(user_items, self.scale))
        divisors = _highest(self.scorer, user_items, scores)
        has_score = np.isfinite(scores) & (self.utility > 0)
        probabilities = np.maximum(scores, 0.0) / divisors[:, np.newaxis]
        return np.where(has_score, probabilities * self.utility, -np.inf)

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation | None:
        """Return the scorer's explanation times the item's utility over the divisor.

        None where that does not hold: the scorer has no explanation, its score is below 0 and counts as 0, or its
        parts combine by noisy-or, which multiplication does not preserve.
        """
        profile = Profiles(user_items, self.scale)
        (explained,) = self.scorer.explain(profile, [item])
        scores = self.scorer.score(profile)
        if explained is None or explained.how == "noisy-or" or scores[0, item] < 0:
            return None
        factor = float(self.utility[item] / _highest(self.scorer, user_items, scores)[0])
        return Explanation(explained.items, explained.contributions * factor, explained.offset * factor, explained.how)

    def state(self) -> dict[str, NDArray[Any]]:
        """The model as plain arrays: its own, and those of the scorer under their names after ``scorer_``."""
        return super().state() | {f"{SCORER}{name}": getattr(self.scorer, name) for name in self.scorer.arrays}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], params: Parameters, scale: Scale) -> Self:
        """The model from its arrays, which may be read-only memory maps; they are not copied.

        Raises ParameterError if the parameters are those of another algorithm. Raises DataError if an array is missing
        or one is there that this algorithm or its scorer does not have.
        """
        if not isinstance(params, cls.Params):
            raise ParameterError(f"{cls.name} takes its own parameters; got {type(params).__qualname__}.")
        scorer, scorer_params = cls._scorer(params)
        expected = {"popularity", *cls.arrays, *(f"{SCORER}{name}" for name in scorer.arrays)}
        if set(arrays) != expected:
            raise DataError(
                f"A stored {cls.name} model over {scorer.name} has the arrays {', '.join(sorted(expected))}; "
                f"these are {', '.join(sorted(arrays)) or 'none'}."
            )
        model = super().from_state({name: arrays[name] for name in ("popularity", *cls.arrays)}, params, scale)
        scorer_arrays = {name: arrays[f"{SCORER}{name}"] for name in scorer.arrays} | {
            "popularity": arrays["popularity"]
        }
        model.scorer = scorer.from_state(scorer_arrays, scorer_params, scale)
        return model

    @classmethod
    def uses_features(cls, params: Params) -> bool:
        """Where the table of utilities is given, or the scorer takes features."""
        scorer, scorer_params = cls._scorer(params)
        return params.utility == "given" or scorer.uses_features(scorer_params)

    @classmethod
    def title_words(cls, params: Params) -> TitleWords:
        """As for the scorer."""
        scorer, scorer_params = cls._scorer(params)
        return scorer.title_words(scorer_params)


def with_utilities(features: ItemFeatures, utilities: Floats) -> ItemFeatures:
    """Features with this table of utilities, which replaces any they already have. The table is the last column, of
    kind ``"utility"``.

    `utilities`: float64 array, shape (n_items,); items whose utility is not above 0 have none.

    Examples
    --------
    >>> features = ItemFeatures(sparse.csr_array(np.array([[1.0], [1.0]])), (("genre", "Comedy"),))
    >>> with_utilities(features, np.array([2.5, 0.0])).item_terms.toarray().tolist()
    [[1.0, 2.5], [1.0, 0.0]]
    """
    other_columns = [at for at, (kind, _) in enumerate(features.terms) if kind != UTILITY_KIND]
    column = sparse.csr_array(np.maximum(utilities, 0.0)[:, np.newaxis])
    matrix = sparse.hstack([features.item_terms[:, other_columns], column], format="csr")
    return ItemFeatures(
        sparse.csr_array(matrix), (*(features.terms[at] for at in other_columns), (UTILITY_KIND, "given"))
    )


def _table_of(features: ItemFeatures | None) -> Floats:
    columns = [] if features is None else [at for at, (kind, _) in enumerate(features.terms) if kind == UTILITY_KIND]
    if features is None or len(columns) != 1:
        raise DataError(
            f"ExpUtility (expected-utility): utility=given needs one item feature of kind {UTILITY_KIND}; "
            f"these data have {len(columns)}. Add a table of utilities to the features, or use utility=ratings."
        )
    return np.asarray(features.item_terms[:, columns].toarray()[:, 0].astype(np.float64))


def _highest(scorer: Algorithm, user_items: sparse.csr_array, scores: Floats) -> Floats:
    if scorer.score_kind == "rating":
        # The same for all profiles, so that expected utilities of different people can be compared.
        return np.full(scores.shape[0], scorer.scale.high)
    if isinstance(scorer, ItemItem):
        return np.maximum(scorer.highest(user_items), 1.0)  # a profile that likes nothing has no score to divide
    highest = scores.max(axis=1, initial=0.0)
    return np.asarray(np.where(highest > 0, highest, 1.0))
