"""What an algorithm sees: ratings on a stated scale, item features, and the profiles it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from core.errors import DataError
from recommenders.items import NO_ITEMS, Items
from recommenders.scale import Scale

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
OrderKind = Literal["rating", "consumption"]

__all__ = ["History", "ItemFeatures", "Items", "OrderKind", "Profiles", "Ratings", "Scale"]


@dataclass(frozen=True, eq=False)
class Ratings:
    """The ratings an algorithm is fitted on: immutable, one row a user, one column an item. Raises DataError if the
    matrix is not two-dimensional, has a user-item pair twice, has a rating off the scale, or has counts that are not
    one whole number above 0 for each rating, in order; or times that are not one number for each rating, in order.

    Examples
    --------
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1], [0, 2, 2], [4, 5, 1], n_users=2, n_items=3, scale=scale)
    >>> ratings.item_counts.tolist()
    [1, 0, 2]
    """

    # Sparse float array, shape (n_users, n_items); stored entries are ratings, absent ones are missing. Kept as
    # canonical CSR of float32 (sorted, no duplicates) on read-only views; arrays that already have that form, memory
    # maps too, are not copied.
    user_items: sparse.csr_array
    scale: Scale  # every rating is one of its points
    # Shape (n_ratings,), or None; whole numbers >= 1: how often each pair was observed, in the order of the stored
    # entries; None where every pair counts once. Most algorithms ignore them.
    counts: NDArray[Any] | None = field(default=None, repr=False)
    # Seconds since 1970 of each rating, shape (n_ratings,), in the order of the stored entries; only for classes that
    # set `needs_times`, else None.
    times: NDArray[Any] | None = field(default=None, repr=False)
    items: Items = field(default=NO_ITEMS, repr=False)  # the fields that a class names in `item_fields`
    item_counts: Integers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        user_items = _canonical(self.user_items, "ratings")
        is_point = self.scale.holds(user_items.data)
        _refuse_values(user_items, is_point, "rating", f"is not a point of the scale {self.scale.words()}")
        if self.counts is not None:
            if not self.user_items.has_sorted_indices:
                raise DataError("Counts of observations need ratings in order of user and item.")
            if self.counts.shape != (self.user_items.nnz,):
                raise DataError(
                    f"{self.user_items.nnz} ratings need as many counts of observations; got {self.counts.size}."
                )
            if not ((self.counts >= 1) & (self.counts == np.floor(self.counts))).all():
                raise DataError("Counts of observations must be whole numbers of at least 1.")
        if self.times is not None:
            _refuse_times(self.times, self.user_items)
        item_counts = np.bincount(user_items.indices, minlength=user_items.shape[1]).astype(np.int64)
        # Models share these arrays with the ratings; a change by one would be seen by all.
        item_counts.flags.writeable = False
        object.__setattr__(self, "user_items", user_items)
        object.__setattr__(self, "item_counts", item_counts)

    @classmethod
    def from_triples(
        cls, users: ArrayLike, items: ArrayLike, values: ArrayLike, n_users: int, n_items: int, *, scale: Scale
    ) -> Self:
        """Ratings from three parallel arrays of row numbers, column numbers and ratings.

        Raises DataError when the arrays differ in length, a number is out of range, or a user-item pair comes twice.

        `users`, `items`: int arrays, shape (n_ratings,); from 0, in any order. `values`: float array, shape
        (n_ratings,); on the scale. `n_users`, `n_items`: with or without ratings.
        """
        rows, columns = _numbers(users, n_users, "user"), _numbers(items, n_items, "item")
        # Scales have few points, which 32 bits tell apart; the ratings of a large dataset fill half the memory.
        data = np.asarray(values, dtype=np.float32)
        if not rows.shape == columns.shape == data.shape:
            raise DataError(f"Users, items and ratings must be as many; got {rows.size}, {columns.size}, {data.size}.")
        return cls(_from_triples(rows, columns, data, (n_users, n_items)), scale)

    @property
    def n_users(self) -> int:
        """Number of rows, users without a rating included."""
        return int(self.user_items.shape[0])

    @property
    def n_items(self) -> int:
        """Number of columns, unrated items included."""
        return int(self.user_items.shape[1])

    @property
    def n_ratings(self) -> int:
        """Number of ratings."""
        return int(self.user_items.nnz)

    def triples(self) -> tuple[Integers, Integers, NDArray[np.float32]]:
        """Users, items and ratings as three parallel arrays, by user and within a user by item. Returns `users`,
        `items`, int64 arrays, shape (n_ratings,); `values`, float32 array, shape (n_ratings,).
        """
        users = np.repeat(np.arange(self.n_users, dtype=np.int64), np.diff(self.user_items.indptr))
        return users, self.user_items.indices.astype(np.int64), self.user_items.data


@dataclass(frozen=True, eq=False)
class ItemFeatures:
    """What is known of the items apart from ratings: how often each term belongs to each item. Raises DataError if a
    count is not a positive number, or the terms do not name the columns one by one.

    Examples
    --------
    >>> matrix = sparse.csr_array(np.array([[1.0, 0.0], [1.0, 2.0]]))
    >>> ItemFeatures(matrix, (("genre", "Comedy"), ("tag", "space"))).kinds
    ('genre', 'tag')
    """

    # Sparse float array, shape (n_items, n_terms); counts, finite and > 0 where stored. Kept as canonical CSR of
    # float32 on read-only views.
    item_terms: sparse.csr_array
    # (kind, value); what each column means, for example ``("genre", "Comedy")`` or ``("plot", "ship")``; no pair twice.
    terms: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        item_terms = _canonical(self.item_terms, "item features")
        is_count = np.isfinite(item_terms.data) & (item_terms.data > 0)
        _refuse_values(item_terms, is_count, "count", "is not a positive number", rows="item", columns="term")
        terms = tuple((str(kind), str(value)) for kind, value in self.terms)
        if len(terms) != item_terms.shape[1]:
            raise DataError(f"{item_terms.shape[1]} columns of features need as many terms; got {len(terms)}.")
        if len(set(terms)) != len(terms):
            raise DataError("Two columns of features have the same kind and value; add them up first.")
        object.__setattr__(self, "item_terms", item_terms)
        object.__setattr__(self, "terms", terms)

    @property
    def n_items(self) -> int:
        """Number of rows, items without a feature included."""
        return int(self.item_terms.shape[0])

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of term, each once, in alphabetical order."""
        return tuple(sorted({kind for kind, _ in self.terms}))


