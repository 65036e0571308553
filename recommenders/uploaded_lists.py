"""Ranked lists that were made elsewhere: for everyone, a segment, a profile of ratings, or a participant."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from recommenders.data import Flags, Floats, Integers, Profiles
from recommenders.scale import Scale
from recommenders.uploaded import Uploaded

EVERYONE, SEGMENT, PROFILE, PARTICIPANT = "*", "segment:", "profile:", "participant:"
ANSWER = re.compile(r"segment:([a-z][a-z0-9_]*)=(.+)")
KEY = re.compile(r"\*|segment:.+|profile:[0-9a-f]{64}|participant:.+")


def profile_key(ids: Sequence[str], ratings: ArrayLike, scale: Scale) -> str:
    r"""The key of a profile: ``profile:`` and the SHA-256 of a text in UTF-8.

    Its first line has the low end, the high end and the step of the scale; each further line an item's id and its
    rating, by id in the order of code points. Fields are separated by a tab, lines by a newline, none at the end.
    Numbers are written as by ``%.6g`` in C.

    `ids`: the source's own, in any order. `ratings`: shape (n_rated,); on the scale.

    Examples
    --------
    >>> text = "0.5\t5\t0.5\n318\t4.5\n50\t3"
    >>> digest = hashlib.sha256(text.encode()).hexdigest()
    >>> profile_key(["50", "318"], [3, 4.5], Scale(0.5, 5, 0.5)) == f"profile:{digest}"
    True
    """
    rated = sorted(zip(ids, np.asarray(ratings, dtype=np.float64).tolist(), strict=True))
    head = f"{scale.low:.6g}\t{scale.high:.6g}\t{scale.step:.6g}"
    text = "\n".join([head, *(f"{item}\t{rating:.6g}" for item, rating in rated)])
    return PROFILE + hashlib.sha256(text.encode()).hexdigest()


def profile_keys(profiles: Profiles, ids: Sequence[str]) -> Iterator[str]:
    """The key of each profile; `ids`: of all items."""
    matrix = profiles.user_items
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        rated = [ids[item] for item in matrix.indices[start:stop]]
        yield profile_key(rated, matrix.data[start:stop], profiles.scale)


def segment_keys(user_items: sparse.csr_array, item_genres: sparse.csr_array, genres: Sequence[str]) -> list[str]:
    """The key of the most frequent genre of each profile, of several the first; empty where no item has a genre.

    `item_genres`: shape (n_items, n_genres); 1 where an item has a genre. `genres`: their names, in alphabetical order.

    Examples
    --------
    >>> has_genre = sparse.csr_array(np.array([[1, 0], [1, 1], [0, 0]]))
    >>> segment_keys(sparse.csr_array(np.array([[5.0, 1, 0], [0, 2, 0], [0, 0, 3]])), has_genre, ["Comedy", "Drama"])
    ['segment:Comedy', 'segment:Comedy', '']
    """
    is_rated = sparse.csr_array((np.ones(user_items.nnz), user_items.indices, user_items.indptr), user_items.shape)
    counts = np.asarray((is_rated @ item_genres).toarray())
    return [SEGMENT + genres[int(own.argmax())] if own.any() else "" for own in counts]


def answer_key(question: str, answer: str) -> str:
    """The key of those who gave an answer to a question."""
    return f"{SEGMENT}{question}={answer}"


def answer_keys(keys: Iterable[str], genres: Collection[str]) -> dict[str, tuple[str, str]]:
    """The question and the answer of each key of the form ``segment:QUESTION=ANSWER`` that names no genre.

    Examples
    --------
    >>> answer_keys(["*", "segment:Drama", "segment:mood=calm", "segment:a=b"], ["Drama", "a=b"])
    {'segment:mood=calm': ('mood', 'calm')}
    """
    matches = {key: ANSWER.fullmatch(key) for key in keys if key.removeprefix(SEGMENT) not in genres}
    return {key: (match[1], match[2]) for key, match in matches.items() if match}


class Lists(Uploaded):
    """Ranked lists by key, of which a profile gets the most specific: of the participant, of exactly these ratings, of
    an answer to a question (of several, the first list of the upload), of the most frequent genre, or of everyone.

    Scores are those of the list, or -1, -2, … from its top. Items outside the list have no score, and neither has any
    item for a profile without a list.

    Cost: the hash of the profile, and its list.

    Examples
    --------
    >>> from recommenders.data import Ratings
    >>> from recommenders.items import Items
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [5, 4], n_users=1, n_items=3, scale=Scale(1, 5, 1))
    >>> lists = {"list_keys": np.array(["*"]), "list_indptr": np.array([0, 2]), "list_items": np.array([2, 0])}
    >>> genres = {"genres": np.array([], dtype="U1"), "genre_indptr": np.zeros(4), "genre_indices": np.array([])}
    >>> contents = lists | genres | {"list_scores": np.array([-1.0, -2.0]), "is_known": np.array([True, False, True])}
    >>> model = Lists.read(contents, ratings, Lists.Params(upload="a digest"))
    >>> model.items = Items({"ids": lambda: ("50", "318", "7")})
    >>> model.score(Profiles.single([1], [4], n_items=3, scale=Scale(1, 5, 1))).tolist()
    [[-2.0, -inf, -1.0]]
    """

    key = "lists"
    name = "Lists"
    title = "Uploaded lists by key (Lists)"
    item_fields = frozenset({"ids"})
    context_fields = frozenset({"participant", "answers"})
    is_partial = True
    arrays = (
        *("is_known", "list_keys", "list_indptr", "list_items", "list_scores"),
        *("genres", "genre_indptr", "genre_indices"),
    )

    list_keys: NDArray[np.str_]  # shape (n_lists,)
    list_indptr: Integers  # shape (n_lists + 1,): with the next, the items of each list, best first
    list_items: NDArray[np.int32]  # shape (n_entries,)
    list_scores: Floats  # shape (n_entries,); never ascending within a list
    genres: NDArray[np.str_]  # shape (n_genres,), in alphabetical order; empty where no list is of a segment
    genre_indptr: Integers  # shape (n_items + 1,): with the next, the genres of each item
    genre_indices: NDArray[np.int32]

    def covers(self, profiles: Profiles) -> Flags:
        """Whether each profile has a list with an item outside the profile, shape (n_profiles,)."""
        matrix, is_covered = profiles.user_items, np.zeros(profiles.n_profiles, dtype=np.bool_)
        for row, own in enumerate(self._lists_of(profiles.on(self.scale))):
            rated = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
            is_covered[row] = not np.isin(self.list_items[own], rated).all()
        return is_covered

    def rows_of(self, profile: Profiles) -> dict[int, int]:
        """The row of the upload of each item that one profile's list has, by item."""
        own = next(self._lists_of(profile.on(self.scale)))
        return dict(zip(self.list_items[own].tolist(), range(own.start, own.stop), strict=True))

    def _score(self, user_items: sparse.csr_array) -> Floats:
        return self._score_profiles(Profiles(user_items, self.scale))

    def _score_profiles(self, profiles: Profiles) -> Floats:
        scores = np.full((profiles.n_profiles, self.n_items), -np.inf)
        for row, own in enumerate(self._lists_of(profiles)):
            scores[row, self.list_items[own]] = self.list_scores[own]
        return scores

    def _lists_of(self, profiles: Profiles) -> Iterator[slice]:
        """The entries of each profile's list; an empty slice where it has none."""
        for keys in zip(*self._keys_of(profiles), strict=True):
            number = next((self._numbers[key] for key in keys if key in self._numbers), None)
            yield slice(0, 0) if number is None else slice(*self.list_indptr[number : number + 2])

    def _keys_of(self, profiles: Profiles) -> tuple[Sequence[str], ...]:
        """The keys of each profile by kind, the most specific first; kinds that no list has are left empty."""
        nothing = [""] * profiles.n_profiles
        participants = [PARTICIPANT + context.get("participant", "") for context in profiles.context]
        answers = [self._answer_key(context.get("answers", {})) for context in profiles.context]
        has_profiles = any(key.startswith(PROFILE) for key in self._numbers)
        segments = nothing
        if self.genres.size:
            shape = (self.n_items, self.genres.size)
            has_genre = sparse.csr_array(
                (np.ones(self.genre_indices.size), self.genre_indices, self.genre_indptr), shape=shape
            )
            segments = segment_keys(profiles.user_items, has_genre, self.genres.tolist())
        return (
            participants or nothing,
            list(profile_keys(profiles, self.items.ids)) if has_profiles else nothing,
            answers or nothing,
            segments,
            [EVERYONE] * profiles.n_profiles,
        )

    def _answer_key(self, answers: Mapping[str, str]) -> str:
        own = {answer_key(question, answer) for question, answer in answers.items()}
        return min(own & self._numbers.keys(), key=self._numbers.__getitem__, default="")

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {key: number for number, key in enumerate(self.list_keys.tolist())}
