"""Forms of a study's settings: members, duplicates, deletion, notices, and targets while it runs."""

from __future__ import annotations

from typing import Any

from django import forms

from core.form_fields import offer
from studies.console.forms.texts import why_field
from studies.enums import NoticeMail, Role
from studies.models import Condition, Study
from studies.recruitment.selectors.recruitment import is_nested

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
        is_several = study.design.flow.lists.is_several  # then all have the same target
        for number, (label, target) in enumerate(self.labels[:1] if is_several else self.labels):
            label = "Participants" if is_several else label
            self.fields[f"target_{number}"] = forms.IntegerField(
                label=label, min_value=target, max_value=MOST_PARTICIPANTS, initial=target
            )
        self.fields["why"] = why_field()

    def targets(self) -> dict[str, int]:
        entered, first = self.cleaned_data, self.cleaned_data["target_0"]
        return {label: entered.get(f"target_{number}", first) for number, (label, _target) in enumerate(self.labels)}


class MemberForm(forms.Form):
    """A researcher's role in the study."""

    email = forms.EmailField(label="E-mail address of the account")
    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANALYST)
    condition = forms.ModelChoiceField(
        queryset=Condition.objects.none(),
        required=False,
        to_field_name="label",
        empty_label="–",
        help_text="For an interviewer: the condition they run.",
    )

    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(data)
        if is_nested(study):
            offer(self, "condition", study.conditions.order_by("position"))
        else:
            del self.fields["condition"]


class InviteForm(MemberForm):
    """The role that an invitation to the study grants, and the person invited."""

    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(study, data)
        self.prefix = "invite"
        email = self.fields["email"]
        email.label, email.required = "E-mail address", False
        email.help_text = "Only this address can accept. Leave it empty to let anyone who has the link accept."
