"""Forms to duplicate or delete a study, and to change its design while it runs."""

from __future__ import annotations

from typing import Any

from django import forms

from studies.console.forms.texts import why_field
from studies.enums import NoticeMail
from studies.models import Study

MOST_PARTICIPANTS = 100_000  # in a condition


class DuplicateForm(forms.Form):
    """Title and link of a duplicate."""

    title = forms.CharField(max_length=200)
    slug = forms.SlugField(max_length=80, label="Link", help_text="The end of the participants' address.")


class DeleteForm(forms.Form):
    """The study's slug, typed to confirm that participants' data are deleted."""

    typed = forms.CharField(required=False, max_length=80, label="Type the end of the study's link")


class MailForm(forms.Form):
    """When an owner gets e-mails about a study."""

    study = forms.SlugField(max_length=80)
    mail = forms.ChoiceField(choices=NoticeMail.choices)


class TargetsForm(forms.Form):
    """The target of each condition, at least as many as planned, and the reason."""

    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(data, prefix="targets")
        self.labels = list(study.conditions.order_by("position").values_list("label", "target"))
        for number, (label, target) in enumerate(self.labels):
            self.fields[f"target_{number}"] = forms.IntegerField(
                label=label, min_value=target, max_value=MOST_PARTICIPANTS, initial=target
            )
        self.fields["why"] = why_field()

    def targets(self) -> dict[str, int]:
        return {label: self.cleaned_data[f"target_{number}"] for number, (label, _target) in enumerate(self.labels)}
