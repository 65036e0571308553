"""The forms of pages that show what models recommend for a profile, which is stored in the address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict

from catalog.models import DatasetVersion, Item
from catalog.selectors.search import search_items
from core.form_fields import offer
from evaluation.selectors.models import ModelLine


class ProfileForm(forms.Form):
    """A profile in the query string: ``r12=4`` is the rating 4 of the item of index 12.

    `given` has the valid ratings as they are stated, by item index, even if other parameters are invalid.
    """

    MAX_RATED = 50
    RATING = re.compile(r"r([0-9]{1,9})")
    STARS = ("1", "2", "3", "4", "5")
    DRAWN = ("draw", "number")  # parameters that replace the ratings by those of a user

    q = forms.CharField(label="Search for items to rate", required=False, max_length=200)

    def __init__(self, data: QueryDict, *, version: DatasetVersion, points: Sequence[str]) -> None:
        super().__init__(data)
        self.query, self.version, self.points = data, version, tuple(points)
        self.given: dict[int, str] = {}
        self.fields["q"].widget.attrs |= {"type": "search", "autocomplete": "off", "aria-controls": "found"}

    def clean(self) -> dict[str, Any]:
        """Read the ratings from the query string."""
        for name, value in self.data.items():
            match = self.RATING.fullmatch(name)
            if match is None or not value:  # an empty value is no rating
                continue
            index, last = int(match[1]), self.version.n_items - 1
            if index > last:
                self.add_error(None, f"This version has no item {index}; items are numbered from 0 to {last}.")
            elif value not in self.points:
                known = " to ".join(dict.fromkeys((self.points[0], self.points[-1])))
                self.add_error(None, f"{value!r} is not a valid rating of item {index}; use {known}.")
            else:
                self.given[index] = value
        if len(self.given) > self.MAX_RATED:
            self.add_error(None, f"Rate at most {self.MAX_RATED} items here; {len(self.given)} are rated.")
        return self.cleaned_data

    def found(self, n: int) -> list[Item]:
        """Return up to `n` items that match the search and are not rated."""
        result = search_items(self.version, self.cleaned_data.get("q", ""), limit=n + len(self.given))
        return [item for item in result.items if item.index not in self.given][:n]

    def rated_items(self) -> list[dict[str, Any]]:
        """Return each rated item with its rating, and the address of the page without it."""
        items = {item.index: item for item in self.version.items.filter(index__in=self.given)}
        others = [
            (name, value)
            for name, values in self.query.lists()
            if name not in self.DRAWN and not self.RATING.fullmatch(name)
            for value in values
        ]
        rated = []
        for index, stars in self.given.items():
            rest = [*others, *((f"r{other}", value) for other, value in self.given.items() if other != index)]
            rated.append({"item": items[index], "stars": stars, "without": f"?{urlencode(rest)}"})
        return rated


class TryForm(ProfileForm):
    """Profile, models and list length of the model preview."""

    MAX_MODELS = 7

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
        # Stars are mapped to the dataset's scale; usage data have only one.
        self.is_usage = version.scale_low == version.scale_high
        self.scale = (version.scale_low, version.scale_high, version.scale_step) if self.is_usage else (1.0, 5.0, 1.0)
        super().__init__(data, version=version, points=("1",) if self.is_usage else self.STARS)
        offer(self, "model", [(str(line.model.pk), f"{line.model.label} · {line.origin}") for line in models])

    @property
    def rated(self) -> dict[int, float]:
        """The valid ratings by item index, on `scale`."""
        return {index: self.scale[0] if self.is_usage else float(value) for index, value in self.given.items()}

    def clean_model(self) -> list[int]:
        """Return the primary keys of the chosen models in order, without duplicates."""
        chosen = list(dict.fromkeys(map(int, self.cleaned_data["model"])))
        if len(chosen) > self.MAX_MODELS:
            raise forms.ValidationError(f"Choose at most {self.MAX_MODELS} models; {len(chosen)} are selected.")
        return chosen

    def clean_n(self) -> int:
        """Return the list length; 5 by default."""
        return int(self.cleaned_data["n"] or self.fields["n"].initial)
