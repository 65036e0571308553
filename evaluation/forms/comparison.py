"""The form that chooses two runs to compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet

from evaluation.models import EvaluationRun
from evaluation.selectors.run_comparison import Difference
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
            self.fields[name].queryset = runs  # type: ignore[attr-defined]
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
