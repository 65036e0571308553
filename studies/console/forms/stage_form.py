"""Forms of stages: what a draft stores by field, what was entered, and the digests that tell them apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.boundfield import BoundField
from django.http import QueryDict

from core.provenance import digest_of
from studies.models import Study

DIGITS = 12  # of a field's digest


def digest_of_values(values: list[str]) -> str:
    """A short digest of what a field holds."""
    return digest_of(values)[:DIGITS]


class StageForm(forms.Form):
    """A form whose unbound fields show what a draft stores."""

    use_required_attribute = False
    folded: Mapping[str, Sequence[str]] = {}  # what is rarely changed: the fields of each fold, by its title
    refused_field: str | None = None  # where a refusal of the service is shown; at the top of the form without one

    def __init__(self, study: Study, data: Any = None, *, initial: dict[str, Any] | None = None) -> None:
        self.study = study
        super().__init__(data, initial=initial)

    def save(self, actor: Any) -> None:
        """Store what is entered, by a service."""
        raise NotImplementedError

    @property
    def nested_forms(self) -> Collection[forms.Form]:
        return ()

    @property
    def folds(self) -> list[tuple[str, list[BoundField], bool]]:
        """Each fold with its title and fields, and whether it is open because of an error."""
        folds = [(title, [self[name] for name in names if name in self.fields]) for title, names in self.folded.items()]
        return [(title, fields, any(field.errors for field in fields)) for title, fields in folds if fields]

    def amendments(self) -> dict[str, str]:
        """The addresses of the fields that amend a running study, by the name of the field here."""
        return {}

    def freeze(self, *, may_amend: bool = False) -> StageForm:
        """Make the form read-only; with `may_amend`, fields that may still change show where."""
        for each in (self, *self.nested_forms):
            for own in each.fields.values():
                own.disabled = True
        for name, url in self.amendments().items() if may_amend else ():
            self.fields[name].amendment = {"url": url, "design_hash": self.study.design_hash}  # type: ignore[attr-defined]
        return self

    def stored_values(self) -> dict[str, list[str]]:
        """The stored values of each field, as a browser posts them when nothing is changed."""
        return {bound.name: untouched(bound) for bound in self.visible_fields()}

    def entered_values(self) -> dict[str, list[str]]:
        """What was posted of each field."""
        return {bound.name: self.entered(bound) for bound in self.visible_fields()}

    def entered(self, bound: BoundField) -> list[str]:
        """What was posted of a field of this form or of one nested in it."""
        data: Any = self.data
        return [value.replace("\r\n", "\n") for value in data.getlist(bound.html_name)]

    def label_of(self, name: str) -> str:
        """What the page calls a field."""
        return str(self[name].label)

    def revision(self) -> str:
        """A digest of each field's stored value, as the form posts it back."""
        return " ".join(f"{name}:{digest_of_values(values)}" for name, values in self.stored_values().items())

    def with_stored(self, names: Collection[str], shown: Any) -> QueryDict:
        """The posted data with the stored values of some fields, which the unbound form `shown` shows."""
        data: Any = self.data.copy()  # type: ignore[attr-defined]
        stored = shown.stored_values()
        for name in names:
            data.setlist(self.add_prefix(name), stored.get(name, []))
        return data  # type: ignore[no-any-return]

    def wrong_fields(self) -> set[str]:
        """The names of the fields with errors."""
        return set(self.errors)

    def problems(self) -> dict[str, list[str]]:
        """The errors by the name of the control, those of the whole form under an empty name."""
        problems = {
            "" if name == NON_FIELD_ERRORS else self.add_prefix(name): list(map(str, errors))
            for name, errors in self.errors.items()
        }
        for row in self.nested_forms:
            problems |= {row.add_prefix(name): list(map(str, errors)) for name, errors in row.errors.items()}
        return problems


def untouched(bound: BoundField) -> list[str]:
    """The stored value of a field of an unbound form, as a browser posts it when nothing is changed."""
    widget: Any = bound.field.widget
    value = bound.field.prepare_value(bound.initial)
    if isinstance(widget, forms.CheckboxInput):
        return ["on"] if widget.check_test(value) else []
    shown = widget.format_value(value)
    if isinstance(bound.field, forms.MultipleChoiceField):  # in the order of the page
        return [str(key) for key, _label in widget.choices if str(key) in shown]
    if isinstance(shown, list | tuple):
        return [str(each) for each in shown]
    return ["" if shown is None else str(shown).replace("\r\n", "\n")]
