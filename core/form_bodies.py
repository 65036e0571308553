"""The console's forms as bodies of API requests: one description of an input, whichever way it is sent."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.settings import api_settings

from core.problem_details import unknown

Form = TypeVar("Form", bound=forms.Form)
Field = serializers.Field[Any, Any, Any, Any]
FRACTIONS = (forms.FloatField, forms.DecimalField)


def described(
    form: type[forms.Form], name: str, /, *, without: Collection[str] = (), **more: Field
) -> type[serializers.Serializer[Any]]:
    """Describe the body that `filled` takes, for the schema; `more` describes fields that only a bound form has."""
    fields = {key: _described(each) for key, each in form.base_fields.items() if key not in {*without, *more}}
    return type(name, (serializers.Serializer,), {"__doc__": (form.__doc__ or "").strip(), **fields, **more})


def _described(field: Any) -> Field:
    """A field with the same values; a choice whose values only a bound form knows is text."""
    common: dict[str, Any] = {
        "required": field.required and field.initial is None,
        "help_text": str(field.help_text or field.label or ""),
        **({} if field.required or isinstance(field, forms.BooleanField) else {"allow_null": True}),
    }
    match field:
        case forms.BooleanField():
            return serializers.BooleanField(**common)
        case forms.FileField():
            return serializers.FileField(**common)
        case forms.MultipleChoiceField():
            return serializers.ListField(child=serializers.CharField(), **common)
        case forms.IntegerField():  # of which Django's other numbers are kinds
            kind = serializers.FloatField if isinstance(field, FRACTIONS) else serializers.IntegerField
            return kind(**common, **{name: getattr(field, name) for name in ("min_value", "max_value")})
        case forms.DateField():
            return serializers.DateField(**common)
        case forms.ModelChoiceField():
            return serializers.CharField(**common)
        case forms.ChoiceField(choices=choices) if choices:
            return serializers.ChoiceField(choices=choices, **common)  # type: ignore[arg-type]  # Django's own kinds
    return serializers.CharField(max_length=getattr(field, "max_length", None), **common)


def of_facts(facts: type[Any]) -> type[serializers.Serializer[Any]]:
    """The serializer of a dataclass of texts, numbers and truth values."""
    kinds = {
        "str": serializers.CharField,
        "int": serializers.IntegerField,
        "float": serializers.FloatField,
        "bool": serializers.BooleanField,
    }
    described_fields = {}
    for field in dataclasses.fields(facts):
        kind, _, none = str(field.type).partition(" | ")
        described_fields[field.name] = kinds[kind](**({"allow_null": True} if none else {}))
    return type(facts.__name__, (serializers.Serializer,), {"__doc__": facts.__doc__, **described_fields})


def filled(make: Callable[[Any, Any], Form], body: Any) -> Form:
    """Return the form that `make(data, files)` creates, filled with a JSON object or a form with files, once it is
    valid. Fields that are left out have the form's initial values.

    Raises ValidationError with every fault and unknown field.
    """
    if not isinstance(body, Mapping):
        raise ValidationError({api_settings.NON_FIELD_ERRORS_KEY: ["Send an object."]})
    sent = dict(body.lists()) if isinstance(body, QueryDict) else body
    blank = make(None, None)
    data: QueryDict = QueryDict(mutable=True)
    files: MultiValueDict[str, Any] = MultiValueDict()
    problems: dict[str, Any] = {}
    for name, field in blank.fields.items():
        key = blank.add_prefix(name)
        value = sent[name] if name in sent else blank.get_initial_for_field(field, name)
        values = [*value] if isinstance(value, list | tuple) else [] if value is None else [value]
        if any(isinstance(each, Mapping | list) for each in values):
            problems[name] = ["Write a value, not an object."]
        elif isinstance(field, forms.FileField):
            files.setlist(key, [each for each in values if each])
        elif isinstance(field, forms.BooleanField):
            if any(each not in (True, False, "true", "false") for each in values):
                problems[name] = ["Write true or false."]
            data.setlist(key, ["on"] if values and values[-1] in (True, "true") else [])
        else:
            data.setlist(key, [str(getattr(each, "pk", each)) for each in values])
    form = make(data, files)
    refused = {name: [*texts] for name, texts in form.errors.items()}
    if NON_FIELD_ERRORS in refused:
        refused[api_settings.NON_FIELD_ERRORS_KEY] = refused.pop(NON_FIELD_ERRORS)
    if problems := refused | problems | unknown(sent, [*blank.fields], "field"):
        raise ValidationError(problems)
    return form
