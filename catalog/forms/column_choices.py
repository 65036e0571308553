"""What people choose from when they say how a table is written and what its columns hold."""

from __future__ import annotations

from catalog.importers.layout import Kind

RATINGS, USAGE = "ratings", "usage"
ROLES = {
    "": "Not used",
    "user": "User",
    "item": "Item",
    "rating": "Rating",
    "time": "Time",
    "utility": "Utility (price, profit)",
}
ITEM_ROLES = {
    "": "Not used",
    "items_id": "Id",
    "title": "Title",
    "year": "Year",
    "plot": "Description",
    "image": "Image address",
    "trailer": "Trailer address",
    **{kind: kind.capitalize() for kind in ("genre", "author", "director", "cast", "artist", "album", "brand")},
    **{kind: kind.capitalize() for kind in ("category", "publisher", "country", "language", "topic", "venue", "tag")},
}
ITEM_OPTIONS = ("items_id", "title", "year", "plot", "image", "trailer")
# By name: forms strip a tab from a value.
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " ", "colon": ":"}
ENCODINGS = {
    "utf-8": "UTF-8",
    "cp1252": "Windows-1252 (Western Europe)",
    "latin-1": "ISO 8859-1 (Latin-1)",
    "iso8859-15": "ISO 8859-15 (Latin-9)",
    "cp1250": "Windows-1250 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "gb18030": "GB 18030 (Chinese)",
    "shift_jis": "Shift JIS (Japanese)",
}
KIND_OF_ROLE: dict[str, Kind] = {"user": "id", "item": "id", "rating": "number", "time": "time", "utility": "number"}
# The option of the import that would help, and the field that sets it.
FIELD_OF = {
    "delimiter": "delimiter",
    "encoding": "encoding",
    "decimal": "decimal",
    "has_header": "has_header",
    "scale": "scale",
    "usage": "kind",
    "on_bad_row": "on_bad_row",
    "duplicates": "duplicates",
}


def delimiter_key(delimiter: str) -> str:
    """The name of a delimiter.

    Examples
    --------
    >>> delimiter_key(";")
    'semicolon'
    """
    return next((key for key, mark in DELIMITERS.items() if mark == delimiter), "comma")
