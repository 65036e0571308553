"""The text of settings as in commands, ``name:option=value,option=value``, beside the fields that state the same.

A form shows the text, and keeps a hidden copy of it. A text that differs from its copy was changed by hand: it then
replaces the fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COPY = "_shown"  # after the name of a text: its hidden copy


def settings_text(name: str, values: Mapping[str, Any]) -> str:
    """Write a name with its values.

    Examples
    --------
    >>> settings_text("probe", {"share": 0.1}), settings_text("toppop", {})
    ('probe:share=0.1', 'toppop')
    """
    # A value with options of its own comes first, because a list of algorithms is split where a name and ":" begin.
    ordered = sorted(values.items(), key=lambda pair: ":" not in str(pair[1]))
    options = ",".join(f"{key}={value!r}" if isinstance(value, float) else f"{key}={value}" for key, value in ordered)
    return f"{name}:{options}" if options else name


def is_changed(data: Mapping[str, Any], name: str) -> bool:
    """Return whether the text `name` was changed by hand since the page was shown."""
    text, shown = (str(data.get(key) or "").split() for key in (name, f"{name}{COPY}"))
    return text != shown
