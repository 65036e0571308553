"""Reading plain data strictly: every error names the file, the place in it, and what is allowed there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import ParameterError


@dataclass(frozen=True)
class Field:
    """A value of a file, and the way to it ("runs.probe.n").

    Parameters
    ----------
    value : object
        As the file's reader gave it.
    file : str
    path : str

    Examples
    --------
    >>> Field({"n": 5}, "mine.yaml").mapping(required=("n",))["n"].whole(least=1)
    5
    """

    value: Any
    file: str
    path: str = ""

    def refuse(self, reason: str) -> ParameterError:
        """The error to raise about this value."""
        at = f", at {self.path}" if self.path else ""
        return ParameterError(f"{self.file}{at}: {reason}")

    def mapping(self, *, required: Collection[str] = (), optional: Collection[str] | None = None) -> dict[str, Field]:
        """The fields by name; with `optional` None any name is allowed.

        Raises
        ------
        ParameterError
            No mapping, a name missing, or one that is not known here.
        """
        if not isinstance(self.value, Mapping) or not all(isinstance(name, str) for name in self.value):
            raise self.refuse(f"names with values are needed here, not {_shown(self.value)}.")
        missing = [name for name in required if name not in self.value]
        if missing:
            raise self.refuse(f"{', '.join(missing)} is missing; needed are {', '.join(required)}.")
        if optional is not None:
            known = [*required, *optional]
            unknown = [name for name in self.value if name not in known]
            if unknown:
                raise self.refuse(f"there is no {', '.join(unknown)} here; there are {', '.join(known)}.")
        return {name: Field(value, self.file, f"{self.path}.{name}".lstrip(".")) for name, value in self.value.items()}

    def many(self, *, least: int = 0) -> list[Field]:
        """The entries of a list.

        Raises
        ------
        ParameterError
            No list, or too short a one.
        """
        if not isinstance(self.value, Sequence) or isinstance(self.value, str):
            raise self.refuse(f"a list is needed here, not {_shown(self.value)}.")
        if len(self.value) < least:
            raise self.refuse(f"at least {least} entries are needed here, not {len(self.value)}.")
        return [Field(value, self.file, f"{self.path}[{at}]") for at, value in enumerate(self.value, start=1)]

    def text(self) -> str:
        """A text that is not empty, in one line."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.refuse(f"a text is needed here, not {_shown(self.value)}.")
        return " ".join(self.value.split())

    def one_of(self, allowed: Collection[str]) -> str:
        """One of some words."""
        if not isinstance(self.value, str) or self.value not in allowed:
            raise self.refuse(f"one of {', '.join(allowed)} is needed here, not {_shown(self.value)}.")
        return self.value

    def whole(self, *, least: int) -> int:
        """A whole number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value < least:
            raise self.refuse(f"a whole number of at least {least} is needed here, not {_shown(self.value)}.")
        return self.value

    def number(self) -> float:
        """A number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.refuse(f"a number is needed here, not {_shown(self.value)}.")
        return float(self.value)

    def yes_or_no(self) -> bool:
        """A yes or a no."""
        if not isinstance(self.value, bool):
            raise self.refuse(f"yes or no is needed here, not {_shown(self.value)}.")
        return self.value

    def plain(self) -> Any:
        """A value of a setting: a text, a number, a yes or no."""
        if not isinstance(self.value, str | int | float | bool):
            raise self.refuse(f"a text or a number is needed here, not {_shown(self.value)}.")
        return self.value


def _shown(value: Any) -> str:
    text = repr(value)
    return "nothing" if value is None else text if len(text) <= 60 else f"{text[:57]}..."
