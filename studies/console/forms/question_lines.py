"""Lines of a question's form: a choice or a row with its wording, or a comparison of its condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from core.form_fields import offer
from studies.design.selectors.texts import language_name
from studies.instrument.questionnaires.conditions import IN_WORDS, Alternative, Test
from studies.instrument.questionnaires.questions import Question

RELATION_LABELS = IN_WORDS | {"one_of": "is one of (separated by commas)", "answered": "is answered (yes or no)"}
LONGEST_WORDING = 2000


def words_field(label: str, *, required: bool = False, **facts: Any) -> forms.CharField:
    """A text field in one language."""
    return forms.CharField(label=label, required=required, max_length=LONGEST_WORDING, **facts)


class LineForm(forms.Form):
    """One line of a list: a choice, or a row of a matrix; empty lines are ignored."""

    key = forms.CharField(required=False, max_length=60, label="Key")
    mark = forms.BooleanField(required=False)

    def __init__(self, languages: Sequence[str], mark: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.languages = languages
        self.fields["mark"].label = mark
        if not mark:
            self.fields["mark"].widget = forms.HiddenInput()
        for language in languages:
            self.fields[f"text_{language}"] = words_field(language_name(language))
        self.order_fields(["key", *(f"text_{language}" for language in languages), "mark"])

    def parsed(self) -> tuple[str, dict[str, str], bool] | None:
        """The key, the wording by language and the mark; None for an empty line."""
        cleaned = self.cleaned_data
        texts = {language: cleaned.get(f"text_{language}", "") for language in self.languages}
        texts = {language: text for language, text in texts.items() if text}
        key = cleaned.get("key", "").strip()
        return (key, texts, cleaned["mark"]) if key or texts else None


class ConditionForm(forms.Form):
    """One comparison of a condition; empty lines are ignored."""

    group = forms.IntegerField(min_value=1, max_value=9, initial=1, required=False, label="Group")
    negated = forms.BooleanField(required=False, label="Not")
    question = forms.ChoiceField(required=False, label="Question")
    relation = forms.ChoiceField(required=False, choices=list(RELATION_LABELS.items()), label="Compared")
    value = forms.CharField(required=False, max_length=200, label="Answer")

    def __init__(self, earlier: Mapping[str, Question], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.earlier = earlier
        names = []
        for key, question in earlier.items():
            rows = [f"{key}.{row.key}" for row in question.rows] or [key]
            names += [(name, name) for name in rows]
        offer(self, "question", [("", "—"), *names])

    def parsed(self) -> Alternative | None:
        """The comparison; None for an empty line."""
        cleaned = self.cleaned_data
        name = cleaned.get("question")
        if not name:
            return None
        key, _dot, row = name.partition(".")
        question, relation = self.earlier[key], cleaned["relation"] or "equals"
        raw = cleaned["value"].strip()
        value: Any = _value_for(question, relation, raw)
        return Alternative(cleaned["group"] or 1, cleaned["negated"], Test(key, relation, value, row))


def _value_for(question: Question, relation: str, raw: str) -> Any:
    """The typed value as an answer; an invalid value stays as typed, for validation to report."""
    if relation == "answered":
        return raw.lower() not in ("no", "false", "0")
    if relation == "one_of":
        return tuple(_value_for(question, "equals", part.strip()) for part in raw.split(",") if part.strip())
    if question.fixed_answers:
        parsed = question.parsed(raw.lower())
        return raw if isinstance(parsed, str) else parsed
    if question.is_numeric:
        try:
            number = float(raw.replace(",", "."))
        except ValueError:
            return raw
        return int(number) if number.is_integer() else number
    return raw


def initial_line(line: Alternative) -> dict[str, Any]:
    """The initial values of a `ConditionForm` for a stored comparison."""
    test = line.test
    values = test.value if test.relation == "one_of" else (test.value,)
    words = ", ".join({True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value) for value in values)
    name = f"{test.question}.{test.row}" if test.row else test.question
    comparison = {"question": name, "relation": test.relation, "value": words}
    return {"group": line.group, "negated": line.is_negated, **comparison}
