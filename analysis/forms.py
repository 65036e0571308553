"""The form that builds a report."""

from __future__ import annotations

from typing import Any

from django import forms

from analysis.selectors.reports import studies_to_report
from studies.enums import Mode
from studies.models import Study


class ReportForm(forms.Form):
    """Which study, and whose answers; a study that the researcher may not report is not among the choices."""

    study = forms.ModelChoiceField(queryset=Study.objects.none(), to_field_name="slug", empty_label=None)
    mode = forms.ChoiceField(
        label="Whose answers",
        required=False,
        choices=[
            ("", "Participants, if any have completed; else simulated ones"),
            (Mode.LIVE, "Participants"),
            (Mode.SIMULATED, "Simulated participants"),
        ],
    )

    def __init__(self, *args: Any, researcher: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.fields["study"]
        if isinstance(chosen, forms.ModelChoiceField):
            chosen.queryset = studies_to_report(researcher)
