"""The form that builds a report."""

from __future__ import annotations

from typing import Any

from django import forms

from analysis.selectors.reports import studies_to_report
from studies.enums import Mode


class ReportForm(forms.Form):
    """Which study, and whose answers; a study that the researcher may not report is not among the choices."""

    study = forms.ModelChoiceField(queryset=None, to_field_name="slug", empty_label=None)
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
        self.fields["study"].queryset = studies_to_report(researcher)  # type: ignore[attr-defined]
