"""The models that a draft compares, as the conditions page asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from core.form_fields import offer
from studies.design.selectors.available_models import AvailableModel


class ConditionsForm(forms.Form):
    """Which models become conditions."""

    models = forms.MultipleChoiceField(
        label="Models",
        widget=forms.CheckboxSelectMultiple,
        help_text="Each chosen model is a condition. A report needs one run that measured all of them.",
    )

    def __init__(self, available: Sequence[AvailableModel], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = (f"{entry.label} · run {entry.run.pk} · model {entry.model.digest[:12]}" for entry in available)
        offer(self, "models", [(entry.model.digest, name) for entry, name in zip(available, names, strict=True)])
