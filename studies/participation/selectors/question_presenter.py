"""Questions as a page shows them: wordings, options and the stored answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from studies.instrument import flow
from studies.instrument.questionnaires import schema
from studies.instrument.questionnaires.conditions import ALL, NOT, Condition, Joined, Test, as_text

T = TypeVar("T")
DECLINE_RAW = "--declined"  # no choice's value begins with a hyphen
WAS = "was."  # and a question's key: the field that says what its page was drawn with
SHORT_TEXT = 200  # a longer one gets a field that grows
MOST_ROWS = 7  # more choices are folded into a list
AGE = "age"
AUTOCOMPLETE = {AGE: "off", "nationality": "country-name", "gender": "sex"}


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
        return self.layout in ("yes-no", "likert", "rows", "checks", "matrix")

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


def in_one(pairs: Iterable[tuple[str, str]]) -> str:
    """Return control names and values as one text; the page's script builds it identically."""
    filled = ((name, value.strip().replace("\r\n", "\n")) for name, value in pairs)
    return "\n".join(sorted(f"{name}={value}" for name, value in filled if value))


_UNWATCHED, _TRAILER_SEEN = Test("watched", "equals", False), Test("trailer_seen", "equals", True)
HAS_WORDING = Test("watched", "answered", True)  # of a question with several wordings: that one of them shows
WORDING_CONDITIONS: dict[str, Condition] = {
    flow.WATCHED: Test("watched", "equals", True),
    flow.TRAILER_SEEN: Joined(ALL, (_UNWATCHED, _TRAILER_SEEN)),
    flow.NEITHER: Joined(ALL, (_UNWATCHED, Joined(NOT, (_TRAILER_SEEN,)))),
}


def condition_of(question: schema.Question) -> Condition | None:
    """Return when a page shows the question; None for always."""
    if not question.wordings:
        return question.shown_if
    return HAS_WORDING if question.shown_if is None else Joined(ALL, (HAS_WORDING, question.shown_if))


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
    could not be stored; `hints` and `problems` are texts by question key.
    """

    questionnaire: schema.Questionnaire
    block: str
    answers: Mapping[str, Any]
    language: str
    orders: Mapping[str, Any]
    raw_values: Mapping[str, Any]
    hints: Mapping[str, Any]
    problems: Mapping[str, Any]

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
        layout = self._layout(question)
        decline = Option(DECLINE_RAW, _("I prefer not to say"), is_declined) if question.may_decline else None
        options = self._options(question, None if is_declined else stored)
        is_list = layout in ("yes-no", "likert", "rows", "select")
        if decline is not None and is_list:
            options, decline = (*options, decline), None
            layout = "rows" if layout == "likert" else layout
        ends = in_language(question.ends, self.language) if question.ends else None
        rows = self._rows(question, {} if is_declined or not isinstance(stored, Mapping) else stored)
        own_words = self._own_words(question, stored)
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
            value=self._value(question, None if is_declined else stored),
            was=self._was(question, stored, options, rows, decline=decline, own_words=own_words),
            unit=in_language(question.unit, self.language),
            is_required=question.required,
            longest=question.max_length,
            minimum=question.minimum,
            maximum=question.maximum,
            step="any" if question.kind == schema.NUMBER and question.decimals else question.step,
            autocomplete=AUTOCOMPLETE.get(question.key, "off"),
            decline=decline,
            has_words=bool(question.choices or question.labels),
            own_words=own_words,
            own_words_condition=self._own_words_condition(question, here, known),
        )

    def _layout(self, question: schema.Question) -> str:
        if question.kind == schema.TEXT:
            return "line" if question.max_length <= SHORT_TEXT else "paragraph"
        if question.is_on_points and question.kind != schema.MATRIX:
            return "rows" if question.labels else "likert"
        if question.kind in (schema.CHOICE, schema.ATTENTION):
            # The form about the person uses native lists; elsewhere short lists of choices are expanded.
            is_folded = self.block == schema.ABOUT or len(question.choices) > MOST_ROWS
            return "select" if is_folded and not question.other and question.kind == schema.CHOICE else "rows"
        return {
            schema.YES_NO: "yes-no", schema.MULTIPLE: "checks", schema.NUMBER: "number", schema.SLIDER: "slider",
            schema.LONG_TEXT: "paragraph", schema.MATRIX: "matrix",
        }[question.kind]  # fmt: skip

    def _options(self, question: schema.Question, stored: Any) -> tuple[Option, ...]:
        if question.kind == schema.YES_NO:
            return (Option("yes", _("Yes"), stored is True), Option("no", _("No"), stored is False))
        if question.kind == schema.MATRIX:
            return ()
        if question.is_on_points:
            return self._points(question, stored)
        plain = schema.plain_answer(stored)
        chosen = plain if isinstance(plain, list) else [plain]
        choices = {choice.value: choice for choice in question.choices}
        options = [
            Option(choice.value, in_language(choice.label, self.language), choice.value in chosen,
                   is_exclusive=choice.is_exclusive)
            for choice in _ordered(choices, self.orders.get("within", {}).get(question.key))
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

    def _rows(self, question: schema.Question, stored: Mapping[str, Any]) -> tuple[AskedRow, ...]:
        by_key = {row.key: row for row in question.rows}
        rows = []
        for row in _ordered(by_key, self.orders.get("within", {}).get(question.key)):
            chosen = stored.get(row.key)
            if question.choices:
                options = tuple(
                    Option(choice.value, in_language(choice.label, self.language), chosen == choice.value)
                    for choice in question.choices
                )
            else:
                options = self._points(question, chosen)
            rows.append(AskedRow(f"{question.key}.{row.key}", in_language(row.text, self.language), options))
        return tuple(rows)

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
        return in_one(pairs)

    @staticmethod
    def _own_words_condition(question: schema.Question, here: frozenset[str], known: Mapping[str, Any]) -> str:
        if not question.other:
            return ""
        relation = "includes" if question.kind == schema.MULTIPLE else "equals"
        return as_json(Test(question.key, relation, schema.OTHER), here, known)

    def _own_words(self, question: schema.Question, stored: Any) -> Option | None:
        if not question.other:
            return None
        text = schema.own_words(stored) or ""
        return Option(text, gettext("In your own words"), bool(text))


def page_of(
    questionnaire: schema.Questionnaire,
    block: str,
    answers: Mapping[str, Any],
    *,
    language: str,
    orders: Mapping[str, Any] | None = None,
    raw_values: Mapping[str, Any] | None = None,
    hints: Mapping[str, Any] | None = None,
    problems: Mapping[str, Any] | None = None,
) -> list[Asked]:
    """Return a block's questions as its page shows them, in order, including those still hidden."""
    page = Page(
        questionnaire, block, answers, language, orders or {}, raw_values or {}, hints or {}, problems or {}
    )  # fmt: skip
    return page.questions()


