"""Effects planted into simulated participants: a stated shift of each variable in each condition, and who feels it.

A shift is one of the participant's measure, which is a mean over the list or over the questions of a scale, and is
spread over them: so many whole steps up or down, with the rest decided by a draw. It is exact in the mean as long as
there is room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from core.errors import ParameterError
from studies.answer_model import HIGH, LOW, MODELLED, Answer, SimulatedPerson, SourceUser, TrainingSide
from studies.questionnaires.schema import ABOUT, Questionnaire
from studies.scales import ScaleOfStudy, scales_of

SCALE = "scale."  # a scale's variable is named as its column in exports
MEASURES = ("accuracy", "satisfaction", "fon", "son")
ROUNDING = 1e-9  # of a step: what the last bits of sums of shifts may amount to
LARGEST = {"accuracy": 4.0, "satisfaction": 4.0, "fon": 1.0, "son": 1.0}
NAMES = {
    "accuracy": "perceived accuracy",
    "satisfaction": "global satisfaction",
    "fon": "first-order novelty",
    "son": "second-order novelty",
}


@dataclass(frozen=True)
class Effect:
    """What is planted in one condition.

    Parameters
    ----------
    accuracy, satisfaction : float
        Shift of the participant's mean rating and of their satisfaction, in steps of the 1..5 scale, -4 to 4.
    fon, son : float
        Shift of the share of items not watched, and neither watched nor heard of, -1 to 1.
    scales : mapping of str to float
        Key of a scale of the questionnaire to the shift of the participant's score, in its own points, at most
        their range.
    """

    accuracy: float = 0.0
    satisfaction: float = 0.0
    fon: float = 0.0
    son: float = 0.0
    scales: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


def effects_from(
    given: Any, conditions: Sequence[str], questionnaire: Questionnaire | None = None
) -> dict[str, Effect]:
    """Read effects from plain data, as a YAML file holds them.

    Parameters
    ----------
    given : mapping
        Condition to variable to shift; conditions and variables left out have none. The variables are accuracy,
        satisfaction, fon, son, and ``scale.key`` for each scale of the questionnaire.
    conditions : sequence of str
        The study's conditions.
    questionnaire : Questionnaire or None
        The study's, for its scales; None where none is planted in.

    Returns
    -------
    dict of str to Effect
        By condition, in the order of `conditions`; those without any shift are left out.

    Raises
    ------
    ParameterError
        Not a mapping of mappings, an unknown condition or variable, a shift that is no number or too large, a scale
        with questions about the person, who answers them before there is a condition.

    Examples
    --------
    >>> effects_from({"LSA": {"accuracy": 0.8}}, ["TopPop", "LSA"])["LSA"].accuracy
    0.8
    """
    if not isinstance(given, Mapping):
        raise ParameterError(
            "Effects are written as condition, then variable, then shift; see docs/how-to/pilot-a-study.md."
        )
    unknown = [str(name) for name in given if name not in conditions]
    if unknown:
        raise ParameterError(
            f"The effects name {', '.join(unknown)}, and the study's conditions are {', '.join(conditions)}."
        )
    largest, too_early = _known(questionnaire)
    found = {}
    for condition in conditions:
        shifts = given.get(condition)
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
        found[condition] = Effect(
            **{name: read[name] for name in MEASURES if name in read},
            scales={
                name.removeprefix(SCALE): value for name, value in read.items() if name.startswith(SCALE) and value
            },
        )
    return {condition: effect for condition, effect in found.items() if effect != Effect(scales={})}


def _known(questionnaire: Questionnaire | None) -> tuple[dict[str, float], frozenset[str]]:
    """The largest shift of each variable, and the scales that are asked about too early."""
    scales = scales_of(questionnaire) if questionnaire is not None else ()
    about = {question.scale for question in questionnaire.block(ABOUT)} if questionnaire is not None else set()
    late = {SCALE + scale.key: float(scale.maximum - scale.minimum) for scale in scales if scale.key not in about}
    return LARGEST | late, frozenset(SCALE + scale.key for scale in scales if scale.key in about)


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


def as_plain(effects: Mapping[str, Effect]) -> dict[str, dict[str, float]]:
    """Return the effects as plain data, without shifts of nothing.

    Parameters
    ----------
    effects : mapping of str to Effect
        By condition.

    Examples
    --------
    >>> as_plain({"LSA": Effect(fon=-0.2, scales={"trust": 0.5})})
    {'LSA': {'fon': -0.2, 'scale.trust': 0.5}}
    """
    found = {}
    for condition, one in effects.items():
        shifts = {name: float(getattr(one, name)) for name in MEASURES}
        shifts |= {SCALE + key: value for key, value in one.scales.items()}
        found[condition] = {name: shift for name, shift in shifts.items() if shift}
    return found


def told(planted: Mapping[str, Mapping[str, float]]) -> str:
    """Say in a sentence what was planted; nothing where nothing was.

    Parameters
    ----------
    planted : mapping
        As `as_plain` returns it.

    Examples
    --------
    >>> told({"LSA": {"accuracy": 0.8, "scale.trust": -0.1}})
    'Effects were planted: LSA perceived accuracy +0.8, scale trust -0.1.'
    """
    parts = []
    for condition, shifts in planted.items():
        # Those of scales by name: a database may give the keys of a mapping back in any order.
        scales = sorted(name for name in shifts if name.startswith(SCALE))
        names = NAMES | {name: f"scale {name.removeprefix(SCALE)}" for name in scales}
        parts.append(
            f"{condition} " + ", ".join(f"{names[name]} {shifts[name]:+g}" for name in names if name in shifts)
        )
    return f"Effects were planted: {'; '.join(parts)}." if parts else ""


def _whole(shift: float, draw: float) -> int:
    """The shift as a whole number that has it as its mean; `draw` is uniform on [0, 1)."""
    return math.floor(shift + draw)


class _ScaleShift:
    """The shift of one scale in one person, spread over its questions as they are answered."""

    def __init__(self, scale: ScaleOfStudy, shift: float) -> None:
        self._range = float(scale.maximum - scale.minimum)
        self._shift = shift
        self._due = 0.0  # points that the questions answered so far should have moved by, and have not

    def moved(self, value: int, points: int, draw: float, *, is_reversed: bool) -> int:
        """The answer, 1 to `points`, moved by this question's part; what finds no room is left to the next."""
        step = self._range / (points - 1)
        self._due += self._shift
        wanted = math.floor(self._due / step + draw + ROUNDING)
        after = min(points, max(1, value + (-wanted if is_reversed else wanted)))
        self._due -= (value - after if is_reversed else after - value) * step
        return after


