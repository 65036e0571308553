"""Plain data read as a whole questionnaire, and the names of what it is made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from studies.questionnaires.condition_reading import test_problem
from studies.questionnaires.conditions import plain_answer
from studies.questionnaires.erased import ERASED, is_erased
from studies.questionnaires.problems import Notes, Path, Problem, QuestionnaireProblems
from studies.questionnaires.questionnaire import (
    ABOUT,
    AFTER,
    BLOCKS,
    ITEMS,
    KNOWN_IN,
    LEAST_ANSWERED,
    OVERALL,
    Questionnaire,
    Scale,
)
from studies.questionnaires.questions import (
    ATTENTION,
    CHOICE,
    DECLINED,
    KINDS,
    LIKERT,
    LONG_TEXT,
    LONGEST_OTHER,
    LONGEST_TEXT,
    MATRIX,
    MULTIPLE,
    NUMBER,
    OTHER,
    SLIDER,
    TEXT,
    YES_NO,
    Choice,
    MatrixRow,
    Question,
    Texts,
    is_declined,
    own_words,
)
from studies.questionnaires.reading import KEY, RESERVED_ITEM_KEYS, QuestionReader

__all__ = [
    "ABOUT", "AFTER", "ATTENTION", "BLOCKS", "CHOICE", "DECLINED", "ERASED", "ITEMS", "KINDS", "LIKERT",
    "LONGEST_OTHER",
    "LONGEST_TEXT", "LONG_TEXT", "MATRIX", "MULTIPLE", "NUMBER", "OTHER", "OVERALL", "SLIDER", "TEXT", "YES_NO",
    "Choice",
    "MatrixRow", "Problem", "Question", "Questionnaire", "QuestionnaireProblems", "Scale", "Texts", "is_declined",
    "is_erased",
    "lacking_wordings", "own_words", "plain_answer", "questionnaire_from",
]  # fmt: skip

PARTS = (*BLOCKS, "scales", "attention")


class _Reader:
    """Reads a whole questionnaire and notes what is wrong with it."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self.notes = Notes()
        self.seen: dict[str, str] = {}  # key to block

    def read(self) -> Questionnaire:
        unknown = sorted(str(name) for name in set(self.given) - set(PARTS))
        for name in unknown:
            self.notes.wrong((name,), f"A questionnaire has the parts {', '.join(PARTS)}; got {name!r}.")
        blocks = {name: self._block(name) for name in BLOCKS}
        scales = self._scales()
        ends_after = self._attention()
        if self.notes.problems:
            raise QuestionnaireProblems(self.notes.problems)
        found = Questionnaire(**blocks, scales=scales, attention_ends_after=ends_after)
        self._check_together(found)
        if self.notes.problems:
            raise QuestionnaireProblems(self.notes.problems)
        return found

    def _block(self, name: str) -> tuple[Question, ...]:
        given = self.given.get(name) or ()
        if not isinstance(given, list | tuple):
            self.notes.wrong((name,), f"The block {name!r} is a list of questions; got {given!r}.")
            return ()
        questions: list[Question] = []
        for number, one in enumerate(given):
            path: Path = (name, number)
            if not isinstance(one, Mapping):
                self.notes.wrong(path, f"A question has a key, a kind and a text; got {one!r}.")
                continue
            question = QuestionReader(one, path, self.notes).read()
            if question is None:
                continue
            before = self.seen.setdefault(question.key, name)
            if any(question.key == other.key for other in questions):
                self.notes.wrong((*path, "key"), f"The key {question.key!r} is used twice in the block {name!r}.")
            elif before != name:
                self.notes.wrong(
                    (*path, "key"),
                    f"The key {question.key!r} is used in the block {before!r} already. Give every question its own.",
                )
            if name == ITEMS and question.key in RESERVED_ITEM_KEYS:
                self.notes.wrong(
                    (*path, "key"), f"The key {question.key!r} names another column about items. Choose another."
                )
            questions.append(question)
        return tuple(questions)

    def _scales(self) -> tuple[Scale, ...]:
        given = self.given.get("scales") or ()
        if not isinstance(given, list | tuple):
            self.notes.wrong(("scales",), f"The scales are a list of {{key, name}}; got {given!r}.")
            return ()
        found: list[Scale] = []
        for number, one in enumerate(given):
            path: Path = ("scales", number)
            if not isinstance(one, Mapping) or not one.get("key") or not isinstance(one.get("name"), Mapping):
                self.notes.wrong(path, f"A scale has a key and a name by language; got {one!r}.")
                continue
            key, least = str(one["key"]), one.get("least_answered", LEAST_ANSWERED)
            if unknown := sorted(set(map(str, one)) - {"key", "name", "least_answered"}):
                self.notes.wrong(path, f"A scale has key, name and least_answered; got {', '.join(unknown)}.")
            if not KEY.fullmatch(key):
                self.notes.wrong((*path, "key"), f"{key!r} is no key. Use small letters, digits and underscores.")
            if key in {scale.key for scale in found}:
                self.notes.wrong((*path, "key"), f"There is a scale {key!r} already.")
            if isinstance(least, bool) or not isinstance(least, int | float) or not 0 < least <= 1:
                self.notes.wrong(
                    (*path, "least_answered"), f"The share to be answered is above 0 and at most 1; got {least!r}."
                )
                least = LEAST_ANSWERED
            found.append(Scale(key, {str(k): str(v) for k, v in one["name"].items()}, float(least)))
        return tuple(found)

    def _attention(self) -> int:
        given = self.given.get("attention") or {}
        ends = given.get("ends_after", 0) if isinstance(given, Mapping) and set(given) <= {"ends_after"} else None
        if isinstance(ends, bool) or not isinstance(ends, int) or not 0 <= ends <= 100:
            self.notes.wrong(
                ("attention",),
                f"attention has ends_after, the number of failed checks that end somebody's part; got {given!r}.",
            )
            return 0
        return ends

    def _check_together(self, found: Questionnaire) -> None:
        """What one question says of others: conditions, groups, scales."""
        keys = {scale.key for scale in found.scales}
        ranges: dict[str, tuple[Any, Any, bool]] = {}
        for block, number, question in _numbered(found):
            path: Path = (block, number)
            if question.shown_if is not None:
                earlier = _earlier(found, block, number)
                for test in question.shown_if.tests():
                    if problem := test_problem(test, earlier):
                        self.notes.wrong((*path, "shown_if"), f"The question {question.key!r} {problem}")
            self._check_group(found, block, number, question)
            if not question.scale:
                continue
            if question.scale not in keys:
                self.notes.wrong(
                    (*path, "scale"), f"There is no scale {question.scale!r}. Declare it under scales, with a name."
                )
            if question.minimum is None or question.choices:
                self.notes.wrong((*path, "scale"), f"The answers to {question.key!r} are no numbers to be scored.")
            span = (question.minimum, question.maximum, block == ITEMS)
            if ranges.setdefault(question.scale, span) != span:
                self.notes.wrong(
                    (*path, "scale"),
                    f"The questions of the scale {question.scale!r} go from different ends, or some are about items "
                    "and some are not. Give all of them the same minimum and maximum, in the same kind of block.",
                )

    def _check_group(self, found: Questionnaire, block: str, number: int, question: Question) -> None:
        if not question.random_group:
            return
        members = [place for place, one in enumerate(found.block(block)) if one.random_group == question.random_group]
        if members[-1] - members[0] + 1 != len(members) and number == members[0]:
            self.notes.wrong(
                (block, number, "random_group"),
                f"The questions of the random group {question.random_group!r} do not stand next to one another. "
                "Move them together.",
            )
        of_group = {found.block(block)[place].key for place in members}
        if question.shown_if and any(test.question in of_group for test in question.shown_if.tests()):
            self.notes.wrong(
                (block, number, "shown_if"),
                f"The question {question.key!r} depends on another of its own random group, which may come after it.",
            )


