"""What every condition would recommend to one profile, side by side: reads only, keeps nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np

from catalog.models import Item
from catalog.selectors.ratings import ratings_of, user_ids_of
from core.errors import ArtefactError, ParallaxError
from core.provenance import rng_for
from evaluation.selectors import cases
from recommenders.data import Profiles
from studies.answer_model import stars
from studies.enums import StudyStatus
from studies.models import Condition, Study
from studies.selectors.outcomes import are_outcomes_open
from studies.services.condition_serving import recommend_in
from studies.services.previewing import tickets

RESERVED, ANY = "reserved", "any"


@dataclass(frozen=True)
class Slot:
    """One place of a list; `n_lists` is in how many of the lists its item stands."""

    item: Item
    is_filled: bool
    n_lists: int

    @property
    def is_shared(self) -> bool:
        """Whether another list has the item too."""
        return self.n_lists > 1


@dataclass(frozen=True)
class ConditionList:
    """What one condition gives, or in `problem` why it gives nothing. `ticket` is its number in previews."""

    ticket: int
    name: str
    slots: tuple[Slot, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class SideBySide:
    """The lists of all conditions; `overlaps` has, list by list, how many items it shares with each."""

    lists: tuple[ConditionList, ...]
    overlaps: tuple[tuple[str, tuple[int | None, ...]], ...]
    are_named: bool
    n_different: int


@dataclass(frozen=True)
class SampleProfile:
    """Some of a dataset user's ratings, in stars, by item index; `is_reserved`: no model has seen the user."""

    user: str
    ratings: dict[int, int]
    is_reserved: bool


def are_named(study: Study) -> bool:
    """Whether blinding allows to say which list is which condition's: in a draft, and once outcomes are open."""
    return study.status == StudyStatus.DRAFT or are_outcomes_open(study)


def letter(number: int) -> str:
    """What a list is called whose condition is not named: A, B, …, Z, AA, …"""
    first, last = divmod(number, len(ascii_uppercase))
    return (ascii_uppercase[first - 1] if first else "") + ascii_uppercase[last]


def side_by_side(*, study: Study, ratings: Mapping[int, int]) -> SideBySide:
    """Give each condition's list for a profile, `ratings` being stars by item index.

    Named, the conditions are in the order of the design; blinded, in a drawn one under letters. A model that cannot
    be used says so in its place and leaves the others alone.
    """
    is_open = are_named(study)
    numbered = list(enumerate(tickets(study)))
    if is_open:
        numbered.sort(key=lambda pair: pair[1].position)
    names = {ticket: one.label if is_open else f"List {letter(ticket)}" for ticket, one in numbered}
    served = {ticket: _served(study, condition, ratings, is_open) for ticket, condition in numbered}
    counted = Counter(index for found in served.values() if not isinstance(found, str) for index, _filled in found)
    items = {item.index: item for item in study.dataset_version.items.filter(index__in=list(counted))}
    lists = []
    for ticket, _condition in numbered:
        found = served[ticket]
        if isinstance(found, str):
            lists.append(ConditionList(ticket, names[ticket], problem=found))
        else:
            slots = tuple(Slot(items[index], is_filled, counted[index]) for index, is_filled in found)
            lists.append(ConditionList(ticket, names[ticket], slots))
    return SideBySide(tuple(lists), _overlaps(lists), is_open, len(counted))


def _served(
    study: Study, condition: Condition, ratings: Mapping[int, int], is_open: bool
) -> list[tuple[int, bool]] | str:
    try:
        served = recommend_in(study=study, condition=condition, ratings=ratings, n=int(study.settings["list_length"]))
    except (ArtefactError, ParallaxError, OSError) as problem:
        return str(problem) if is_open else "The model of this condition cannot be used."  # the reason may name it
    return list(zip(served.items, served.is_filled, strict=True))


def _overlaps(lists: Sequence[ConditionList]) -> tuple[tuple[str, tuple[int | None, ...]], ...]:
    sets = [{slot.item.pk for slot in one.slots} for one in lists]
    return tuple(
        (one.name, tuple(None if i == j else len(sets[i] & sets[j]) for j in range(len(lists))))
        for i, one in enumerate(lists)
    )


def sample_profile(*, study: Study, draw: str, number: int) -> SampleProfile:
    """Give a user of the dataset with as many of their ratings as the study asks for, the same for the same number.

    `draw` says of whom: users reserved from every model, or any. Raises `preview.no_user`.
    """
    wanted = int(study.settings["ratings_asked"])
    ratings = ratings_of(study.dataset_version)
    indexes = cases.cases_of(study.run).reserved if draw == RESERVED else np.arange(ratings.user_items.shape[0])
    counts = np.diff(ratings.user_items.indptr)[indexes]
    fitting = indexes[counts >= wanted]
    if len(fitting) == 0:
        whose = "users that were reserved" if draw == RESERVED else "users of the dataset"
        raise ParallaxError("preview.no_user", f"None of the {whose} has {wanted} ratings.")
    order = rng_for(study.seed, "sample-users", draw).permutation(len(fitting))
    user = int(fitting[order[number % len(fitting)]])
    profile = Profiles.of(ratings, np.array([user]))
    items, values = profile.user_items.indices, profile.user_items.data
    chosen = np.sort(rng_for(study.seed, "sample-items", user).choice(len(items), size=wanted, replace=False))
    scale = ratings.scale
    given = {int(items[at]): stars(float(values[at]), scale.low, scale.high) for at in chosen}
    return SampleProfile(str(user_ids_of(study.dataset_version)[user]), given, draw == RESERVED)
