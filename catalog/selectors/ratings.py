"""Ratings and item features of a version, cached once per process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np
from django.db.models import F
from numpy.typing import NDArray
from scipy import sparse

from catalog.importers.items import UTILITY_KIND, utility_of
from catalog.importers.rows import LATEST_SECONDS
from catalog.models import DatasetVersion, Feature
from catalog.selectors.text_folding import LITTLE_WORDS, fold
from core import artefacts
from core.errors import ArtefactError, ParallaxError
from recommenders.base import TitleWords
from recommenders.data import ItemFeatures, Ratings, Scale
from recommenders.data_limits import TrainingSize

ARTEFACT_KIND, USER_ATTRIBUTES = "ratings", "user-attributes"
VERSIONS_KEPT = 8

# Other titles of an item name it; they say nothing of what it is like.
GENRE_KIND = "genre"
KINDS_WITHOUT_MEANING = frozenset({"alias"})
TITLE_KIND = "title"  # of the words of titles, where these are content
SHORTEST_PLOT_WORD = 3
_WORD = re.compile(r"[^\W\d_]+")
_SAYS_LITTLE = """
    about after again all also among another any are around away back been before being between both but can come
    comes each every from get gets goes had has have her him his how into its just may more most must not now off
    one only other our out over own she some such than that their them then there they this those through two under
    until upon was were what when where which while who whom whose will without would you your
"""
PLOT_STOP_WORDS = LITTLE_WORDS.union(_SAYS_LITTLE.split())


def scale_of(version: DatasetVersion) -> Scale:
    """The scale of the version's ratings."""
    return Scale(version.scale_low, version.scale_high, version.scale_step)


def user_attributes_of(version: DatasetVersion) -> Mapping[str, NDArray[np.str_]]:
    """What the source says of each user, by kind: arrays of shape (n_users,), empty texts where it says nothing."""
    stored = version.report.get("user_attributes")
    if not stored:
        return {}
    arrays = artefacts.load(USER_ATTRIBUTES, stored["digest"]).arrays
    return {kind: arrays[f"attribute-{at}"] for at, (kind, _) in enumerate(stored["kinds"])}


def ratings_of(version: DatasetVersion) -> Ratings:
    """The version's ratings on memory-mapped arrays; rows are users, columns are `Item.index`. Raises ArtefactError
    when the arrays are missing, or are no longer those that were imported.
    """
    return _ratings(version.ratings_digest, scale_of(version), version.n_users, version.n_items)


@lru_cache(maxsize=VERSIONS_KEPT)
def _ratings(digest: str, scale: Scale, n_users: int, n_items: int) -> Ratings:
    arrays = artefacts.load(ARTEFACT_KIND, digest).arrays
    if len(arrays["user_ids"]) != n_users or len(arrays["item_ids"]) != n_items:
        raise ArtefactError(
            "ratings.other_version",
            f"The stored ratings {digest[:12]} have {len(arrays['user_ids'])} users and {len(arrays['item_ids'])} "
            f"items where the dataset has {n_users} and {n_items}. Import the dataset again.",
        )
    user_items = sparse.csr_array(
        (arrays["values"], arrays["indices"], arrays["indptr"]), shape=(n_users, n_items), copy=False
    )
    return Ratings(user_items, scale, arrays.get("counts"))


def user_ids_of(version: DatasetVersion) -> NDArray[np.str_]:
    """The source's own ids of users, shape (n_users,), in the order of the rows."""
    return _array(version, "user_ids")


def item_ids_of(version: DatasetVersion) -> NDArray[np.str_]:
    """The source's own ids of items, shape (n_items,), in the order of the columns."""
    return _array(version, "item_ids")


def timestamps_of(version: DatasetVersion) -> NDArray[np.int64]:
    """Seconds since 1970 of each rating, in the order of the stored entries; empty where the source has none."""
    return _array(version, "timestamps")


def rated_between(version: DatasetVersion) -> tuple[datetime, datetime] | None:
    """The times of the first and the last rating, in UTC; None where the source has none, or none that is plausible."""
    times = timestamps_of(version)
    if not len(times):
        return None
    first, last = int(times.min()), int(times.max())
    if not (first > -LATEST_SECONDS and last < LATEST_SECONDS):
        return None
    return datetime.fromtimestamp(first, UTC), datetime.fromtimestamp(last, UTC)


def utilities_of(version: DatasetVersion) -> NDArray[np.float32] | None:
    """The utility of each rating or use, in the order of the stored entries; None if the source has none."""
    return artefacts.load(ARTEFACT_KIND, version.ratings_digest).arrays.get("utilities")


def are_counted(version: DatasetVersion) -> bool:
    """Whether the version has counts of repeated observations."""
    return "counts" in artefacts.load(ARTEFACT_KIND, version.ratings_digest).arrays


def mean_utilities(version: DatasetVersion, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64] | None:
    """The mean utility of each item over some rows (by default all), 0 for items without rows, shape
    (n_items,); None if rows have no utility. `places` are in the order of `ratings_of`.
    """
    utilities = utilities_of(version)
    if utilities is None:
        return None
    items = ratings_of(version).user_items.indices
    chosen = slice(None) if positions is None else positions
    counts = np.bincount(items[chosen], minlength=version.n_items)
    sums = np.bincount(items[chosen], weights=utilities[chosen], minlength=version.n_items)
    return np.asarray(sums / np.maximum(counts, 1))


