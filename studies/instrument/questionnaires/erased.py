"""The marker that replaces a single erased answer: the question was answered, but the content is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ERASED: Mapping[str, bool] = {"erased": True}


def is_erased(value: Any) -> bool:
    """Whether an answer has been erased.

    Examples
    --------
    >>> is_erased({"erased": True}), is_erased({"erased": 1}), is_erased("erased")
    (True, False, False)
    """
    # A matrix may have a row called "erased", but its answers are numbers or text.
    return isinstance(value, Mapping) and value.get("erased") is True
