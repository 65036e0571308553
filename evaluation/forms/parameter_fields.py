"""Form fields of described parameters: of an algorithm, a split or a protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.html import escape

from core.outcomes import refusals_in
from evaluation.tables import label_of
from recommenders.parameters import ParameterInfo

Values = dict[str, Any]
SEPARATORS = "Leave out commas: they separate the parameters of a command."


def field_of(info: ParameterInfo) -> forms.Field:
    """Return the form field of a parameter: a tick box, a choice, a number with its limits, or a text."""
    default = "yes" if info.default is True else "no" if info.default is False else info.default
    if info.choices:
        default = _capital(str(default))
    described = info.description if default == "" else f"{info.description} Default: {default}."
    common: Values = {
        "required": False,
        "label": label_of(info.name),
        "help_text": escape(described),
        "initial": info.default,
    }
    if info.type is bool:
        return forms.BooleanField(**common)
    if info.choices:
        return forms.ChoiceField(choices=[(choice, _capital(choice)) for choice in info.choices], **common)
    if info.type is str:
        return forms.CharField(**common)
    kind = forms.IntegerField if info.type is int else forms.FloatField
    return kind(min_value=info.minimum, max_value=info.maximum, **common)  # type: ignore[arg-type]


def _capital(choice: str) -> str:
    return f"{choice[:1].upper()}{choice[1:]}".replace("-", " ")


class ParameterForm(forms.Form):
    """The parameters of one algorithm, split or protocol, from their descriptions; an empty field is the default.

    `check` gets the stated values and raises ParameterError if they do not go together.
    """

    use_required_attribute = False

    def __init__(
        self,
        described: Sequence[ParameterInfo],
        data: Mapping[str, Any] | None = None,
        *,
        prefix: str,
        values: Mapping[str, Any] | None = None,
        check: Callable[[Values], object] | None = None,
    ) -> None:
        super().__init__(data, prefix=prefix, initial=dict(values or {}))
        self.described, self.check = tuple(described), check
        self.fields.update({info.name: field_of(info) for info in described})

    def clean(self) -> Values:
        """Check each text, and all values together."""
        for info in self.described:
            value = self.cleaned_data.get(info.name)
            if info.type is str and not info.choices and value and "," in value:
                self.add_error(info.name, SEPARATORS)
        if self.check is not None and not self.errors:
            with refusals_in(self):
                self.check(self.stated())
        return self.cleaned_data

    def stated(self) -> Values:
        """Return the valid values that differ from their defaults, by name, in the order of the parameters."""
        # Reading `errors` validates a bound form that was not validated yet.
        values = self.cleaned_data if self.is_bound and self.errors is not None else self.initial
        return {
            info.name: values[info.name]
            for info in self.described
            if values.get(info.name) not in (None, "", info.default)
        }


def entered(form: forms.BaseForm, data: Mapping[str, Any]) -> Values:
    """Return what was entered into the fields of a form, unchecked."""
    return {
        name: field.widget.value_from_datadict(data, {}, form.add_prefix(name)) for name, field in form.fields.items()
    }