@dataclass(frozen=True)
class History:
    """What is known of one profile beside its ratings: when or in which order they came, and the context."""

    order_kind: OrderKind
    times: Sequence[float] | None = None  # seconds since 1970, one for each rating
    order: Sequence[int] | None = None  # from 1; needed only where the times are unknown
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Profiles:
    """What an algorithm answers: for each profile the items someone has rated and the ratings. Raises DataError if an
    item comes twice in a profile, or a rating is outside the scale.

    Order, times and context reach only classes with a `_score_profiles` of their own, and may be unknown.

    Examples
    --------
    >>> profile = Profiles.single(items=[2, 0], ratings=[5, 4], n_items=3, scale=Scale(1, 5, 1))
    >>> profile.user_items.toarray().tolist()
    [[4.0, 0.0, 5.0]]
    """

    # Sparse float array, shape (n_profiles, n_items); as in `Ratings`, with columns numbered like those of the training
    # data. Rows may be empty.
    user_items: sparse.csr_array
    # Scale of these ratings, which may differ from that of the training data. Ratings lie within it, not necessarily on
    # its points (a mapped profile has values between them).
    scale: Scale
    # Seconds since 1970 of each rating, shape (n_ratings,), in the order of the stored entries; None where unknown.
    times: NDArray[Any] | None = field(default=None, repr=False)
    # Shape (n_ratings,), as `times`: 1 for the first rating of a profile, 2 for the next; ratings of the same second
    # share a number. Follows from the times, unless these are unknown; None where the order is too.
    order: Integers | None = field(default=None, repr=False)
    # Of what the order is: participants are asked about items that they consumed in another order.
    order_kind: OrderKind | None = None
    # One mapping for each profile, such as {"language": "it"}; empty where nothing is known.
    context: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        user_items = _canonical(self.user_items, "profiles")
        is_covered = self.scale.covers(user_items.data)
        _refuse_values(user_items, is_covered, "rating", f"is outside the scale {self.scale.words()}", rows="profile")
        if self.times is not None:
            _refuse_times(self.times, self.user_items)
            object.__setattr__(self, "order", _order_of(np.asarray(self.times), user_items))
        if self.order is not None and np.shape(self.order) != (user_items.nnz,):
            raise DataError(f"{user_items.nnz} ratings need as many places in an order; got {np.size(self.order)}.")
        if (self.order is None) != (self.order_kind is None):
            raise DataError("An order of ratings comes with its kind: order_kind is 'rating' or 'consumption'.")
        if len(self.context) not in {0, user_items.shape[0]}:
            raise DataError(f"{user_items.shape[0]} profiles need as many contexts; got {len(self.context)}.")
        object.__setattr__(self, "user_items", user_items)

    @classmethod
    def single(
        cls, items: ArrayLike, ratings: ArrayLike, n_items: int, scale: Scale, history: History | None = None
    ) -> Self:
        """The profile of one person, from parallel arrays of item numbers and ratings; both may be empty.

        Raises DataError when an item is unknown or comes twice, the arrays differ in length, or a rating is outside the
        scale.

        `items`: int array, shape (n_rated,); from 0, in any order. `ratings`: float array, shape (n_rated,); on the
        scale. `history`: times or order of the same items, and the context, if they are known.
        """
        columns = _numbers(items, n_items, "item")
        data = np.asarray(ratings, dtype=np.float32)
        if columns.shape != data.shape:
            raise DataError(f"Items and ratings must be equally long; got {columns.size} and {data.size}.")
        user_items = _from_triples(np.zeros_like(columns), columns, data, (1, n_items))
        if history is None:
            return cls(user_items, scale)
        lists = {"times": history.times, "order": history.order}
        known = {name: np.asarray(values) for name, values in lists.items() if values is not None}
        for name, values in known.items():
            if values.shape != columns.shape:
                raise DataError(f"{columns.size} items need as many {name}; got {values.size}.")
            known[name] = values[np.argsort(columns)]  # as the stored entries, by item
        kind = history.order_kind if known else None
        return cls(user_items, scale, **known, order_kind=kind, context=(history.context,))

    @classmethod
    def of(cls, ratings: Ratings, users: ArrayLike) -> Self:
        """The profiles of some users of a set of ratings, in the order of `users`.

        Raises DataError when a user number is out of range.

        `users`: int array, shape (n_profiles,); row numbers; one may come twice. Ratings with times give profiles with
        times, and an order of consumption.
        """
        rows = _numbers(users, ratings.n_users, "user")
        user_items = ratings.user_items
        if ratings.times is None:
            return cls(user_items[rows], ratings.scale)
        times = sparse.csr_array((ratings.times, user_items.indices, user_items.indptr), shape=user_items.shape)
        return cls(user_items[rows], ratings.scale, times[rows].data, order_kind="consumption")

    @property
    def n_profiles(self) -> int:
        """Number of profiles."""
        return int(self.user_items.shape[0])

    @property
    def n_items(self) -> int:
        """Number of items of the catalogue, not of any profile."""
        return int(self.user_items.shape[1])

    def on(self, scale: Scale) -> Profiles:
        """The same profiles with their ratings mapped linearly to another scale. Raises DataError if one of two
        different scales has a single point.
        """
        if scale == self.scale:
            return self
        mapped = self.scale.convert(self.user_items.data, scale).astype(np.float32)
        user_items = sparse.csr_array(
            (mapped, self.user_items.indices, self.user_items.indptr), shape=self.user_items.shape
        )
        return replace(self, user_items=user_items, scale=scale)


