"""Checks of reproducibility: seeds, stored models, untouched inputs, and progress that changes nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from recommenders.data import Ratings
from recommenders.testing.trial import Trial, contents, require, require_refusal


def same_seed_gives_the_same_model(trial: Trial) -> None:
    """Two fits with equal inputs and seeds give the same bytes."""
    first, second = contents(trial.fit().state()), contents(trial.fit().state())
    differing = [name for name, stored in first.items() if stored != second[name]]
    require(not differing, f"Two fits with the same seed differ in {', '.join(differing)}; use only the rng of _fit.")


def stored_model_has_the_same_scores(trial: Trial) -> None:
    """A model saved as plain arrays and loaded as read-only memory maps scores as before, to the last bit."""
    model = trial.fit()
    state = model.state()
    for name, array in state.items():
        require(type(array) is np.ndarray, f"{name} is a {type(array).__name__}, not a NumPy array.")
        # The file of a single number would be loaded as an array of one.
        require(array.ndim >= 1, f"{name} is a single number; store an array of length one.")
        require(array.dtype != np.object_, f"{name} holds Python objects.")
    with TemporaryDirectory() as folder:
        for name, array in state.items():
            np.save(Path(folder) / f"{name}.npy", array, allow_pickle=False)
        loaded = {name: np.load(Path(folder) / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in state}
        again = type(model).from_state(loaded, model.params, model.scale)
        if trial.algorithm.item_fields:
            again.items = model.items
        is_same = again.score(trial.profiles).tobytes() == model.score(trial.profiles).tobytes()
        require(is_same, "The loaded model has other scores; `_score` may use only arrays, params, scale, popularity.")
        require(contents(again.state()) == contents(state), "The loaded model has another state than the stored one.")


def inputs_are_not_changed(trial: Trial) -> None:
    """Fitting leaves ratings and features as they were, and scoring the profiles and the model."""
    matrices = (trial.ratings.user_items, trial.features.item_terms, trial.profiles.user_items)
    before = [_matrix_bytes(matrix) for matrix in matrices]
    model = trial.fit()
    state = contents(model.state())
    model.score(trial.profiles)
    require([_matrix_bytes(matrix) for matrix in matrices] == before, "Ratings, features or profiles were changed.")
    require(contents(model.state()) == state, "Scoring changed the model.")


def _matrix_bytes(matrix: Any) -> tuple[bytes, ...]:
    return matrix.data.tobytes(), matrix.indices.tobytes(), matrix.indptr.tobytes()


def progress_rises_to_one(trial: Trial) -> None:
    """Shares of progress never fall and end at 1, and each comes with words."""
    reports: list[tuple[float, str]] = []
    trial.fit(progress=lambda share, what: reports.append((share, what)))
    shares = [share for share, _ in reports]
    require(shares == sorted(shares), f"The progress falls: {shares}.")
    require(shares[0] >= 0.0 and shares[-1] == 1.0, f"The progress goes from {shares[0]} to {shares[-1]}.")
    require(all(what for _, what in reports), "A report of progress has no words.")


def progress_can_stop_the_fit(trial: Trial) -> None:
    """An exception of the callback ends the fit at once, at its first report and at its last but one."""
    counted: list[float] = []
    trial.fit(_fresh(trial.ratings), progress=lambda share, what: counted.append(share))
    for last in {1, max(1, len(counted) - 1)}:
        counted.clear()

        def stop(share: float, what: str, last: int = last) -> None:
            counted.append(share)
            if len(counted) == last:
                raise InterruptedError(what)

        fit = partial(trial.fit, _fresh(trial.ratings), progress=stop)
        require_refusal(InterruptedError, "", "a fit whose progress was interrupted", fit)
        require(len(counted) == last, "The fit went on after its progress was interrupted.")


def listening_changes_nothing(trial: Trial) -> None:
    """A model is the same whether its progress is listened to or not."""
    no_progress, heard = trial.fit(), trial.fit(progress=lambda share, what: None)
    require(
        contents(no_progress.state()) == contents(heard.state()), "The model depends on who listens to the progress."
    )


def _fresh(ratings: Ratings) -> Ratings:
    """The same ratings, of which no algorithm remembers a product."""
    return Ratings(ratings.user_items.copy(), ratings.scale)
