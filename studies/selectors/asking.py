"""Questions as a page asks them: their wordings, their options, and the answer they have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from studies import flow
from studies.questionnaires import schema

DECLINE_RAW = "--declined"  # no choice's value begins with a hyphen
WAS = "was."  # and a question's key: the field that says what its page was drawn with
SHORT_TEXT = 200  # a longer one gets a field that grows
MOST_ROWS = 7  # more choices are folded into a list
AUTOCOMPLETE = {"age": "off", "nationality": "country-name", "gender": "sex"}


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
    """Words or a question that show only after certain answers.

    `when` is what the page's script looks at: conditions joined by "&", each ``name`` (answered), ``name=value``
    or ``name!=value``; empty for always. `is_hidden` is how it stands with the answers stored so far, for
    readers without the script.
    """

    text: str
    when: str = ""
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

    `when` is what the page's script looks at, as of `Conditional`; `condition` the same of nested conditions, as
    JSON. `layout` says which template draws it. `was` is what its controls say as long as nobody touches them.
    """

    key: str
    wordings: tuple[Conditional, ...]
    layout: str
    options: tuple[Option, ...] = ()
    rows: tuple[AskedRow, ...] = ()
    when: str = ""
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
    def template(self) -> str:
        """The template that draws what it is answered with."""
        return f"participant/questions/{self.layout}.html"

    @property
    def described_by(self) -> str:
        """The ids of what is said beside it."""
        said = (("hint", self.hint), ("unit", self.unit or self.layout == "slider"), ("problem", self.problem))
        return " ".join(f"{name}-{self.key}" for name, text in said if text)


def raw(value: Any) -> str:
    """Return an answer as its control says it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def in_one(said: Iterable[tuple[str, str]]) -> str:
    """Return what controls say, by name and value, as one text; the page's script writes it the same way."""
    filled = ((name, value.strip().replace("\r\n", "\n")) for name, value in said)
    return "\n".join(sorted(f"{name}={value}" for name, value in filled if value))


def holds(when: str, answers: Mapping[str, Any]) -> bool:
    """Return whether the conditions hold for the answers stored so far, as the page's script reads them."""
    for condition in filter(None, when.split("&")):
        name, differs, value = condition.partition("!=")
        if not differs:
            name, _equals, value = condition.partition("=")
        given = answers.get(name)
        is_met = given is not None if not value else (given is not None and raw(given) == value) != bool(differs)
        if not is_met:
            return False
    return True


WHEN_BRANCH = {
    flow.WATCHED: "watched=yes",
    flow.TRAILER_SEEN: "watched=no&trailer_seen=yes",
    flow.NEITHER: "watched=no&trailer_seen!=yes",
}


def in_language(texts: Mapping[str, Any], language: str) -> Any:
    """Return the wording in the participant's language, else the first that the researcher wrote."""
    return texts.get(language) or next(iter(texts.values()), "")


