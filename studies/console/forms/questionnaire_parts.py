"""Small forms of the questionnaire's editor: a new question, a scale, attention, a predefined block, a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from studies.design.presets.blocks import block_keys, load_block
from studies.design.selectors.texts import language_name
from studies.instrument.questionnaires.questions import (
    ATTENTION,
    CHOICE,
    LIKERT,
    LONG_TEXT,
    MATRIX,
    MULTIPLE,
    NUMBER,
    SLIDER,
    TEXT,
    YES_NO,
)
from studies.instrument.questionnaires.schema import AFTER, BLOCKS

KIND_LABELS = {
    LIKERT: "Likert scale", YES_NO: "Yes or no", CHOICE: "One choice", MULTIPLE: "Several choices",
    NUMBER: "Number", TEXT: "Short text", LONG_TEXT: "Long text", SLIDER: "Slider", MATRIX: "Matrix",
    ATTENTION: "Attention check",
}  # fmt: skip
BLOCK_LABELS = {
    "about": "About the person", "items": "About each recommended item", "overall": "About the list",
    "after": "After the list",
}  # fmt: skip


class NewQuestionForm(forms.Form):
    """The block and the kind of a new question."""

    block = forms.ChoiceField(choices=[(key, BLOCK_LABELS[key]) for key in BLOCKS], initial=AFTER)
    kind = forms.ChoiceField(choices=list(KIND_LABELS.items()))


class ScaleForm(forms.Form):
    """A scale: its key, its name in each language, and the smallest share that has to be answered."""

    key = forms.SlugField(max_length=40)
    least_answered = forms.IntegerField(
        label="Minimum share answered (percent)", min_value=1, max_value=100, initial=50
    )

    def __init__(self, languages: Sequence[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.languages = languages
        for language in languages:
            name = language_name(language)
            self.fields[f"name_{language}"] = forms.CharField(label=f"Name in {name}", max_length=200)

    def scale(self) -> dict[str, Any]:
        """The scale as a document."""
        cleaned = self.cleaned_data
        names = {language: cleaned[f"name_{language}"] for language in self.languages}
        return {"key": cleaned["key"], "name": names, "least_answered": cleaned["least_answered"] / 100}


class AttentionForm(forms.Form):
    """The number of failed attention checks that ends participation."""

    ends_after = forms.IntegerField(
        label="Failed attention checks that end participation", min_value=0, max_value=100,
        help_text="0: never; failures are still flagged.",
    )  # fmt: skip


class BlockForm(forms.Form):
    """A predefined block to add."""

    name = forms.ChoiceField(label="Block of questions")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(key, f"{load_block(key).title}: {load_block(key).description}") for key in block_keys()]
        self.fields["name"].choices = choices  # type: ignore[attr-defined]


class ImportForm(forms.Form):
    """A YAML document to read."""

    file = forms.FileField(label="YAML document")
