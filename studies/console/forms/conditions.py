"""What a draft is about, as its first two stages ask for it: its title, and the factors that its conditions cross."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from evaluation.models import TrainedModel
from recommenders.explanation import LONGEST_TEXT
from studies.console.forms.stage_form import StageForm
from studies.design.selectors.available_models import AvailableModel, available_models
from studies.design.selectors.texts import language_name, languages_of
from studies.design.services.conditions import choose_conditions
from studies.design.services.design import change_design
from studies.models import Study
from studies.presentation import PLAIN, Factor, Level, Presentation


class TitleForm(StageForm):
    """What researchers call the study."""

    title = forms.CharField(max_length=200, help_text="Only researchers see it.")

    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(study, data, initial={"title": study.title})

    def save(self, actor: Any) -> None:
        change_design(study=self.study, actor=actor, title=self.cleaned_data["title"])


# The levels of presentation that the page offers, and the parts that name their factor; files can state any.
OFFERED = (
    Level(name="plain", presentation=PLAIN),
    Level(name="explained", presentation=Presentation(explanation="model")),
    Level(name="grid", presentation=Presentation(layout="grid")),
    Level(name="shuffled", presentation=Presentation(order="shuffled")),
)
LENGTHS = {length: Level(name=f"list of {length}", presentation=Presentation(length=length)) for length in (3, 5, 10)}
NAMING = {"explanation", "layout", "order", "length"}
PRESENTATION = "presentation"
AS_RANKED = "as ranked"

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


def _without_texts(level: Level) -> dict[str, Any]:
    shown = level.presentation.stored() if level.presentation else {}
    return {name: value for name, value in shown.items() if name not in ("fallback", "wording")}


def dose_of(model: TrainedModel) -> str:
    """What a re-ranked model's label says after the label of the model whose lists it re-ranks."""
    return model.label.removeprefix(f"{model.base.label} + ") if model.base else ""


class Models:
    """The models that a draft can have, by recommender and post-processing: a re-ranked model is at the place of the
    one whose lists it re-ranks, and a recommender of its own as well, so that any list of models can be chosen.
    """

    def __init__(self, available: Sequence[AvailableModel]) -> None:
        self.recommenders: dict[str, str] = {entry.model.digest: entry.label for entry in available}
        self.doses = {AS_RANKED: "As ranked"}
        self.at = {(digest, AS_RANKED): digest for digest in self.recommenders}
        for model in (entry.model for entry in available):
            if base := model.base:
                dose = dose_of(model)
                self.doses.setdefault(dose, dose)
                self.recommenders.setdefault(base.digest, base.label)
                self.at.setdefault((base.digest, dose), model.digest)
        runs = {entry.model.digest: entry.run.pk for entry in available}
        labels = list(self.recommenders.values())
        for digest, label in self.recommenders.items():
            if labels.count(label) > 1 and digest in runs:
                self.recommenders[digest] = f"{label} · run {runs[digest]}"

    def factors_of(self, digests: Sequence[str]) -> tuple[list[str], list[str]]:
        """The recommenders and post-processing whose product these models are; without one, each is a recommender."""
        reranked = {digest: at for at, digest in self.at.items() if at[1] != AS_RANKED}
        cells = [reranked.get(digest, (digest, AS_RANKED)) for digest in digests]
        recommenders, doses = (list(dict.fromkeys(each)) for each in zip(*cells, strict=True)) if cells else ([], [])
        if [self.at.get(cell) for cell in product(recommenders, doses)] == list(digests):
            return recommenders, doses
        return list(digests), [AS_RANKED]


