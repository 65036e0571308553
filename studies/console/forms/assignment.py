"""Participants of a draft: how many, of which ages, and how they are assigned and recruited."""

from __future__ import annotations

from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.urls import reverse

from core.errors import ParameterError
from studies.allocation.assignment.wording import targets_from_text
from studies.console.forms.group_rows import QuotaRow, StratumRow, quotas_of, rows_of_quotas, rows_of_strata, strata_of
from studies.console.forms.recruiting import EntryFields
from studies.console.forms.row_lists import RowsForm
from studies.console.forms.setting_fields import setting_field
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


class AssignmentForm(RowsForm):
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
    merge_below = forms.FloatField(
        label="Merge strata expected to hold less than (percent)",
        min_value=0,
        max_value=50,
        help_text=(
            "For permuted blocks. The least frequent stratum is merged with the least frequent of its most similar "
            "strata, until none is below the limit. 0: no merging."
        ),
    )
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
        self.conditions = list(study.conditions.order_by("position"))
        first = self.conditions[0].target if self.conditions else 30
        design = study.design
        own = {
            "per_condition": first,
            "targets": "\n".join(f"{c.label}: {c.target}" for c in self.conditions if c.target != first),
            "method": design.method,
            "block_multiples": ", ".join(map(str, design.block_multiples)),
            "minimisation_probability": design.minimisation_probability,
            "merge_below": round(100 * design.merge_below, 4),
            "interviewers": design.interviewers,
        }
        super().__init__(study, data, initial={**own, **(initial or {})})
        self.n_sequences = study.sequences.count()
        if design.flow.lists.is_several:  # each participant meets all conditions
            self.fields["per_condition"].label = "Participants"
            del self.fields["targets"]
        about = {q["key"]: q["kind"] == YesNo.kind for q in study.questionnaire.get("about", ())}
        self.strata = self.row_list("strata", "group", "Strata", partial(StratumRow, about), rows_of_strata(design))
        self.quotas = self.row_list("quotas", "limit", "Quotas", partial(QuotaRow, about), rows_of_quotas(design))
        self.row_lists = [self.strata, self.quotas]

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> Any:
        """Show whole numbers without a decimal."""
        value = super().get_initial_for_field(field, field_name)
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @property
    def has_open_rows(self) -> bool:
        """Whether strata and quotas are unfolded: a row was just added or removed, or is wrong."""
        return self.drafted is not None or any(row.errors for row in self.nested_forms)

    def clean(self) -> dict[str, Any]:
        """Read the strata and quotas of valid rows."""
        super().clean()
        if all(row.is_valid() for row in self.nested_forms):
            self.cleaned_data |= {"strata": strata_of(self.strata.rows), "quotas": quotas_of(self.quotas.rows)}
        return self.cleaned_data

    def clean_targets(self) -> dict[int, int]:
        try:
            targets = targets_from_text(self.cleaned_data["targets"], [c.label for c in self.conditions])
        except ParameterError as problem:
            raise ValidationError(str(problem)) from problem
        return {c.position: targets[c.label] for c in self.conditions if c.label in targets}

    def clean_block_multiples(self) -> list[int]:
        parts = [part.strip() for part in self.cleaned_data["block_multiples"].split(",")]
        if not all(part.isdecimal() and 1 <= int(part) <= 10 for part in parts):
            raise ValidationError("Give whole numbers from 1 to 10, with commas between them.")
        return [int(part) for part in parts]

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
        n, own = self.cleaned_data["per_condition"], self.cleaned_data.get("targets", {})
        if self.n_sequences:
            return [-(-n // self.n_sequences)] * self.n_sequences
        return [own.get(condition.position, n) for condition in self.conditions]


class ParticipantsForm(AssignmentForm, EntryFields):
    """The sample, its assignment and its recruitment; ages where the study asks for them."""

    folded = EntryFields.GROUPS
    youngest = forms.IntegerField(label="Youngest age", min_value=1, max_value=120)
    oldest = forms.IntegerField(label="Oldest age", min_value=1, max_value=120)

    def __init__(self, study: Study, data: Any = None, *, researcher: Any) -> None:
        youngest, oldest = age_limits(study)
        super().__init__(study, data, initial={"youngest": youngest, "oldest": oldest, **self.initial_entry(study)})
        self.offer_studies(study, researcher)
        if not any(question["key"] == "age" for question in study.questionnaire.get("about", ())):
            del self.fields["youngest"], self.fields["oldest"]
        self.show_drafted()

    def amendments(self) -> dict[str, str]:
        url = f"{reverse('studies:versions', args=[self.study.slug])}#id_targets-target_0"
        return {name: url for name in ("per_condition", "targets") if name in self.fields}

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
            targets=cleaned.get("targets"),
            settings=self.assignment_settings(),
            ages=(cleaned["youngest"], cleaned["oldest"]) if "youngest" in cleaned else None,
        )
