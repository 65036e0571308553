"""The form that makes a run; what it means is checked by the service."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.selectors.datasets import dataset_lines
from recommenders import registry

# One key may stand for several conditions: PureSVD is measured at two numbers of factors.
STUDY = ("toppop", "corngr", "nncosngr", "asysvd", "puresvd", "lsa")  # of Cremonesi et al. (2011): ticked at first
CONDITIONS = {"puresvd": ("puresvd:factors=50", "puresvd:factors=300")}


def algorithm_choices() -> list[tuple[str, str]]:
    """Give each algorithm as it is written in a command, and by title."""
    choices = []
    for key in registry.keys():  # noqa: SIM118 — a function, not a mapping's
        for text in CONDITIONS.get(key, (key,)):
            _, params = registry.parse(text)
            kind = registry.algorithm(key)
            label = kind.label(params)
            choices.append((text, f"{label} · {kind.title.removesuffix(f' ({kind.name})')}"))
    return choices


class RunForm(forms.Form):
    """Dataset, algorithms, split, protocol and seed of a new run."""

    dataset = forms.ChoiceField(label="Dataset")
    algorithms = forms.MultipleChoiceField(label="Algorithms", widget=forms.CheckboxSelectMultiple, required=False)
    more = forms.CharField(
        label="More algorithms",
        required=False,
        help_text="As in a command, separated by commas: puresvd:factors=150",
    )
    share = forms.FloatField(label="Share of ratings to hide", initial=0.1, min_value=0.001, max_value=0.9)
    reserve = forms.FloatField(
        label="Share of users to reserve",
        initial=0.15,
        min_value=0,
        max_value=0.9,
        help_text="Taken out before anything else, so that no model sees them; simulated participants stand on them.",
    )
    negatives = forms.IntegerField(
        label="Unrated items beside each test item", initial=1000, min_value=1, max_value=1_000_000
    )
    relevant = forms.FloatField(label="Relevant from a rating of", initial=5)
    irrelevant = forms.FloatField(label="Irrelevant up to a rating of", initial=1)
    n = forms.IntegerField(label="Length of the list (N)", initial=5, min_value=1, max_value=100)
    profile_length = forms.IntegerField(
        label="Measure also with profiles of",
        initial=5,
        min_value=1,
        max_value=1000,
        help_text="Ratings; what a participant gives.",
    )
    seed = forms.IntegerField(label="Seed", initial=1, min_value=0)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        names = [(line.dataset.name, f"{line.dataset} · version {line.newest.number}") for line in dataset_lines()]
        choices = algorithm_choices()
        self.fields["dataset"].choices = names  # type: ignore[attr-defined]
        self.fields["algorithms"].choices = choices  # type: ignore[attr-defined]
        self.fields["algorithms"].initial = [text for text, _ in choices if text.partition(":")[0] in STUDY]

    def algorithms_text(self) -> str:
        """Give the chosen algorithms as one text, ticked ones first."""
        chosen = [*self.cleaned_data["algorithms"], self.cleaned_data["more"].strip()]
        return ",".join(filter(None, chosen))
