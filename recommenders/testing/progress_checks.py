"""Checks of the progress that a fit reports, and of stopping it."""

from __future__ import annotations

from functools import partial

from recommenders.data import Ratings
from recommenders.testing.trial import Trial, contents, require, require_refusal


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
    silent, heard = trial.fit(), trial.fit(progress=lambda share, what: None)
    require(contents(silent.state()) == contents(heard.state()), "The model depends on who listens to the progress.")


def _fresh(ratings: Ratings) -> Ratings:
    """The same ratings, of which no algorithm remembers a product."""
    return Ratings(ratings.user_items.copy(), ratings.scale)
