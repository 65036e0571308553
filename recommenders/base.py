"""The contract of every algorithm: fitted once on ratings, kept as plain arrays, scoring any profile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import metadata
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from recommenders.data_limits import Limit, TrainingSize
from recommenders.explanation import Explanation
from recommenders.parameters import Parameters, labelled
from recommenders.progress import Progress, silent
from recommenders.ranking import TopN, top_n

__all__ = ["Algorithm"]


class Algorithm(ABC):
    """A fitted model; its class is the algorithm.

    A subclass names itself by the class attributes, keeps what it learned in the arrays named by `arrays`,
    and writes `_fit` and `_score`. Everything else (checks, scales, saving) is here, the same for all.

    Attributes
    ----------
    key : str
        Name in commands, forms and recipes; lower case, never changed once models exist.
    name : str
        Short name printed in tables.
    title : str
        Name with a word of explanation, for forms.
    version : int
        Raised whenever the same inputs would give another model, so that stored ones are not reused.
    Params : type
        Frozen dataclass of the parameters.
    needs_features : bool
        Whether `fit` must be given item features.
    score_kind : {"rating", "order"}
        Whether scores are predicted ratings on the training scale (not clipped to it, so that they stay
        distinct for ranking) or only an order.
    explains : bool
        Whether `explain` can take a score apart by the profile's ratings. A subclass that sets it writes
        `_explain`.
    arrays : tuple of str
        Attributes of the model that `state` saves besides the popularity; of one dimension at least.
    libraries : tuple of str
        Distributions, by their names in the package index, whose own code learns the model: their installed
        versions are part of its recipe.
    asks_profile : bool
        False where a profile's content changes nothing: everybody gets the same scores, an empty profile too.
    asks_numbers : bool
        True where the numbering of users and items changes the model: ratings are visited in its order, or
        random numbers are dealt by it.
    small : mapping
        Parameters for data of a dozen users and ten items, where the defaults ask for more. The contract suite
        (``tests/recommenders/test_contract.py``) fits every algorithm of the registry with them.
    n_epochs : int or None
        Passes over the ratings that the model was made by, where the fit itself found out how many are best. Not
        saved: None for a model from its arrays.
    params : Parameters
        The parameters this model was fitted with.
    scale : Scale
        The scale of the training ratings.
    popularity : int64 array, shape (n_items,)
        Number of training ratings of each item. Part of every model, because equal scores are ordered by it
        and lists that come up short are filled by it.
    """

    key: ClassVar[str]
    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[int]
    Params: ClassVar[type[Parameters]]
    needs_features: ClassVar[bool] = False
    score_kind: ClassVar[Literal["rating", "order"]]
    explains: ClassVar[bool] = False
    arrays: ClassVar[tuple[str, ...]]
    libraries: ClassVar[tuple[str, ...]] = ()
    asks_profile: ClassVar[bool] = True
    asks_numbers: ClassVar[bool] = False
    small: ClassVar[Mapping[str, bool | int | float | str]] = {}

    n_epochs: int | None = None  # of a model just fitted, where a fit finds out itself how many are best
    params: Any  # each subclass narrows it to its own Params
    scale: Scale
    popularity: NDArray[np.int64]

    @classmethod
    def label(cls, params: Parameters) -> str:
        """Name printed in tables: the short name, followed by every parameter that is not at its default.

        Parameters
        ----------
        params : Parameters
            An instance of this class's ``Params``.

        Returns
        -------
        str
        """
        return labelled(cls.name, params.changed())

    @classmethod
    def library_versions(cls) -> dict[str, str]:
        """Installed version of each of `libraries`.

        Returns
        -------
        dict of str to str
            By distribution.
        """
        return {name: metadata.version(name) for name in cls.libraries}

    @classmethod
    def fit(
        cls,
        ratings: Ratings,
        params: Parameters | None = None,
        *,
        features: ItemFeatures | None = None,
        rng: np.random.Generator,
        progress: Progress = silent,
    ) -> Self:
        """Learn a model from ratings.

        Parameters
        ----------
        ratings : Ratings
            Training ratings, at least one.
        params : Parameters, optional
            An instance of this class's ``Params``; the defaults if left out.
        features : ItemFeatures, optional
            Features of the same items; needed where `needs_features` says so, ignored otherwise.
        rng : numpy.random.Generator
            The only source of randomness: the same inputs and an equally seeded generator give the same bytes
            on the same machine type with the same number of numeric threads.
        progress : callable, optional
            Told how far the fit is, as `recommenders.progress.Progress` says; what it raises stops the fit. At
            most a second or two pass between two calls, apart from what a library does in a single call
            (an eigenvalue problem, an inverse), which cannot be interrupted.

        Returns
        -------
        Algorithm
            The model.

        Raises
        ------
        ParameterError
            If the parameters are those of another algorithm, or impossible for data of this size.
        DataError
            If there is no rating, or features are missing or belong to other items.
        """
        chosen = cls.Params() if params is None else params
        if not isinstance(chosen, cls.Params):
            raise ParameterError(f"{cls.name} takes its own parameters; got {type(chosen).__qualname__}.")
        if ratings.n_ratings == 0:
            raise DataError(f"{cls.name} cannot be fitted: the training data hold not a single rating.")
        if features is not None and features.n_items != ratings.n_items:
            raise DataError(
                f"The features describe {features.n_items} items, but the ratings are of {ratings.n_items}."
            )
        cls.check(chosen, TrainingSize(ratings.n_users, ratings.n_items, features))
        progress(0.0, f"Fitting {cls.name}")
        model = cls._fit(ratings, chosen, features, rng, progress)
        model.params, model.scale, model.popularity = chosen, ratings.scale, ratings.item_counts
        progress(1.0, f"Fitted {cls.name}")
        return model

    @classmethod
    def limits(cls, size: TrainingSize) -> Mapping[str, Limit]:
        """The largest possible value of each parameter that is limited by the size of the data.

        A default above its limit is lowered to it before a run starts; a value that was given is refused.

        Parameters
        ----------
        size : TrainingSize

        Returns
        -------
        mapping of str to Limit
            By the parameter's name; empty where no parameter depends on the data.
        """
        return {}

    @classmethod
    def check(cls, params: Any, size: TrainingSize) -> None:
        """Refuse, before anything is learned, parameters or data with which `fit` cannot succeed.

        An algorithm with other demands on its data extends this; it must be cheap, because it is called before each
        run starts as well as by `fit`.

        Parameters
        ----------
        params : Parameters
            An instance of this class's ``Params``.
        size : TrainingSize
            Of the data to be fitted on.

        Raises
        ------
        ParameterError
            A parameter exceeds its limit: the message names the algorithm, the value and the largest possible value.
        DataError
            The algorithm needs item features, and there are none.
        """
        if cls.needs_features and not size.has_content:
            raise DataError(
                f"{cls.name} ({cls.key}): the algorithm needs item features, and this dataset has none. Add "
                "them with the command add_metadata, or leave the algorithm out."
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
        """Estimate the memory that `fit` takes at its peak, beyond the ratings and features themselves.

        Each algorithm says what it allocates; without a word of its own it is taken to copy the ratings twice.

        Parameters
        ----------
        n_users, n_items, n_ratings : int
            The size of the training ratings.
        params : Parameters
            An instance of this class's ``Params``.
        n_terms, n_item_terms : int
            Different terms of the item features, and stored counts of them; 0 where they are not used.

        Returns
        -------
        int
            Bytes, > 0, meant to be between 0.9 and 3 times what is really taken. Algorithms on binary data are
            taken to find every rating positive, and pairs of items are counted as where popularity is spread as
            that of films is; on other data those estimates may be further off.
        """
        return 48 * n_ratings + 16 * (n_users + n_items)

    def score(self, profiles: Profiles) -> NDArray[np.float64]:
        """Score every item for every profile.

        Rows do not depend on each other: a profile scored alone and in a batch gets the same scores up to the
        last bits, which the shape of a matrix product may change.

        Parameters
        ----------
        profiles : Profiles
            Profiles over the same items; ratings on another scale are mapped to that of the training data.

        Returns
        -------
        float64 array, shape (n_profiles, n_items)
            Higher is better; -inf where the model knows nothing of the item or the profile; never NaN.
            Items of the profile have whatever score falls out: it is the ranking that leaves them out.

        Raises
        ------
        DataError
            If the profiles are over another number of items, or on a scale that cannot be mapped.
        """
        if profiles.n_items != self.n_items:
            raise DataError(
                f"The profiles are over {profiles.n_items} items, but the model was fitted on {self.n_items}."
            )
        return self._score(profiles.on(self.scale).user_items)

    def explain(self, profile: Profiles, items: ArrayLike) -> tuple[Explanation | None, ...]:
        """Tell what each of the profile's ratings did to the scores of some items.

        Parameters
        ----------
        profile : Profiles
            A single profile, as for `score`.
        items : int array, shape (n,)
            Items whose scores are to be explained.

        Returns
        -------
        tuple of Explanation or None
            One for each item: its parts make the model's score to 1e-9 (relative to it where it is large). None
            where the item has no score, and throughout where the algorithm has no answer in terms of the
            profile's ratings.

        Raises
        ------
        DataError
            As `score`; also if there is not exactly one profile, or there is no such item.
        """
        if profile.n_profiles != 1:
            raise DataError(f"One profile at a time can be explained; got {profile.n_profiles}.")
        asked = np.asarray(items, dtype=np.int64)
        is_out = (asked < 0) | (asked >= self.n_items)
        if is_out.any():
            raise DataError(f"There is no item number {asked[is_out][0]}: they run from 0 to {self.n_items - 1}.")
        scores = self.score(profile)[0]
        user_items = profile.on(self.scale).user_items
        return tuple(self._explain(user_items, int(item)) if np.isfinite(scores[item]) else None for item in asked)

    def answer(self, items: ArrayLike, ratings: ArrayLike, scale: Scale, n: int) -> TopN:
        """The list for one person: what `top_n` makes of what `score` says, perhaps by a shorter way.

        Parameters
        ----------
        items, ratings : arrays, shape (n_rated,)
            The profile, in any order.
        scale : Scale
            Scale of these ratings.
        n : int
            Length of the list, >= 1.

        Returns
        -------
        TopN

        Raises
        ------
        ParameterError, DataError
            As `Profiles.one`, `score` and `top_n`.
        """
        profile = Profiles.one(items, ratings, self.n_items, scale)
        return top_n(self.score(profile)[0], self.popularity, profile.user_items.indices, n)

    def state(self) -> dict[str, NDArray[Any]]:
        """The model as plain arrays, to be saved one file an array; `params` and `scale` complete it.

        Returns
        -------
        dict of str to array
            `popularity`, and what `arrays` names.
        """
        return {"popularity": self.popularity} | {name: getattr(self, name) for name in self.arrays}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], params: Parameters, scale: Scale) -> Self:
        """The model from its arrays, which may be read-only memory maps; they are not copied.

        Parameters
        ----------
        arrays : mapping of str to array
            As `state` gives them.
        params : Parameters
            Those the model was fitted with.
        scale : Scale
            That of its training ratings.

        Returns
        -------
        Algorithm
            With the scores of the model that was saved, to the bit.

        Raises
        ------
        ParameterError
            If the parameters are those of another algorithm.
        DataError
            If an array is missing or one is there that this algorithm does not have.
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
    def takes_features(cls, params: Any) -> bool:
        """Whether `fit` makes use of item features, given these parameters: they are part of the recipe then.

        Parameters
        ----------
        params : Parameters
            An instance of this class's ``Params``.

        Returns
        -------
        bool
        """
        return cls.needs_features

    @property
    def n_items(self) -> int:
        """Number of items of the catalogue."""
        return int(self.popularity.shape[0])

    @classmethod
    @abstractmethod
    def _fit(
        cls, ratings: Ratings, params: Any, features: ItemFeatures | None, rng: np.random.Generator, progress: Progress
    ) -> Self:
        """Learn the arrays named by `arrays`; inputs are checked, and the caller sets the common
        attributes and tells the beginning and the end of the progress.
        """

    @abstractmethod
    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        """Score profiles whose ratings are on the training scale."""

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation | None:
        """Take apart the score of an item that has one, for a single profile on the training scale; None where
        the algorithm has no answer, which is everywhere unless it sets `explains`.
        """
        return None

    @classmethod
    def _with(cls, **arrays: NDArray[Any]) -> Self:
        """Return a new model holding these arrays."""
        model = cls.__new__(cls)
        for name, array in arrays.items():
            setattr(model, name, array)
        return model

    def _silence(self, scores: NDArray[np.float64], user_items: sparse.csr_array) -> NDArray[np.float64]:
        """Set to -inf, in place, the items nobody rated and the profiles that have none of the others."""
        is_known = self.popularity > 0
        has_profile = np.asarray(user_items @ is_known.astype(np.float64)) > 0
        scores[:, ~is_known] = -np.inf
        scores[~has_profile] = -np.inf
        return scores
