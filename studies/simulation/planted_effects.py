"""Effects planted in simulated participants: specified shifts of variables in each condition, read and told.

A shift applies to a participant's measure, a mean over the list or over the questions of a scale. Where people meet
several lists, one may also depend on the occasion (``occasion:2``), as by fatigue, and on the condition of the list
before (``after:LABEL``), as a carry-over; the shifts of a list are added.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ParameterError
from studies.instrument.questionnaires.schema import ABOUT, Questionnaire
from studies.instrument.scales import scales_of
from studies.settings import SCALE_PREFIX
from studies.simulation.answer_model import Effect

LARGEST = {"accuracy": 4.0, "satisfaction": 4.0, "fon": 1.0, "son": 1.0}
NAMES = {
    "accuracy": "perceived accuracy",
    "satisfaction": "global satisfaction",
    "fon": "first-order novelty",
    "son": "second-order novelty",
}


def causes_of(conditions: Sequence[str], n_occasions: int = 1) -> list[str]:
    """Return what effects may name: the conditions, and with several lists the occasions and the list before.

    Examples
    --------
    >>> causes_of(["TopPop", "LSA"], 2)
    ['TopPop', 'LSA', 'occasion:2', 'after:TopPop', 'after:LSA']
    """
    if n_occasions == 1:
        return [*conditions]
    later = [f"occasion:{occasion}" for occasion in range(2, n_occasions + 1)]
    return [*conditions, *later, *(f"after:{condition}" for condition in conditions)]


def effects_by_list(effects: Mapping[str, Effect], met: Sequence[str]) -> list[Effect]:
    """Return the shifts of each list of a person who meets these conditions in turn.

    Examples
    --------
    >>> effects_by_list({"LSA": {"accuracy": 0.5}, "after:LSA": {"accuracy": -0.2}}, ["LSA", "TopPop"])
    [{'accuracy': 0.5}, {'accuracy': -0.2}]
    """
    by_list: list[Effect] = []
    for occasion, condition in enumerate(met, start=1):
        causes = [condition, *([f"occasion:{occasion}", f"after:{met[occasion - 2]}"] if occasion > 1 else ())]
        shifts: dict[str, float] = {}
        for name, shift in (each for cause in causes for each in effects.get(cause, {}).items()):
            shifts[name] = shifts.get(name, 0.0) + shift
        by_list.append(shifts)
    return by_list


def effects_from(data: Any, conditions: Sequence[str], questionnaire: Questionnaire | None = None) -> dict[str, Effect]:
    """Parse effects from plain data such as a YAML file.

    `conditions` are those of `causes_of`. The data map each of them to shifts of variables: accuracy, satisfaction,
    fon, son, and ``scale.key`` for each scale of the questionnaire. What is omitted is not shifted; conditions without
    a shift are omitted from the result, which is in the order of `conditions`. Raises ParameterError for anything but a
    mapping of mappings, an unknown condition or variable, an invalid shift, or a scale with questions that are asked
    before assignment.

    Examples
    --------
    >>> effects_from({"LSA": {"accuracy": 0.8, "fon": 0}}, ["TopPop", "LSA"])
    {'LSA': {'accuracy': 0.8}}
    """
    if not isinstance(data, Mapping):
        raise ParameterError(
            "Effects are written as condition, then variable, then shift; see docs/how-to/pilot-a-study.md."
        )
    unknown = [str(name) for name in data if name not in conditions]
    if unknown:
        raise ParameterError(
            f"The effects name {', '.join(unknown)}, and the study's conditions are {', '.join(conditions)}."
        )
    largest, too_early = _known(questionnaire)
    effects: dict[str, Effect] = {}
    for condition in conditions:
        shifts = data.get(condition)
        if shifts is None:
            continue
        if not isinstance(shifts, Mapping):
            raise ParameterError(f"The effects on {condition} are written as variable: shift; got {shifts!r}.")
        read = {}
        for name, value in shifts.items():
            if name in too_early:
                raise ParameterError(
                    f"The effects on {condition} name {name}, and some of its questions are asked about the person, "
                    "before there is a condition that could shift them. Leave it out."
                )
            read[str(name)] = _shift(condition, str(name), value, largest)
        in_order = sorted(read, key=lambda name: [*NAMES, name].index(name))
        effects[condition] = {name: read[name] for name in in_order if read[name]}
    return {condition: effect for condition, effect in effects.items() if effect}


def _known(questionnaire: Questionnaire | None) -> tuple[dict[str, float], frozenset[str]]:
    if questionnaire is None:
        return LARGEST, frozenset()
    about = {question.scale for question in questionnaire.block(ABOUT)}
    scales = scales_of(questionnaire)
    late = [scale for scale in scales if scale.key not in about]
    ranges = {SCALE_PREFIX + scale.key: float(scale.maximum - scale.minimum) for scale in late}
    return LARGEST | ranges, frozenset(SCALE_PREFIX + scale.key for scale in scales if scale.key in about)


def _shift(condition: str, name: str, value: Any, largest: Mapping[str, float]) -> float:
    if name not in largest:
        raise ParameterError(
            f"The effects on {condition} name the unknown variable {name!r}; those of this study are "
            f"{', '.join(largest)}."
        )
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or abs(value) > largest[name]:
        raise ParameterError(
            f"The shift of {name} in {condition} is a number from {-largest[name]:g} to {largest[name]:g}; "
            f"got {value!r}."
        )
    return float(value)


def planted_sentence(planted: Mapping[str, Effect]) -> str:
    """Describe the planted effects in a sentence; empty without effects.

    Examples
    --------
    >>> planted_sentence({"LSA": {"accuracy": 0.8, "scale.trust": -0.1}})
    'Effects were planted: LSA perceived accuracy +0.8, scale trust -0.1.'
    """
    parts = []
    for condition, shifts in planted.items():
        # Scales are sorted by name: databases may not preserve the key order of JSON objects.
        scales = sorted(name for name in shifts if name.startswith(SCALE_PREFIX))
        names = NAMES | {name: f"scale {name.removeprefix(SCALE_PREFIX)}" for name in scales}
        parts.append(
            f"{condition} " + ", ".join(f"{names[name]} {shifts[name]:+g}" for name in names if name in shifts)
        )
    return f"Effects were planted: {'; '.join(parts)}." if parts else ""
