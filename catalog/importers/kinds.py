"""Names of item metadata: the fields of an item and the kinds of its features."""

from __future__ import annotations

import re
from collections.abc import Mapping

# What an item has one of; everything else said of it is a feature.
FIELDS = ("title", "year", "plot", "image", "trailer")
LONGEST_KIND = 30
# The name of a field or kind, and what else it is called, compared without case, spaces, "_", "-" and ".".
_ALSO_CALLED: Mapping[str, tuple[str, ...]] = {
    "title": ("itemtitle", "movietitle", "booktitle"),
    "year": ("releaseyear", "yearofpublication", "releasedyear"),
    "plot": ("overview", "description", "synopsis", "summary"),
    "image": ("imageurl", "poster", "posterurl", "cover", "coverurl"),
    "trailer": ("trailerurl", "trailers", "video", "videourl"),
    "genre": ("genres",),
    "person": ("people", "persons"),
    "director": ("directors", "directedby"),
    "cast": ("actor", "actors", "actress", "actresses", "starring", "stars"),
    "author": ("authors", "bookauthor", "bookauthors"),
    "writer": ("writers", "screenwriter", "screenwriters", "writtenby"),
    "producer": ("producers", "producedby"),
    "composer": ("composers", "musicby"),
    "tag": ("tags", "keyword", "keywords"),
    "country": ("countries",),
    "language": ("languages",),
    "decade": ("decades",),
    "alias": ("aliases", "alternativetitle", "alternativetitles", "akas"),
}
_BY_NAME = {alias: name for name, aliases in _ALSO_CALLED.items() for alias in (name, *aliases)}


def plain(name: str) -> str:
    """A name in the form in which names are compared.

    Examples
    --------
    >>> plain("Image_URL")
    'imageurl'
    """
    return re.sub(r"[\s_.-]", "", name).lower()


def usual_kind(name: str) -> str | None:
    """The field or kind that a column of this name holds; None if the name is unknown.

    Examples
    --------
    >>> usual_kind("Actors"), usual_kind("box office")
    ('cast', None)
    """
    return _BY_NAME.get(plain(name))


def kind_of(name: str) -> str:
    """The field or kind of a fact with this name: the usual one, else the name in lower case.

    Examples
    --------
    >>> kind_of("starring"), kind_of("Production  Company")
    ('cast', 'production company')
    """
    return usual_kind(name) or " ".join(name.lower().split())
