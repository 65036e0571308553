"""The REST API as people read it: its operations by tag, and the objects that they take and return."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.safestring import SafeString
from drf_spectacular.generators import SchemaGenerator

from core.templatetags.code_marks import with_code

Schema = Mapping[str, Any]
EXAMPLES = Path(settings.BASE_DIR) / "docs/reference/api-examples.json"
METHODS = ("get", "post", "put", "patch", "delete")
REFERENCE = "#/components/schemas/"
NULL = "NullEnum"


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter of an operation, or a field of an object; `object` is the object that it holds, empty for none."""

    name: str
    type: str
    object: str
    description: str
    is_required: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """A method of an address; `takes` and `returns` name objects, or the media type of a file."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Field, ...]
    takes: str
    status: str
    returns: Field
    example: str  # of the JSON that it takes; empty for no body, and for forms with files


@cache
def interface() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the REST API as its OpenAPI document describes it: its operations by tag, and the objects that they take
    or return, with their fields, or the values that they may have.
    """
    generator = SchemaGenerator(api_version="v1")  # type: ignore[no-untyped-call]
    document = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    operations = [
        (str(stated["tags"][0]), _operation(method, path, stated))
        for path, methods in document["paths"].items()
        for method, stated in methods.items()
        if method in METHODS
    ]
    groups = [
        {
            "name": tag["name"],
            "description": _html(tag["description"]),
            "operations": [each for name, each in operations if name == tag["name"]],
        }
        for tag in document["tags"]
    ]
    return groups, list(_objects(document["components"]["schemas"]))


def add_examples(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Add to each operation a real response, and request, that a test recorded; a postprocessing hook of the schema."""
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    for operation in (operation for methods in result["paths"].values() for operation in methods.values()):
        example = examples.get(operation["operationId"], {})
        if "body" in example:
            operation["responses"][example["status"]]["content"][example["type"]]["example"] = example["body"]
        if "request" in example:
            operation["requestBody"]["content"]["application/json"]["example"] = example["request"]
    return result


def _operation(method: str, path: str, stated: Schema) -> Operation:
    parameters = tuple(
        _field(each["name"], each["schema"], each.get("description", ""), is_required=each.get("required", False))
        for each in stated.get("parameters", ())
    )
    status, answer = next((code, answer) for code, answer in stated["responses"].items() if code.startswith("2"))
    content = answer.get("content") or {"": {"schema": {"type": ""}}}
    media = next(iter(content))
    returns = _field(media, content[media].get("schema", {}), answer.get("description", ""), is_required=True)
    bodies: Mapping[str, Schema] = stated.get("requestBody", {"content": {}})["content"]
    return Operation(
        id=stated["operationId"],
        method=method.upper(),
        path=path,
        summary=_html(stated.get("summary", "")),
        description=_html(stated.get("description", "")),
        parameters=parameters,
        takes=next((_object_of(body["schema"]) for body in bodies.values()), ""),
        status=status,
        returns=returns,
        example=json.dumps(bodies["application/json"].get("example", {}), indent=2)
        if "application/json" in bodies
        else "",
    )


def _objects(schemas: Mapping[str, Schema]) -> Iterator[dict[str, Any]]:
    for name, stated in sorted(schemas.items()):
        if name == NULL:
            continue
        needed = stated.get("required", ())
        fields = tuple(
            _field(key, value, value.get("description", ""), is_required=key in needed)
            for key, value in stated.get("properties", {}).items()
        )
        values = tuple(str(value) for value in stated.get("enum", ()))
        description = "" if values else _html(stated.get("description", ""))
        yield {"name": name, "description": description, "fields": fields, "values": values}


def _field(name: str, schema: Schema, description: str, *, is_required: bool) -> Field:
    meaning = description.partition("* `")[0].strip()  # the values of an enumeration follow, which has its own entry
    return Field(name, _type(schema), _object_of(schema), _html(meaning), is_required)


def _html(text: str) -> SafeString:
    """A description as HTML, in which backticks mark code."""
    return with_code(text.replace("``", "`"))


def _parts(schema: Schema) -> Sequence[Schema]:
    """The schemas that a value may follow, apart from null."""
    parts = next((schema[key] for key in ("oneOf", "anyOf", "allOf") if key in schema), [schema])
    return [part for part in parts if part.get("$ref") != REFERENCE + NULL]


def _object_of(schema: Schema) -> str:
    """The name of the object that a value is, or is a list of; empty for none."""
    part = _parts(schema)[0]
    part = _parts(part["items"])[0] if "items" in part else part
    return str(part.get("$ref", "")).removeprefix(REFERENCE)


def _type(schema: Schema) -> str:
    """What a value is, in words, without the name of the object that it holds."""
    part = _parts(schema)[0]
    if "items" in part:
        return f"list of {_type(part['items'])}".rstrip()
    if "$ref" in part:
        return ""
    if "enum" in part:
        return "one of " + ", ".join(str(value) for value in part["enum"])
    types = part.get("type", "any")
    return " or ".join([types] if isinstance(types, str) else types)
