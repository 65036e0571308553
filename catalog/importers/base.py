"""What every importer returns: a parsed dataset, an import report, or a refusal that names lines.

Importers know files and arrays, no database: `parse` reads everything, checks everything and returns, or
raises `ImportRefused` having changed nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from core.errors import DataError, ParameterError

LONGEST_ID = 100  # characters; what the catalogue's rows can hold
LONGEST_TITLE = 300
LONGEST_FEATURE = 200
LONGEST_ADDRESS = 500
_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"]+")
_TOLERANCE = 1e-4  # of a step
_VALUES_AT_A_TIME = 1 << 16  # what a cache holds

# Called now and then while a file is read: its name, and the rows read of it so far.
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """One thing wrong with a source."""

    file: str  # the file's name inside the source
    line: int | None  # physical line (or row), from 1; None where the trouble is the file as a whole
    column: str | None  # the column's name, where one column is to blame
    reason: str  # what is wrong, in words that follow a colon
    unit: str = "line"  # what `line` counts: lines, or rows of a file that has none
    kind: str = ""  # "rating off the scale", "unknown item", …

    def __str__(self) -> str:
        position = self.file
        if self.line is not None:
            position += f", {self.unit} {self.line}"
        if self.column is not None:
            position += f", column {self.column}"
        return f"{position}: {self.reason}"


class ImportRefused(DataError):
    """A source that is not taken: nothing of it was imported.

    `problems` has the first of each kind, at least one; `total` how many there are in all, where more were counted than
    kept; `counts` says how many there are of each kind. `advice` says in a full sentence what to do now. `options` are
    fields of `Options` and `Policy` that would help, by which a program that asks in its own words, such as a command
    with flags, names them.
    """

    def __init__(
        self,
        problems: Iterable[ImportProblem],
        *,
        total: int | None = None,
        advice: str = "",
        options: Iterable[str] = (),
        counts: Mapping[str, int] | None = None,
    ) -> None:
        self.problems = tuple(problems)
        self.options = tuple(options)
        self.counts = dict(counts or {})
        self.total = len(self.problems) if total is None else total
        remaining = self.total - 1
        more = "" if remaining < 1 else f" ({remaining:,} more {'problem' if remaining == 1 else 'problems'})"
        super().__init__(f"{self.problems[0]}.{more}{' ' + advice if advice else ''}")


class UnsupportedOptions(ParameterError):
    """Options that a format does not take. Both are fields of `Options`."""

    def __init__(self, source_format: str, untaken: Iterable[str], accepted: Iterable[str]) -> None:
        self.source_format = source_format
        self.untaken, self.taken = tuple(untaken), tuple(accepted)
        takes = ", ".join(self.taken) or "none: its columns are fixed"
        super().__init__(f"Format {source_format} has no option {', '.join(self.untaken)}; it takes {takes}.")


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a source may unfold, so that a small archive cannot fill a machine."""

    bytes_unpacked: int = 32 * 2**30  # of all files of the source together, unpacked
    ratio: float = 100.0  # unpacked over packed size, looked at beyond `bytes_unsuspicious`
    bytes_unsuspicious: int = 16 * 2**20  # an unpacked size that no ratio makes suspicious
    members: int = 20_000  # files in an archive


@dataclass(frozen=True, slots=True)
class Policy:
    """What an import does with rows it cannot take."""

    # A rating off the scale, a field that is missing or no number, broken encoding, an unknown item: refuse the source,
    # or leave the row out and count it.
    on_bad_row: Literal["refuse", "drop"] = "refuse"
    # A user's second row of an item: refuse the source, or keep the last or first in the file's order, or the last with
    # the mean of all. "auto" refuses a second rating; in usage data it counts repeated use once. "count", for usage
    # data, also stores how often each pair came.
    duplicates: Literal["auto", "refuse", "last", "first", "mean", "count"] = "auto"
    limits: Limits = field(default_factory=Limits)
    # Kinds of problems whose rows are left out ("missing-field"), or of repeats the last kept ("repeats"); "all".
    fix: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.on_bad_row not in ("refuse", "drop"):
            raise ParameterError(f"on_bad_row is {self.on_bad_row!r}: it can be 'refuse' or 'drop'.")
        policies = ("auto", "refuse", "last", "first", "mean", "count")
        if self.duplicates not in policies:
            raise ParameterError(f"duplicates is {self.duplicates!r}: it can be {', '.join(map(repr, policies))}.")

    def fixes(self, kind: str) -> bool:
        """Whether the rows with a kind of problem are left out."""
        return self.on_bad_row == "drop" or "all" in self.fix or kind.replace(" ", "-") in self.fix


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import read, kept and dropped."""

    source_format: str  # the importer's name
    files: tuple[str, ...]  # the files that were read
    # `rows_read`, `rows_kept`: ratings in the source; ratings in the dataset.
    rows_read: int
    rows_kept: int
    dropped: dict[str, int]  # reason to number of rows left out, of ratings and of the other files
    examples: dict[str, tuple[ImportProblem, ...]]  # reason to the first rows left out, at most ten of each
    warnings: tuple[str, ...]  # full sentences about what was taken, but is worth knowing
    scale: str  # the scale of ratings, and whether it was declared or detected
    item_column: str = ""  # the name of the column of items; not part of the stored report
    # What the source holds and lacks, how its values became ratings, and the recipe to import it again; empty in the
    # reports of metadata.
    summary: Mapping[str, Any] = field(default_factory=dict)
    mapping: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The report in JSON values."""
        stored: dict[str, Any] = TypeAdapter(ImportReport).dump_python(self, mode="json", exclude={"item_column"})
        return {name: value for name, value in stored.items() if value or name not in ("summary", "mapping", "recipe")}


