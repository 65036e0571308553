"""The inputs of a report: participants' answers and a run's measurements, as plain values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from analysis.results.objective import KINDS, Bounds, Coverage, PopularityThird
from core.errors import ParallaxError
from core.provenance import digest_of
from evaluation.metrics.hits import mean_hits
from evaluation.models import EvaluationRun
from evaluation.protocols.facts import popularity_thirds
from evaluation.protocols.hit_metrics import UNLISTED
from evaluation.reported_kinds import ERRORS, HITS, tested_kinds
from evaluation.selectors import results as run_results
from evaluation.selectors.cases import cases_of, training_means
from evaluation.selectors.runs import measured_algorithms
from evaluation.selectors.uploads import leak_warning
from studies.design.selectors import available_models
from studies.instrument.measures import ParticipantMeasures
from studies.models import Condition, Study


@dataclass(frozen=True)
class Person(ParticipantMeasures):
    """The measures of one participant under their condition; nothing identifies the participant."""

    condition: str


@dataclass(frozen=True)
class Shown:
    """One recommended item as one participant judged it; what the study does not ask is None."""

    condition: str
    item: str
    title: str
    rating: int | None
    fon: int | None
    son: int | None
    branch: str | None
    is_filled: bool
    score: float | None = None  # by the pinned model, whose digest is among the inputs


@dataclass(frozen=True)
class ScaleAnswers:
    """The answers to one scale, in its direction; numbers as fractions, such as 7/2.

    `rows` hold for each participant the condition, the score and the answer to each question; None where it is missing.
    """

    key: str
    name: str
    low: float
    high: float
    questions: tuple[str, ...]
    rows: tuple[tuple[str, str | None, tuple[str | None, ...]], ...]


@dataclass(frozen=True)
class Met:
    """When a participant met a condition of several: the participant's number in the order of entry, the position of
    the occasion, from 1, and the condition just before.
    """

    participant: int
    position: int
    previous: str | None


@dataclass(frozen=True)
class Judged:
    """Two lists side by side, as a participant, numbered in the order of entry, judged them.

    `answers` are preferences by outcome, from -2, clearly the left list, to 2; `shared` is the share of the shown items
    that are in both lists, and identical lists have the same items in the same order.
    """

    participant: int
    occasion: int
    left: str
    right: str
    answers: Mapping[str, int | None]
    shared: float
    is_identical: bool


@dataclass(frozen=True)
class Answers:
    """Everything that the completed participants of one mode answered.

    Where each participant meets all conditions in turn, `people` has a row for each occasion of each participant, also
    for those finished by `left`, the numbers of participants who left before the end.
    """

    conditions: tuple[str, ...]
    people: tuple[Person, ...]
    shown: tuple[Shown, ...]
    n_answers: int
    n_modelled: int
    n_incomplete: int
    n_excluded: int = 0  # completers who are excluded
    scales: tuple[ScaleAnswers, ...] = ()
    languages: tuple[str, ...] = ()  # of each participant
    outcomes: tuple[ScaleAnswers, ...] = ()  # that the plan names, each as a scale of one question
    occasions: tuple[Met, ...] = ()  # of each of `people` where each participant meets all conditions, else empty
    left: tuple[int, ...] = ()
    judged: tuple[Judged, ...] = ()  # lists side by side; then `people` is empty, as no participant had a single list

    @property
    def digest(self) -> str:
        """Digest of every answer, in order of entry."""
        # As `asdict`, without its copy of every value.
        plain = {
            **vars(self),
            **{
                key: [vars(row) for row in getattr(self, key)]
                for key in ("people", "scales", "outcomes", "occasions", "judged")
            },
            # A score is the model's and no answer.
            "shown": [{name: value for name, value in vars(row).items() if name != "score"} for row in self.shown],
        }
        if not self.scales:  # a study without scales has the digest that it had before scales existed
            del plain["scales"]
        if not self.scales or len(set(self.languages)) < 2:  # they matter to scales in several languages alone
            del plain["languages"]
        if not self.outcomes:  # likewise
            del plain["outcomes"]
        if not self.occasions:
            del plain["occasions"]
        if not self.left:
            del plain["left"]
        if not self.judged:
            del plain["judged"]
        return digest_of(plain)

    def among(self, conditions: Collection[str]) -> Answers:
        """The answers of the participants of these conditions."""
        is_in = [person.condition in conditions for person in self.people]
        return replace(
            self,
            conditions=tuple(name for name in self.conditions if name in conditions),
            people=tuple(compress(self.people, is_in)),
            shown=tuple(slot for slot in self.shown if slot.condition in conditions),
            languages=tuple(compress(self.languages, is_in)),
            scales=_among(self.scales, is_in),
            outcomes=_among(self.outcomes, is_in),
            occasions=tuple(compress(self.occasions, is_in)),
        )

    @property
    def n_people(self) -> int:
        """How many people answered, without those who left before the end."""
        several = self.occasions or self.judged
        return len({at.participant for at in several}) - len(self.left) if several else len(self.people)

    def n_judges(self, condition: str) -> int:
        """The number of participants who judged a condition."""
        if not self.judged:
            return len(self.of(condition))
        return len({each.participant for each in self.judged if condition in (each.left, each.right)})

    def of(self, condition: str) -> list[Person]:
        """The participants of one condition."""
        return [person for person in self.people if person.condition == condition]


def _among(scales: Sequence[ScaleAnswers], is_in: Sequence[bool]) -> tuple[ScaleAnswers, ...]:
    return tuple(replace(scale, rows=tuple(compress(scale.rows, is_in))) for scale in scales)


@dataclass(frozen=True)
class Measured:
    """A run's results for a study's models at one profile length (0: whole profiles).

    `values` holds recall, fallout, precision and f by condition, None where there is no value, and rmse and mae where
    ratings were predicted; `by_n` the recall and fallout at N = 1, 2, 3, …. `users` holds the metrics of `tested` by
    user, shape (n_users,
    n_conditions), NaN where the user has no case; `cases` the number of cases of each user. Where values are means over
    users, `is_by_user`, `users` holds precision and f as well, and a user with a value counts as one case. `served`
    holds recall and fallout of the lists as participants saw them, and the share of slots filled by popularity, where
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
    is_by_user: bool = False
    tested: tuple[str, ...] = HITS
    by_popularity: tuple[PopularityThird, ...] = ()
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    bounds: Mapping[str, Mapping[str, Bounds]] = field(default_factory=dict)


