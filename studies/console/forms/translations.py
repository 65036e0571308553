"""The form of a questionnaire's translation: one field for each text, beside the text in the source language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from studies.console.forms.question_lines import words_field
from studies.console.forms.questionnaire_parts import PART_LABELS
from studies.instrument.questionnaires.wording import Wording

LONG = 70  # characters; a longer text gets a field of several lines


@dataclass(frozen=True)
class Pair:
    """A text and the field of its translation."""

    text: Wording
    source: str
    translation: str  # empty if it is missing
    is_missing: bool
    field: forms.BoundField


@dataclass(frozen=True)
class Part:
    """A block of the questionnaire, or its scales."""

    key: str
    name: str
    pairs: Sequence[Pair]

    @property
    def n_missing(self) -> int:
        """The number of texts without a translation."""
        return sum(pair.is_missing for pair in self.pairs)


class TranslationForm(forms.Form):
    """The texts of a questionnaire in one language."""

    def __init__(self, wordings: Iterable[Wording], source: str, language: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.languages = source, language
        self.wordings = [text for text in wordings if text.text(source) or text.text(language)]
        for text in self.wordings:
            n_lines = 2 if max(len(text.text(each)) for each in self.languages) > LONG else 1
            widget = forms.Textarea(attrs={"rows": n_lines, "lang": language})
            self.fields[text.name] = words_field(text.label, initial=text.text(language), widget=widget)

    @property
    def parts(self) -> list[Part]:
        """The texts with their fields, block by block."""
        parts = [
            Part(key, name, [self._pair(text) for text in self.wordings if text.block == key])
            for key, name in PART_LABELS.items()
        ]
        return [part for part in parts if part.pairs]

    def _pair(self, text: Wording) -> Pair:
        source, language = self.languages
        is_missing = text.is_missing(source, language)
        return Pair(text, text.text(source), text.text(language), is_missing, self[text.name])

    def texts(self) -> dict[str, str]:
        """Names of texts to their translations."""
        # Browsers send a line break as two characters; the design is hashed with one.
        return {name: str(text).replace("\r\n", "\n") for name, text in self.cleaned_data.items()}
