"""Effects planted in simulated participants: specified shifts of variables in each condition.

A shift applies to a participant's measure, a mean over the list or over the questions of a scale. It is spread over
the individual answers in whole steps, with the remainder decided at random. The expected shift is exact as long as
answers stay within their range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.errors import ParameterError
from studies.instrument.questionnaires.schema import ABOUT, Questionnaire
from studies.instrument.scales import ScaleOfStudy, scales_of
from studies.known_items import FIVE_STARS, ElicitationScale
from studies.settings import SCALE_PREFIX
from studies.simulation.answer_model import HIGH, LOW, MODELLED, Answer, SimulatedPerson, SourceUser, TrainingSide

# Shifts by variable, of the mean rating, of satisfaction, of the share of items not watched, of that of items neither
# watched nor heard of, and of the score of a scale (``scale.KEY``), each in its own points; none is 0.
Effect = Mapping[str, float]
ROUNDING = 1e-9  # of a step: tolerance for floating-point error in summed shifts
LARGEST = {"accuracy": 4.0, "satisfaction": 4.0, "fon": 1.0, "son": 1.0}
NAMES = {
    "accuracy": "perceived accuracy",
    "satisfaction": "global satisfaction",
    "fon": "first-order novelty",
    "son": "second-order novelty",
}


def effects_from(data: Any, conditions: Sequence[str], questionnaire: Questionnaire | None = None) -> dict[str, Effect]:
    """Parse effects from plain data such as a YAML file.

    The data map each condition to shifts of variables: accuracy, satisfaction, fon, son, and ``scale.key`` for each
    scale of the questionnaire. What is omitted is not shifted; conditions without a shift are omitted from the result,
    which is in the order of `conditions`. Raises ParameterError for anything but a mapping of mappings, an unknown
    condition or variable, an invalid shift, or a scale with questions that are asked before assignment.

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


def _whole(shift: float, draw: float) -> int:
    return math.floor(shift + draw)


class _ScaleShift:
    """The shift of one scale in one person, spread over its questions in answering order."""

    def __init__(self, scale: ScaleOfStudy, shift: float) -> None:
        self._range = float(scale.maximum - scale.minimum)
        self._shift = shift
        self._due = 0.0  # outstanding points from questions answered so far

    def moved(self, value: int, points: int, draw: float, *, is_reversed: bool) -> int:
        """Return the shifted answer, 1 to `points`; a shift beyond the range is carried over to the next question."""
        step = self._range / (points - 1)
        self._due += self._shift
        steps = math.floor(self._due / step + draw + ROUNDING)
        after = min(points, max(1, value + (-steps if is_reversed else steps)))
        self._due -= (value - after if is_reversed else after - value) * step
        return after


class AffectedPerson(SimulatedPerson):
    """A simulated person in a condition with planted effects.

    Effects use a random stream of their own, so without effects the answers equal those of a `SimulatedPerson` with
    the same stream. Answers changed by an effect are modelled, no longer true.

    The mean score of a scale over people shifts by exactly the planted amount as long as answers stay within their
    range; in one person the sum over the questions is within one step of the planted total. A question at the end of
    its range passes its part on to the next question of the scale, also across items. A remainder after the last
    question is lost, so shifts never exceed the planted amount. Reversed questions shift in the opposite direction. Of
    conditional questions, only those asked shift. The first three parameters are those of `SimulatedPerson`.
    """

    def __init__(
        self,
        user: SourceUser,
        training: TrainingSide,
        rng: np.random.Generator,
        *,
        effect: Effect,
        list_length: int,
        effect_rng: np.random.Generator,
        scales: Sequence[ScaleOfStudy] = (),
        elicitation: ElicitationScale = FIVE_STARS,
    ) -> None:
        super().__init__(user, training, rng, elicitation=elicitation)
        draws = effect_rng.random(4)
        self._steps = _whole(effect.get("accuracy", 0.0) * list_length, draws[0])
        self._satisfied = _whole(effect.get("satisfaction", 0.0), draws[1])
        self._newer = _whole(effect.get("fon", 0.0) * list_length, draws[2])
        self._unheard = _whole(effect.get("son", 0.0) * list_length, draws[3])
        self._items_left = list_length
        self._effect_rng = effect_rng
        self._scale_shifts = {
            member.name: shift
            for scale in scales
            if SCALE_PREFIX + scale.key in effect
            for shift in (_ScaleShift(scale, effect[SCALE_PREFIX + scale.key]),)
            for member in scale.members
        }

    def about_item(self, item: int) -> dict[str, Answer]:
        answers = self._shift_rating(self._shift_son(self._shift_fon(super().about_item(item))))
        self._items_left = max(1, self._items_left - 1)
        return answers

    def _shift_fon(self, answers: dict[str, Answer]) -> dict[str, Answer]:
        if self._newer > 0 and answers["watched"].value:
            self._newer -= 1
            return {
                "watched": Answer(False, MODELLED),
                "heard": Answer(True, MODELLED),
                "trailer_seen": Answer(False, MODELLED),
                "rating": Answer(answers["rating"].value, MODELLED),
            }
        if self._newer < 0 and not answers["watched"].value:
            self._newer += 1
            self._unheard += not answers["heard"].value  # compensated by another item
            return {"watched": Answer(True, MODELLED), "rating": answers["rating"]}
        return answers

    def _shift_son(self, answers: dict[str, Answer]) -> dict[str, Answer]:
        if answers["watched"].value:
            return answers
        if self._unheard > 0 and answers["heard"].value:
            self._unheard -= 1
            return {**answers, "heard": Answer(False, MODELLED), "trailer_seen": Answer(False, MODELLED)}
        if self._unheard < 0 and not answers["heard"].value:
            self._unheard += 1
            return {**answers, "heard": Answer(True, MODELLED)}
        return answers

    def _shift_rating(self, answers: dict[str, Answer]) -> dict[str, Answer]:
        part = self._steps / self._items_left
        step = math.ceil(part) if part > 0 else math.floor(part)
        before = answers["rating"].value
        after = min(HIGH, max(LOW, before + step))
        self._steps -= after - before
        return {**answers, "rating": Answer(after, MODELLED)} if after != before else answers

    def satisfaction(self) -> Answer:
        felt = super().satisfaction()
        return Answer(min(HIGH, max(LOW, felt.value + self._satisfied)), MODELLED)

    def opinion(self, points: int, rng: np.random.Generator, *, name: str = "", is_negative: bool = False) -> Answer:
        felt = super().opinion(points, rng, name=name, is_negative=is_negative)
        shift = self._scale_shifts.get(name)
        if shift is None:
            return felt
        draw = float(self._effect_rng.random())
        return Answer(shift.moved(felt.value, points, draw, is_reversed=is_negative), MODELLED)
