"""The form that builds a report, and the one that chooses what a chapter shows."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from analysis.compute.plans import Overrides
from analysis.enums import VARIABLES
from analysis.files.choices import Choices, Chosen
from core.form_fields import offer
from studies.enums import Mode
from studies.instrument import flags
from studies.models import Study
from studies.settings import HIGHEST_ALPHA, LOWEST_ALPHA

AS_PLANNED, EXCLUDE_NONE, BY_HAND, OTHER = "planned", "none", "by_hand", "flags"


class ReportForm(forms.Form):
    """The study, the participants, and deviations from the plan.

    `studies` are those that the researcher may report.
    """

    study = forms.ModelChoiceField(queryset=Study.objects.none(), to_field_name="slug", empty_label=None)
    mode = forms.ChoiceField(
        label="Answers of",
        required=False,
        choices=[
            ("", "Participants, if any have completed; else simulated ones"),
            (Mode.LIVE, "Participants"),
            (Mode.SIMULATED, "Simulated participants"),
        ],
    )
    alpha = forms.FloatField(
        label="Level α",
        required=False,
        min_value=LOWEST_ALPHA,
        max_value=HIGHEST_ALPHA,
        help_text="Empty: the plan's level. It applies to all tests and orders.",
    )
    leave_out = forms.MultipleChoiceField(
        label="Variables to leave out",
        required=False,
        choices=[(variable.key, variable.name) for variable in VARIABLES],
        widget=forms.CheckboxSelectMultiple,
    )
    exclusions = forms.ChoiceField(
        label="Exclusions",
        required=False,
        choices=[
            (AS_PLANNED, "As planned: by hand, and by the plan's rule"),
            (EXCLUDE_NONE, "None: all participants who completed are analysed"),
            (BY_HAND, "By hand only"),
            (OTHER, "By hand, and participants with one of the flags below"),
        ],
        initial=AS_PLANNED,
    )
    exclude = forms.MultipleChoiceField(
        label="Flags",
        required=False,
        choices=[(key, flags.NAMES[key]) for key in flags.KEYS],
        widget=forms.CheckboxSelectMultiple,
    )

    DEVIATING = ("alpha", "leave_out", "exclusions", "exclude")

    def __init__(self, *args: Any, studies: QuerySet[Study], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["study"]
        field.queryset = studies

    @property
    def plain(self) -> list[forms.BoundField]:
        """The fields that do not deviate from the plan."""
        return [field for field in self if field.name not in self.DEVIATING]

    @property
    def deviating(self) -> list[forms.BoundField]:
        """The fields that deviate from the plan."""
        return [self[name] for name in self.DEVIATING]

    @property
    def has_deviations(self) -> bool:
        """Whether one of those is filled in or has an error."""
        return self.is_bound and any(name in self.errors or name in self.changed_data for name in self.DEVIATING)

    def clean(self) -> dict[str, Any]:
        """Refuse flags without the choice that uses them, and that choice without flags."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if bool(data.get("exclude")) != (data.get("exclusions") == OTHER):
            self.add_error("exclude", "Select flags if they decide the exclusions, and only then.")
        if set(data.get("leave_out", ())) == {variable.key for variable in VARIABLES}:
            self.add_error("leave_out", "Keep at least one variable.")
        return data

    def overrides(self) -> Overrides:
        """The chosen deviations from the plan."""
        data = self.cleaned_data
        exclusions = data["exclusions"] or AS_PLANNED
        return Overrides(
            alpha=data["alpha"],
            leave_out=tuple(data["leave_out"]),
            exclude={EXCLUDE_NONE: (), BY_HAND: (), OTHER: tuple(data["exclude"])}.get(exclusions),
            by_hand=False if exclusions == EXCLUDE_NONE else None,
        )


class ChapterForm(forms.Form):
    """What a chapter shows, all of it optional; a chapter has only the fields that change it."""

    FIELDS = {
        "comparison": ("measure", "metric", "length"),
        "supplement": ("measure", "metric", "length", "significant"),
    }
    measure = forms.ChoiceField(label=_("Measure"), required=False)
    metric = forms.ChoiceField(label=_("Metric"), required=False)
    length = forms.ChoiceField(label=_("Profiles"), required=False)
    significant = forms.BooleanField(label=_("Only significant pairs"), required=False)
    highlight = forms.CharField(required=False)

    def __init__(self, *args: Any, choices: Choices, chapter: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = {"measure": choices.measures, "metric": choices.metrics, "length": choices.lengths}
        for name in ("measure", "metric", "length", "significant"):
            if name not in self.FIELDS.get(chapter, ()):
                del self.fields[name]
            elif name in offered:
                offer(self, name, [("", _("All")), *offered[name]])
        self._choices = choices

    def chosen(self) -> Chosen:
        """The valid choices; a field with another value is ignored and has an error beside it."""
        self.is_valid()
        values = self.cleaned_data
        highlight = values.get("highlight", "")
        return Chosen(
            measure=values.get("measure", ""),
            metric=values.get("metric", ""),
            length=values.get("length", ""),
            is_significant=values.get("significant", False),
            highlight=highlight if highlight in self._choices.algorithms else "",
        )
