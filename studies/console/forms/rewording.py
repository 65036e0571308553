"""The form that corrects the wording of a running study: a field for each text, or the questionnaire as a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django import forms

from catalog.item_types import FALLBACK_LANGUAGE
from core.provenance import digest_of
from studies.console.forms.question_lines import LONGEST_WORDING
from studies.console.forms.questionnaire_parts import PART_LABELS
from studies.console.forms.texts import why_field, written_text
from studies.design.selectors.placeholders import item_words
from studies.design.selectors.texts import language_name
from studies.instrument.questionnaires.document import LONGEST_DOCUMENT, write_document
from studies.instrument.questionnaires.wording import Wording, with_wordings, wordings_of
from studies.models import Study

LINE = 40  # characters in a line of a narrow field
MOST_LINES = 6


@dataclass(frozen=True)
class QuestionFields:
    """The fields of a question or scale."""

    name: str  # unique in the form
    key: str
    title: str  # its wording in the study's first language
    rows: Sequence[Sequence[forms.BoundField]]  # for each wording its field in each language
    is_open: bool  # whether a field has an error or another text than before


@dataclass(frozen=True)
class Part:
    """A block of the questionnaire, or its scales."""

    name: str
    questions: Sequence[QuestionFields]


def _key(wording: Wording, language: str) -> str:
    return f"{wording.name}.{language}"


class RewordForm(forms.Form):
    """The wording of each question and scale in the study's languages, and the reason for the change.

    A field that is not posted stays as it is. The document replaces the fields if it differs from the stored one.
    """

    base = forms.CharField(required=False, widget=forms.HiddenInput)  # digest of the questionnaire that was shown

    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(data, prefix="words")
        self.before = study.questionnaire
        self.languages = tuple(study.design.languages)
        consumed = item_words(study.design, FALLBACK_LANGUAGE).consumed
        self.wordings = list(wordings_of(self.before, consumed=consumed))
        self.texts: dict[str, dict[str, str]] = {}  # changed texts by language and name of the wording
        self.document: str | None = None  # the document, if it is changed
        self.initial["base"] = digest_of(self.before)
        for wording in self.wordings:
            for language in self.languages:
                self.fields[_key(wording, language)] = _text_field(wording, language)
        self.fields["document"] = forms.CharField(
            required=False,
            label="Questionnaire as YAML",
            max_length=LONGEST_DOCUMENT,
            widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false", "class": "document"}),
            initial=write_document(self.before),
        )
        self.fields["why"] = why_field()

    def clean(self) -> dict[str, Any]:
        """Find what is changed; a text that was there cannot be emptied, except a help text in every language."""
        for wording in self.wordings:
            self._compare(wording)
        if self.cleaned_data.get("base", "") not in ("", self.initial["base"]):
            self.add_error(
                None,
                "The questionnaire has changed since you opened this page. Open the page again and repeat your "
                "corrections.",
            )
            return self.cleaned_data
        before = str(self.fields["document"].initial)
        document = self._entered("document", before)
        self.document = None if document == before else document
        if self.document is not None and self.texts:
            self.add_error("document", "You changed both the fields and this document. Undo one of the changes.")
        return self.cleaned_data

    def _entered(self, name: str, before: str) -> str:
        """Return the text of a field; as before if it is not posted or not valid."""
        is_entered = self.add_prefix(name) in self.data and name in self.cleaned_data
        return written_text(str(self.cleaned_data[name]), before) if is_entered else before

    def _compare(self, wording: Wording) -> None:
        entered = {
            language: self._entered(_key(wording, language), wording.text(language)) for language in self.languages
        }
        changed = {language: text for language, text in entered.items() if text != wording.text(language)}
        is_removed = bool(changed) and wording.may_be_empty and not any(entered.values())
        if is_removed:  # in languages that the study does not offer, too
            changed = dict.fromkeys(wording.by_language, "")
        for language, text in changed.items():
            self.texts.setdefault(language, {})[wording.name] = text
            if not text and not is_removed:
                rest = ", or leave it empty in every language" if wording.may_be_empty else ""
                self.add_error(_key(wording, language), f"Enter a text{rest}.")

    def questionnaire(self) -> dict[str, Any]:
        """The questionnaire with the texts of the fields."""
        return with_wordings(self.before, self.texts)

    @property
    def parts(self) -> list[Part]:
        """The fields by block and question, in the order of the questionnaire."""
        parts = groupby(self.wordings, key=lambda wording: wording.block)
        return [Part(PART_LABELS.get(block, block), self._questions(list(wordings))) for block, wordings in parts]

    def _questions(self, wordings: Sequence[Wording]) -> list[QuestionFields]:
        questions = []
        for key, group in groupby(wordings, key=lambda wording: wording.key):
            own = list(group)
            rows = [[self[_key(wording, language)] for language in self.languages] for wording in own]
            is_changed = any(wording.name in texts for wording in own for texts in self.texts.values())
            is_open = is_changed or any(field.errors for row in rows for field in row)
            title = own[0].text(self.languages[0])
            questions.append(QuestionFields(f"{own[0].block}-{key}", key, title, rows, is_open))
        return questions


def _text_field(wording: Wording, language: str) -> forms.CharField:
    """The field of a wording in a language; the form checks whether it may be empty."""
    text = wording.text(language)
    n_lines = min(1 + len(text) // LINE, MOST_LINES)
    return forms.CharField(
        label=f"{wording.label}, {language_name(language)}",
        required=False,
        max_length=max(LONGEST_WORDING, len(text)),
        widget=forms.Textarea(attrs={"rows": n_lines, "cols": False, "lang": language}),
        initial=text,
    )
