"""Parameters of an algorithm: frozen values that carry their own description and limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self, TypeVar, cast, get_type_hints

from core.errors import ParameterError

T = TypeVar("T", bound=bool | int | float | str)

TRUE_WORDS = frozenset({"true", "yes", "on", "1"})
FALSE_WORDS = frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """One parameter as a form or a schema shows it."""

    name: str
    type: type  # bool, int, float or str
    default: bool | int | float | str
    description: str
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    is_added: bool = False


def parameter(
    default: T,
    *,
    description: str,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] = (),
    is_added: bool = False,
) -> T:
    """Declare a field of a `Parameters` class with what forms, schemas and checks need to know of it.

    It stands at the right of the field's name and type.

    `minimum`, `maximum`: inclusive limits of a number. `choices`: the values allowed, for text only. `is_added`: the
    algorithm had stored models before it had the parameter; the recipe leaves out the default, so that it is theirs.
    """
    metadata = {
        "description": description,
        "minimum": minimum,
        "maximum": maximum,
        "choices": choices,
        "is_added": is_added,
    }
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Parameters:
    """Base of every algorithm's ``Params``: a frozen dataclass whose values were checked when it was made. Raises
    ParameterError if a value has the wrong type, is not finite, is outside its limits or not among its choices.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Params(Parameters):
    ...     factors: int = parameter(50, description="Number of latent factors.", minimum=1)
    >>> Params.from_mapping({"factors": "20"}).factors
    20
    """

    def __post_init__(self) -> None:
        for info in self.described():
            value = getattr(self, info.name)
            if info.type is float and isinstance(value, int) and not isinstance(value, bool):
                value = float(value)
                object.__setattr__(self, info.name, value)
            check_value(info, value)

    @classmethod
    def described(cls) -> tuple[ParameterInfo, ...]:
        """The parameters in their order, with types, defaults, descriptions and limits."""
        hints = get_type_hints(cls)
        return tuple(
            ParameterInfo(name=field.name, type=hints[field.name], default=cast(Any, field.default), **field.metadata)
            for field in fields(cls)
        )

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Parameters from names and values, text included (``{"factors": "50"}``); the rest keep their defaults. Raises
        ParameterError if a name is unknown or a value cannot be read as its type.
        """
        infos = {info.name: info for info in cls.described()}
        unknown = sorted(set(values) - set(infos))
        if unknown:
            known = ", ".join(infos) if infos else "none"
            raise ParameterError(f"There is no parameter {unknown[0]} here; the parameters are: {known}.")
        return cls(**{name: read_value(infos[name], value) for name, value in values.items()})

    def as_dict(self) -> dict[str, bool | int | float | str]:
        """Names and values, for JSON and for the recipe of a model, without added parameters at their default."""
        values = asdict(self)
        for info in self.described():
            if info.is_added and values[info.name] == info.default:
                del values[info.name]
        return values

    def changed(self) -> dict[str, bool | int | float | str]:
        """Only the values that differ from their defaults."""
        defaults = {info.name: info.default for info in self.described()}
        return {name: value for name, value in self.as_dict().items() if value != defaults[name]}


def labelled(name: str, options: Mapping[str, bool | int | float | str]) -> str:
    """A short name followed by options in their order, as tables print it.

    Examples
    --------
    >>> labelled("CorNgr", {"neighbours": 50, "shrinkage": 0.5})
    'CorNgr (neighbours=50, shrinkage=0.5)'
    """
    if not options:
        return name
    written = (f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in options.items())
    return f"{name} ({', '.join(written)})"


def read_value(info: ParameterInfo, value: Any) -> Any:
    """Read text as the parameter's type; anything else is left for the check. Raises ParameterError for other text."""
    if info.type is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str) or info.type is str:
        return value
    text = value.strip()
    if info.type is bool:
        if text.lower() in TRUE_WORDS | FALSE_WORDS:
            return text.lower() in TRUE_WORDS
        raise ParameterError(f"The parameter {info.name} is a yes or no; {value!r} is neither true nor false.")
    try:
        return info.type(text)
    except ValueError:
        kind = "a whole number" if info.type is int else "a number"
        raise ParameterError(f"The parameter {info.name} must be {kind}; {value!r} is not.") from None


def check_value(info: ParameterInfo, value: Any) -> None:
    """Raise ParameterError for a value of another type, outside the limits of its parameter or not of its choices."""
    is_type = isinstance(value, info.type) and (info.type is bool or not isinstance(value, bool))
    if not is_type:
        raise ParameterError(
            f"The parameter {info.name} must be of type {info.type.__name__}; {value!r} is {type(value).__name__}."
        )
    if info.choices and value not in info.choices:
        raise ParameterError(f"The parameter {info.name} must be one of {', '.join(info.choices)}; it is {value!r}.")
    if info.type is float and not math.isfinite(value):
        raise ParameterError(f"The parameter {info.name} must be a finite number; it is {value}.")
    if info.minimum is not None and value < info.minimum:
        raise ParameterError(f"The parameter {info.name} must be at least {info.minimum:g}; it is {value:g}.")
    if info.maximum is not None and value > info.maximum:
        raise ParameterError(f"The parameter {info.name} must be at most {info.maximum:g}; it is {value:g}.")
