"""The analysis plan, as the design page asks for it."""

from __future__ import annotations

from typing import Any

from django import forms

from studies import flags
from studies.models import Study
from studies.narrative.plan import PERCEIVED_LABELS
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
from studies.questionnaires.schema import questionnaire_from


class PlanFields(forms.Form):
    """Level, variables, rule of exclusion and resamples; `ask` fills them in."""

    alpha = forms.FloatField(
        label="Level α",
        min_value=LOWEST_ALPHA,
        max_value=HIGHEST_ALPHA,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Of every test and order of the report. .05 by convention.",
    )
    variables = forms.MultipleChoiceField(
        label="Variables that are tested",
        choices=[(key, PERCEIVED_LABELS[key]) for key in PERCEIVED],
        widget=forms.CheckboxSelectMultiple,
        help_text="Each is a family of tests of its own. The primary variable is one of them, or a planned scale.",
    )
    scales = forms.MultipleChoiceField(
        label="Scales of the questionnaire that the plan names",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Each is tested like the variables above. A scale that is not named here is exploratory.",
    )
    exclude = forms.MultipleChoiceField(
        label="Left out of the analysis: whoever has one of these flags",
        required=False,
        choices=[(key, flags.NAMES[key]) for key in flags.KEYS],
        widget=forms.CheckboxSelectMultiple,
        help_text=(
            "With the thresholds above. With nothing ticked only those are left out whom you exclude by hand, and the "
            "report calls that a deviation from the plan."
        ),
    )
    refill_excluded = forms.BooleanField(
        label="Refill the slots of participants whom these flags exclude",
        required=False,
        help_text=(
            "They do not count towards the target: their slot opens for another participant within a minute or so of "
            "the end. Exclusions by hand keep their slot."
        ),
    )
    exclude_words = forms.CharField(
        label="Another rule of exclusion, in your words",
        required=False,
        max_length=LONGEST_RULE,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="For what no flag can say. You carry it out by hand, without looking at conditions or outcomes.",
    )
    resamples = forms.IntegerField(
        label="Bootstrap resamples",
        min_value=FEWEST_RESAMPLES,
        max_value=MOST_RESAMPLES,
        help_text="For the intervals of ranks and of the correlation.",
    )

    @staticmethod
    def initial_plan(study: Study) -> dict[str, Any]:
        """What stands in the fields before anybody changes it."""
        return {**plan_from(study.settings).as_plain(), REFILL: study.settings.get(REFILL, False)}

    def ask(self, study: Study) -> None:
        """Offer the study's own scales; without any the field goes."""
        scales = questionnaire_from(study.questionnaire).scales
        if not scales:
            del self.fields["scales"]
            return
        self.fields["scales"].choices = [(one.key, next(iter(one.name.values()))) for one in scales]  # type: ignore[attr-defined]

    def refill_settings(self, study: Study) -> dict[str, bool]:
        """Nothing where a design says nothing: slots are not refilled then."""
        chosen = self.cleaned_data[REFILL]
        return {REFILL: chosen} if chosen or REFILL in study.settings else {}

    def plan_settings(self) -> dict[str, Any]:
        """The plan as the settings hold it."""
        said = self.cleaned_data
        return AnalysisPlan(
            alpha=said["alpha"],
            variables=tuple(said["variables"]),
            scales=tuple(said.get("scales", ())),
            exclude=tuple(said["exclude"]),
            exclude_words=said["exclude_words"].replace("\r\n", "\n"),
            resamples=said["resamples"],
        ).as_plain()
