"""The primary test, as the design page asks for it: average advantage or planned contrast, and the smallest effect."""

from __future__ import annotations

from typing import Any

from django import forms

from core.errors import ParameterError
from studies.models import Study
from studies.plans import SMALLEST_EFFECT, Contrast, contrast_from

ADVANTAGE, CONTRAST = "advantage", "contrast"
SETS = {"higher": "contrast_higher", "lower": "contrast_lower"}


class PrimaryTestFields(forms.Form):
    """Which test is primary, and the conditions of a planned contrast; `ask_conditions` fills them in."""

    primary_test = forms.ChoiceField(
        label="Primary test",
        choices=[
            (ADVANTAGE, "Average advantage of the metric’s better conditions in the primary variable"),
            (CONTRAST, "Planned contrast of the primary variable between conditions"),
        ],
        required=False,
        help_text="The average advantage is the mean difference between the better and the worse condition, over all "
        "pairs that the primary metric separates.",
    )
    contrast_higher = forms.MultipleChoiceField(
        label="Planned contrast: conditions expected to be higher",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Such as the conditions with the better offline metric. Several count alike, by the mean of their "
        "means.",
    )
    contrast_lower = forms.MultipleChoiceField(
        label="Planned contrast: conditions expected to be lower",
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    contrast_sides = forms.TypedChoiceField(
        label="Planned contrast: sides of the test",
        required=False,
        coerce=int,
        choices=[(2, "Two-sided"), (1, "One-sided: only the expected direction counts")],
    )

    smallest_effect = forms.FloatField(
        label="Smallest effect of interest, in points of the primary variable",
        required=False,
        min_value=0.001,
        help_text="An average advantage within it counts as no relevant relation. Differences below it count as "
        "practically the same: the report tests every pair for equivalence and for a minimum effect. Novelty is a "
        "share: 0.1 is 10 percentage points. Empty: no such tests.",
    )

    @staticmethod
    def initial_test(study: Study) -> dict[str, Any]:
        """What stands in the fields before anybody changes it."""
        contrast = contrast_from(study.settings["primary"])
        if contrast is None:
            return {"primary_test": ADVANTAGE, "contrast_sides": 2}
        return {
            "primary_test": CONTRAST,
            "contrast_higher": list(contrast.higher),
            "contrast_lower": list(contrast.lower),
            "contrast_sides": contrast.sides,
        }

    def ask_conditions(self, study: Study) -> None:
        """Offer the study's conditions."""
        labels = list(study.conditions.order_by("position").values_list("label", flat=True))
        for name in SETS.values():
            self.fields[name].choices = [(label, label) for label in labels]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any] | None:
        """Reject an impossible contrast."""
        cleaned = super().clean()
        if self.cleaned_data.get("primary_test") == CONTRAST and not any(name in self.errors for name in SETS.values()):
            try:
                self._contrast()
            except ParameterError as problem:
                self.add_error("contrast_higher", str(problem))
        return cleaned

    def _contrast(self) -> Contrast:
        cleaned = self.cleaned_data
        higher, lower = (tuple(cleaned[name]) for name in SETS.values())
        return Contrast(higher=higher, lower=lower, sides=cleaned["contrast_sides"] or 2)

    def test_settings(self) -> dict[str, Any]:
        """The settings of the primary test apart from the primary pair."""
        effect = self.cleaned_data[SMALLEST_EFFECT]
        settings: dict[str, Any] = {} if effect is None else {SMALLEST_EFFECT: effect}
        if self.cleaned_data["primary_test"] == CONTRAST:
            settings["contrast"] = self._contrast().as_plain()
        return settings
