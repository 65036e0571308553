"""The analysis plan, as the design page asks for it."""

from __future__ import annotations

from typing import Any

from django import forms

from studies.console.forms.setting_fields import setting_field
from studies.design.narrative.plan import PERCEIVED_LABELS
from studies.design.presets.loader import possible_covariates
from studies.design.selectors.placeholders import key_in_words
from studies.instrument import flags
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.models import Study
from studies.settings import PERCEIVED, AnalysisPlan, StudySettings


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
            self.fields["covariates"].choices = [(key, key_in_words(key, study.design)) for key in covariates]  # type: ignore[attr-defined]
        else:
            del self.fields["covariates"]
        if not scales:
            del self.fields["scales"]
            return
        self.fields["scales"].choices = [(scale.key, next(iter(scale.name.values()))) for scale in scales]  # type: ignore[attr-defined]

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
