"""Test cases: the hidden ratings to measure, and the candidates each is ranked among."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.splitting.draws import stream_key

Excluded = Literal["rated", "trained", "none"]
STORED = ("users", "items", "is_relevant", "values", "rated_indptr", "rated_items")


@dataclass(frozen=True, slots=True)
class Cases:
    """Test cases: hidden ratings, each relevant (T+) or not (T-), and how candidates are drawn.

    The candidates of case (user, item) are drawn from the items that are not excluded for the user, by a
    generator keyed (seed, user, item): the same for all algorithms, whatever the order, block or worker.
    Or they are given, as bitmaps.
    """

    # `users`, `items`: shape (n_cases,); ordered by user, then item.
    users: NDArray[np.int32]
    items: NDArray[np.int32]
    is_relevant: NDArray[np.bool_]  # shape (n_cases,); True for T+, False for T-
    values: NDArray[np.float32]  # shape (n_cases,); the hidden ratings; NaN where they are not known
    rated_indptr: NDArray[np.int64]  # shape (n_users + 1,)
    # Shape (n_ratings,); items excluded from the candidates, user by user: those rated, in training or hidden, unless
    # a protocol says otherwise. The case's own item is never a candidate of it.
    rated_items: NDArray[np.int32]
    n_items: int
    negatives: int  # candidates wanted for a case
    seed: int
    # Shape (n_cases, ceil(n_items / 8)); candidates as bitmaps, item 8b + k at bit k of byte b: drawn before, or given.
    bits: NDArray[np.uint8] | None = None
    # Items that are never candidates, ascending: all but the cold items in a cold start.
    closed: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    is_given: bool = False  # the bitmaps were given, so they need not be those that would be drawn
    left_out: Mapping[str, int] = field(default_factory=dict)  # hidden ratings that are no case, in words, with counts

    def __len__(self) -> int:
        return len(self.users)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by name, to be stored; without those of a cold start."""
        arrays = {name: getattr(self, name) for name in STORED}
        return arrays if self.bits is None else {**arrays, "bits": self.bits}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], *, is_given: bool) -> Cases:
        """Read stored cases; those of earlier versions lack some arrays."""
        return cls(
            **{"values": np.full(len(arrays["users"]), np.nan, dtype=np.float32)}
            | {name: arrays[name] for name in (*STORED, "closed", "bits") if name in arrays},
            n_items=meta["n_items"],
            negatives=meta["negatives"],
            seed=meta["seed"],
            is_given=is_given,
        )

    @property
    def n_users(self) -> int:
        """Users of the dataset, with or without cases."""
        return len(self.rated_indptr) - 1

    @property
    def n_relevant(self) -> int:
        """Cases of T+."""
        return int(self.is_relevant.sum())

    @property
    def n_irrelevant(self) -> int:
        """Cases of T-."""
        return len(self) - self.n_relevant

    @property
    def n_unrated(self) -> NDArray[np.int32]:
        """Items that are not excluded for the user of each case, shape (n_cases,)."""
        excluded = np.diff(self.rated_indptr)
        if len(self.closed):
            # Those that are closed anyway do not count twice.
            is_open = np.ones(self.n_items + 1, dtype=np.int64)
            is_open[self.closed] = 0
            totals = np.concatenate([[0], np.cumsum(is_open[self.rated_items])])
            excluded = totals[self.rated_indptr[1:]] - totals[self.rated_indptr[:-1]] + len(self.closed)
        unrated: NDArray[np.int32] = (self.n_items - excluded[self.users]).astype(np.int32)
        return unrated

    def excluded(self, user: int) -> NDArray[np.int32]:
        """Return the items that are not candidates for a user, possibly with duplicates. Returns an int32 array, shape
        (n_barred,), in no order.
        """
        own = self.rated_items[self.rated_indptr[user] : self.rated_indptr[user + 1]]
        return np.concatenate([self.closed, own])

    def of_users(self, users: NDArray[np.integer[Any]]) -> tuple[Cases, NDArray[np.bool_]]:
        """Select the cases of some users, with the mask of the selection. `users`: in any order. Returns `cases`,
        Cases: in the order of all cases; `is_kept`, bool array, shape (n_cases,).
        """
        is_kept = np.isin(self.users, users)
        names = ("users", "items", "is_relevant", "values")
        bits = None if self.bits is None else self.bits[is_kept]
        return replace(self, **{name: getattr(self, name)[is_kept] for name in names}, bits=bits), is_kept

    @property
    def n_candidates(self) -> NDArray[np.int32]:
        """Candidates of each case, shape (n_cases,): `negatives`, or all there are where fewer exist."""
        if self.is_given and self.bits is not None:
            counts: NDArray[np.int32] = np.bitwise_count(self.bits).sum(axis=1, dtype=np.int32)
            return counts
        limited: NDArray[np.int32] = np.minimum(self.n_unrated, self.negatives).astype(np.int32)
        return limited

    @property
    def n_short(self) -> int:
        """Cases with fewer candidates than `negatives`."""
        return int((self.n_candidates < self.negatives).sum())

    def bitmaps(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
        """The candidates of some cases as bitmaps. Returns a uint8 array, shape (n_rows, ceil(n_items / 8)): item 8b +
        k at bit k of byte b.
        """
        from evaluation.protocols.kernels import draw_bitmaps

        if self.bits is not None:
            stored: NDArray[np.uint8] = self.bits[rows]
            return stored
        bits = np.zeros((len(rows), -(-self.n_items // 8)), dtype=np.uint8)
        draw_bitmaps(
            stream_key(self.seed, "candidates"),
            self.users[rows],
            self.items[rows],
            self.negatives,
            self.rated_indptr,
            self.rated_items,
            self.closed,
            self.n_items,
            bits,
        )
        return bits

    def candidates(self, case: int) -> NDArray[np.int32]:
        """The candidates of one case. Returns an int32 array, shape (n_candidates[case],), ascending."""
        bits = self.bitmaps(np.array([case]))[0]
        return np.flatnonzero(np.unpackbits(bits, count=self.n_items, bitorder="little")).astype(np.int32)


def build_cases(
    train: Any,
    hidden_users: NDArray[np.integer[Any]],
    hidden_items: NDArray[np.integer[Any]],
    hidden_values: NDArray[np.floating[Any]],
    *,
    relevant: float,
    irrelevant: float,
    seed: int,
    negatives: int = 1000,
    every: bool = False,
    excluded: Excluded = "rated",
    good: NDArray[np.bool_] | None = None,
    open_items: NDArray[np.integer[Any]] | None = None,
) -> Cases:
    """Build the cases of a split. Users without a training rating have no profile to score and so no case; `left_out`
    counts theirs.

    Raises DataError for a pair that is hidden twice, or hidden and in training as well; an index out of range; a rating
    that is not finite. Sources: Cremonesi, Koren & Turrin (2010), RecSys, section 2; Cremonesi, Garzotto, Negro,
    Papadopoulos & Turrin (2011), INTERACT, section 5.1.

    `train`: csr_array, shape (n_users, n_items); training ratings. `hidden_users`, `hidden_items`: int array, shape
    (n_hidden,). `hidden_values`: float array, shape (n_hidden,); ratings that were hidden, in any order. `relevant`,
    `irrelevant`: a hidden rating of at least `relevant` is a case of T+, one of at most `irrelevant` a case of T-.
    `every`: hidden ratings between the two limits are cases as well, not relevant ones. `excluded`: {"rated",
    "trained", "none"}; which items are never candidates: those the user has rated in training or that are hidden, those
    in training alone, or none. `good`: bool array, shape (n_hidden,); which hidden ratings are relevant, where their
    values do not say so (a cold start's implicit outcome). `open_items`: the only items that may be candidates; by
    default the whole catalogue.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> train = csr_array(np.array([[4.0, 0, 0, 0, 0]]))
    >>> cases = build_cases(train, np.array([0, 0]), np.array([1, 3]), np.array([5.0, 3.0]),
    ...                    relevant=5, irrelevant=1, seed=1)
    >>> len(cases), cases.candidates(0).tolist(), cases.n_short
    (1, [2, 4], 1)
    """
    n_users, n_items = train.shape
    users = np.asarray(hidden_users, dtype=np.int64)
    items = np.asarray(hidden_items, dtype=np.int64)
    values = np.asarray(hidden_values, dtype=np.float64)
    if len(users) and (min(users.min(), items.min()) < 0 or users.max() >= n_users or items.max() >= n_items):
        raise DataError(f"A hidden rating lies outside the training set's {n_users} users × {n_items} items.")
    if good is None and not np.isfinite(values).all():
        raise DataError("A hidden rating is not a finite number.")

    counts = np.diff(train.indptr).astype(np.int64)
    is_relevant = values >= relevant if good is None else np.asarray(good, dtype=np.bool_)
    is_test = is_relevant | (values <= irrelevant) | every
    has_profile = counts[users] > 0
    is_case = is_test & has_profile
    order = np.flatnonzero(is_case)
    order = order[np.lexsort((items[order], users[order]))]
    indptr, rated_items = _excluded(train, users, items, excluded)
    closed = np.empty(0) if open_items is None else np.setdiff1d(np.arange(n_items), open_items)
    return Cases(
        users=users[order].astype(np.int32),
        items=items[order].astype(np.int32),
        is_relevant=is_relevant[order],
        values=values[order].astype(np.float32),
        rated_indptr=indptr,
        rated_items=rated_items,
        n_items=n_items,
        negatives=int(negatives),
        seed=int(seed),
        closed=closed.astype(np.int32),
        left_out={
            "hidden ratings neither relevant nor irrelevant": int((~is_test).sum()),
            "hidden ratings of users without training ratings": int((is_test & ~has_profile).sum()),
        },
    )


def _excluded(
    train: Any, users: NDArray[np.int64], items: NDArray[np.int64], excluded: Excluded
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Items that are no candidates, by rows; a pair that is hidden twice, or trained on, is refused."""
    n_users, n_items = train.shape
    counts = np.diff(train.indptr).astype(np.int64)
    rated = np.repeat(np.arange(n_users, dtype=np.int64), counts) * n_items + train.indices
    rated = np.concatenate([rated, users * n_items + items])
    rated.sort()
    duplicates = np.flatnonzero(rated[1:] == rated[:-1])
    if len(duplicates):
        user, item = divmod(int(rated[duplicates[0]]), n_items)
        raise DataError(
            f"The rating of item {item} by user {user} is hidden and in the training set, or hidden twice: "
            "a model would be measured on what it has seen."
        )
    if excluded == "none":
        return np.zeros(n_users + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    if excluded == "trained":
        return np.asarray(train.indptr, dtype=np.int64), np.asarray(train.indices, dtype=np.int32)
    per_user = counts + np.bincount(users, minlength=n_users)
    indptr = np.concatenate([[0], np.cumsum(per_user)]).astype(np.int64)
    rated -= np.repeat(np.arange(n_users, dtype=np.int64) * n_items, per_user)
    return indptr, rated.astype(np.int32)
