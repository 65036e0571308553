"""A group of simulated participants to request."""

from __future__ import annotations

from django import forms

from studies.simulation.services.simulation_jobs import MOST_PER_CONDITION

LARGEST_SEED = 2**31 - 1


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