class Kept(dict[str, Any]):
    """Plain data of a questionnaire that nobody changes any more: read once, and not at every request."""

    @cached_property
    def questionnaire(self) -> Questionnaire:
        """What it says; raises ParameterError as `questionnaire_from`."""
        return questionnaire_from(dict(self))


def _numbered(found: Questionnaire) -> Iterator[tuple[str, int, Question]]:
    for block in BLOCKS:
        for number, question in enumerate(found.block(block)):
            yield block, number, question


def _earlier(found: Questionnaire, block: str, number: int) -> dict[str, Question]:
    """The questions that a condition at this place may speak of."""
    before = [question for name in KNOWN_IN[block][:-1] for question in found.block(name)]
    return {question.key: question for question in (*before, *found.block(block)[:number])}


def earlier_questions(found: Questionnaire, block: str, key: str = "") -> dict[str, Question]:
    """The questions that a condition of one question may speak of, by key.

    Parameters
    ----------
    found : Questionnaire
        The whole.
    block : str
        One of `BLOCKS`.
    key : str
        The question in that block; none for a new one at its end.

    Returns
    -------
    dict
    """
    keys = [question.key for question in found.block(block)]
    return _earlier(found, block, keys.index(key) if key in keys else len(keys))


@lru_cache(maxsize=64)
def _read_text(text: str) -> Questionnaire:
    return _Reader(json.loads(text)).read()


def questionnaire_from(mapping: Mapping[str, Any]) -> Questionnaire:
    """Read a questionnaire from plain data, as a preset's YAML or a study's JSON holds it.

    Parameters
    ----------
    mapping : mapping
        Block name to a list of questions; ``scales`` to a list of scales.

    Returns
    -------
    Questionnaire

    Raises
    ------
    QuestionnaireProblems
        A ParameterError with every problem: unknown parts, fields or kinds, a key used twice, a condition on a
        question that does not come before, and others.

    Examples
    --------
    >>> asked = questionnaire_from({"overall": [{"key": "comment", "kind": "text", "text": {"en": "More?"}}]})
    >>> asked.overall[0].key
    'comment'
    """
    if isinstance(mapping, Kept):
        return mapping.questionnaire
    if not isinstance(mapping, Mapping):
        raise QuestionnaireProblems([Problem((), f"A questionnaire is a mapping of blocks; got {mapping!r}.")])
    try:
        text = json.dumps(mapping, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise QuestionnaireProblems(
            [Problem((), f"A questionnaire holds texts, numbers, true and false alone: {problem}. Quote dates.")]
        ) from problem
    # Pages ask for the same questionnaire again and again.
    return _read_text(text)


def lacking_wordings(found: Questionnaire, languages: Sequence[str]) -> list[Problem]:
    """What has no words in one of the languages.

    Parameters
    ----------
    found : Questionnaire
        The whole.
    languages : sequence of str
        The study's languages.

    Returns
    -------
    list of Problem
    """
    problems = []
    for block, number, question in _numbered(found):
        for what, texts in question.texts():
            for language in languages:
                if language not in texts:
                    problems.append(
                        Problem((block, number), f"The question {question.key!r} has no {what} in {language!r}.")
                    )
    for number, scale in enumerate(found.scales):
        problems += [
            Problem(("scales", number), f"The scale {scale.key!r} has no name in {language!r}.")
            for language in languages
            if language not in scale.name
        ]
    return problems