class ConditionsForm(StageForm):
    """Recommenders, of the models that `researcher` sees, × post-processing × presentation: the conditions, each with
    its target. A button named `step`, with the value add:FIELD:LEVEL or remove:FIELD:LEVEL, changes what is shown, and
    stores nothing.
    """

    refused_field = "recommenders"

    def __init__(self, study: Study, data: Any = None, *, researcher: Any) -> None:
        self.conditions = list(study.conditions.select_related("model__base").order_by("position"))
        self.models = Models(available_models(study, researcher))
        recommenders, doses = self.models.factors_of(
            list(dict.fromkeys(condition.model_digest for condition in self.conditions))
        )
        factors = [factor for factor in study.design.factors if not factor.is_of_recommenders]
        # A field for each factor of presentation, by its place, since the levels may give it another key.
        self.levels: dict[str, dict[str, Level]] = {PRESENTATION: {}}
        self.stored: dict[str, Factor] = {}
        for number, factor in enumerate(factors, 1):
            name = f"{PRESENTATION}{number if number > 1 else ''}"
            self.stored[name], self.levels[name] = factor, {level.name: level for level in factor.levels}
        if len(factors) < 2:
            own = self.levels[PRESENTATION]
            shown = [_without_texts(level) for level in own.values()]
            offered = [*OFFERED, *(level for length, level in LENGTHS.items() if length != study.design.list_length)]
            own |= {each.name: each for each in offered if each.name not in own and _without_texts(each) not in shown}
        chosen = {"recommenders": recommenders, "doses": doses, PRESENTATION: ["plain"]}
        chosen |= {name: [level.name for level in factor.levels] for name, factor in self.stored.items()}
        if data and "step" in data:
            data = with_step(data)
        super().__init__(study, data, initial=chosen)

        labels = {condition.model_digest: condition.model.label for condition in self.conditions}
        plain = f"List of {study.design.list_length}"
        self.words = {
            level.name: plain if level.presentation == PLAIN else level.name.capitalize()
            for levels in self.levels.values()
            for level in levels.values()
        }
        menus = {"recommenders": self.models.recommenders, "doses": self.models.doses}
        titles = {"recommenders": "Recommender", "doses": "Post-processing"}
        for name in self.levels:
            menus[name] = {key: self.words[key] for key in self.levels[name]}
            titles[name] = self.stored[name].key.capitalize() if len(self.stored) > 1 else "Presentation"
        # What each level of a factor is called, those of the draft first, in their order.
        self.names = {
            name: {key: names.get(key) or labels[key] for key in [*chosen[name], *names]}
            for name, names in menus.items()
        }
        for name, names in self.names.items():
            self.fields[name] = forms.MultipleChoiceField(
                label=titles[name],
                choices=list(names.items()),
                error_messages={"required": f"Add a level of {titles[name].lower()}."},
            )
        self.texts: dict[str, dict[str, str]] = {}  # names of fields by language, by part of the presentation
        self._add_texts(_explaining([*self.stored.values()]))
        fields = [field for by_language in self.texts.values() for field in by_language.values()]
        self.folded = {"Texts of explanations": fields}
        # One number of participants holds for all conditions that each participant meets.
        self.with_target = [] if study.design.flow.lists.is_several else self.conditions
        for condition in self.with_target:
            self.fields[f"target{condition.pk}"] = forms.IntegerField(
                label="Target",
                required=False,  # a condition that was added meanwhile is not on the page
                min_value=1,
                max_value=10_000,
                initial=condition.target,
                widget=forms.TextInput(attrs={"inputmode": "numeric"}),
            )

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

    @property
    def rows(self) -> list[tuple[forms.BoundField, dict[str, str], dict[str, str]]]:
        """Each factor's field with its levels by key, as stored or as posted: those that are chosen, and the others."""
        rows = []
        for name, names in self.names.items():
            chosen = {key: names[key] for key in self[name].value() or [] if key in names}
            others = {key: words for key, words in names.items() if key not in chosen}
            rows.append((self[name], chosen, others))
        return rows

    def _chosen(self) -> list[Factor]:
        """The factors of presentation that are chosen; none where every condition has the default."""
        factors = []
        for name, levels in self.levels.items():
            stored, names = self.stored.get(name), self.cleaned_data.get(name, [])
            chosen = tuple(levels[key] for key in names)
            if stored and chosen == stored.levels:
                factors.append(stored)
            elif chosen and [level.presentation for level in chosen] != [PLAIN]:
                parts = {part for level in chosen if level.presentation for part in level.presentation.model_fields_set}
                key = parts.pop() if len(parts := parts & NAMING) == 1 else PRESENTATION
                key = stored.key if stored and stored.key not in NAMING | {PRESENTATION} else key
                factors.append(Factor(key=key, levels=chosen))
        return factors

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        cells = list(product(cleaned.get("recommenders", ()), cleaned.get("doses", ())))
        if lacking := [cell for cell in cells if cell not in self.models.at]:
            names = "; ".join(
                f"{self.names['recommenders'][recommender]}, {self.models.doses[dose]}" for recommender, dose in lacking
            )
            self.add_error(
                "doses", f"No run measured: {names}. Evaluate them in one run with the others, or remove a level."
            )
        explains = bool(_explaining(self._chosen()))
        for name, by_language in self.texts.items():
            for field in by_language.values():
                text = cleaned.get(field, "")
                if text and not explains:
                    self.add_error(field, "Only explanations have this text. Clear it, or add Explained above.")
                elif text and name == "wording" and "{items}" not in text:
                    self.add_error(field, "Write {items} where the names of the rated items belong.")
        for condition in self.with_target:
            name = f"target{condition.pk}"
            if name in self.data and name in cleaned and cleaned[name] is None:
                self.add_error(name, ValidationError("Enter how many participants this condition needs."))
        return cleaned

    def save(self, actor: Any) -> None:
        cleaned = self.cleaned_data
        texts = {
            name: {language: text for language, field in by_language.items() if (text := cleaned[field])}
            for name, by_language in self.texts.items()
        }
        choose_conditions(
            study=self.study,
            digests=[self.models.at[cell] for cell in product(cleaned["recommenders"], cleaned["doses"])],
            presentations=_with_texts(self._chosen(), texts),
            actor=actor,
        )
        entered = {condition.pk: cleaned[f"target{condition.pk}"] for condition in self.with_target}
        targets = {
            condition.position: entered[condition.pk]
            for condition in self.study.conditions.filter(pk__in=entered)
            if entered[condition.pk] not in (None, condition.target)
        }
        if targets:
            change_design(study=self.study, actor=actor, targets=targets)


def with_step(data: QueryDict) -> QueryDict:
    """Posted data with the level added or removed that the pressed button names."""
    verb, name, level = (*data.get("step", "").split(":", 2), "", "")[:3]
    changed = data.copy()
    levels = [key for key in data.getlist(name) if key != level]
    changed.setlist(name, [*levels, level] if verb == "add" else levels)
    return changed
