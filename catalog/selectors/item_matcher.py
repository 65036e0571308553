"""Finds items by words, with tolerance for typing errors. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from catalog.selectors.text_folding import LITTLE_WORDS, fold, without_article, words

# How well an item answers, best first. Within one tier similarity counts, then popularity.
TITLE, TITLE_WORDS, TITLE_START, WORDS, CLOSE, PARTLY, NOTHING = range(7)

SIMILAR_TITLE = 0.75  # of 1, of two whole titles without spaces
SHORTEST_FORGIVEN = 4  # letters; in shorter words another letter is another word
SHORTEST_JOINED = 5
ROMAN = {"ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "x": "10"}
NUMERALS = ROMAN | {digit: roman for roman, digit in ROMAN.items()}
LAST_OF_ALPHABET = "\U0010ffff"


@dataclass(frozen=True)
class Document:
    """The words by which one item is found."""

    titles: Sequence[str]  # its title and its other titles
    people: Sequence[str] = ()  # directors and cast
    labels: Sequence[str] = ()  # genres, and the year and decade as people write them ("1999", "90s")


class Matcher:
    """An index over documents; it never changes once built.

    `popularity`, shape (n_items,), orders items that answer equally well.

    Examples
    --------
    >>> films = [Document(["The Matrix"], ["Lana Wachowski"]), Document(["Amélie"], labels=["2001"])]
    >>> matcher = Matcher(films, np.array([10, 20]))
    >>> [matcher.match(query).tolist() for query in ("matrx", "amelie", "wachowski 1999", "2001")]
    [[0], [1], [0], [1]]
    """

    def __init__(self, documents: Sequence[Document], popularity: NDArray[np.int64]) -> None:
        self.n_items = len(documents)
        self._popularity = popularity
        anywhere: dict[str, set[int]] = {}
        in_titles: dict[str, set[int]] = {}
        whole: dict[str, set[int]] = {}
        names: dict[str, set[int]] = {}
        for item, document in enumerate(documents):
            for title in document.titles:
                whole.setdefault(without_article(title), set()).add(item)
                for word in _with_numerals(words(title)):
                    in_titles.setdefault(word, set()).add(item)
                    anywhere.setdefault(word, set()).add(item)
            for person in document.people:
                names.setdefault(fold(person), set()).add(item)
            for text in (*document.people, *document.labels):
                for word in words(text):
                    anywhere.setdefault(word, set()).add(item)
        self._words = sorted(anywhere)
        self._anywhere = [_sorted(anywhere[word]) for word in self._words]
        self._in_titles = {word: _sorted(items) for word, items in in_titles.items()}
        self._names = {name: _sorted(items) for name, items in names.items()}
        self._titles = sorted(whole)
        self._of_title = [_sorted(whole[title]) for title in self._titles]
        # Titles without spaces find "spiderman" and "god father".
        joined = sorted((title.replace(" ", ""), at) for at, title in enumerate(self._titles))
        self._joined = [text for text, _ in joined]
        self._title_of_joined = [at for _, at in joined]
        self._by_length: dict[int, list[int]] = {}
        for at, word in enumerate(self._words):
            if word.isalpha():
                self._by_length.setdefault(len(word), []).append(at)

    def match(self, query: str) -> NDArray[np.int64]:
        """Items that answer the query, best first; none for a query without a word."""
        query_words = words(query)
        if not query_words:
            return np.empty(0, dtype=np.int64)
        key_words = [word for word in query_words if word not in LITTLE_WORDS] or query_words
        tier = np.full(self.n_items, NOTHING, dtype=np.int8)
        likeness = np.zeros(self.n_items)
        begun = [self._begun_by(word, is_last=word == query_words[-1]) for word in key_words]
        _lower(tier, np.flatnonzero(np.logical_and.reduce(begun)), WORDS)
        self._place_titles(tier, without_article(query))
        in_titles = [self._in_titles.get(word, _NONE) for word in key_words]
        _lower(tier, reduce(partial(np.intersect1d, assume_unique=True), in_titles), TITLE_WORDS)
        _lower(tier, self._names.get(" ".join(query_words), _NONE), TITLE_WORDS)
        is_exact = tier < NOTHING
        self._place_similar_titles(tier, likeness, without_article(query).replace(" ", ""))
        if not is_exact.any():
            self._place_similar_words(tier, likeness, key_words, begun)
        matches = np.flatnonzero(tier < NOTHING)
        order = np.lexsort((matches, -self._popularity[matches], -np.round(likeness[matches], 2), tier[matches]))
        return np.asarray(matches[order], dtype=np.int64)

    def _begun_by(self, word: str, *, is_last: bool) -> NDArray[np.bool_]:
        """Items with the word, or with one that begins with it (a number never, a short word while it is typed)."""
        is_found = np.zeros(self.n_items, dtype=np.bool_)
        first = bisect_left(self._words, word)
        end = first + (first < len(self._words) and self._words[first] == word)
        if not word.isdecimal() and (is_last or len(word) >= SHORTEST_FORGIVEN):
            end = bisect_left(self._words, word + LAST_OF_ALPHABET)
        for items in self._anywhere[first:end]:
            is_found[items] = True
        return is_found

    def _place_titles(self, tier: NDArray[np.int8], title: str) -> None:
        for texts, of_text, text in (
            (self._titles, range(len(self._titles)), title),
            (self._joined, self._title_of_joined, title.replace(" ", "")),
        ):
            for at in range(bisect_left(texts, text), bisect_left(texts, text + LAST_OF_ALPHABET)):
                _lower(tier, self._of_title[of_text[at]], TITLE if texts[at] == text else TITLE_START)

    def _place_similar_titles(self, tier: NDArray[np.int8], likeness: NDArray[np.float64], joined: str) -> None:
        if len(joined) < SHORTEST_FORGIVEN or joined.isdecimal():
            return
        cutoff = SIMILAR_TITLE if len(joined) < SHORTEST_JOINED else SIMILAR_TITLE + 0.05
        similar = process.extract(
            joined, self._joined, scorer=OSA.normalized_similarity, score_cutoff=cutoff, limit=None
        )
        for _, similarity, at in similar:
            items = self._of_title[self._title_of_joined[at]]
            items = items[tier[items] >= CLOSE]
            tier[items] = CLOSE
            likeness[items] = np.maximum(likeness[items], similarity)

    def _place_similar_words(
        self,
        tier: NDArray[np.int8],
        likeness: NDArray[np.float64],
        key_words: Sequence[str],
        begun: Sequence[NDArray[np.bool_]],
    ) -> None:
        """Items with words like those asked for; with all but one of them where none has all."""
        like = np.stack([self._like(word, is_begun) for word, is_begun in zip(key_words, begun, strict=True)])
        n_found = (like > 0).sum(axis=0)
        for needed, new_tier in ((len(key_words), CLOSE), (max(len(key_words) - 1, 1), PARTLY)):
            items = np.flatnonzero((n_found >= needed) & (tier >= new_tier))
            if items.size:
                tier[items] = new_tier
                likeness[items] = np.maximum(likeness[items], like[:, items].mean(axis=0))
            if (tier < NOTHING).any():
                return

    def _like(self, word: str, is_begun: NDArray[np.bool_]) -> NDArray[np.float64]:
        """How like the word the most similar word of each item is, 0 to 1; 0 where none is close."""
        like = np.where(is_begun, 1.0, 0.0)
        allowed = _typos(word)
        if not allowed or is_begun.any():
            return like
        lengths = range(len(word) - allowed, len(word) + allowed + 1)
        at = [at for length in lengths for at in self._by_length.get(length, ())]
        near = process.extract(
            word, [self._words[position] for position in at], scorer=OSA.distance, score_cutoff=allowed, limit=None
        )
        # One typo is likelier than two: words further away count only where there is no nearer one.
        least = min((distance for _, distance, _ in near), default=0)
        for _, distance, position in near:
            if distance == least:
                items = self._anywhere[at[position]]
                like[items] = np.maximum(like[items], 1 - distance / len(word))
        return like


_NONE: NDArray[np.int64] = np.empty(0, dtype=np.int64)


def _typos(word: str) -> int:
    """Letters that may be wrong, missing, too many or swapped in a word of this length."""
    if len(word) < SHORTEST_FORGIVEN or not word.isalpha():
        return 0
    return 1 if len(word) <= 5 else 2 if len(word) <= 9 else 3


def _with_numerals(text_words: Sequence[str]) -> Iterable[str]:
    """The words, and for a number after the first word the same in the other way of writing it (2, II)."""
    yield from text_words
    yield from (NUMERALS[word] for word in text_words[1:] if word in NUMERALS)


def _sorted(items: Iterable[int]) -> NDArray[np.int64]:
    return np.array(sorted(items), dtype=np.int64)


def _lower(tier: NDArray[np.int8], items: NDArray[np.int64], to: int) -> None:
    tier[items] = np.minimum(tier[items], to)
