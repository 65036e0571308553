"""Profiles of test users with their keys, and the users with uploaded lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from catalog.selectors.item_fields import field_of, items_of
from catalog.selectors.ratings import genre_names, genre_terms
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import RunCases, cases_of, training_rows
from evaluation.selectors.uploads import opened_upload
from evaluation.splitting.short_profiles import cut_profiles
from recommenders import registry
from recommenders.data import Profiles, Ratings
from recommenders.uploaded_lists import Lists, profile_keys, segment_keys

OF_LISTS = ("one-plus-random", "full-ranking")  # protocols that measure uploaded lists
USERS_AT_A_TIME = 500
PROFILE_COLUMNS = ["key", "segment", "item", "rating"]


def lists_of(version: DatasetVersion, algorithm: str, params: Mapping[str, Any], rows: Ratings) -> Lists | None:
    """The lists that an algorithm reads, re-ranked or not; None where it reads none.

    Raises ParameterError as `opened_upload`.
    """
    key, values = registry.base_of(algorithm, params) or (algorithm, params)
    kind = registry.algorithm(key)
    if not issubclass(kind, Lists):
        return None
    lists = kind.read(opened_upload(version, key, values).arrays, rows, registry.params_of(key, values))
    lists.items = items_of(version, kind.item_fields)
    return lists


def profiles_of(run: EvaluationRun, run_cases: RunCases, length: int, users: NDArray[np.integer[Any]]) -> Profiles:
    """The profiles by which a run scores some of its test users, of at most `length` ratings, or whole (0)."""
    profiles = Profiles.of(training_rows(run_cases.profiles_digest), np.searchsorted(run_cases.profiled, users))
    if not length:
        return profiles
    return Profiles(cut_profiles(profiles.user_items, n=length, seed=run.seed, users=users), profiles.scale)


def covered_users(
    run: EvaluationRun, run_cases: RunCases, length: int, lists: Lists
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The test users of a run, or of one of its folds, and those with a list."""
    users = np.unique(run_cases.cases.users).astype(np.int64)
    blocks = [users[start : start + USERS_AT_A_TIME] for start in range(0, users.size, USERS_AT_A_TIME)]
    is_covered = [lists.covers(profiles_of(run, run_cases, length, block)) for block in blocks]
    return users, users[np.concatenate(is_covered)]


def keyed_profiles(run: EvaluationRun) -> Iterator[list[Any]]:
    """Yield the profiles of a run's test users as table rows, one per rating, at every profile length, each key once.

    Raises ParallaxError with code ``run.many_models``: the run has folds.
    """
    yield PROFILE_COLUMNS
    run_cases, written = cases_of(run), set[str]()
    users = np.unique(run_cases.cases.users).astype(np.int64)
    for length in (0, *run.profile_lengths):
        for start in range(0, users.size, USERS_AT_A_TIME):
            profiles = profiles_of(run, run_cases, length, users[start : start + USERS_AT_A_TIME])
            for key, *rows in keyed_rows(run.version, profiles):
                if key not in written:
                    written.add(key)
                    yield from rows


def keyed_rows(version: DatasetVersion, profiles: Profiles) -> Iterator[list[Any]]:
    """Yield for each profile its key and then its rows: key, key of its segment, item, rating."""
    matrix, ids = profiles.user_items, field_of(version, "ids")
    has_genre, segments = genre_terms(version), [""] * profiles.n_profiles
    if has_genre is not None:
        segments = segment_keys(matrix, has_genre, genre_names(version))
    bounds = zip(matrix.indptr[:-1], matrix.indptr[1:], profile_keys(profiles, ids), segments, strict=True)
    for start, stop, key, segment in bounds:
        rated = zip(matrix.indices[start:stop], matrix.data[start:stop], strict=True)
        yield [key, *([key, segment, ids[item], f"{rating:.6g}"] for item, rating in rated)]


def compared_users(run: EvaluationRun, run_cases: RunCases, length: int) -> NDArray[np.int64] | None:
    """The test users with a list of every algorithm that has any lists for them; None where there are none, and where
    the protocol measures no lists.

    Lists of algorithms that have failed count too, so that the users do not depend on when one fails.
    """
    compared: NDArray[np.int64] | None = None
    for algorithm in run.algorithms.all() if run.protocol["name"] in OF_LISTS else ():
        if not registry.algorithm(algorithm.algorithm).is_partial:
            continue
        rows = training_rows(run_cases.training_digest)
        lists = lists_of(run.version, algorithm.algorithm, algorithm.params, rows)
        covered = None if lists is None else covered_users(run, run_cases, length, lists)[1]
        if covered is not None and covered.size:
            compared = covered if compared is None else np.intersect1d(compared, covered)
    return compared if compared is not None and compared.size else None
