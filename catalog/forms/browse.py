"""Forms of the pages that show datasets and items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings

from catalog.item_types import ITEM_TYPES
from catalog.selectors.search import ORDERS, POPULARITY
from core.form_fields import offer

ORDER_WORDS = {
    "popularity": "Most rated first",
    "title": "By title",
    "strata": "Popular and rare in turn",
    "entropy0": "Most informative first (entropy0)",
    "pop-entropy": "Most informative first (log popularity × entropy)",
    "random": "Random",
}


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
    order = forms.TypedChoiceField(
        label="Order",
        required=False,
        choices=[(order, ORDER_WORDS[order]) for order in ORDERS],
        empty_value=POPULARITY,
    )
    page = forms.IntegerField(required=False, min_value=1, max_value=1_000_000, widget=forms.HiddenInput)

    def __init__(self, *args: Any, genres: Sequence[str], decades: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "genre", [("", "All genres"), *((genre, genre) for genre in genres)])
        offer(self, "decade", [("", "All years"), *((str(decade), f"{decade}s") for decade in reversed(decades))])

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
