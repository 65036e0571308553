"""What a report is computed from: people's answers and a run's measurements, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ParallaxError
from core.provenance import digest_of
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import curves, table, user_values
from evaluation.selectors.runs import algorithms_of
from studies.enums import Mode, ParticipantStatus
from studies.models import Condition, Interview, Participant, Study
from studies.questionnaires.schema import questionnaire_from
from studies.scales import answers_of_member, scales_of, score_of_participant
from studies.selectors.monitor import counts_by_condition, counts_by_status
from studies.selectors.quality import excluded, exclusion_reasons
from studies.selectors.recruiting import is_nested
from studies.selectors.responses import records


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
    n_excluded: int = 0  # completed participants whom the researcher left out
    scales: tuple[ScaleAnswers, ...] = ()

    @property
    def digest(self) -> str:
        """Digest of every answer, in order of entry."""
        found = asdict(self)
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
    n_conditions), NaN where the user has no case; `cases` the number of cases of each user.
    """

    length: int
    conditions: tuple[str, ...]
    values: Mapping[str, Mapping[str, float | None]]
    by_n: Mapping[str, Mapping[str, tuple[float | None, ...]]]
    users: Mapping[str, NDArray[np.float64]]
    cases: Mapping[str, NDArray[np.int64]]
    digests: Mapping[str, str]


def conditions_of(study: Study) -> list[Condition]:
    """The study's conditions in the order of the design, with their models."""
    return list(study.conditions.select_related("model").order_by("position"))


def mode_to_report(study: Study) -> str:
    """People, where any have completed; else simulated participants, where there are any; else people."""
    completed = set(
        study.participants.filter(status=ParticipantStatus.COMPLETED)
        .order_by()
        .values_list("mode", flat=True)
        .distinct()
    )
    if Mode.LIVE in completed:
        return Mode.LIVE
    if study.participants.filter(mode=Mode.SIMULATED).exists():
        return Mode.SIMULATED
    return Mode.LIVE


def answers_of(study: Study, mode: str, *, with_excluded: bool = False) -> Answers:
    """Read the answers of the completed participants of one mode, in order of entry.

    Those whom the researcher excluded are left out and counted, unless `with_excluded` takes them in.
    """
    people, shown = [], []
    scales = scales_of(questionnaire_from(study.questionnaire))
    scored: dict[str, list[tuple[str, str | None, tuple[str | None, ...]]]] = {scale.key: [] for scale in scales}
    n_answers = n_modelled = n_incomplete = n_excluded = 0
    out = {} if with_excluded else excluded(study, [mode])
    for record in records(study, [mode], completed_only=True):
        condition, found = record.participant.condition, record.measures
        if record.participant.pk in out:
            n_excluded += 1
            continue
        if condition is None or found is None:
            n_incomplete += 1
            continue
        n_answers += record.n_answers
        n_modelled += record.n_modelled
        people.append(
            Person(
                condition=condition.label,
                n_items=found.n_items,
                accuracy_sum=found.accuracy_sum,
                fon_sum=found.fon_sum,
                son_sum=found.son_sum,
                satisfaction=found.satisfaction,
                n_liking=found.n_liking,
                liking_sum=found.liking_sum,
                n_interest=found.n_interest,
                interest_sum=found.interest_sum,
            )
        )
        items = [item.answers for item in record.items]
        for scale in scales:
            score = score_of_participant(scale, record.answers, items)
            given = tuple(_fraction(answers_of_member(scale, one, record.answers, items)) for one in scale.members)
            scored[scale.key].append((condition.label, _fraction(score), given))
        for item in record.items:
            if item.measures is not None:
                shown.append(
                    Shown(
                        condition=condition.label,
                        item=item.slot.item.external_id,
                        title=str(item.slot.item),
                        rating=item.measures.rating,
                        fon=item.measures.fon,
                        son=item.measures.son,
                        branch=item.measures.branch,
                        is_filled=item.slot.is_filled,
                    )
                )
    return Answers(
        conditions=tuple(condition.label for condition in conditions_of(study)),
        people=tuple(people),
        shown=tuple(shown),
        n_answers=n_answers,
        n_modelled=n_modelled,
        n_incomplete=n_incomplete,
        n_excluded=n_excluded,
        scales=tuple(
            ScaleAnswers(
                key=scale.key,
                name=next(iter(scale.name.values())),
                low=scale.minimum,
                high=scale.maximum,
                questions=tuple(member.name for member in scale.members),
                rows=tuple(scored[scale.key]),
            )
            for scale in scales
        ),
    )


