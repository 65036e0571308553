"""The first part of a run: reserve users, split, make the test cases, cut the rest of the work."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.selectors.ratings import ratings_of
from core import artefacts
from core.errors import DataError, ParallaxError, ParameterError
from core.provenance import digest_of
from evaluation.enums import PartKind
from evaluation.models import EvaluationRun, RunAlgorithm, RunPart, TrainedModel
from evaluation.selectors.packages import package_label
from evaluation.services.hiding import Hidden, hide
from evaluation.services.hints import hint
from evaluation.services.memory import check_memory
from evaluation.services.numerics import environment
from evaluation.services.parts import Outcome
from evaluation.services.runs import fail_algorithms
from evaluation.services.training import features_for, recipe_of, store_training_rows
from evaluation.splitting.partition import RESERVED
from evaluation.splitting.registry import SPLITS
from evaluation.splitting.temporal import WANTED
from recommenders import registry
from recommenders.data import Ratings
from recommenders.data_limits import TrainingSize

NOTHING_TO_MEASURE = "folds without a case, for which nothing is trained"
OF_ALL_FOLDS = (RESERVED, "reserved users", WANTED)


@dataclass(frozen=True)
class Fold:
    """What stands of a prepared fold: its files, the recipe of each algorithm, and where its parts begin and end.

    `refusals` are the reasons why algorithms cannot be fitted on it, by their primary key; the others have a recipe.
    """

    label: str
    digest: str
    recipes: Mapping[int, str]
    refusals: Mapping[int, str]
    bounds: NDArray[np.int64]
    n_relevant: int
    n_irrelevant: int


def prepare(part: RunPart, check: Callable[[], None]) -> Outcome:
    """Make and store the cases of a run, fold by fold; the finishing transaction cuts fits and measurements.

    What is made depends on the run's inputs alone, so a preparation that is done again finds its own files.

    Raises
    ------
    DataError
        Nothing that could be measured is hidden, or none of the algorithms can be fitted.
    """
    started = time.perf_counter()
    run = part.run
    folds: list[Fold] = []
    left_out: list[Mapping[str, int]] = []
    counted: list[Mapping[str, int]] = []
    n_hidden = 0
    for hidden in hide(run=run):
        check()
        left_out.append(hidden.left_out)
        counted.append(hidden.counted)
        n_hidden += hidden.n_hidden
        if len(hidden.cases):
            folds.append(_stored(run, hidden))
    if run.split["name"] != "file":
        ratings = ratings_of(run.version).user_items
        artefacts.let_go(ratings.data, ratings.indices)  # from here on the training rows are what is read
    _check_cases(run, folds, n_hidden)
    refusals = {pk: reason for fold in reversed(folds) for pk, reason in fold.refusals.items()}
    if run.algorithms.count() == len(refusals):
        raise DataError(" ".join(dict.fromkeys(refusals.values())))
    has_many = run.split["name"] in SPLITS and SPLITS[run.split["name"]].trains_many
    listed = [{"label": fold.label, "cases": fold.digest} for fold in folds]
    facts = {
        "cases_digest": digest_of(listed) if has_many else folds[0].digest,
        "folds": listed if has_many else [],
        "n_relevant": sum(fold.n_relevant for fold in folds),
        "n_irrelevant": sum(fold.n_irrelevant for fold in folds),
        "left_out": _together(left_out),
        "counted": _together(counted) | ({NOTHING_TO_MEASURE: len(counted) - len(folds)} if has_many else {}),
        "environment": environment() | _packages(run),
    }

    def effects() -> None:
        EvaluationRun.objects.filter(pk=run.pk).update(**facts)
        fail_algorithms(run=run, reasons=refusals)
        if not has_many:
            for pk, recipe in folds[0].recipes.items():
                RunAlgorithm.objects.filter(pk=pk).update(recipe=recipe)
        parts = cut(run=run, folds=folds)
        RunPart.objects.bulk_create(parts)
        hint(run=run, n=sum(part.kind == PartKind.FIT for part in parts))

    return Outcome(seconds=time.perf_counter() - started, effects=effects)


def _packages(run: EvaluationRun) -> dict[str, str]:
    """The packages of third parties' algorithms with their versions, each with the algorithm's key."""
    keys = dict.fromkeys(run.algorithms.values_list("algorithm", flat=True))
    return {
        package_label(package[0], key): package[1] for key in keys if (package := registry.package_of(key)) is not None
    }


def _stored(run: EvaluationRun, hidden: Hidden) -> Fold:
    """Keep the training rows and cases of a fold."""
    cases = hidden.cases
    training_digest = store_training_rows(ratings=hidden.training, utilities=hidden.utilities)
    recipes = {
        algorithm.pk: recipe_of(
            version=run.version,
            training_digest=training_digest,
            algorithm=algorithm.algorithm,
            params=algorithm.params,
            seed=run.seed,
            threads=run.threads,
        )
        for algorithm in run.algorithms.all()
    }
    refusals = _refusals(run, recipes, hidden.training, training_digest)
    meta = {
        "n_items": cases.n_items,
        "negatives": cases.negatives,
        "seed": cases.seed,
        "is_given": cases.is_given,
        "training_digest": training_digest,
    }
    if hidden.profiles is not None:
        meta["profiles_digest"] = store_training_rows(ratings=hidden.profiles)
    return Fold(
        label=hidden.label,
        digest=artefacts.store("cases", _arrays(hidden), meta),
        recipes={pk: recipe for pk, recipe in recipes.items() if pk not in refusals},
        refusals=refusals,
        bounds=part_bounds(users=cases.users, part_users=run.part_users),
        n_relevant=cases.n_relevant,
        n_irrelevant=cases.n_irrelevant,
    )


def _check_cases(run: EvaluationRun, folds: Sequence[Fold], n_hidden: int) -> None:
    """Refuse a run that would measure nothing."""
    if folds and (run.protocol["name"] == "rating-prediction" or any(fold.n_relevant for fold in folds)):
        return
    limit = "" if run.protocol["name"] == "rating-prediction" else f"at least {run.protocol['relevant']:g} and "
    raise DataError(
        f"Of the {n_hidden:,} hidden ratings none is {limit}of a user with a profile, so there is nothing to measure. "
        "Hide a larger share, or lower the limit for relevant ratings."
    )


def _together(facts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Add the counts of all folds, but for what is the same in each."""
    found: dict[str, int] = {}
    for one in facts:
        for what, count in one.items():
            found[what] = max(found.get(what, 0), count) if what in OF_ALL_FOLDS else found.get(what, 0) + count
    return found


