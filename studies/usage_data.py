"""Studies on usage data: how participants tell which items they know, and which of them count as taken.

Usage data record that a user took an item but not how much they liked it: their scale has a single point.
With the elicitation `choice` participants choose items they have taken, and every chosen item enters the profile.
With `stars` they rate items with stars. Ratings at or above the study's threshold enter the profile as taken items;
items rated lower are left out of it and are not recommended. A study without the setting uses stars.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.known_items import FIVE_STARS, elicitation_scale

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


def order_problem(settings: Mapping[str, Any], version: Any) -> str:
    """Return why items of this dataset version cannot be shown in the study's order; empty if they can."""
    if settings.get("item_order") != "pop-entropy" or not is_usage(version):
        return ""
    return (
        f"Items of {version} cannot be ordered by the entropy of their ratings: usage data have no ratings that "
        "differ. Choose another order, such as entropy0, which counts missing ratings too."
    )


def taken_from(settings: Mapping[str, Any]) -> float:
    """Return the lowest rating of a known item that counts as taken.

    It is on the study's elicitation scale; without the setting it is the point nearest to 4 of 5. Every chosen item is
    taken.

    Examples
    --------
    >>> taken_from({"taken_from": 3}), taken_from({}), taken_from({"elicitation": "choice"})
    (3, 4, 1)
    >>> taken_from({"elicitation_scale": "10-points"}), taken_from({"elicitation_scale": "half-stars"})
    (8, 4)
    """
    if is_choice(settings):
        return USED
    scale = elicitation_scale(settings)
    default = scale.value(scale.nearest_point(DEFAULT_TAKEN_FROM, FIVE_STARS.scale))
    lowest = float(settings.get(SETTING, default))
    return int(lowest) if lowest.is_integer() else lowest


def is_taken(settings: Mapping[str, Any], point: int) -> bool:
    """Return whether a known item counts as taken, from its stored value.

    Examples
    --------
    >>> half_stars = {"elicitation_scale": "half-stars", "taken_from": 3.5}
    >>> is_taken(half_stars, 6), is_taken(half_stars, 7)
    (False, True)
    """
    return elicitation_scale(settings).value(point) >= taken_from(settings)


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
    scale = elicitation_scale(settings)
    on_scale = "" if scale == FIVE_STARS else f", rated {scale.scale.words()},"
    return (
        f"The dataset holds usage data, so ratings of {taken_from(settings):g} {scale.unit} or more{on_scale} enter "
        "the profile as taken items, and lower ones do not."
    )
