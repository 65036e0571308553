"""The way through a study after consent: its pages in order, and which of them a participant may open or change.

A participant is always at one `Place`: a page with its item and its list. Only services advance a participant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from core.errors import ParameterError
from core.field_problems import Problem
from studies.flow_pages import (
    AFTER,
    CHOICE,
    CHOICE_TEXT,
    CHOSEN,
    COMPARE,
    ELICIT,
    END,
    FLOW_2011,
    ITEM_QUESTIONS,
    LIST,
    NONE,
    FlowPages,
    Page,
)
from studies.instrument.questionnaires.kinds import Preference
from studies.instrument.questionnaires.schema import EVALUATOR, Questionnaire, questionnaire_from
from studies.settings import StudySettings

CONSENT = "consent"  # before the way starts: there is no participant row yet


class Designed(Protocol):
    """What the way depends on; studies have it."""

    questionnaire: Any

    @property
    def design(self) -> StudySettings: ...


@dataclass(frozen=True)
class Place:
    """One page as a participant meets it."""

    page: str  # key of the page
    rank: int = 0  # of the recommended item, from 1, on pages about one; else 0
    occasion: int = 1  # of the list, from 1, on pages of lists; else 1

    @property
    def about(self) -> str:
        """What its answers are about: the rank, after the occasion of a later list.

        Examples
        --------
        >>> Place("items", 3).about, Place("items", 3, 2).about
        ('3', '2/3')
        """
        return f"{self.rank}" if self.occasion == 1 else f"{self.occasion}/{self.rank}"


@dataclass(frozen=True)
class Flow(FlowPages):
    """The pages of a study in order, and the way through them."""

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple(page.key for page in self.pages)

    @property
    def choice(self) -> Page | None:
        """The page on which an item of the list is picked; None where there is none."""
        return next((page for page in self.pages if page.kind == CHOICE), None)

    @property
    def compared(self) -> str:
        """The block of questions about lists side by side; empty where none are."""
        return next((page.block for page in self.pages if page.kind == COMPARE), "")

    @property
    def blocks(self) -> tuple[str, ...]:
        """The blocks of questions, that of a choice among them, in the order in which they are asked."""
        return tuple(page.block for page in self.pages if page.block)

    @property
    def assigns_at_consent(self) -> bool:
        return not any(page.assigns for page in self.pages)

    def page(self, key: str) -> Page:
        """Return the page with this key. Raises ParameterError for an unknown one."""
        return self.pages[self.position(key)]

    def position(self, key: str) -> int:
        """Return the position of a page, from 0. Raises ParameterError for an unknown one."""
        if key not in self.keys:
            raise ParameterError(f"There is no page {key!r}; the pages are {', '.join(self.keys)}.")
        return self.keys.index(key)

    def key_of(self, kind: str) -> str:
        """Return the key of the page of a kind that a flow has once: elicit, list, item_questions, end.

        Empty where the flow has none, as only item_questions may be missing.
        """
        return next((page.key for page in self.pages if page.kind == kind), "")

    def position_of_block(self, block: str) -> int:
        """Return the position of the page that asks a block."""
        return [page.block for page in self.pages].index(block)

    @property
    def with_list(self) -> tuple[str, ...]:
        """The keys of the pages from the list on."""
        return self.keys[self.position(self.key_of(LIST)) :]

    @cached_property
    def repeated(self) -> frozenset[str]:
        """The keys of the pages that each of several lists has anew."""
        return frozenset(self.listed if self.lists.is_several else ())

    def is_repeated(self, key: str) -> bool:
        """Return whether each of several lists has this page anew."""
        return key in self.repeated

    @property
    def repeated_blocks(self) -> frozenset[str]:
        """The blocks that are asked anew of each of several lists."""
        return frozenset(page.block for page in self.pages if page.block and self.is_repeated(page.key))

    def places(self, lengths: tuple[int, ...]) -> tuple[Place, ...]:
        """Return all pages in order, as a participant meets them.

        `lengths` has the number of items of the list of each occasion. Raises ParameterError for a list without items,
        and for no list at all.

        Examples
        --------
        >>> [f"{at.page}{at.rank or ''}" for at in Flow(FLOW_2011).places((2,))]
        ['about', 'rate', 'recommendations', 'items1', 'items2', 'overall', 'after', 'thanks']
        """
        if min(lengths, default=0) < 1:
            raise ParameterError(f"A list has at least one item; got {', '.join(map(str, lengths)) or 'no list'}.")
        of_pages = (
            Place(page.key, rank, occasion)
            for page in self.pages
            for occasion, length in enumerate(lengths if self.is_repeated(page.key) else lengths[:1], start=1)
            for rank in (range(1, length + 1) if page.kind == ITEM_QUESTIONS else (0,))
        )
        return tuple(sorted(of_pages, key=self.order))

    def neighbour(self, here: Place, step: int, lengths: tuple[int, ...] = (1,)) -> Place:
        """Return the page `step` pages on (1) or back (-1); at either end the page itself.

        Raises ParameterError for a page that lists of these lengths do not have.

        Examples
        --------
        >>> Flow(FLOW_2011).neighbour(Place("items", 5), 1, lengths=(5,))
        Place(page='overall', rank=0, occasion=1)
        """
        pages = self.places(lengths)
        if here not in pages:
            of = " and ".join(map(str, lengths))
            raise ParameterError(f"There is no page {here.page!r} with rank {here.rank} for a list of {of}.")
        return pages[min(max(pages.index(here) + step, 0), len(pages) - 1)]

    def order(self, at: Place) -> tuple[int, int, int, int]:
        """Return the position of a page, comparable as a tuple: of several lists, one is passed after another."""
        position = self.position(at.page)
        start = self.position(self.listed[0]) if self.is_repeated(at.page) else position
        return start, at.occasion, position, at.rank

    def may_look(self, here: Place, at: Place) -> bool:
        """Return whether a participant at `here` may open the page `at`.

        Later pages are closed. After completion only the last page is open. Answers that the assignment or the lists
        are made from are final, so each page up to the ratings is closed once it is left; pages of earlier lists are
        open, since all lists are made from the ratings alone.

        Examples
        --------
        >>> flow = Flow(FLOW_2011)
        >>> flow.may_look(Place("overall"), Place("items", 2)), flow.may_look(Place("rate"), Place("overall"))
        (True, False)
        """
        if at == here:
            return True
        is_later = self.page(here.page).kind == END or self.order(at) > self.order(here)
        return not is_later and self.is_after_ratings(at)

    def is_after_ratings(self, at: Place) -> bool:
        """Return whether the list exists on this page."""
        return self.position(at.page) > self.position(self.key_of(ELICIT))

    def may_change(self, here: Place, at: Place) -> bool:
        """Return whether a participant at `here` may give or change answers of the page `at`.

        Answers after the ratings can be changed until completion.

        Examples
        --------
        >>> flow = Flow(FLOW_2011)
        >>> flow.may_change(Place("items", 3), Place("items", 1)), flow.may_change(Place("items", 3), Place("rate"))
        (True, False)
        """
        return self.page(here.page).kind != END and self.may_look(here, at)

    def is_before_assignment(self, at: Place) -> bool:
        """Return whether participants have no condition yet on this page."""
        return any(page.assigns for page in self.pages[self.position(at.page) :])


def flow_of(study: Designed) -> Flow:
    """Return the study's own flow, or that of 2011: with the page after the list where questions are asked there."""
    if study.design.flow.pages or study.questionnaire.get(AFTER):
        return whole_flow(study.design)
    return Flow(tuple(page for page in FLOW_2011 if page.block != AFTER))


