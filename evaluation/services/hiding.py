"""What a run hides and what it measures on: its reserved users, its split, its cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from catalog.selectors.ratings import ratings_of
from core import artefacts
from core.errors import DataError
from evaluation.models import EvaluationRun
from evaluation.protocols import registry
from evaluation.protocols.cases import Barred, Cases, make_cases
from evaluation.splitting.probe import probe
from evaluation.splitting.reserve import reserve, without_users
from recommenders.data import Ratings

MOST_BITMAP_BYTES = 256 * 2**20  # of candidates drawn once for all algorithms; more are drawn as they are needed
COLD = "hidden ratings of items without training ratings"


@dataclass(frozen=True)
class Hidden:
    """The two sides of a run.

    `training` has a row for each user of `trained` (indexes of the dataset); `reserved` are the users no
    model sees. `left_out` and `counted` are in words, with counts.
    """

    training: Ratings
    trained: NDArray[np.int64]
    reserved: NDArray[np.int64]
    cases: Cases
    left_out: Mapping[str, int]
    counted: Mapping[str, int]
    file_rows: NDArray[np.int64] | None = None


def hide(*, run: EvaluationRun) -> Hidden:
    """Reserve, split and make the cases; everything depends on the run's inputs alone.

    Raises
    ------
    DataError
        Nothing relevant is hidden, or the split cannot be made of these ratings.
    """
    if run.split["name"] == "file":
        return _given(run)
    ratings = ratings_of(run.version)
    reserved = reserve(ratings.n_users, run.reserve, run.seed)
    split = probe(without_users(ratings.user_items, reserved), share=float(run.split["share"]), seed=run.seed)
    wanted = registry.protocol(run.protocol["name"])
    barred: Barred = "none" if run.protocol.get("known") == "again" else wanted.barred
    cases = make_cases(
        split.train,
        split.hidden_users,
        split.hidden_items,
        split.hidden_values,
        relevant=float(run.protocol["relevant"]),
        irrelevant=float(run.protocol["irrelevant"]),
        seed=run.seed,
        negatives=int(run.protocol.get("negatives", 1)),
        every=wanted.every,
        barred=barred,
    )
    is_prediction = run.protocol["name"] == "rating-prediction"
    if len(cases) == 0 if is_prediction else cases.n_relevant == 0:
        raise DataError(
            f"Of the {len(split.hidden_users):,} hidden ratings none is "
            f"{'' if is_prediction else 'at least ' + format(run.protocol['relevant'], 'g') + ' and '}of a user with "
            "a profile, so there is nothing to measure. Hide a larger share, or lower the limit for relevant ratings."
        )
    trained = np.setdiff1d(np.arange(ratings.n_users, dtype=np.int64), reserved)
    left_out = {
        "reserved users": len(reserved),
        "ratings of reserved users": ratings.n_ratings - len(split.is_hidden),
        **split.left_out,
        **cases.left_out,
    }
    # Items without a training rating stay among the cases: no algorithm but a content-based one can score them.
    counted = {COLD: left_out.pop(COLD)}
    if "negatives" in run.protocol:
        counted[f"cases with fewer than {cases.negatives:,} unrated items to draw from"] = cases.n_short
        cases = with_candidates(cases)
    return Hidden(
        training=Ratings(split.train[trained] if len(reserved) else split.train, ratings.scale),
        trained=trained,
        reserved=reserved.astype(np.int64),
        cases=cases,
        left_out=left_out,
        counted=counted,
    )


def with_candidates(cases: Cases) -> Cases:
    """Draw the candidates of all cases once, where their bitmaps are not too large to keep."""
    if len(cases) * -(-cases.n_items // 8) > MOST_BITMAP_BYTES:
        return cases
    return replace(cases, bits=cases.bitmaps(np.arange(len(cases))))


def _given(run: EvaluationRun) -> Hidden:
    """The training ratings and cases of a file that was read when the run was made."""
    kept = artefacts.load("given", run.split["cases"])
    arrays: dict[str, NDArray[Any]] = {name: np.asarray(array).view(np.ndarray) for name, array in kept.arrays.items()}
    n_users = len(arrays["train_indptr"]) - 1
    matrix = csr_array(
        (arrays["train_values"], arrays["train_indices"], arrays["train_indptr"]),
        shape=(n_users, kept.meta["n_items"]),
    )
    cases = Cases(
        **{name: arrays[name] for name in ("users", "items", "is_relevant", "values", "rated_indptr", "rated_items")},
        n_items=kept.meta["n_items"],
        negatives=kept.meta["negatives"],
        seed=kept.meta["seed"],
        bits=arrays["bits"],
        is_given=True,
    )
    return Hidden(
        training=Ratings(matrix, ratings_of(run.version).scale),
        trained=np.arange(n_users, dtype=np.int64),
        reserved=np.empty(0, dtype=np.int64),
        cases=cases,
        left_out={},
        counted={**kept.meta["counted"], f"cases with fewer than {cases.negatives:,} candidates": cases.n_short},
        file_rows=arrays["file_rows"],
    )
