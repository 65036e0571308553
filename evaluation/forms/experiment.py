"""The form that starts an experiment."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet

from catalog.models import Dataset
from catalog.selectors.datasets import dataset_lines
from evaluation.experiments.schema import Experiment
from evaluation.services.experiments import lacking_data


class ExperimentForm(forms.Form):
    """The dataset on which an experiment is run; one that has the data it needs is chosen first."""

    dataset = forms.ChoiceField(label="Dataset")

    def __init__(self, data: Any = None, *, datasets: QuerySet[Dataset], experiment: Experiment) -> None:
        super().__init__(data)
        lines = sorted(dataset_lines(datasets), key=lambda line: bool(lacking_data(experiment, line.newest)))
        names = [(line.dataset.name, f"{line.dataset} · version {line.newest.number}") for line in lines]
        self.fields["dataset"].choices = names  # type: ignore[attr-defined]
