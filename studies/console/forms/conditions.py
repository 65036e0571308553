"""What a draft is about, as its first two stages ask for it: its title, and the models that it compares."""

from __future__ import annotations

from typing import Any

from django import forms

from core.form_fields import offer
from studies.console.forms.stage_form import StageForm
from studies.design.selectors.available_models import available_models
from studies.design.services.conditions import choose_conditions
from studies.design.services.design import change_design
from studies.models import Study


class TitleForm(StageForm):
    """What researchers call the study."""

    title = forms.CharField(max_length=200, help_text="Only researchers see it.")

    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(study, data, initial={"title": study.title})

    def save(self, actor: Any) -> None:
        change_design(study=self.study, actor=actor, title=self.cleaned_data["title"])


class ConditionsForm(StageForm):
    """Which models become conditions, of those that `researcher` sees."""

    refused_field = "models"
    models = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)

    def __init__(self, study: Study, data: Any = None, *, researcher: Any) -> None:
        chosen = list(study.conditions.order_by("position").values_list("model_digest", flat=True))
        super().__init__(study, data, initial={"models": chosen})
        models = available_models(study, researcher)
        has_runs = len({entry.run.pk for entry in models}) > 1
        names = [f"{entry.label} · run {entry.run.pk}" if has_runs else entry.label for entry in models]
        offer(self, "models", zip((entry.model.digest for entry in models), names, strict=True))

    def save(self, actor: Any) -> None:
        choose_conditions(study=self.study, digests=self.cleaned_data["models"], actor=actor)
