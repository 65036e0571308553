"""The JSON Schema of a report's numbers, which pydantic generates from the dataclasses that hold them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from analysis.results.bayesian import BayesianResults
from analysis.results.codec import DEFINED, KIND, core_schema, flat_fields, tag_of_result
from analysis.results.plan import ReportPlan
from analysis.results.report import SCHEMA_NAME, Provenance, Results
from evaluation.reported_kinds import ERRORS, HITS

Schema = dict[str, Any]
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
SIGNED: Schema = {}  # of whole numbers that are no counts
# Bounds of fields by name, and of single fields by class and name.
BOUNDS: Mapping[str, Schema] = {
    **dict.fromkeys(("p", "p_holm", "p_unadjusted", "perceived_p", "objective_p", "proportional_p"), PROBABILITY),
    "p_equivalence": PROBABILITY,
    **dict.fromkeys(("share_watched", "share_of_most_shown", "power", "eta_squared"), PROBABILITY),
    **dict.fromkeys(("coefficient", "smallest_detectable"), CORRELATION),
    **{f"MetricValues.{kind}": PROBABILITY for kind in ("recall", "fallout", "precision", "f")},
    **dict.fromkeys(("design_hash", "dataset_hash", "run_inputs_hash", "run_cases_digest"), DIGEST),
    **dict.fromkeys(("digest", "answers_digest", "everybody_digest", "sample_digest"), DIGEST),
    "alpha": LEVEL,
    "weights": SIGNED,
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
    parts = {"plan": ReportPlan, "provenance": Provenance, "results": Results, "bayesian": BayesianResults}
    generated, definitions = _Generator().generate_definitions(
        [(name, "validation", core_schema(part)) for name, part in parts.items()]
    )
    properties = {
        "$schema": {"const": SCHEMA_NAME},
        "study": {"type": "string"},
        "report": {"type": "integer", "minimum": 1},
        "mode": MODE,
        "is_pilot": {"type": "boolean"},
        "notice": {"type": "string"},
        "inputs_hash": {"type": "string", **DIGEST},
        **{name: generated[name, "validation"] for name in parts},
    }
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:parallax:report",
        "title": "A report of Parallax",
        "description": DESCRIPTION,
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in ("is_pilot", "notice", "bayesian")],
        "$defs": dict(sorted(definitions.items())),
    }
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


class _Generator(GenerateJsonSchema):
    """The schemas of pydantic with what is special about stored results; titles only repeat the names of fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def tagged_union_schema(self, schema: Any) -> Schema:
        """A result, or the reason why there is none; other unions as they are."""
        if schema["discriminator"] is not tag_of_result:
            return super().tagged_union_schema(schema)
        return {
            "type": "object",
            "properties": {DEFINED: {"type": "boolean"}},
            "required": [DEFINED],
            "if": {"properties": {DEFINED: {"const": True}}},
            "then": self.generate_inner(schema["choices"]["defined"]),
            "else": self.generate_inner(schema["choices"]["undefined"]),
        }

    def dataclass_schema(self, schema: Any) -> Schema:
        """A dataclass with the bounds of its fields; the keys of flat fields join its own."""
        owner, plain = schema["cls"], super().dataclass_schema(schema)
        properties, flat = plain["properties"], flat_fields(owner)
        required = [key for key in properties if key not in flat and (key in plain.get("required", ()) or key == KIND)]
        return {
            "description": " ".join((inspect.getdoc(owner) or "").split("\n\nAttributes\n")[0].split()),
            "type": "object",
            "properties": {
                key: _bounded(member, BOUNDS.get(f"{owner.__name__}.{key}", BOUNDS.get(key, {})))
                for key, member in properties.items()
                if key not in flat
            },
            "required": required,
            **({"allOf": [properties[name] for name in flat]} if flat else {}),
        }


def _bounded(node: Any, bounds: Schema) -> Any:
    """A field with bounds of its numbers and strings; counts are never negative."""
    if isinstance(node, list):
        return [_bounded(item, bounds) for item in node]
    if not isinstance(node, dict):
        return node
    kind = node.get("type")
    limits = bounds if kind in ("integer", "number", "string") else {}
    least = {"minimum": 0} if kind == "integer" and bounds is not SIGNED else {}
    return {**{key: _bounded(value, bounds) for key, value in node.items()}, **least, **limits}