@dataclass(frozen=True, slots=True)
class ParsedItem:
    """One item as its source describes it."""

    external_id: str  # the source's own id
    title: str  # as people say it ("The Matrix")
    year: int | None = None
    plot: str = ""  # empty where the source has none
    # (kind, value); kinds: genre, tag, decade, alias, director, …; no pair twice.
    features: tuple[tuple[str, str], ...] = ()
    # `image_url`, `trailer_url`: empty where the source has none.
    image_url: str = ""
    trailer_url: str = ""
    clip: str = ""  # the stored name of a file of video or audio
    excerpt: str = ""
    links: tuple[tuple[str, str], ...] = ()  # (place, id); the item's id elsewhere ("imdb", "0114709")
    image: str = ""  # the stored name of a picture of its own; empty where it has none
    # Texts in other languages: {"it": {"title": …, "plot": …}}; none empty.
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RatingScale:
    """The values a rating can have: `low`, `low` + `step`, … `high`; with a step of 0 any between; a single value in
    usage data.
    """

    low: float
    high: float
    step: float
    is_declared: bool = True

    def __post_init__(self) -> None:
        numbers = np.array([self.low, self.high, self.step], dtype=np.float64)
        if not np.isfinite(numbers).all() or self.low > self.high or self.step < 0:
            raise ParameterError(
                f"A scale from {self.low:g} to {self.high:g} in steps of {self.step:g} cannot be: "
                "low must not be above high, and the step not be below 0."
            )
        steps = (self.high - self.low) / self.step if self.step else 0
        if abs(steps - round(steps)) > 1e-6:
            raise ParameterError(
                f"Steps of {self.step:g} do not lead from {self.low:g} to {self.high:g}: "
                "give a step that divides the scale."
            )

    def __str__(self) -> str:
        if self.low == self.high:
            return "usage: taken or not, without ratings"
        how = "declared" if self.is_declared else "detected from the ratings"
        steps = f"in steps of {self.step:g}" if self.step else "without steps"
        return f"{self.low:g} to {self.high:g} {steps}, {how}"

    def values(self) -> tuple[float, ...]:
        """Every point of the scale, lowest first; of a scale without steps its ends."""
        if not self.step:
            return (self.low, self.high)
        steps = round((self.high - self.low) / self.step)
        return tuple(float(f"{self.low + at * self.step:.12g}") for at in range(steps + 1))

    def is_on(self, values: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
        """Whether each value is one of the scale's, to 1e-4 of a step; NaN is not."""
        if not self.step:
            margin = _TOLERANCE * (self.high - self.low) / 100
            return np.asarray((values >= self.low - margin) & (values <= self.high + margin))
        answer = np.empty(len(values), dtype=np.bool_)
        most = (self.high - self.low) / self.step + 0.5
        for start in range(0, len(values), _VALUES_AT_A_TIME):
            part = slice(start, start + _VALUES_AT_A_TIME)
            steps = (values[part].astype(np.float64) - self.low) / self.step
            with np.errstate(invalid="ignore"):
                is_whole = np.abs(steps - np.rint(steps)) <= _TOLERANCE
            answer[part] = is_whole & (steps > -0.5) & (steps < most)
        return answer

    def shifted(self, add: int) -> RatingScale:
        """The scale with a number added to every point."""
        return replace(self, low=self.low + add, high=self.high + add)


@dataclass(frozen=True, slots=True)
class ParsedDataset:
    """Ratings as index arrays and items as rows, ready to be stored."""

    # Shape (n_users,); the source's own ids, of users with at least one rating: in order of number where all are whole
    # numbers, else of text.
    user_ids: NDArray[np.str_]
    # Tuple of ParsedItem, length n_items; in the same kind of order; items without ratings are kept.
    items: tuple[ParsedItem, ...]
    # `users`, `items_rated`: shape (n_ratings,); index into `user_ids` and `items` of each rating, in the source's
    # order. No pair twice.
    users: NDArray[np.int32]
    items_rated: NDArray[np.int32]
    values: NDArray[np.float32]  # shape (n_ratings,); ratings on `scale`, finite
    # Shape (n_ratings,), or None; seconds since 1970-01-01 UTC; None where the source has no times.
    timestamps: NDArray[np.int64] | None
    scale: RatingScale
    report: ImportReport
    # Shape (n_ratings,), or None; what each row was worth; None where the source does not say.
    utilities: NDArray[np.float32] | None = None
    # Shape (n_pairs, 2), or None; users and items (indices) of the rows that the source's authors held out; None where
    # it names none.
    probe: NDArray[np.int64] | None = None
    # Shape (n_ratings,), or None; rows of the source for each pair, >= 1; None where repeated use counts once.
    counts: NDArray[np.int32] | None = None
    # Kind to values, shape (n_users,): what the source says of its users; empty texts where it says nothing.
    user_attributes: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)

    @property
    def item_ids(self) -> NDArray[np.str_]:
        """The source's own ids of items, shape (n_items,)."""
        return np.array([item.external_id for item in self.items], dtype=np.str_)

    @property
    def n_users(self) -> int:
        """Users with at least one rating."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Items, rated or not."""
        return len(self.items)

    @property
    def n_ratings(self) -> int:
        """Ratings kept."""
        return len(self.values)


def address_problem(address: str) -> str:
    """The problem of a text as a link, as text that follows it; empty if there is none.

    Examples
    --------
    >>> address_problem("https://example.org/trailer")
    ''
    >>> address_problem("javascript:alert(1)")
    'is not a web address (https://…) of at most 500 characters'
    """
    if len(address) <= LONGEST_ADDRESS and _WEB_ADDRESS.fullmatch(address):
        return ""
    return f"is not a web address (https://…) of at most {LONGEST_ADDRESS} characters"
