"""What a check finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Finding:
    """Something that is wrong: a stable code, where it is, what it is, and what to do.

    `ids` are the keys of the rows concerned, by their model.
    """

    code: str
    where: str
    what: str
    advice: str
    ids: Mapping[str, list[Any]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON holds it."""
        return {
            "code": self.code, "where": self.where, "what": self.what, "advice": self.advice, "ids": dict(self.ids),
        }  # fmt: skip
