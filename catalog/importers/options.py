"""What can be said about a source: which columns hold what, and what rows without a rating mean."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from catalog.importers.base import RatingScale
from core.errors import ParameterError

RATING_COLUMNS = ("user", "item", "rating", "time", "count", "event")  # the options that name a column, and
ITEM_COLUMNS = ("title", "author", "year", "plot", "image", "trailer")  # of the items


@dataclass(frozen=True, slots=True)
class Options:
    """Hints of a user; they win over what is detected."""

    # Columns of the files of ratings or of items; None: detected. `items_id` is the id in the file of items,
    # `item_utility` what an item is worth there; `utility` says what a row of ratings was worth (for Ta-Feng "price" or
    # "profit").
    user: str | None = None
    item: str | None = None
    rating: str | None = None
    time: str | None = None
    count: str | None = None
    event: str | None = None
    utility: str | None = None
    items_id: str | None = None
    title: str | None = None
    author: str | None = None
    year: str | None = None
    plot: str | None = None
    image: str | None = None
    trailer: str | None = None
    item_utility: str | None = None
    events: tuple[str, ...] = ()  # the events that are imported
    # There are no ratings: each row says that the user took the item, and the scale has one point.
    usage: bool = False
    # Of ratings where 0 says that an item was used and not rated: leave these rows out, or import them alone, as usage.
    zeros: Literal["drop", "apart"] = "drop"
    not_rated: tuple[float, ...] = ()  # values that are no ratings
    # `delimiter` to `has_header`: how the files are written; None: detected.
    delimiter: str | None = None
    quoting: bool | None = None
    decimal: str | None = None
    encoding: str | None = None
    items_encoding: str | None = None  # of the file of items, where it differs
    time_format: str | None = None  # as `strptime` takes it
    has_header: bool | None = None  # without one, columns are called "Column 1", "Column 2", …
    scale: RatingScale | None = None  # None: detected from the ratings, and said so
    bins: int = 0  # equal parts of a scale without steps; 0: none
    merge_titles: bool = False  # items of one title, by one author or of one year, are one item
    items_file: Path | None = None  # a file of items
    features: Mapping[str, str] = field(default_factory=dict)  # kind of feature to column ("genre": "genres")
    feature_separator: str | None = None  # between the values of one feature; None: "|"
    languages: tuple[str, ...] = ()  # codes of the languages that localised columns (title_it) may have

    def __post_init__(self) -> None:
        if self.delimiter is not None and not self.delimiter:
            raise ParameterError("The delimiter is empty: it has to be at least one character.")
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"The decimal character is {self.decimal!r}: it can be a point or a comma.")
        if self.zeros not in ("drop", "apart"):
            raise ParameterError(f"zeros is {self.zeros!r}: it can be 'drop' or 'apart'.")
        if self.usage and (self.rating is not None or self.scale is not None):
            raise ParameterError(
                "Usage data have no ratings: name no column of ratings and no scale, or leave usage out."
            )
        if self.feature_separator == "":
            raise ParameterError("The separator of features is empty: it has to be at least one character.")
        if self.bins < 0 or self.bins == 1:
            raise ParameterError(f"A scale cannot have {self.bins} parts: give 2 or more.")
        for encoding in filter(None, (self.encoding, self.items_encoding)):
            try:
                codecs.lookup(encoding)
            except LookupError:
                raise ParameterError(
                    f"There is no encoding {encoding!r}: 'utf-8', 'latin-1' and 'cp1252' are usual."
                ) from None

    def changed(self) -> frozenset[str]:
        """The names of what is not as it would be by itself; languages are the installation's, and no choice."""
        usual = Options(languages=self.languages)
        return frozenset(
            option.name for option in fields(self) if getattr(self, option.name) != getattr(usual, option.name)
        )
