"""The form of a subset."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import forms

from catalog.subsetting.recipe import LARGEST_SEED, Recipe
from core.errors import ParameterError
from core.form_fields import offer


class _DateInput(forms.DateInput):
    input_type = "date"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%d")


class SubsetForm(forms.Form):
    """The recipe of a subset, whose steps apply in the order of the fields; an empty field is no step."""

    date_from = forms.DateField(label="Ratings from", required=False, widget=_DateInput)
    date_until = forms.DateField(label="Ratings until", required=False, widget=_DateInput)
    kind = forms.ChoiceField(label="Item attribute", required=False)
    value = forms.CharField(
        label="Value of the attribute", required=False, max_length=200, help_text="As written in the metadata: Drama."
    )
    top_items = forms.IntegerField(
        label="Top items",
        required=False,
        min_value=1,
        help_text="The number of items with the most ratings. Ties are broken by their order in the dataset.",
    )
    min_item_ratings = forms.IntegerField(
        label="Minimum ratings per item", required=False, min_value=1, help_text="Applied once, before users."
    )
    min_user_ratings = forms.IntegerField(
        label="Minimum ratings per user", required=False, min_value=1, help_text="Applied once, after items."
    )
    random_users = forms.IntegerField(label="Random users", required=False, min_value=1)
    random_share = forms.FloatField(
        label="Share of random users", required=False, min_value=0, max_value=1, help_text="Instead of a number: 0.1."
    )
    seed = forms.IntegerField(label="Seed", initial=1, min_value=0, max_value=LARGEST_SEED)
    k_core = forms.IntegerField(
        label="k",
        required=False,
        min_value=1,
        help_text="Repeats until every user and every item has at least k ratings.",
    )

    def __init__(
        self, *args: Any, kinds: Sequence[str], rated_between: tuple[datetime, datetime] | None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "kind", [("", "Any"), *((kind, kind) for kind in kinds)])
        for name in ("date_from", "date_until"):
            field = self.fields[name]
            if rated_between is None:
                field.disabled = True
        if rated_between is None:
            self.fields["date_from"].help_text = "The ratings have no times."
        else:
            first, last = rated_between
            self.fields["date_from"].help_text = f"First rating: {first:%Y-%m-%d} (UTC)."
            self.fields["date_until"].help_text = f"Last rating: {last:%Y-%m-%d}. The day is included."

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the fields in groups, in the order of the steps: heading, fields."""
        grouped = (
            ("Date range", ("date_from", "date_until")),
            ("Items", ("kind", "value", "top_items")),
            ("Minimum number of ratings", ("min_item_ratings", "min_user_ratings")),
            ("Random users", ("random_users", "random_share", "seed")),
            ("k-core", ("k_core",)),
        )
        return [(heading, [self[name] for name in names]) for heading, names in grouped]

    def clean(self) -> dict[str, Any]:
        """Add the recipe; with invalid fields there is none."""
        values = super().clean() or {}
        if not self.errors:
            feature = (values["kind"], values["value"])
            parameters = {name: values[name] for name in Recipe.__slots__ if name in values}
            try:
                values["recipe"] = Recipe(**parameters, feature=feature if any(feature) else None)
            except ParameterError as problem:
                raise forms.ValidationError(str(problem)) from problem
        return values