def item_utilities(version: DatasetVersion) -> NDArray[np.float64] | None:
    """The declared utility of each item, 0 where none is declared, shape (n_items,); None if no item has one."""
    features = features_of(version)
    columns = [at for at, (kind, _) in enumerate(features.terms) if kind == UTILITY_KIND]
    if not columns:
        return None
    return np.asarray(features.item_terms[:, columns].toarray()[:, 0].astype(np.float64))


def probe_of(version: DatasetVersion) -> NDArray[np.int64] | None:
    """The pairs that the source's authors held out, shape (n_pairs, 2): row and column; None where it has no list."""
    return artefacts.load(ARTEFACT_KIND, version.ratings_digest).arrays.get("probe")


def _array(version: DatasetVersion, name: str) -> NDArray[Any]:
    return artefacts.load(ARTEFACT_KIND, version.ratings_digest).arrays[name]


def features_of(version: DatasetVersion, titles: TitleWords = "never") -> ItemFeatures:
    """The features of the items: a column for each genre, person, country, tag, decade and word of a plot, and for
    each word of a title where `titles` asks for it: always ("add"), or if no item has another feature ("alone").

    Columns are in the order of (kind, value) by code points, so the same content gives the same matrix on
    every database. What items are worth is one column more, of kind "utility", whose counts are the utilities.
    """
    features = _features(version.pk, version.content_hash)
    if titles == "never" or (titles == "alone" and describes(features)):
        return features
    return _features(version.pk, version.content_hash, with_titles=True)


def describes(features: ItemFeatures) -> bool:
    """Whether any feature describes what an item is like."""
    return TrainingSize(0, features.n_items, features).has_content


@lru_cache(maxsize=VERSIONS_KEPT)
def _features(version_id: int, content_hash: str, *, with_titles: bool = False) -> ItemFeatures:
    """Built once for a content; the hash is in the key because rows never change under it."""
    version = DatasetVersion.objects.get(pk=version_id)
    items_of_term: dict[tuple[str, str], list[int]] = {}
    facts = (
        Feature.objects.filter(item__version=version)
        .exclude(kind__in=KINDS_WITHOUT_MEANING)
        .values_list("kind", "value", "item__index")
        .order_by()
    )
    worth: dict[int, float] = {}
    for kind, value, index in facts.iterator(chunk_size=10_000):
        if kind == UTILITY_KIND:
            worth[index] = _utility(index, value)
        else:
            items_of_term.setdefault((kind, value), []).append(index)
    plots = version.items.exclude(plot="").values_list("index", "plot").order_by()
    for index, plot in plots.iterator(chunk_size=2_000):
        for word in plot_words(plot):
            items_of_term.setdefault(("plot", word), []).append(index)
    # A title that is the item's id is none.
    titled = version.items.exclude(title=F("external_id")) if with_titles else version.items.none()
    for index, title in titled.values_list("index", "title").order_by().iterator(chunk_size=2_000):
        for word in plot_words(title):
            items_of_term.setdefault((TITLE_KIND, word), []).append(index)
    terms = sorted(items_of_term)
    items = np.concatenate(
        [np.asarray(items_of_term[term], dtype=np.int64) for term in terms] or [np.empty(0, np.int64)]
    )
    columns = np.repeat(np.arange(len(terms)), [len(items_of_term[term]) for term in terms])
    weights = np.ones(len(items), dtype=np.float32)
    if worth:
        items = np.concatenate((items, np.array(list(worth))))
        columns = np.concatenate((columns, np.full(len(worth), len(terms))))
        weights = np.concatenate((weights, np.array(list(worth.values()), dtype=np.float32)))
        terms.append((UTILITY_KIND, "given"))
    counts = sparse.coo_array((weights, (items, columns)), shape=(version.n_items, len(terms))).tocsr()
    counts.sum_duplicates()
    return ItemFeatures(counts, tuple(terms))


def content_terms(version: DatasetVersion) -> sparse.csr_array | None:
    """The features of the items other than utilities, shape (n_items, n_terms); None if no item has any."""
    features = features_of(version)
    is_content = np.array([kind != UTILITY_KIND for kind, _ in features.terms], dtype=np.bool_)
    return sparse.csr_array(features.item_terms[:, np.flatnonzero(is_content)]) if is_content.any() else None


def genre_terms(version: DatasetVersion) -> sparse.csr_array | None:
    """The genres of the items, shape (n_items, n_genres); None if no item has one."""
    features = features_of(version)
    is_genre = np.array([kind == GENRE_KIND for kind, _ in features.terms], dtype=np.bool_)
    return sparse.csr_array(features.item_terms[:, np.flatnonzero(is_genre)]) if is_genre.any() else None


def genre_names(version: DatasetVersion) -> list[str]:
    """The names of the columns of `genre_terms`, in alphabetical order."""
    return [value for kind, value in features_of(version).terms if kind == GENRE_KIND]


def _utility(index: int, value: str) -> float:
    worth = utility_of(value)
    if not worth:
        raise ParallaxError(
            "dataset.bad_utility",
            f"The utility of item {index + 1} is {value!r}, which is not a number above 0. Correct the source.",
        )
    return worth


def plot_words(plot: str) -> list[str]:
    """The folded words of a plot or title that say something, in order, as often as they come.

    Examples
    --------
    >>> plot_words("A hacker learns that the world is not what it seems.")
    ['hacker', 'learns', 'world', 'seems']
    """
    return [
        word for word in _WORD.findall(fold(plot)) if len(word) >= SHORTEST_PLOT_WORD and word not in PLOT_STOP_WORDS
    ]
