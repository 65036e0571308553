"""Strata and quotas of a draft as tables: one row per group, band or limit; each table reads and writes the text."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from core.form_fields import offer
from evaluation.forms.parameter_fields import entered
from studies.allocation.assignment.wording import (
    percentage,
    quotas_from_text,
    strata_from_text,
    tests_as_text,
)
from studies.instrument.questionnaires.conditions import as_text

MOST_ROWS = 200
_NUMBER = re.compile(r"\d{1,4}")
Row = dict[str, Any]


class GroupRow(forms.Form):
    """A group of participants: the answers to a question, or a band of numbers. A row without entries is ignored."""

    use_required_attribute = False
    question = forms.ChoiceField(label="Question", required=False)
    name = forms.CharField(label="Name", required=False, max_length=120)
    answers = forms.CharField(label="Answers, separated by commas", required=False, max_length=500)
    low = forms.IntegerField(label="From", required=False, min_value=0, max_value=999_999)
    high = forms.IntegerField(label="To", required=False, min_value=0, max_value=999_999)

    def __init__(
        self, questions: Collection[str], data: QueryDict | None = None, *, prefix: str, values: Row | None = None
    ) -> None:
        super().__init__(data, prefix=prefix, initial=values)
        known = dict.fromkeys([*questions, *filter(None, [(values or {}).get("question")])])
        offer(self, "question", [("", "–"), *((key, key) for key in known)])
        for field in self.fields.values():
            field.widget.attrs["aria-label"] = field.label

    def values(self) -> Row:
        """Return the valid entries by name, without empty ones; {} for an empty row."""
        current = self.cleaned_data if self.is_bound and self.errors is not None else self.initial
        return {name: value for name, value in current.items() if value not in (None, "")}

    def _refuse_separators(self, name: str, separators: str) -> str:
        value = str(self.cleaned_data[name]).strip()
        if any(mark in value for mark in separators):
            raise ValidationError(f"Leave out the characters {' '.join(separators)}")
        return value

    def clean_name(self) -> str:
        """Return the name, which cannot contain what separates the parts of the text."""
        return self._refuse_separators("name", ":;=%")

    def clean_answers(self) -> str:
        """Return the answers, which cannot contain what separates the parts of the text."""
        return self._refuse_separators("answers", ":;=%")

    def clean(self) -> Row:
        """Require a question, and either answers or both ends of a band."""
        cleaned = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        if cleaned and "question" not in cleaned:
            self.add_error("question", "Choose the question that this row is about.")
        if ("low" in cleaned) != ("high" in cleaned):
            missing = "high" if "low" in cleaned else "low"
            if missing not in self.errors:
                self.add_error(missing, "Give both ends of the band, or neither.")
        elif "low" in cleaned and cleaned["low"] > cleaned["high"]:
            self.add_error("high", "The end of the band is below its beginning.")
        if "low" in cleaned and "answers" in cleaned:
            self.add_error("answers", "Give answers or a band, not both.")
        return self.cleaned_data


class StratumRow(GroupRow):
    """A stratum with its expected share; a group without answers covers all other answers."""

    share = forms.FloatField(label="Expected share, %", required=False, min_value=0, max_value=999)

    def clean(self) -> Row:
        """Require a name or a band."""
        cleaned = super().clean()
        if cleaned.get("question") and not self.errors and not {"name", "answers", "low"} & self.values().keys():
            self.add_error("name", "Name the group, or give a band.")
        return cleaned


class QuotaRow(GroupRow):
    """A limit, or another condition of the limit above it."""

    field_order = ("most", "name", "question", "answers", "low", "high")
    most = forms.IntegerField(label="At most", required=False, min_value=0, max_value=9_999_999)

    def clean(self) -> Row:
        """Require answers or a band."""
        cleaned = super().clean()
        if self.values() and not self.errors and not {"answers", "low"} & self.values().keys():
            self.add_error("answers", "Give the answers that count, or a band.")
        return cleaned


class GroupTable:
    """Rows of a table in order; `name` is that of the text field beside it."""

    row_class: ClassVar[type[GroupRow]]
    title: ClassVar[str]

    def __init__(self, name: str, questions: Collection[str], rows: Mapping[int, GroupRow]) -> None:
        self.name, self.questions = name, questions
        self.rows = dict(rows) or {0: self._row(0)}
        self.checked: dict[int, GroupRow] = {}  # of rows that are shown unchecked
        self.is_shortened = False  # whether a row was just removed

    def _row(self, number: int, **kwargs: Any) -> GroupRow:
        return self.row_class(self.questions, prefix=f"{self.name}-{number}", **kwargs)

    @classmethod
    def of(cls, name: str, questions: Collection[str], values: Sequence[Row]) -> GroupTable:
        """Return the table of some rows; with one empty row if there are none."""
        table = cls(name, questions, {})
        table.rows = {number: table._row(number, values=row) for number, row in enumerate(values or [{}])}
        return table

    @classmethod
    def posted(cls, name: str, questions: Collection[str], data: QueryDict, *, step: str) -> GroupTable | None:
        """Return the rows of a posted form; None if it has none. A `step` adds or removes a row, and checks none."""
        numbers = [int(text) for text in data.getlist(f"{name}_row")[:MOST_ROWS] if _NUMBER.fullmatch(text)]
        if not numbers:
            return None
        table = cls(name, questions, {})
        table.checked = {number: table._row(number, data=data) for number in numbers}
        if not step:
            table.rows = table.checked
            return table
        table.rows = {
            number: table._row(number, values=entered(table._row(number), data))
            for number in numbers
            if step != f"remove-{name}-{number}"
        }
        table.is_shortened = step.startswith(f"remove-{name}-")
        if step == f"add-{name}" or not table.rows:
            newest = max(numbers) + 1
            table.rows[newest] = table._row(newest)
            first = next(iter(table.rows[newest].fields.values()))
            first.widget.attrs["autofocus"] = not table.is_shortened
        return table

    @property
    def forms(self) -> list[GroupRow]:
        return list(self.rows.values())

    @property
    def labels(self) -> list[str]:
        return [str(field.label) for field in self.forms[0].fields.values()]

    def filled(self) -> list[Row]:
        rows = [self.checked.get(number, row) for number, row in self.rows.items()]
        return [values for values in (row.values() for row in rows) if values]

    def text(self) -> str:
        raise NotImplementedError


class StrataTable(GroupTable):
    """The strata: the rows of one question are a line of the text."""

    row_class = StratumRow
    title = "Strata"

    @staticmethod
    def rows_of(text: str, yes_no: Collection[str]) -> list[Row]:
        """Read rows from the text. Raises ParameterError as `strata_from_text` does."""
        rules, shares = strata_from_text(text, yes_no)
        rows: list[Row] = []
        for rule in rules:
            own = shares.get(rule["question"], {})
            levels: list[tuple[str, Row]] = [
                (group["name"], {"name": group["name"], "answers": ", ".join(map(as_text, group["values"]))})
                for group in rule.get("groups", ())
            ]
            levels += [(rule["rest"], {"name": rule["rest"]})] if "rest" in rule else []
            levels += [(f"{low}-{high}", {"low": low, "high": high}) for low, high in rule.get("bands", ())]
            rows += [
                {"question": rule["question"], **row, **({"share": own[level]} if level in own else {})}
                for level, row in levels
            ]
        return rows

    def text(self) -> str:
        lines: dict[str, list[str]] = {}
        for row in self.filled():
            share = f" {percentage(row['share'])}%" if "share" in row else ""
            lines.setdefault(row.get("question", ""), []).append(f"{_level(row)}{share}")
        return "\n".join(f"{question}: {'; '.join(levels)}" for question, levels in lines.items())


class QuotaTable(GroupTable):
    """The quotas: a row with a limit begins a quota, and each row after it without one is another condition."""

    row_class = QuotaRow
    title = "Quotas"

    @staticmethod
    def rows_of(text: str, yes_no: Collection[str]) -> list[Row]:
        """Read rows from the text. Raises ParameterError as `quotas_from_text` does."""
        rows: list[Row] = []
        for quota in quotas_from_text(text, yes_no):
            name = {} if quota["name"] == tests_as_text(quota) else {"name": quota["name"]}
            for position, test in enumerate(quota["where"]):
                limit = {"most": quota["most"], **name} if position == 0 else {}
                values = test.get("values", ())
                answers = {"answers": ", ".join(map(as_text, values))} if values else {}
                band = dict(zip(("low", "high"), test.get("band", ()), strict=False))
                rows.append({**limit, "question": test["question"], **answers, **band})
        return rows

    def text(self) -> str:
        lines: list[str] = []
        for row in self.filled():
            test = f"{row.get('question', '')} = {_band(row) or row.get('answers', '')}"
            if "most" in row or not lines:
                name = f" {row['name']}" if "name" in row else ""
                lines.append(f"{row.get('most', '')}{name}: {test}")
            else:
                lines[-1] += f"; {test}"
        return "\n".join(lines)


def _band(row: Row) -> str:
    return f"{row['low']}-{row['high']}" if {"low", "high"} <= row.keys() else ""


def _level(row: Row) -> str:
    if band := _band(row):
        return band
    name = row.get("name", row.get("answers", ""))
    return f"{name} = {row['answers']}" if "answers" in row else str(name)
