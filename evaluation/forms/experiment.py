"""The form that starts an experiment."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet

from catalog.models import Dataset
from catalog.selectors.datasets import dataset_lines


class ExperimentForm(forms.Form):
    """The dataset on which an experiment is run."""

    dataset = forms.ChoiceField(label="Dataset")

    def __init__(self, data: Any = None, *, datasets: QuerySet[Dataset]) -> None:
        super().__init__(data)
        lines = dataset_lines(datasets)
        names = [(line.dataset.name, f"{line.dataset} · version {line.newest.number}") for line in lines]
        self.fields["dataset"].choices = names  # type: ignore[attr-defined]
