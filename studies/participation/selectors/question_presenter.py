"""Questions as a page shows them: wordings, options and the stored answer."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from studies.instrument.measures import NEITHER, TRAILER_SEEN, WATCHED
from studies.instrument.questionnaires import schema
from studies.instrument.questionnaires.conditions import ALL, NOT, Condition, JoinedConditions, Test, as_text
from studies.instrument.questionnaires.questions import DECLINE_RAW, joined_controls

T = TypeVar("T")
AUTOCOMPLETE = {"nationality": "country-name", "gender": "sex"}


@dataclass(frozen=True)
class Option:
    """One radio button or box."""

    value: str
    label: Any
    is_chosen: bool
    aside: str = ""
    is_exclusive: bool = False


@dataclass(frozen=True)
class Conditional:
    """A wording that shows only after certain answers.

    `condition` is what the page's script evaluates, as JSON; empty for always. `is_hidden` is its result for the
    answers stored so far, for readers without the script.
    """

    text: str
    condition: str = ""
    is_hidden: bool = False


@dataclass(frozen=True)
class AskedRow:
    """One line of a matrix."""

    name: str
    text: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Asked:
    """A question as a page asks it; where it has several wordings, one of them shows at a time.

    `condition` is as for `Conditional`. `layout` names the kind of its controls. `was` is what its controls hold as
    long as they are untouched.
    """

    key: str
    wordings: tuple[Conditional, ...]
    layout: str
    options: tuple[Option, ...] = ()
    rows: tuple[AskedRow, ...] = ()
    condition: str = ""
    is_hidden: bool = False
    hint: Any = ""
    ends: tuple[str, str] | None = None
    problem: Any = ""
    confirmation: Any = ""  # asks whether the answer shown is meant
    value: str = ""
    was: str = ""
    unit: str = ""
    is_required: bool = True
    longest: int = 0
    minimum: Any = None
    maximum: Any = None
    step: Any = 1
    autocomplete: str = "off"
    decline: Option | None = None  # a box beside a field; a list of choices holds it among its own
    has_words: bool = False  # whether a matrix's answers are words rather than points
    own_words: Option | None = None  # the label of the answer in one's own words, and the words given
    own_words_condition: str = ""  # when the field for them shows

    @property
    def is_group(self) -> bool:
        """Whether several controls answer it together."""
        return bool(self.options or self.rows) and self.layout != "select"

    @property
    def lacks_words(self) -> bool:
        """Whether an answer in one's own words was chosen, and has none."""
        is_chosen = any(option.value == schema.OTHER and option.is_chosen for option in self.options)
        return self.own_words is not None and is_chosen and not self.own_words.value

    @property
    def described_by(self) -> str:
        """The ids of its hint, unit and problem texts."""
        parts = (("hint", self.hint), ("unit", self.unit or self.layout == "slider"), ("problem", self.problem))
        return " ".join(f"{name}-{self.key}" for name, text in parts if text)


_UNWATCHED, _TRAILER_SEEN = Test("watched", "equals", False), Test("trailer_seen", "equals", True)
HAS_WORDING = Test("watched", "answered", True)  # of a question with several wordings: that one of them shows
WORDING_CONDITIONS: dict[str, Condition] = {
    WATCHED: Test("watched", "equals", True),
    TRAILER_SEEN: JoinedConditions(ALL, (_UNWATCHED, _TRAILER_SEEN)),
    NEITHER: JoinedConditions(ALL, (_UNWATCHED, JoinedConditions(NOT, (_TRAILER_SEEN,)))),
}


def condition_of(question: schema.Question) -> Condition | None:
    """Return when a page shows the question; None for always."""
    if not question.wordings:
        return question.shown_if
    return HAS_WORDING if question.shown_if is None else JoinedConditions(ALL, (HAS_WORDING, question.shown_if))


def as_json(condition: Condition, here: frozenset[str], known: Mapping[str, Any]) -> str:
    """Return a condition as the page's script reads it; `here` are the questions of the page."""
    return json.dumps(condition.as_script(here, known), ensure_ascii=False)


