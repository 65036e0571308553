"""The form of a new study; what it means is checked by the service."""

from __future__ import annotations

from typing import Any

from django import forms

from core.form_fields import offer
from evaluation.models import EvaluationRun
from evaluation.selectors.results import is_pooled
from studies.design.presets.loader import load_preset, preset_keys
from studies.team.selectors.studies import runs_to_study


class _RunChoice(forms.ModelChoiceField[EvaluationRun]):
    def label_from_instance(self, run: EvaluationRun) -> str:
        label = f"Run {run.pk} on {run.version.dataset} · {run.n_algorithms} algorithms"  # type: ignore[attr-defined]
        return label if is_pooled(run) else f"{label} · {run.protocol['name']}"


class NewStudyForm(forms.Form):
    """A study from a template, on the models of a finished run."""

    title = forms.CharField(
        max_length=200,
        help_text="Only researchers see it. The title that participants see is one of the texts of the design.",
    )
    slug = forms.SlugField(
        max_length=80, label="Link", help_text="The end of the participants’ address, such as good-films."
    )
    template = forms.ChoiceField()
    run = _RunChoice(queryset=EvaluationRun.objects.none(), label="Models", empty_label=None)
    per_condition = forms.IntegerField(label="Participants per condition", min_value=1, max_value=10_000, initial=30)

    def __init__(self, *args: Any, researcher: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "template", [(key, f"{load_preset(key).title} · {key}") for key in preset_keys()])
        offer(self, "run", runs_to_study(researcher))