AS_SERVED = {"recall": "recall(ties=served)", "fallout": "fallout(ties=served)", "filled": "filled-slots"}


def conditions_of(study: Study) -> list[Condition]:
    """The study's conditions in the order of the design, with their models."""
    return list(study.conditions.select_related("model").order_by("position"))


def recommenders_of(study: Study) -> dict[str, str]:
    """The recommender of each condition, by label: its level of that factor, or the first condition with its model.

    Empty where no two conditions share a model.
    """
    conditions = conditions_of(study)
    by_digest: dict[str, str] = {}
    key = next((factor.key for factor in study.design.factors if factor.is_of_recommenders), "")
    for condition in conditions:
        by_digest.setdefault(condition.model_digest, condition.levels.get(key, condition.label))
    if len(by_digest) == len(conditions):
        return {}
    return {condition.label: by_digest[condition.model_digest] for condition in conditions}


def positions_in(study: Study, run: EvaluationRun) -> list[int]:
    """The position of each condition's model among the algorithms of `run`.

    Raises ParallaxError as `available_models.check_run` does, and `report.models_differ` with the
    conditions whose model is not the one that the run measured for that algorithm.
    """
    available_models.check_run(run)
    measured = list(measured_algorithms(run))
    positions: list[int] = []
    differing: list[dict[str, str]] = []
    for condition, position in zip(conditions_of(study), available_models.positions_in(study, run), strict=True):
        if position is not None:
            positions.append(position)
            continue
        of_same_kind = [
            algorithm.model.digest
            for algorithm in measured
            if algorithm.model is not None
            and (algorithm.algorithm, algorithm.params) == (condition.model.algorithm, condition.model.params)
        ]
        differing.append(
            {
                "condition": condition.label,
                "served": condition.model_digest,
                "measured": of_same_kind[0] if of_same_kind else "",
            }
        )
    if not differing:
        return positions
    details = [
        f"{row['condition']} was served by model {row['served'][:12]}, "
        + (f"and the run measured model {row['measured'][:12]}" if row["measured"] else "which the run did not measure")
        for row in differing
    ]
    words = (
        f"Run {run.pk} did not measure the models that participants met: {'; '.join(details)}. "
        "Choose the run whose models the study pins."
    )
    raise ParallaxError("report.models_differ", words, {"conditions": differing})


def origin_warnings(study: Study, run: EvaluationRun) -> tuple[str, ...]:
    """What the run says of conditions whose model was learned elsewhere, and may have seen the test ratings."""
    measured, training = list(measured_algorithms(run)), {cases_of(run).training_digest}
    of_conditions = zip(conditions_of(study), positions_in(study, run), strict=True)
    warnings = [
        leak_warning(measured[position].algorithm, measured[position].params, condition.label, training, run.split)
        for condition, position in of_conditions
    ]
    return tuple(filter(None, warnings))


