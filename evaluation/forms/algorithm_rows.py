"""The algorithms of a new run, one row each, with fields of their parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict

from core.errors import ParameterError
from evaluation.forms.parameter_fields import ParameterForm, Values, entered
from recommenders import registry
from recommenders.reranking import BAR, RERANKERS

ROW = re.compile(r"(\d{1,4}):(.{1,80})")
MOST_ROWS = 100
Named = tuple[str, Values]


def picker() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return each family with its algorithms: key and title."""
    return [
        (family, [(key, registry.algorithm(key).title) for key in keys]) for family, keys in registry.families().items()
    ]


class AlgorithmRow:
    """One algorithm with the form of its parameters; `number` identifies the row on the page.

    `checked` reads what `form` shows, which a page that only added or removed a row leaves unchecked.
    """

    def __init__(self, number: int, key: str, form: ParameterForm, checked: ParameterForm | None = None) -> None:
        self.number, self.key, self.form, self.checked = number, key, form, checked or form
        self.kind = registry.algorithm(key)

    @property
    def label(self) -> str:
        """The algorithm with what distinguishes its conditions, as in the results: PureSVD50."""
        try:
            return registry.label(self.key, self.checked.stated())
        except ParameterError:
            return self.kind.name

    @property
    def line(self) -> str:
        """The algorithm in one line."""
        return (inspect.getdoc(self.kind) or "").partition("\n")[0].replace("`", "")

    @property
    def rerankers(self) -> list[tuple[str, str]]:
        """What can re-rank its lists: key and title; nothing where they are re-ranked already."""
        return [] if BAR in self.key else [(key, kind.method_title) for key, kind in RERANKERS.items()]

    @property
    def id(self) -> str:
        """The value that identifies the row in the posted form."""
        return f"{self.number}:{self.key}"


class AlgorithmRows:
    """The chosen algorithms in order; `added` is the number of the newest row, which gets the focus."""

    def __init__(self, rows: Sequence[AlgorithmRow]) -> None:
        self.rows = list(rows)
        self.added: int | None = None

    @classmethod
    def of(cls, algorithms: Sequence[Named]) -> AlgorithmRows:
        """Return the rows of named algorithms."""
        return cls([_row(number, key, values=values) for number, (key, values) in enumerate(algorithms)])

    @classmethod
    def posted(cls, data: QueryDict, *, is_checked: bool) -> AlgorithmRows:
        """Return the rows of a posted form; without checking them, to be shown again."""
        matches = [match for match in map(ROW.fullmatch, data.getlist("row")[:MOST_ROWS]) if match]
        known = [(int(match[1]), match[2]) for match in matches if registry.is_listed(match[2])]
        return cls([_row(number, key, data=data, is_checked=is_checked) for number, key in known])

    def change(self, step: str, data: QueryDict) -> None:
        """Append the chosen algorithm with its defaults (step ``add``), insert one that is re-ranked behind its row
        (``rerank-NUMBER``), or remove a row (``remove-NUMBER``).
        """
        number = max([row.number for row in self.rows], default=-1) + 1
        positions = {f"rerank-{row.number}": position for position, row in enumerate(self.rows)}
        if len(self.rows) < MOST_ROWS and step == "add" and data.get("algorithm") in set(registry.keys()):
            self.rows.append(_row(number, str(data["algorithm"])))
            self.added = number
        elif len(self.rows) < MOST_ROWS and step in positions and data.get(step) in RERANKERS:
            base = self.rows[positions[step]]
            added = _row(number, f"{base.key}{BAR}{data[step]}", values=base.form.initial)
            self.rows.insert(positions[step] + 1, added)
            self.added = number
        self.rows = [row for row in self.rows if step != f"remove-{row.number}"]

    def named_settings(self) -> list[Named]:
        """Return the key and the stated values of each row."""
        return [(row.key, row.checked.stated()) for row in self.rows]


def _row(
    number: int,
    key: str,
    *,
    data: QueryDict | None = None,
    is_checked: bool = False,
    values: Mapping[str, Any] | None = None,
) -> AlgorithmRow:
    described, prefix = registry.algorithm(key).Params.described(), f"row{number}"

    def check(stated: Values) -> None:
        registry.params_of(key, stated)

    if data is None:
        return AlgorithmRow(number, key, ParameterForm(described, prefix=prefix, values=values, check=check))
    checked = ParameterForm(described, data, prefix=prefix, check=check)
    shown = checked if is_checked else ParameterForm(described, prefix=prefix, values=entered(checked, data))
    return AlgorithmRow(number, key, shown, checked)
