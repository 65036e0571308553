"""The schema of an experiment: its runs, tables, figures and claims, and published results to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from inference.claims import Finding, verdict
from recommenders.size_selection import Choice

Needs = Literal["ratings", "usage", "utility"]
FigureKind = Literal["bars", "lengths", "precision-recall", "croc", "groc"]
Origin = Literal["published", "inferred", "noted"]

NEEDS: Mapping[str, str] = {
    "ratings": "ratings on a scale",
    "usage": "usage data, with or without ratings",
    "utility": "usage data with utilities",
}
FIGURE_KINDS = ("bars", "lengths", "precision-recall", "croc", "groc")
# The rule of `inference.claims` behind each kind of check, and the numbers that it takes.
CHECK_KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "order": ("order", ("by",)),
    "highest": ("highest", ("by",)),
    "lowest": ("lowest", ("by",)),
    "top": ("top", ()),
    "bottom": ("bottom", ()),
    "between": ("between", ("low", "high")),
    "near": ("alike", ("within",)),
    "another-best": ("another-best", ()),
    "another-order": ("another-order", ()),
}
ORIGINS: Mapping[str, str] = {
    "published": "published",
    "inferred": "inferred from the source, which does not state it",
    "noted": "noted elsewhere",
}


@dataclass(frozen=True)
class SizeSearch:
    """How the size of a contender is chosen, as `recommenders.size_selection.choose` does."""

    values: tuple[int, ...]  # sizes to compare, ascending; those that the data cannot have are left out
    share: float = 0.1  # share of the training side that is held out
    rule: str = "best"


@dataclass(frozen=True)
class Contender:
    """An algorithm of an experiment."""

    name: str  # its name in the tables and claims of the experiment
    algorithm: str  # key of `recommenders.registry`
    params: Mapping[str, Any] = field(default_factory=dict)  # parameters that differ from their defaults
    search: SizeSearch | None = None  # where its size is chosen on the training side of each run


@dataclass(frozen=True)
class PlannedRun:
    """One run of an experiment: its inputs except for dataset, seed and threads."""

    key: str  # its name in the experiment's tables, figures and claims
    title: str
    # `split`, `protocol`: ``name`` and settings, as in a run.
    split: Mapping[str, Any]
    protocol: Mapping[str, Any]
    task: str
    contenders: tuple[str, ...]  # names of the algorithms, in order
    metrics: tuple[str, ...] = ()  # in addition to the protocol's own or instead of them, as in a run
    n: int = 5
    profile_lengths: tuple[int, ...] = ()
    reserve: float = 0.0
    # What the search of each contender with one chose on the training side of this run; empty before that.
    chosen: Mapping[str, Choice] = field(default_factory=dict)


@dataclass(frozen=True)
class Quantity:
    """A measured quantity: a metric of a run at a profile length (0: the whole profile)."""

    run: str
    metric: str
    profile_length: int = 0


Numbers = Mapping[tuple[Quantity, str], float | None]  # by quantity and algorithm


@dataclass(frozen=True)
class Table:
    """A table with one row per algorithm; `columns` maps headings to the quantities they show."""

    key: str
    title: str
    columns: Mapping[str, Quantity]


@dataclass(frozen=True)
class Figure:
    """A figure of one run."""

    key: str
    title: str
    kind: FigureKind
    run: str
    metric: str = ""  # required for "bars" and "lengths"
    lengths: tuple[int, ...] = ()  # list lengths of the points of "precision-recall"
    is_share: bool = True  # whether the metric of "bars" cannot exceed 1


@dataclass(frozen=True)
class Note:
    """Results from elsewhere: the source, a description, and optionally numbers by algorithm."""

    where: str
    says: str = ""
    columns: tuple[str, ...] = ()
    rows: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """The testable form of a claim: a rule of `inference.claims`, which must be met at each of `quantities`."""

    rule: str
    quantities: tuple[Quantity, ...]
    contenders: tuple[str, ...]
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A statement with its origin, its reading where that is not obvious, and its check."""

    says: str
    origin: Origin
    where: str
    check: Check
    read_as: str = ""


@dataclass(frozen=True)
class Judgement:
    """A claim with the findings that decide it."""

    claim: Claim
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """As in the paper, not as in the paper, or open; of what others noted, as noted or not."""
        words = verdict(self.findings)
        return words.replace("in the paper", "noted") if self.claim.origin == "noted" else words


@dataclass(frozen=True)
class Experiment:
    """An experiment: everything except the dataset it is run on."""

    key: str  # name in commands
    # `title`, `source`, `question`, `data`: `source` is the publication with its section; `data` describes the required
    # dataset.
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

    def params_in(self, plan: PlannedRun, contender: str) -> dict[str, Any]:
        """The parameters of a contender in a run, the chosen size included."""
        choice = plan.chosen.get(contender)
        size = {} if choice is None else {choice.parameter: choice.chosen}
        return {**self.contenders[contender].params, **size}

    @property
    def searched(self) -> tuple[str, ...]:
        """The contenders whose size is to be chosen, whether it was or not."""
        return tuple(name for name, contender in self.contenders.items() if contender.search is not None)

    @property
    def choices(self) -> list[tuple[str, tuple[str, ...], Choice]]:
        """Every different choice: the contender, the titles of the runs it is for, and what was compared."""
        choices: list[tuple[str, tuple[str, ...], Choice]] = []
        for name in self.searched:
            titles: dict[Choice, list[str]] = {}
            for plan in self.runs.values():
                if name in plan.chosen:
                    titles.setdefault(plan.chosen[name], []).append(plan.title)
            choices += [(name, tuple(runs), choice) for choice, runs in titles.items()]
        return choices

    @property
    def needs_words(self) -> str:
        """The kind of data the experiment needs, in words."""
        return NEEDS[self.needs]
