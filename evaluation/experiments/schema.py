"""The schema of an experiment: its runs, tables, figures and claims, and published results to compare with.

The models have the fields of the YAML files, whose mappings name algorithms, runs, tables and figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass as plain_dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, model_validator
from pydantic.dataclasses import dataclass

from core.errors import ParameterError
from core.field_problems import FieldProblems, Path, Problem
from evaluation.run_spec import Lengths, Plain, RunSettings, RunSpec, Whole
from inference.claims import Finding, verdict
from recommenders import registry
from recommenders.reranking import BAR
from recommenders.size_selection import SIZES, Choice

Needs = Literal["ratings", "usage", "utility"]
FigureKind = Literal["bars", "lengths", "precision-recall", "croc", "groc"]
CheckKind = Literal["order", "highest", "lowest", "top", "bottom", "between", "near", "another-best", "another-order"]
Origin = Literal["published", "inferred", "noted"]

NEEDS: Mapping[str, str] = {
    "ratings": "ratings on a scale",
    "usage": "usage data, with or without ratings",
    "utility": "usage data with utilities",
}
ORIGINS: Mapping[str, str] = {
    "published": "published",
    "inferred": "inferred from the source, which does not state it",
    "noted": "noted elsewhere",
}
# The numbers that the kinds of checks take, of those that take any.
CHECK_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "order": ("by",),
    "highest": ("by",),
    "lowest": ("by",),
    "between": ("low", "high"),
    "near": ("within",),
}
FIGURE_PROTOCOLS = {"croc": "test-observations", "groc": "unconstrained", "lengths": "one-plus-random"}
_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_STRICT = ConfigDict(frozen=True, extra="forbid")


def _one_line(text: str) -> str:
    if not text.strip():
        raise ParameterError("Text is required here.")
    return " ".join(text.split())


def _different(names: tuple[str, ...]) -> tuple[str, ...]:
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise ParameterError(f"{', '.join(duplicates)} is listed twice.")
    return names


def _ascending(sizes: tuple[int, ...]) -> tuple[int, ...]:
    if list(sizes) != sorted(set(sizes)):
        raise ParameterError("Sizes must ascend.")
    return sizes


def check_key(text: str) -> str:
    """Return the name of a file, run, table or figure. Raises ParameterError for one with other characters."""
    if not _KEY.fullmatch(text):
        raise ParameterError("Names here may contain only lower-case letters, digits and hyphens, at most 40.")
    return text


Text = Annotated[str, AfterValidator(_one_line)]
Key = Annotated[str, AfterValidator(check_key)]
Names = Annotated[tuple[Text, ...], Field(min_length=1), AfterValidator(_different)]


class SizeSearch(BaseModel):
    """How the size of an algorithm is chosen, as `recommenders.size_selection.choose` does."""

    model_config = _STRICT

    # Sizes to compare; those that the data cannot have are left out.
    values: Annotated[tuple[Annotated[Whole, Field(ge=1)], ...], Field(min_length=2), AfterValidator(_ascending)]
    share: float = Field(0.1, gt=0, le=0.5)  # of the training side, held out
    rule: Literal["best", "smallest-near"] = "best"


class Contender(BaseModel):
    """An algorithm of an experiment with the parameters that differ from their defaults."""

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, Plain] = Field(init=False)

    algorithm: Text  # key of `recommenders.registry`, or as in commands: ``puresvd|mmr:strength=0.3``
    choose: SizeSearch | None = None  # where its size is chosen on the training side of each run

    @property
    def params(self) -> dict[str, Any]:
        """The stated parameters."""
        return dict(self.__pydantic_extra__)

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, stated: Any) -> Any:
        """Read an algorithm written as in commands; what is stated twice is refused."""
        if not isinstance(stated, Mapping) or not {":", BAR} & set(str(stated.get("algorithm", ""))):
            return stated
        key, values = registry.named_values(str(stated["algorithm"]))
        if duplicates := sorted(values.keys() & stated.keys()):
            raise ParameterError(f"{duplicates[0]} is stated twice: in the text of the algorithm and beside it.")
        return {**stated, **values, "algorithm": key}

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        if self.choose is None:
            return self
        if self.algorithm not in SIZES:
            raise ParameterError(f"There is no size to choose for {self.algorithm}; there is for {', '.join(SIZES)}.")
        if (parameter := SIZES[self.algorithm].parameter) in self.params:
            raise ParameterError(f"{parameter} is what is chosen; remove its value.")
        return self


class PlannedRun(RunSettings):
    """One run of an experiment: its inputs except for dataset, seed and threads."""

    title: Text
    algorithms: Names = ()  # in order; all of the experiment if none are named
    profile_lengths: Lengths = ()


@dataclass(config=ConfigDict(extra="forbid"), frozen=True)
class Quantity:
    """A measured quantity: a metric of a run at a profile length (0: the whole profile)."""

    run: str
    metric: Text
    profile_length: Whole = 0


Numbers = Mapping[tuple[Quantity, str], float | None]  # by quantity and algorithm


class Table(BaseModel):
    """A table with one row per algorithm; `columns` maps headings to the quantities they show."""

    model_config = _STRICT

    title: Text
    columns: dict[str, Quantity] = Field(min_length=1)


class Figure(BaseModel):
    """A figure of one run."""

    model_config = _STRICT

    title: Text
    kind: FigureKind
    run: str
    metric: str = ""  # required for "bars" and "lengths"
    # List lengths of the points of "precision-recall".
    lengths: Annotated[tuple[Annotated[Whole, Field(ge=1)], ...], Field(min_length=2)] | None = None
    is_share: bool = Field(True, strict=True)  # whether the metric of "bars" cannot exceed 1

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if (self.kind in ("bars", "lengths")) != bool(self.metric):
            raise ParameterError(
                "metric is required for figures of the kinds bars and lengths, and not allowed for others."
            )
        if (self.kind == "precision-recall") != (self.lengths is not None):
            raise ParameterError(
                "lengths are required for figures of the kind precision-recall, and not allowed for others."
            )
        return self


class Note(BaseModel):
    """Results from elsewhere: the source, a description, and optionally numbers by algorithm."""

    model_config = _STRICT

    where: Text
    says: Text | Literal[""] = ""
    columns: tuple[Text, ...] = ()
    rows: dict[str, tuple[float | None, ...]] = {}

    @model_validator(mode="after")
    def _check_numbers(self) -> Self:
        if bool(self.columns) != bool(self.rows):
            raise ParameterError("columns and rows must be given together.")
        for name, numbers in self.rows.items():
            if len(numbers) != len(self.columns):
                raise ParameterError(
                    f"rows.{name}: {len(self.columns)} numbers are required here, one per column, not {len(numbers)}."
                )
        return self


class Check(BaseModel):
    """The testable form of a claim: a rule of `inference.claims`, which must be met at each of `places`."""

    model_config = _STRICT

    kind: CheckKind
    places: tuple[Quantity, ...] = Field(min_length=1)
    algorithms: Names
    by: float | None = None
    low: float | None = None
    high: float | None = None
    within: float | None = None

    @property
    def rule(self) -> str:
        """The rule of `inference.claims`."""
        return "alike" if self.kind == "near" else self.kind

    @property
    def numbers(self) -> dict[str, float]:
        """The stated numbers of the rule."""
        return self.model_dump(include={"by", "low", "high", "within"}, exclude_none=True)

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        allowed = CHECK_NUMBERS.get(self.kind, ())
        if unknown := self.numbers.keys() - set(allowed):
            raise ParameterError(
                f"{', '.join(sorted(unknown))} not allowed here; a check of the kind {self.kind} takes "
                f"{' and '.join(allowed) or 'no numbers'}."
            )
        if self.kind not in ("between", "top", "bottom") and len(self.algorithms) < 2:
            raise ParameterError(f"A check of the kind {self.kind} requires at least 2 algorithms.")
        if self.kind.startswith("another-") and len(self.places) != 2:
            raise ParameterError(f"A check of the kind {self.kind} requires two places.")
        if self.kind == "between" and not self.numbers:
            raise ParameterError("A check of the kind between requires low, high or both.")
        if self.kind == "near" and self.within is None:
            raise ParameterError("A check of the kind near requires within.")
        return self


class Claim(BaseModel):
    """A statement with its origin, its reading where that is not obvious, and its check."""

    model_config = _STRICT

    says: Text
    by: Origin
    where: Text
    check: Check
    read_as: Text | Literal[""] = ""


@plain_dataclass(frozen=True)
class Judgement:
    """A claim with the findings that decide it."""

    claim: Claim
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """As in the paper, not as in the paper, or open; of what others noted, as noted or not."""
        words = verdict(self.findings)
        return words.replace("in the paper", "noted") if self.claim.by == "noted" else words


class Experiment(BaseModel):
    """An experiment: everything except the dataset it is run on."""

    model_config = _STRICT

    key: Key  # name in commands and of its file
    title: Text
    source: Text  # the publication with its section
    question: Text
    data: Text  # the required dataset, in words
    needs: Needs
    seed: Whole = Field(1, ge=0)
    algorithms: dict[str, Contender] = Field(min_length=1)
    runs: dict[Key, PlannedRun] = Field(min_length=1)
    tables: dict[Key, Table] = Field(min_length=1)
    figures: dict[Key, Figure] = {}
    found_elsewhere: tuple[Note, ...] = ()
    claims: tuple[Claim, ...] = ()

    # What the search of an algorithm chose on the training side of a run, by run and algorithm; empty before that.
    _chosen: dict[tuple[str, str], Choice] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        problems = [
            Problem(("runs", key, "algorithms", at), f"Expected one of {', '.join(self.algorithms)}; got {name!r}.")
            for key, run in self.runs.items()
            for at, name in enumerate(run.algorithms)
            if name not in self.algorithms
        ]
        named_runs: list[tuple[Path, str]] = [(path, quantity.run) for path, quantity in self.quantities()]
        named_runs += [(("figures", key), figure.run) for key, figure in self.figures.items()]
        problems += [
            Problem((*path, "run"), f"Expected one of {', '.join(self.runs)}; got {run!r}.")
            for path, run in dict.fromkeys(named_runs)
            if run not in self.runs
        ]
        for path, quantity in self.quantities():
            if quantity.run in self.runs and quantity.profile_length not in (
                0,
                *self.runs[quantity.run].profile_lengths,
            ):
                message = f"The run {quantity.run} does not measure profiles of {quantity.profile_length}."
                problems.append(Problem((*path, "profile_length"), message))
        for number, claim in enumerate(self.claims):
            path = ("claims", number, "check", "algorithms")
            names_by_run = {
                place.run: self.names_in(place.run) for place in claim.check.places if place.run in self.runs
            }
            problems += [
                Problem((*path, at), f"The run {run} has no algorithm {name!r}.")
                for at, name in enumerate(claim.check.algorithms)
                for run, names in names_by_run.items()
                if name not in names
            ]
        if problems:
            raise FieldProblems(problems)
        return self

    def quantities(self) -> Iterator[tuple[Path, Quantity]]:
        """Yield every quantity of tables, figures and claims with its place."""
        for key, table in self.tables.items():
            for heading, quantity in table.columns.items():
                yield ("tables", key, "columns", heading), quantity
        for key, figure in self.figures.items():
            lengths = [f"{name}@{length}" for length in figure.lengths or () for name in ("precision", "recall")]
            for metric in (*lengths, *filter(None, [figure.metric])):
                yield ("figures", key), Quantity(figure.run, metric)
        for number, claim in enumerate(self.claims):
            for at, quantity in enumerate(claim.check.places):
                yield ("claims", number, "check", "places", at), quantity

    def names_in(self, run: str) -> tuple[str, ...]:
        """The names of the algorithms of a run, in order."""
        return self.runs[run].algorithms or tuple(self.algorithms)

    def params_in(self, run: str, name: str) -> dict[str, Any]:
        """The parameters of an algorithm in a run, the chosen size included."""
        choice = self._chosen.get((run, name))
        size = {} if choice is None else {choice.parameter: choice.chosen}
        return {**self.algorithms[name].params, **size}

    def spec_of(self, run: str, *, seed: int | None = None, threads: int | None = None) -> RunSpec:
        """The inputs of a run, with the seed of the experiment unless another is given. Raises as `RunSpec.of`."""
        settings = self.runs[run].model_dump(include=set(RunSettings.model_fields))
        names = self.names_in(run)
        return RunSpec.of(
            **settings,
            algorithms=[(self.algorithms[name].algorithm, self.params_in(run, name)) for name in names],
            seed=self.seed if seed is None else seed,
            threads=threads,
        )

    @property
    def searched(self) -> tuple[str, ...]:
        """The algorithms whose size is to be chosen, whether it was or not."""
        return tuple(name for name, contender in self.algorithms.items() if contender.choose is not None)

    def with_sizes(self, chosen: Mapping[tuple[str, str], Choice]) -> Self:
        """The experiment with the sizes that were chosen, by run and algorithm."""
        copy = self.model_copy()
        copy._chosen = dict(chosen)
        return copy

    @property
    def without_choice(self) -> list[str]:
        """The algorithms whose size is to be chosen but was not, in some run."""
        return [
            name
            for name in self.searched
            if any(name in self.names_in(run) and (run, name) not in self._chosen for run in self.runs)
        ]

    @property
    def choices(self) -> list[tuple[str, tuple[str, ...], Choice]]:
        """Every different choice: the algorithm, the keys of the runs it is for, and what was compared."""
        runs: dict[tuple[str, Choice], list[str]] = {}
        for name in self.searched:
            for run in self.runs:
                if (choice := self._chosen.get((run, name))) is not None:
                    runs.setdefault((name, choice), []).append(run)
        return [(name, tuple(keys), choice) for (name, choice), keys in runs.items()]

    def titles(self, runs: Iterable[str]) -> str:
        """The titles of runs, joined."""
        return " and ".join(self.runs[run].title for run in runs)

    @property
    def needs_words(self) -> str:
        """The kind of data the experiment needs, in words."""
        return NEEDS[self.needs]
