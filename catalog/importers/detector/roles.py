"""Which column holds what, and in which form times are written: roles by names and values, each with its evidence in
words. No evidence, no role.
"""

from __future__ import annotations

import itertools
import math
import re
import tomllib
import unicodedata
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path

from catalog.importers.kinds import plain, usual_kind
from catalog.importers.proposal import Column, Confidence

NAMES: dict[str, tuple[str, ...]] = {
    role: tuple(words) for role, words in tomllib.loads((Path(__file__).with_name("names.toml")).read_text()).items()
}
ROLES = ("user", "item", "rating", "time", "count", "event", "title", "author", "year", "image", "text")
LEAST_SHARE = 0.95  # of a column's filled values that have to be of a kind
LEAST_PAIRS = 0.8  # of the rows, different pairs of a user and an item that no name shows
LEAST_BY_NAME = 0.5  # the same, where the column's name says what it holds
LEAST_YEARS = 0.9
FEW_ROWS = 20  # in fewer, distinct values say nothing
MOST_POINTS = 201  # different values that a rating scale may have
MARKS = (-1, 99, 255, 999)  # what files write where nothing is rated
RANGES = ((0, 1), (-1, 1), (0.5, 4), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10), (-10, 10), (0, 100))
LONG_TEXT = 40  # characters, on average
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TYPED = re.compile(r":(token|float)(_seq)?$")  # RecBole's
_YEAR = re.compile(r"-?\d{1,4}(\.0)?|\d{4}-\d\d.*|.*\d{4}")
_FIGURES = re.compile(r"[\d.,:/ -]+")
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
# A year before 1990 is a time of a rating only by its column's name; a day count (1, 2, … 711) never is.
_SECONDS = re.compile(r"\d{9,19}(\.0+)?")
_CLOCKS = ("", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p")
_DAYS = (
    *("%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d"),
    *("%m %d, %Y", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%Y%m%d"),
)
_OTHERS = (
    *("%a %b %d %H:%M:%S %z %Y", "%a, %d %b %Y %H:%M:%S %z"),
    *(f"%Y-%m-%d {clock}" for clock in ("%H:%M:%S.%f UTC", "%H:%M:%S UTC", "%H:%M")),
    "%Y%m%d%H%M%S",
)
FORMS = (*(day + clock for day in _DAYS for clock in _CLOCKS), *_OTHERS)
TWINS = {"%m/%d": "%d/%m", "%d/%m": "%m/%d", "%m-%d": "%d-%m", "%d-%m": "%m-%d"}


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a column's name, in lower case and without accents.

    Examples
    --------
    >>> words_of("gPlusUserId"), words_of("Book-Rating"), words_of("user_id:token")
    (('g', 'plus', 'user', 'id'), ('book', 'rating'), ('user', 'id'))
    """
    bare = unicodedata.normalize("NFKD", _TYPED.sub("", name)).encode("ascii", "ignore").decode()
    return tuple(word.lower() for word in _WORDS.findall(bare))


@lru_cache(maxsize=4096)
def rank_by_name(name: str, role: str) -> int:
    """How well a name fits a role, the smaller the better; -1 where it does not.

    Examples
    --------
    >>> rank_by_name("user_id", "user"), rank_by_name("average_rating", "rating"), rank_by_name("best_book_id", "item")
    (0, -1, 1004)
    """
    words, known = words_of(name), NAMES[role]
    joined = "".join(words)
    if joined in known:
        return known.index(joined)
    if any(word in NAMES["derived"] for word in words) and role in ("rating", "user", "item"):
        return -1
    bare = [word for word in words if word not in NAMES["identity"]]
    if not bare:
        return -1
    if len(bare) == 1 and bare[0] in known:
        return known.index(bare[0])
    if len(bare) == 1:  # "userid", "bookid" in small letters
        stem = next((bare[0].removesuffix(end) for end in NAMES["identity"] if bare[0].endswith(end)), "")
        if stem in known:
            return known.index(stem)
    if bare[-1] in known and not (role in ("user", "item") and set(words) & set(NAMES["title"])):
        return 1000 + known.index(bare[-1])
    if role in ("time", "image", "title") and (inside := [word for word in bare if word in known]):
        return 2000 + known.index(inside[0]) if role != "title" else -1
    return -1


@dataclass(frozen=True)
class Sampled:
    """The sampled values of a column."""

    name: str
    texts: Sequence[str]
    at: int  # its place among the columns

    @cached_property
    def filled(self) -> list[str]:
        """Those that are not empty, trimmed."""
        return [text.strip() for text in self.texts if text.strip()]

    @cached_property
    def distinct(self) -> set[str]:
        """The different ones."""
        return set(self.filled)

    def share(self, is_it: Callable[[str], object]) -> float:
        """The share of the filled ones of which it holds."""
        return sum(bool(is_it(text)) for text in self.filled) / len(self.filled) if self.filled else 0.0

    @cached_property
    def is_number(self) -> bool:
        """Whether nearly all are numbers."""
        return self.share(NUMBER.fullmatch) >= LEAST_SHARE

    @cached_property
    def is_whole(self) -> bool:
        """Whether nearly all are whole numbers."""
        return self.share(_WHOLE.fullmatch) >= LEAST_SHARE

    @cached_property
    def numbers(self) -> list[float]:
        """The numbers among them."""
        numbers = (float(text.replace(",", ".")) for text in self.filled if NUMBER.fullmatch(text))
        return [number for number in numbers if math.isfinite(number)]

    @cached_property
    def repeats(self) -> bool:
        """Whether values come more than once."""
        return len(self.distinct) < len(self.filled)

    @cached_property
    def is_row_id(self) -> bool:
        """Whether each row has a value of its own."""
        return len(self.filled) >= FEW_ROWS and not self.repeats

    @cached_property
    def is_time(self) -> bool:
        """Whether nearly all are times of the last decades."""
        return time_format_of(self.filled[:2000]) is not None

    @cached_property
    def is_mostly_time(self) -> bool:
        """Whether most are, as is enough where the name says so: the others are faults."""
        return time_format_of(self.filled[:2000], LEAST_BY_NAME) is not None

    @cached_property
    def is_rating(self) -> bool:
        """Whether they may be ratings: few numbers, or numbers within a narrow range."""
        return self.is_number and self.is_mostly_rating

    @cached_property
    def is_mostly_rating(self) -> bool:
        """Whether most may be ratings, as is enough where the name says so."""
        if not self.numbers or len(self.numbers) < LEAST_BY_NAME * len(self.filled):
            return False
        numbers = [number for number in self.numbers if number not in MARKS] or self.numbers
        low, high = min(numbers), max(numbers)
        if all(number.is_integer() for number in numbers):
            return low >= -1000 and high <= 1000 and len(self.distinct) <= MOST_POINTS
        # Decimals: halves, or a good part of a range that scales have, which coordinates and prices are not.
        are_halves = all((2 * number).is_integer() for number in numbers)
        return any(a <= low and high <= b and (are_halves or high - low >= 0.4 * (b - a)) for a, b in RANGES)

    @cached_property
    def is_year(self) -> bool:
        """Whether nearly all are years or dates, or nothing is there."""
        return not self.filled or self.share(_YEAR.fullmatch) > LEAST_YEARS

    @cached_property
    def is_title(self) -> bool:
        """Whether nearly all are no numbers, and most differ."""
        is_name = self.share(lambda text: not _FIGURES.fullmatch(text)) > LEAST_YEARS
        return is_name and len(self.distinct) > 0.5 * len(self.filled)

    @cached_property
    def is_count(self) -> bool:
        """Whether they are counts: whole numbers from 1 with a long tail."""
        if not self.is_whole or not self.numbers or min(self.numbers) < 1:
            return False
        values = sorted(set(self.numbers))
        lowest = sum(number <= values[:3][-1] for number in self.numbers)
        has_gaps = len(values) >= 3 and max(b - a for a, b in itertools.pairwise(values)) > 2
        return values[-1] > 10 and lowest * 2 >= len(self.numbers) and has_gaps

    @cached_property
    def is_event(self) -> bool:
        """Whether they are a few frequent words."""
        n = len(self.filled)
        return (
            2 <= len(self.distinct) <= 10
            and not self.is_number
            and n >= FEW_ROWS
            and min(map(self.filled.count, self.distinct)) * 200 >= n
        )

    @cached_property
    def is_text(self) -> bool:
        """Whether they are long and mostly different."""
        return (
            bool(self.filled)
            and sum(map(len, self.filled)) / len(self.filled) >= LONG_TEXT
            and self.share(lambda text: " " in text) > 0.5
        )


def columns_of(values: Sequence[Sampled], *, has_header: bool) -> tuple[Column, ...]:
    """The columns of a table of ratings with their roles.

    Examples
    --------
    >>> rows = [["1", "7", "4.5"], ["2", "7", "3"], ["1", "8", "2"], ["2", "8", "3"]]
    >>> values = [Sampled(f"Column {at + 1}", texts, at) for at, texts in enumerate(zip(*rows))]
    >>> [column.role for column in columns_of(values, has_header=False)]
    ['user', 'item', 'rating']
    """
    assigned: dict[str, tuple[Sampled, Confidence, str]] = {}

    def free() -> list[Sampled]:
        names_taken = {each.name for each, _, _ in assigned.values()}
        return [each for each in values if each.name not in names_taken and each.filled]

    if has_header:
        _by_names(free, assigned)
        _as_days(free, assigned)
    _by_values(free, assigned, has_header=has_header, n_columns=len(values))
    roles = {each.name: (role, confidence, evidence) for role, (each, confidence, evidence) in assigned.items()}
    roles |= _item_facts(values, assigned, roles, has_header=has_header)
    return tuple(Column(each.name, *roles.get(each.name, ("", "", ""))) for each in values)


Found = dict[str, tuple[Sampled, Confidence, str]]


def _by_names(free: Callable[[], list[Sampled]], assigned: Found) -> None:
    fits: dict[str, Callable[[Sampled], bool]] = {
        "rating": lambda each: each.is_mostly_rating,
        "count": lambda each: (each.is_number and not each.is_rating) or each.is_whole,
        "event": lambda each: each.is_event,
        "time": lambda each: each.is_mostly_time,
        "user": lambda each: not each.is_row_id and not each.is_text,
        "item": lambda each: not each.is_row_id and not each.is_text,
        "basket": lambda each: not each.is_row_id,
    }
    for role in ("user", "item", "rating", "event", "count", "time", "basket"):
        if (role == "basket" and "user" in assigned) or (role == "count" and "rating" in assigned):
            continue
        ranked = sorted(
            (rank, each.at, each)
            for each in free()
            if (rank := rank_by_name(each.name, role)) >= 0 and fits[role](each)
        )
        if ranked:
            each = ranked[0][2]
            assigned["user" if role == "basket" else role] = (each, "likely", f"name; {_values_in_words(each)}")


def _as_days(free: Callable[[], list[Sampled]], assigned: Found) -> None:
    """Day, month and year in columns of their own as the time, where nothing else is."""
    parts: Found = {}
    for role, low, high in (("day", 1, 31), ("month", 1, 12), ("year", 1990, 2100)):
        for each in free():
            is_part = each.is_whole and all(low <= number <= high for number in each.numbers)
            if is_part and set(words_of(each.name)) & set(NAMES[role]):
                parts[f"time:{role}"] = (each, "likely", f"name; {_values_in_words(each)}")
    if "time" not in assigned and len(parts) == 3:
        assigned |= parts


def _by_values(free: Callable[[], list[Sampled]], assigned: Found, *, has_header: bool, n_columns: int) -> None:
    def assign(role: str, candidates: Iterable[Sampled], why: str) -> None:
        if role not in assigned and (each := next(iter(candidates), None)) is not None:
            assigned[role] = (each, "possible", f"{why}; {_values_in_words(each)}")

    assign("time", (each for each in free() if each.is_time), "times")
    unnamed = [each for each in free() if not has_header or usual_role(each.name) == ""]
    if not {"rating", "count", "event"} & assigned.keys():
        numeric = [each for each in unnamed if each.is_number and (has_header or each.at > 1) and each.repeats]
        if not has_header:
            assign("count", (each for each in reversed(numeric) if each.is_count), "whole numbers with a long tail")
            few = [each for each in numeric if each.is_rating and len(each.distinct) > 1 and each.at == n_columns - 1]
            many = [each for each in unnamed if each.is_rating and not each.is_whole and each.at > 1]
            if "count" not in assigned:
                varied = [each for each in numeric if each.is_rating and len(each.distinct) > 1]
                assign("rating", [*few, *varied, *many], "numbers of few kinds")
    ids = [
        each
        for each in unnamed
        if each.name not in {known.name for known, _, _ in assigned.values()}
        and each.repeats
        and len(each.distinct) > 1
        and not each.is_text
        and (each.is_whole or not each.is_number)
    ]
    if has_header:  # numbers on a scale beside named columns are rather its parts than ids
        ids = [each for each in ids if not each.is_whole or len(each.distinct) > 11]
        if any(each.is_row_id and rank_by_name(each.name, "item") >= 0 for each in free()):
            ids = []  # a row for each item: no ratings
    assign("user", ids, "values repeat")
    assign("item", (each for each in ids if each is not assigned.get("user", (None,))[0]), "values repeat")
    if has_header and [assigned[role][1] for role in ("user", "item") if role in assigned] == ["possible"] * 2:
        users, items = assigned["user"][0].texts, assigned["item"][0].texts
        if len(set(zip(users, items, strict=True))) < LEAST_PAIRS * len(users):
            del assigned["user"], assigned["item"]  # who rates has each item once; kinds of things come together often


def usual_role(name: str) -> str:
    """A role that the name has, whatever the values; empty where it has none."""
    if rank_by_name(name, "time") in range(2000):
        return "time"
    return (
        next((role for role in NAMES if role in ROLES and rank_by_name(name, role) >= 0), "") or usual_kind(name) or ""
    )


def facts_by_name(
    values: Iterable[Sampled], assigned: Container[str], is_fact: Callable[[Sampled, str], bool] = lambda *_: True
) -> dict[str, str]:
    """What columns without a role say of items by their names: the title, the author, the year, the picture, the
    description, a sample, and features. `is_fact` says whether a column's values can be those of a role.
    """
    free = [each for each in values if each.name not in assigned]
    facts: dict[str, str] = {}

    def assign(each: Sampled, role: str) -> None:
        if each.name not in facts and role not in facts.values() and is_fact(each, role):
            facts[each.name] = role

    for role in ("title", "author", "year", "image"):
        ranked = [(rank, each.at, each) for each in free if (rank := rank_by_name(each.name, role)) >= 0]
        for _, _, each in sorted(ranked):
            of_others = {*NAMES["user"][:9], *(() if role == "image" else ("url",))}
            if not of_others & set(words_of(each.name)) and (role != "year" or each.is_year):
                assign(each, role)
    for each in free:
        kind = usual_kind(_TYPED.sub("", each.name))
        if kind in ("plot", "trailer"):
            assign(each, kind)
        elif kind is not None and "_" not in kind and kind not in ("title", "year", "image", "excerpt", "author"):
            assign(each, f"feature:{kind}")
    return facts


def _item_facts(
    values: Sequence[Sampled], assigned: Found, roles: dict[str, tuple[str, Confidence, str]], *, has_header: bool
) -> dict[str, tuple[str, Confidence, str]]:
    """Titles, authors and other facts of items among the columns of ratings: what is constant within an item."""
    identity = assigned["item"][0] if "item" in assigned else None
    key = identity.texts if identity is not None else None
    if not has_header:
        for each in values:
            is_name = not each.is_number and not each.is_row_id and len(each.distinct) > 1
            is_beside = identity is not None and each.at > identity.at and each.name not in roles
            if is_beside and is_name and key is not None and _is_constant(key, each.texts):
                return {each.name: ("title", "possible", "text that is constant within an item")}
        return {}

    def is_fact(each: Sampled, role: str) -> bool:
        if key is None:
            return role in ("title", "author", "year", "image")
        if role == "plot":  # and no review, of which an item may have only one
            return rank_by_name(each.name, "text") < 0 and len(set(key)) < len(key) and _is_constant(key, each.texts)
        return _is_constant(key, each.texts)

    why = "constant within an item" if key is not None else "items have no other id"
    facts: dict[str, tuple[str, Confidence, str]] = {
        name: (role, "likely", f"name; {why}") for name, role in facts_by_name(values, roles, is_fact).items()
    }
    for each in values:
        is_left = each.name not in roles and each.name not in facts
        if is_left and rank_by_name(each.name, "text") >= 0 and each.is_text:
            facts[each.name] = ("text", "likely", "name; long texts")
    return facts


def _is_constant(keys: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether nearly every item has one value, in at least one column whose values differ."""
    first: dict[str, str] = {}
    n = agree = 0
    for key, text in zip(keys, texts, strict=True):
        if key.strip() and text.strip():
            n += 1
            agree += first.setdefault(key, text) == text
    repeated = n - len(first)
    return n > 0 and (agree - len(first) >= 0.9 * repeated)


def _values_in_words(each: Sampled) -> str:
    shown = sorted(each.distinct, key=lambda text: (len(text), text))
    if len(shown) <= 6:
        return ", ".join(shown)
    return f"{len(shown):,} values"


def plain_name(name: str) -> str:
    """A column's name in the form in which names are compared, without RecBole's types."""
    return plain(_TYPED.sub("", name))


def time_format_of(texts: Sequence[str], least: float = LEAST_SHARE) -> str | None:
    """The form of times, as `strptime` takes it; empty for seconds (or finer) since 1970 and ISO 8601; None: no times.

    Examples
    --------
    >>> time_format_of(["28.02.2012", "01.04.2011"]), time_format_of(["1302790671"]), time_format_of(["711", "3"])
    ('%d.%m.%Y', '', None)
    """
    forms = time_formats_of(tuple(texts), least)
    return forms[0] if forms else None


@lru_cache(maxsize=256)
def time_formats_of(texts: tuple[str, ...], least: float = LEAST_SHARE) -> tuple[str, ...]:
    """Every form in which a share of the texts are times from 1990 to next year; several where day and month could be
    either.
    """
    filled = [text.strip() for text in texts if text.strip()]
    if not filled or not any(mark.isdigit() for mark in filled[0]):
        return ()
    latest = datetime.now(UTC).timestamp() + 366 * 86_400
    if _is_most(filled, lambda text: EARLIEST <= _seconds(text) <= latest, least):
        return ("",)
    few = filled[:50]
    forms = [form for form in FORMS if _is_most(few, partial(_is_moment, form, latest), 0.9 * least)]
    return tuple(form for form in forms if _is_most(filled, partial(_is_moment, form, latest), least))


def _is_most(texts: Sequence[str], is_it: Callable[[str], bool], least: float) -> bool:
    return sum(map(is_it, texts)) >= least * len(texts)


def _seconds(text: str) -> float:
    """Seconds since 1970 of a text that gives them, or finer units, or ISO 8601; -1 for another."""
    if _SECONDS.fullmatch(text):
        number = float(text)
        while number >= 1e11:
            number /= 1000
        return number
    if len(text) < 10 or text[4:5] != "-":
        return -1
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return -1
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _is_moment(form: str, latest: float, text: str) -> bool:
    try:
        moment = datetime.strptime(text, form)  # noqa: DTZ007  # UTC where the text has no zone
    except ValueError:
        return False
    return EARLIEST <= (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() <= latest
