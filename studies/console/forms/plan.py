"""The analysis plan, as the design page asks for it."""

from __future__ import annotations

from typing import Any

from django import forms

from studies.design.narrative.plan import PERCEIVED_LABELS
from studies.design.presets.loader import possible_covariates
from studies.design.selectors.placeholders import key_in_words
from studies.instrument import flags
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.models import Study
from studies.plans import (
    FEWEST_RESAMPLES,
    HIGHEST_ALPHA,
    LONGEST_RULE,
    LOWEST_ALPHA,
    MOST_RESAMPLES,
    PERCEIVED,
    REFILL,
    AnalysisPlan,
    plan_from,
)


class PlanFields(forms.Form):
    """Level, variables, rule of exclusion and resamples; `ask` fills them in."""

    alpha = forms.FloatField(
        label="Level α",
        min_value=LOWEST_ALPHA,
        max_value=HIGHEST_ALPHA,
        help_text="Of every test and order of the report. .05 by convention.",
    )
    variables = forms.MultipleChoiceField(
        label="Variables that are tested",
        choices=[(key, PERCEIVED_LABELS[key]) for key in PERCEIVED],
        widget=forms.CheckboxSelectMultiple,
        help_text="Each forms its own family of tests. The primary variable is one of them, or a planned scale.",
    )
    scales = forms.MultipleChoiceField(
        label="Planned scales of the questionnaire",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Each is tested like the variables above. Other scales are exploratory.",
    )
    covariates = forms.MultipleChoiceField(
        label="Covariates",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=(
            "Answers before assignment that the adjusted comparisons use, beside the stratification factors. Choose "
            "those that predict the primary variable."
        ),
    )
    exclude = forms.MultipleChoiceField(
        label="Exclude from the analysis participants with one of these flags",
        required=False,
        choices=[(key, flags.NAMES[key]) for key in flags.KEYS],
        widget=forms.CheckboxSelectMultiple,
        help_text=(
            "With the thresholds above. If nothing is ticked, only participants you exclude by hand are excluded, "
            "and the report lists that as a deviation from the plan."
        ),
    )
    refill_excluded = forms.BooleanField(
        label="Refill the slots of participants excluded by these flags",
        required=False,
        help_text=(
            "They do not count towards the target: their slot reopens within about a minute of completion. "
            "Participants excluded by hand keep their slot."
        ),
    )
    exclude_words = forms.CharField(
        label="Other exclusion rule, in your own words",
        required=False,
        max_length=LONGEST_RULE,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="For criteria no flag covers. Apply it by hand, without looking at conditions or outcomes.",
    )
    resamples = forms.IntegerField(
        label="Bootstrap resamples",
        min_value=FEWEST_RESAMPLES,
        max_value=MOST_RESAMPLES,
        help_text="For the intervals of means and the stability of ranks and of the correlation.",
    )

    @staticmethod
    def initial_plan(study: Study) -> dict[str, Any]:
        """The initial values of the fields."""
        return {**plan_from(study.settings).as_plain(), REFILL: study.settings.get(REFILL, False)}

    def ask(self, study: Study) -> None:
        """Offer the study's own covariates and scales; without any, remove the field."""
        questionnaire = questionnaire_from(study.questionnaire)
        scales, covariates = questionnaire.scales, possible_covariates(questionnaire)
        if covariates:
            self.fields["covariates"].choices = [(key, key_in_words(key, study.settings)) for key in covariates]  # type: ignore[attr-defined]
        else:
            del self.fields["covariates"]
        if not scales:
            del self.fields["scales"]
            return
        self.fields["scales"].choices = [(scale.key, next(iter(scale.name.values()))) for scale in scales]  # type: ignore[attr-defined]

    def refill_settings(self, study: Study) -> dict[str, bool]:
        """The refill setting; omitted, which means no refill, where the design has none."""
        chosen = self.cleaned_data[REFILL]
        return {REFILL: chosen} if chosen or REFILL in study.settings else {}

    def plan_settings(self) -> dict[str, Any]:
        """The plan as stored in the settings."""
        cleaned = self.cleaned_data
        return AnalysisPlan(
            alpha=cleaned["alpha"],
            variables=tuple(cleaned["variables"]),
            scales=tuple(cleaned.get("scales", ())),
            covariates=tuple(cleaned.get("covariates", ())),
            exclude=tuple(cleaned["exclude"]),
            exclude_words=cleaned["exclude_words"].replace("\r\n", "\n"),
            resamples=cleaned["resamples"],
        ).as_plain()
