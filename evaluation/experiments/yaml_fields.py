"""Strict access to parsed YAML: every error names the file, the path in it, and what is allowed there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import ParameterError


@dataclass(frozen=True)
class Field:
    """A value in a file with its path ("runs.probe.n").

    Examples
    --------
    >>> Field({"n": 5}, "mine.yaml").mapping(required=("n",))["n"].whole(least=1)
    5
    """

    value: Any  # the parsed value
    file: str
    path: str = ""

    def refuse(self, reason: str) -> ParameterError:
        """Return the error to raise about this value."""
        at = f", at {self.path}" if self.path else ""
        return ParameterError(f"{self.file}{at}: {reason}")

    def mapping(self, *, required: Collection[str] = (), optional: Collection[str] | None = None) -> dict[str, Field]:
        """Return the fields by name; with `optional` None any name is allowed. Raises ParameterError unless
        it is a mapping with the required names and no unknown one.
        """
        if not isinstance(self.value, Mapping) or not all(isinstance(name, str) for name in self.value):
            raise self.refuse(f"expected names with values, got {_shown(self.value)}.")
        missing = [name for name in required if name not in self.value]
        if missing:
            raise self.refuse(f"{', '.join(missing)} missing; required: {', '.join(required)}.")
        if optional is not None:
            known = [*required, *optional]
            unknown = [name for name in self.value if name not in known]
            if unknown:
                raise self.refuse(f"{', '.join(unknown)} not allowed here; allowed: {', '.join(known)}.")
        return {name: Field(value, self.file, f"{self.path}.{name}".lstrip(".")) for name, value in self.value.items()}

    def many(self, *, least: int = 0) -> list[Field]:
        """Return the entries of a list. Raises ParameterError unless it is a list that is long enough."""
        if not isinstance(self.value, Sequence) or isinstance(self.value, str):
            raise self.refuse(f"expected a list, got {_shown(self.value)}.")
        if len(self.value) < least:
            raise self.refuse(f"expected at least {least} entries, got {len(self.value)}.")
        return [Field(value, self.file, f"{self.path}[{at}]") for at, value in enumerate(self.value, start=1)]

    def text(self) -> str:
        """Return a non-empty text, joined into one line."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.refuse(f"expected a text, got {_shown(self.value)}.")
        return " ".join(self.value.split())

    def one_of(self, allowed: Collection[str]) -> str:
        """Return one of the allowed words."""
        if not isinstance(self.value, str) or self.value not in allowed:
            raise self.refuse(f"expected one of {', '.join(allowed)}, got {_shown(self.value)}.")
        return self.value

    def whole(self, *, least: int) -> int:
        """Return a whole number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value < least:
            raise self.refuse(f"expected a whole number of at least {least}, got {_shown(self.value)}.")
        return self.value

    def number(self) -> float:
        """Return a number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.refuse(f"expected a number, got {_shown(self.value)}.")
        return float(self.value)

    def yes_or_no(self) -> bool:
        """Return a boolean."""
        if not isinstance(self.value, bool):
            raise self.refuse(f"expected yes or no, got {_shown(self.value)}.")
        return self.value

    def plain(self) -> Any:
        """Return the value of a setting: a text, a number or a boolean."""
        if not isinstance(self.value, str | int | float | bool):
            raise self.refuse(f"expected a text or a number, got {_shown(self.value)}.")
        return self.value


def _shown(value: Any) -> str:
    text = repr(value)
    return "nothing" if value is None else text if len(text) <= 60 else f"{text[:57]}..."
