"""Algorithms that read what was learned elsewhere instead of learning: item-item weights, factors of items, and lists.

An upload is a set of arrays over the columns of one dataset, which `evaluation.services.uploads` reads from a file.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders.base import Algorithm
from recommenders.data import Flags, Floats, Integers, ItemFeatures, Ratings
from recommenders.data_limits import TrainingSize
from recommenders.explanation import Explanation
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter, positives
from recommenders.progress import Progress

SHOWN_DIGITS = 8  # of a digest, where a model has no name
LONGEST_NAME = 60
RESERVED = ",:;="


class Uploaded(Algorithm):
    """A model whose arrays come from an upload; ratings give only the popularity, which orders equal scores."""

    is_fitted = False
    score_kind = "order"
    version = 1

    @dataclass(frozen=True)
    class Params(Parameters):
        upload: str = parameter("", description="Digest of the upload, as the command upload_model prints it.")
        name: str = parameter("", description="The name in tables; by default the start of the digest.")

    is_known: Flags  # shape (n_items,); the items of the upload: others have no score

    @classmethod
    def label(cls, params: Parameters) -> str:
        """The name that the upload was given, or the start of its digest."""
        own = cast(Uploaded.Params, params)
        return own.name or f"{cls.name} {own.upload[:SHOWN_DIGITS]}"

    @classmethod
    def check(cls, params: Any, size: TrainingSize) -> None:
        """Refuse parameters that name no upload, or a name that no table has room for."""
        super().check(params, size)
        if len(params.name) > LONGEST_NAME:
            raise ParameterError(f"The name {params.name!r} is longer than {LONGEST_NAME} characters.")
        if set(params.name) & set(RESERVED):
            raise ParameterError(f"The name {params.name!r} has one of the characters {RESERVED}, which commands use.")
        if not params.upload:
            raise DataError(f"{cls.name} ({cls.key}) reads an upload: store one with the command upload_model.")

    @classmethod
    def read(cls, contents: Mapping[str, NDArray[Any]], ratings: Ratings, params: Parameters) -> Self:
        """The model of an upload. Raises DataError if it is over other items than the ratings.

        `contents`: the arrays that `arrays` names, over the same items as the ratings.
        """
        if contents["is_known"].size != ratings.n_items:
            raise DataError(
                f"The upload is over {contents['is_known'].size} items, but the ratings are of {ratings.n_items}."
            )
        return cls.from_state(
            {**{name: contents[name] for name in cls.arrays}, "popularity": ratings.item_counts}, params, ratings.scale
        )

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        raise DataError(f"{cls.name} ({cls.key}) is read from an upload, and learns nothing from ratings.")


class Multiplied(Uploaded):
    """A model that multiplies a profile; items outside the upload say nothing in a profile."""

    explains = True

    @dataclass(frozen=True)
    class Params(Uploaded.Params):
        profile: str = parameter(
            "ratings",
            description="What the weights are multiplied by: the ratings of a profile, or 1 for each positive one.",
            choices=("ratings", "likes"),
        )
        positive_from: float = positive_from_parameter()

    params: Params

    def _score(self, user_items: sparse.csr_array) -> Floats:
        values = self._values(user_items)
        return self._silence(self._known_scores(values), values, self.is_known)

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation:
        values = self._values(user_items)
        contributions = values.data * self._effects(values.indices.astype(np.int64), item)
        return Explanation.over(user_items, values.indices, contributions)

    def _values(self, user_items: sparse.csr_array) -> sparse.csr_array:
        """What is multiplied: float64, for the known items of the profiles."""
        if self.params.profile == "likes":
            user_items = positives(user_items, self.scale, self.params.positive_from)
        is_used = self.is_known[user_items.indices]
        indptr = np.concatenate(([0], np.cumsum(is_used)))[user_items.indptr]
        data = user_items.data[is_used].astype(np.float64)
        return sparse.csr_array((data, user_items.indices[is_used], indptr), shape=user_items.shape)

    @abstractmethod
    def _known_scores(self, values: sparse.csr_array) -> Floats:
        """The scores of all items; those of unknown ones are not read."""

    @abstractmethod
    def _effects(self, rated: Integers, item: int) -> Floats:
        """What one unit of each rated item adds to the score of an item, shape (n_rated,)."""


class Matrix(Multiplied):
    r"""Item-item weights that were learned elsewhere, multiplied by a profile.

    .. math:: \mathrm{score}_u = r_u W

    with :math:`W_{ji}` what a rating of item j says of item i. SLIM, EASE, item neighbourhoods and other linear models
    have this form. A pair without a weight has the weight 0; items that the upload does not name have no score, nor
    have profiles with none of its items. Source of the form: Ning & Karypis (2011), ICDM, equation 1,
    doi:10.1109/ICDM.2011.134.

    Cost: the stored weights of the profile's items.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [5, 4], n_users=1, n_items=3, scale=scale)
    >>> weights = {"indptr": np.array([0, 1, 1, 1]), "indices": np.array([1]), "weights": np.array([0.5])}
    >>> known = {"is_known": np.array([True, True, False])}
    >>> model = Matrix.read(weights | known, ratings, Matrix.Params(upload="a digest"))
    >>> model.score(Profiles.single([0], [4], n_items=3, scale=scale)).tolist()
    [[0.0, 2.0, -inf]]
    """

    key = "matrix"
    name = "Matrix"
    title = "Uploaded item-item weights (Matrix)"
    arrays = ("is_known", "indptr", "indices", "weights")

    indptr: Integers  # shape (n_items + 1,): with the next two, W as a CSR matrix, one row per rated item
    indices: NDArray[np.int32]  # shape (n_weights,)
    weights: Floats  # shape (n_weights,)

    def _known_scores(self, values: sparse.csr_array) -> Floats:
        matrix = sparse.csr_array((self.weights, self.indices, self.indptr), shape=(self.n_items, self.n_items))
        return np.asarray((values @ matrix).toarray(), dtype=np.float64)

    def _effects(self, rated: Integers, item: int) -> Floats:
        matrix = sparse.csr_array((self.weights, self.indices, self.indptr), shape=(self.n_items, self.n_items))
        return np.asarray(matrix[rated][:, [item]].toarray()[:, 0], dtype=np.float64)


class Factors(Multiplied):
    r"""Factors of items that were learned elsewhere; a profile gets its own by projection or by a ridge regression.

    Without a regularisation λ, and with one:

    .. math::
        \mathrm{score}_u = r_u Q Q^\top, \qquad
        \mathrm{score}_u = r_u Q_u (Q_u^\top Q_u + \lambda I)^{-1} Q^\top

    with :math:`Q` (n_items, factors), and :math:`Q_u` its rows of the profile's items. The second is the user's half of
    alternating least squares, so that factors of users, which strangers do not have, are not needed. Items that the
    upload does not name have no score, nor have profiles with none of its items. Sources: Cremonesi, Koren & Turrin
    (2010), RecSys, section 4, doi:10.1145/1864708.1864721; Zhou et al. (2008), AAIM, section 3.1,
    doi:10.1007/978-3-540-68880-8_32 (there, λ is multiplied by the number of ratings, here it is not).

    Cost: (length of the profile + items) × factors, and the cube of the factors for each profile with λ.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [5, 4], n_users=1, n_items=2, scale=scale)
    >>> known = {"is_known": np.ones(2, dtype=bool)}
    >>> contents = {"item_factors": np.array([[1.0], [0.5]]), "reg": np.array([1.0])}
    >>> model = Factors.read(contents | known, ratings, Factors.Params(upload="a digest"))
    >>> model.score(Profiles.single([0], [4], n_items=2, scale=scale)).tolist()
    [[2.0, 1.0]]
    """

    key = "factors"
    name = "Factors"
    title = "Uploaded factors of items (Factors)"
    arrays = ("is_known", "item_factors", "reg")

    item_factors: Floats  # Q, shape (n_items, factors); 0 for unknown items
    reg: Floats  # λ, shape (1,); empty for a projection

    def _known_scores(self, values: sparse.csr_array) -> Floats:
        folded = np.asarray(values @ self.item_factors)
        if self.reg.size:
            for row in range(values.shape[0]):
                rated = values.indices[values.indptr[row] : values.indptr[row + 1]]
                folded[row] = np.linalg.solve(self._gram(rated), folded[row])
        return np.asarray(folded @ self.item_factors.T)

    def _effects(self, rated: Integers, item: int) -> Floats:
        factors = self.item_factors[item]
        if self.reg.size:
            factors = np.linalg.solve(self._gram(rated), factors)
        return np.asarray(self.item_factors[rated] @ factors)

    def _gram(self, rated: NDArray[Any]) -> Floats:
        own = self.item_factors[rated]
        return np.asarray(own.T @ own + self.reg[0] * np.eye(own.shape[1]))
