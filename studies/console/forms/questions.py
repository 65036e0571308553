"""The form of a question in the editor: its fields, with the languages side by side, and the resulting document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from core.form_fields import offer
from studies.console.forms.question_lines import ConditionForm, LineForm, initial_line, words_field
from studies.console.forms.row_lists import EMPTY, RowList, fill, row_numbers
from studies.design.selectors.texts import language_name
from studies.instrument.flow import WATCHED
from studies.instrument.questionnaires.conditions import as_alternatives, from_alternatives
from studies.instrument.questionnaires.core import is_measured
from studies.instrument.questionnaires.questions import Question
from studies.instrument.questionnaires.reading import COMMON
from studies.instrument.questionnaires.schema import Questionnaire, earlier_questions


class QuestionForm(forms.Form):
    """All properties of a question of one kind; the service validates their combination."""

    key = forms.SlugField(max_length=40, help_text="Its name in exports: small letters, digits, underscores.")
    required = forms.BooleanField(required=False, initial=True, label="An answer is required")
    may_decline = forms.BooleanField(required=False, label="Offer “I prefer not to say”")
    identifies = forms.BooleanField(
        required=False,
        label="The answer identifies a person",
        help_text="Such as an e-mail address for a draw. Exports omit it unless an owner requests identifying "
        "data, and it is erased with the external ids.",
    )
    random_group = forms.SlugField(
        required=False,
        max_length=40,
        label="Random group",
        help_text="Neighbouring questions of the same group are shuffled for each participant.",
    )
    minimum = forms.FloatField(required=False)
    maximum = forms.FloatField(required=False)
    step = forms.FloatField(required=False, initial=1)
    decimals = forms.IntegerField(required=False, min_value=0, max_value=6, initial=0)
    max_length = forms.IntegerField(required=False, min_value=1, max_value=5000, label="Longest text, in characters")
    random_order = forms.BooleanField(required=False, label="Shuffle for each participant")
    scale = forms.ChoiceField(required=False, help_text="Create scales on the questionnaire page.")
    reversed = forms.BooleanField(required=False, label="Reverse-scored: a high answer means a low value")
    expects = forms.CharField(
        required=False,
        max_length=60,
        label="Expected answer",
        help_text="The point, or the value of the choice, that passes. Participants never see it.",
    )

    def __init__(
        self,
        kind: type[Question],
        questionnaire: Questionnaire,
        block: str,
        languages: Sequence[str],
        data: Any = None,
        *,
        consumed: str,
        stored: Mapping[str, Any] | None = None,
        drafted: QueryDict | None = None,
    ) -> None:
        """`consumed` is the study's past participle: the wording of a question may depend on it.

        `drafted` is posted data that is shown and neither validated nor saved.
        """
        self.drafted = drafted
        self.consumed = consumed
        self.kind, self.languages, self.block = kind, list(languages), block
        self.stored = dict(stored or {})
        initial: dict[str, Any] = {name: self.stored[name] for name in self.base_fields if name in self.stored}
        super().__init__(data, initial=initial)
        self._keep_fields(questionnaire)
        for language in self.languages:
            self._add_words(language, kind.fields)
        self._add_rows()
        self.earlier = earlier_questions(questionnaire, block, str(self.stored.get("key", "")))
        key = self.stored.get("key")
        self.condition = next((each.shown_if for each in questionnaire.block(block) if each.key == key), None)
        self.conditions = self._conditions()
        if drafted is not None:
            for part in self.parts:
                fill(part, drafted)

    def _keep_fields(self, questionnaire: Questionnaire) -> None:
        """Remove the fields that a question of this kind does not have, and label the others."""
        for name in set(self.fields) - COMMON - self.kind.fields:
            del self.fields[name]
        if "expects" in self.kind.fields or is_measured(self.block, str(self.stored.get("key", ""))):
            del self.fields["identifies"]
        if "minimum" in self.fields:
            self.fields["minimum"].label, self.fields["maximum"].label = self.kind.limit_labels
            for name in ("minimum", "maximum", "step"):
                if name in self.fields:
                    self.fields[name].widget.attrs["step"] = "any"
        if "scale" in self.fields:
            scales = [(scale.key, f"{next(iter(scale.name.values()))} ({scale.key})") for scale in questionnaire.scales]
            offer(self, "scale", [("", "none"), *scales])

    def _add_rows(self) -> None:
        """Add the choices, or the rows and the choices of a matrix."""
        own, fields = self.stored, self.kind.fields
        self.has_rows = "rows" in fields
        self.has_lines = self.has_rows or "choices" in fields
        fewest = 2 if self.has_lines and "expects" not in fields else 0
        entries = own.get("rows" if self.has_rows else "choices") or []
        self.lines = self._lines("line", entries, self.kind.mark, fewest) if self.has_lines else []
        self.choices_of_matrix = self._lines("cell", own.get("choices") or [], "", 0) if self.has_rows else []

    def _add_words(self, language: str, fields: Iterable[str]) -> None:
        name, own = language_name(language), self.stored

        def words(part: str) -> Any:
            return (own.get(part) or {}).get(language)

        def area(
            label: str, initial: Any, rows: int, help_text: str = "", *, is_required: bool = False
        ) -> forms.CharField:
            widget = forms.Textarea(attrs={"rows": rows, "lang": language})
            return words_field(label, initial=initial, required=is_required, help_text=help_text, widget=widget)

        self.fields[f"text_{language}"] = area(f"Question in {name}", words("text"), 2, is_required=True)
        self.fields[f"help_{language}"] = words_field(f"Help text, in {name}", initial=words("help"))
        if "ends" in fields:
            low, high = words("ends") or ("", "")
            self.fields[f"low_{language}"] = words_field(f"Label of the lowest point, in {name}", initial=low)
            self.fields[f"high_{language}"] = words_field(f"Label of the highest point, in {name}", initial=high)
        if "labels" in fields:
            labels = "\n".join(words("labels") or ())
            hint = "One per line, lowest first. Empty: only the ends are labelled."
            self.fields[f"labels_{language}"] = area(f"Labels of all points, in {name}", labels, 3, hint)
        if "unit" in fields:
            self.fields[f"unit_{language}"] = words_field(f"Unit, in {name}", initial=words("unit"))
        if "other" in fields:
            self.fields[f"other_{language}"] = words_field(
                f"Label of the free-text answer, in {name}", initial=words("other"), help_text="Empty for none."
            )
        for branch in own.get("wordings") or {}:
            case = self.consumed if branch == WATCHED else branch.replace("_", " ")
            self.fields[f"wording_{branch}_{language}"] = area(
                f"Wording where {case}, in {name}", own["wordings"][branch].get(language), 2, is_required=True
            )

    def _numbers(self, prefix: str, n_stored: int) -> Sequence[int]:
        posted = self.drafted if self.drafted is not None else self.data if self.is_bound else None
        return range(n_stored) if posted is None else row_numbers(posted, prefix)

    def _conditions(self) -> list[ConditionForm]:
        alternatives = as_alternatives(self.condition) if self.condition is not None else ()
        self.is_too_deep = alternatives is None
        stored = [initial_line(line) for line in alternatives or ()]
        return [
            ConditionForm(
                self.earlier,
                self.data if self.is_bound else None,
                prefix=f"if{number}",
                initial=stored[number] if number < len(stored) else None,
            )
            for number in self._numbers("if", len(stored))
            if self.earlier
        ]

    @property
    def empty_condition(self) -> ConditionForm:
        """The comparison that the page's script copies."""
        return ConditionForm(self.earlier, prefix=f"if{EMPTY}")

    def empty_line(self, prefix: str, mark: str) -> LineForm:
        """The row of a list that the page's script copies."""
        return LineForm(self.languages, mark, prefix=f"{prefix}{EMPTY}")

    def _lines(self, prefix: str, entries: Sequence[Mapping[str, Any]], mark: str, fewest: int) -> list[LineForm]:
        forms_ = []
        for number in self._numbers(prefix, max(fewest, len(entries))):
            initial: dict[str, Any] = {}
            if number < len(entries):
                entry = entries[number]
                words = entry.get("text") or entry.get("label") or {}
                initial = {
                    "key": entry.get("key", entry.get("value")),
                    "mark": entry.get("reversed", entry.get("exclusive", False)),
                    **{f"text_{language}": text for language, text in words.items()},
                }
            data = self.data if self.is_bound else None
            forms_.append(LineForm(self.languages, mark, data, prefix=f"{prefix}{number}", initial=initial))
        return forms_

    @property
    def row_lists(self) -> list[RowList]:
        """The lists of the form: choices or rows, and comparisons."""
        noun = "row" if self.has_rows else "choice"
        lists = [RowList("line", f"{noun.title()}s", noun, self.lines, self.empty_line("line", self.kind.mark))]
        if self.has_rows:
            title = "Choices, instead of scale points"
            lists.append(RowList("cell", title, "choice", self.choices_of_matrix, self.empty_line("cell", "")))
        return lists if self.has_lines else []

    @property
    def condition_list(self) -> RowList | None:
        """The comparisons of the condition; None if there is no earlier question."""
        if not self.earlier:
            return None
        return RowList("if", "Shown if", "comparison", self.conditions, self.empty_condition)

    def is_valid(self) -> bool:
        """Whether every field of the form and its lines is valid."""
        return all([super().is_valid(), *(part.is_valid() for part in self.parts[1:])])

    @property
    def parts(self) -> list[forms.Form]:
        """The form itself, then its rows."""
        return [self, *self.lines, *self.choices_of_matrix, *self.conditions]

    @property
    def languages_side_by_side(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The text fields, one column per language."""
        return [
            (language_name(language), [field for field in self if field.name.endswith(f"_{language}")])
            for language in self.languages
        ]

    @property
    def plain_fields(self) -> list[forms.BoundField]:
        """The fields that do not depend on a language."""
        ends = tuple(f"_{language}" for language in self.languages)
        return [field for field in self if not field.name.endswith(ends)]

    def question(self) -> dict[str, Any]:
        """The question as a document; properties the form does not show are kept."""
        cleaned = self.cleaned_data
        document: dict[str, Any] = {"key": cleaned["key"], "kind": self.kind.kind, "text": self._words("text")}
        for name in ("help", "unit", "other"):
            if words := self._words(name):
                document[name] = words
        if not cleaned["required"]:
            document["required"] = False
        for name in ("may_decline", "identifies", "random_order", "reversed"):
            if cleaned.get(name):
                document[name] = True
        for name in ("random_group", "scale"):
            if cleaned.get(name):
                document[name] = cleaned[name]
        for name in ("minimum", "maximum", "step", "decimals", "max_length"):
            value = cleaned.get(name)
            if value is not None and (value or name != "decimals"):
                document[name] = int(value) if float(value).is_integer() else value
        if "step" in document and document["step"] == 1:
            del document["step"]
        self._add_labels(document)
        self._add_lists(document)
        if cleaned.get("expects"):
            raw = cleaned["expects"].strip()
            document["expects"] = int(raw) if raw.isdecimal() and not document.get("choices") else raw
        if "wordings" in self.stored:
            document["wordings"] = {branch: self._words(f"wording_{branch}") for branch in self.stored["wordings"]}
        if "admits" in self.stored:
            document["admits"] = self.stored["admits"]
        self._add_condition(document)
        # Keep the order of the stored fields, so that the document changes only where the question does.
        order = {name: position for position, name in enumerate(self.stored)}
        return dict(sorted(document.items(), key=lambda pair: order.get(pair[0], len(order))))

    def _words(self, name: str) -> dict[str, str]:
        cleaned = self.cleaned_data
        # Browsers send a line break as two characters; the design is hashed with one.
        texts = {language: cleaned.get(f"{name}_{language}") or "" for language in self.languages}
        return {language: text.replace("\r\n", "\n") for language, text in texts.items() if text}

    def _add_labels(self, document: dict[str, Any]) -> None:
        low, high = self._words("low"), self._words("high")
        ends = {language: [low.get(language, ""), high.get(language, "")] for language in {*low, *high}}
        if ends:
            document["ends"] = {language: ends[language] for language in self.languages if language in ends}
        labels = {language: text.splitlines() for language, text in self._words("labels").items()}
        if labels:
            document["labels"] = labels

    def _add_lists(self, document: dict[str, Any]) -> None:
        lines = [entry for entry in (line.parsed() for line in self.lines) if entry is not None]
        if self.has_rows:
            document["rows"] = [
                {"key": key, "text": texts, **({"reversed": True} if mark else {})} for key, texts, mark in lines
            ]
            lines = [entry for entry in (line.parsed() for line in self.choices_of_matrix) if entry is not None]
        if lines and self.has_lines:
            document["choices"] = [
                {"value": key, "label": texts, **({"exclusive": True} if mark else {})} for key, texts, mark in lines
            ]

    def _add_condition(self, document: dict[str, Any]) -> None:
        lines = [entry for entry in (line.parsed() for line in self.conditions) if entry is not None]
        if self.is_too_deep and not lines:
            document["shown_if"] = self.stored["shown_if"]
        elif (condition := from_alternatives(lines)) is not None:
            same = self.condition is not None and condition == self.condition
            document["shown_if"] = self.stored["shown_if"] if same else condition.as_data()
