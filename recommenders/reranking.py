r"""Re-ranking: another algorithm's best items in another order, for diversity, less popular items or calibrated genres.

The first `CANDIDATES` (C) items that the algorithm scores outside the profile are candidates. The first `PLACES` places
are filled one by one with the candidate of the highest value; the rest keeps its order, so shorter lists are prefixes
of longer ones. Scores of different algorithms have nothing in common, so the candidate of rank r = 0, 1, … counts
:math:`s = 1 - r / C`, and a strength :math:`\lambda` means the same on every algorithm. Of equal values the earlier
rank comes first, so :math:`\lambda = 0` changes nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields, make_dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders.base import Algorithm, TitleWords
from recommenders.data import Flags, Floats, Integers, ItemFeatures, Profiles, Ratings
from recommenders.data_limits import SILENT_KINDS, Limit, TrainingSize
from recommenders.explanation import Explanation
from recommenders.parameters import Parameters, parameter
from recommenders.progress import Progress
from recommenders.ranking import TopN
from recommenders.scale import Scale

CANDIDATES = 200
PLACES = 20
SMOOTHING = 0.01  # α: the share of the profile's genres in those of a list
DECIMALS = 9  # of compared values, so that the last bits of a sum change no list
BAR = "|"  # between an algorithm and its re-ranker, in keys and in commands
ALL_KINDS = "all"


def mmr(vectors: sparse.csr_array, strength: float) -> Integers:
    r"""Maximal marginal relevance: each item is relevant and unlike those before it.

    .. math:: (1 - \lambda) s_i - \lambda \max_{j \in S} \cos(x_i, x_j)

    S are the items chosen so far; the maximum is 0 for the first. Returns an int64 array, shape (n,): the candidates in
    their new order, by position. Source: Carbonell & Goldstein (1998), SIGIR, doi:10.1145/290941.291025.

    `vectors`: sparse float64 array, shape (n, n_terms); features of the candidates, best first; of unit length, or
    empty for an item without features, which is like no other. `strength`: λ, from 0 to 1.

    Examples
    --------
    >>> mmr(sparse.csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])), 0.5).tolist()
    [0, 2, 1]
    """
    nearest = np.zeros(vectors.shape[0])
    last = np.zeros(vectors.shape[1])

    def loss(chosen: list[int]) -> Floats:
        if chosen:
            own = slice(vectors.indptr[chosen[-1]], vectors.indptr[chosen[-1] + 1])
            last[vectors.indices[own]] = vectors.data[own]
            np.maximum(nearest, vectors @ last, out=nearest)
            last[vectors.indices[own]] = 0.0
        return nearest

    return _reordered(len(nearest), strength, loss)


def popularity(quantiles: Floats, strength: float) -> Integers:
    r"""Popularity penalty: each item is relevant and rated by few.

    .. math:: (1 - \lambda) s_i - \lambda q_i

    Returns as `mmr`. `quantiles`: float64 array, shape (n,); of each candidate, best first, the share of the
    catalogue's items that have fewer ratings, and half of those that have as many. `strength`: λ, from 0 to 1.

    Examples
    --------
    >>> popularity(np.array([0.9, 0.5, 0.1]), 0.5).tolist()
    [2, 1, 0]
    """
    return _reordered(len(quantiles), strength, lambda chosen: quantiles)


def calibration(shares: Floats, wanted: Floats, strength: float) -> Integers:
    r"""Calibration: the list has the genres of the profile, in their proportions.

    .. math:: (1 - \lambda) \sum_j s_j - \lambda \sum_g p(g) \ln \frac{p(g)}{(1 - \alpha) q(g) + \alpha p(g)}

    The first sum is over S ∪ {i}, q is the mean distribution over genres of its items that have a genre, and α = .01.
    Returns as `mmr`; the order as it was where the profile has no genre. Source: Steck (2018), RecSys, section 3,
    doi:10.1145/3240323.3240372.

    `shares`: float64 array, shape (n, n_genres); distribution of each candidate over its genres, best first; rows sum
    to 1, or to 0 for items without a genre. `wanted`: float64 array, shape (n_genres,); p, which sums to 1, or to 0
    where the profile has no genre. `strength`: λ, from 0 to 1.

    Examples
    --------
    >>> calibration(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5]), 0.5).tolist()
    [0, 2, 1]
    """
    has_genre: Flags = np.asarray(shares.any(axis=1))
    without = np.flatnonzero(~has_genre)
    is_wanted = wanted > 0
    p, weighted = wanted[is_wanted], (1.0 - SMOOTHING) * shares[:, is_wanted]
    entropy = -float(p @ np.log(p))
    mixed, total, n = np.empty_like(weighted), np.zeros(p.size), 0

    def loss(chosen: list[int]) -> Floats:
        nonlocal n
        if chosen and has_genre[chosen[-1]]:
            np.add(total, weighted[chosen[-1]], out=total)
            n += 1
        # ln(x / (n + 1)) as ln x - ln(n + 1), because the p(g) sum to 1: one logarithm per genre and candidate.
        np.log(np.add(weighted, total + SMOOTHING * (n + 1) * p, out=mixed), out=mixed)
        divergences = np.log(n + 1) - entropy - mixed @ p
        if without.size:  # an item without a genre leaves the genres of the list as they are
            divergences[without] = -entropy - np.log(total / max(n, 1) + SMOOTHING * p) @ p
        return np.asarray(divergences)

    return _reordered(len(shares), strength if p.size else 0.0, loss)


def _reordered(n: int, strength: float, loss: Callable[[list[int]], Floats]) -> Integers:
    """Fill the places; `loss` gives what is subtracted, shape (n,), for those chosen so far, one more at each call."""
    gain = (1.0 - strength) * (1.0 - np.arange(n) / CANDIDATES)
    chosen: list[int] = []
    for _ in range(min(PLACES, n)):
        values = (gain - strength * loss(chosen)).round(DECIMALS)
        values[chosen] = -np.inf
        chosen.append(int(values.argmax()))
    return np.concatenate((np.array(chosen, dtype=np.int64), np.delete(np.arange(n), chosen)))


class Reranked(Algorithm):
    """The lists of another algorithm in another order: a model of its own over a fitted one, whose arrays it shares.

    Scores are places: -1 for the first item outside the profile, -2 for the second. Items of the profile stay between
    the places where the algorithm put them. Explanations are those of the algorithm.
    """

    score_kind = "order"
    method: ClassVar[str]
    method_name: ClassVar[str]
    method_title: ClassVar[str]
    method_version: ClassVar[int] = 1
    usual_kinds: ClassVar[str] = ""  # of item features; empty where the method uses none
    over: ClassVar[type[Algorithm]]  # the algorithm whose lists are re-ranked

    base: Algorithm

    @classmethod
    def base_params(cls, params: Any) -> Parameters:
        """The parameters of the algorithm whose lists are re-ranked."""
        return cls.over.Params(**{field.name: getattr(params, field.name) for field in fields(cls.over.Params)})

    @classmethod
    def strength(cls, params: Any) -> float:
        """The strength λ."""
        return float(getattr(params, f"{cls.method}_strength"))

    @classmethod
    def settings(cls, params: Any) -> dict[str, Any]:
        """All that determines the order besides the model and the item features, for recipes and provenance."""
        kinds = {"kinds": getattr(params, f"{cls.method}_kinds")} if cls.usual_kinds else {}
        sizes = {"candidates": CANDIDATES, "places": PLACES}
        return {"method": cls.method, "version": cls.method_version, "strength": cls.strength(params), **kinds, **sizes}

    @classmethod
    def label(cls, params: Any) -> str:
        """The label of the algorithm, followed by the method and its strength."""
        label = f"{cls.over.label(cls.base_params(params))} + {cls.method_name} {cls.strength(params):g}"
        kinds = cls.settings(params).get("kinds", cls.usual_kinds)
        return label if kinds == cls.usual_kinds else f"{label} ({kinds})"

    @classmethod
    def limits(cls, size: TrainingSize) -> Mapping[str, Limit]:
        """Those of the algorithm."""
        return cls.over.limits(size)

    @classmethod
    def check(cls, params: Any, size: TrainingSize) -> None:
        """Refuse what the algorithm refuses, and kinds of item features that these data do not have."""
        cls.over.check(cls.base_params(params), size)
        cls._check_features(size.features, params)

    @classmethod
    def _check_features(cls, features: ItemFeatures | None, params: Any) -> None:
        if not cls.usual_kinds:
            return
        present = set() if features is None else set(features.kinds) - SILENT_KINDS
        missing = sorted(cls._named_kinds(features, params) - present)
        if missing or not present:
            raise DataError(
                f"{cls.name} ({cls.key}): this dataset has no item features of kind {', '.join(missing) or 'any'}; the "
                f"kinds it has: {', '.join(sorted(present)) or 'none'}. Add them with the command add_metadata, or "
                f"name other kinds, joined by +: {cls.method}:kinds=genre+tag."
            )

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Any, **terms: int) -> int:
        """What the algorithm takes, and the features once more."""
        own = 16 * terms.get("n_item_terms", 0) + 32 * n_items
        return cls.over.fit_bytes(n_users, n_items, n_ratings, cls.base_params(params), **terms) + own

    @classmethod
    def uses_features(cls, params: Any) -> bool:
        """Where the method or the algorithm does."""
        return bool(cls.usual_kinds) or cls.over.uses_features(cls.base_params(params))

    @classmethod
    def title_words(cls, params: Any) -> TitleWords:
        """As for the algorithm."""
        return cls.over.title_words(cls.base_params(params))

    @classmethod
    def described_by(cls, features: ItemFeatures | None, params: Any) -> ItemFeatures | None:
        """The features of the named kinds, which alone affect the order; None where the method uses none."""
        if not cls.usual_kinds or features is None:
            return None
        kinds = cls._named_kinds(features, params)
        columns = [at for at, (kind, _) in enumerate(features.terms) if kind in kinds]
        return ItemFeatures(features.item_terms[:, columns], tuple(features.terms[at] for at in columns))

    @classmethod
    def on(cls, base: Algorithm, params: Any, features: ItemFeatures | None) -> Self:
        """Re-rank the lists of a fitted model. Raises DataError when a named kind of features is missing.

        `features`: as `fit` takes them, of the same items.
        """
        cls._check_features(features, params)
        return cls.opened(base, params, cls._learned(base.popularity, cls.described_by(features, params)))

    @classmethod
    def opened(cls, base: Algorithm, params: Any, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a model from the arrays of `state` and the model that it re-ranks."""
        model = cls._with(**{name: np.asarray(arrays[name]).view(np.ndarray) for name in cls.arrays})
        model.base, model.params, model.scale, model.popularity = base, params, base.scale, base.popularity
        return model

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays of the re-ranking alone; those of the algorithm are stored with its own model."""
        return {name: getattr(self, name) for name in self.arrays}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], params: Parameters, scale: Scale) -> Self:
        """Refuse, because arrays do not hold the model that is re-ranked: see `opened`."""
        raise DataError(f"{cls.name} is restored from its arrays and the model it re-ranks.")

    @classmethod
    def reads_order(cls) -> bool:
        """Where the algorithm does."""
        return cls.over.reads_order()

    def score(self, profiles: Profiles) -> Floats:
        """Score every item by its place in the re-ranked list. Raises as `Algorithm.score`."""
        scores = self.base.score(profiles)
        if np.isnan(scores).any():
            raise DataError(f"A score of {self.over.name} is not a number.")
        user_items = profiles.on(self.scale).user_items
        # Equal scores by popularity, then by number, as in a list; the stable sort below keeps that order.
        by_popularity = np.lexsort((np.arange(self.n_items), -self.popularity))
        scores_by_place = np.full(scores.shape, -np.inf)
        for row, own in enumerate(scores):
            ordered = by_popularity[np.argsort(-own[by_popularity], kind="stable")][: int((own > -np.inf).sum())]
            profile = slice(user_items.indptr[row], user_items.indptr[row + 1])
            items, ratings = user_items.indices[profile], user_items.data[profile]
            is_rated = np.isin(ordered, items)
            listed, rated = ordered[~is_rated], ordered[is_rated]
            scores_by_place[row, self._placed(listed, items, ratings)] = -1.0 - np.arange(len(listed))
            n_before = np.cumsum(~is_rated, dtype=np.int64)[is_rated]
            scores_by_place[row, rated] = -1.0 * n_before - np.arange(1, len(rated) + 1) / (len(rated) + 1)
        return scores_by_place

    def explain(self, profile: Profiles, items: ArrayLike) -> tuple[Explanation | None, ...]:
        """The explanations of the algorithm, which add up to its scores."""
        return self.base.explain(profile, items)

    def answer(self, items: ArrayLike, ratings: ArrayLike, scale: Scale, n: int) -> TopN:
        """As `Algorithm.answer`: the same list as by `score`, from the first candidates alone."""
        if n < 1:
            raise ParameterError(f"A recommendation list needs at least one place; n is {n}.")
        best = self.base.answer(items, ratings, scale, max(n, CANDIDATES))
        # The answer has checked the profile; its ratings are mapped as `Profiles.on` does.
        rated = np.asarray(items, dtype=np.int32)
        values = scale.convert(np.asarray(ratings, dtype=np.float32), self.scale).astype(np.float32)
        n_scored = int((~best.is_filled).sum())
        scored = self._placed(best.items[:n_scored], rated, values)
        listed = np.concatenate((scored, best.items[n_scored:]))
        scores = np.where(best.is_filled, -np.inf, -1.0 - np.arange(len(listed)))
        return TopN(listed[:n], scores[:n], best.is_filled[:n])

    def _placed(self, listed: Integers, items: NDArray[np.int32], ratings: NDArray[np.float32]) -> Integers:
        """Re-rank scored items outside the profile, best first."""
        candidates = listed[:CANDIDATES]
        return np.concatenate((candidates[self._order(candidates, items, ratings)], listed[CANDIDATES:]))

    @abstractmethod
    def _order(self, candidates: Integers, items: NDArray[np.int32], ratings: NDArray[np.float32]) -> Integers:
        """Order the candidates, by position, for a profile of these items and ratings on the training scale."""

    @classmethod
    @abstractmethod
    def _learned(cls, popularity: Integers, features: ItemFeatures | None) -> dict[str, NDArray[Any]]:
        """The arrays named by `arrays`, from features of the named kinds."""

    @classmethod
    def _named_kinds(cls, features: ItemFeatures | None, params: Any) -> set[str]:
        kinds = str(getattr(params, f"{cls.method}_kinds"))
        if kinds == ALL_KINDS:
            return set() if features is None else set(features.kinds) - SILENT_KINDS
        return {kind.strip() for kind in kinds.split("+")}

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Any, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        base = cls.over.fit(ratings, cls.base_params(params), features=features, rng=rng, progress=progress)
        return cls.on(base, params, features)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        return self.score(Profiles(user_items, self.scale))


class _ByFeatures(Reranked):
    """A re-ranker that stores a row of item features for each item."""

    arrays = ("indptr", "indices", "values")

    indptr: Integers  # shape (n_items + 1,)
    indices: NDArray[np.int32]
    values: Floats

    def _rows(self, items: NDArray[np.integer[Any]]) -> sparse.csr_array:
        n_terms = int(self.indices.max(initial=-1)) + 1
        matrix = sparse.csr_array((self.values, self.indices, self.indptr), shape=(self.n_items, n_terms))
        return matrix[items]

    @staticmethod
    def _stored(matrix: sparse.csr_array) -> dict[str, NDArray[Any]]:
        return {
            "indptr": matrix.indptr.astype(np.int64),
            "indices": matrix.indices.astype(np.int32),
            "values": matrix.data.astype(np.float64),
        }


class _MMR(_ByFeatures):
    method = "mmr"
    method_name = "MMR"
    method_title = "maximal marginal relevance (MMR)"
    usual_kinds = ALL_KINDS

    def _order(self, candidates: Integers, items: NDArray[np.int32], ratings: NDArray[np.float32]) -> Integers:
        return mmr(self._rows(candidates), self.strength(self.params))

    @classmethod
    def _learned(cls, popularity: Integers, features: ItemFeatures | None) -> dict[str, NDArray[Any]]:
        counts = sparse.csr_array(cast(ItemFeatures, features).item_terms.astype(np.float64))
        lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
        return cls._stored(_divided(counts, lengths))


class _Calibration(_ByFeatures):
    method = "calibration"
    method_name = "Calibration"
    method_title = "calibration"
    usual_kinds = "genre"

    def _order(self, candidates: Integers, items: NDArray[np.int32], ratings: NDArray[np.float32]) -> Integers:
        # The lowest rating counts 1 and every step 1 more, whatever numbers the scale has.
        weights = self.scale.codes(ratings) + 1.0
        sums = self._rows(items).T @ weights
        wanted = sums / (sums.sum() or 1.0)
        return calibration(self._rows(candidates).toarray(), wanted, self.strength(self.params))

    @classmethod
    def _learned(cls, popularity: Integers, features: ItemFeatures | None) -> dict[str, NDArray[Any]]:
        has_term = sparse.csr_array((cast(ItemFeatures, features).item_terms > 0).astype(np.float64))
        return cls._stored(_divided(has_term, np.asarray(has_term.sum(axis=1), dtype=np.float64).ravel()))


class _Popularity(Reranked):
    method = "popularity"
    method_name = "Popularity"
    method_title = "popularity penalty"
    arrays = ("quantiles",)

    quantiles: Floats  # shape (n_items,)

    def _order(self, candidates: Integers, items: NDArray[np.int32], ratings: NDArray[np.float32]) -> Integers:
        return popularity(self.quantiles[candidates], self.strength(self.params))

    @classmethod
    def _learned(cls, popularity: Integers, features: ItemFeatures | None) -> dict[str, NDArray[Any]]:
        ordered = np.sort(popularity)
        fewer, at_most = (np.searchsorted(ordered, popularity, side=side) for side in ("left", "right"))
        return {"quantiles": (fewer + at_most) / (2 * len(popularity))}


RERANKERS: Mapping[str, type[Reranked]] = {each.method: each for each in (_MMR, _Popularity, _Calibration)}


@lru_cache(maxsize=256)
def reranked(over: type[Algorithm], method: str) -> type[Reranked]:
    """The algorithm that re-ranks the lists of another one: key ``puresvd|mmr``, and its parameters after those of the
    other, named ``mmr_strength``. Raises ParameterError for another method, or an algorithm that re-ranks itself.
    """
    if method not in RERANKERS:
        raise ParameterError(f"There is no re-ranker {method!r}; the re-rankers are: {', '.join(RERANKERS)}.")
    if issubclass(over, Reranked):
        raise ParameterError(
            f"{over.key}{BAR}{method} names two re-rankers, and a list is re-ranked once. Leave out one of them."
        )
    kind = RERANKERS[method]
    strength = parameter(0.3, description="Strength λ of the re-ranking: 0 changes nothing.", minimum=0.0, maximum=1.0)
    own: list[tuple[str, type, Any]] = [(f"{method}_strength", float, strength)]
    if kind.usual_kinds:
        kinds = parameter(
            kind.usual_kinds, description="Kinds of item features that re-rank, joined by +; all: every kind."
        )
        own.append((f"{method}_kinds", str, kinds))
    return type(
        f"{over.__name__}{kind.__name__}",
        (kind,),
        {
            "__doc__": f"{over.title}, re-ranked: {kind.method_title}.",
            "over": over,
            "key": f"{over.key}{BAR}{method}",
            "name": f"{over.name} + {kind.method_name}",
            "title": f"{over.title}, re-ranked: {kind.method_title}",
            # Another version of either gives other lists.
            "version": 100 * over.version + kind.method_version,
            "Params": make_dataclass("Params", own, bases=(over.Params,), frozen=True),
            "needs_features": bool(kind.usual_kinds) or over.needs_features,
            "explains": over.explains,
            "is_slow": over.is_slow,
            "asks_numbers": over.asks_numbers,
            "preloaded": over.preloaded,
            "is_fitted": over.is_fitted,
            "is_partial": over.is_partial,
            "context_fields": over.context_fields,
            "needs_times": over.needs_times,
            "small": over.small,
        },
    )


def _divided(matrix: sparse.csr_array, divisors: Floats) -> sparse.csr_array:
    """Rows divided by these numbers; rows of 0 stay."""
    return sparse.csr_array(sparse.diags_array(1.0 / np.where(divisors > 0, divisors, 1.0)) @ matrix)
