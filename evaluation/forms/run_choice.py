"""The forms that choose among runs: two to compare, and those that a list shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet

from core.form_fields import offer
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun
from evaluation.protocols.registry import PROTOCOLS
from evaluation.selectors.run_comparison import Difference
from evaluation.selectors.runs import datasets_with_runs
from evaluation.tables import title_of


class CompareForm(forms.Form):
    """Two runs to compare, and which of their differences to show."""

    a = forms.ModelChoiceField(label="Run A", queryset=EvaluationRun.objects.none(), empty_label=None)
    b = forms.ModelChoiceField(label="Run B", queryset=EvaluationRun.objects.none(), empty_label="Choose a run")
    metric = forms.CharField(label="Metric", required=False, widget=forms.Select(choices=[("", "All")]))
    significant = forms.BooleanField(label="Only significant differences", required=False)

    def __init__(self, *args: Any, runs: QuerySet[EvaluationRun], **kwargs: Any) -> None:
        """`runs` are those to choose from."""
        super().__init__(*args, **kwargs)
        for name in ("a", "b"):
            offer(self, name, runs)
            self.fields[name].label_from_instance = run_line  # type: ignore[attr-defined]

    def shown(self, differences: Sequence[Difference]) -> list[Difference]:
        """Those differences that the fields ask for; the metrics of all of them can then be chosen."""
        metrics = list(dict.fromkeys(difference.metric for difference in differences))
        self.fields["metric"].widget.choices = [("", "All"), *((name, name) for name in metrics)]
        metric = self.cleaned_data.get("metric")
        if metric and metric not in metrics:
            self.add_error("metric", f"The two runs have no metric {metric} in common. Choose one of the list.")
            metric = ""
        return [
            difference
            for difference in differences
            if metric in ("", None, difference.metric)
            and (difference.is_significant or not self.cleaned_data.get("significant"))
        ]


def run_line(run: EvaluationRun) -> str:
    """Describe a run in one line."""
    protocol, split = title_of(run.protocol["name"]), title_of(run.split["name"])
    return f"Run {run.pk} · {run.version} · {protocol} · {split} · seed {run.seed}"


class RunFilterForm(forms.Form):
    """Which runs a list shows; an empty field means any."""

    dataset = forms.ChoiceField(label="Dataset", required=False)
    protocol = forms.ChoiceField(
        label="Protocol",
        required=False,
        choices=[("", "Any"), *((definition.key, definition.title) for definition in PROTOCOLS.values())],
    )
    status = forms.ChoiceField(label="Status", required=False, choices=[("", "Any"), *RunStatus.choices])

    def __init__(self, *args: Any, researcher: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "dataset", [("", "Any"), *datasets_with_runs(researcher)])

    def chosen(self) -> dict[str, str]:
        """The valid choices by name; a field with another value is empty and has an error."""
        self.is_valid()
        return {name: self.cleaned_data.get(name, "") for name in self.fields}

    @property
    def is_used(self) -> bool:
        """Whether a field restricts the list."""
        return any(self.chosen().values()) or bool(self.errors)
