"""Models whose only content are the words of the items' titles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalog.models import DatasetVersion
from catalog.selectors.ratings import describes, features_of
from evaluation.models import TrainedModel
from evaluation.selectors.models import algorithm_of
from recommenders import registry
from recommenders.data_limits import SILENT_KINDS

DECADE = "decade"


def learns_from_titles_alone(version: DatasetVersion, model: TrainedModel) -> bool:
    """Whether a model on this dataset has no content but the words of titles; False where its class is not known."""
    is_known = algorithm_of(model) is not None
    return is_known and _use(model.algorithm, model.params) == "alone" and not describes(features_of(version))


def title_comment(version: DatasetVersion, algorithm: str, params: Mapping[str, Any]) -> str:
    """A sentence on a model that has nothing but titles, or nothing but decades, to learn from; else empty."""
    kind = registry.algorithm(algorithm)
    label = kind.label(registry.params_of(algorithm, params))
    if _use(algorithm, params) != "alone":
        return ""
    features = features_of(version)
    if not describes(features):
        return f"{label} was trained on the words of the items' titles: the dataset has no other item features."
    if set(features.kinds) - SILENT_KINDS == {DECADE} and hasattr(kind.Params, "titles"):
        return (
            f"{label} was trained on the items' decades, as the dataset has no other item features; titles=add adds "
            "the words of their titles."
        )
    return ""


def _use(algorithm: str, params: Mapping[str, Any]) -> str:
    return registry.algorithm(algorithm).title_words(registry.params_of(algorithm, params))
