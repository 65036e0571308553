"""The primary test, as the design page asks for it: average advantage or planned contrast, and the smallest effect."""

from __future__ import annotations

from typing import Any

from django import forms

from core.field_problems import FieldProblems, read_model
from studies.console.forms.setting_fields import setting_field
from studies.models import Study
from studies.settings import Contrast, Primary

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
    contrast_higher = setting_field(forms.MultipleChoiceField, Contrast, "higher")
    contrast_lower = setting_field(forms.MultipleChoiceField, Contrast, "lower")
    contrast_sides = setting_field(
        forms.TypedChoiceField,
        Contrast,
        "sides",
        required=False,
        coerce=int,
        choices=[(2, "Two-sided"), (1, "One-sided: only the expected direction counts")],
    )
    smallest_effect = setting_field(forms.FloatField, Primary, "smallest_effect", required=False, min_value=0.001)

    @staticmethod
    def initial_test(study: Study) -> dict[str, Any]:
        contrast = study.design.primary.contrast
        if contrast is None:
            return {"primary_test": ADVANTAGE, "contrast_sides": 2}
        return {
            "primary_test": CONTRAST,
            "contrast_higher": list(contrast.higher),
            "contrast_lower": list(contrast.lower),
            "contrast_sides": contrast.sides,
        }

    def ask_conditions(self, study: Study) -> None:
        labels = list(study.conditions.order_by("position").values_list("label", flat=True))
        for name in SETS.values():
            self.fields[name].choices = [(label, label) for label in labels]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.cleaned_data.get("primary_test") == CONTRAST and not any(name in self.errors for name in SETS.values()):
            try:
                self._contrast()
            except FieldProblems as refused:
                self.add_error("contrast_higher", [str(problem) for problem in refused.problems])
        return cleaned

    def _contrast(self) -> Contrast:
        cleaned = self.cleaned_data
        higher, lower = (tuple(cleaned[name]) for name in SETS.values())
        return read_model(Contrast, {"higher": higher, "lower": lower, "sides": cleaned["contrast_sides"] or 2})

    def test_settings(self) -> dict[str, Any]:
        effect = self.cleaned_data["smallest_effect"]
        settings: dict[str, Any] = {} if effect is None else {"smallest_effect": effect}
        if self.cleaned_data["primary_test"] == CONTRAST:
            settings["contrast"] = self._contrast().stored()
        return settings
