"""Rows of a form that are added, removed and moved before the form is saved.

The fields of row 2 of the list `line` are called `line2-…`. The page's script and a button named `step` do the
same; its value is add:list, or remove:list:number, up:list:number, down:list:number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django import forms
from django.http import QueryDict

EMPTY = "__n__"  # instead of the number, in the row that the page's script copies


@dataclass(frozen=True)
class RowList:
    """A list of rows of the form, and the row that the page's script copies."""

    prefix: str
    title: str
    noun: str  # what a row is
    rows: Sequence[forms.Form]
    empty: forms.Form


def is_of_list(name: str, prefix: str) -> bool:
    """Whether a posted field belongs to a row of the list."""
    return re.match(rf"{prefix}\d{{1,4}}-", name) is not None


def row_numbers(data: Iterable[str], prefix: str) -> list[int]:
    """Return the numbers of the rows of a list in the names of posted fields, ascending."""
    row = re.compile(rf"{prefix}(\d{{1,4}})-")
    return sorted({int(match[1]) for name in data if (match := row.match(name))})


def rearranged(data: QueryDict, act: str) -> QueryDict:
    """Return posted data with a row added, removed or moved, as the pressed button says; rows are numbered from 0.

    An unknown act changes nothing.
    """
    verb, prefix, number = (*act.split(":"), "", "")[:3]
    if not re.fullmatch(r"[a-z]+", prefix):
        return data
    changed = data.copy()
    numbers = row_numbers(data, prefix)
    rows: list[dict[str, list[str]]] = []
    for position in numbers:
        stem = f"{prefix}{position}-"
        rows.append({name.removeprefix(stem): changed.pop(name) for name in list(changed) if name.startswith(stem)})
    names = [str(position) for position in numbers]
    at = names.index(number) if number in names else -1
    if verb == "add":
        rows.append({"new": [""]})
    elif at >= 0 and verb == "remove":
        del rows[at]
    elif at >= 0 and verb in ("up", "down"):
        target = at + (-1 if verb == "up" else 1)
        if 0 <= target < len(rows):
            rows[at], rows[target] = rows[target], rows[at]
    for position, row in enumerate(rows):
        for name, values in row.items():
            changed.setlist(f"{prefix}{position}-{name}", values)
    return changed


def fill(form: forms.Form, data: QueryDict) -> None:
    """Let a form that is not bound show posted values, without validating them."""
    for name, field in form.fields.items():
        posted = form.add_prefix(name)
        if not field.widget.value_omitted_from_data(data, {}, posted):
            form.initial[name] = field.widget.value_from_datadict(data, {}, posted)