@dataclass(frozen=True)
class Page:
    """What a block of questions is asked with.

    `orders` are what was noted for this participant (see `services.orders`), `raw_values` what was typed and could
    not be stored, `hints` and `problems` words by the question's key.
    """

    questionnaire: schema.Questionnaire
    block: str
    answers: Mapping[str, Any]
    language: str
    orders: Mapping[str, Any]
    raw_values: Mapping[str, Any]
    hints: Mapping[str, Any]
    problems: Mapping[str, Any]

    def asked(self) -> list[Asked]:
        """Every question of the block in the order shown, those hidden so far among them."""
        questions = {question.key: question for question in self.questionnaire.block(self.block)}
        order = [key for key in self.orders.get("questions", ()) if key in questions]
        keys = [*order, *(key for key in questions if key not in order)]
        known = self.questionnaire.known(self.block, self.answers)
        here = frozenset(questions)
        return [self._asked(questions[key], known, here) for key in keys]

    def _asked(self, question: schema.Question, known: Mapping[str, Any], here: frozenset[str]) -> Asked:
        when = "watched" if question.wordings else ""
        condition = ""
        is_hidden = not holds(when, known)
        if question.shown_if is not None:
            condition = json.dumps(question.shown_if.as_script(here, known), ensure_ascii=False)
            is_hidden = is_hidden or not question.is_shown(known)
        wordings = tuple(
            Conditional(in_language(question.wordings[branch], self.language), when_branch,
                        not holds(when_branch, known))
            for branch, when_branch in WHEN_BRANCH.items()
            if branch in question.wordings
        ) or (Conditional(in_language(question.text, self.language)),)  # fmt: skip
        given = self.answers.get(question.key)
        is_declined = schema.is_declined(given)
        layout = self._layout(question)
        decline = Option(DECLINE_RAW, _("I prefer not to say"), is_declined) if question.may_decline else None
        options = self._options(question, None if is_declined else given)
        is_list = layout in ("yes-no", "likert", "rows", "select")
        if decline is not None and is_list:
            options, decline = (*options, decline), None
            layout = "rows" if layout == "likert" else layout
        ends = in_language(question.ends, self.language) if question.ends else None
        rows = self._rows(question, {} if is_declined or not isinstance(given, Mapping) else given)
        own_words = self._own_words(question, given)
        return Asked(
            key=question.key,
            wordings=wordings,
            layout=layout,
            options=options,
            rows=rows,
            when=when,
            condition=condition,
            is_hidden=is_hidden,
            hint=self.hints.get(question.key) or in_language(question.help, self.language),
            ends=tuple(ends) if ends else None,
            problem=self.problems.get(question.key, ""),
            value=self._value(question, None if is_declined else given),
            was=self._was(question, given, options, rows, decline, own_words),
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
        )

    def _layout(self, question: schema.Question) -> str:
        if question.kind == schema.TEXT:
            return "line" if question.max_length <= SHORT_TEXT else "paragraph"
        if question.is_on_points and question.kind != schema.MATRIX:
            return "rows" if question.labels else "likert"
        if question.kind in (schema.CHOICE, schema.ATTENTION):
            # The form about the person holds native lists; elsewhere few choices stand open.
            is_folded = self.block == schema.ABOUT or len(question.choices) > MOST_ROWS
            return "select" if is_folded and not question.other and question.kind == schema.CHOICE else "rows"
        return {
            schema.YES_NO: "yes-no", schema.MULTIPLE: "checks", schema.NUMBER: "number", schema.SLIDER: "slider",
            schema.LONG_TEXT: "paragraph", schema.MATRIX: "matrix",
        }[question.kind]  # fmt: skip

    def _options(self, question: schema.Question, given: Any) -> tuple[Option, ...]:
        if question.kind == schema.YES_NO:
            return (Option("yes", _("Yes"), given is True), Option("no", _("No"), given is False))
        if question.kind == schema.MATRIX:
            return ()
        if question.is_on_points:
            return self._points(question, given)
        plain = schema.plain_answer(given)
        chosen = plain if isinstance(plain, list) else [plain]
        by_value = {choice.value: choice for choice in question.choices}
        order = [value for value in self.orders.get("within", {}).get(question.key, ()) if value in by_value]
        values = [*order, *(value for value in by_value if value not in order)]
        found = [
            Option(value, in_language(by_value[value].label, self.language), value in chosen,
                   is_exclusive=by_value[value].is_exclusive)
            for value in values
        ]  # fmt: skip
        if question.other:
            found.append(Option(schema.OTHER, in_language(question.other, self.language), schema.OTHER in chosen))
        return tuple(found)

    def _points(self, question: schema.Question, given: Any) -> tuple[Option, ...]:
        low, high = int(question.minimum), int(question.maximum)
        if question.labels:
            labels = in_language(question.labels, self.language)
            return tuple(Option(str(p), labels[p - low], given == p) for p in range(low, high + 1))
        ends = in_language(question.ends, self.language) or ("", "")
        asides = {low: ends[0], high: ends[1]}
        return tuple(Option(str(p), str(p), given == p, asides.get(p, "")) for p in range(low, high + 1))

    def _rows(self, question: schema.Question, given: Mapping[str, Any]) -> tuple[AskedRow, ...]:
        by_key = {row.key: row for row in question.rows}
        order = [key for key in self.orders.get("within", {}).get(question.key, ()) if key in by_key]
        keys = [*order, *(key for key in by_key if key not in order)]
        rows = []
        for key in keys:
            chosen = given.get(key)
            if question.choices:
                options = tuple(
                    Option(choice.value, in_language(choice.label, self.language), chosen == choice.value)
                    for choice in question.choices
                )
            else:
                options = self._points(question, chosen)
            rows.append(AskedRow(f"{question.key}.{key}", in_language(by_key[key].text, self.language), options))
        return tuple(rows)

    def _value(self, question: schema.Question, given: Any) -> str:
        if question.key in self.raw_values:
            return str(self.raw_values[question.key])
        return "" if given is None or isinstance(given, list | Mapping) else raw(given)

    @staticmethod
    def _was(
        question: schema.Question,
        given: Any,
        options: tuple[Option, ...],
        rows: tuple[AskedRow, ...],
        decline: Option | None,
        own_words: Option | None,
    ) -> str:
        """What the controls say of the stored answer; what was typed and could not be stored is none."""
        said = [(question.key, option.value) for option in options if option.is_chosen]
        said += [(row.name, option.value) for row in rows for option in row.options if option.is_chosen]
        if decline is not None and decline.is_chosen:
            said.append((f"{question.key}--declined", "1"))
        if own_words is not None:
            said.append((f"{question.key}.{schema.OTHER}", own_words.value))
        if not options and not rows and given is not None and not isinstance(given, list | Mapping):
            said.append((question.key, raw(given)))
        return in_one(said)

    def _own_words(self, question: schema.Question, given: Any) -> Option | None:
        if not question.other:
            return None
        said = schema.own_words(given) or ""
        return Option(said, gettext("In your own words"), bool(said))


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
    """Return a block's questions as its page asks them, in the order shown, those hidden so far among them."""
    page = Page(
        questionnaire, block, answers, language, orders or {}, raw_values or {}, hints or {}, problems or {}
    )  # fmt: skip
    return page.asked()


