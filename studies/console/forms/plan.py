"""The analysis plan and the primary test, as the stage asks for them."""

from __future__ import annotations

from typing import Any

from django import forms

from core.field_problems import FieldProblems, read_model
from core.form_fields import offer
from documents.numbers import capital
from evaluation.models import EvaluationRun
from evaluation.reported_kinds import tested_kinds
from studies.console.forms.setting_fields import setting_field
from studies.console.forms.stage_form import StageForm
from studies.design.narrative.plan import metric_label, perceived_labels
from studies.design.presets.loader import possible_covariates
from studies.design.selectors.placeholders import key_in_words
from studies.design.services.design import change_design
from studies.effects import possible_effects
from studies.instrument import flags
from studies.instrument.flow import questionnaire_of
from studies.models import Study
from studies.settings import PERCEIVED, SCALE_PREFIX, AnalysisPlan, Contrast, Primary, StudySettings, Thresholds

ADVANTAGE, CONTRAST = "advantage", "contrast"
SETS = {"higher": "contrast_higher", "lower": "contrast_lower"}


def metric_keys(run: EvaluationRun) -> list[str]:
    """The offline metrics that a plan can name: on whole profiles, and on each short one that the run measured."""
    kinds = tested_kinds(run.protocol)
    return [f"{kind}@profile{length}" if length else kind for length in (0, *run.profile_lengths) for kind in kinds]


