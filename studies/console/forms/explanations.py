"""The form of texts that explain items."""

from __future__ import annotations

from django import forms

from catalog.forms.upload_limits import MOST_UPLOADED, SizedFileField, file_size
from recommenders.explanation import LONGEST_TEXT
from studies.design.services.stored_texts import COLUMNS

REMEDY = "Use the command upload_explanations for larger ones."


class ExplanationsForm(forms.Form):
    """A CSV file with a text per item and language."""

    use_required_attribute = False
    file = SizedFileField(
        label="Texts (CSV)",
        most=MOST_UPLOADED,
        remedy=REMEDY,
        help_text=f"The first line is <code>{','.join(COLUMNS)}</code>. A text has at most {LONGEST_TEXT} characters, "
        f"the file {file_size(MOST_UPLOADED)}. {REMEDY}",
    )
