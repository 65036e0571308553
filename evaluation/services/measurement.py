"""Measurement of a part: the scores of a model for the part's test users, under the run's protocol."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from core import artefacts
from core.errors import ParallaxError
from evaluation.models import EvaluationRun, RunPart
from evaluation.protocols.blocks import Arrays, joined, measure_block
from evaluation.protocols.cases import Cases
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.runs import longest_list
from evaluation.services.numerics import numeric_threads
from evaluation.services.optional_inputs import profile_rows
from evaluation.services.parts import Outcome
from evaluation.services.runs import BLOCK_USERS
from evaluation.services.serving import opened_model
from evaluation.splitting.short_profiles import cut_profiles
from recommenders.base import Algorithm
from recommenders.data import Profiles, Ratings
from recommenders.holdout import positions_of
from recommenders.threads import each, one_library_thread


def measure(part: RunPart, check: Callable[[], None]) -> Outcome:
    """Measure the cases of the part and store the measurements for the reduction.

    Users are scored in blocks of a fixed size, counted from the run's first test user, and a part begins at a block.
    Each user is scored once for all their cases. So no sum depends on how the run is divided into parts.
    """
    run = part.run
    fitted = RunPart.objects.filter(run=run, algorithm=part.algorithm_id, fold=part.fold, model__isnull=False)
    digest = fitted.values_list("model__digest", flat=True).first()
    if digest is None:
        raise ParallaxError(
            "part.no_model", f"Part {part.pk} has no model to measure; it can only be leased after its fit."
        )
    run_cases = cases_of(run, part.fold)
    cases = run_cases.cases
    model = opened_model(digest)
    ratings = profile_rows(type(model), training_rows(run_cases.profiles_digest), run.version, run_cases.profiled)
    longest = longest_list(run)
    users = np.unique(cases.users[part.start : part.stop])
    with numeric_threads(run.threads):
        # Load compiled loops before the clock starts, so that the time covers the measurement alone.
        first = Profiles.of(ratings, np.searchsorted(run_cases.profiled, users[:1]))
        nothing = slice(part.start, part.start)
        measure_block(
            run.protocol, cases, nothing, model.score(first), users[:1], popularity=model.popularity, longest=longest
        )
        started = time.perf_counter()
        measured = measure_users(
            run,
            cases,
            users,
            model=model,
            ratings=ratings,
            profiled=run_cases.profiled,
            profile_length=part.profile_length,
            check=check,
        )
        seconds = time.perf_counter() - started
    digest = artefacts.store("parts", measured, _part_facts(run, part))
    return Outcome(seconds=seconds, digest=digest)


def measure_users(
    run: EvaluationRun,
    cases: Cases,
    users: NDArray[np.integer[Any]],
    *,
    model: Algorithm,
    ratings: Ratings,
    profiled: NDArray[np.int64],
    profile_length: int = 0,
    check: Callable[[], None] = lambda: None,
) -> Arrays:
    """Measure all cases of some test users, ascending, in blocks. Row i of `ratings` belongs to the user
    `profiled[i]`; `check` is called before each block.
    """

    def scores_of(block: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        check()
        profiles = Profiles.of(ratings, np.searchsorted(profiled, block))
        if profile_length:
            shorter = cut_profiles(profiles.user_items, n=profile_length, seed=run.seed, users=block)
            profiles = cut(profiles, shorter)
        return model.score(profiles)

    with one_library_thread():
        return measure_scores(run, cases, users, scores_of, model.popularity)


def measure_scores(
    run: EvaluationRun,
    cases: Cases,
    users: NDArray[np.integer[Any]],
    scores_of: Callable[[NDArray[np.integer[Any]]], NDArray[np.float64]],
    popularity: NDArray[np.int64],
) -> Arrays:
    """Measure all cases of some users, ascending, in blocks. `scores_of` gives the scores of some of the users, shape
    (n_of_them, n_items), -inf where there is none.
    """
    longest = longest_list(run)

    def block_of(at: int) -> Arrays:
        block = users[at : at + BLOCK_USERS]
        rows = slice(
            int(np.searchsorted(cases.users, block[0], side="left")),
            int(np.searchsorted(cases.users, block[-1], side="right")),
        )
        return measure_block(run.protocol, cases, rows, scores_of(block), block, popularity=popularity, longest=longest)

    return joined(run.protocol, each(block_of, range(0, len(users), BLOCK_USERS)))


def cut(profiles: Profiles, shorter: csr_array) -> Profiles:
    """Profiles with some of their ratings, and the times of these."""
    if profiles.times is None:
        return Profiles(shorter, profiles.scale)
    times = profiles.times[positions_of(shorter, profiles.user_items)]
    return Profiles(shorter, profiles.scale, times, order_kind=profiles.order_kind)


def _part_facts(run: EvaluationRun, part: RunPart) -> dict[str, int | str]:
    # The run is one of them, so that no two runs share a stored part and each may remove its own.
    return {
        "run": run.pk,
        "part": part.pk,
        "cases": run.folds[part.fold]["cases"] if run.folds else run.cases_digest,
        "profile_length": part.profile_length,
        "start": part.start,
        "stop": part.stop,
    }
