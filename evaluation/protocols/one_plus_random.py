"""The protocol "one plus random": can a model tell a rated item from a thousand that were not rated?"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError, ParameterError
from evaluation.splitting.draws import stream_key


@cache
def _kernels() -> Any:
    """The compiled loops: numba is imported at the first case, not with the application."""
    return importlib.import_module("evaluation.protocols.kernels")


@dataclass(frozen=True, slots=True)
class Cases:
    """Test cases: hidden ratings that are relevant (T+) or irrelevant (T-), and how candidates are drawn.

    The candidates of case (user, item) are drawn from the items without a rating by the user, in training
    or hidden, by a generator keyed (seed, user, item): the same for all algorithms, whatever the order,
    block or worker.

    Parameters
    ----------
    users, items : int32 array, shape (n_cases,)
        Ordered by user, then item.
    is_relevant : bool array, shape (n_cases,)
        True for T+, False for T-.
    rated_indptr : int64 array, shape (n_users + 1,)
    rated_items : int32 array, shape (n_ratings,)
        Items rated by each user, in training or hidden, by rows.
    n_items : int
    negatives : int
        Candidates wanted for a case.
    seed : int
    left_out : mapping
        Hidden ratings that are no case, in words, with counts.
    """

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    is_relevant: NDArray[np.bool_]
    rated_indptr: NDArray[np.int64]
    rated_items: NDArray[np.int32]
    n_items: int
    negatives: int
    seed: int
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.users)

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
    def n_candidates(self) -> NDArray[np.int32]:
        """Candidates of each case, shape (n_cases,): `negatives`, or all there are where fewer exist."""
        unrated = self.n_items - np.diff(self.rated_indptr)[self.users]
        wanted: NDArray[np.int32] = np.minimum(unrated, self.negatives).astype(np.int32)
        return wanted

    @property
    def n_short(self) -> int:
        """Cases with fewer candidates than `negatives`."""
        return int((self.n_candidates < self.negatives).sum())

    def candidates(self, case: int) -> NDArray[np.int32]:
        """The candidates of one case, ascending, shape (n_candidates[case],).

        Raises
        ------
        ParameterError
            There is no such case.
        """
        if not 0 <= case < len(self):
            raise ParameterError(f"There is no case {case}: they are numbered 0 to {len(self) - 1}.")
        user = int(self.users[case])
        rated = self.rated_items[self.rated_indptr[user] : self.rated_indptr[user + 1]]
        drawn = np.empty(min(self.negatives, self.n_items), dtype=np.int32)
        size = _kernels().draw_candidates(
            stream_key(self.seed, "candidates"),
            user,
            int(self.items[case]),
            rated,
            self.negatives,
            np.empty(self.n_items, dtype=np.bool_),
            drawn,
        )
        chosen: NDArray[np.int32] = np.sort(drawn[:size])
        return chosen


@dataclass(frozen=True, slots=True)
class Counts:
    """Where the test items stand among their candidates.

    Parameters
    ----------
    above, tied : int32 array, shape (n_cases,)
        Candidates scored above the test item; scored the same as it.
    n_candidates : int32 array, shape (n_cases,)
    """

    above: NDArray[np.int32]
    tied: NDArray[np.int32]
    n_candidates: NDArray[np.int32]


def make_cases(
    train: Any,
    hidden_users: NDArray[np.integer[Any]],
    hidden_items: NDArray[np.integer[Any]],
    hidden_values: NDArray[np.floating[Any]],
    *,
    relevant: float,
    irrelevant: float,
    seed: int,
    negatives: int = 1000,
) -> Cases:
    """Make the cases of a split.

    Parameters
    ----------
    train : csr_array, shape (n_users, n_items)
        Training ratings.
    hidden_users, hidden_items : int array, shape (n_hidden,)
    hidden_values : float array, shape (n_hidden,)
        Ratings that were hidden, in any order.
    relevant, irrelevant : float
        A hidden rating of at least `relevant` is a case of T+, one of at most `irrelevant` a case of T-.
    seed : int
        Of the candidates.
    negatives : int
        Candidates for a case, >= 1.

    Returns
    -------
    Cases
        Users without a training rating have no profile to score and so no case; `left_out` counts theirs.

    Raises
    ------
    ParameterError
        `negatives` below 1; `relevant` not above `irrelevant`.
    DataError
        A pair that is hidden twice, or hidden and in training as well; an index out of range; arrays of
        different lengths; a rating that is not finite.

    References
    ----------
    Cremonesi, Koren & Turrin (2010), RecSys, section 2; Cremonesi, Garzotto, Negro, Papadopoulos & Turrin
    (2011), INTERACT, section 5.1.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> train = csr_array(np.array([[4.0, 0, 0, 0, 0]]))
    >>> cases = make_cases(train, np.array([0, 0]), np.array([1, 3]), np.array([5.0, 3.0]),
    ...                    relevant=5, irrelevant=1, seed=1)
    >>> len(cases), cases.candidates(0).tolist(), cases.n_short
    (1, [2, 4], 1)
    """
    if negatives < 1:
        raise ParameterError(f"A case needs at least 1 candidate, not {negatives}.")
    if not relevant > irrelevant:
        raise ParameterError(
            f"Ratings from {relevant:g} are to be relevant and those up to {irrelevant:g} irrelevant: "
            "the first has to be above the second."
        )
    stream_key(seed, "candidates")  # a seed that cannot be used is refused here, not at the first draw
    n_users, n_items = train.shape
    users = np.asarray(hidden_users, dtype=np.int64)
    items = np.asarray(hidden_items, dtype=np.int64)
    values = np.asarray(hidden_values, dtype=np.float64)
    if not len(users) == len(items) == len(values):
        raise DataError(
            f"The hidden ratings have {len(users)} users, {len(items)} items and {len(values)} values: "
            "the three must be of one length."
        )
    if len(users) and (min(users.min(), items.min()) < 0 or users.max() >= n_users or items.max() >= n_items):
        raise DataError(f"A hidden rating lies outside the training set's {n_users} users × {n_items} items.")
    if not np.isfinite(values).all():
        raise DataError("A hidden rating is not a finite number.")

    counts = np.diff(train.indptr).astype(np.int64)
    trained = np.repeat(np.arange(n_users, dtype=np.int64), counts) * n_items + train.indices
    rated = np.sort(np.concatenate([trained, users * n_items + items]))
    twice = np.flatnonzero(np.diff(rated) == 0)
    if len(twice):
        user, item = divmod(int(rated[twice[0]]), n_items)
        raise DataError(
            f"The rating of item {item} by user {user} is hidden and in the training set, or hidden twice: "
            "a model would be measured on what it has seen."
        )
    rated_users = rated // n_items if n_items else rated
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rated_users, minlength=n_users))]).astype(np.int64)

    is_relevant = values >= relevant
    is_test = is_relevant | (values <= irrelevant)
    has_profile = counts[users] > 0
    is_case = is_test & has_profile
    order = np.flatnonzero(is_case)
    order = order[np.lexsort((items[order], users[order]))]
    return Cases(
        users=users[order].astype(np.int32),
        items=items[order].astype(np.int32),
        is_relevant=is_relevant[order],
        rated_indptr=indptr,
        rated_items=(rated - rated_users * n_items).astype(np.int32),
        n_items=n_items,
        negatives=int(negatives),
        seed=int(seed),
        left_out={
            "hidden ratings neither relevant nor irrelevant": int((~is_test).sum()),
            "hidden ratings of users without training ratings": int((is_test & ~has_profile).sum()),
        },
    )


def count_above(
    cases: Cases,
    rows: slice | NDArray[np.integer[Any]],
    scores: NDArray[np.floating[Any]],
    score_users: NDArray[np.integer[Any]],
) -> Counts:
    """Count the candidates above, and tied with, the test item of each case.

    Parameters
    ----------
    cases : Cases
    rows : slice or int array
        Which cases.
    scores : float array, shape (n_scored_users, n_items)
        A model's scores of all items. -inf ("no score") is below everything and ties with itself.
    score_users : int array, shape (n_scored_users,)
        The user of each row of `scores`, ascending. Every user of `rows` is among them.

    Returns
    -------
    Counts
        In the order of `rows`.

    Raises
    ------
    DataError
        Scores of another shape; a case whose user has no row; NaN where a score was needed.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> train = csr_array(np.array([[4.0, 0, 0, 0, 0]]))
    >>> cases = make_cases(train, np.array([0]), np.array([1]), np.array([5.0]),
    ...                    relevant=5, irrelevant=1, seed=1)
    >>> count_above(cases, slice(None), np.array([[9.0, 2.0, 3.0, 2.0, 1.0]]), np.array([0]))
    Counts(above=array([1], dtype=int32), tied=array([1], dtype=int32), n_candidates=array([3], dtype=int32))
    """
    scores = np.ascontiguousarray(scores)
    score_users = np.asarray(score_users)
    if scores.shape != (len(score_users), cases.n_items):
        raise DataError(
            f"The scores have shape {scores.shape}: it should be {(len(score_users), cases.n_items)}, "
            "scored users × items."
        )
    if not np.issubdtype(scores.dtype, np.floating):
        raise DataError(f"The scores are of type {scores.dtype}: floating point is needed.")
    chosen = np.arange(len(cases))[rows]
    users, items = cases.users[chosen], cases.items[chosen]
    score_rows = np.searchsorted(score_users, users)
    is_scored = score_rows < len(score_users)
    is_scored[is_scored] = score_users[score_rows[is_scored]] == users[is_scored]
    if not is_scored.all():
        raise DataError(f"User {users[~is_scored][0]} has a case but no row of scores (or score_users do not ascend).")
    above = np.zeros(len(chosen), dtype=np.int32)
    tied = np.zeros(len(chosen), dtype=np.int32)
    failed = _kernels().count_cases(
        stream_key(cases.seed, "candidates"),
        users,
        items,
        cases.negatives,
        cases.rated_indptr,
        cases.rated_items,
        scores,
        score_rows,
        above,
        tied,
    )
    if failed >= 0:
        raise DataError(f"A score of user {users[failed]} is not a number (NaN): 'no score' has to be -inf.")
    return Counts(above=above, tied=tied, n_candidates=cases.n_candidates[chosen])
