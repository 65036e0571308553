"""Checks of what the class declares: attributes, parameters, limits, memory, and inputs it refuses."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders.data import Profiles, Ratings
from recommenders.data_limits import TrainingSize
from recommenders.items import ITEM_FIELDS, NO_ITEMS
from recommenders.parameters import Parameters
from recommenders.testing.trial import HALF_STARS, Trial, advise, require, require_refusal, uniform_features


def class_attributes_are_complete(trial: Trial) -> None:
    """Key, names, version, kind of score and descriptions of parameters are as forms and tables need them.

    A title without the short name and a description without a full stop are warnings.
    """
    algorithm = trial.algorithm
    require(algorithm.key == algorithm.key.strip().lower() != "", f"The key {algorithm.key!r} is not in lower case.")
    advise(algorithm.name in algorithm.title, f"The title {algorithm.title!r} does not contain {algorithm.name!r}.")
    require(algorithm.version >= 1, f"The version starts at 1; it is {algorithm.version}.")
    require(algorithm.score_kind in {"rating", "order"}, f"{algorithm.score_kind!r} is no kind of score.")
    unknown = ", ".join(sorted(algorithm.item_fields - ITEM_FIELDS))
    require(not unknown, f"There are no item fields {unknown}; there are {', '.join(sorted(ITEM_FIELDS))}.")
    is_free = not algorithm.item_fields or "items" not in algorithm.arrays
    require(is_free, "A class that asks for item fields cannot have an array called items.")
    label = algorithm.label(algorithm.Params())
    require(label.startswith(algorithm.name), f"The label {label!r} does not start with {algorithm.name!r}.")
    for info in algorithm.Params.described():
        advise(info.description.endswith("."), f"The description of {info.name} is not a sentence with a full stop.")
        require(info.type in {int, float, str, bool}, f"{info.name} is of type {info.type.__name__}.")


def wrong_parameters_are_refused(trial: Trial) -> None:
    """A wrong type, a value outside the limits or choices, and an unknown name raise ParameterError."""
    make = trial.algorithm.Params.from_mapping
    for info in trial.algorithm.Params.described():
        values: list[Any] = [None]
        if info.minimum is not None:
            values.append(info.type(info.minimum - 1))
        if info.maximum is not None:
            values.append(info.type(info.maximum + 1))
        if info.choices:
            values.append("".join(info.choices))
        for value in values:
            call = partial(make, {info.name: value})
            require_refusal(ParameterError, info.name, f"{info.name}={value!r}", call)
    require_refusal(ParameterError, "no_such_name", "an unknown name", lambda: make({"no_such_name": 1}))


def parameters_beyond_the_data_are_refused(trial: Trial) -> None:
    """A parameter limited by the size of the data is refused above its limit and accepted at it."""
    algorithm = trial.algorithm
    names = {info.name for info in algorithm.Params.described()}
    features = trial.features if algorithm.needs_features else None
    limits = algorithm.limits(TrainingSize(trial.ratings.n_users, trial.ratings.n_items, features))
    require("factors" not in names or "factors" in limits, "The method limits has no entry for factors.")
    for name, limit in limits.items():
        above = limit.largest + 1
        call = partial(trial.fit, options={name: above})
        require_refusal(ParameterError, str(limit.largest), f"{name}={above}", call)
        trial.fit(options={name: limit.largest})


def wrong_inputs_are_refused(trial: Trial) -> None:
    """Ratings, features, profiles and stored arrays that do not fit raise DataError or ParameterError."""
    algorithm, ratings, features = trial.algorithm, trial.ratings, trial.features
    rng = np.random.default_rng(0)
    empty = Ratings(sparse.csr_array(np.zeros((3, ratings.n_items))), HALF_STARS)

    def fit(ratings: Ratings, *params: Parameters, **more: Any) -> object:
        return algorithm.fit(trial.complete(ratings, features), *params, rng=rng, **more)

    foreign, refused = Parameters(), require_refusal
    refused(DataError, "no ratings", "data without ratings", lambda: fit(empty, features=features))
    refused(ParameterError, "its own parameters", "other parameters", lambda: fit(ratings, foreign, features=features))
    refused(DataError, "describe 3 items", "other features", lambda: fit(ratings, features=uniform_features(3)))
    if algorithm.needs_features:
        refused(DataError, "needs item features", "missing features", lambda: fit(ratings))
    complete = trial.complete(ratings, features)
    described = features if algorithm.needs_features else None
    if algorithm.item_fields:
        bare = partial(algorithm.fit, replace(complete, items=NO_ITEMS), rng=rng, features=described)
        refused(DataError, "item fields", "missing item fields", bare)
    if algorithm.needs_times:
        timeless = partial(algorithm.fit, replace(complete, times=None), rng=rng, features=described)
        refused(DataError, "time of each rating", "missing times", timeless)
    model = trial.fit()
    four_items = Profiles.single([0], [3], 4, HALF_STARS)
    surplus = model.state() | {"surplus": np.zeros(1)}
    restore = algorithm.from_state
    refused(DataError, "over 4 items", "profiles over other items", lambda: model.score(four_items))
    refused(ParameterError, "its own", "other parameters", lambda: restore(model.state(), foreign, model.scale))
    refused(DataError, "popularity", "missing arrays", lambda: restore({}, model.params, model.scale))
    refused(DataError, "surplus", "a surplus array", lambda: restore(surplus, model.params, model.scale))


def wrong_requests_for_explanations_are_refused(trial: Trial) -> None:
    """An explanation needs exactly one profile over the model's items, and items that exist."""
    model, n_items = trial.fit(), trial.ratings.n_items
    profile = Profiles(trial.profiles.user_items[[0]], trial.profiles.scale)
    four_items = Profiles.single([0], [3], 4, HALF_STARS)
    unknown = f"no item number {n_items}"
    require_refusal(DataError, "got 6", "six profiles", lambda: model.explain(trial.profiles, [0]))
    require_refusal(DataError, unknown, "an unknown item", lambda: model.explain(profile, [0, n_items]))
    require_refusal(DataError, "over 4 items", "profiles over other items", lambda: model.explain(four_items, [0]))
    require(model.explain(profile, []) == (), "No items need no explanations.")


def memory_estimate_grows_with_the_data(trial: Trial) -> None:
    """`fit_bytes` is a whole number above 0, and larger for more data."""
    params = trial.algorithm.Params.from_mapping({**trial.algorithm.small, **trial.options})

    def estimate(size: int) -> int:
        sizes = (100 * size, 40 * size, 1000 * size)
        return trial.algorithm.fit_bytes(*sizes, params, n_terms=50 * size, n_item_terms=200 * size)

    # Below the size at which singular vectors are found another way, which takes less.
    estimates = [estimate(size) for size in (1, 2, 10, 50)]
    require(all(isinstance(each, int) for each in estimates), f"fit_bytes returns no whole number: {estimates}.")
    require(estimates[0] > 0, f"fit_bytes returns {estimates[0]}.")
    require(estimates == sorted(set(estimates)), f"fit_bytes does not grow with the data: {estimates}.")
