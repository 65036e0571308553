"""The form that starts a replication."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.models import Dataset
from catalog.selectors.datasets import dataset_lines
from core.form_fields import offer
from parallax.replication.stages import PUBLISHED_FACTORS, Settings
from studies.enums import StudyStatus
from studies.simulation.services.pilot import MOST_PER_CONDITION
from studies.team.selectors.studies import readable_studies

LARGEST_SEED = 2**31 - 1
MOST_FACTORS = 10_000
DEFAULT = Settings()


class ReplicationForm(forms.Form):
    """The data that a paper is replicated on, and the settings of a replication with simulated participants."""

    data_from = forms.ChoiceField(
        label="Data", help_text="A dataset with ratings, or one of your closed studies of the paper's algorithms."
    )
    per_condition = forms.IntegerField(
        label="Participants per condition", min_value=2, max_value=MOST_PER_CONDITION, initial=DEFAULT.per_condition
    )
    seed = forms.IntegerField(
        min_value=1,
        max_value=LARGEST_SEED,
        initial=DEFAULT.seed,
        help_text="The same seed gives the same participants and answers.",
    )
    first_factors = forms.IntegerField(
        label="Factors, first PureSVD",
        min_value=1,
        max_value=MOST_FACTORS,
        initial=PUBLISHED_FACTORS[0],
        help_text="Fewer for a small catalogue; then also of AsySVD and LSA.",
    )
    second_factors = forms.IntegerField(
        label="Factors, second PureSVD", min_value=1, max_value=MOST_FACTORS, initial=PUBLISHED_FACTORS[1]
    )
    reserve = forms.FloatField(
        label="Reserved share of users",
        min_value=0.01,
        max_value=0.9,
        initial=DEFAULT.reserve,
        help_text="No model is trained on them; simulated participants answer from their ratings.",
    )
    simulated_fields = ("per_condition", "seed", "first_factors", "second_factors", "reserve")

    def __init__(self, data: Any = None, *, researcher: Any) -> None:
        super().__init__(data)
        self.datasets = Dataset.objects.usable_by(researcher)
        self.studies = {study.slug: study for study in readable_studies(researcher).filter(status=StudyStatus.CLOSED)}
        datasets = [
            (f"dataset:{line.dataset.name}", f"{line.dataset} · version {line.newest.number}")
            for line in dataset_lines(self.datasets)
        ]
        studies = [(f"study:{slug}", study.title) for slug, study in self.studies.items()]
        groups = [("Dataset, with simulated participants", datasets), ("Answers of a closed study", studies)]
        offer(self, "data_from", [("", "Choose"), *(group for group in groups if group[1])])
        if data is not None and str(data.get("data_from", "")).startswith("study:"):
            for name in self.simulated_fields:
                self.fields[name].required = False

    @property
    def dataset_name(self) -> str:
        """The name of the chosen dataset; empty if a study is chosen."""
        kind, _colon, name = self.cleaned_data["data_from"].partition(":")
        return str(name) if kind == "dataset" else ""

    @property
    def study(self) -> Any:
        """The chosen study; None if a dataset is chosen."""
        return None if self.dataset_name else self.studies[self.cleaned_data["data_from"].partition(":")[2]]

    def chosen(self) -> Settings:
        cleaned = self.cleaned_data
        return Settings(
            seed=cleaned["seed"],
            per_condition=cleaned["per_condition"],
            factors=(cleaned["first_factors"], cleaned["second_factors"]),
            reserve=cleaned["reserve"],
        )
