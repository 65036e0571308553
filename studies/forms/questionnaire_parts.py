"""Small forms of the questionnaire's editor: a new question, a scale, attention, a shipped block, a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from studies.presets.blocks import block_keys, load_block
from studies.questionnaires.questions import (
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
from studies.questionnaires.schema import AFTER, BLOCKS
from studies.selectors.texts import language_name

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
    """Where a new question goes, and of what kind it is."""

    block = forms.ChoiceField(choices=[(key, BLOCK_LABELS[key]) for key in BLOCKS], initial=AFTER)
    kind = forms.ChoiceField(choices=list(KIND_LABELS.items()))


class ScaleForm(forms.Form):
    """A scale: its key, its name in each language, and how much of it has to be answered."""

    key = forms.SlugField(max_length=40)
    least_answered = forms.IntegerField(
        label="Least share to be answered (percent)", min_value=1, max_value=100, initial=50
    )

    def __init__(self, languages: Sequence[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.languages = languages
        for language in languages:
            name = language_name(language)
            self.fields[f"name_{language}"] = forms.CharField(label=f"Name in {name}", max_length=200)

    def scale(self) -> dict[str, Any]:
        """The scale as a document holds it."""
        said = self.cleaned_data
        names = {language: said[f"name_{language}"] for language in self.languages}
        return {"key": said["key"], "name": names, "least_answered": said["least_answered"] / 100}


class AttentionForm(forms.Form):
    """After how many failed attention checks somebody's part ends."""

    ends_after = forms.IntegerField(
        label="Failed attention checks that end somebody's part", min_value=0, max_value=100,
        help_text="0: nobody's; failures are flagged all the same.",
    )  # fmt: skip


class BlockForm(forms.Form):
    """A shipped block to add."""

    name = forms.ChoiceField(label="Block of questions")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(key, f"{load_block(key).title}: {load_block(key).description}") for key in block_keys()]
        self.fields["name"].choices = choices  # type: ignore[attr-defined]


class ImportForm(forms.Form):
    """A YAML document to read."""

    file = forms.FileField(label="YAML document")
