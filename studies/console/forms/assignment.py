"""Participants of a draft: how many, of which ages, and how they are assigned and recruited."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.urls import reverse

from core.errors import ParameterError
from evaluation.forms.parameter_fields import COPY, entered, is_changed
from studies.allocation.assignment.wording import (
    quotas_as_text,
    quotas_from_text,
    strata_as_text,
    strata_from_text,
    targets_from_text,
)
from studies.console.forms.group_tables import GroupRow, GroupTable, QuotaTable, StrataTable
from studies.console.forms.recruiting import EntryFields
from studies.console.forms.setting_fields import setting_field
from studies.console.forms.stage_form import StageForm
from studies.design.selectors.stated_facts import age_limits
from studies.design.services.design import change_design
from studies.instrument.questionnaires.kinds import YesNo
from studies.models import Study
from studies.settings import StudySettings

METHOD_LABELS = {
    "permuted_blocks": "Permuted blocks within strata",
    "minimisation": "Minimisation (Pocock and Simon)",
    "least_filled": "Least filled condition",
    "simple": "Simple randomisation",
}


TABLES: dict[str, type[StrataTable | QuotaTable]] = {"strata": StrataTable, "quotas": QuotaTable}


def _read(reader: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return reader(*arguments)
    except ParameterError as problem:
        raise ValidationError(str(problem)) from problem


class AssignmentForm(StageForm):
    """Targets, method, strata and quotas of a draft."""

    per_condition = forms.IntegerField(label="Participants per condition", min_value=1, max_value=10_000)
    targets = forms.CharField(
        label="Conditions with a different target",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One per line, such as TopPop: 40. Empty: the same target for all.",
    )
    method = setting_field(forms.ChoiceField, StudySettings, "method", choices=list(METHOD_LABELS.items()))
    block_multiples = setting_field(forms.CharField, StudySettings, "block_multiples", max_length=40)
    minimisation_probability = setting_field(forms.FloatField, StudySettings, "minimisation_probability")
    strata = forms.CharField(
        label="Strata as text",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=(
            "One line per question about the participant. Groups: gender: women = woman 48%; all others 52%. "
            "Bands: age: 20-34; 35-50. The percentages are the expected shares and are optional."
        ),
    )
    merge_below = forms.FloatField(
        label="Merge strata expected to hold less than (percent)",
        min_value=0,
        max_value=50,
        help_text=(
            "For permuted blocks. The least frequent stratum is merged with the least frequent of its most similar "
            "strata, until none is below the limit. 0: no merging."
        ),
    )
    quotas = forms.CharField(
        label="Quotas as text",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=(
            "Upper limits on groups of participants, one per line, such as 105 women: gender = woman or "
            "60: gender = woman; age = 20-34. Later participants leave as quota full."
        ),
    )

    strata_shown = forms.CharField(required=False, widget=forms.HiddenInput)
    quotas_shown = forms.CharField(required=False, widget=forms.HiddenInput)
    interviewers = setting_field(
        forms.ChoiceField,
        StudySettings,
        "interviewers",
        choices=[
            ("crossed", "Crossed with conditions: every interviewer runs every condition"),
            ("nested", "Nested: each interviewer runs one condition only"),
        ],
        required=False,
    )

    def __init__(self, study: Study, data: Any = None, *, initial: dict[str, Any] | None = None) -> None:
        self.study = study
        self.step = str(data.get("step") or "") if data else ""
        self.conditions = list(study.conditions.order_by("position"))
        self.yes_no = {q["key"] for q in study.questionnaire.get("about", ()) if q["kind"] == YesNo.kind}
        first = self.conditions[0].target if self.conditions else 30
        design = study.design
        own = {
            "per_condition": first,
            "targets": "\n".join(f"{c.label}: {c.target}" for c in self.conditions if c.target != first),
            "method": design.method,
            "block_multiples": ", ".join(map(str, design.block_multiples)),
            "minimisation_probability": design.minimisation_probability,
            "strata": strata_as_text([rule.stored() for rule in design.strata], design.expected_shares),
            "merge_below": round(100 * design.merge_below, 4),
            "quotas": quotas_as_text([quota.stored() for quota in design.quotas]),
            "interviewers": design.interviewers,
        }
        texts = {name: own[name] for name in TABLES}
        super().__init__(study, None if self.step else data, initial={**own, **(initial or {})})
        about = [str(question["key"]) for question in study.questionnaire.get("about", ())]
        self.tables = {name: self._table(name, about, data, str(texts[name])) for name in TABLES}

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> Any:
        """Show whole numbers without a decimal."""
        value = super().get_initial_for_field(field, field_name)
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def _table(self, name: str, questions: list[str], data: Any, saved: str) -> GroupTable:
        """Return a table from its posted rows, or from the text if that was changed by hand, and show both alike."""
        kind = TABLES[name]
        table = kind.posted(name, questions, data, step=self.step) if isinstance(data, QueryDict) else None
        if data and (table is None or is_changed(data, name)):
            saved, table = str(data.get(name) or ""), None
        if table is None:
            try:
                return self._shown(name, kind.of(name, questions, kind.rows_of(saved, self.yes_no)), saved)
            except ParameterError:  # the text field reports it
                return self._shown(name, kind.of(name, questions, []), saved)
        return self._shown(name, table, table.text())

    def _shown(self, name: str, table: GroupTable, text: str) -> GroupTable:
        shown: Any = self.initial
        if self.is_bound:
            self.data = shown = self.data.copy()  # type: ignore[attr-defined]
        shown[name], shown[f"{name}{COPY}"] = text, table.text()
        return table

    def keep_entered(self, data: Any) -> None:
        """After a step, show everything else as it was entered, unchecked."""
        if self.step:
            initial = {name: self.initial[name] for table in TABLES for name in (table, f"{table}{COPY}")}
            self.initial = {**self.initial, **entered(self, data), **initial}

    @property
    def nested_forms(self) -> list[GroupRow]:
        return [row for table in self.tables.values() for row in table.forms]

    def is_open(self) -> dict[str, bool]:
        """Whether each table is unfolded: something in it is wrong, or a row was just added or removed."""
        return {name: name in self.step or name in self.wrong_fields() for name in TABLES}

    def wrong_fields(self) -> set[str]:
        """Also the tables of which a row is wrong."""
        return super().wrong_fields() | {name for name in TABLES if self._has_bad_rows(name)}

    def with_stored(self, names: Collection[str], stored: dict[str, list[str]]) -> QueryDict:
        """Without the rows of a table whose text is the stored one."""
        data = super().with_stored(names, stored)
        for name in TABLES.keys() & set(names):
            data.pop(f"{name}_row", None)
        return data

    def is_valid(self) -> bool:
        return super().is_valid() and all(row.is_valid() for row in self.nested_forms if row.is_bound)

    def clean_targets(self) -> dict[int, int]:
        targets = _read(targets_from_text, self.cleaned_data["targets"], [c.label for c in self.conditions])
        return {c.position: targets[c.label] for c in self.conditions if c.label in targets}

    def clean_block_multiples(self) -> list[int]:
        parts = [part.strip() for part in self.cleaned_data["block_multiples"].split(",")]
        if not all(part.isdecimal() and 1 <= int(part) <= 10 for part in parts):
            raise ValidationError("Give whole numbers from 1 to 10, with commas between them.")
        return [int(part) for part in parts]

    def clean_strata(self) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]]]:
        if self._has_bad_rows("strata"):
            return [], {}
        return _read(strata_from_text, self.cleaned_data["strata"], self.yes_no)  # type: ignore[no-any-return]

    def clean_quotas(self) -> list[dict[str, Any]]:
        if self._has_bad_rows("quotas"):
            return []
        return _read(quotas_from_text, self.cleaned_data["quotas"], self.yes_no)  # type: ignore[no-any-return]

    def _has_bad_rows(self, name: str) -> bool:
        # The rows report it themselves, so their text is not read.
        return any(row.is_bound and not row.is_valid() for row in self.tables[name].forms)

    def assignment_settings(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        rules, shares = cleaned["strata"]
        interviewers = cleaned["interviewers"] or "crossed"
        # Not stored where the design has none, which means crossed: its hash stays.
        is_stored = interviewers != "crossed" or "interviewers" in self.study.design.model_fields_set
        return {
            "method": cleaned["method"],
            "block_multiples": cleaned["block_multiples"],
            "minimisation_probability": cleaned["minimisation_probability"],
            "strata": rules,
            "expected_shares": shares,
            "merge_below": round(cleaned["merge_below"] / 100, 6),
            "quotas": cleaned["quotas"],
            **({"interviewers": interviewers} if is_stored else {}),
        }

    def planned_targets(self) -> list[int]:
        cleaned = self.cleaned_data
        return [cleaned["targets"].get(c.position, cleaned["per_condition"]) for c in self.conditions]


class ParticipantsForm(AssignmentForm, EntryFields):
    """The sample, its assignment and its recruitment; ages where the study asks for them."""

    youngest = forms.IntegerField(label="Youngest age", min_value=1, max_value=120)
    oldest = forms.IntegerField(label="Oldest age", min_value=1, max_value=120)

    def __init__(self, study: Study, data: Any = None, *, researcher: Any) -> None:
        youngest, oldest = age_limits(study)
        super().__init__(study, data, initial={"youngest": youngest, "oldest": oldest, **self.initial_entry(study)})
        self.offer_studies(study, researcher)
        if not any(question["key"] == "age" for question in study.questionnaire.get("about", ())):
            del self.fields["youngest"], self.fields["oldest"]
        self.keep_entered(data)

    def amendments(self) -> dict[str, str]:
        url = f"{reverse('studies:versions', args=[self.study.slug])}#id_targets-target_0"
        return {"per_condition": url, "targets": url}

    def clean_oldest(self) -> int:
        youngest, oldest = self.cleaned_data.get("youngest"), int(self.cleaned_data["oldest"])
        if youngest is not None and youngest > oldest:
            raise ValidationError(f"At least {youngest}, the youngest age.")
        return oldest

    def save(self, actor: Any) -> None:
        cleaned = self.cleaned_data
        self.save_entry(self.study, actor)
        change_design(
            study=self.study,
            actor=actor,
            per_condition=cleaned["per_condition"],
            targets=cleaned["targets"],
            settings=self.assignment_settings(),
            ages=(cleaned["youngest"], cleaned["oldest"]) if "youngest" in cleaned else None,
        )