def whole_flow(design: StudySettings) -> Flow:
    """Return the flow of a study with this design; that of 2011 has the page after the list, whether or not it asks."""
    own = design.flow
    return Flow(own.pages, own.lists, own.listed) if own.pages else Flow(FLOW_2011)


def questionnaire_of(study: Designed) -> Questionnaire:
    """Return the study's questions, in the order of its flow. Raises QuestionnaireProblems."""
    return read_questions(with_choice(study.questionnaire, study.design), study.design)


def read_questions(data: Mapping[str, Any], design: StudySettings) -> Questionnaire:
    """Parse what `with_choice` returns, in the order of the study's flow. Raises QuestionnaireProblems."""
    flow = whole_flow(design)
    return questionnaire_from(data, flow.blocks, flow.repeated_blocks)


def with_choice(questionnaire: Mapping[str, Any], design: StudySettings) -> Mapping[str, Any]:
    """Return a study's questions as plain data, with that of the page of a choice: a rank of the list, or none."""
    page = whole_flow(design).choice
    if page is None:
        return questionnaire
    text = page.title or CHOICE_TEXT
    labels = {str(rank): f"recommendation {rank}" for rank in range(1, design.longest_list + 1)}
    choices = [
        {"value": value, "label": dict.fromkeys(text, label)}
        for value, label in {**labels, NONE: "none of these"}.items()
    ]
    question = {"key": CHOSEN, "kind": "choice", "text": text, "choices": choices}
    return {**questionnaire, page.block: [question]}


def preference_problems(questionnaire: Questionnaire, design: StudySettings) -> list[Problem]:
    """What is wrong with the questions of preference: a comparison asks some, and no other page does."""
    compared = whole_flow(design).compared
    preferences = [
        (block, number)
        for block, questions in {**questionnaire.blocks, EVALUATOR: questionnaire.evaluator}.items()
        for number, question in enumerate(questions)
        if isinstance(question, Preference)
    ]
    text = "Only a page that compares lists asks for a preference. Choose another kind of question."
    problems = [Problem((*at, "kind"), text) for at in preferences if at[0] != compared]
    if compared and not any(block == compared for block, _number in preferences):
        text = "A page that compares lists asks for a preference. Add a question of the kind preference."
        problems.append(Problem((compared,), text))
    return problems


def blocks_of(design: StudySettings) -> tuple[str, ...]:
    """Return the blocks of the questionnaire of a study with this design, in order."""
    flow = whole_flow(design)
    return tuple(block for block in flow.blocks if flow.choice is None or block != flow.choice.block)
