"""Studies on usage data: how participants tell which items they know, and which of them count as taken.

Usage data record that a user took an item but not how much they liked it: their scale has a single point.
With the elicitation `choice` participants choose items they have taken, and every chosen item enters the profile.
With `stars` they rate items with stars. Ratings at or above the study's threshold enter the profile as taken items;
items rated lower are left out of it and are not recommended. A study without the setting uses stars.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ELICITATION = "elicitation"
STARS, CHOICE = "stars", "choice"
ELICITATIONS = (STARS, CHOICE)
SETTING = "taken_from"
DEFAULT_TAKEN_FROM = 4
USED = 1  # the stored value of a chosen item: the single point of usage data


def is_usage(version: Any) -> bool:
    """Whether a dataset version holds usage data: a scale of a single point."""
    return bool(version.scale_low == version.scale_high)


def elicitation_of(settings: Mapping[str, Any]) -> str:
    """Return how participants tell which items they know, one of `ELICITATIONS`.

    Examples
    --------
    >>> elicitation_of({"elicitation": "choice"}), elicitation_of({})
    ('choice', 'stars')
    """
    return str(settings.get(ELICITATION, STARS))


def is_choice(settings: Mapping[str, Any]) -> bool:
    """Whether participants choose items instead of rating them."""
    return elicitation_of(settings) == CHOICE


def choice_problem(settings: Mapping[str, Any], version: Any) -> str:
    """Return why participants cannot choose items of this dataset version; empty if they can, or rate with stars."""
    if not is_choice(settings) or is_usage(version):
        return ""
    return (
        f"Participants cannot choose items of {version}: the dataset holds ratings, and a chosen item has no rating "
        f"from which its models could recommend. Set the elicitation to {STARS}, or use a dataset with usage data."
    )


def taken_from(settings: Mapping[str, Any]) -> int:
    """Return the lowest stored value of a known item that counts as taken.

    Stars from 1 to 5, with a default if the setting is missing; every chosen item is taken.

    Examples
    --------
    >>> taken_from({"taken_from": 3}), taken_from({}), taken_from({"elicitation": "choice"})
    (3, 4, 1)
    """
    return USED if is_choice(settings) else int(settings.get(SETTING, DEFAULT_TAKEN_FROM))


def taken_rule(settings: Mapping[str, Any]) -> str:
    """Return the rule as a sentence for the method section, the codebook and the preregistration.

    Examples
    --------
    >>> taken_rule({})
    'The dataset holds usage data, so ratings of 4 stars or more enter the profile as taken items, and lower ones do not.'
    >>> taken_rule({"elicitation": "choice"})
    'The dataset holds usage data, so every chosen item enters the profile as a taken item, without a rating.'
    """  # noqa: E501 (a sentence as it is printed)
    if is_choice(settings):
        return (
            "The dataset holds usage data, so every chosen item enters the profile as a taken item, without a rating."
        )
    return (
        f"The dataset holds usage data, so ratings of {taken_from(settings)} stars or more enter the profile as "
        "taken items, and lower ones do not."
    )
