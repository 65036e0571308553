"""Effects planted into simulated participants: a stated shift of each variable in each condition, and who feels it.

A shift is one of the participant's measure, which is a mean over the list, and is spread over the items: so many
whole steps up or down, with the rest decided by a draw. It is exact in the mean as long as the scale has room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from core.errors import ParameterError
from studies.answer_model import HIGH, LOW, MODELLED, Answer, SimulatedPerson, SourceUser, TrainingSide

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
    """

    accuracy: float = 0.0
    satisfaction: float = 0.0
    fon: float = 0.0
    son: float = 0.0


def effects_from(given: Any, conditions: Sequence[str]) -> dict[str, Effect]:
    """Read effects from plain data, as a YAML file holds them.

    Parameters
    ----------
    given : mapping
        Condition to variable to shift; conditions and variables left out have none.
    conditions : sequence of str
        The study's conditions.

    Returns
    -------
    dict of str to Effect
        By condition, in the order of `conditions`; those without any shift are left out.

    Raises
    ------
    ParameterError
        Not a mapping of mappings, an unknown condition or variable, a shift that is no number or too large.

    Examples
    --------
    >>> effects_from({"LSA": {"accuracy": 0.8}}, ["TopPop", "LSA"])
    {'LSA': Effect(accuracy=0.8, satisfaction=0.0, fon=0.0, son=0.0)}
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
    found = {}
    for condition in conditions:
        shifts = given.get(condition)
        if shifts is None:
            continue
        if not isinstance(shifts, Mapping):
            raise ParameterError(f"The effects on {condition} are written as variable: shift; got {shifts!r}.")
        found[condition] = Effect(**{str(name): _shift(condition, str(name), shifts[name]) for name in shifts})
    return {condition: effect for condition, effect in found.items() if effect != Effect()}


def _shift(condition: str, name: str, value: Any) -> float:
    if name not in LARGEST:
        raise ParameterError(
            f"The effects on {condition} name the unknown variable {name!r}; known are {', '.join(LARGEST)}."
        )
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or abs(value) > LARGEST[name]:
        raise ParameterError(
            f"The shift of {name} in {condition} is a number from {-LARGEST[name]:g} to {LARGEST[name]:g}; "
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
    >>> as_plain({"LSA": Effect(fon=-0.2)})
    {'LSA': {'fon': -0.2}}
    """
    return {name: {key: value for key, value in asdict(one).items() if value} for name, one in effects.items()}


def told(planted: Mapping[str, Mapping[str, float]]) -> str:
    """Say in a sentence what was planted; nothing where nothing was.

    Parameters
    ----------
    planted : mapping
        As `as_plain` returns it.

    Examples
    --------
    >>> told({"LSA": {"accuracy": 0.8, "son": -0.1}})
    'Effects were planted: LSA perceived accuracy +0.8, second-order novelty -0.1.'
    """
    parts = [
        f"{condition} " + ", ".join(f"{NAMES[name]} {shifts[name]:+g}" for name in NAMES if name in shifts)
        for condition, shifts in planted.items()
    ]
    return f"Effects were planted: {'; '.join(parts)}." if parts else ""


def _whole(shift: float, draw: float) -> int:
    """The shift as a whole number that has it as its mean; `draw` is uniform on [0, 1)."""
    return math.floor(shift + draw)


class AffectedPerson(SimulatedPerson):
    """A simulated person in a condition with planted effects.

    Without effects they answer as a `SimulatedPerson` of the same stream does: what is planted has a stream of its
    own. What an effect changed is modelled and no longer true.

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
    ) -> None:
        super().__init__(user, training, rng)
        draws = effect_rng.random(len(fields(Effect)))
        self._steps = _whole(effect.accuracy * list_length, draws[0])
        self._satisfied = _whole(effect.satisfaction, draws[1])
        self._newer = _whole(effect.fon * list_length, draws[2])
        self._unheard = _whole(effect.son * list_length, draws[3])
        self._items_left = list_length

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
