"""Studies on usage data: how participants tell which items they know, and which of them count as taken.

Usage data record that a user took an item but not how much they liked it: their scale has a single point.
With the elicitation `choice` participants choose items they have taken, and every chosen item enters the profile.
With `stars` they rate items with stars. Ratings at or above the study's threshold enter the profile as taken items;
items rated lower are left out of it and are not recommended. A study without the setting uses stars.
"""

from __future__ import annotations

from typing import Any

from studies.known_items import FIVE_STARS
from studies.settings import StudySettings

STARS, CHOICE = "stars", "choice"


def is_usage(version: Any) -> bool:
    """Whether a dataset version holds usage data: a scale of a single point."""
    return bool(version.scale_low == version.scale_high)


def choice_problem(design: StudySettings, version: Any) -> str:
    """Return why participants cannot choose items of this dataset version; empty if they can, or rate with stars."""
    if not design.is_choice or is_usage(version):
        return ""
    return (
        f"Participants cannot choose items of {version}: the dataset holds ratings, and a chosen item has no rating "
        f"from which its models could recommend. Set the elicitation to {STARS}, or use a dataset with usage data."
    )


def order_problem(design: StudySettings, version: Any) -> str:
    """Return why items of this dataset version cannot be shown in the study's order; empty if they can."""
    if design.item_order != "pop-entropy" or not is_usage(version):
        return ""
    return (
        f"Items of {version} cannot be ordered by the entropy of their ratings: usage data have no ratings that "
        "differ. Choose another order, such as entropy0, which counts missing ratings too."
    )


def taken_rule(design: StudySettings) -> str:
    """Return the rule as a sentence for the method section, the codebook and the preregistration.

    Examples
    --------
    >>> taken_rule(StudySettings())
    'The dataset holds usage data, so ratings of 4 stars or more enter the profile as taken items, and lower ones do not.'
    >>> taken_rule(StudySettings(elicitation="choice"))
    'The dataset holds usage data, so every chosen item enters the profile as a taken item, without a rating.'
    """  # noqa: E501 (a sentence as it is printed)
    if design.is_choice:
        return (
            "The dataset holds usage data, so every chosen item enters the profile as a taken item, without a rating."
        )
    scale = design.scale
    on_scale = "" if scale == FIVE_STARS else f", rated {scale.scale.words()},"
    return (
        f"The dataset holds usage data, so ratings of {design.lowest_taken:g} {scale.unit} or more{on_scale} enter "
        "the profile as taken items, and lower ones do not."
    )
