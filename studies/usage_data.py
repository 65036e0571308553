"""Studies on usage data: which star ratings count as taken items.

Usage data record that a user took an item but not how much they liked it: their scale has a single point.
Participants still rate with stars. Ratings at or above the study's threshold enter the profile as taken items. Items
rated lower are left out of the profile and are not recommended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SETTING = "taken_from"
DEFAULT_TAKEN_FROM = 4


def is_usage(version: Any) -> bool:
    """Whether a dataset version holds usage data: a scale of a single point."""
    return bool(version.scale_low == version.scale_high)


def taken_from(settings: Mapping[str, Any]) -> int:
    """Return the lowest star rating that counts as taken.

    From 1 to 5; the default applies if the setting is missing.

    Examples
    --------
    >>> taken_from({"taken_from": 3}), taken_from({})
    (3, 4)
    """
    return int(settings.get(SETTING, DEFAULT_TAKEN_FROM))


def taken_rule(settings: Mapping[str, Any]) -> str:
    """Return the rule as a sentence for the method section, the codebook and the preregistration.

    Examples
    --------
    >>> taken_rule({})
    'The dataset holds usage data, so ratings of 4 stars or more enter the profile as taken items, and lower ones do not.'
    """  # noqa: E501 (a sentence as it is printed)
    return (
        f"The dataset holds usage data, so ratings of {taken_from(settings)} stars or more enter the profile as "
        "taken items, and lower ones do not."
    )