class PlanForm(StageForm):
    """Primary pair and test, hypothesis, exclusions and quality flags of a draft."""

    folded = {
        "Other exclusions": ("exclude_words", "refill_excluded"),
        "Quality flags": ("fastest_seconds", "fastest_percent", "alike_items", "alike_statements", "alike_ratings"),
        "Tests and effects": (
            "variables",
            "scales",
            "outcomes",
            "covariates",
            "alpha",
            "smallest_effect",
            "effect",
            "resamples",
        ),
    }
    perceived = setting_field(forms.ChoiceField, Primary, "perceived")
    objective = setting_field(forms.ChoiceField, Primary, "objective")
    primary_test = forms.ChoiceField(
        label="Primary test",
        choices=[
            (ADVANTAGE, "Average advantage of the metric’s better conditions in the primary variable"),
            (CONTRAST, "Planned contrast of the primary variable between conditions"),
        ],
        required=False,
        help_text="The average advantage is the mean difference between the better and the worse condition, over all "
        "pairs that the primary metric separates. Where the primary variable is a choice or recorded behaviour, its "
        "shares are compared over all conditions instead.",
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
    hypothesis = setting_field(
        forms.CharField, StudySettings, "hypothesis", required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    exclude = setting_field(
        forms.MultipleChoiceField, AnalysisPlan, "exclude", choices=[(key, flags.NAMES[key]) for key in flags.KEYS]
    )
    exclude_words = setting_field(
        forms.CharField, AnalysisPlan, "exclude_words", required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    refill_excluded = setting_field(forms.BooleanField, StudySettings, "refill_excluded", required=False)
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
    variables = setting_field(forms.MultipleChoiceField, AnalysisPlan, "variables")
    scales = setting_field(forms.MultipleChoiceField, AnalysisPlan, "scales")
    outcomes = setting_field(forms.MultipleChoiceField, AnalysisPlan, "outcomes")
    covariates = setting_field(forms.MultipleChoiceField, AnalysisPlan, "covariates")
    alpha = setting_field(forms.FloatField, AnalysisPlan, "alpha")
    smallest_effect = setting_field(forms.FloatField, Primary, "smallest_effect", required=False, min_value=0.001)
    effect = setting_field(forms.FloatField, StudySettings, "effect")
    resamples = setting_field(forms.IntegerField, AnalysisPlan, "resamples")

    def __init__(self, study: Study, data: Any = None) -> None:
        design, questionnaire = study.design, questionnaire_of(study)
        self.thresholds, contrast, effect = design.quality, design.primary.contrast, design.primary.effect
        initial = {
            **design.model_dump(include={"effect", "hypothesis", "refill_excluded"}),
            **design.primary.model_dump(include={"perceived", "objective", "smallest_effect"}, exclude_none=True),
            **design.quality.model_dump(exclude={"fastest_share"}),
            **design.plan.in_full(),
            "primary_test": effect.words if effect else CONTRAST if contrast else ADVANTAGE,
            "contrast_sides": contrast.sides if contrast else 2,
            **({field: list(getattr(contrast, name)) for name, field in SETS.items()} if contrast else {}),
            "fastest_percent": round(design.quality.fastest_share * 100, 2),
        }
        super().__init__(study, data, initial=initial)
        perceived = perceived_labels(questionnaire, design)
        offer(self, "perceived", list(perceived.items()))
        keys = dict.fromkeys([*metric_keys(study.run), design.primary.objective])
        offer(self, "objective", [(key, metric_label(key, study.run.n)) for key in keys])
        conditions = list(study.conditions.select_related("model").order_by("position"))
        labels = [condition.label for condition in conditions]
        self.effects = {each.words: each for each in [*possible_effects(conditions), *([effect] if effect else [])]}
        tests = PlanForm.base_fields["primary_test"].choices  # type: ignore[attr-defined]
        offer(self, "primary_test", [*tests, *((words, capital(words)) for words in self.effects)])
        own = {
            "variables": [(key, label) for key, label in perceived.items() if key in PERCEIVED],
            "scales": [(scale.key, next(iter(scale.name.values()))) for scale in questionnaire.scales],
            "outcomes": [
                (key, label)
                for key, label in perceived.items()
                if key not in PERCEIVED and not key.startswith(SCALE_PREFIX)
            ],
            "covariates": [(key, key_in_words(key, design)) for key in possible_covariates(questionnaire)],
        }
        for name in SETS.values():
            offer(self, name, [(label, label) for label in labels])
        for name, offered in own.items():
            if offered:
                offer(self, name, offered)
            else:
                del self.fields[name]

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if not any(self.cleaned_data.get(name) for name in ("variables", "scales", "outcomes")):
            self.add_error("perceived", "The plan tests nothing. Tick at least one variable, scale or question.")
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

    def _primary(self) -> dict[str, Any]:
        names = ("perceived", "objective", "smallest_effect")
        primary = {name: self.cleaned_data[name] for name in names if self.cleaned_data[name] is not None}
        test = self.cleaned_data["primary_test"]
        if test in self.effects:
            return primary | {"effect": self.effects[test].stored()}
        is_contrast = test == CONTRAST
        return primary | ({"contrast": self._contrast().stored()} if is_contrast else {})

    def _plan(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        keys = {
            name: tuple(cleaned.get(name, ())) for name in ("variables", "scales", "outcomes", "covariates", "exclude")
        }
        words = cleaned["exclude_words"].replace("\r\n", "\n")
        plan = AnalysisPlan(alpha=cleaned["alpha"], exclude_words=words, resamples=cleaned["resamples"], **keys)
        return plan.in_full()

    def _quality(self) -> dict[str, float]:
        cleaned = self.cleaned_data
        share = cleaned["fastest_percent"] / 100
        if round(share, 4) == round(self.thresholds.fastest_share, 4):  # the page shows two decimals of it
            share = self.thresholds.fastest_share
        entered = {**cleaned, "fastest_share": share}
        return {name: entered[name] for name in Thresholds.model_fields}

    def save(self, actor: Any) -> None:
        cleaned = self.cleaned_data
        changed = {
            "quality": self._quality(),
            "primary": self._primary(),
            "plan": self._plan(),
            "effect": cleaned["effect"],
            "hypothesis": cleaned["hypothesis"].replace("\r\n", "\n"),
        }
        # Where a design has no such setting, none means no refill, and its hash stays.
        if cleaned["refill_excluded"] or "refill_excluded" in self.study.design.model_fields_set:
            changed["refill_excluded"] = cleaned["refill_excluded"]
        change_design(study=self.study, actor=actor, settings=changed)
