"""The form of the model preview."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.http import QueryDict

from catalog.models import DatasetVersion
from core.form_fields import offer
from evaluation.selectors.models import ModelLine


class TryForm(forms.Form):
    """Profile, models and list length of the model preview, all from the query string.

    Each rating is a parameter: ``r12=4`` is a rating of 4 for item 12. `rated` has the valid ratings by item index,
    even if other parameters are invalid.
    """

    MAX_MODELS = 7
    MAX_RATED = 50
    RATING = re.compile(r"r([0-9]{1,9})")
    STARS = ("1", "2", "3", "4", "5")

    q = forms.CharField(label="Search for items to rate", required=False, max_length=200)
    model = forms.MultipleChoiceField(
        label="Models",
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least one model.",
            "invalid_choice": "This version of the dataset has no model %(value)s.",
        },
    )
    n = forms.IntegerField(label="Length of the lists", required=False, initial=5, min_value=1, max_value=20)

    def __init__(self, data: QueryDict, *, version: DatasetVersion, models: list[ModelLine]) -> None:
        super().__init__(data)
        self.query = data
        self.rated: dict[int, float] = {}
        self.n_items = version.n_items
        # Stars are mapped to the dataset's scale; usage data have only one.
        self.is_usage = version.scale_low == version.scale_high
        self.points = ("1",) if self.is_usage else self.STARS
        self.scale = (version.scale_low, version.scale_high, version.scale_step) if self.is_usage else (1.0, 5.0, 1.0)
        offer(self, "model", [(str(line.model.pk), f"{line.model.label} · {line.origin}") for line in models])
        search = {"type": "search", "autocomplete": "off", "aria-controls": "found"}
        self.fields["q"].widget.attrs |= search

    def clean_model(self) -> list[int]:
        """Return the primary keys of the chosen models in order, without duplicates."""
        chosen = list(dict.fromkeys(map(int, self.cleaned_data["model"])))
        if len(chosen) > self.MAX_MODELS:
            raise forms.ValidationError(f"Choose at most {self.MAX_MODELS} models; {len(chosen)} are selected.")
        return chosen

    def clean_n(self) -> int:
        """Return the list length; 5 by default."""
        return int(self.cleaned_data["n"] or self.fields["n"].initial)

    def clean(self) -> dict[str, Any]:
        """Read the ratings from the query string."""
        for name, value in self.data.items():
            match = self.RATING.fullmatch(name)
            if match is None or not value:  # an empty value is no rating
                continue
            index = int(match[1])
            if index >= self.n_items:
                self.add_error(
                    None, f"This version has no item {index}; items are numbered from 0 to {self.n_items - 1}."
                )
            elif value not in self.points:
                self.add_error(
                    None, f"{value!r} is not a valid rating of item {index}; use {self.points[0]} to {self.points[-1]}."
                )
            else:
                self.rated[index] = self.scale[0] if self.is_usage else float(value)
        if len(self.rated) > self.MAX_RATED:
            self.add_error(None, f"Rate at most {self.MAX_RATED} items here; {len(self.rated)} are rated.")
        return self.cleaned_data
