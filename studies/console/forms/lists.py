"""The profile of the page that shows all conditions' lists side by side, stored in the address."""

from __future__ import annotations

from django import forms
from django.http import QueryDict

from evaluation.forms.preview import ProfileForm
from studies.design.selectors.sample_profiles import ANY, RESERVED
from studies.known_items import FIVE_STARS
from studies.models import Study
from studies.settings import USED


class ListsForm(ProfileForm):
    """A profile on the points of the study's scale; in a study whose participants choose, ``r12=1`` chooses an item."""

    draw = forms.ChoiceField(choices=[(RESERVED, "A reserved user"), (ANY, "Any user")], required=False)
    number = forms.IntegerField(required=False, min_value=0, max_value=1_000_000)

    def __init__(self, data: QueryDict, *, study: Study) -> None:
        self.is_usage, self.elicitation = study.design.is_choice, study.design.scale
        points = [USED] if self.is_usage else self.elicitation.points
        super().__init__(data, version=study.dataset_version, points=[str(point) for point in points])
        if self.is_usage:
            self.fields["q"].label = "Search for items to choose"

    @property
    def marks(self) -> list[tuple[str, float]]:
        return [] if self.elicitation == FIVE_STARS else [(p, self.elicitation.value(int(p))) for p in self.points]

    @property
    def ratings(self) -> dict[int, int]:
        """The points given to items, by index."""
        return {index: int(point) for index, point in self.given.items()}