# A matrix in the types of the compiled loops: where rows begin and end, columns, and a value of each entry.
Side = tuple[Integers, NDArray[np.int32], Floats]


def side_of(matrix: sparse.csr_array) -> Side:
    """A matrix as the compiled loops take it, copied only where its types are others."""
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float64, copy=False),
    )


def _canonical(matrix: Any, what: str) -> sparse.csr_array:
    """Return the matrix as canonical float32 CSR on read-only views, copied only where it must be."""
    is_sparse = bool(sparse.issparse(matrix))  # kept apart: as a condition it would narrow the type too far
    if not is_sparse or matrix.ndim != 2:
        raise DataError(f"The {what} must be a two-dimensional sparse matrix; got {type(matrix).__name__}.")
    converted = sparse.csr_array(matrix)
    csr = sparse.csr_array(
        (np.asarray(converted.data, dtype=np.float32), converted.indices, converted.indptr), shape=converted.shape
    )
    if not csr.has_sorted_indices:
        csr = csr.sorted_indices()
    # Checked after sorting, since only sorted rows show that an entry comes twice.
    if not csr.has_canonical_format:
        raise DataError(f"The {what} have an entry twice in the same row and column; keep one of them.")
    for name in ("data", "indices", "indptr"):
        # A view may be read-only while the caller's own array stays writable.
        view = getattr(csr, name).view()
        view.flags.writeable = False
        setattr(csr, name, view)
    return csr


