"""Dataclasses as JSON values and back.

A field is stored under its own name unless `stored` says otherwise. A field whose type admits `Undefined` is stored as
an object with `is_defined`: true with the fields of the result, or false with the reason. The field ``of`` names the
member of a union of several dataclasses.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from core.errors import DataError
from inference.results import Undefined

T = TypeVar("T")
KIND = "of"  # the field by which members of a union differ
_STORED = "analysis.results.stored"


@dataclass(frozen=True)
class Stored:
    """How a field is stored: its key, whether its own keys join those of its owner, whether a default is left out."""

    key: str = ""
    is_flat: bool = False
    is_omitted: bool = False


def stored(key: str = "", *, is_flat: bool = False, is_omitted: bool = False) -> dict[str, Stored]:
    """Metadata of a field that is not stored simply under its name."""
    return {_STORED: Stored(key, is_flat, is_omitted)}


def storage_of(entry: Field[Any]) -> Stored:
    """How a field of a dataclass is stored."""
    return cast(Stored, entry.metadata.get(_STORED, Stored()))


@dataclass(frozen=True)
class Codec:
    """The two directions of one type."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


def encode(hint: Any, value: Any) -> Any:
    """A value of this type as JSON values."""
    return codec_of(hint).encode(value)


def decode(hint: type[T], plain: Any) -> T:
    """A value of this type from JSON values; keys that it does not know are ignored.

    Raises DataError when a key without a default is missing.
    """
    return cast(T, codec_of(cast(Hashable, hint)).decode(plain))


@cache
def codec_of(hint: Hashable) -> Codec:
    """The codec of a type: a dataclass, an enumeration, a tuple, a mapping, a union, or a plain value."""
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return _codec_of_dataclass(cast(type, hint))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Codec(lambda value: value.value, hint)
    if origin is tuple:
        return _codec_of_tuple(arguments)
    if origin is list:
        member = codec_of(arguments[0])
        return Codec(
            lambda value: [member.encode(item) for item in value], lambda plain: [member.decode(item) for item in plain]
        )
    if origin in (dict, Mapping):
        return _codec_of_mapping(codec_of(arguments[1]))
    if origin in (Union, types.UnionType):
        return _codec_of_union(arguments)
    return PLAIN


PLAIN = Codec(lambda value: value, lambda plain: plain)


def _codec_of_tuple(arguments: tuple[Any, ...]) -> Codec:
    members = [codec_of(argument) for argument in arguments if argument is not Ellipsis]
    if all(member is PLAIN for member in members):
        return Codec(list, tuple)
    if len(members) == 1:
        (member,) = members
        return Codec(
            lambda value: [member.encode(item) for item in value],
            lambda plain: tuple(member.decode(item) for item in plain),
        )
    return Codec(
        lambda value: [member.encode(item) for member, item in zip(members, value, strict=True)],
        lambda plain: tuple(member.decode(item) for member, item in zip(members, plain, strict=True)),
    )


def _codec_of_mapping(member: Codec) -> Codec:
    if member is PLAIN:
        return Codec(dict, dict)
    return Codec(
        lambda value: {key: member.encode(item) for key, item in value.items()},
        lambda plain: {key: member.decode(item) for key, item in plain.items()},
    )


def _codec_of_union(arguments: tuple[Any, ...]) -> Codec:
    members = [argument for argument in arguments if argument is not types.NoneType]
    if Undefined in members:
        codec = _codec_of_result(codec_of(next(member for member in members if member is not Undefined)))
    elif len(members) == 1:
        codec = codec_of(members[0])
    elif all(map(is_dataclass, members)):
        codec = _codec_of_kinds(members)
    else:
        return PLAIN
    if codec is PLAIN or len(members) == len(arguments):
        return codec
    return Codec(
        lambda value: None if value is None else codec.encode(value),
        lambda plain: None if plain is None else codec.decode(plain),
    )


def _codec_of_result(member: Codec) -> Codec:
    def encode_result(value: Any) -> dict[str, Any]:
        if not isinstance(value, Undefined):
            return {"is_defined": True, **member.encode(value)}
        procedure = {"procedure": value.procedure} if value.procedure else {}
        return {"is_defined": False, "reason": value.reason, **procedure}

    def decode_result(plain: Mapping[str, Any]) -> Any:
        if plain["is_defined"]:
            return member.decode(plain)
        return Undefined(plain["reason"], plain.get("procedure", ""))

    return Codec(encode_result, decode_result)


def _codec_of_kinds(members: list[Any]) -> Codec:
    by_kind = {next(entry.default for entry in fields(member) if entry.name == KIND): member for member in members}
    return Codec(
        lambda value: codec_of(cast(Hashable, type(value))).encode(value),
        lambda plain: codec_of(by_kind[plain[KIND]]).decode(plain),
    )


def _codec_of_dataclass(owner: type) -> Codec:
    hints = get_type_hints(owner)
    members = [(entry, storage_of(entry), codec_of(hints[entry.name])) for entry in fields(owner)]

    def encode_fields(value: Any) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for entry, storage, codec in members:
            item = getattr(value, entry.name)
            if storage.is_omitted and item == default_of(entry):
                continue
            if storage.is_flat:
                plain |= codec.encode(item)
            else:
                plain[storage.key or entry.name] = codec.encode(item)
        return plain

    def decode_fields(plain: Mapping[str, Any]) -> Any:
        arguments = {}
        for entry, storage, codec in members:
            key = storage.key or entry.name
            if storage.is_flat:
                arguments[entry.name] = codec.decode(plain)
            elif key in plain:
                arguments[entry.name] = codec.decode(plain[key])
            elif default_of(entry) is MISSING:
                raise DataError(f"Stored results lack {key!r} of {owner.__name__}; build the report again.")
        return owner(**arguments)

    return Codec(encode_fields, decode_fields)


def default_of(entry: Field[Any]) -> Any:
    """The default of a field; `MISSING` where it has none."""
    return entry.default if entry.default_factory is MISSING else entry.default_factory()
