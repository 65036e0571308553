"""The contract of every algorithm: fit on ratings, store plain arrays, score any profile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import metadata
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders.data import Flags, Floats, Integers, ItemFeatures, Profiles, Ratings, Scale
from recommenders.data_limits import Limit, TrainingSize, rank_limit
from recommenders.explanation import Explanation
from recommenders.items import ITEM_FIELDS, NO_ITEMS
from recommenders.parameters import Parameters, labelled
from recommenders.progress import Progress, no_progress
from recommenders.ranking import TopN, top_n

TitleWords = Literal["never", "alone", "add"]


class Algorithm(ABC):
    """A fitted model; its class is the algorithm.

    A subclass sets the class attributes, stores what it learns in the arrays named by `arrays`, and implements `_fit`
    and `_score`. Checks, scales and storage are shared and live here. Every argument `params` is an instance of the
    class's own ``Params``.
    """

    key: ClassVar[str]  # name in commands, forms and recipes; lower case, never changed once models exist
    name: ClassVar[str]  # short name printed in tables
    title: ClassVar[str]  # name with a short explanation, for forms
    # Incremented whenever the same inputs would give another model, so that stored models are not reused.
    version: ClassVar[int]
    Params: ClassVar[type[Parameters]]  # frozen dataclass of the parameters
    needs_features: ClassVar[bool] = False  # whether `fit` requires item features
    # What `Ratings.items` and `items` of the model have, of `recommenders.items.ITEM_FIELDS`; part of the recipe.
    item_fields: ClassVar[frozenset[str]] = frozenset()
    needs_times: ClassVar[bool] = False  # whether `fit` requires times of ratings; then they are part of the recipe
    # Whether scores are predicted ratings on the training scale (not clipped to it, so that they stay distinct for
    # ranking) or only an order.
    score_kind: ClassVar[Literal["rating", "order"]]
    # Whether `explain` can decompose a score by the profile's ratings; such a subclass implements `_explain`.
    explains: ClassVar[bool] = False
    # False for algorithms that read an upload instead: they are not offered where something is to be fitted.
    is_fitted: ClassVar[bool] = True
    # True where only the first items of lists are known, and not for every profile: lists that were made elsewhere.
    is_partial: ClassVar[bool] = False
    # What `Profiles.context` tells of participants beside their language: "participant", the id in exports.
    context_fields: ClassVar[frozenset[str]] = frozenset()
    # The parameter that cannot exceed the smaller side of the ratings, if any.
    rank_parameter: ClassVar[str | None] = None
    # Whether a fit takes many passes over the ratings, and so longer than most others: a run starts these first.
    is_slow: ClassVar[bool] = False
    # Attributes of the model that `state` saves besides the popularity; of one dimension at least.
    arrays: ClassVar[tuple[str, ...]]
    # Distributions (names in the package index) whose code learns the model; their installed versions are part of its
    # recipe.
    libraries: ClassVar[tuple[str, ...]] = ()
    # Modules that `fit` imports and that take long to load or compile: loaded before a fit is timed.
    preloaded: ClassVar[tuple[str, ...]] = ()
    # False where scores do not depend on the profile: every profile has the same scores, an empty one too.
    asks_profile: ClassVar[bool] = True
    # True where the numbering of users and items changes the model, because ratings are visited or random numbers are
    # drawn in that order.
    asks_numbers: ClassVar[bool] = False
    # Parameters for data of a dozen users and ten items, where the defaults need more; `recommenders.testing` fits the
    # algorithm with them.
    small: ClassVar[Mapping[str, bool | int | float | str]] = {}

    # Passes over the ratings, where the fit itself chose their number. Not stored: None for a loaded model.
    n_epochs: int | None = None
    # The parameters this model was fitted with.
    params: Any  # each subclass narrows it to its own Params
    scale: Scale  # the scale of the training ratings
    # Shape (n_items,); number of training ratings of each item; orders equal scores and fills short lists.
    popularity: Integers
    # `recommenders.items.Items` of a class that asks for item fields; not stored: set when a model is loaded. Other
    # classes may have an array of that name.
    items: Any = NO_ITEMS

    @classmethod
    def label(cls, params: Parameters) -> str:
        """Name printed in tables: the short name, followed by every parameter that differs from its default."""
        return labelled(cls.name, params.changed())

    @classmethod
    def library_versions(cls) -> dict[str, str]:
        """Installed version of each distribution in `libraries`."""
        return {name: metadata.version(name) for name in cls.libraries}

    @classmethod
    def fit(
        cls,
        ratings: Ratings,
        params: Parameters | None = None,
        *,
        features: ItemFeatures | None = None,
        rng: np.random.Generator,
        progress: Progress = no_progress,
    ) -> Self:
        """Learn a model from ratings.

        Raises ParameterError when the parameters are those of another algorithm, or impossible for data of this size.
        Raises DataError when there is no rating, features are missing or belong to other items, or item fields or times
        that the class asks for are missing.

        `features`: features of the same items; required if `needs_features`, ignored otherwise. `rng`: the only source
        of randomness: the same inputs and an equally seeded generator give the same bytes on the same machine type with
        the same number of numeric threads. `progress`: see `recommenders.progress`; an exception it raises
        stops the fit. It is called every second or two, except during a single call of a library (an eigenvalue
        problem, an inverse).
        """
        chosen = cls.Params() if params is None else params
        if not isinstance(chosen, cls.Params):
            raise ParameterError(f"{cls.name} takes its own parameters; got {type(chosen).__qualname__}.")
        if ratings.n_ratings == 0:
            raise DataError(f"{cls.name} cannot be fitted: the training data contain no ratings.")
        if features is not None and features.n_items != ratings.n_items:
            raise DataError(
                f"The features describe {features.n_items} items, but the ratings are of {ratings.n_items}."
            )
        if missing := cls.item_fields - ratings.items.fields:
            raise DataError(
                f"{cls.name} asks for the item fields {', '.join(sorted(missing))}, which these ratings do not have; "
                f"there are {', '.join(sorted(ITEM_FIELDS))}."
            )
        # Runs have checked before, but `fit` may be called without one.
        has_counts, has_times = ratings.counts is not None, ratings.times is not None
        cls.check(chosen, TrainingSize(ratings.n_users, ratings.n_items, features, has_counts, has_times))
        progress(0.0, f"Fitting {cls.name}")
        model = cls._fit(ratings, chosen, features, rng, progress)
        model.params, model.scale, model.popularity = chosen, ratings.scale, ratings.item_counts
        if cls.item_fields:
            model.items = ratings.items
        progress(1.0, f"Fitted {cls.name}")
        return model

    @classmethod
    def limits(cls, size: TrainingSize) -> Mapping[str, Limit]:
        """The largest possible value of each parameter that is limited by the size of the data, by parameter name.

        Before a run starts, a default above its limit is lowered to it and an explicit value above it is refused.
        """
        return {} if cls.rank_parameter is None else rank_limit(size, cls.rank_parameter)

    @classmethod
    def check(cls, params: Any, size: TrainingSize) -> None:
        """Refuse parameters or data with which `fit` cannot succeed, before anything is learned.

        An algorithm with other requirements extends this method. It must be cheap: it is called before each run as well
        as by `fit`. Raises ParameterError when a parameter exceeds its limit. Raises DataError when the algorithm needs
        item features or times of ratings, and there are none.
        """
        if cls.needs_features and not size.has_content:
            raise DataError(
                f"{cls.name} ({cls.key}): the algorithm needs item features, and this dataset has none. Add "
                "them with the command add_metadata, or omit the algorithm."
            )
        if cls.needs_times and not size.has_times:
            raise DataError(
                f"{cls.name} ({cls.key}): the algorithm needs the time of each rating, and this dataset has none. "
                "Import it with a time column, or omit the algorithm."
            )
        for name, limit in cls.limits(size).items():
            value = getattr(params, name)
            if value > limit.largest:
                raise ParameterError(
                    f"{cls.name} ({cls.key}): {name}={value} is more than the data can have; the largest possible "
                    f"value is {limit.largest}, {limit.formula}."
                )

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Any, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """Estimate the peak memory of `fit`, beyond the ratings and features themselves.

        Each algorithm adds up its own allocations; the default is two copies of the ratings. `n_terms`, `n_item_terms`:
        different terms of the item features, and stored counts of them; 0 where they are not used. Returns bytes, > 0;
        intended to be between 0.9 and 3 times the actual peak. Algorithms on binary data count every rating as
        positive, and pairs of items are estimated from the popularity distribution of films; on other data the estimate
        may be further off.
        """
        return 48 * n_ratings + 16 * (n_users + n_items)

    def score(self, profiles: Profiles) -> Floats:
        """Score every item for every profile.

        Rows are independent: a profile scored alone and in a batch has the same scores up to the last bits, which the
        shape of a matrix product may change. Raises DataError when the profiles are over another number of items, or on
        a scale that cannot be mapped.

        `profiles`: profiles over the same items; ratings on another scale are mapped to that of the training data.
        Returns a float64 array, shape (n_profiles, n_items): higher is better; -inf where the model has no information
        on the item or the profile; never NaN. Items of the profile are scored too; the ranking excludes them.
        """
        if profiles.n_items != self.n_items:
            raise DataError(
                f"The profiles are over {profiles.n_items} items, but the model was fitted on {self.n_items}."
            )
        # Mapped to the training scale: a participant's stars and the dataset's points need not be the same steps.
        return self._score_profiles(profiles.on(self.scale))

    @classmethod
    def reads_order(cls) -> bool:
        """Whether scores depend on more of a profile than its ratings: the class has a `_score_profiles` of its own."""
        return cls._score_profiles is not Algorithm._score_profiles

    def explain(self, profile: Profiles, items: ArrayLike) -> tuple[Explanation | None, ...]:
        """Decompose the scores of some items into contributions of the profile's ratings.

        Returns one explanation per item; its parts add up to the model's score within 1e-9 (relative for large scores).
        None where the item has no score, and for algorithms that do not explain scores by the profile's ratings. Raises
        DataError: as `score`; or there is not exactly one profile, or an item number does not exist.
        """
        if profile.n_profiles != 1:
            raise DataError(f"One profile at a time can be explained; got {profile.n_profiles}.")
        requested = np.asarray(items, dtype=np.int64)
        is_out = (requested < 0) | (requested >= self.n_items)
        if is_out.any():
            raise DataError(
                f"There is no item number {requested[is_out][0]}: numbers run from 0 to {self.n_items - 1}."
            )
        # An explanation adds up to the score that is shown, so the score decides whether there is anything to explain.
        scores = self.score(profile)[0]
        user_items = profile.on(self.scale).user_items
        return tuple(self._explain(user_items, int(item)) if np.isfinite(scores[item]) else None for item in requested)

    def answer(self, items: ArrayLike, ratings: ArrayLike, scale: Scale, n: int) -> TopN:
        """The recommendation list for one profile: `top_n` of its scores, which a subclass may compute faster.

        `items`, `ratings`: arrays, shape (n_rated,); the profile, in any order. Raises ParameterError or DataError: as
        `Profiles.single`, `score` and `top_n`.
        """
        return self.answer_profile(Profiles.single(items, ratings, self.n_items, scale), n)

    def answer_profile(self, profile: Profiles, n: int) -> TopN:
        """As `answer`, for one profile that may have an order, times and a context."""
        return top_n(self.score(profile)[0], self.popularity, profile.user_items.indices, n)

    def state(self) -> dict[str, NDArray[Any]]:
        """The model as plain arrays: `popularity` and those named by `arrays`; `params` and `scale` complete it."""
        return {"popularity": self.popularity} | {name: getattr(self, name) for name in self.arrays}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], params: Parameters, scale: Scale) -> Self:
        """Restore a model from the arrays of `state`; its scores are those of the stored model, to the bit.

        The arrays are not copied and may be read-only memory maps. Raises ParameterError when the parameters are those
        of another algorithm. Raises DataError when an array is missing, or the algorithm has no array of that name.
        """
        if not isinstance(params, cls.Params):
            raise ParameterError(f"{cls.name} takes its own parameters; got {type(params).__qualname__}.")
        expected = {"popularity", *cls.arrays}
        if set(arrays) != expected:
            raise DataError(
                f"A stored {cls.name} model has the arrays {', '.join(sorted(expected))}; "
                f"these are {', '.join(sorted(arrays)) or 'none'}."
            )
        model = cls.__new__(cls)
        model.params, model.scale = params, scale
        for name in expected:
            # A plain view: a memmap's subclass would spread through every later computation.
            setattr(model, name, np.asarray(arrays[name]).view(np.ndarray))
        return model

    @classmethod
    def uses_features(cls, params: Any) -> bool:
        """Whether `fit` uses item features with these parameters; if so, they are part of the recipe."""
        return cls.needs_features

    @classmethod
    def title_words(cls, params: Any) -> TitleWords:
        """When the item features that `fit` gets contain the words of titles (kind ``"title"``): never, where no other
        feature describes the items (alone), or beside the others (add).
        """
        return "alone" if cls.needs_features else "never"

    @property
    def n_items(self) -> int:
        """Number of items of the catalogue."""
        return int(self.popularity.shape[0])

    @classmethod
    @abstractmethod
    def _fit(
        cls, ratings: Ratings, params: Any, features: ItemFeatures | None, rng: np.random.Generator, progress: Progress
    ) -> Self:
        """Learn the arrays named by `arrays` from checked inputs.

        The caller sets the common attributes and reports the start and the end of the progress.
        """

    @abstractmethod
    def _score(self, user_items: sparse.csr_array) -> Floats:
        """Score profiles whose ratings are on the training scale."""

    def _score_profiles(self, profiles: Profiles) -> Floats:
        """Score profiles on the training scale by their order, times or context too, each of which may be None."""
        return self._score(profiles.user_items)

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation | None:
        """Decompose the score of one item for one profile on the training scale; None where that is impossible."""
        return None

    @classmethod
    def _with(cls, **arrays: NDArray[Any]) -> Self:
        model = cls.__new__(cls)
        for name, array in arrays.items():
            setattr(model, name, array)
        return model

    def _silence(self, scores: Floats, user_items: sparse.csr_array, is_known: Flags | None = None) -> Floats:
        """Set to -inf, in place, unknown items and profiles without a known one; unless told, those rated are known."""
        is_known = self.popularity > 0 if is_known is None else is_known
        # Below every number, so that items without information come last and are counted as filled by popularity.
        scores[:, ~is_known] = -np.inf
        scores[np.asarray(user_items @ is_known.astype(np.float64)) == 0] = -np.inf
        return scores
