"""The analysis plan and the primary test, as the stage asks for them."""

from __future__ import annotations

from typing import Any

from django import forms

from core.field_problems import FieldProblems, read_model
from core.form_fields import offer
from evaluation.models import EvaluationRun
from evaluation.reported_kinds import tested_kinds
from studies.console.forms.setting_fields import setting_field
from studies.console.forms.stage_form import StageForm
from studies.design.narrative.plan import PERCEIVED_LABELS, metric_label, perceived_labels
from studies.design.presets.loader import possible_covariates
from studies.design.selectors.placeholders import key_in_words
from studies.design.services.design import change_design
from studies.instrument import flags
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.models import Study
from studies.settings import PERCEIVED, AnalysisPlan, Contrast, Primary, StudySettings, Thresholds

ADVANTAGE, CONTRAST = "advantage", "contrast"
FLAG_FIELDS = ("fastest_seconds", "fastest_percent", "alike_items", "alike_statements", "alike_ratings")
RARE_FIELDS = ("variables", "scales", "covariates", "alpha", "smallest_effect", "effect", "resamples")
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


def metric_keys(run: EvaluationRun) -> list[str]:
    """The offline metrics that a plan can name: on whole profiles, and on each short one that the run measured."""
    kinds = tested_kinds(run.protocol)
    return [f"{kind}@profile{length}" if length else kind for length in (0, *run.profile_lengths) for kind in kinds]


class PlanForm(StageForm, PlanFields, PrimaryTestFields):
    """Primary pair and test, hypothesis, exclusions and quality flags of a draft."""

    perceived = setting_field(forms.ChoiceField, Primary, "perceived")
    objective = setting_field(forms.ChoiceField, Primary, "objective")
    effect = setting_field(forms.FloatField, StudySettings, "effect")
    hypothesis = setting_field(
        forms.CharField, StudySettings, "hypothesis", required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    fastest_seconds = setting_field(forms.FloatField, Thresholds, "fastest_seconds", max_value=86_400)
    fastest_percent = forms.FloatField(
        label="Too fast below, % of the median time",
        min_value=0,
        max_value=100,
        help_text="Counts once five have completed; the higher of the two limits holds. 0 for no such limit.",
    )
    alike_items = setting_field(forms.IntegerField, Thresholds, "alike_items", max_value=20)
    alike_statements = setting_field(forms.IntegerField, Thresholds, "alike_statements", max_value=100)
    alike_ratings = setting_field(forms.IntegerField, Thresholds, "alike_ratings", max_value=100)

    def __init__(self, study: Study, data: Any = None) -> None:
        design = study.design
        self.thresholds = design.quality
        initial = {
            **design.model_dump(include={"effect", "hypothesis"}),
            **design.primary.model_dump(include={"perceived", "objective", "smallest_effect"}, exclude_none=True),
            **design.quality.model_dump(exclude={"fastest_share"}),
            **self.initial_test(study),
            **self.initial_plan(study),
            "fastest_percent": round(design.quality.fastest_share * 100, 2),
        }
        super().__init__(study, data, initial=initial)
        self.ask(study)
        self.ask_conditions(study)
        offer(self, "perceived", list(perceived_labels(questionnaire_from(study.questionnaire)).items()))
        keys = dict.fromkeys([*metric_keys(study.run), design.primary.objective])
        offer(self, "objective", [(key, metric_label(key, study.run.n)) for key in keys])

    @property
    def flags(self) -> list[forms.BoundField]:
        return [self[name] for name in FLAG_FIELDS]

    @property
    def rest(self) -> list[forms.BoundField]:
        """What is rarely changed."""
        return [self[name] for name in RARE_FIELDS if name in self.fields]

    def _quality(self) -> dict[str, float]:
        cleaned = self.cleaned_data
        share = cleaned["fastest_percent"] / 100
        if round(share, 4) == round(self.thresholds.fastest_share, 4):  # the page shows two decimals of it
            share = self.thresholds.fastest_share
        entered = {**cleaned, "fastest_share": share}
        return {name: entered[name] for name in Thresholds.model_fields}

    def save(self, actor: Any) -> None:
        cleaned = self.cleaned_data
        primary = {"perceived": cleaned["perceived"], "objective": cleaned["objective"], **self.test_settings()}
        changed = {
            "quality": self._quality(),
            "primary": primary,
            "plan": self.plan_settings(),
            **self.refill_settings(self.study),
            "effect": cleaned["effect"],
            "hypothesis": cleaned["hypothesis"].replace("\r\n", "\n"),
        }
        change_design(study=self.study, actor=actor, settings=changed)
