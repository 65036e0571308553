"""Outcomes by condition, once unblinded: after the close, or earlier by a researcher with a stated reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from statistics import fmean

from studies.enums import Mode, StudyStatus
from studies.flow_pages import SIDE_BY_SIDE
from studies.instrument.flow import questionnaire_of
from studies.instrument.measures import ParticipantMeasures
from studies.instrument.scales import scales_of, score_of_participant
from studies.models import Study
from studies.monitoring.selectors.exclusions import planned_exclusions
from studies.participation.selectors.responses import Record, records

WITHOUT_OUTCOMES = frozenset({"pages", "page-medians"})  # tables of times, which name no condition


@dataclass(frozen=True)
class Outcome:
    """Means of one condition over included completers; null without any, or where the study does not ask."""

    condition: str
    n: int
    accuracy: float | None
    fon: float | None
    son: float | None
    satisfaction: float | None


def are_outcomes_open(study: Study) -> bool:
    """Whether people's outcomes by condition may be shown."""
    return study.status == StudyStatus.CLOSED or study.outcomes_opened_at is not None


def are_outcomes_blinded(study: Study, modes: Collection[str] = (Mode.LIVE,)) -> bool:
    """Whether answers of these modes are blinded: live ones are, from the first participant until outcomes are open."""
    return Mode.LIVE in modes and not are_outcomes_open(study) and study.participants.filter(mode=Mode.LIVE).exists()


def _of_lists(study: Study, mode: str) -> Iterator[Record]:
    """Each list of each completer."""
    return (each for record in records(study, [mode], completed_only=True) for each in record.by_occasion())


def outcomes_of(study: Study, mode: str = Mode.LIVE) -> list[Outcome]:
    """One line per condition, for one mode, in design order; none where lists are compared side by side."""
    if study.design.flow.lists.shown == SIDE_BY_SIDE:
        return []
    out = planned_exclusions(study, [mode])
    by_condition: dict[str, list[ParticipantMeasures]] = defaultdict(list)
    for record in _of_lists(study, mode):
        condition = record.participant.condition
        if condition is not None and record.measures is not None and record.participant.pk not in out:
            by_condition[condition.label].append(record.measures)

    def mean(label: str, name: str) -> float | None:
        values = (getattr(measures, name) for measures in by_condition[label])
        own = [float(value) for value in values if value is not None]
        return sum(own) / len(own) if own else None

    return [
        Outcome(
            label, len(by_condition[label]), *(mean(label, name) for name in ("accuracy", "fon", "son", "satisfaction"))
        )
        for label in study.conditions.order_by("position").values_list("label", flat=True)
    ]


def scale_means_of(study: Study, keys: Collection[str], mode: str = Mode.LIVE) -> dict[str, dict[str, float | None]]:
    """Mean scores of these scales by scale and condition, for the participants of `outcomes_of`."""
    out = planned_exclusions(study, [mode])
    scales = [scale for scale in scales_of(questionnaire_of(study)) if scale.key in keys]
    labels = list(study.conditions.order_by("position").values_list("label", flat=True))
    by_scale: dict[str, dict[str, list[float]]] = {scale.key: {label: [] for label in labels} for scale in scales}
    for record in _of_lists(study, mode):
        condition = record.participant.condition
        if condition is None or record.measures is None or record.participant.pk in out:
            continue
        items = [item.answers for item in record.items]
        for scale in scales:
            score = score_of_participant(scale, record.answers, items)
            if score is not None:
                by_scale[scale.key][condition.label].append(float(score))
    return {
        key: {label: fmean(scores) if scores else None for label, scores in of_scale.items()}
        for key, of_scale in by_scale.items()
    }
