"""Forms of the participant pages, made from the study's questionnaire."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from studies.questionnaires import schema

YES, NO = "yes", "no"
_WHOLE = re.compile(r"-?[0-9]{1,9}")
AUTOCOMPLETE = {"age": "off", "nationality": "country-name", "gender": "sex"}


def said(texts: Mapping[str, Any], language: str) -> Any:
    """Return the wording in the participant's language, else the first that the researcher wrote."""
    return texts.get(language) or next(iter(texts.values()), "")


class AboutForm(forms.Form):
    """Facts about the participant: one field for each question of the block "about"."""

    def __init__(self, questions: tuple[schema.Question, ...], language: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.questions = questions
        self.label_suffix = ""
        for question in questions:
            field = self.fields[question.key] = self._field(question, language)
            # Read by the page, which hides the field until the answer before it asks for it.
            field.shown_if = "=".join(map(str, question.shown_if or ()))  # type: ignore[attr-defined]

    def _field(self, question: schema.Question, language: str) -> forms.Field:
        common: dict[str, Any] = {
            "label": said(question.text, language),
            "help_text": said(question.help, language),
            "required": question.required and question.shown_if is None,
        }
        hints = {"autocomplete": AUTOCOMPLETE.get(question.key, "off")}
        if question.kind == schema.YES_NO:
            return forms.TypedChoiceField(
                choices=[(YES, _("Yes")), (NO, _("No"))], coerce=lambda value: value == YES, empty_value=None,
                widget=forms.RadioSelect, **common,
            )  # fmt: skip
        if question.kind == schema.CHOICE:
            offered = [(choice.value, said(choice.label, language)) for choice in question.choices]
            return forms.ChoiceField(choices=[("", "—"), *offered], widget=forms.Select(attrs=hints), **common)
        if question.kind in (schema.NUMBER, schema.LIKERT):
            widget = forms.NumberInput(attrs={**hints, "inputmode": "numeric"})
            return forms.IntegerField(min_value=question.minimum, max_value=question.maximum, widget=widget, **common)
        return forms.CharField(max_length=question.max_length, widget=forms.TextInput(attrs=hints), **common)

    def answers(self) -> dict[str, Any]:
        """Return what was answered by question key; what was left empty is not among it."""
        return {key: value for key, value in self.cleaned_data.items() if value not in (None, "")}


def whole_number(raw: str) -> int | None:
    """Return the whole number that a form or an address says, or None where it says none.

    `str.isdigit` would let "²" through, and a text of thousands of digits: int refuses both.
    """
    return int(raw) if _WHOLE.fullmatch(raw) else None


def value_of(question: schema.Question, raw: str) -> Any:
    """Return a radio button's or text field's raw value as the answer it stands for."""
    if question.kind == schema.YES_NO:
        return {YES: True, NO: False}.get(raw, raw)
    if question.kind in (schema.LIKERT, schema.NUMBER):
        number = whole_number(raw)
        return raw if number is None else number
    return raw
