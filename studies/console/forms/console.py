"""Forms of the console's study pages; what they mean is checked by the services."""

from __future__ import annotations

from typing import Any

from django import forms

from core.form_fields import offer
from evaluation.models import EvaluationRun
from evaluation.reported_kinds import tested_kinds
from studies.console.forms.assignment import AssignmentForm
from studies.console.forms.plan import PlanFields, PrimaryTestFields
from studies.console.forms.setting_fields import setting_field
from studies.console.forms.texts import (
    missing_texts,
    noun_fields,
    noun_forms,
    noun_key,
    text_fields,
    text_key,
    written_nouns,
    written_texts,
)
from studies.design.narrative.plan import metric_label, perceived_labels
from studies.design.selectors.texts import (
    CHANGEABLE_TEXTS,
    interface_languages,
    language_name,
    languages_in_translation,
    languages_of,
    written_languages,
)
from studies.design.services.design import age_limits
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.known_items import FIVE_STARS, HALF_STARS, LIKES, SCALES, SEVEN_POINTS, TEN_POINTS
from studies.models import Study
from studies.settings import Primary, StudySettings, Thresholds
from studies.usage_data import CHOICE, STARS, is_usage

ORDER_LABELS = {
    "random": "At random for each participant",
    "popularity": "Most rated first",
    "title": "By title",
    "strata": "Mixed evenly from well known to little known, at random for each participant",
    "entropy0": "Most informative first: entropy of ratings with missing ones (entropy0), the same for everyone",
    "pop-entropy": "Most informative first: log popularity × entropy of ratings, the same for everyone",
}
ELICITATION_LABELS = {
    STARS: "Rate them",
    CHOICE: "Choose them",
}
SCALE_LABELS = {
    FIVE_STARS.key: "1 to 5, stars",
    HALF_STARS.key: "0.5 to 5, stars in half steps",
    SEVEN_POINTS.key: "1 to 7, numbers",
    TEN_POINTS.key: "1 to 10, numbers",
    LIKES.key: "Dislike or like",
}
PLAIN_SETTINGS = ("ratings_asked", "list_length", "item_order", "idle_minutes")
ASSIGNMENT = "Assignment to conditions"
PLAN = "Plan of the analysis"
TEXTS = "Texts"


def metric_keys(run: EvaluationRun) -> list[str]:
    """The offline metrics that a plan can name: on whole profiles, and on each short one that the run measured."""
    kinds = tested_kinds(run.protocol)
    return [f"{kind}@profile{length}" if length else kind for length in (0, *run.profile_lengths) for kind in kinds]


