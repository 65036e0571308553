"""Names of item metadata: the fields of an item and the kinds of its features."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

# What an item has one of; everything else said of it is a feature.
FIELDS = ("title", "year", "plot", "image", "trailer", "excerpt")
LOCALISED = ("title", "plot")  # the fields that may be in several languages: title_it, plot_it
LONGEST_KIND = 30
_ALSO_CALLED: Mapping[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
_BY_NAME = {alias: name for name, aliases in _ALSO_CALLED.items() for alias in (name, *aliases)}
_WITH_LANGUAGE = re.compile(r"(?P<field>.+?)[\s_.-]+(?P<language>[a-z]{2,3}(?:[_-][a-z]{2,4})?)", re.IGNORECASE)


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
    >>> usual_kind("Actors"), usual_kind("box office"), usual_kind("description_it")
    ('cast', None, 'plot_it')
    """
    localised = localised_field(name)
    return "_".join(localised) if localised else _BY_NAME.get(plain(name))


def kind_of(name: str) -> str:
    """The field or kind of a fact with this name: the usual one, else the name in lower case.

    Examples
    --------
    >>> kind_of("starring"), kind_of("Production  Company")
    ('cast', 'production company')
    """
    return usual_kind(name) or " ".join(name.lower().split())


@lru_cache(maxsize=1024)
def localised_field(name: str) -> tuple[str, str] | None:
    """The field and language code of a name such as title_it; None for other names.

    Examples
    --------
    >>> localised_field("Description-IT"), localised_field("title_pt_BR"), localised_field("genre_it")
    (('plot', 'it'), ('title', 'pt-br'), None)
    """
    match = _WITH_LANGUAGE.fullmatch(name.strip())
    field = _BY_NAME.get(plain(match["field"])) if match else None
    return (field, match["language"].lower().replace("_", "-")) if match and field in LOCALISED else None


def unknown_language(name: str, languages: Collection[str]) -> str | None:
    """The problem of a localised field in a language that is not one of `languages`; None if there is none.

    Examples
    --------
    >>> unknown_language("title_xx", ("en", "it"))
    'its language xx is not one of en, it'
    """
    localised = localised_field(name)
    if localised is None or localised[1] in languages:
        return None
    return f"its language {localised[1]} is not one of {', '.join(languages) or 'this installation'}"


def unknown_language_warnings(names: Iterable[str], languages: Collection[str]) -> list[str]:
    """One sentence for each column that is ignored for its language."""
    problems = ((name, unknown_language(name, languages)) for name in names)
    return [f"Ignored column {name}: {problem}." for name, problem in problems if problem]
