"""Outcomes by condition, once they are open: after the close, or when somebody opened them and said why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from statistics import fmean

from studies.enums import Mode, StudyStatus
from studies.measures import ParticipantMeasures
from studies.models import Study
from studies.questionnaires.schema import questionnaire_from
from studies.scales import scales_of, score_of_participant
from studies.selectors.left_out import left_out_as_planned
from studies.selectors.responses import records

WITHOUT_OUTCOMES = frozenset({"pages", "page-medians"})  # tables of times, which name no condition


@dataclass(frozen=True)
class Outcome:
    """Means of one condition over completed participants whom neither the researcher nor the plan leaves out; None
    where there is nobody."""

    condition: str
    n: int
    accuracy: float | None
    fon: float | None
    son: float | None
    satisfaction: float | None


def are_outcomes_open(study: Study) -> bool:
    """Whether people's outcomes by condition may be shown."""
    return study.status == StudyStatus.CLOSED or study.outcomes_opened_at is not None


def are_outcomes_shut(study: Study, modes: Collection[str] = (Mode.LIVE,)) -> bool:
    """Whether answers of these modes may not be given out yet: people's, from when the first took part until outcomes
    are open."""
    return Mode.LIVE in modes and not are_outcomes_open(study) and study.participants.filter(mode=Mode.LIVE).exists()


def outcomes_of(study: Study, mode: str = Mode.LIVE) -> list[Outcome]:
    """One line a condition, of one mode alone, in the order of the design."""
    out = left_out_as_planned(study, [mode])
    found: dict[str, list[ParticipantMeasures]] = defaultdict(list)
    for record in records(study, [mode], completed_only=True):
        condition = record.participant.condition
        if condition is not None and record.measures is not None and record.participant.pk not in out:
            found[condition.label].append(record.measures)

    def mean(label: str, name: str) -> float | None:
        own = [float(getattr(one, name)) for one in found[label]]
        return sum(own) / len(own) if own else None

    return [
        Outcome(label, len(found[label]), *(mean(label, name) for name in ("accuracy", "fon", "son", "satisfaction")))
        for label in study.conditions.order_by("position").values_list("label", flat=True)
    ]


def scale_means_of(study: Study, keys: Collection[str], mode: str = Mode.LIVE) -> dict[str, dict[str, float | None]]:
    """Mean scores of these scales by scale and condition, of the same people as `outcomes_of`."""
    out = left_out_as_planned(study, [mode])
    scales = [scale for scale in scales_of(questionnaire_from(study.questionnaire)) if scale.key in keys]
    labels = list(study.conditions.order_by("position").values_list("label", flat=True))
    found: dict[str, dict[str, list[float]]] = {scale.key: {label: [] for label in labels} for scale in scales}
    for record in records(study, [mode], completed_only=True):
        condition = record.participant.condition
        if condition is None or record.measures is None or record.participant.pk in out:
            continue
        items = [item.answers for item in record.items]
        for scale in scales:
            score = score_of_participant(scale, record.answers, items)
            if score is not None:
                found[scale.key][condition.label].append(float(score))
    return {
        key: {label: fmean(scores) if scores else None for label, scores in of_scale.items()}
        for key, of_scale in found.items()
    }
