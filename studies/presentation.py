"""How a list is shown, and the factors of a design: recommenders crossed with presentations.

A presentation that says nothing is the page as it always was. A study names its factors in its settings; their full
product is its conditions, each of which stores the part of its presentation that differs from the default.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.errors import ParameterError
from core.field_problems import Path, Problem
from recommenders.explanation import LONGEST_TEXT

LONGEST_LABEL = 80  # of a condition
LONGEST_LIST = 20
BETWEEN_LEVELS = " · "

ExplanationKind = Literal["none", "model", "stored", "remote"]
NONE: Literal["none"] = "none"
MODEL: Literal["model"] = "model"
STORED: Literal["stored"] = "stored"
REMOTE: Literal["remote"] = "remote"  # as the service of a remote recommender answers
RECOMMENDER = "recommender"  # the key of the factor of recommenders, where the design names no other
FALLBACK = "fallback"  # the kind of a slot without an explanation of its own

Wording = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]


class _Part(BaseModel):
    """A part of a design: unknown names are refused, and nothing is converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Presentation(_Part):
    """How a condition shows its list; the defaults are the page without any presentation.

    `wording` and `fallback` are by language. A wording holds ``{items}``, in whose place the rated items stand that
    contributed most; without one the platform's own sentence is used. A fallback is shown for items that the algorithm
    cannot explain, or without a stored text. `texts` is the digest of stored texts; without one, stored texts are those
    of the recommender's uploaded lists.
    """

    layout: Literal["list", "grid", "carousel"] = "list"
    carousel_by: str = ""  # the kind of item features, such as genre, whose values name the rows of a carousel
    length: Annotated[int, Field(strict=True, ge=1, le=LONGEST_LIST)] | None = None  # None: as the study's settings say
    order: Literal["ranked", "shuffled"] = "ranked"  # shuffled by the study's seed and the participant
    explanation: ExplanationKind = NONE
    texts: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    wording: dict[str, Wording] = {}
    fallback: dict[str, Wording] = {}

    @model_validator(mode="after")
    def _is_whole(self) -> Presentation:
        if (self.layout == "carousel") != bool(self.carousel_by):
            raise ParameterError("A carousel, and no other layout, states the kind of features by which it has rows.")
        if not self.explains and (self.wording or self.fallback):
            raise ParameterError("A wording and a fallback go with an explanation. State it, or leave them out.")
        if (self.texts and self.explanation != STORED) or (self.explanation in (STORED, REMOTE) and self.wording):
            raise ParameterError(
                "Stored explanations, and no others, state texts by the digest that upload_explanations prints; these "
                "and remote ones have no wording."
            )
        if wrong := [language for language, text in self.wording.items() if "{items}" not in text]:
            raise ParameterError(f"The wording of an explanation holds {{items}}; the one in {wrong[0]!r} does not.")
        return self

    @property
    def explains(self) -> bool:
        return self.explanation != NONE

    @property
    def is_shuffled(self) -> bool:
        return self.order == "shuffled"

    @property
    def words(self) -> str:
        """What differs from the default, in words; "as by default" where nothing does."""
        said = []
        if self.layout != "list":
            said.append(f"a carousel by {self.carousel_by}" if self.carousel_by else "a grid")
        if self.length is not None:
            said.append(f"{self.length} recommendations")
        if self.is_shuffled:
            said.append("in random order")
        if self.explains:
            by = f"the stored text of the item ({self.texts[:12]})" if self.texts else "its text in the uploaded list"
            by = {MODEL: "the participant's own ratings", REMOTE: "the remote recommender"}.get(self.explanation, by)
            said.append(f"each recommendation explained by {by}")
            said += [f"in the wording {text!r} ({language})" for language, text in self.wording.items()]
            said += [f"with the fallback {text!r} ({language})" for language, text in self.fallback.items()]
        return ", ".join(said) or "as by default"

    def stored(self) -> dict[str, Any]:
        """The values that differ from the defaults, as JSON values."""
        return self.model_dump(mode="json", exclude_defaults=True)


PLAIN = Presentation()


def presentation_from(stored: Mapping[str, Any]) -> Presentation:
    """The presentation of a condition, from what it stores.

    Examples
    --------
    >>> presentation_from({}) == PLAIN, presentation_from({"explanation": "model"}).explains
    (True, True)
    """
    return _read(json.dumps(stored)) if stored else PLAIN


@lru_cache(maxsize=512)
def _read(text: str) -> Presentation:
    return Presentation.model_validate_json(text)


def text_in(texts: Mapping[str, str], language: str) -> str:
    """The text in a participant's language, else in the first there is; empty without one."""
    return texts.get(language) or next(iter(texts.values()), "")


