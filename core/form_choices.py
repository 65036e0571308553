"""What the fields of a form offer where it depends on who asks or on what is there."""

from __future__ import annotations

from typing import Any

from django import forms


def offer(form: forms.BaseForm, /, **offered: Any) -> None:
    """Set by name the choices of a form's fields; of a field for rows of the database, its query."""
    for name, choices in offered.items():
        field: Any = form.fields[name]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = choices
        else:
            field.choices = choices
