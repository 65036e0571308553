"""A member of a study, and an invitation to it."""

from __future__ import annotations

from typing import Any

from django import forms

from studies.enums import Role
from studies.models import Condition, Study
from studies.recruitment.selectors.recruitment import is_nested


class MemberForm(forms.Form):
    """A researcher's role in the study."""

    email = forms.EmailField(label="E-mail address of the account")
    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANALYST)
    condition = forms.ModelChoiceField(
        queryset=Condition.objects.none(),
        required=False,
        empty_label="–",
        help_text="For an interviewer: the condition they run.",
    )

    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(data)
        if is_nested(study):
            self.fields["condition"].queryset = study.conditions.order_by("position")  # type: ignore[attr-defined]
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
