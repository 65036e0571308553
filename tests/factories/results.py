"""Results of a report with only those fields that a test names."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

from analysis.results.codec import default_of, flat_fields
from inference.results import Undefined


def partial(hint: Any, plain: Any) -> Any:
    """A value of this type from JSON values; a field that is neither named nor has a default raises when read."""
    arguments = get_args(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return _dataclass(hint, plain)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(plain)
    if plain is None or not arguments:
        return plain
    if get_origin(hint) is tuple:
        hints = arguments[:1] * len(plain) if arguments[-1] is Ellipsis else arguments
        return tuple(partial(member, item) for member, item in zip(hints, plain, strict=True))
    if get_origin(hint) is dict:
        return {key: partial(arguments[1], item) for key, item in plain.items()}
    members = [member for member in arguments if member is not type(None)]
    if Undefined in members and not plain.get("is_defined", True):
        return Undefined(plain["reason"])
    return partial(members[0], plain) if is_dataclass(members[0]) else plain


def _dataclass(owner: type, plain: dict[str, Any]) -> Any:
    hints, value = get_type_hints(owner), object.__new__(owner)
    for entry in fields(owner):
        key = entry.metadata.get("alias", entry.name)
        if entry.name in flat_fields(owner):
            object.__setattr__(value, entry.name, partial(hints[entry.name], plain))
        elif key in plain:
            object.__setattr__(value, entry.name, partial(hints[entry.name], plain[key]))
        elif default_of(entry) is not MISSING:
            object.__setattr__(value, entry.name, default_of(entry))
    return value
