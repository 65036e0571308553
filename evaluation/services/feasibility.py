"""Check, before any training, whether the algorithms of a run can be trained on its data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from catalog.models import DatasetVersion
from catalog.selectors.ratings import are_counted, features_of, mean_utilities
from core import artefacts
from core.errors import DataError, ParameterError
from evaluation.models import LONGEST_LABEL
from evaluation.selectors.title_words import title_comment
from evaluation.selectors.uploads import opened_upload
from evaluation.services.optional_inputs import has_times
from evaluation.splitting.rows import reserve
from recommenders import registry
from recommenders.base import TitleWords
from recommenders.data import ItemFeatures
from recommenders.data_limits import TrainingSize
from recommenders.expected_utility import with_utilities


def feasible_algorithms(
    *,
    version: DatasetVersion,
    algorithms: Iterable[tuple[str, Mapping[str, Any]]],
    split: Mapping[str, Any],
    reserved: float,
    seed: int,
) -> tuple[tuple[tuple[str, dict[str, Any]], ...], list[str]]:
    """Check the parameters of algorithms against the data of a run, as far as these are known before the split.

    Returns key and complete parameters of each algorithm, and a sentence about each default that was lowered and each
    algorithm whose only content are titles.

    Unstated parameters get their default, or the largest possible value if that is smaller. Raises ParameterError for
    algorithms that cannot be trained on these data, each with the parameter, its value and the largest possible.
    """
    n_users = _training_users(version, split, reserved, seed)
    is_counted = split["name"] != "file" and are_counted(version)
    chosen: list[tuple[str, dict[str, Any]]] = []
    comments: list[str] = []
    refusals: list[str] = []
    for key, values in algorithms:
        kind, defaults = registry.algorithm(key), registry.params_of(key, values)
        features = _features(version, kind.title_words(defaults)) if kind.uses_features(defaults) else None
        size = TrainingSize(n_users, version.n_items, features, is_counted, has_times(version))
        try:
            params = registry.feasible_params(key, values, size)
            if not kind.is_fitted:
                opened_upload(version, key, params.as_dict())
            label = kind.label(params)
            if len(label) > LONGEST_LABEL:
                raise ParameterError(
                    f"The label {label} has {len(label)} characters, and tables hold {LONGEST_LABEL}. "
                    "Change fewer parameters from their defaults."
                )
        except (ParameterError, DataError) as refusal:
            refusals.append(str(refusal))
            continue
        lowered = {name: value for name, value in params.as_dict().items() if value != getattr(defaults, name)}
        limits = kind.limits(size) if lowered else {}
        comments += [
            f"{label} was trained with {name}={value} instead of the default of {getattr(defaults, name)}: it is the "
            f"largest possible value on these data, {limits[name].formula}."
            for name, value in lowered.items()
        ]
        comments += filter(None, [title_comment(version, key, params.as_dict())])
        chosen.append((key, params.as_dict()))
    if refusals:
        raise ParameterError(" ".join(refusals))
    return tuple(chosen), comments


def _features(version: DatasetVersion, titles: TitleWords) -> ItemFeatures:
    """Return the item features for training, with a table of utilities if rows have a utility."""
    features, utilities = features_of(version, titles), mean_utilities(version)
    return features if utilities is None else with_utilities(features, utilities)


def _training_users(version: DatasetVersion, split: Mapping[str, Any], reserved: float, seed: int) -> int:
    if split["name"] == "file":
        return len(artefacts.load("given", split["cases"]).arrays["train_indptr"]) - 1
    return version.n_users - len(reserve(version.n_users, reserved, seed))