def _from_triples(
    rows: Integers, columns: Integers, data: NDArray[np.float32], shape: tuple[int, int]
) -> sparse.csr_array:
    """Build a CSR array that refuses a pair that comes twice instead of adding it up."""
    # By user, then item: results must not depend on the order in which ratings were given.
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    is_twice = (np.diff(rows) == 0) & (np.diff(columns) == 0)
    if is_twice.any():
        first = int(np.flatnonzero(is_twice)[0])
        raise DataError(f"Item {columns[first]} is rated twice by user {rows[first]}; keep one rating of each pair.")
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=shape[0]))))
    return sparse.csr_array((data[order], columns, indptr), shape=shape)


def _numbers(values: ArrayLike, limit: int, what: str) -> Integers:
    """Return row or column numbers as int64, refusing fractions and numbers outside [0, limit)."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"The {what} numbers must be a one-dimensional array; got {array.ndim} dimensions.")
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"The {what} numbers must be whole numbers; got {array.dtype}.")
    is_out = (array < 0) | (array >= limit)
    if is_out.any():
        raise DataError(f"There is no {what} number {array[is_out][0]}: they run from 0 to {limit - 1} in these data.")
    return array.astype(np.int64)


def _refuse_times(times: Any, user_items: sparse.csr_array) -> None:
    if not user_items.has_sorted_indices:
        raise DataError("Times need ratings in order of user and item.")
    if np.shape(times) != (user_items.nnz,):
        raise DataError(f"{user_items.nnz} ratings need as many times; got {np.size(times)}.")
    if not np.isfinite(times).all():
        raise DataError("A time is not a number of seconds.")


def _order_of(times: NDArray[Any], user_items: sparse.csr_array) -> Integers:
    """Number the ratings of each row by their times, from 1; equal times share a number."""
    counts = np.diff(user_items.indptr)
    rows = np.repeat(np.arange(len(counts)), counts)
    by_time = np.lexsort((times, rows))
    is_later = np.concatenate(([True], np.diff(times[by_time]) > 0))[: times.size]
    is_later[user_items.indptr[:-1][counts > 0]] = True  # the first rating of a row
    numbers = np.cumsum(is_later)
    before = numbers[user_items.indptr[:-1][counts > 0]] - 1
    order = np.empty(times.size, dtype=np.int64)
    order[by_time] = numbers - np.repeat(before, counts[counts > 0])
    return order


def _refuse_values(
    matrix: sparse.csr_array, is_good: Flags, what: str, complaint: str, *, rows: str = "user", columns: str = "item"
) -> None:
    if is_good.all():
        return
    position = int(np.flatnonzero(~is_good)[0])
    row = int(np.searchsorted(matrix.indptr, position, side="right")) - 1
    raise DataError(
        f"The {what} {matrix.data[position]:g} of {rows} {row}, {columns} {matrix.indices[position]}, {complaint}."
    )
