"""Forms of the catalogue's pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from catalog.selectors.search import ORDERS, POPULARITY

ORDER_WORDS = {
    "popularity": "Most rated first",
    "title": "By title",
    "strata": "Popular and rare in turn",
    "random": "Shuffled",
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
        """The order asked for, by popularity unless one was."""
        return self.cleaned_data["order"] or POPULARITY

    def clean_page(self) -> int:
        """The page asked for, the first unless one was."""
        return self.cleaned_data["page"] or 1