def visible(question: schema.Question, known: Mapping[str, Any]) -> bool:
    """Return whether a page with these answers shows the question without the script."""
    condition = condition_of(question)
    return condition is None or condition.holds(known)


def incomplete_text(question: schema.Question, value: Any) -> str:
    """Return the message beside a question that still needs an answer."""
    if question.kind == schema.MATRIX and value is not None:
        return gettext("Please answer every row.")
    if schema.own_words(value) == "":
        return gettext("Please use your own words.")
    if question.kind == schema.MULTIPLE and value is not None:
        return gettext("Please choose at least %(n)s.") % {"n": question.minimum}
    return gettext("Please answer this question.")


def problem_text(question: schema.Question, value: Any) -> str:
    """Return the message beside an answer that cannot be stored, with what to do."""
    if question.key == AGE and question.kind == schema.NUMBER and isinstance(value, str):
        return gettext("Enter your age in whole years, for example 34.")
    if question.kind in (schema.NUMBER, schema.SLIDER):
        if question.minimum is not None and question.maximum is not None:
            limits = {"low": question.minimum, "high": question.maximum}
            if question.kind == schema.NUMBER and not question.decimals:
                return gettext("Please enter a whole number from %(low)s to %(high)s.") % limits
            return gettext("Please enter a number from %(low)s to %(high)s.") % limits
        return gettext("Please enter a number that this question allows.")
    if question.kind in (schema.TEXT, schema.LONG_TEXT) and len(str(value)) > question.max_length:
        return gettext("Please use at most %(n)s characters.") % {"n": question.max_length}
    if len(schema.own_words(value) or "") > schema.LONGEST_OTHER:
        return gettext("Please use at most %(n)s characters.") % {"n": schema.LONGEST_OTHER}
    if question.kind == schema.MULTIPLE and isinstance(value, list):
        if question.maximum is not None and len(value) > question.maximum:
            return gettext("Please choose at most %(n)s.") % {"n": question.maximum}
        return gettext("One of these answers cannot be combined with others. Please choose again.")
    return gettext("Please choose one of the answers that the page offers.")
