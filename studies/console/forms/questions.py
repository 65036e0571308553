"""The form of a question in the editor: its fields, with the languages side by side, and the resulting document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.urls import reverse

from catalog.item_types import FALLBACK_LANGUAGE
from core.form_fields import offer
from studies.console.forms.question_lines import ConditionForm, LineForm, initial_line, words_field
from studies.console.forms.row_lists import RowList, RowsForm
from studies.design.selectors.placeholders import item_words
from studies.design.selectors.texts import language_name
from studies.design.services.questionnaires import save_question
from studies.instrument.flow import questionnaire_of
from studies.instrument.measures import WATCHED
from studies.instrument.questionnaires.conditions import as_alternatives, from_alternatives
from studies.instrument.questionnaires.core import is_measured
from studies.instrument.questionnaires.kinds import KINDS
from studies.instrument.questionnaires.reading import COMMON
from studies.instrument.questionnaires.schema import Questionnaire, blocks_in, earlier_questions
from studies.models import Study

LINES, CELLS, CONDITIONS = "line", "cell", "if"  # the lists: choices or rows, choices of a matrix, comparisons
Fields = tuple[list[BoundField], list[BoundField]]
# Folded where they are not set
RARE = frozenset(
    {
        "help", "labels", "unit", "other", "may_decline", "identifies", "random_group", "random_order", "reversed",
        "decimals", "max_length",
    }
)  # fmt: skip


def question_of(study: Study, key: str) -> tuple[str, dict[str, Any]]:
    """Return the block of a question and its document; both are empty if there is no such question."""
    for block in blocks_in(study.questionnaire):
        for question in study.questionnaire.get(block, ()):
            if question["key"] == key:
                return block, question
    return "", {}


class QuestionForm(RowsForm):
    """All properties of a question of one kind but its key; the service validates their combination."""

    minimum = forms.FloatField(required=False)
    maximum = forms.FloatField(required=False)
    every = forms.FloatField(required=False, initial=1, label="Step")  # "step" is the name of the buttons of rows
    expects = forms.CharField(
        required=False,
        max_length=60,
        label="Expected answer",
        help_text="The point, or the value of the choice, that passes. Participants never see it.",
    )
    scale = forms.ChoiceField(required=False)
    required = forms.BooleanField(required=False, initial=True, label="An answer is required")
    reversed = forms.BooleanField(required=False, label="Reverse-scored: a high answer means a low value")
    may_decline = forms.BooleanField(required=False, label="Offer “I prefer not to say”")
    random_order = forms.BooleanField(required=False, label="Shuffle for each participant")
    random_group = forms.SlugField(
        required=False,
        max_length=40,
        label="Random group",
        help_text="Neighbouring questions of the same group are shuffled for each participant.",
    )
    decimals = forms.IntegerField(required=False, min_value=0, max_value=6, initial=0)
    max_length = forms.IntegerField(required=False, min_value=1, max_value=5000, label="Longest text, in characters")
    identifies = forms.BooleanField(
        required=False,
        label="The answer identifies a person",
        help_text="Such as an e-mail address for a draw. Exports omit it unless an owner requests identifying "
        "data, and it is erased with the external ids.",
    )

    def __init__(self, study: Study, data: Any = None, *, key: str, block: str = "", kind: str = "") -> None:
        """`block` and `kind` are those of a question that is not stored yet."""
        questionnaire = questionnaire_of(study)
        home, stored = question_of(study, key)
        self.key, self.block, self.is_new = key, home or block, not stored
        self.kind = KINDS[stored.get("kind", kind)]
        self.stored: Mapping[str, Any] = stored or dict(zip(("minimum", "maximum"), self.kind.new_limits, strict=False))
        self.languages = list(study.design.languages)
        self.consumed = item_words(study.design, FALLBACK_LANGUAGE).consumed
        self.is_measured = is_measured(self.block, key, study.design.plan.tested)
        initial: dict[str, Any] = {name: self.stored[name] for name in self.base_fields if name in self.stored}
        if "step" in self.stored:
            initial["every"] = self.stored["step"]
        super().__init__(study, data, initial=initial)
        self._keep_fields(questionnaire)
        self.plain_names = list(self.fields)
        for language in self.languages:
            self._add_words(language)
        self.condition = next((each.shown_if for each in questionnaire.block(self.block) if each.key == key), None)
        self.answer_lists = self._answer_lists()
        earlier = earlier_questions(questionnaire, self.block, "" if self.is_new else key)
        self.condition_list = self._condition_list(partial(ConditionForm, earlier)) if earlier else None
        self.row_lists = [*self.answer_lists, *filter(None, [self.condition_list])]
        self.show_drafted()

    def _keep_fields(self, questionnaire: Questionnaire) -> None:
        """Remove the fields that a question of this kind does not have, and label the others."""
        own = {"every" if name == "step" else name for name in self.kind.fields}
        for name in set(self.fields) - COMMON - own:
            del self.fields[name]
        if "expects" in self.kind.fields or self.is_measured:
            del self.fields["identifies"]
        if "minimum" in self.fields:
            self.fields["minimum"].label, self.fields["maximum"].label = self.kind.limit_labels
            for name in {"minimum", "maximum", "every"} & self.fields.keys():
                self.fields[name].widget.attrs["step"] = "any"
        if "scale" in self.fields:
            scales = [(scale.key, f"{next(iter(scale.name.values()))} ({scale.key})") for scale in questionnaire.scales]
            offer(self, "scale", [("", "none"), *scales])

    def _add_words(self, language: str) -> None:
        name, own, fields = language_name(language), self.stored, self.kind.fields

        def words(part: str) -> Any:
            return (own.get(part) or {}).get(language)

        def area(label: str, initial: Any, help_text: str = "", *, is_required: bool = False) -> forms.CharField:
            attrs = {"rows": 2, "lang": language, "placeholder": " "}  # styled while it is empty
            widget = forms.Textarea(attrs=attrs)
            return words_field(label, initial=initial, required=is_required, help_text=help_text, widget=widget)

        is_first = language == self.languages[0]
        self.fields[f"text_{language}"] = area(f"Question in {name}", words("text"), is_required=is_first)
        if "ends" in fields:
            low, high = words("ends") or ("", "")
            for end, initial, label in (("low", low, "Lowest point"), ("high", high, "Highest point")):
                widget = forms.TextInput(attrs={"lang": language, "placeholder": label})
                self.fields[f"{end}_{language}"] = words_field(f"{label} in {name}", initial=initial, widget=widget)
        for branch in own.get("wordings") or {}:
            case = self.consumed if branch == WATCHED else branch.replace("_", " ")
            label = f"Wording where {case}, in {name}"
            initial = own["wordings"][branch].get(language)
            self.fields[f"wording_{branch}_{language}"] = area(label, initial, is_required=is_first)
        if "labels" in fields:
            labels = "\n".join(words("labels") or ())
            hint = "One per line, lowest first. Empty: only the ends are labelled."
            self.fields[f"labels_{language}"] = area(f"Labels of all points in {name}", labels, hint)
        for part, label in {"help": "Help text", "unit": "Unit", "other": "Free-text answer"}.items():
            if part in fields | COMMON:
                self.fields[f"{part}_{language}"] = words_field(f"{label} in {name}", initial=words(part))

    def _answer_lists(self) -> list[RowList]:
        """The choices, or the rows and the choices of a matrix."""
        fields, mark = self.kind.fields, self.kind.mark
        choices, rows = (
            [_initial_entry(entry) for entry in self.stored.get(name) or ()] for name in ("choices", "rows")
        )
        if "rows" in fields:
            line, cell = partial(LineForm, self.languages, mark), partial(LineForm, self.languages, "")
            title = "Choices, instead of scale points"
            return [
                self.row_list(LINES, "row", "Rows", line, rows, fewest=2),
                self.row_list(CELLS, "choice", title, cell, choices),
            ]
        fewest = 0 if "expects" in fields else 2
        make = partial(LineForm, self.languages, mark)
        return [self.row_list(LINES, "choice", "Choices", make, choices, fewest=fewest)] if "choices" in fields else []

    def _condition_list(self, make: Callable[..., Any]) -> RowList:
        alternatives = as_alternatives(self.condition) if self.condition is not None else ()
        self.is_too_deep = alternatives is None
        entries = [initial_line(line) for line in alternatives or ()]
        return self.row_list(CONDITIONS, "comparison", "Shown if", make, entries)

    def amendments(self) -> dict[str, str]:
        url = f"{reverse('studies:versions', args=[self.study.slug])}#words"
        return {f"text_{language}": url for language in self.languages}

    def save(self, actor: Any) -> None:
        question = self.question()
        if question != self.stored:
            save_question(study=self.study, block=self.block, question=question, actor=actor)

    @property
    def by_language(self) -> list[Fields]:
        """The text fields of each language: those that are shown, and those that are folded."""
        ends = [f"_{language}" for language in self.languages]
        return [self._split([name for name in self.fields if name.endswith(end)], end) for end in ends]

    @property
    def plain_fields(self) -> Fields:
        """As `by_language`, the fields that do not depend on a language."""
        return self._split(self.plain_names)

    def _split(self, names: Collection[str], end: str = "") -> Fields:
        rare = {f"{name}{end}" for name in RARE if not self.stored.get(name)}
        return [self[name] for name in names if name not in rare], [self[name] for name in names if name in rare]

    def question(self) -> dict[str, Any]:
        """The question as a document; properties the form does not show are kept."""
        cleaned = self.cleaned_data
        document: dict[str, Any] = {"key": self.key, "kind": self.kind.kind, "text": self._words("text")}
        document |= {name: words for name in ("help", "unit", "other") if (words := self._words(name))}
        if not cleaned["required"]:
            document["required"] = False
        set_alone = ("may_decline", "identifies", "random_order", "reversed", "random_group", "scale")
        document |= {name: cleaned[name] for name in set_alone if cleaned.get(name)}
        numbers = {name: cleaned.get(name) for name in ("minimum", "maximum", "decimals", "max_length")}
        for name, value in {**numbers, "step": cleaned.get("every")}.items():
            if value is not None and (name, value) not in (("decimals", 0), ("step", 1)):
                document[name] = int(value) if float(value).is_integer() else value
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
        if ends := [code for code in self.languages if code in low or code in high]:
            document["ends"] = {code: [low.get(code, ""), high.get(code, "")] for code in ends}
        labels = {language: text.splitlines() for language, text in self._words("labels").items()}
        if labels:
            document["labels"] = labels

    def _entries(self, prefix: str) -> list[Any]:
        rows: Iterable[Any] = next((each.rows for each in self.row_lists if each.prefix == prefix), ())
        return [entry for entry in (row.parsed() for row in rows) if entry is not None]

    def _add_lists(self, document: dict[str, Any]) -> None:
        choices = self._entries(LINES)
        if "rows" in self.kind.fields:
            document["rows"] = [
                {"key": key, "text": texts, **({"reversed": True} if mark else {})} for key, texts, mark in choices
            ]
            choices = self._entries(CELLS)
        if choices:
            document["choices"] = [
                {"value": key, "label": texts, **({"exclusive": True} if mark else {})} for key, texts, mark in choices
            ]

    def _add_condition(self, document: dict[str, Any]) -> None:
        lines = self._entries(CONDITIONS)
        if self.condition_list and self.is_too_deep and not lines:
            document["shown_if"] = self.stored["shown_if"]
        elif (condition := from_alternatives(lines)) is not None:
            same = self.condition is not None and condition == self.condition
            document["shown_if"] = self.stored["shown_if"] if same else condition.as_data()


def _initial_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The initial values of a `LineForm` for a stored choice or row."""
    words = entry.get("text") or entry.get("label") or {}
    return {
        "key": entry.get("key", entry.get("value")),
        "mark": entry.get("reversed", entry.get("exclusive", False)),
        **{f"text_{language}": text for language, text in words.items()},
    }
