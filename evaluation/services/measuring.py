"""A measurement: where a model puts the test items of some users among their candidates."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from core import artefacts
from core.errors import ParallaxError
from evaluation.models import RunPart
from evaluation.protocols.one_plus_random import count_above
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.services.numerics import numeric_threads
from evaluation.services.parts import Outcome
from evaluation.services.runs import BLOCK_USERS
from evaluation.services.serving import opened_model
from evaluation.splitting.profile import cut_profiles
from recommenders.data import Profiles


def measure(part: RunPart, check: Callable[[], None]) -> Outcome:
    """Count the candidates above, and tied with, the test item of each case of the part.

    Users are scored in blocks of a fixed size counted from the run's first test user (a part begins at a
    block), each user once for all their cases, so that no sum depends on how the run is cut.
    """
    run = part.run
    if part.algorithm is None or part.algorithm.model is None:
        raise ParallaxError("part.no_model", f"Part {part.pk} has no model to measure; it is leased after its fit.")
    found = cases_of(run)
    cases = found.cases
    model = opened_model(part.algorithm.model.digest)
    ratings = training_rows(found.training_digest)
    users = np.unique(cases.users[part.start : part.stop])
    above = np.empty(part.stop - part.start, dtype=np.int32)
    tied = np.empty_like(above)
    with numeric_threads(run.threads):
        # Compiled loops are loaded before the clock starts: the time is that of the measurement.
        first = Profiles.of(ratings, np.searchsorted(found.trained, users[:1]))
        count_above(cases, slice(part.start, part.start), model.score(first), users[:1])
        started = time.perf_counter()
        for at in range(0, len(users), BLOCK_USERS):
            check()
            block = users[at : at + BLOCK_USERS]
            profiles = Profiles.of(ratings, np.searchsorted(found.trained, block))
            if part.profile_length:
                shorter = cut_profiles(profiles.user_items, n=part.profile_length, seed=run.seed, users=block)
                profiles = Profiles(shorter, ratings.scale)
            rows = slice(
                int(np.searchsorted(cases.users, block[0], side="left")),
                int(np.searchsorted(cases.users, block[-1], side="right")),
            )
            counts = count_above(cases, rows, model.score(profiles), block)
            above[rows.start - part.start : rows.stop - part.start] = counts.above
            tied[rows.start - part.start : rows.stop - part.start] = counts.tied
        seconds = time.perf_counter() - started
    digest = artefacts.store(
        "parts",
        {"above": above, "tied": tied},
        {
            "cases": run.cases_digest,
            "model": part.algorithm.model.digest,
            "profile_length": part.profile_length,
            "start": part.start,
            "stop": part.stop,
        },
    )
    return Outcome(seconds=seconds, digest=digest)