class Level(_Part):
    """A level of a factor: a recommender, by its label in the run, or a fragment of a presentation with a name."""

    name: str = Field(default="", max_length=40)
    recommender: str = ""
    presentation: Presentation | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> Level:
        if bool(self.recommender) == bool(self.name) or bool(self.name) != (self.presentation is not None):
            raise ParameterError("A level has either a recommender, or a name and a presentation.")
        return self

    @property
    def label(self) -> str:
        return self.name or self.recommender


class Factor(_Part):
    """A factor of the design with its levels: recommenders, or fragments of presentations."""

    key: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    levels: tuple[Level, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _has_levels_of_one_sort(self) -> Factor:
        labels = [level.label for level in self.levels]
        if len(set(labels)) < len(labels):
            raise ParameterError(f"The levels of {self.key!r} need different names; got {', '.join(labels)}.")
        if len({level.presentation is None for level in self.levels}) > 1:
            raise ParameterError(f"The levels of {self.key!r} are all recommenders or all presentations.")
        return self

    @property
    def is_of_recommenders(self) -> bool:
        return self.levels[0].presentation is None

    @property
    def words(self) -> str:
        """The factor with its levels, in words."""
        levels = (
            level.label if level.presentation is None else f"{level.label} ({level.presentation.words})"
            for level in self.levels
        )
        return f"{self.key}: {'; '.join(levels)}"

    @property
    def fields(self) -> set[str]:
        """The parts of a presentation that the levels state."""
        return {name for level in self.levels if level.presentation for name in level.presentation.model_fields_set}


@dataclass(frozen=True)
class Cell:
    """A cell of the full product: what a condition is made from. `levels` holds the level's label by factor."""

    recommender: str
    presentation: Presentation
    levels: Mapping[str, str]
    label: str


def cells_of(factors: Sequence[Factor]) -> tuple[Cell, ...]:
    """The full product of sound factors, in their order, the last one changing fastest.

    Examples
    --------
    >>> recommenders = Factor(key="recommender", levels=(Level(recommender="LSA"), Level(recommender="TopPop")))
    >>> shown = Level(name="explained", presentation=Presentation(explanation="model"))
    >>> texts = Factor(key="text", levels=(Level(name="plain", presentation=PLAIN), shown))
    >>> [cell.label for cell in cells_of([recommenders, texts])]
    ['LSA · plain', 'LSA · explained', 'TopPop · plain', 'TopPop · explained']
    """
    return tuple(_cell(factors, levels) for levels in itertools.product(*(factor.levels for factor in factors)))


def _cell(factors: Sequence[Factor], levels: Sequence[Level]) -> Cell:
    pairs = list(zip(factors, levels, strict=True))
    fragments = [level.presentation for level in levels if level.presentation is not None]
    stated = {name: value for fragment in fragments for name, value in fragment.stored().items()}
    return Cell(
        recommender=next(level.recommender for level in levels if level.recommender),
        presentation=presentation_from(stated),
        levels={factor.key: level.label for factor, level in pairs},
        # A constant tells no condition from another.
        label=BETWEEN_LEVELS.join(
            level.label for factor, level in pairs if factor.is_of_recommenders or len(factor.levels) > 1
        ),
    )


def factor_problems(factors: Sequence[Factor]) -> Iterator[Problem]:
    """What keeps a study's factors from being crossed, with the place of each among them."""
    if not factors:
        return
    keys = [factor.key for factor in factors]
    if len(set(keys)) < len(keys):
        yield Problem((), f"Each factor needs its own key; got {', '.join(keys)}.")
    if sum(factor.is_of_recommenders for factor in factors) != 1:
        yield Problem((), "Exactly one factor has recommenders as its levels, even if it is only one recommender.")
        return
    stated: dict[str, str] = {}
    for position, factor in enumerate(factors):
        for name in sorted(factor.fields):
            if name in stated:
                yield Problem(
                    (position,), f"Both {stated[name]!r} and {factor.key!r} state the {name}. Leave it to one."
                )
            stated.setdefault(name, factor.key)
    yield from _cell_problems(cells_of(factors))


def _cell_problems(cells: Sequence[Cell]) -> Iterator[Problem]:
    path: Path = ()
    if len(cells) < 2:
        yield Problem(path, "The factors make one condition, and a comparison needs at least two. Add a level.")
    alike: dict[tuple[str, str], str] = {}
    for cell in cells:
        same = alike.setdefault((cell.recommender, json.dumps(cell.presentation.stored(), sort_keys=True)), cell.label)
        if same != cell.label:
            yield Problem(path, f"{same} and {cell.label} are the same condition. Change or remove one of the levels.")
        if len(cell.label) > LONGEST_LABEL:
            yield Problem(path, f"The label {cell.label!r} is longer than {LONGEST_LABEL} characters. Shorten names.")
