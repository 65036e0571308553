"""Forms around a study: a copy of it, its end, its consent text, and changes of its design while it runs."""

from __future__ import annotations

from typing import Any

from django import forms

from studies.enums import NoticeMail
from studies.models import Study
from studies.questionnaires.document import LONGEST_DOCUMENT
from studies.services.quality import LONGEST_REASON

LONGEST_CONSENT = 20_000
MOST_PARTICIPANTS = 100_000  # in a condition


class DuplicateForm(forms.Form):
    """What a copy is called."""

    title = forms.CharField(max_length=200)
    slug = forms.SlugField(max_length=80, label="Link", help_text="The end of the participants' address.")


class DeleteForm(forms.Form):
    """The study's slug, typed by whoever deletes what people gave."""

    typed = forms.CharField(required=False, max_length=80, label="Type the end of the study's link")


class MailForm(forms.Form):
    """When an owner is written to about one study."""

    study = forms.SlugField(max_length=80)
    mail = forms.ChoiceField(choices=NoticeMail.choices)


class ConsentForm(forms.Form):
    """The consent text in each language of the study, its boxes line by line, and why it is changed."""

    def __init__(self, study: Study, data: Any = None) -> None:
        self.languages = tuple(study.settings["languages"])
        super().__init__(data)
        for language in self.languages:
            own = study.texts[language]
            self.fields[f"consent_{language}"] = forms.CharField(
                label=f"Consent ({language})",
                max_length=LONGEST_CONSENT,
                widget=forms.Textarea(attrs={"rows": 12}),
                help_text="Markdown",
                initial=own["consent"],
            )
            self.fields[f"boxes_{language}"] = forms.CharField(
                label=f"Boxes to tick ({language})",
                max_length=LONGEST_CONSENT,
                widget=forms.Textarea(attrs={"rows": 3}),
                help_text="One line each",
                initial="\n".join(own["consent_boxes"]),
            )
        self.fields["why"] = _why()

    def _text(self, language: str) -> str:
        said = str(self.cleaned_data[f"consent_{language}"])
        before = str(self.fields[f"consent_{language}"].initial)
        # Browsers send a line break as two characters; the text is hashed with one. Blanks at its ends say nothing.
        text = said.replace("\r\n", "\n").strip()
        return before if text == before.strip() else text

    def texts(self) -> dict[str, dict[str, Any]]:
        """The cleaned values as `change_consent` takes them."""
        said = self.cleaned_data
        return {
            language: {
                "consent": self._text(language),
                "consent_boxes": [line.strip() for line in said[f"boxes_{language}"].splitlines() if line.strip()],
            }
            for language in self.languages
        }


def _why() -> forms.CharField:
    return forms.CharField(
        label="Why it is changed", max_length=LONGEST_REASON, widget=forms.Textarea(attrs={"rows": 2})
    )


class TargetsForm(forms.Form):
    """How many participants each condition is to have, none fewer than planned, and why."""

    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(data, prefix="targets")
        self.labels = list(study.conditions.order_by("position").values_list("label", "target"))
        for number, (label, target) in enumerate(self.labels):
            self.fields[f"target_{number}"] = forms.IntegerField(
                label=label, min_value=target, max_value=MOST_PARTICIPANTS, initial=target
            )
        self.fields["why"] = _why()

    def targets(self) -> dict[str, int]:
        """The targets by the condition's label."""
        return {label: self.cleaned_data[f"target_{number}"] for number, (label, _target) in enumerate(self.labels)}


class RewordForm(forms.Form):
    """The questionnaire as a document with other words, and why."""

    def __init__(self, document: str, data: Any = None) -> None:
        super().__init__(data, prefix="words")
        self.fields["document"] = forms.CharField(
            label="The questionnaire",
            max_length=LONGEST_DOCUMENT,
            widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false", "class": "document"}),
            help_text="YAML; change words only",
            initial=document,
        )
        self.fields["why"] = _why()
