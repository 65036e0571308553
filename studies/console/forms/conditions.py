"""What a draft is about, as its first two stages ask for it: its title, and the models that it compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from core.form_fields import offer
from studies.console.forms.stage_form import StageForm
from studies.design.selectors.available_models import available_models
from studies.design.selectors.texts import language_name, languages_of
from studies.design.services.conditions import choose_conditions
from studies.design.services.design import change_design
from studies.models import Study
from studies.presentation import LONGEST_TEXT, Factor, Level, Presentation


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


# The texts of explanations: the part of a presentation, what the page calls it, and what it is for.
TEXTS = (
    ("fallback", "Fallback text", "Shown with an item that the recommender cannot explain."),
    ("wording", "Own wording", "{items} is replaced by the rated items. Empty: the platform’s own sentence."),
)


def _with_texts(factors: Sequence[Factor], texts: Mapping[str, Mapping[str, str]]) -> list[Factor]:
    """The factors with these texts, by part and language, in each level that explains."""
    stated = [factor.model_dump(exclude_unset=True) for factor in factors]
    for factor in stated:
        for shown in (level["presentation"] for level in factor["levels"]):
            if shown.get("explanation"):
                shown.update(texts)
                for name in [name for name in texts if not shown[name]]:
                    del shown[name]
    return [Factor.model_validate(factor) for factor in stated]


def _explaining(factors: Sequence[Factor]) -> list[Presentation]:
    levels = [level.presentation for factor in factors for level in factor.levels]
    return [presentation for presentation in levels if presentation and presentation.explains]


class ConditionsForm(StageForm):
    """Which models become conditions, of those that `researcher` sees, and the presentations they are crossed with."""

    refused_field = "models"
    models = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)
    presentation = forms.ChoiceField(
        required=False, help_text="Each recommender is shown in each of these ways; every combination is a condition."
    )

    def __init__(self, study: Study, data: Any = None, *, researcher: Any) -> None:
        chosen = list(study.conditions.order_by("position").values_list("model_digest", flat=True))
        self.factors = [factor for factor in study.design.factors if not factor.is_of_recommenders]
        plain = _with_texts(self.factors, {name: {} for name, *_words in TEXTS})
        shown = next((factor.key for factor in OFFERED.values() if [factor] == plain), OTHER)
        super().__init__(study, data, initial={"models": chosen, "presentation": shown if self.factors else ""})
        models = available_models(study, researcher)
        has_runs = len({entry.run.pk for entry in models}) > 1
        names = [f"{entry.label} · run {entry.run.pk}" if has_runs else entry.label for entry in models]
        offer(self, "models", zip((entry.model.digest for entry in models), names, strict=True))

        offered = [("", "One for all conditions"), *((factor.key, name) for name, factor in OFFERED.items())]
        if self.factors and shown == OTHER:
            offered.append((OTHER, f"As in the design: {'; '.join(factor.words for factor in self.factors)}"))
        offer(self, "presentation", offered)
        self.texts: dict[str, dict[str, str]] = {}  # names of fields by language, by part of the presentation
        self._add_texts(_explaining(self.factors))
        fields = [field for by_language in self.texts.values() for field in by_language.values()]
        self.folded = {"Presentation": ["presentation"], "Texts of explanations": fields}

    def _add_texts(self, explaining: Sequence[Presentation]) -> None:
        """Add a field for each text in each language, unless the design has levels that explain in different words."""
        for name, label, help_text in TEXTS if len(explaining) < 2 else ():
            if name == "wording" and explaining and explaining[0].texts:
                continue  # stored texts name no rated items
            stored = getattr(explaining[0], name) if explaining else {}
            self.texts[name] = {language: f"{name}_{language}" for language in languages_of(self.study)}
            for language, field in self.texts[name].items():
                self.fields[field] = forms.CharField(
                    label=f"{label}, {language_name(language)}",
                    required=False,
                    max_length=LONGEST_TEXT,
                    initial=stored.get(language, ""),
                    help_text=help_text,
                )

    def _chosen(self) -> list[Factor]:
        key = self.cleaned_data.get("presentation", "")
        return self.factors if key == OTHER else [factor for factor in OFFERED.values() if factor.key == key]

    def clean(self) -> dict[str, Any]:
        explains = bool(_explaining(self._chosen()))
        for name, by_language in self.texts.items():
            for field in by_language.values():
                text = self.cleaned_data.get(field, "")
                if text and not explains:
                    self.add_error(field, "Only explanations have this text. Clear it, or choose them above.")
                elif text and name == "wording" and "{items}" not in text:
                    self.add_error(field, "Write {items} where the names of the rated items belong.")
        return self.cleaned_data

    def save(self, actor: Any) -> None:
        texts = {
            name: {language: text for language, field in by_language.items() if (text := self.cleaned_data[field])}
            for name, by_language in self.texts.items()
        }
        choose_conditions(
            study=self.study,
            digests=self.cleaned_data["models"],
            presentations=_with_texts(self._chosen(), texts),
            actor=actor,
        )