def in_language(texts: Mapping[str, Any], language: str) -> Any:
    """Return the wording in the participant's language, else the first that the researcher wrote."""
    return texts.get(language) or next(iter(texts.values()), "")


def _ordered(parts: Mapping[str, T], order: Iterable[str] | None) -> list[T]:
    """Return the parts in the stored order; parts that it does not name come last, as declared."""
    return [parts[key] for key in dict.fromkeys([*(order or ()), *parts]) if key in parts]


@dataclass(frozen=True)
class Page:
    """The context of a block of questions.

    `orders` are those stored for this participant (`participant_state.shown_orders`), `raw_values` typed values that
    could not be stored; `hints` and `problems` are texts by question key. `unconfirmed` are the questions whose answers
    the participant is asked to confirm.
    """

    questionnaire: schema.Questionnaire
    block: str
    answers: Mapping[str, Any]
    language: str
    orders: Mapping[str, Any] = field(default_factory=dict)
    raw_values: Mapping[str, Any] = field(default_factory=dict)
    hints: Mapping[str, Any] = field(default_factory=dict)
    problems: Mapping[str, Any] = field(default_factory=dict)
    unconfirmed: Collection[str] = ()

    def questions(self) -> list[Asked]:
        """Every question of the block in the order shown, including those still hidden."""
        questions = {question.key: question for question in self.questionnaire.block(self.block)}
        known = self.questionnaire.known(self.block, self.answers)
        here = frozenset(questions)
        return [
            self._presented(question, known, here) for question in _ordered(questions, self.orders.get("questions"))
        ]

    def _presented(self, question: schema.Question, known: Mapping[str, Any], here: frozenset[str]) -> Asked:
        condition = condition_of(question)
        wordings = tuple(
            Conditional(
                in_language(question.wordings[branch], self.language),
                as_json(of_branch, here, known),
                not of_branch.holds(known),
            )
            for branch, of_branch in WORDING_CONDITIONS.items()
            if branch in question.wordings
        ) or (Conditional(in_language(question.text, self.language)),)
        stored = self.answers.get(question.key)
        is_declined = schema.is_declined(stored)
        layout = question.layout(is_about=self.block == schema.ABOUT)
        decline = Option(DECLINE_RAW, _("I prefer not to say"), is_declined) if question.may_decline else None
        order = self.orders.get("within", {}).get(question.key)
        options = () if question.rows else self._options(question, None if is_declined else stored, order)
        if decline is not None and options and not question.takes_several:
            options, decline = (*options, decline), None
            layout = "rows" if layout == "likert" else layout
        ends = in_language(question.ends, self.language) if question.ends else None
        answers = {} if is_declined or not isinstance(stored, Mapping) else stored
        rows = tuple(
            AskedRow(
                f"{question.key}.{row.key}",
                in_language(row.text, self.language),
                self._options(question, answers.get(row.key)),
            )
            for row in _ordered({row.key: row for row in question.rows}, order)
        )
        own_words = self._own_words(question, stored)
        value = self._value(question, None if is_declined else stored)
        return Asked(
            key=question.key,
            wordings=wordings,
            layout=layout,
            options=options,
            rows=rows,
            condition="" if condition is None else as_json(condition, here, known),
            is_hidden=not visible(question, known),
            hint=self.hints.get(question.key) or in_language(question.help, self.language),
            ends=tuple(ends) if ends else None,
            problem=self.problems.get(question.key, ""),
            confirmation=_confirmation(value, options, decline) if question.key in self.unconfirmed else "",
            value=value,
            was=self._was(question, stored, options, rows, decline=decline, own_words=own_words),
            unit=in_language(question.unit, self.language),
            is_required=question.required,
            longest=question.max_length,
            minimum=question.minimum,
            maximum=question.maximum,
            step=question.typed_step,
            autocomplete=AUTOCOMPLETE.get(question.key, "off"),
            decline=decline,
            has_words=bool(question.choices or question.labels),
            own_words=own_words,
            own_words_condition=self._own_words_condition(question, here, known),
        )

    def _options(
        self, question: schema.Question, stored: Any, order: Iterable[str] | None = None
    ) -> tuple[Option, ...]:
        """The buttons or boxes of a question, or of each row of a matrix."""
        if question.is_on_points:
            return self._points(question, stored)
        plain = schema.plain_answer(stored)
        chosen = plain if isinstance(plain, list) else [plain]
        choices = {choice.value: choice for choice in question.choices}
        options = [Option(as_text(value), _(label), stored is value) for value, label in question.fixed_answers]
        options += [
            Option(choice.value, in_language(choice.label, self.language), choice.value in chosen,
                   is_exclusive=choice.is_exclusive)
            for choice in _ordered(choices, order)
        ]  # fmt: skip
        if question.other:
            options.append(Option(schema.OTHER, in_language(question.other, self.language), schema.OTHER in chosen))
        return tuple(options)

    def _points(self, question: schema.Question, stored: Any) -> tuple[Option, ...]:
        low, high = int(question.minimum), int(question.maximum)
        if question.labels:
            labels = in_language(question.labels, self.language)
            return tuple(Option(str(p), labels[p - low], stored == p) for p in range(low, high + 1))
        ends = in_language(question.ends, self.language) or ("", "")
        asides = {low: ends[0], high: ends[1]}
        return tuple(Option(str(p), str(p), stored == p, asides.get(p, "")) for p in range(low, high + 1))

    def _value(self, question: schema.Question, stored: Any) -> str:
        if question.key in self.raw_values:
            return str(self.raw_values[question.key])
        return "" if stored is None or isinstance(stored, list | Mapping) else as_text(stored)

    @staticmethod
    def _was(
        question: schema.Question,
        stored: Any,
        options: tuple[Option, ...],
        rows: tuple[AskedRow, ...],
        *,
        decline: Option | None,
        own_words: Option | None,
    ) -> str:
        """The control values of the stored answer; typed values that could not be stored do not count."""
        pairs = [(question.key, option.value) for option in options if option.is_chosen]
        pairs += [(row.name, option.value) for row in rows for option in row.options if option.is_chosen]
        if decline is not None and decline.is_chosen:
            pairs.append((f"{question.key}--declined", "1"))
        if own_words is not None:
            pairs.append((f"{question.key}.{schema.OTHER}", own_words.value))
        if not options and not rows and stored is not None and not isinstance(stored, list | Mapping):
            pairs.append((question.key, as_text(stored)))
        return joined_controls(pairs)

    @staticmethod
    def _own_words_condition(question: schema.Question, here: frozenset[str], known: Mapping[str, Any]) -> str:
        if not question.other:
            return ""
        relation = "includes" if question.takes_several else "equals"
        return as_json(Test(question.key, relation, schema.OTHER), here, known)

    def _own_words(self, question: schema.Question, stored: Any) -> Option | None:
        if not question.other:
            return None
        text = schema.own_words(stored) or ""
        return Option(text, gettext("In your own words"), bool(text))


def _confirmation(value: str, options: Iterable[Option], decline: Option | None) -> str:
    chosen = [str(option.label) for option in (*options, *filter(None, [decline])) if option.is_chosen]
    if chosen:
        return gettext("You chose “%(answer)s”. Is that right?") % {"answer": ", ".join(chosen)}
    if not value:
        return gettext("You left this empty. Is that right?")
    return gettext("You entered %(answer)s. Is that right?") % {"answer": value}


def visible(question: schema.Question, known: Mapping[str, Any]) -> bool:
    """Return whether a page with these answers shows the question without the script."""
    condition = condition_of(question)
    return condition is None or condition.holds(known)


def incomplete_text(question: schema.Question, value: Any) -> str:
    """Return the message beside a question that still needs an answer."""
    text, facts = question.missing_message(value)
    return gettext(text) % facts


def problem_text(question: schema.Question, value: Any) -> str:
    """Return the message beside an answer that cannot be stored, with what to do."""
    text, facts = question.error_message(value)
    return gettext(text) % facts
