"""Forms of the catalogue pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.template.defaultfilters import filesizeformat

from catalog.item_types import ITEM_TYPES
from catalog.selectors.search import ORDERS, POPULARITY

MOST_UPLOADED = 8 * 2**20
MOST_PICTURES = 64 * 2**20
ORDER_WORDS = {
    "popularity": "Most rated first",
    "title": "By title",
    "strata": "Popular and rare in turn",
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


def _checked(upload: Any, most: int) -> Any:
    if upload is not None and upload.size > most:
        raise forms.ValidationError(
            f"The file has {filesizeformat(upload.size)}; the limit for uploads is {filesizeformat(most)}. "
            "Use the command add_metadata for larger files."
        )
    return upload