class DesignForm(PlanFields, PrimaryTestFields, AssignmentForm):
    """What can be set of a draft."""

    title = forms.CharField(max_length=200)
    ratings_asked = setting_field(forms.IntegerField, StudySettings, "ratings_asked")
    ratings_most = setting_field(forms.IntegerField, StudySettings, "ratings_most")
    elicitation_scale = setting_field(
        forms.ChoiceField, StudySettings, "elicitation_scale", choices=list(SCALE_LABELS.items())
    )
    list_length = setting_field(forms.IntegerField, StudySettings, "list_length")
    elicitation = setting_field(
        forms.ChoiceField, StudySettings, "elicitation", choices=list(ELICITATION_LABELS.items())
    )
    taken_from = setting_field(forms.FloatField, StudySettings, "taken_from")
    item_order = setting_field(forms.ChoiceField, StudySettings, "item_order", choices=list(ORDER_LABELS.items()))
    idle_minutes = setting_field(forms.IntegerField, StudySettings, "idle_minutes")
    youngest = forms.IntegerField(label="Youngest age", min_value=1, max_value=120)
    oldest = forms.IntegerField(label="Oldest age", min_value=1, max_value=120)
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
    languages = setting_field(forms.MultipleChoiceField, StudySettings, "languages")
    SECTIONS = (
        (
            "The study",
            (
                *("title", "elicitation", "elicitation_scale", "taken_from", "ratings_asked", "ratings_most"),
                *("list_length", "item_order", "idle_minutes", "youngest", "oldest"),
            ),
        ),
        (ASSIGNMENT, tuple(AssignmentForm.base_fields)),
        ("Quality flags", ("fastest_seconds", "fastest_percent", "alike_items", "alike_statements", "alike_ratings")),
        (
            PLAN,
            ("perceived", "objective", *PrimaryTestFields.base_fields, *PlanFields.base_fields, "effect", "hypothesis"),
        ),
        (TEXTS, ("languages",)),
    )

    def __init__(self, study: Study, data: Any = None) -> None:
        self.study = study
        youngest, oldest = age_limits(study)
        design = study.design
        self.thresholds = design.quality
        initial = {
            **design.model_dump(include={*PLAIN_SETTINGS, "elicitation", "elicitation_scale", "effect", "hypothesis"}),
            **design.primary.model_dump(include={"perceived", "objective", "smallest_effect"}, exclude_none=True),
            **design.quality.model_dump(exclude={"fastest_share"}),
            **self.initial_test(study),
            **self.initial_plan(study),
            "title": study.title,
            "youngest": youngest,
            "oldest": oldest,
            "ratings_most": design.items_asked.most,
            "taken_from": design.model_copy(update={"elicitation": "stars"}).lowest_taken,
            "fastest_percent": round(design.quality.fastest_share * 100, 2),
        }
        self.written = tuple(dict.fromkeys([*written_languages(study), *interface_languages()]))
        self.translating = frozenset(languages_in_translation(study))
        texts: dict[str, forms.Field] = {
            **noun_fields(study, self.written),
            **text_fields(study, self.written, CHANGEABLE_TEXTS, may_be_empty=True),
        }
        offered = [code for code in study.design.languages if code in self.written]
        initial |= {
            "languages": offered or list(languages_of(study)),
            **{key: field.initial for key, field in texts.items()},
        }
        super().__init__(study, data, initial=initial)
        if not is_usage(study.dataset_version):
            del self.fields["taken_from"]
        self.fields.update(texts)
        offer(self, "languages", [(code, language_name(code)) for code in self.written])
        self.ask(study)
        self.ask_conditions(study)
        labels = perceived_labels(questionnaire_from(study.questionnaire))
        offer(self, "perceived", list(labels.items()))
        objective = study.design.primary.objective
        keys = [*metric_keys(study.run), objective]
        offer(self, "objective", [(key, metric_label(key, study.run.n)) for key in dict.fromkeys(keys)])
        self.keep_entered(data)

    @property
    def sections(self) -> list[tuple[str, list[forms.BoundField]]]:
        return [
            (title, [self[name] for name in names if name in self.fields and not self[name].is_hidden])
            for title, names in self.SECTIONS
        ]

    @property
    def text_groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        return [
            (
                language_name(language),
                [
                    *(self[noun_key(name, language)] for name, *_texts in noun_forms(language)),
                    *(self[text_key(name, language)] for name in CHANGEABLE_TEXTS),
                ],
            )
            for language in self.written
        ]

    def clean(self) -> dict[str, Any] | None:
        """Require the texts of each offered language that was complete before; the launch requires the others."""
        cleaned = super().clean()
        if self.cleaned_data.get("elicitation") == CHOICE:  # nothing is rated
            for name in ("taken_from", "elicitation_scale"):
                self.errors.pop(name, None)
                self.cleaned_data.pop(name, None)
        fewest, most = self.cleaned_data.get("ratings_asked"), self.cleaned_data.get("ratings_most")
        if fewest and most and most < fewest:
            self.add_error(
                "ratings_most", f"At least {fewest}, the number above. Equal numbers ask for exactly this number."
            )
        scale = SCALES.get(self.cleaned_data.get("elicitation_scale", ""), FIVE_STARS).scale
        if "taken_from" in self.cleaned_data and not scale.holds(self.cleaned_data["taken_from"]):
            self.add_error("taken_from", f"A rating {scale.words()}.")
        complete = [code for code in self.cleaned_data.get("languages", ()) if code not in self.translating]
        for key in missing_texts(self.cleaned_data, complete, CHANGEABLE_TEXTS):
            self.add_error(key, "Required in every language the study is offered in.")
        return cleaned

    def _elicitation(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        changed: dict[str, Any] = {"ratings_most": cleaned["ratings_most"]}
        if cleaned["elicitation"] != self.study.design.elicitation:
            changed["elicitation"] = cleaned["elicitation"]
        if "elicitation_scale" in cleaned:
            changed["elicitation_scale"] = cleaned["elicitation_scale"]
        if lowest := cleaned.get("taken_from"):
            changed["taken_from"] = int(lowest) if lowest.is_integer() else lowest
        return changed

    def _quality(self) -> dict[str, float]:
        cleaned = self.cleaned_data
        share = cleaned["fastest_percent"] / 100
        if round(share, 4) == round(self.thresholds.fastest_share, 4):  # the page shows two decimals of it
            share = self.thresholds.fastest_share
        entered = {**cleaned, "fastest_share": share}
        return {name: entered[name] for name in Thresholds.model_fields}

    def changes(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        return {
            "title": cleaned["title"],
            "per_condition": cleaned["per_condition"],
            "targets": cleaned["targets"],
            "settings": {
                **{name: cleaned[name] for name in PLAIN_SETTINGS},
                **self._elicitation(),
                **self.assignment_settings(),
                "quality": self._quality(),
                "primary": {
                    "perceived": cleaned["perceived"],
                    "objective": cleaned["objective"],
                    **self.test_settings(),
                },
                "plan": self.plan_settings(),
                **self.refill_settings(self.study),
                "languages": cleaned["languages"],
                **written_nouns(self, self.study, self.written),
                "effect": cleaned["effect"],
                "hypothesis": cleaned["hypothesis"].replace("\r\n", "\n"),
            },
            "ages": (cleaned["youngest"], cleaned["oldest"]),
            "texts": {
                language: own
                for language, own in written_texts(self, self.written, CHANGEABLE_TEXTS).items()
                if language in self.study.texts or any(own.values())
            },
        }
