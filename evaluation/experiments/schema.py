"""What an experiment is: the runs it takes, what to make of them, and what others found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Needs = Literal["ratings", "usage", "utility"]
FigureKind = Literal["bars", "lengths", "precision-recall", "croc", "groc"]
CheckKind = Literal["order", "highest", "lowest", "between", "near", "another-best", "another-order"]
Origin = Literal["published", "inferred", "noted"]

NEEDS: Mapping[str, str] = {
    "ratings": "ratings on a scale",
    "usage": "what was taken, with or without ratings",
    "utility": "what was taken and what it was worth",
}
FIGURE_KINDS = ("bars", "lengths", "precision-recall", "croc", "groc")
CHECK_KINDS = ("order", "highest", "lowest", "between", "near", "another-best", "another-order")
ORIGINS: Mapping[str, str] = {
    "published": "published",
    "inferred": "inferred from the source, which does not state it",
    "noted": "noted elsewhere",
}


@dataclass(frozen=True)
class Contender:
    """An algorithm of an experiment.

    Parameters
    ----------
    name : str
        What tables and claims of the experiment call it.
    algorithm : str
        Key of `recommenders.registry`.
    params : mapping
        Those that are not at their defaults.
    """

    name: str
    algorithm: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PlannedRun:
    """One run of an experiment; its inputs but for dataset, seed and threads.

    Parameters
    ----------
    key : str
        What the experiment's tables, figures and claims call it.
    title : str
    split, protocol : mapping
        ``name`` and settings, as runs have them.
    task : str
    contenders : tuple of str
        Names of the algorithms, in order.
    metrics : tuple of str
        Besides the protocol's own, or in their place, as runs have it.
    n : int
    profile_lengths : tuple of int
    reserve : float
    """

    key: str
    title: str
    split: Mapping[str, Any]
    protocol: Mapping[str, Any]
    task: str
    contenders: tuple[str, ...]
    metrics: tuple[str, ...] = ()
    n: int = 5
    profile_lengths: tuple[int, ...] = ()
    reserve: float = 0.0


@dataclass(frozen=True)
class Place:
    """Where a number stands: a run, one of its metrics, and a profile length (0: the whole profile)."""

    run: str
    metric: str
    profile_length: int = 0


@dataclass(frozen=True)
class Table:
    """A table with a row for each algorithm; `columns` are headings with the places of their numbers."""

    key: str
    title: str
    columns: Mapping[str, Place]


@dataclass(frozen=True)
class Figure:
    """A figure of one run.

    Parameters
    ----------
    key, title : str
    kind : {"bars", "lengths", "precision-recall", "croc", "groc"}
    run : str
    metric : str
        Of "bars" and "lengths".
    lengths : tuple of int
        List lengths of the points of "precision-recall".
    is_share : bool
        The metric of "bars" cannot exceed 1.
    """

    key: str
    title: str
    kind: FigureKind
    run: str
    metric: str = ""
    lengths: tuple[int, ...] = ()
    is_share: bool = True


@dataclass(frozen=True)
class Note:
    """What was found elsewhere: where, in words, and (optionally) figures by algorithm."""

    where: str
    says: str = ""
    columns: tuple[str, ...] = ()
    rows: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """What a claim says about numbers; `evaluation.experiments.judging` tests it.

    Parameters
    ----------
    kind : {"order", "highest", "lowest", "between", "near", "another-best", "another-order"}
        "order": each of `contenders` has a higher number than the next, by more than `by`. "highest", "lowest": the
        first of them lies above, or below, each other one, by more than `by`. "between": each lies from `low` to
        `high`. "near": all lie within `within` of each other. "another-best": the best of `contenders` at the first
        place is not the best at the second. "another-order": some two of them are in another order at the second
        place.
    places : tuple of Place
        The check holds where it holds at every one of them; "another-best" and "another-order" compare two.
    contenders : tuple of str
    by, low, high, within : float
    """

    kind: CheckKind
    places: tuple[Place, ...]
    contenders: tuple[str, ...]
    by: float = 0.0
    low: float = float("-inf")
    high: float = float("inf")
    within: float = 0.0


@dataclass(frozen=True)
class Claim:
    """A statement with its origin, how it is read here where that is not plain, and its check."""

    says: str
    origin: Origin
    where: str
    check: Check
    read_as: str = ""


@dataclass(frozen=True)
class Experiment:
    """An experiment: everything but the dataset it is run on.

    Parameters
    ----------
    key : str
        Name in commands.
    title, source, question, data : str
        `source` is the publication with its section; `data` says what the dataset has to have.
    needs : {"ratings", "usage", "utility"}
    seed : int
    contenders : mapping of str to Contender
    runs : mapping of str to PlannedRun
    tables, figures, notes, claims : tuple
    """

    key: str
    title: str
    source: str
    question: str
    data: str
    needs: Needs
    seed: int
    contenders: Mapping[str, Contender]
    runs: Mapping[str, PlannedRun]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    notes: tuple[Note, ...]
    claims: tuple[Claim, ...]

    @property
    def needs_words(self) -> str:
        """What the dataset has to have, in words."""
        return NEEDS[self.needs]