def _refusals(
    run: EvaluationRun, recipes: Mapping[int, str], training: Ratings, training_digest: str
) -> dict[int, str]:
    """Why algorithms cannot be fitted on the training side: its size or the memory; stored models need neither."""
    there = set(TrainedModel.objects.filter(recipe__in=recipes.values()).values_list("recipe", flat=True))
    found: dict[int, str] = {}
    for algorithm in run.algorithms.all():
        if recipes[algorithm.pk] in there:
            continue
        kind = registry.algorithm(algorithm.algorithm)
        features = features_for(
            version=run.version,
            training_digest=training_digest,
            algorithm=algorithm.algorithm,
            params=algorithm.params,
        )
        try:
            kind.check(
                registry.params_of(algorithm.algorithm, algorithm.params),
                TrainingSize(training.n_users, training.n_items, features),
            )
            check_memory(algorithm=algorithm.algorithm, params=algorithm.params, ratings=training, features=features)
        except (ParameterError, DataError, ParallaxError) as refused:
            found[algorithm.pk] = str(refused)
    return found


def _arrays(hidden: Hidden) -> dict[str, NDArray[Any]]:
    cases = hidden.cases
    arrays: dict[str, NDArray[Any]] = {
        "users": cases.users,
        "items": cases.items,
        "is_relevant": cases.is_relevant,
        "values": cases.values,
        "rated_indptr": cases.rated_indptr,
        "rated_items": cases.rated_items,
        "closed": cases.closed,
        "trained": hidden.trained,
        "reserved": hidden.reserved,
    }
    if cases.bits is not None:
        arrays["bits"] = cases.bits
    if len(hidden.development):
        arrays["development"] = hidden.development
    if hidden.profiled is not None:
        arrays["profiled"] = hidden.profiled
    if hidden.file_rows is not None:
        arrays["file_rows"] = hidden.file_rows
    return arrays


def cut(*, run: EvaluationRun, folds: Sequence[Fold]) -> list[RunPart]:
    """Cut a run into parts: a fit for each fold and algorithm, its measurements by profile length and test users.

    Algorithms that some fold refuses have none.
    """
    algorithms = [one for one in run.algorithms.all() if all(one.pk in fold.recipes for fold in folds)]
    parts = [
        RunPart(run=run, algorithm=algorithm, kind=PartKind.FIT, fold=number, recipe=fold.recipes[algorithm.pk])
        for number, fold in enumerate(folds)
        for algorithm in algorithms
    ]
    parts += [
        RunPart(
            run=run,
            algorithm=algorithm,
            kind=PartKind.MEASURE,
            fold=number,
            profile_length=length,
            start=int(start),
            stop=int(stop),
        )
        for number, fold in enumerate(folds)
        for algorithm in algorithms
        for length in (0, *run.profile_lengths)
        for start, stop in pairwise(fold.bounds)
    ]
    return [*parts, RunPart(run=run, kind=PartKind.REDUCE)]


def part_bounds(*, users: NDArray[np.int32], part_users: int) -> NDArray[np.int64]:
    """Rows of the case list (ordered by user) at which parts of `part_users` test users begin and end."""
    first_rows = np.flatnonzero(np.concatenate([[True], users[1:] != users[:-1]]))
    return np.append(first_rows[::part_users], len(users))
