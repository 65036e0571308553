"""What an import would do with a source: its files, their columns with roles, the scale, and what is left to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml
from pydantic import TypeAdapter, ValidationError

from catalog.importers.reading.tables import Written
from core.errors import ParameterError

Confidence = Literal["", "certain", "likely", "possible"]
Use = Literal["ratings", "items", "users", "probe", ""]


@dataclass(frozen=True, slots=True)
class Column:
    """A column and the role that it seems to have."""

    name: str
    # user, item, rating, time (or time:day, time:month and time:year), count, event, title, author, year, image,
    # trailer, plot, text, utility, amount, cost, feature:KIND, link:PLACE, items (a list of them), clicks ("ID-1
    # ID-0"), attribute; empty: none.
    role: str = ""
    confidence: Confidence = ""
    evidence: str = ""  # in words

    @classmethod
    def of(cls, name: str, role: str, confidence: Confidence, evidence: str) -> Column:
        """The column; without a role it has no evidence either."""
        return cls(name, role, confidence, evidence) if role else cls(name)


@dataclass(frozen=True, slots=True)
class Part:
    """A file, or some of the same layout, and what it is read for."""

    files: tuple[str, ...]
    use: Use
    written: Written
    columns: tuple[Column, ...]
    is_many: bool = False  # whether an item may have several rows
    is_numbered: bool = False  # whether others refer to its rows by number, from 0

    def column(self, role: str) -> str:
        """The name of the column with a role; empty where there is none."""
        return next((column.name for column in self.columns if column.role == role), "")

    def roles(self) -> dict[str, str]:
        """The role of each column that has one."""
        return {column.name: column.role for column in self.columns if column.role}


@dataclass(frozen=True, slots=True)
class Values:
    """How the values in the file become ratings."""

    scale: str = ""  # LOW:HIGH:STEP in the file's values; empty: from all rows by the rules of `scales`
    is_observed: bool = False  # whether the scale goes from the lowest to the highest rating
    not_rated: tuple[float, ...] = ()  # values that are no ratings
    zero: Literal["", "rating"] = ""  # whether a 0 is a rating without asking
    bins: int = 0  # equal parts of a continuous scale; 0: none


@dataclass(frozen=True, slots=True)
class Question:
    """A choice that changes the result."""

    about: str  # the option that answers it
    text: str
    answers: tuple[tuple[str, str], ...]  # label, and the value of the option


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an import would do; also a recipe, saved as YAML."""

    layout: str  # the named layout, or how the ratings are written
    parts: tuple[Part, ...]
    item_type: str = ""
    values: Values = Values()
    events: tuple[str, ...] = ()  # the events that are imported
    is_usage: bool = False
    is_complete: bool = False  # whether an item that the file of items lacks is an error
    catalogue_titles: bool = False  # "Matrix, The (1999)"
    has_whole_ids: bool = False
    merges_titles: bool = False  # whether items of one title are one item
    separator: str = "|"  # between the values of one feature
    unused: tuple[str, ...] = ()  # files that are not read
    doubts: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    sample: Mapping[str, Any] = field(default_factory=dict)  # figures of the sample

    def part(self, use: Use) -> Part | None:
        """The first part with a use."""
        return next((part for part in self.parts if part.use == use), None)

    @property
    def ratings(self) -> Part:
        """The files of ratings."""
        return next(part for part in self.parts if part.use == "ratings")


_PROPOSALS = TypeAdapter(Proposal)


def as_json(proposal: Proposal) -> dict[str, Any]:
    """The proposal in JSON values, without what is as it would be by itself."""
    stored: dict[str, Any] = _PROPOSALS.dump_python(proposal, mode="json", exclude_defaults=True, exclude={"sample"})
    return stored


def of_json(stored: Mapping[str, Any]) -> Proposal:
    """The proposal of JSON values. Raises ParameterError with the places that are wrong."""
    try:
        return _PROPOSALS.validate_python(dict(stored))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'the recipe'}: {each['msg']}" for each in error.errors()[:5]
        )
        raise ParameterError(f"The recipe cannot be used: {wrong}.") from error


def as_recipe(proposal: Proposal) -> str:
    """The proposal as YAML."""
    return yaml.safe_dump(as_json(proposal), sort_keys=False, allow_unicode=True, width=110)


def of_recipe(text: str) -> Proposal:
    """The proposal of a recipe. Raises ParameterError for a text that is none."""
    try:
        stored = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ParameterError(f"The recipe is no YAML: {' '.join(str(error).split())[:200]}.") from error
    if not isinstance(stored, dict):
        raise ParameterError("The recipe is no mapping of settings.")
    return of_json(stored)
