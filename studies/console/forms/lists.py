"""The profile of the page that shows all conditions' lists side by side, stored in the address."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.http import QueryDict

from studies.known_items import FIVE_STARS, ElicitationScale
from studies.settings import USED
from studies.simulation.services.condition_lists import ANY, RESERVED

MOST_RATED = 50


class ProfileForm(forms.Form):
    """Ratings as parameters of their own: ``r12=4`` is the fourth point of the scale for the item of index 12.

    With `chooses` items are chosen and not rated, by ``r12=1``.
    `rated` has the valid ratings, even if another parameter is invalid.
    """

    RATING = re.compile(r"r([0-9]{1,9})")

    q = forms.CharField(label="Find something to rate", required=False, max_length=200)
    draw = forms.ChoiceField(choices=[(RESERVED, "A reserved user"), (ANY, "Any user")], required=False)
    number = forms.IntegerField(required=False, min_value=0, max_value=1_000_000)

    def __init__(
        self, data: QueryDict, *, n_items: int, chooses: bool = False, elicitation: ElicitationScale = FIVE_STARS
    ) -> None:
        super().__init__(data)
        self.is_usage = chooses
        self.elicitation = elicitation
        self.points = (str(USED),) if chooses else tuple(map(str, elicitation.points))
        if chooses:
            self.fields["q"].label = "Find something to choose"
        self.n_items = n_items
        self.rated: dict[int, int] = {}
        self.fields["q"].widget.attrs |= {"type": "search", "autocomplete": "off", "aria-controls": "found"}

    @property
    def marks(self) -> list[tuple[str, float]]:
        return [] if self.elicitation == FIVE_STARS else [(p, self.elicitation.value(int(p))) for p in self.points]

    def clean(self) -> dict[str, Any]:
        for name, value in self.data.items():
            match = self.RATING.fullmatch(name)
            if match is None or not value:  # an empty one is not rated
                continue
            index = int(match[1])
            if index >= self.n_items:
                self.add_error(None, f"There is no item {index} here; they run from 0 to {self.n_items - 1}.")
            elif value not in self.points:
                values = " to ".join(dict.fromkeys((self.points[0], self.points[-1])))
                self.add_error(None, f"{value!r} is not a rating; item {index} takes {values}.")
            else:
                self.rated[index] = int(value)
        if len(self.rated) > MOST_RATED:
            self.add_error(None, f"Rate at most {MOST_RATED} items here; {len(self.rated)} are rated.")
        return self.cleaned_data
