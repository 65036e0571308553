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
from studies.presentation import Factor, Level, Presentation


class TitleForm(StageForm):
    """What researchers call the study."""

    title = forms.CharField(max_length=200, help_text="Only researchers see it.")

    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(study, data, initial={"title": study.title})

    def save(self, actor: Any) -> None:
        change_design(study=self.study, actor=actor, title=self.cleaned_data["title"])


def _factor(key: str, **levels: Presentation) -> Factor:
    return Factor(key=key, levels=tuple(Level(name=name, presentation=shown) for name, shown in levels.items()))


# The presentation factors that the page offers, with what it calls them; files can state any.
OFFERED = {
    "Explanations: without and by the participant’s ratings": _factor(
        "explanation", plain=Presentation(), explained=Presentation(explanation="model")
    ),
    "Layout: list and grid": _factor("layout", list=Presentation(), grid=Presentation(layout="grid")),
    "Order: as ranked and shuffled": _factor("order", ranked=Presentation(), shuffled=Presentation(order="shuffled")),
}
OTHER = "other"  # factors of the design that the page does not offer


class ConditionsForm(StageForm):
    """Which models become conditions, of those that `researcher` sees, and the presentations they are crossed with."""

    refused_field = "models"
    folded = {"Presentation": ("presentation",)}
    models = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)
    presentation = forms.ChoiceField(
        required=False, help_text="Each recommender is shown in each of these ways; every combination is a condition."
    )

    def __init__(self, study: Study, data: Any = None, *, researcher: Any) -> None:
        chosen = list(study.conditions.order_by("position").values_list("model_digest", flat=True))
        self.factors = tuple(factor for factor in study.design.factors if not factor.is_of_recommenders)
        shown = next((factor.key for factor in OFFERED.values() if (factor,) == self.factors), OTHER)
        super().__init__(study, data, initial={"models": chosen, "presentation": shown if self.factors else ""})
        models = available_models(study, researcher)
        has_runs = len({entry.run.pk for entry in models}) > 1
        names = [f"{entry.label} · run {entry.run.pk}" if has_runs else entry.label for entry in models]
        offer(self, "models", zip((entry.model.digest for entry in models), names, strict=True))

        offered = [("", "One for all conditions"), *((factor.key, name) for name, factor in OFFERED.items())]
        if self.factors and shown == OTHER:
            offered.append((OTHER, f"As in the design: {'; '.join(factor.words for factor in self.factors)}"))
        offer(self, "presentation", offered)

    def save(self, actor: Any) -> None:
        key = self.cleaned_data["presentation"]
        chosen = self.factors if key == OTHER else [factor for factor in OFFERED.values() if factor.key == key]
        choose_conditions(study=self.study, digests=self.cleaned_data["models"], presentations=chosen, actor=actor)
