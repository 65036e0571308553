"""Rows of a form that are added, removed and moved before the form is saved.

The fields of row 2 of the list `line` are called `line2-…`. The page's script and a button named `step` do the
same; its value is add:list, or remove:list:number, up:list:number, down:list:number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.http import QueryDict

from studies.console.forms.stage_form import StageForm, untouched
from studies.models import Study

EMPTY = "__n__"  # instead of the number, in the row that the page's script copies


@dataclass(frozen=True)
class RowList:
    """A list of rows of the form, and the row that the page's script copies."""

    prefix: str
    title: str
    noun: str  # what a row is
    rows: Sequence[Any]  # forms of one class
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


class RowsForm(StageForm):
    """A stage with lists of rows, which are set by `row_list` when the form is made.

    Posted data with the step of a list is shown, and neither validated nor saved. To autosave each list is one field,
    with a line for each row.
    """

    row_lists: Sequence[RowList] = ()

    def __init__(self, study: Study, data: Any = None, *, initial: dict[str, Any] | None = None) -> None:
        self.drafted = rearranged(data, data["step"]) if data and "step" in data else None
        super().__init__(study, None if self.drafted is not None else data, initial=initial)

    def row_list(
        self, prefix: str, noun: str, title: str, make: Callable[..., Any], entries: Sequence[Any], *, fewest: int = 0
    ) -> RowList:
        """The rows as they are posted, or one for each of `entries`, which are their initial values."""
        posted = self.drafted if self.drafted is not None else self.data if self.is_bound else None
        numbers = range(max(fewest, len(entries))) if posted is None else row_numbers(posted, prefix)
        data = self.data if self.is_bound else None
        rows = [
            make(data, prefix=f"{prefix}{number}", initial=entries[number] if number < len(entries) else None)
            for number in numbers
        ]
        return RowList(prefix, title, noun, rows, make(prefix=f"{prefix}{EMPTY}"))

    def show_drafted(self) -> None:
        """Show what was entered when a step was pressed."""
        if self.drafted is not None:
            for part in (self, *self.nested_forms):
                fill(part, self.drafted)

    @property
    def nested_forms(self) -> list[forms.Form]:
        return [row for each in self.row_lists for row in each.rows]

    def is_valid(self) -> bool:
        return all([super().is_valid(), *(row.is_valid() for row in self.nested_forms)])

    def stored_values(self) -> dict[str, list[str]]:
        return super().stored_values() | self._lines(untouched)

    def entered_values(self) -> dict[str, list[str]]:
        return super().entered_values() | self._lines(self.entered)

    def _lines(self, values: Callable[[BoundField], list[str]]) -> dict[str, list[str]]:
        lines = {
            each.prefix: [
                [value for bound in row.visible_fields() for value in values(bound) if value] for row in each.rows
            ]
            for each in self.row_lists
        }
        return {prefix: [" · ".join(line) for line in rows if line] for prefix, rows in lines.items()}

    def label_of(self, name: str) -> str:
        titles = {each.prefix: each.title for each in self.row_lists}
        return titles[name] if name in titles else super().label_of(name)

    def wrong_fields(self) -> set[str]:
        return super().wrong_fields() | {each.prefix for each in self.row_lists if any(row.errors for row in each.rows)}

    def with_stored(self, names: Collection[str], shown: Any) -> QueryDict:
        lists = {each.prefix: each.rows for each in shown.row_lists if each.prefix in names}
        data = super().with_stored(set(names) - set(lists), shown)
        for prefix, rows in lists.items():
            for name in [name for name in data if is_of_list(name, prefix)]:
                del data[name]
            for bound in (bound for row in rows for bound in row.visible_fields()):
                data.setlist(bound.html_name, untouched(bound))
        return data
