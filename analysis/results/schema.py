"""The JSON Schema of a report's numbers, generated from the dataclasses that hold them."""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from analysis.results.bayesian import BayesianResults
from analysis.results.codec import KIND, default_of, storage_of
from analysis.results.plan import ReportPlan
from analysis.results.provenance import Provenance
from analysis.results.report import Results
from evaluation.reported_kinds import ERRORS, HITS
from inference.results import Undefined

Schema = dict[str, Any]
NAME = "report.schema.json"
DESCRIPTION = (
    "Perceived and objective quality of the same models: every number with its test, inputs and seeds. A statistic "
    'without a value is {"is_defined": false} with its reason; there is no NaN. New keys may be added at any time; '
    "where a key changes its meaning, `results.format` increases."
)
PROBABILITY: Schema = {"minimum": 0, "maximum": 1}
CORRELATION: Schema = {"minimum": -1, "maximum": 1}
LEVEL: Schema = {"exclusiveMinimum": 0, "exclusiveMaximum": 1}
DIGEST: Schema = {"pattern": "^([0-9a-f]{64})?$"}
MODE: Schema = {"enum": ["live", "simulated"]}
SCALARS: Mapping[Any, Schema] = {
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    str: {"type": "string"},
}
# Bounds of fields by name, and of single fields by class and name.
BOUNDS: Mapping[str, Schema] = {
    **dict.fromkeys(("p", "p_holm", "p_unadjusted", "perceived_p", "objective_p", "proportional_p"), PROBABILITY),
    **dict.fromkeys(("share_watched", "share_of_most_shown", "power", "eta_squared"), PROBABILITY),
    **dict.fromkeys(("coefficient", "smallest_detectable"), CORRELATION),
    **{f"MetricValues.{kind}": PROBABILITY for kind in ("recall", "fallout", "precision", "f")},
    **dict.fromkeys(("design_hash", "dataset_hash", "run_inputs_hash", "run_cases_digest"), DIGEST),
    **dict.fromkeys(("digest", "answers_digest", "everybody_digest", "sample_digest"), DIGEST),
    "alpha": LEVEL,
    "ReliabilityResult.alpha": {"maximum": 1},
    "PowerCurve.power": {},
    "mode": MODE,
    "sides": {"enum": [1, 2]},
    "kind": {"enum": [*HITS, *ERRORS]},
    "ExclusionReason.how": {"enum": ["hand", "rule"]},
    "Undefined.reason": {"minLength": 1},
}


def report_schema() -> bytes:
    """The schema of a whole report, as it is published."""
    generator = _Generator()
    properties = {
        "$schema": {"const": NAME},
        "study": {"type": "string"},
        "report": {"type": "integer", "minimum": 1},
        "mode": MODE,
        "is_pilot": {"type": "boolean"},
        "notice": {"type": "string"},
        "inputs_hash": {"type": "string", **DIGEST},
        "plan": generator.schema_of(ReportPlan),
        "provenance": generator.schema_of(Provenance),
        "results": generator.schema_of(Results),
        "bayesian": generator.schema_of(BayesianResults),
    }
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:parallax:report",
        "title": "A report of Parallax",
        "description": DESCRIPTION,
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in ("is_pilot", "notice", "bayesian")],
        "$defs": dict(sorted(generator.definitions.items())),
    }
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


class _Generator:
    """Schemas of types; every dataclass becomes one definition."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self.owners: dict[str, type] = {}

    def schema_of(self, hint: Any, bounds: Schema | None = None) -> Schema:
        """The schema of a type, within bounds where it is a number or a string."""
        origin, arguments = get_origin(hint), get_args(hint)
        if is_dataclass(hint) and isinstance(hint, type):
            return self._reference(hint)
        if isinstance(hint, type) and issubclass(hint, Enum):
            return {"enum": [member.value for member in hint]}
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin is tuple:
            return self._array(arguments, bounds)
        if origin is dict:
            return {"type": "object", "additionalProperties": self.schema_of(arguments[1], bounds)}
        if origin in (Union, types.UnionType):
            return self._union(arguments, bounds)
        return {**SCALARS[hint], **(bounds or {})} if hint in SCALARS else {}

    def _array(self, arguments: tuple[Any, ...], bounds: Schema | None) -> Schema:
        if arguments[-1] is Ellipsis:
            return {"type": "array", "items": self.schema_of(arguments[0], bounds)}
        n = len(arguments)
        members = [self.schema_of(argument, bounds) for argument in arguments]
        return {"type": "array", "prefixItems": members, "minItems": n, "maxItems": n}

    def _union(self, arguments: tuple[Any, ...], bounds: Schema | None) -> Schema:
        members = [argument for argument in arguments if argument is not types.NoneType]
        if Undefined in members:
            schema = self._result(next(member for member in members if member is not Undefined))
        else:
            schemas = [self.schema_of(member, bounds) for member in members]
            schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        if len(members) == len(arguments):
            return schema
        return {"anyOf": [{"type": "null"}, schema]}

    def _result(self, member: Any) -> Schema:
        """A result, or the reason why there is none."""
        return {
            "type": "object",
            "properties": {"is_defined": {"type": "boolean"}},
            "required": ["is_defined"],
            "if": {"properties": {"is_defined": {"const": True}}},
            "then": self.schema_of(member),
            "else": self.schema_of(Undefined),
        }

    def _reference(self, owner: type) -> Schema:
        name = owner.__name__
        if self.owners.setdefault(name, owner) is not owner:
            raise TypeError(
                f"Two dataclasses of reports are called {name}; rename one, as each name is one definition."
            )
        if name not in self.definitions:
            self.definitions[name] = {}  # fills a cycle
            self.definitions[name] = self._definition(owner)
        return {"$ref": f"#/$defs/{name}"}

    def _definition(self, owner: type) -> Schema:
        hints, properties, required, joined = get_type_hints(owner), {}, [], []
        for entry in fields(owner):
            storage, hint = storage_of(entry), hints[entry.name]
            if storage.is_flat:
                joined.append(self.schema_of(hint))
                continue
            key = storage.key or entry.name
            properties[key] = self._property(owner, key, entry, hint)
            if default_of(entry) is MISSING or entry.name == KIND:
                required.append(key)
        description = (inspect.getdoc(owner) or "").split("\n\nAttributes\n")[0]
        schema: Schema = {"description": " ".join(description.split()), "type": "object", "properties": properties}
        return {**schema, "required": required, **({"allOf": joined} if joined else {})}

    def _property(self, owner: type, key: str, entry: Field[Any], hint: Any) -> Schema:
        if entry.name == KIND and isinstance(entry.default, str):
            return {"const": entry.default}
        return self.schema_of(hint, BOUNDS.get(f"{owner.__name__}.{key}", BOUNDS.get(key)))
