"""What form fields offer, set when a form is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.forms import BaseForm


def offer(form: BaseForm, name: str, offered: Iterable[Any]) -> None:
    """Let a field offer these choices, or these rows."""
    setattr(form.fields[name], "queryset" if isinstance(offered, QuerySet) else "choices", offered)