def measured_by(run: EvaluationRun, conditions: tuple[str, ...], positions: list[int], length: int) -> Measured:
    """Read a run's results for the study's conditions at one profile length."""
    measured, names = run_results.model_rows(run, length), run_results.reported_metrics(run)
    rows, tested = [measured[position] for position in positions], tested_kinds(run.protocol)
    by_user = {
        kind: run_results.user_values(run, name, length, rows=measured)
        for kind, name in names.items()
        if name in run_results.metrics_by_user(run)
    }
    is_by_user = not run_results.is_pooled(run)
    users = {kind: values.values[:, positions] for kind, values in by_user.items()}
    for kind in tested:
        users.setdefault(kind, np.full_like(users[tested[0]], np.nan))
    return Measured(
        length=length,
        conditions=conditions,
        values={
            kind: {
                name: row.cells[names[kind]].value if kind in names else None
                for name, row in zip(conditions, rows, strict=True)
            }
            for kind in KINDS
        }
        | {
            kind: dict(zip(conditions, means_of_shared_users(users[kind]), strict=True))
            for kind in tested
            if kind in ERRORS
        },
        by_n={
            kind: {
                name: tuple(row.cells[names[kind]].by_n) if kind in names else ()
                for name, row in zip(conditions, rows, strict=True)
            }
            for kind in HITS
        },
        users=users,
        cases=(
            # One case of each user with a value: sums of hits over sums of cases are then means over users.
            {kind: np.asarray(_has_values(values), dtype=np.int64) for kind, values in users.items()}
            if is_by_user
            else _case_counts(run, by_user)
        ),
        digests={name: row.users_digest for name, row in zip(conditions, rows, strict=True)},
        served=_served(measured, conditions, positions),
        is_by_user=is_by_user,
        tested=tested,
        by_popularity=() if is_by_user else _by_popularity(run, conditions, positions, length),
        coverage={
            name: Coverage(**{of: row.cells[f"covered-{of}"].value or 0.0 for of in ("profiles", "cases", "items")})
            for name, row in zip(conditions, rows, strict=True)
            if run_results.COVERED_PROFILES in row.cells
        },
        bounds={kind: bounds for kind in HITS if kind in names and (bounds := _bounds(names[kind], conditions, rows))},
    )


def _bounds(metric: str, conditions: tuple[str, ...], rows: Sequence[run_results.ModelRow]) -> dict[str, Bounds]:
    """The bounds of a metric by condition, where its lists leave it open."""
    bounds = {}
    for name, row in zip(conditions, rows, strict=True):
        ends = [row.cells[metric + end].value for end in UNLISTED.values() if metric + end in row.cells]
        known = sorted(value for value in ends if value is not None)
        if len(known) > 1 and known[0] < known[1]:
            bounds[name] = (known[0], known[1])
    return bounds


def _by_popularity(
    run: EvaluationRun, conditions: tuple[str, ...], positions: list[int], length: int
) -> tuple[PopularityThird, ...]:
    """Recall in each third of the training ratings that has cases, from the most popular items."""
    run_cases, counts = cases_of(run), run_results.case_counts(run, length)
    cases = run_cases.cases
    thirds = popularity_thirds(cases, training_means(run).popularity)[cases.is_relevant]
    # Counts of cases from a file are in its order.
    relevant = (
        np.flatnonzero(cases.is_relevant) if run_cases.file_rows is None else run_cases.file_rows[cases.is_relevant]
    )
    means = []
    for position in positions:
        above, tied = counts[position]
        means.append(mean_hits(thirds, above[relevant], tied[relevant], [run.n]))
    return tuple(
        PopularityThird(
            third=int(third),
            n_cases=int(n_cases),
            recall={name: float(own.values[row, 0]) for name, own in zip(conditions, means, strict=True)},
        )
        for row, (third, n_cases) in enumerate(zip(means[0].groups, means[0].n_cases, strict=True))
    )


def _case_counts(run: EvaluationRun, by_user: Mapping[str, run_results.UserValues]) -> dict[str, NDArray[np.int64]]:
    """The number of cases of each user, which pooled values weigh."""
    cases = cases_of(run).cases
    counts = {}
    for kind, is_kind in (("recall", cases.is_relevant), ("fallout", ~cases.is_relevant)):
        user_ids = by_user[kind].user_ids
        owner = np.searchsorted(user_ids, cases.users[is_kind])
        counts[kind] = np.bincount(owner, minlength=len(user_ids)).astype(np.int64)
    return counts


def means_of_shared_users(users: NDArray[np.float64]) -> list[float | None]:
    """The mean of each column over the users with a value in every column that has any; None where a column has none.

    Errors of two algorithms are comparable on ratings that both predict. `users` has shape (n_users, n_conditions).
    """
    shared = users[_has_values(users)]
    return [float(column.mean()) if len(column) and not np.isnan(column).any() else None for column in shared.T]


def _has_values(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Users with a value under every condition that has any, shape (n_users,)."""
    is_missing = np.isnan(values)
    measured = ~is_missing.all(axis=0)
    return np.asarray(measured.any() & ~is_missing[:, measured].any(axis=1))


def _served(
    rows: Sequence[run_results.ModelRow], conditions: tuple[str, ...], positions: list[int]
) -> dict[str, dict[str, float]]:
    """The run's results for the lists as served, without metrics that some model lacks."""
    served: dict[str, dict[str, float]] = {}
    for key, name in AS_SERVED.items():
        cells = [rows[position].cells.get(name) for position in positions]
        values = [cell.value for cell in cells if cell is not None and cell.value is not None]
        if len(values) == len(conditions):
            served[key] = dict(zip(conditions, values, strict=True))
    return served
