"""Small forms of the questionnaire's editor: a new question, a scale, attention, a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from core.form_fields import offer
from studies.console.forms.stage_form import StageForm
from studies.design.selectors.texts import language_name
from studies.design.services.questionnaires import set_attention
from studies.instrument.flow import blocks_of, questionnaire_of
from studies.instrument.questionnaires.document import LONGEST_DOCUMENT
from studies.instrument.questionnaires.kinds import KINDS
from studies.instrument.questionnaires.schema import AFTER
from studies.models import Study

COMMONEST = ("likert", "yes_no", "choice", "multiple")  # kinds that are offered first
BLOCK_LABELS = {
    "about": "About the person",
    "items": "About each recommended item",
    "overall": "About the list",
    "after": "After the list",
}
PART_LABELS = {**BLOCK_LABELS, "scales": "Scales"}


class NewQuestionForm(forms.Form):
    """The block and the kind of a new question."""

    block = forms.ChoiceField(initial=AFTER)
    kind = forms.ChoiceField(choices=[(kind, KINDS[kind].label) for kind in dict.fromkeys((*COMMONEST, *KINDS))])

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "block", [(key, BLOCK_LABELS.get(key, key)) for key in blocks_of(study.design)])


class ScaleForm(forms.Form):
    """A scale: its key, its name in each language, and the smallest share that has to be answered."""

    key = forms.SlugField(max_length=40)
    least_answered = forms.IntegerField(
        label="Minimum share answered (percent)", min_value=1, max_value=100, initial=50
    )
    lowest = forms.FloatField(required=False, label="Lowest score")
    highest = forms.FloatField(
        required=False,
        label="Highest score",
        help_text="Such as 0 and 100. If both are empty, the score has the range of the answers.",
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
        scale = {"key": cleaned["key"], "name": names, "least_answered": cleaned["least_answered"] / 100}
        ends = [cleaned["lowest"], cleaned["highest"]]
        return scale if ends == [None, None] else {**scale, "score_range": ends}


class AttentionForm(StageForm):
    """The number of failed attention checks that ends participation."""

    ends_after = forms.IntegerField(
        label="Failed attention checks that end participation",
        min_value=0,
        max_value=100,
        help_text="0: never; failures are still flagged.",
    )

    def __init__(self, study: Study, data: Any = None) -> None:
        ends_after = questionnaire_of(study).attention_ends_after
        super().__init__(study, data, initial={"ends_after": ends_after})

    def save(self, actor: Any) -> None:
        set_attention(study=self.study, actor=actor, **self.cleaned_data)


class ImportForm(forms.Form):
    """A YAML document: a file, or its text as it was checked. `base` is the digest of the questionnaire then."""

    file = forms.FileField(required=False, label="YAML file")
    document = forms.CharField(
        required=False,
        strip=False,
        label="Document",
        widget=forms.Textarea(attrs={"class": "document", "spellcheck": "false"}),
    )
    base = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        """Put the text of the file, if there is one, in the place of the document."""
        cleaned = super().clean() or self.cleaned_data
        file = cleaned.get("file")
        if file is not None:
            cleaned["document"] = self._text_of(file)
        text = str(cleaned.get("document") or "").replace("\r\n", "\n")
        if len(text) > LONGEST_DOCUMENT:
            self.add_error("document", f"The document has more than {LONGEST_DOCUMENT:,} characters.")
        if not text.strip() and not self.errors:
            self.add_error("file", "Choose a YAML file, or paste a document.")
        cleaned["document"] = text
        return cleaned

    def _text_of(self, file: Any) -> str:
        if file.size > 4 * LONGEST_DOCUMENT:
            self.add_error("file", f"A questionnaire has at most {LONGEST_DOCUMENT:,} characters. Choose another file.")
            return ""
        try:
            return str(file.read().decode("utf-8"))
        except UnicodeDecodeError:
            self.add_error("file", "The file is not in UTF-8. Save it as UTF-8 and choose it again.")
            return ""
