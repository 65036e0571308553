"""What stands in the place of an answer that was erased alone: that it was given, and nothing of what it said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ERASED: Mapping[str, bool] = {"erased": True}


def is_erased(value: Any) -> bool:
    """Whether an answer was given and has been erased since.

    Parameters
    ----------
    value : object
        An answer as it is stored.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_erased({"erased": True}), is_erased({"erased": 1}), is_erased("erased")
    (True, False, False)
    """
    # A matrix may have a row of that name; its answers are numbers or words.
    return isinstance(value, Mapping) and value.get("erased") is True
