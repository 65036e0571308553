"""Forms of the catalogue pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat

from catalog.item_types import ITEM_TYPES
from catalog.selectors.search import ORDERS, POPULARITY
from catalog.subsetting.recipe import LARGEST_SEED, Recipe
from core.errors import ParameterError

MOST_UPLOADED = 8 * 2**20
MOST_PICTURES = 64 * 2**20
ORDER_WORDS = {
    "popularity": "Most rated first",
    "title": "By title",
    "strata": "Popular and rare in turn",
    "random": "Random",
}


class _DateInput(forms.DateInput):
    input_type = "date"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%d")


class BrowseForm(forms.Form):
    """Search and filters of the item grid; every field may be left empty."""

    q = forms.CharField(
        label="Search",
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": "Title, person, genre or year", "autocomplete": "off"}
        ),
    )
    genre = forms.ChoiceField(label="Genre", required=False)
    decade = forms.TypedChoiceField(label="Decade", required=False, coerce=int, empty_value=None)
    order = forms.ChoiceField(label="Order", required=False, choices=[(order, ORDER_WORDS[order]) for order in ORDERS])
    page = forms.IntegerField(required=False, min_value=1, max_value=1_000_000, widget=forms.HiddenInput)

    def __init__(self, *args: Any, genres: Sequence[str], decades: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["genre"].choices = [("", "All genres"), *((genre, genre) for genre in genres)]  # type: ignore[attr-defined]
        self.fields["decade"].choices = [  # type: ignore[attr-defined]
            ("", "All years"),
            *((str(decade), f"{decade}s") for decade in reversed(decades)),
        ]

    def clean_order(self) -> str:
        """The chosen order; by default popularity."""
        return self.cleaned_data["order"] or POPULARITY

    def clean_page(self) -> int:
        """The chosen page; by default the first."""
        return self.cleaned_data["page"] or 1


class ItemTypeForm(forms.Form):
    """What the items of a dataset are."""

    item_type = forms.ChoiceField(
        label="Item type",
        choices=[(each.key, each.title) for each in ITEM_TYPES.values()],
        help_text="New studies use its words and pictures. Existing studies keep theirs.",
    )


class ItemLanguageForm(forms.Form):
    """The language of the default texts of a dataset's items."""

    language = forms.ChoiceField(
        label="Item language",
        required=False,
        choices=[("", "Unknown"), *settings.LANGUAGES],
        help_text="Participant pages in other languages mark these texts for screen readers.",
    )


class MetadataForm(forms.Form):
    """An uploaded file of item metadata; the service checks its content."""

    file = forms.FileField(
        label="Metadata file",
        help_text=(
            "A table with one fact per row (item, kind, value) or one item per row (plot, genres, people, image, "
            "trailer), or JSON Lines; also gzipped. Item ids are those of the dataset."
        ),
    )
    images = forms.FileField(
        label="Pictures",
        required=False,
        help_text="A ZIP archive of the JPEG, PNG, GIF or WebP files that the metadata name as images, if any.",
    )
    on_bad_row = forms.ChoiceField(
        label="Invalid rows",
        choices=[("refuse", "Reject the file"), ("drop", "Exclude and count them")],
    )

    def clean_file(self) -> Any:
        """The file, if it is not too large for a page."""
        return _checked(self.cleaned_data["file"], MOST_UPLOADED)

    def clean_images(self) -> Any:
        """The archive, if there is one and it is not too large for a page."""
        return _checked(self.cleaned_data["images"], MOST_PICTURES)


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
        self.fields["kind"].choices = [("", "Any"), *((kind, kind) for kind in kinds)]  # type: ignore[attr-defined]
        for name in ("date_from", "date_until"):
            field = self.fields[name]
            if rated_between is None:
                field.disabled = True
                field.help_text = "The ratings have no times."
        if rated_between is not None:
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


def _checked(upload: Any, most: int) -> Any:
    if upload is not None and upload.size > most:
        raise forms.ValidationError(
            f"The file has {filesizeformat(upload.size)}; the limit for uploads is {filesizeformat(most)}. "
            "Use the command add_metadata for larger files."
        )
    return upload
