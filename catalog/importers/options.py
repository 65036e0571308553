"""What can be said about a source: which columns hold what, and what rows without a rating mean."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from catalog.importers.base import RatingScale
from core.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Options:
    """Which columns hold what."""

    # `user`, `item`, `rating`, `time`: columns of the file of ratings; None: found by the usual names. Without a time
    # column there are no times.
    user: str | None = None
    item: str | None = None
    rating: str | None = None
    time: str | None = None
    # Column of the file of ratings that says what the row was worth (a price, a profit); None: there is none. For
    # Ta-Feng "price" or "profit".
    utility: str | None = None
    # There are no ratings: each row says that the user took the item. There is no rating column, and the scale has one
    # point.
    usage: bool = False
    # For BookCrossing, whose 0 means that a book was used and not rated: leave these rows out, or import them alone, as
    # usage data.
    zeros: Literal["drop", "apart"] = "drop"
    delimiter: str | None = None  # one character; None: detected from the header
    decimal: str = "."  # "." or ","; the character before the decimals of a number, in delimited text
    encoding: str = "utf-8"  # of both files
    items_encoding: str | None = None  # of the file of items, where it differs
    has_header: bool = True  # of delimited ratings; without one, columns are called "Column 1", "Column 2", …
    scale: RatingScale | None = None  # None: detected from the ratings, and said so
    # A file of items with a header, delimited in its own way. Without it an item's title is its id.
    items_file: Path | None = None
    # `items_id`, `title`, `year`, `plot`, `image`, `trailer`, `item_utility`: columns of the file of items; the id, the
    # title and the year are found by the usual names. Where items have no titles, name the column of ids for them.
    # `item_utility` says what an item is worth.
    items_id: str | None = None
    title: str | None = None
    year: str | None = None
    plot: str | None = None
    image: str | None = None
    trailer: str | None = None
    item_utility: str | None = None
    features: Mapping[str, str] = field(default_factory=dict)  # kind of feature to column ("genre": "genres")
    feature_separator: str = "|"  # between the values of one feature
    languages: tuple[str, ...] = ()  # codes of the languages that localised columns (title_it) may have

    def __post_init__(self) -> None:
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ParameterError(f"The delimiter is {self.delimiter!r}: it has to be one character.")
        if self.decimal not in (".", ","):
            raise ParameterError(f"The decimal character is {self.decimal!r}: it can be a point or a comma.")
        if self.zeros not in ("drop", "apart"):
            raise ParameterError(f"zeros is {self.zeros!r}: it can be 'drop' or 'apart'.")
        if self.usage and (self.rating is not None or self.scale is not None):
            raise ParameterError(
                "Usage data have no ratings: name no column of ratings and no scale, or leave usage out."
            )
        if not self.feature_separator:
            raise ParameterError("The separator of features is empty: it has to be at least one character.")
        for encoding in filter(None, (self.encoding, self.items_encoding)):
            _check_encoding(encoding)

    @property
    def codec(self) -> str:
        """The encoding, with leave for a byte-order mark where it is UTF-8."""
        return codec_of(self.encoding)

    def changed(self) -> frozenset[str]:
        """The names of what is not as it would be by itself; languages are the installation's, and no choice."""
        usual = Options(languages=self.languages)
        return frozenset(
            option.name for option in fields(self) if getattr(self, option.name) != getattr(usual, option.name)
        )


def codec_of(encoding: str) -> str:
    """The codec of an encoding, with leave for a byte-order mark where it is UTF-8."""
    name = codecs.lookup(encoding).name
    return "utf-8-sig" if name == "utf-8" else name


def _check_encoding(encoding: str) -> None:
    try:
        codec = codec_of(encoding)
    except LookupError:
        raise ParameterError(f"There is no encoding {encoding!r}: 'utf-8', 'latin-1' and 'cp1252' are usual.") from None
    if "a,\n".encode(codec).removeprefix(codecs.BOM_UTF8) != b"a,\n":
        raise ParameterError(
            f"Files in {encoding} are not read, as their line ends are no single bytes: save the file as UTF-8."
        )
