"""Makes a subset of a version by a recipe; the result is a new version of the dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from catalog.selectors.attributes import attribute_kinds, frequent_values, items_with
from catalog.selectors.parsed_items import parsed_items
from catalog.selectors.ratings import ARTEFACT_KIND, rated_between
from catalog.services.versions import store_successor
from catalog.subsetting.recipe import Recipe
from catalog.subsetting.selection import Selection, Source, select, subset_arrays
from core import artefacts
from core.errors import DataError, ParallaxError
from core.provenance import rng_for

Progress = Callable[[str, int, int | None], None]
MOST_COUNTED = 10_000_000  # ratings of a version in which a page counts what a recipe leaves


@dataclass(frozen=True, slots=True)
class SubsetResult:
    """A version with the content of a subset, and how the subset was made."""

    version: DatasetVersion
    entry: dict[str, Any]  # parent, and steps with their counts; a new version has it in its report
    is_new: bool  # whether the content made a new version


def create_subset(
    *, version: DatasetVersion, recipe: Recipe, actor: Any = None, progress: Progress | None = None
) -> SubsetResult:
    """Make a subset of a version as a new version of the dataset, completely or not at all.

    Items keep their metadata and pictures, ratings their times and utilities. The report of the new version has the
    steps with their parameters and counts, and the parent's content hash, under ``"subsets"``: one entry for every
    time a subset was made. The same recipe on the same version gives the same content, so the version that is there.
    Raises ParallaxError for `subset.refused` with the step and a remedy; `subset.nothing_removed`; `dataset.retired`.
    """
    if version.retired_at is not None:
        raise ParallaxError("dataset.retired", f"{version} is retired. Make a subset of a version that is in use.")
    arrays = artefacts.load(ARTEFACT_KIND, version.ratings_digest).arrays
    selection = _selection(version, recipe, arrays, progress)
    entry = _entry(version, recipe, selection)
    if selection.counts[0] == selection.counts[-1]:
        raise ParallaxError(
            "subset.nothing_removed", f"The recipe removes nothing from {version}. Use that version as it is."
        )
    if progress is not None:
        progress("Storing items", selection.counts[-1].items, selection.counts[-1].items)
    subset, is_new = store_successor(
        version=version,
        arrays=subset_arrays(arrays, selection),
        items=parsed_items(version, selection.items),
        what="subsets",
        entry=entry,
        reason=f"Subset of version {version.number}.",
        facts=entry,
        actor=actor,
    )
    return SubsetResult(subset, entry, is_new)


def is_counted_at_once(version: DatasetVersion) -> bool:
    """Whether a page can count what a recipe leaves; with more ratings it would take seconds."""
    return version.n_ratings <= MOST_COUNTED


def subset_counts(*, version: DatasetVersion, recipe: Recipe) -> list[tuple[str, dict[str, int]]]:
    """What each step of a recipe leaves: its words, and numbers of users, items and ratings; the version itself first.

    Nothing is stored. Raises ParallaxError for `subset.refused`.
    """
    arrays = artefacts.load(ARTEFACT_KIND, version.ratings_digest).arrays
    entry = _entry(version, recipe, _selection(version, recipe, arrays, None))
    return [
        (f"Version {version.number}", entry["before"]),
        *((step["words"], step["after"]) for step in entry["steps"]),
    ]


def _selection(
    version: DatasetVersion, recipe: Recipe, arrays: artefacts.Arrays, progress: Progress | None
) -> Selection:
    def applying(words: str, number: int, n_steps: int) -> None:
        if progress is not None:
            progress(f"Applying step “{words}”", number, n_steps)

    source = Source(
        indptr=arrays["indptr"],
        indices=arrays["indices"],
        n_items=version.n_items,
        times=arrays["timestamps"] if rated_between(version) else np.empty(0, dtype=np.int64),
        has_feature=_has_feature(version, recipe),
    )
    try:
        return select(source, recipe, rng=rng_for(recipe.seed, "subset", "users"), progress=applying)
    except DataError as problem:
        raise ParallaxError("subset.refused", f"{problem} Nothing was stored.") from problem


def _has_feature(version: DatasetVersion, recipe: Recipe) -> NDArray[np.bool_] | None:
    if recipe.feature is None:
        return None
    kind, value = recipe.feature
    has_feature = items_with(version, kind, value)
    if not has_feature.any():
        values = frequent_values(version, kind)
        known = (
            f"The most frequent values of {kind}: {', '.join(values)}."
            if values
            else f"The kinds of attributes: {', '.join(attribute_kinds(version)) or 'none'}."
        )
        raise ParallaxError("subset.refused", f"No item of {version} has {kind} = {value}. {known} Nothing was stored.")
    return has_feature


def _entry(version: DatasetVersion, recipe: Recipe, selection: Selection) -> dict[str, Any]:
    """The subset in JSON values; steps are a list, because databases do not keep the order of keys."""
    before, *after = (counts._asdict() for counts in selection.counts)
    return {
        "parent": version.number,
        "parent_hash": version.content_hash,
        "before": before,
        "steps": [
            {"step": step.key, "words": step.words, "parameters": dict(step.parameters), "after": counts}
            for step, counts in zip(recipe.steps(), after, strict=True)
        ],
    }
