"""The form that restricts the list of runs."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.enums import RunStatus
from evaluation.protocols.registry import PROTOCOLS
from evaluation.selectors.runs import datasets_with_runs


class RunFilterForm(forms.Form):
    """Which runs a list shows; an empty field means any."""

    dataset = forms.ChoiceField(label="Dataset", required=False)
    protocol = forms.ChoiceField(
        label="Protocol",
        required=False,
        choices=[("", "Any"), *((definition.key, definition.title) for definition in PROTOCOLS.values())],
    )
    status = forms.ChoiceField(label="Status", required=False, choices=[("", "Any"), *RunStatus.choices])

    def __init__(self, *args: Any, researcher: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["dataset"].choices = [("", "Any"), *datasets_with_runs(researcher)]  # type: ignore[attr-defined]

    def chosen(self) -> dict[str, str]:
        """The valid choices by name; a field with another value is empty and has an error."""
        self.is_valid()
        return {name: self.cleaned_data.get(name, "") for name in self.fields}

    @property
    def is_used(self) -> bool:
        """Whether a field restricts the list."""
        return any(self.chosen().values()) or bool(self.errors)
