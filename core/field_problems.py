"""Problems of a document by field: pydantic's errors as sentences that say where, what is expected, and what is there.

Presets, settings, questions, experiments and recipes are documents that people write. All problems are reported at
once, each with its path in the document as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from core.errors import ParameterError

Path = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)
LONGEST_VALUE = 80  # characters of a refused value that are repeated

# What was expected in place of the value, by pydantic's type of error; braces name facts in the error's context.
_EXPECTED: Mapping[str, str] = {
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "none_required": "nothing",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "names with values",
    "mapping_type": "names with values",
    "model_type": "names with values",
    "model_attributes_type": "names with values",
    "dataclass_type": "names with values",
    "literal_error": "one of {expected}",
    "enum": "one of {expected}",
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than": "a number below {lt:g}",
    "less_than_equal": "a number of at most {le:g}",
    "string_too_short": "text of {min_length} or more characters",
    "string_too_long": "text of at most {max_length} characters",
    "string_pattern_mismatch": "text that matches {pattern}",
    "too_short": "{min_length} or more entries",
    "too_long": "at most {max_length} entries",
    "union_tag_invalid": "one of {expected_tags} as {discriminator}",
    "union_tag_not_found": "names with values, {discriminator} among them",
}


@dataclass(frozen=True)
class Problem:
    """One problem of a document and how to fix it."""

    path: Path  # keys and indexes that lead to the problem
    message: str  # full sentences

    @property
    def location(self) -> str:
        """The path as a string such as ``overall[2].choices``; empty for the document itself."""
        return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path).lstrip(".")

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" if self.path else self.message


class FieldProblems(ParameterError):
    """All problems of a document."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(str(problem) for problem in self.problems))


def read_model(kind: type[Model], document: Any) -> Model:
    """The model that a document describes. Raises FieldProblems with everything that is wrong with it.

    Examples
    --------
    >>> class Length(BaseModel):
    ...     list_length: int
    >>> read_model(Length, {"list_length": "five"})
    Traceback (most recent call last):
    core.field_problems.FieldProblems: list_length: Expected a whole number; got 'five'.
    """
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        raise FieldProblems(problems_of(error, document)) from error


def problems_of(error: ValidationError, document: Any) -> list[Problem]:
    """The problems of a document that pydantic refused, each once, in the order of the document's model."""
    problems: dict[Problem, None] = {}
    entries = error.errors(include_url=False)
    for entry in entries:
        location = entry["loc"]
        if entry["type"] == "too_short" and any(
            each["loc"][: len(location)] == location != each["loc"] for each in entries
        ):
            continue  # members that are wrong are not counted: they have problems of their own
        path = _path_in(document, entry)
        cause = entry.get("ctx", {}).get("error")
        if isinstance(cause, FieldProblems):
            problems |= {Problem((*path, *each.path), each.message): None for each in cause.problems}
        else:
            problems[Problem(path, _sentence(entry, cause))] = None
    return list(problems)


def _path_in(document: Any, entry: ErrorDetails) -> Path:
    """The place of an error in the document, without the names of union members that pydantic puts between."""
    path: list[str | int] = []
    node = document
    last = len(entry["loc"]) - 1
    for position, part in enumerate(entry["loc"]):
        is_key = isinstance(node, Mapping) and part in node
        is_index = isinstance(node, list | tuple) and isinstance(part, int) and part < len(node)
        if is_key or is_index:
            node = node[part]
        elif entry["type"] != "missing" or position < last:
            continue
        path.append(part)
    return tuple(path)


def _sentence(entry: ErrorDetails, cause: Exception | None) -> str:
    kind = entry["type"]
    if cause is not None:  # of a validator of ours, which says it in full
        return str(cause)
    if kind == "missing":
        return "This is missing. Add it."
    if kind == "extra_forbidden":
        return "There is no such field. Correct its name, or remove it."
    expected = _EXPECTED.get(kind)
    if expected is None:
        return f"{entry['msg'].rstrip('.')}; got {_shown(entry['input'])}."
    return f"Expected {expected.format(**entry.get('ctx', {}))}; got {_shown(entry['input'])}."


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
