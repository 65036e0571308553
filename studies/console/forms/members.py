"""An invitation to a study."""

from __future__ import annotations

from typing import Any

from studies.console.forms.console import MemberForm
from studies.models import Study


class InviteForm(MemberForm):
    """The role that an invitation to the study grants, and the person invited."""

    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(study, data)
        self.prefix = "invite"
        email = self.fields["email"]
        email.label, email.required = "E-mail address", False
        email.help_text = "Only this address can accept. Leave it empty to let anyone who has the link accept."
