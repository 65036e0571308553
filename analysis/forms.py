"""The form that builds a report."""

from __future__ import annotations

from typing import Any

from django import forms

from analysis.enums import VARIABLES
from analysis.selectors.reports import studies_to_report
from analysis.services.plans import Overrides
from studies import flags
from studies.enums import Mode
from studies.models import Study
from studies.plans import HIGHEST_ALPHA, LOWEST_ALPHA

AS_PLANNED, TAKE_ALL, BY_HAND, OTHER = "planned", "everybody", "by_hand", "flags"


class ReportForm(forms.Form):
    """Which study, whose answers, and what is to be otherwise than planned.

    A study that the researcher may not report is not among the choices.
    """

    study = forms.ModelChoiceField(queryset=Study.objects.none(), to_field_name="slug", empty_label=None)
    mode = forms.ChoiceField(
        label="Whose answers",
        required=False,
        choices=[
            ("", "Participants, if any have completed; else simulated ones"),
            (Mode.LIVE, "Participants"),
            (Mode.SIMULATED, "Simulated participants"),
        ],
    )
    alpha = forms.FloatField(
        label="Another level α",
        required=False,
        min_value=LOWEST_ALPHA,
        max_value=HIGHEST_ALPHA,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Empty for the plan's. All tests and orders follow.",
    )
    leave_out = forms.MultipleChoiceField(
        label="Variables to leave out",
        required=False,
        choices=[(variable.key, variable.name) for variable in VARIABLES],
        widget=forms.CheckboxSelectMultiple,
    )
    exclusions = forms.ChoiceField(
        label="Who is left out",
        required=False,
        choices=[
            (AS_PLANNED, "As planned: by hand, and by the plan's rule"),
            (TAKE_ALL, "Nobody: everybody who completed is analysed"),
            (BY_HAND, "Only those excluded by hand"),
            (OTHER, "By hand, and whoever has one of the flags below"),
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

    def __init__(self, *args: Any, researcher: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.fields["study"]
        if isinstance(chosen, forms.ModelChoiceField):
            chosen.queryset = studies_to_report(researcher)

    @property
    def plain(self) -> list[forms.BoundField]:
        """The fields that deviate from no plan."""
        return [field for field in self if field.name not in self.DEVIATING]

    @property
    def deviating(self) -> list[forms.BoundField]:
        """The fields that do."""
        return [self[name] for name in self.DEVIATING]

    @property
    def has_deviations(self) -> bool:
        """Whether one of them is filled in, or was refused."""
        return self.is_bound and any(name in self.errors or name in self.changed_data for name in self.DEVIATING)

    def clean(self) -> dict[str, Any]:
        """Refuse flags without the choice that uses them, and that choice without flags."""
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if bool(said.get("exclude")) != (said.get("exclusions") == OTHER):
            self.add_error("exclude", "Tick flags where they decide who is left out, and only there.")
        if set(said.get("leave_out", ())) == {variable.key for variable in VARIABLES}:
            self.add_error("leave_out", "Leave at least one variable in.")
        return said

    def overrides(self) -> Overrides:
        """What was chosen otherwise than the plan."""
        said = self.cleaned_data
        exclusions = said["exclusions"] or AS_PLANNED
        return Overrides(
            alpha=said["alpha"],
            leave_out=tuple(said["leave_out"]),
            exclude={TAKE_ALL: (), BY_HAND: (), OTHER: tuple(said["exclude"])}.get(exclusions),
            by_hand=False if exclusions == TAKE_ALL else None,
        )
