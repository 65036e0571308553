"""Declarations of variables, and their codebook dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from studies.data.codebook.cells import MISSING

Row = TypeVar("Row")
Outer = TypeVar("Outer")
NO = "no"
INDIRECTLY = "indirectly"  # not alone, but possibly in combination with others
YES = "yes"
YES_NO = (("1", "yes"), ("0", "no"))
# Types that other formats call otherwise
TABLE_SCHEMA_TYPES = {"category": "string", "text": "string"}
PSYCH_DS_TYPES = {**TABLE_SCHEMA_TYPES, "datetime": "string"}


@dataclass(frozen=True)
class Variable(Generic[Row]):
    """One variable of one kind of row.

    `values` are the values with their labels where there are few; `allowed` says in words what a value may be.
    `identifies` is whether it identifies a person. `source` is the screen it comes from, `derivation` how it is
    computed, `direction` what a high value means.
    """

    name: str
    meaning: str
    type: str
    read: Callable[[Row], Any]
    allowed: str = ""
    values: tuple[tuple[str, str], ...] = ()
    identifies: str = NO
    missing: str = MISSING
    source: str = ""
    derivation: str = ""
    direction: str = ""
    is_reversed: bool = False
    minimum: float | None = None
    maximum: float | None = None

    @property
    def values_text(self) -> str:
        """Values and labels in one line."""
        listed = ", ".join(value if value == label else f"{value} = {label}" for value, label in self.values)
        return "; ".join(part for part in (listed, self.allowed) if part)


REVERSED = "reverse_coded"
HEADS = ("name", "meaning", "type", "values", "missing", "identifies", "source", "derivation", "direction", REVERSED)


def shown(variables: Iterable[Variable[Row]], *, with_identifying: bool = False) -> tuple[Variable[Row], ...]:
    """The variables of an export; identifying ones only if requested."""
    return tuple(v for v in variables if with_identifying or v.identifies != YES)


def lifted(variable: Variable[Row], row_of: Callable[[Outer], Row]) -> Variable[Outer]:
    """The same variable of rows that hold its own: `row_of` finds it there."""
    of_outer: Any = variable
    return replace(of_outer, read=lambda row: variable.read(row_of(row)))


def line(variable: Variable[Any]) -> dict[str, str]:
    """The variable's line in the codebook, by `HEADS`."""
    written = {"values": variable.values_text, REVERSED: "1" if variable.is_reversed else "0"}
    return {head: written[head] if head in written else getattr(variable, head) for head in HEADS}


def as_json(variable: Variable[Any]) -> dict[str, Any]:
    """The variable in the JSON codebook: as in the CSV, with values and labels as a list."""
    labels = [{"value": value, "label": label} for value, label in variable.values]
    return {**line(variable), "labels": labels, REVERSED: variable.is_reversed}


def table_schema(variables: Sequence[Variable[Any]], *, key: Sequence[str] = ()) -> dict[str, Any]:
    """The columns as a Frictionless Table Schema."""
    fields = []
    for variable in variables:
        constraints: dict[str, Any] = {}
        if variable.values and variable.type == "category":
            constraints["enum"] = [value for value, _ in variable.values]
        for name in ("minimum", "maximum"):
            if getattr(variable, name) is not None and not variable.values:
                constraints[name] = getattr(variable, name)
        field: dict[str, Any] = {
            "name": variable.name,
            "title": variable.meaning,
            "type": TABLE_SCHEMA_TYPES.get(variable.type, variable.type),
            "description": variable.derivation or variable.meaning,
        }
        if variable.type == "boolean":
            field |= {"trueValues": ["1"], "falseValues": ["0"]}
        if constraints:
            field["constraints"] = constraints
        fields.append(field)
    schema: dict[str, Any] = {"fields": fields, "missingValues": [MISSING]}
    if key:
        schema["primaryKey"] = list(key)
    return schema


def property_value(variable: Variable[Any]) -> dict[str, Any]:
    """The variable as Psych-DS, by way of schema.org, describes what was measured."""
    described: dict[str, Any] = {
        "@type": "PropertyValue",
        "name": variable.name,
        "description": variable.meaning,
        "valueType": PSYCH_DS_TYPES.get(variable.type, variable.type),
        "identifiable": variable.identifies == YES,
    }
    if variable.values_text:
        described["levels" if variable.values else "valuePattern"] = (
            [{"value": value, "label": label} for value, label in variable.values]
            if variable.values
            else variable.allowed
        )
    for name, key in (("minimum", "minValue"), ("maximum", "maxValue")):
        if getattr(variable, name) is not None:
            described[key] = getattr(variable, name)
    return described