def _interviews(study: Study, mode: str) -> dict[str, Any]:
    """Whom interviewers started, and whether each interviewer had one condition alone."""
    rows = Interview.objects.filter(participant__study=study, participant__mode=mode)
    n_interviewers = rows.order_by().values("number").distinct().count()
    return {"n": rows.count(), "interviewers": n_interviewers, "is_nested": is_nested(study)}


def _fraction(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def flow_of(study: Study, mode: str, answers: Answers) -> dict[str, Any]:
    """Who came how far, as CONSORT asks: in all, and by condition."""
    rows = Participant.objects.filter(study=study, mode=mode)
    by_status = counts_by_status(study, mode)
    interviews = _interviews(study, mode)
    return {
        **({"interviews": interviews} if interviews["n"] else {}),
        "declined": study.n_declined if mode == Mode.LIVE else 0,
        "consented": rows.count(),
        "screened_out": by_status.get(ParticipantStatus.SCREENED_OUT, 0),
        "quota_full": by_status.get(ParticipantStatus.QUOTA_FULL, 0),
        "assigned": rows.filter(assigned_at__isnull=False).count(),
        "abandoned": by_status.get(ParticipantStatus.ABANDONED, 0),
        "withdrawn": by_status.get(ParticipantStatus.WITHDRAWN, 0),
        "under_way": by_status.get(ParticipantStatus.CONSENTED, 0) + by_status.get(ParticipantStatus.ACTIVE, 0),
        "completed": by_status.get(ParticipantStatus.COMPLETED, 0),
        "excluded": answers.n_excluded,
        "excluded_for": [
            {"reason": reason, "n": n} for reason, n in exclusion_reasons(study, [mode], completed_only=True)
        ]
        if answers.n_excluded
        else [],
        "analysed": len(answers.people),
        "by_condition": [
            {
                "condition": line.label,
                "target": line.target,
                "assigned": line.started,
                "under_way": line.active,
                "abandoned": line.abandoned,
                "completed": line.completed,
                "analysed": len(answers.of(line.label)),
            }
            for line in counts_by_condition(study, mode)
        ],
    }


def positions_in(study: Study, run: EvaluationRun) -> list[int]:
    """Where each condition's model stands among the algorithms of `run`.

    Raises
    ------
    ParallaxError
        `report.run_not_finished`, or `report.models_differ` with the conditions whose model is not the one
        that the run measured for that algorithm.
    """
    if run.status != RunStatus.SUCCEEDED:
        raise ParallaxError(
            "report.run_not_finished",
            f"Run {run.pk} is {run.status}; a report needs a run that has succeeded. Wait for it, or choose another.",
        )
    measured = list(algorithms_of(run))
    found: list[int] = []
    differing: list[dict[str, str]] = []
    for condition in conditions_of(study):
        digest = condition.model_digest
        same = [place for place, one in enumerate(measured) if one.model is not None and one.model.digest == digest]
        if same:
            found.append(same[0])
            continue
        of_same_kind = [
            one.model.digest
            for one in measured
            if one.model is not None
            and (one.algorithm, one.params) == (condition.model.algorithm, condition.model.params)
        ]
        differing.append(
            {"condition": condition.label, "served": digest, "measured": of_same_kind[0] if of_same_kind else ""}
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
    )
