"""The analysis plan and the primary test, as the design page asks for them."""

from __future__ import annotations

from typing import Any

from django import forms

from core.field_problems import FieldProblems, read_model
from core.form_fields import offer
from studies.console.forms.setting_fields import setting_field
from studies.design.narrative.plan import PERCEIVED_LABELS
from studies.design.presets.loader import possible_covariates
from studies.design.selectors.placeholders import key_in_words
from studies.instrument import flags
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.models import Study
from studies.settings import PERCEIVED, AnalysisPlan, Contrast, Primary, StudySettings

ADVANTAGE, CONTRAST = "advantage", "contrast"
SETS = {"higher": "contrast_higher", "lower": "contrast_lower"}


class PlanFields(forms.Form):
    """Level, variables, rule of exclusion and resamples; `ask` fills them in."""

    alpha = setting_field(forms.FloatField, AnalysisPlan, "alpha")
    variables = setting_field(
        forms.MultipleChoiceField,
        AnalysisPlan,
        "variables",
        choices=[(key, PERCEIVED_LABELS[key]) for key in PERCEIVED],
    )
    scales = setting_field(forms.MultipleChoiceField, AnalysisPlan, "scales")
    covariates = setting_field(forms.MultipleChoiceField, AnalysisPlan, "covariates")
    exclude = setting_field(
        forms.MultipleChoiceField,
        AnalysisPlan,
        "exclude",
        choices=[(key, flags.NAMES[key]) for key in flags.KEYS],
    )
    refill_excluded = setting_field(forms.BooleanField, StudySettings, "refill_excluded", required=False)
    exclude_words = setting_field(
        forms.CharField, AnalysisPlan, "exclude_words", required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    resamples = setting_field(forms.IntegerField, AnalysisPlan, "resamples")

    @staticmethod
    def initial_plan(study: Study) -> dict[str, Any]:
        return {**study.design.plan.in_full(), "refill_excluded": study.design.refill_excluded}

    def ask(self, study: Study) -> None:
        """Offer the study's own covariates and scales; without any, remove the field."""
        questionnaire = questionnaire_from(study.questionnaire)
        scales, covariates = questionnaire.scales, possible_covariates(questionnaire)
        if covariates:
            offer(self, "covariates", [(key, key_in_words(key, study.design)) for key in covariates])
        else:
            del self.fields["covariates"]
        if not scales:
            del self.fields["scales"]
            return
        offer(self, "scales", [(scale.key, next(iter(scale.name.values()))) for scale in scales])

    def refill_settings(self, study: Study) -> dict[str, bool]:
        """The refill setting; omitted, which means no refill, where the design has none."""
        chosen = self.cleaned_data["refill_excluded"]
        is_stored = chosen or "refill_excluded" in study.design.model_fields_set
        return {"refill_excluded": chosen} if is_stored else {}

    def plan_settings(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        keys = {name: tuple(cleaned.get(name, ())) for name in ("variables", "scales", "covariates", "exclude")}
        words = cleaned["exclude_words"].replace("\r\n", "\n")
        plan = AnalysisPlan(alpha=cleaned["alpha"], exclude_words=words, resamples=cleaned["resamples"], **keys)
        return plan.in_full()


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
            offer(self, name, [(label, label) for label in labels])

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
