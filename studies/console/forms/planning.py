"""What a researcher states on the pages about power, cost and simulated participants."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from studies.design.selectors.planning import WISHED_POWER, planned_number
from studies.flow_pages import IN_TURN
from studies.models import Study
from studies.simulation.services.pilot import MOST_PER_CONDITION

LARGEST_SEED = 2**31 - 1


class PowerForm(forms.Form):
    """An effect and a power, and for the simulation the means of the conditions; what is left out is the plan's."""

    f = forms.FloatField(
        label="Effect size f",
        min_value=0.01,
        max_value=10,
        help_text=".10 small, .25 medium, .40 large",
    )
    power = forms.FloatField(label="Target power (1 − β)", min_value=0.01, max_value=0.9999)
    alpha = forms.FloatField(label="Level α", min_value=0.0001, max_value=0.5)
    planned = forms.IntegerField(label="Planned per condition", min_value=2, max_value=10_000)
    means = forms.CharField(
        label="Stated means, for the simulation",
        required=False,
        max_length=500,
        help_text="One for each condition, with commas between, in points of the answer scale. May be empty.",
    )
    sd = forms.FloatField(label="Standard deviation of one answer", min_value=0.01, max_value=10, initial=1.0)
    items = forms.IntegerField(
        label="Answers per participant",
        min_value=1,
        max_value=50,
        help_text="Their mean is the participant’s value: the length of the list for accuracy, 1 for satisfaction.",
    )

    def __init__(self, study: Study, data: Any = None) -> None:
        self.n_conditions, planned = planned_number(study)
        initial = {
            "f": study.design.effect,
            "power": WISHED_POWER,
            "alpha": study.design.plan.alpha,
            "planned": max(planned, 2),
            "means": "",
            "sd": 1.0,
            "items": study.design.longest_list,
        }
        super().__init__({**initial, **data.dict()} if data else initial)
        if study.design.flow.lists.is_several:
            self.fields["planned"].label = "Planned participants"
            is_in_turn = study.design.flow.lists.shown == IN_TURN
            for name in ("power", "means", "sd", "items", *(() if is_in_turn else ("f",))):
                del self.fields[name]

    def clean(self) -> dict[str, Any]:
        if self.n_conditions < 2:
            raise ValidationError("Power compares conditions, and this study has fewer than two.")
        return self.cleaned_data

    def clean_means(self) -> tuple[float, ...]:
        parts = [part.strip() for part in self.cleaned_data["means"].replace(";", ",").split(",") if part.strip()]
        try:
            means = tuple(float(part) for part in parts)
        except ValueError as problem:
            raise ValidationError("Give numbers with commas between them, such as 3, 3, 3.5.") from problem
        if means and len(means) != self.n_conditions:
            raise ValidationError(f"There are {self.n_conditions} conditions; {len(means)} means are given.")
        if any(not 1.0 <= mean <= 5.0 for mean in means):
            raise ValidationError("Each mean lies on the answer scale, from 1 to 5.")
        return means


class CostForm(forms.Form):
    """What a participant is paid, and what the panel adds."""

    reward = forms.DecimalField(
        label="Reward of one participant",
        min_value=Decimal(0),
        max_value=Decimal(100_000),
        decimal_places=2,
        required=False,
        help_text="In any currency. May be empty.",
    )
    fee = forms.DecimalField(
        label="Fee of the panel, in percent",
        min_value=Decimal(0),
        max_value=Decimal(500),
        decimal_places=2,
        required=False,
        help_text="Of the rewards.",
    )


class SimulationForm(forms.Form):
    """How many simulated participants walk through the study, and their seed."""

    per_condition = forms.IntegerField(
        label="Participants per condition",
        min_value=1,
        max_value=MOST_PER_CONDITION,
        initial=2,
        help_text="In total, with those simulated before.",
    )
    seed = forms.IntegerField(
        min_value=1,
        max_value=LARGEST_SEED,
        initial=1,
        help_text="The same seed gives the same participants and answers.",
    )