def visible(question: schema.Question, known: Mapping[str, Any]) -> bool:
    """Return whether a page with these answers shows the question to a reader without the script."""
    return question.is_shown(known) and (not question.wordings or known.get("watched") is not None)


def wanting_text(question: schema.Question, given: Any) -> str:
    """Return what is said beside a question that still wants an answer."""
    if question.kind == schema.MATRIX and given is not None:
        return gettext("Please answer every line.")
    if schema.own_words(given) == "":
        return gettext("Please say it in your own words.")
    if question.kind == schema.MULTIPLE and given is not None:
        return gettext("Please choose at least %(n)s.") % {"n": question.minimum}
    return gettext("Please answer this one.")


def problem_text(question: schema.Question, value: Any) -> str:
    """Return what is said beside an answer that cannot be stored, and what to do."""
    if question.kind in (schema.NUMBER, schema.SLIDER):
        if question.minimum is not None and question.maximum is not None:
            limits = {"low": question.minimum, "high": question.maximum}
            if question.kind == schema.NUMBER and not question.decimals:
                return gettext("Please give a whole number from %(low)s to %(high)s.") % limits
            return gettext("Please give a number from %(low)s to %(high)s.") % limits
        return gettext("Please give a number that this question allows.")
    if question.kind in (schema.TEXT, schema.LONG_TEXT) and len(str(value)) > question.max_length:
        return gettext("Please use at most %(n)s characters.") % {"n": question.max_length}
    if len(schema.own_words(value) or "") > schema.LONGEST_OTHER:
        return gettext("Please use at most %(n)s characters.") % {"n": schema.LONGEST_OTHER}
    if question.kind == schema.MULTIPLE and isinstance(value, list):
        if question.maximum is not None and len(value) > question.maximum:
            return gettext("Please choose at most %(n)s.") % {"n": question.maximum}
        return gettext("One of these answers goes with no other. Please choose again.")
    return gettext("Please choose one of the answers that the page offers.")
