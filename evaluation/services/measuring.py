"""A measurement: what a model gives the test users of a part, under the run's protocol."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from core import artefacts
from core.errors import ParallaxError
from evaluation.models import EvaluationRun, RunPart
from evaluation.protocols.blocks import Arrays, joined, measure_block
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.runs import longest_list
from evaluation.services.numerics import numeric_threads
from evaluation.services.parts import Outcome
from evaluation.services.runs import BLOCK_USERS
from evaluation.services.serving import opened_model
from evaluation.splitting.profile import cut_profiles
from recommenders.data import Profiles
from recommenders.threads import each, one_library_thread


def measure(part: RunPart, check: Callable[[], None]) -> Outcome:
    """Measure the cases of the part, and keep what was found until the run is added up.

    Users are scored in blocks of a fixed size counted from the run's first test user (a part begins at a
    block), each user once for all their cases, so that no sum depends on how the run is cut.
    """
    run = part.run
    fitted = RunPart.objects.filter(run=run, algorithm=part.algorithm_id, fold=part.fold, model__isnull=False)
    digest = fitted.values_list("model__digest", flat=True).first()
    if digest is None:
        raise ParallaxError("part.no_model", f"Part {part.pk} has no model to measure; it is leased after its fit.")
    found = cases_of(run, part.fold)
    cases = found.cases
    model = opened_model(digest)
    ratings = training_rows(found.profiles_digest)
    longest = longest_list(run)
    users = np.unique(cases.users[part.start : part.stop])
    with numeric_threads(run.threads):
        # Compiled loops are loaded before the clock starts: the time is that of the measurement.
        first = Profiles.of(ratings, np.searchsorted(found.profiled, users[:1]))
        nothing = slice(part.start, part.start)
        measure_block(run.protocol, cases, nothing, model.score(first), users[:1], model.popularity, longest=longest)
        started = time.perf_counter()

        def block_of(at: int) -> Arrays:
            check()
            block = users[at : at + BLOCK_USERS]
            profiles = Profiles.of(ratings, np.searchsorted(found.profiled, block))
            if part.profile_length:
                shorter = cut_profiles(profiles.user_items, n=part.profile_length, seed=run.seed, users=block)
                profiles = Profiles(shorter, ratings.scale)
            rows = slice(
                int(np.searchsorted(cases.users, block[0], side="left")),
                int(np.searchsorted(cases.users, block[-1], side="right")),
            )
            scores = model.score(profiles)
            return measure_block(run.protocol, cases, rows, scores, block, model.popularity, longest=longest)

        with one_library_thread():
            blocks = each(block_of, range(0, len(users), BLOCK_USERS))
        measured = joined(run.protocol, blocks)
        seconds = time.perf_counter() - started
    digest = artefacts.store("parts", measured, _named(run, part))
    return Outcome(seconds=seconds, digest=digest)


def _named(run: EvaluationRun, part: RunPart) -> dict[str, int | str]:
    """What the stored part is; with the run in it, no two runs share one, and each may remove its own."""
    return {
        "run": run.pk,
        "part": part.pk,
        "cases": run.folds[part.fold]["cases"] if run.folds else run.cases_digest,
        "profile_length": part.profile_length,
        "start": part.start,
        "stop": part.stop,
    }
