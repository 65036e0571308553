"""Stored results: dataclasses as JSON values and back, read and checked by pydantic.

A field is stored under its own name unless `stored` says otherwise. A field whose type admits `Undefined` is stored as
an object with `is_defined`: true with the fields of the result, or false with the reason. The literal field ``of``
names the member of a union of several dataclasses.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from dataclasses import MISSING, Field, fields
from functools import cache, partial
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaSerializer, SchemaValidator

from core.errors import DataError
from inference.results import Undefined

T = TypeVar("T")
KIND = "of"  # the field by which members of a union differ
DEFINED = "is_defined"
FLAT, OMITTED = "analysis.is_flat", "analysis.is_omitted"


def stored(key: str = "", *, is_flat: bool = False, is_omitted: bool = False) -> dict[str, Any]:
    """Metadata of a field that is stored under another key, whose own keys join those of its owner (`is_flat`), or
    which is left out where it has its default (`is_omitted`).
    """
    return {**({"alias": key} if key else {}), FLAT: is_flat, OMITTED: is_omitted}


def encode(hint: Any, value: Any) -> Any:
    """A value of this type as JSON values."""
    return _codec(hint)[1].to_python(value, mode="json", by_alias=True, warnings="error")


def decode(hint: type[T], plain: Any) -> T:
    """A value of this type from JSON values; keys that it does not know are ignored.

    Raises DataError, which names the place of the first value that is missing or of another type.
    """
    try:
        return cast(T, _codec(cast(Hashable, hint))[0].validate_python(plain))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(map(str, first["loc"]))
        raise DataError(f"Stored results cannot be read at {path}: {first['msg']}. Build the report again.") from error


@cache
def _codec(hint: Any) -> tuple[SchemaValidator, SchemaSerializer]:
    schema = core_schema(hint)
    return SchemaValidator(schema), SchemaSerializer(schema)


@cache
def core_schema(hint: Any) -> Any:
    """The schema that pydantic derives from a type, with what `stored` and `Undefined` add to it."""
    return _adapted(TypeAdapter(hint).core_schema)


def flat_fields(owner: Any) -> list[str]:
    """The fields of a dataclass whose keys are stored among its own."""
    return [entry.name for entry in fields(owner) if entry.metadata.get(FLAT)]


def default_of(entry: Field[Any]) -> Any:
    """The default of a field; `MISSING` where it has none."""
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def _adapted(node: Any) -> Any:
    if isinstance(node, list | tuple):
        return type(node)(map(_adapted, node))
    if not isinstance(node, dict):
        return node
    adapted = {key: _adapted(value) for key, value in node.items()}
    match node.get("type"):
        case "dataclass":
            return _dataclass(adapted)
        case "union":
            return _union(adapted)
        case "float":  # a whole number stays one, so that what is read is written again as it was
            number = {
                "type": "union",
                "choices": [{"type": "int", "strict": True}, adapted],
                "custom_error_type": "number",
                "custom_error_message": "Input should be a number",
            }
            return {"type": "json-or-python", "json_schema": adapted, "python_schema": number}
    return adapted


def _union(node: Any) -> Any:
    """One of several dataclasses, told by its kind; or a result, which may be undefined."""
    members = node["choices"]
    if all(hasattr(member.get("cls"), KIND) for member in members):
        return {"type": "tagged-union", "discriminator": KIND, "choices": {each["cls"].of: each for each in members}}
    reference = f"{Undefined.__module__}.{Undefined.__qualname__}:"
    is_undefined = [
        each.get("cls") is Undefined or each.get("schema_ref", "").startswith(reference) for each in members
    ]
    if True not in is_undefined:
        return node
    undefined, result = (members[is_undefined.index(sought)] for sought in (True, False))
    return {
        "type": "tagged-union",
        "discriminator": tag_of_result,
        "choices": {"defined": result, "undefined": undefined},
        "custom_error_type": "is_defined",
        "custom_error_message": f"'{DEFINED}' is neither true nor false",
        "serialization": {"type": "function-wrap", "function": _write_result, "schema": result},
    }


def tag_of_result(plain: Any) -> str | None:
    """Whether a stored result is defined, as errors name it; None where it does not say."""
    tags: dict[Any, str] = {True: "defined", False: "undefined"}
    return tags.get(plain.get(DEFINED)) if isinstance(plain, dict) else None


def _write_result(value: Any, write: Callable[[Any], Any]) -> dict[str, Any]:
    is_defined = not isinstance(value, Undefined)
    return {DEFINED: is_defined, **(write(value) if is_defined else vars(value))}


def _dataclass(node: Any) -> Any:
    """A dataclass without the defaults that are left out, and with the keys of flat fields among its own."""
    entries, flat = {entry.name: entry for entry in fields(node["cls"])}, flat_fields(node["cls"])
    for member in node["schema"]["fields"]:
        entry = entries[member["name"]]
        if entry.metadata.get(OMITTED):
            member["serialization_exclude_if"] = partial(operator.eq, default_of(entry))
    if not flat:
        return node

    def read(plain: Any) -> Any:
        return {**plain, **dict.fromkeys(flat, plain)} if isinstance(plain, dict) else plain

    def write(value: Any, handler: Callable[[Any], Any]) -> Any:
        plain = handler(value)
        for name in flat:
            plain |= plain.pop(name)
        return plain

    return {
        "type": "function-before",
        "function": {"type": "no-info", "function": read},
        "schema": {key: value for key, value in node.items() if key != "ref"},
        "serialization": {"type": "function-wrap", "function": write},
        "ref": node["ref"],
    }
