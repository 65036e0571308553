"""The form of texts that explain items."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.forms.upload_limits import MOST_UPLOADED, DropInput, file_size, require_size
from recommenders.explanation import LONGEST_TEXT
from studies.design.services.stored_texts import COLUMNS

REMEDY = "Use the command upload_explanations for larger ones."


class ExplanationsForm(forms.Form):
    """A CSV file with a text per item and language."""

    use_required_attribute = False
    file = forms.FileField(
        widget=DropInput(MOST_UPLOADED),
        label="Texts (CSV)",
        help_text=f"The first line is <code>{','.join(COLUMNS)}</code>. A text has at most {LONGEST_TEXT} characters, "
        f"the file {file_size(MOST_UPLOADED)}. {REMEDY}",
    )

    def clean_file(self) -> Any:
        """The file, if it is small enough."""
        require_size(self.cleaned_data["file"].size, MOST_UPLOADED, REMEDY)
        return self.cleaned_data["file"]
