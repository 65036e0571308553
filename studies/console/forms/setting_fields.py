"""Form fields made from the settings of a study: their labels, help texts and limits."""

from __future__ import annotations

from typing import Any, TypeVar

from annotated_types import Ge, Le, MaxLen, MinLen
from django import forms
from pydantic import BaseModel

FieldKind = TypeVar("FieldKind", bound=forms.Field)


def setting_field(kind: type[FieldKind], model: type[BaseModel], name: str, **options: Any) -> FieldKind:
    """Return the form field of a setting; `options` of the form field go before what the model says."""
    setting = model.model_fields[name]
    limits: dict[str, Any] = {}
    for limit in setting.metadata:
        if isinstance(limit, Ge):
            limits["min_value"] = limit.ge
        elif isinstance(limit, Le):
            limits["max_value"] = limit.le
        elif isinstance(limit, MaxLen):
            limits["max_length"] = limit.max_length
        elif isinstance(limit, MinLen):
            limits["required"] = limit.min_length > 0
    if issubclass(kind, forms.MultipleChoiceField):  # without a shortest length nothing has to be ticked
        limits = {"required": False, "widget": forms.CheckboxSelectMultiple, **limits}
    return kind(**{"label": setting.title, "help_text": setting.description or "", **limits, **options})
