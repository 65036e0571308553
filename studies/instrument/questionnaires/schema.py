"""Questionnaires: their blocks and scales, the questions that follow from a participant's answers, and their reading.

`block` is the name of a block throughout, and `answers` maps the keys of questions to values, as for `known`. Other
modules import the names of all parts from here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from studies.flow_pages import ABOUT, AFTER, ITEMS, OVERALL
from studies.instrument.questionnaires.conditions import ERASED, as_text, is_erased, is_number, plain_answer
from studies.instrument.questionnaires.kinds import KINDS
from studies.instrument.questionnaires.problems import Notes, Path, Problem, QuestionnaireProblems
from studies.instrument.questionnaires.questions import DECLINED, OTHER, Question, Texts, is_declined, own_words
from studies.instrument.questionnaires.reading import KEY, RESERVED_ITEM_KEYS, QuestionReader

__all__ = [
    "ABOUT", "AFTER", "DECLINED", "ERASED", "ITEMS", "KINDS", "OTHER", "OVERALL", "Question", "QuestionnaireProblems",
    "is_declined", "is_erased", "own_words", "plain_answer",
]  # fmt: skip

BLOCKS = (ABOUT, ITEMS, OVERALL, AFTER)  # of studies without a flow of their own
EVALUATOR = "evaluator"  # questions that the interviewer answers after a session; no block of the participant's
LEAST_ANSWERED = 0.5
NO_BLOCKS = ("scales", "attention", EVALUATOR)
PARTS = (*BLOCKS, *NO_BLOCKS)
EVALUATOR_KINDS = ("likert", "choice", "yes_no", "number", "text", "long_text")
NOT_FOR_EVALUATOR = ("shown_if", "scale", "random_group", "other", "is_identifying")


@dataclass(frozen=True)
class Scale:
    """A set of questions that measure one construct."""

    key: str  # its name in exports
    name: Texts  # name of the construct, by language
    # share of its questions that must be answered for a score, above 0 and at most 1
    least_answered: float = LEAST_ANSWERED
    # lowest and highest score that the mean of the answers is mapped to; None for the range of the answers
    score_range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Questionnaire:
    """The questions of a study in blocks, and its scales."""

    blocks: Mapping[str, tuple[Question, ...]]  # by name, in the order in which they are asked
    scales: tuple[Scale, ...] = ()  # the scales that questions belong to
    attention_ends_after: int = 0  # number of failed attention checks that ends participation; 0 for never
    evaluator: tuple[Question, ...] = ()  # asked of the interviewer after each session
    repeated: frozenset[str] = frozenset()  # the blocks that are asked anew of each of several lists

    def block(self, name: str) -> tuple[Question, ...]:
        """The questions of one block; none of a block that the study does not have."""
        return self.blocks.get(name, ())

    @property
    def about(self) -> tuple[Question, ...]:
        """The questions that are answered before the assignment to a condition."""
        return self.block(ABOUT)

    @property
    def items(self) -> tuple[Question, ...]:
        """The questions about each recommended item."""
        return self.block(ITEMS)

    @property
    def whole(self) -> tuple[str, ...]:
        """The blocks about the person or the list, which are answered once."""
        return tuple(name for name in self.blocks if name != ITEMS)

    @property
    def questions(self) -> tuple[Question, ...]:
        """Every question, block by block."""
        return tuple(question for block in self.blocks.values() for question in block)

    @property
    def identifying(self) -> frozenset[str]:
        """Keys of the questions whose answers identify a person."""
        return frozenset(question.key for question in self.questions if question.is_identifying)

    @property
    def passing(self) -> dict[str, str]:
        """The answer that passes each screening question and attention check, as submitted by a form."""
        answers = {question.key: question.admits[0] for question in self.questions if question.admits}
        answers |= {question.key: question.expects for question in self.questions if question.expects is not None}
        return {key: as_text(value) for key, value in answers.items()}

    def known_in(self, block: str) -> tuple[str, ...]:
        """Return the blocks whose answers are known when a block is asked; the block itself comes last.

        Each recommended item has answers of its own, which are known on its page alone, and each of several lists has
        some, which are known on the pages of that list.
        """
        names = list(self.blocks)
        before = names[: names.index(block)] if block in names else ()
        elsewhere = {ITEMS} if block in self.repeated else {ITEMS, *self.repeated}
        return (*(name for name in before if name not in elsewhere), block)

    def known(self, block: str, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answers that conditions in a block may use: those to questions that are themselves shown.

        For the items block, `answers` are those about one item.
        """
        known: dict[str, Any] = {}
        for name in self.known_in(block):
            for question in self.block(name):
                if answers.get(question.key) is not None and question.is_shown(known):
                    known[question.key] = answers[question.key]
        return known

    def shown(self, block: str, answers: Mapping[str, Any]) -> tuple[Question, ...]:
        """Return the questions of a block that are shown after these answers."""
        known = self.known(block, answers)
        return tuple(question for question in self.block(block) if question.is_shown(known))

    def missing(self, block: str, answers: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the keys of the block's questions that still need an answer.

        Examples
        --------
        >>> asked = questionnaire_from({"overall": [{"key": "why", "kind": "text", "text": {"en": "Why?"}}]})
        >>> asked.missing("overall", {})
        ('why',)
        """
        return tuple(q.key for q in self.shown(block, answers) if q.is_incomplete(answers.get(q.key)))

    def failed_checks(self, block: str, answers: Mapping[str, Any]) -> tuple[tuple[str, bool], ...]:
        """Return the answered attention checks of a block, each with whether it was passed."""
        return tuple(
            (q.key, answers[q.key] == q.expects)
            for q in self.shown(block, answers)
            if q.is_check and answers.get(q.key) is not None
        )


class _Reader:
    """Parses a questionnaire and records its problems."""

    def __init__(self, data: Mapping[str, Any], blocks: Sequence[str], repeated: frozenset[str]) -> None:
        self.data = data
        self.blocks = blocks
        self.repeated = repeated
        self.notes = Notes()
        self.seen: dict[str, str] = {}  # key to block

    def read(self) -> Questionnaire:
        parts = (*self.blocks, *NO_BLOCKS)
        for name in sorted(
            str(name) for name in self.data if name not in parts and (self.data[name] or name not in PARTS)
        ):
            self.notes.wrong((name,), f"A questionnaire has the parts {', '.join(parts)}; got {name!r}.")
        blocks = {name: self._block(name) for name in self.blocks}
        scales = self._scales()
        ends_after = self._attention()
        evaluator = self._evaluator()
        if self.notes.problems:
            raise QuestionnaireProblems(self.notes.problems)
        questionnaire = Questionnaire(blocks, scales, ends_after, evaluator, self.repeated)
        self._check_together(questionnaire)  # once each question is right by itself
        if self.notes.problems:
            raise QuestionnaireProblems(self.notes.problems)
        return questionnaire

    def _block(self, name: str) -> tuple[Question, ...]:
        data = self.data.get(name) or ()
        if not isinstance(data, list | tuple):
            self.notes.wrong((name,), f"The block {name!r} is a list of questions; got {data!r}.")
            return ()
        questions: list[Question] = []
        for number, entry in enumerate(data):
            path: Path = (name, number)
            if not isinstance(entry, Mapping):
                self.notes.wrong(path, f"A question has a key, a kind and a text; got {entry!r}.")
                continue
            question = QuestionReader(entry, path, self.notes).read()
            if question is None:
                continue
            before = self.seen.setdefault(question.key, name)
            if any(question.key == previous.key for previous in questions):
                self.notes.wrong((*path, "key"), f"The key {question.key!r} is used twice in the block {name!r}.")
            elif before != name:
                self.notes.wrong(
                    (*path, "key"),
                    f"The key {question.key!r} is already used in the block {before!r}. Use a different key for each "
                    "question.",
                )
            if name == ITEMS and question.key in RESERVED_ITEM_KEYS:
                self.notes.wrong(
                    (*path, "key"),
                    f"The key {question.key!r} is the name of another column about items. Choose another.",
                )
            questions.append(question)
        return tuple(questions)

    def _evaluator(self) -> tuple[Question, ...]:
        questions = self._block(EVALUATOR)
        for number, question in enumerate(questions):
            if question.kind not in EVALUATOR_KINDS:
                kinds = ", ".join(EVALUATOR_KINDS)
                self.notes.wrong(
                    (EVALUATOR, number, "kind"),
                    f"A question for the evaluator is of the kind {kinds}; got {question.kind}.",
                )
            if any(getattr(question, name) for name in NOT_FOR_EVALUATOR):
                self.notes.wrong(
                    (EVALUATOR, number),
                    f"The question {question.key!r} is for the evaluator and has no shown_if, scale, random_group, "
                    "other or identifies.",
                )
        return questions

    def _scales(self) -> tuple[Scale, ...]:
        data = self.data.get("scales") or ()
        if not isinstance(data, list | tuple):
            self.notes.wrong(("scales",), f"The scales are a list of {{key, name}}; got {data!r}.")
            return ()
        scales: list[Scale] = []
        for number, entry in enumerate(data):
            path: Path = ("scales", number)
            if not isinstance(entry, Mapping) or not entry.get("key") or not isinstance(entry.get("name"), Mapping):
                self.notes.wrong(path, f"A scale has a key and a name by language; got {entry!r}.")
                continue
            key, least = str(entry["key"]), entry.get("least_answered", LEAST_ANSWERED)
            if unknown := sorted(set(map(str, entry)) - {"key", "name", "least_answered", "score_range"}):
                self.notes.wrong(
                    path, f"A scale has key, name, least_answered and score_range; got {', '.join(unknown)}."
                )
            if not KEY.fullmatch(key):
                self.notes.wrong(
                    (*path, "key"), f"{key!r} is not a valid key. Use lower-case letters, digits and underscores."
                )
            if key in {scale.key for scale in scales}:
                self.notes.wrong((*path, "key"), f"The scale {key!r} is defined twice.")
            if isinstance(least, bool) or not isinstance(least, int | float) or not 0 < least <= 1:
                self.notes.wrong(
                    (*path, "least_answered"), f"least_answered must be above 0 and at most 1; got {least!r}."
                )
                least = LEAST_ANSWERED
            name = {str(k): str(v) for k, v in entry["name"].items()}
            scales.append(Scale(key, name, float(least), self._score_range(entry, path)))
        return tuple(scales)

    def _score_range(self, entry: Mapping[str, Any], path: Path) -> tuple[float, float] | None:
        value = entry.get("score_range")
        if value is None:
            return None
        if not (
            isinstance(value, list | tuple) and len(value) == 2 and all(map(is_number, value)) and value[0] < value[1]
        ):
            self.notes.wrong(
                (*path, "score_range"),
                f"score_range has the lowest and the highest score, such as [0, 100]; got {value!r}.",
            )
            return None
        return value[0], value[1]

    def _attention(self) -> int:
        data = self.data.get("attention") or {}
        ends = data.get("ends_after", 0) if isinstance(data, Mapping) and set(data) <= {"ends_after"} else None
        if isinstance(ends, bool) or not isinstance(ends, int) or not 0 <= ends <= 100:
            self.notes.wrong(
                ("attention",),
                f"attention has ends_after, the number of failed checks that ends participation; got {data!r}.",
            )
            return 0
        return ends

    def _check_together(self, questionnaire: Questionnaire) -> None:
        """Check references between questions: conditions, groups and scales."""
        keys = {scale.key for scale in questionnaire.scales}
        ranges: dict[str, tuple[Any, Any, bool]] = {}
        for block, number, question in _numbered(questionnaire):
            path: Path = (block, number)
            if question.shown_if is not None:
                earlier = _earlier(questionnaire, block, number)
                for test in question.shown_if.tests():
                    problem = (
                        earlier[test.question].comparison_problem(test)
                        if test.question in earlier
                        else f"depends on {test.question!r}, which does not come before it. A condition may refer to "
                        "questions earlier in its block or in earlier blocks; questions about items can be used only "
                        "within their block."
                    )
                    if problem:
                        self.notes.wrong((*path, "shown_if"), f"The question {question.key!r} {problem}")
            self._check_group(questionnaire, block, number, question)
            if not question.scale:
                continue
            if question.scale not in keys:
                self.notes.wrong(
                    (*path, "scale"), f"There is no scale {question.scale!r}. Declare it under scales, with a name."
                )
            if question.minimum is None or question.choices:
                self.notes.wrong(
                    (*path, "scale"), f"The answers to {question.key!r} are not numbers and cannot be scored."
                )
            span = (question.minimum, question.maximum, block == ITEMS)
            if ranges.setdefault(question.scale, span) != span:
                self.notes.wrong(
                    (*path, "scale"),
                    f"The questions of the scale {question.scale!r} have different ranges, or only some are about "
                    "items. Use the same minimum and maximum for all of them, and either only the items block or "
                    "none of it.",
                )

    def _check_group(self, questionnaire: Questionnaire, block: str, number: int, question: Question) -> None:
        if not question.random_group:
            return
        members = [
            index
            for index, candidate in enumerate(questionnaire.block(block))
            if candidate.random_group == question.random_group
        ]
        if members[-1] - members[0] + 1 != len(members) and number == members[0]:
            self.notes.wrong(
                (block, number, "random_group"),
                f"The questions of the random group {question.random_group!r} are not adjacent. Move them together.",
            )
        of_group = {questionnaire.block(block)[index].key for index in members}
        if question.shown_if and any(test.question in of_group for test in question.shown_if.tests()):
            self.notes.wrong(
                (block, number, "shown_if"),
                f"The question {question.key!r} depends on a question of its own random group, which may come later.",
            )


def _numbered(questionnaire: Questionnaire) -> Iterator[tuple[str, int, Question]]:
    for block, questions in questionnaire.blocks.items():
        for number, question in enumerate(questions):
            yield block, number, question


def _earlier(questionnaire: Questionnaire, block: str, number: int) -> dict[str, Question]:
    """Return the questions that a condition at this position may refer to."""
    before = [question for name in questionnaire.known_in(block)[:-1] for question in questionnaire.block(name)]
    return {question.key: question for question in (*before, *questionnaire.block(block)[:number])}


def earlier_questions(questionnaire: Questionnaire, block: str, key: str = "") -> dict[str, Question]:
    """Return the questions that a condition of one question may refer to, by key.

    An empty key means a new question at the end of the block.
    """
    keys = [question.key for question in questionnaire.block(block)]
    return _earlier(questionnaire, block, keys.index(key) if key in keys else len(keys))


def blocks_in(*documents: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the blocks of questionnaires as plain data: those of 2011, then those of the study's own."""
    return (*BLOCKS, *sorted({name for document in documents for name in document} - set(PARTS)))


@lru_cache(maxsize=64)
def _read_text(text: str, blocks: tuple[str, ...], repeated: frozenset[str]) -> Questionnaire:
    # Every page of a participant reads the same questionnaire.
    return _Reader(json.loads(text), blocks, repeated).read()


def questionnaire_from(
    mapping: Mapping[str, Any], blocks: tuple[str, ...] = BLOCKS, repeated: frozenset[str] = frozenset()
) -> Questionnaire:
    """Parse a questionnaire from plain data: a preset's YAML or a study's JSON.

    The mapping has a list of questions for each of the blocks, which are in the order in which they are asked, and a
    list of scales under ``scales``. `repeated` are the blocks that are asked anew of each of several lists. Raises
    QuestionnaireProblems, a ParameterError with every problem, such as unknown fields, duplicate keys or conditions on
    later questions.

    Examples
    --------
    >>> asked = questionnaire_from({"overall": [{"key": "comment", "kind": "text", "text": {"en": "More?"}}]})
    >>> asked.block("overall")[0].key
    'comment'
    """
    if not isinstance(mapping, Mapping):
        raise QuestionnaireProblems([Problem((), f"A questionnaire is a mapping of blocks; got {mapping!r}.")])
    try:
        text = json.dumps(mapping, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise QuestionnaireProblems(
            [Problem((), f"A questionnaire may contain only texts, numbers, true and false: {problem}. Quote dates.")]
        ) from problem
    return _read_text(text, blocks, repeated)


def lacking_wordings(questionnaire: Questionnaire, languages: Sequence[str]) -> list[Problem]:
    """Return a problem for every text that is missing in one of the languages."""
    problems = []
    for block, number, question in _numbered(questionnaire):
        for what, texts in question.texts():
            for language in languages:
                if language not in texts:
                    problems.append(
                        Problem((block, number), f"The question {question.key!r} has no {what} in {language!r}.")
                    )
    for number, scale in enumerate(questionnaire.scales):
        problems += [
            Problem(("scales", number), f"The scale {scale.key!r} has no name in {language!r}.")
            for language in languages
            if language not in scale.name
        ]
    return problems
