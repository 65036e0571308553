"""The form of a question in the editor: its fields, languages side by side, and what they make of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms

from studies.forms.question_lines import (
    SPARE_LINES,
    ConditionForm,
    LineForm,
    told_line,
    words_field,
)
from studies.questionnaires.conditions import as_alternatives, from_alternatives
from studies.questionnaires.core import is_measured
from studies.questionnaires.questions import ATTENTION, MATRIX, MULTIPLE, NUMBER, SLIDER, Question
from studies.questionnaires.reading import OF_KIND
from studies.questionnaires.schema import Questionnaire, earlier_questions
from studies.selectors.texts import language_name


class QuestionForm(forms.Form):
    """Everything that can be said of a question of one kind; the service says whether it makes sense."""

    key = forms.SlugField(max_length=40, help_text="Its name in exports: small letters, digits, underscores.")
    required = forms.BooleanField(required=False, initial=True, label="An answer is required")
    may_decline = forms.BooleanField(required=False, label="Offer “I prefer not to say”")
    identifies = forms.BooleanField(
        required=False, label="The answer identifies a person",
        help_text="Such as an e-mail address for a draw. Exports leave it out unless an owner asks for what names "
        "people, and it is erased with the external ids.",
    )  # fmt: skip
    random_group = forms.SlugField(
        required=False, max_length=40, label="Random group",
        help_text="Neighbours of the same group come in an order of each participant's own.",
    )  # fmt: skip
    minimum = forms.FloatField(required=False)
    maximum = forms.FloatField(required=False)
    step = forms.FloatField(required=False, initial=1)
    decimals = forms.IntegerField(required=False, min_value=0, max_value=6, initial=0)
    max_length = forms.IntegerField(required=False, min_value=1, max_value=5000, label="Longest text, in characters")
    random_order = forms.BooleanField(required=False, label="Show them in an order of each participant's own")
    scale = forms.ChoiceField(required=False, help_text="Scales are made on the questionnaire's page.")
    reversed = forms.BooleanField(required=False, label="Reversed: a high answer means little of it")
    expects = forms.CharField(
        required=False, max_length=60, label="Expected answer",
        help_text="The point, or the value of the choice, that passes. Participants never see it.",
    )  # fmt: skip
    LIMITS = {
        MULTIPLE: ("Fewest answers", "Most answers"), NUMBER: ("Smallest", "Largest"),
        SLIDER: ("Left end", "Right end"),
    }  # fmt: skip

    def __init__(
        self,
        kind: str,
        questionnaire: Questionnaire,
        block: str,
        languages: Sequence[str],
        data: Any = None,
        *,
        given: Mapping[str, Any] | None = None,
    ) -> None:
        self.kind, self.languages, self.block = kind, list(languages), block
        self.given = dict(given or {})
        fields = OF_KIND[kind]
        own = self.given
        initial: dict[str, Any] = {name: own[name] for name in self.base_fields if name in own}
        super().__init__(data, initial=initial)
        for name in ("minimum", "maximum", "step", "decimals", "max_length", "random_order", "scale", "reversed",
                     "expects"):  # fmt: skip
            if name not in fields:
                del self.fields[name]
        if kind == ATTENTION or is_measured(block, str(own.get("key", ""))):
            del self.fields["identifies"]
        low, high = self.LIMITS.get(kind, ("Lowest point", "Highest point"))
        if "minimum" in self.fields:
            self.fields["minimum"].label, self.fields["maximum"].label = low, high
            for name in ("minimum", "maximum", "step"):
                if name in self.fields:
                    self.fields[name].widget.attrs["step"] = "any"
        if "scale" in self.fields:
            scales = [(one.key, f"{next(iter(one.name.values()))} ({one.key})") for one in questionnaire.scales]
            self.fields["scale"].choices = [("", "none"), *scales]  # type: ignore[attr-defined]
        for language in self.languages:
            self._add_words(language, fields)
        mark = "Reversed" if kind == MATRIX else "Goes with no other"
        lines = own.get("rows" if kind == MATRIX else "choices") or []
        self.has_lines = "rows" in fields or "choices" in fields
        self.has_rows_and_choices = kind == MATRIX
        self.lines = self._lines("line", lines, mark, data)
        self.choices_of_matrix = self._lines("cell", own.get("choices") or [], "", data) if kind == MATRIX else []
        earlier = earlier_questions(questionnaire, block, str(own.get("key", "")))
        found = self._asked(questionnaire, block)
        self.condition = found.shown_if if found else None
        told = as_alternatives(self.condition) if self.condition is not None else ()
        self.is_too_deep = told is None
        self.conditions = [
            ConditionForm(earlier, data, prefix=f"if{number}", initial=line)
            for number, line in enumerate([*map(told_line, told or ()), *([None] * SPARE_LINES)])
            if earlier
        ]

    def _asked(self, questionnaire: Questionnaire, block: str) -> Question | None:
        return next((one for one in questionnaire.block(block) if one.key == self.given.get("key")), None)

    def _add_words(self, language: str, fields: Iterable[str]) -> None:
        name, own = language_name(language), self.given

        def words(part: str) -> Any:
            return (own.get(part) or {}).get(language)

        def area(
            label: str, initial: Any, rows: int, help_text: str = "", *, is_required: bool = False
        ) -> forms.CharField:
            return words_field(label, initial=initial, required=is_required, help_text=help_text,
                         widget=forms.Textarea(attrs={"rows": rows, "lang": language}))  # fmt: skip

        self.fields[f"text_{language}"] = area(f"Question in {name}", words("text"), 2, is_required=True)
        self.fields[f"help_{language}"] = words_field(f"A sentence beside it, in {name}", initial=words("help"))
        if "ends" in fields:
            low, high = words("ends") or ("", "")
            self.fields[f"low_{language}"] = words_field(f"Label of the lowest point, in {name}", initial=low)
            self.fields[f"high_{language}"] = words_field(f"Label of the highest point, in {name}", initial=high)
        if "labels" in fields:
            told = "\n".join(words("labels") or ())
            self.fields[f"labels_{language}"] = area(
                f"Labels of all points, in {name}", told, 3, "One a line, lowest first; empty for the two ends alone."
            )
        if "unit" in fields:
            self.fields[f"unit_{language}"] = words_field(f"Unit, in {name}", initial=words("unit"))
        if "other" in fields:
            self.fields[f"other_{language}"] = words_field(
                f"Label of an answer in one's own words, in {name}", initial=words("other"),
                help_text="Empty for none.",
            )  # fmt: skip
        for branch in own.get("wordings") or {}:
            self.fields[f"wording_{branch}_{language}"] = area(
                f"Wording where {branch.replace('_', ' ')}, in {name}", own["wordings"][branch].get(language), 2,
                is_required=True,
            )  # fmt: skip

    def _lines(self, prefix: str, given: Sequence[Mapping[str, Any]], mark: str, data: Any) -> list[LineForm]:
        if not self.has_lines:
            return []
        forms_ = []
        for number in range(len(given) + SPARE_LINES):
            initial: dict[str, Any] = {}
            if number < len(given):
                one = given[number]
                words = one.get("text") or one.get("label") or {}
                initial = {
                    "key": one.get("key", one.get("value")),
                    "mark": one.get("reversed", one.get("exclusive", False)),
                    **{f"text_{language}": text for language, text in words.items()},
                }
            forms_.append(LineForm(self.languages, mark, data, prefix=f"{prefix}{number}", initial=initial))
        return forms_

    def is_valid(self) -> bool:
        """Whether every field holds what such a field may hold."""
        parts = [*self.lines, *self.choices_of_matrix, *self.conditions]
        return all([super().is_valid(), *(part.is_valid() for part in parts)])

    @property
    def languages_side_by_side(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields of words, a column a language."""
        return [
            (language_name(language), [field for field in self if field.name.endswith(f"_{language}")])
            for language in self.languages
        ]

    @property
    def plain_fields(self) -> list[forms.BoundField]:
        """The fields that speak no language."""
        ends = tuple(f"_{language}" for language in self.languages)
        return [field for field in self if not field.name.endswith(ends)]

    def question(self) -> dict[str, Any]:
        """The question as a document holds it; what the form does not show stays as it was."""
        said = self.cleaned_data
        made: dict[str, Any] = {"key": said["key"], "kind": self.kind, "text": self._words("text")}
        for name in ("help", "unit", "other"):
            if words := self._words(name):
                made[name] = words
        if not said["required"]:
            made["required"] = False
        for name in ("may_decline", "identifies", "random_order", "reversed"):
            if said.get(name):
                made[name] = True
        for name in ("random_group", "scale"):
            if said.get(name):
                made[name] = said[name]
        for name in ("minimum", "maximum", "step", "decimals", "max_length"):
            if said.get(name) is not None and not (name == "decimals" and not said[name]):
                made[name] = _plain_number(said[name])
        if "step" in made and made["step"] == 1:
            del made["step"]
        self._add_labels(made)
        self._add_lists(made)
        if said.get("expects"):
            raw = said["expects"].strip()
            made["expects"] = int(raw) if raw.isdecimal() and not made.get("choices") else raw
        if "wordings" in self.given:
            made["wordings"] = {branch: self._words(f"wording_{branch}") for branch in self.given["wordings"]}
        if "admits" in self.given:
            made["admits"] = self.given["admits"]
        self._add_condition(made)
        # In the order in which the fields stood, so that a change changes no more than it says.
        order = {name: place for place, name in enumerate(self.given)}
        return dict(sorted(made.items(), key=lambda pair: order.get(pair[0], len(order))))

    def _words(self, name: str) -> dict[str, str]:
        said = self.cleaned_data
        # Browsers send a line break as two characters; the design is hashed with one.
        found = {language: (said.get(f"{name}_{language}") or "").replace("\r\n", "\n") for language in self.languages}
        return {language: text for language, text in found.items() if text}

    def _add_labels(self, made: dict[str, Any]) -> None:
        low, high = self._words("low"), self._words("high")
        ends = {language: [low.get(language, ""), high.get(language, "")] for language in {*low, *high}}
        if ends:
            made["ends"] = {language: ends[language] for language in self.languages if language in ends}
        labels = {language: text.splitlines() for language, text in self._words("labels").items()}
        if labels:
            made["labels"] = labels

    def _add_lists(self, made: dict[str, Any]) -> None:
        lines = [one for one in (line.said() for line in self.lines) if one is not None]
        if self.kind == MATRIX:
            made["rows"] = [
                {"key": key, "text": texts, **({"reversed": True} if mark else {})} for key, texts, mark in lines
            ]
            lines = [one for one in (line.said() for line in self.choices_of_matrix) if one is not None]
        if lines and self.has_lines:
            made["choices"] = [
                {"value": key, "label": texts, **({"exclusive": True} if mark else {})} for key, texts, mark in lines
            ]

    def _add_condition(self, made: dict[str, Any]) -> None:
        lines = [one for one in (line.said() for line in self.conditions) if one is not None]
        if self.is_too_deep and not lines:
            made["shown_if"] = self.given["shown_if"]
        elif (condition := from_alternatives(lines)) is not None:
            same = self.condition is not None and condition == self.condition
            made["shown_if"] = self.given["shown_if"] if same else condition.as_data()


def _plain_number(value: float) -> float:
    return int(value) if float(value).is_integer() else value