class AffectedPerson(SimulatedPerson):
    """A simulated person in a condition with planted effects.

    Without effects they answer as a `SimulatedPerson` of the same stream does: what is planted has a stream of its
    own. What an effect changed is modelled and no longer true.

    The score of a scale shifts, in the mean over people, by exactly what is planted while answers have room; in one
    person the sum over its questions is within one step of as many shifts. A question that stands at the end of its
    points leaves its part to the next one of the scale, of the next item too where the scale is about items; what
    the last ones cannot take is lost, so that never more comes than is asked for. Reversed questions shift the other
    way. Where questions of a scale are asked only after certain answers, those that are asked shift.

    Parameters
    ----------
    user : SourceUser
        Whose ratings are true for this person, where no effect changes them.
    training : TrainingSide
        Means and popularity, without any reserved user.
    rng : numpy.random.Generator
        The person's stream.
    effect : Effect
        What is planted.
    list_length : int
        Items they are asked about, >= 1.
    effect_rng : numpy.random.Generator
        The stream of what is planted in this person.
    scales : sequence of ScaleOfStudy
        The scales of the questionnaire.
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
    ) -> None:
        super().__init__(user, training, rng)
        draws = effect_rng.random(len(MEASURES))
        self._steps = _whole(effect.accuracy * list_length, draws[0])
        self._satisfied = _whole(effect.satisfaction, draws[1])
        self._newer = _whole(effect.fon * list_length, draws[2])
        self._unheard = _whole(effect.son * list_length, draws[3])
        self._items_left = list_length
        self._effect_rng = effect_rng
        self._scale_shifts = {
            member.name: shift
            for scale in scales
            if scale.key in effect.scales
            for shift in (_ScaleShift(scale, effect.scales[scale.key]),)
            for member in scale.members
        }

    def about_item(self, item: int) -> dict[str, Answer]:
        """Answer the questions about one recommended item, shifted by what is planted."""
        answers = self._lifted(self._unheard_of(self._made_new(super().about_item(item))))
        self._items_left = max(1, self._items_left - 1)
        return answers

    def _made_new(self, answers: dict[str, Answer]) -> dict[str, Answer]:
        """First-order novelty; second-order novelty stays what it is."""
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
            self._unheard += not answers["heard"].value  # to be made good by another item
            return {"watched": Answer(True, MODELLED), "rating": answers["rating"]}
        return answers

    def _unheard_of(self, answers: dict[str, Answer]) -> dict[str, Answer]:
        if answers["watched"].value:
            return answers
        if self._unheard > 0 and answers["heard"].value:
            self._unheard -= 1
            return {**answers, "heard": Answer(False, MODELLED), "trailer_seen": Answer(False, MODELLED)}
        if self._unheard < 0 and not answers["heard"].value:
            self._unheard += 1
            return {**answers, "heard": Answer(True, MODELLED)}
        return answers

    def _lifted(self, answers: dict[str, Answer]) -> dict[str, Answer]:
        """The rating, by this item's part of the steps that are left; what finds no room goes to the next."""
        part = self._steps / self._items_left
        step = math.ceil(part) if part > 0 else math.floor(part)
        before = answers["rating"].value
        after = min(HIGH, max(LOW, before + step))
        self._steps -= after - before
        return {**answers, "rating": Answer(after, MODELLED)} if after != before else answers

    def satisfaction(self) -> Answer:
        """Judge the whole list as without effects, shifted by what is planted in satisfaction alone."""
        felt = super().satisfaction()
        return Answer(min(HIGH, max(LOW, felt.value + self._satisfied)), MODELLED)

    def opinion(self, points: int, rng: np.random.Generator, *, name: str = "", is_negative: bool = False) -> Answer:
        """Agree with a statement as without effects, shifted by what is planted in the scale it belongs to."""
        felt = super().opinion(points, rng, name=name, is_negative=is_negative)
        shift = self._scale_shifts.get(name)
        if shift is None:
            return felt
        draw = float(self._effect_rng.random())
        return Answer(shift.moved(felt.value, points, draw, is_reversed=is_negative), MODELLED)
