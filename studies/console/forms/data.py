"""Forms of the console's data pages."""

from __future__ import annotations

from django import forms

from studies.data.exports.export_files import FORMATS
from studies.data.services.retention import LONGEST_DAYS
from studies.models import Study
from studies.monitoring.services.exclusions import LONGEST_REASON

FORMAT_LABELS = {
    "long": "Long: a row for each participant and item (CSV)",
    "wide": "Wide: a row for each participant (CSV)",
    "ratings": "Ratings of known items (CSV)",
    "profiles": "Profiles with the keys of uploaded lists (CSV)",
    "events": "Events on the pages (CSV)",
    "pages": "Page times, by oTree's names (CSV)",
    "json": "Everything of each participant (JSON)",
    "psych-ds": "Psych-DS package: all tables, materials, codebooks",
}


class ExportForm(forms.Form):
    """Which data an export holds."""

    format = forms.ChoiceField(choices=[(kind, FORMAT_LABELS[kind]) for kind in FORMATS], required=False)
    include_simulated = forms.BooleanField(required=False, label="With simulated participants")
    without_excluded = forms.BooleanField(
        required=False,
        label="Leave out excluded participants",
        help_text="Excluded by hand, or by the rule of the plan. Otherwise they are kept and flagged.",
    )
    include_external_ids = forms.BooleanField(
        required=False,
        label="Include identifying data",
        help_text="Codes, external ids, and answers that identify a person. The names of the files say so.",
    )

    def __init__(self, *args: object, is_owner: bool = False, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        if not is_owner:
            del self.fields["include_external_ids"]


class ReasonForm(forms.Form):
    """Why something is done that stays in the record."""

    reason = forms.CharField(max_length=LONGEST_REASON, label="Reason")


class WithdrawalForm(forms.Form):
    """Who is withdrawn on their behalf, and why."""

    known_as = forms.CharField(
        label="Participant code or external id",
        max_length=500,
        help_text="For example the Prolific ID. Capital letters matter.",
    )
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        help_text="Stored in the activity log, so do not include names. For example: asked by e-mail on 3 May.",
    )


def _days(what: str, consequence: str) -> forms.IntegerField:
    help_text = f"Counted from the close of the study. Leave empty to keep them. {consequence}"
    label = f"Delete {what} after (days)"
    return forms.IntegerField(label=label, required=False, min_value=0, max_value=LONGEST_DAYS, help_text=help_text)


class RetentionForm(forms.Form):
    """Retention periods after the close."""

    external_ids_days = _days("external ids", "Answers that identify people are deleted with them.")
    answers_days = _days("answers", "Deleted answers cannot be restored.")

    def __init__(self, study: Study, data: object = None) -> None:
        initial = {"external_ids_days": study.external_ids_kept_days, "answers_days": study.answers_kept_days}
        super().__init__(data, initial=initial)  # type: ignore[arg-type]
