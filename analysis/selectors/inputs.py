"""What a report is computed from: people's answers and a run's measurements, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.errors import ParallaxError
from core.provenance import digest_of
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import curves, model_rows, table, user_values
from evaluation.selectors.runs import measured_algorithms
from studies.models import Condition, Study
from studies.selectors import reportability


@dataclass(frozen=True)
class Person:
    """One participant's whole sums; nothing that leads back to them."""

    condition: str
    n_items: int
    accuracy_sum: int
    fon_sum: int
    son_sum: int
    satisfaction: int
    n_liking: int
    liking_sum: int
    n_interest: int
    interest_sum: int


@dataclass(frozen=True)
class Shown:
    """One recommended item as one participant judged it."""

    condition: str
    item: str
    title: str
    rating: int
    fon: int
    son: int
    branch: str
    is_filled: bool


@dataclass(frozen=True)
class ScaleAnswers:
    """What the participants answered to one scale, all in its direction; numbers as whole fractions, such as 7/2.

    `rows` hold for each participant the condition, the score and the answer to each question; None where there is none.
    """

    key: str
    name: str
    low: float
    high: float
    questions: tuple[str, ...]
    rows: tuple[tuple[str, str | None, tuple[str | None, ...]], ...]


@dataclass(frozen=True)
class Answers:
    """Everything that the completed participants of one mode answered."""

    conditions: tuple[str, ...]
    people: tuple[Person, ...]
    shown: tuple[Shown, ...]
    n_answers: int
    n_modelled: int
    n_incomplete: int
    n_excluded: int = 0  # completed participants who are left out
    scales: tuple[ScaleAnswers, ...] = ()

    @property
    def digest(self) -> str:
        """Digest of every answer, in order of entry."""
        # As `asdict` would have it, without its copy of every value.
        found = {
            **vars(self),
            **{key: [vars(one) for one in getattr(self, key)] for key in ("people", "shown", "scales")},
        }
        if not self.scales:  # a study without scales keeps the digest it had before there were any
            del found["scales"]
        return digest_of(found)

    def of(self, condition: str) -> list[Person]:
        """The participants of one condition."""
        return [person for person in self.people if person.condition == condition]


@dataclass(frozen=True)
class Measured:
    """What a run measured of a study's models at one profile length (0: whole profiles).

    `values` holds recall, fallout, precision and f by condition, None where there is no value; `by_n` the
    recall and fallout at N = 1, 2, 3, …. `users` holds recall and fallout by user, shape (n_users,
    n_conditions), NaN where the user has no case; `cases` the number of cases of each user. `served` holds recall and
    fallout once more with ties and empty slots as participants met them, and the share of slots that were filled, where
    the run has them.
    """

    length: int
    conditions: tuple[str, ...]
    values: Mapping[str, Mapping[str, float | None]]
    by_n: Mapping[str, Mapping[str, tuple[float | None, ...]]]
    users: Mapping[str, NDArray[np.float64]]
    cases: Mapping[str, NDArray[np.int64]]
    digests: Mapping[str, str]
    served: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


AS_SERVED = {"recall": "recall(ties=served)", "fallout": "fallout(ties=served)", "filled": "filled-slots"}


def conditions_of(study: Study) -> list[Condition]:
    """The study's conditions in the order of the design, with their models."""
    return list(study.conditions.select_related("model").order_by("position"))


def positions_in(study: Study, run: EvaluationRun) -> list[int]:
    """Where each condition's model stands among the algorithms of `run`.

    Raises
    ------
    ParallaxError
        As `studies.selectors.reportability.check_run`, or `report.models_differ` with the conditions whose model is
        not the one that the run measured for that algorithm.
    """
    reportability.check_run(run)
    measured = list(measured_algorithms(run))
    found: list[int] = []
    differing: list[dict[str, str]] = []
    for condition, position in zip(conditions_of(study), reportability.positions_in(study, run), strict=True):
        if position is not None:
            found.append(position)
            continue
        of_same_kind = [
            one.model.digest
            for one in measured
            if one.model is not None
            and (one.algorithm, one.params) == (condition.model.algorithm, condition.model.params)
        ]
        differing.append(
            {
                "condition": condition.label,
                "served": condition.model_digest,
                "measured": of_same_kind[0] if of_same_kind else "",
            }
        )
    if differing:
        raise ParallaxError("report.models_differ", _how_models_differ(run, differing), {"conditions": differing})
    return found


def _how_models_differ(run: EvaluationRun, differing: list[dict[str, str]]) -> str:
    told = [
        f"{one['condition']} was served by model {one['served'][:12]}, "
        + (f"and the run measured model {one['measured'][:12]}" if one["measured"] else "which the run did not measure")
        for one in differing
    ]
    return (
        f"Run {run.pk} did not measure the models that participants met: {'; '.join(told)}. "
        "Report with the run whose models the study pinned."
    )


def measured_by(run: EvaluationRun, conditions: tuple[str, ...], positions: list[int], length: int) -> Measured:
    """Read a run's results for the study's conditions at one profile length."""
    whole_table, whole_curves = table(run, length), curves(run, length)
    rows = [whole_table[place] for place in positions]
    lines = [whole_curves[place] for place in positions]
    cases = cases_of(run).cases
    users, counts = {}, {}
    for metric, is_kind in (("recall", cases.is_relevant), ("fallout", ~cases.is_relevant)):
        found = user_values(run, metric, length)
        users[metric] = found.values[:, positions]
        owner = np.searchsorted(found.user_ids, cases.users[is_kind])
        counts[metric] = np.bincount(owner, minlength=len(found.user_ids)).astype(np.int64)
    return Measured(
        length=length,
        conditions=conditions,
        values={
            "recall": {name: row.recall for name, row in zip(conditions, rows, strict=True)},
            "fallout": {name: row.fallout for name, row in zip(conditions, rows, strict=True)},
            "precision": {name: row.precision for name, row in zip(conditions, rows, strict=True)},
            "f": {name: row.f_measure for name, row in zip(conditions, rows, strict=True)},
        },
        by_n={
            "recall": {name: line.recall for name, line in zip(conditions, lines, strict=True)},
            "fallout": {name: line.fallout for name, line in zip(conditions, lines, strict=True)},
        },
        users=users,
        cases=counts,
        digests={name: row.users_digest for name, row in zip(conditions, rows, strict=True)},
        served=_served(run, conditions, positions, length),
    )


def _served(
    run: EvaluationRun, conditions: tuple[str, ...], positions: list[int], length: int
) -> dict[str, dict[str, float]]:
    """What the run measured of the lists as they are served; a metric that some model lacks is left out."""
    rows = model_rows(run, length)
    found: dict[str, dict[str, float]] = {}
    for key, name in AS_SERVED.items():
        cells = [rows[place].cells.get(name) for place in positions]
        values = [cell.value for cell in cells if cell is not None and cell.value is not None]
        if len(values) == len(conditions):
            found[key] = dict(zip(conditions, values, strict=True))
    return found
