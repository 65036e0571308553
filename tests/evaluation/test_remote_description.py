"""The OpenAPI description of the protocol has the messages that the client sends and reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic.json_schema import models_json_schema

from evaluation.remote.messages import About, ListAnswer, ListQuery, ManyAnswers, ManyRequests

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "remote-recommender.yaml"
MESSAGES = (About, ListQuery, ListAnswer, ManyRequests, ManyAnswers)
pytestmark = pytest.mark.unit


def test_the_description_has_the_messages_of_the_client() -> None:
    _, generated = models_json_schema(
        [(message, "validation") for message in MESSAGES], ref_template="#/components/schemas/{model}"
    )
    document = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))
    if os.environ.get("PARALLAX_APPROVE"):
        document["components"]["schemas"] = generated["$defs"]
        DOCUMENT.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110), encoding="utf-8")
    assert document["components"]["schemas"] == generated["$defs"], "Write it anew: PARALLAX_APPROVE=1 pytest"


def test_every_message_is_used_and_every_reference_leads_to_one() -> None:
    document = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))
    schemas = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(_references(document)) == schemas
    assert set(document["paths"]) == {"/about", "/recommend", "/recommend-many"}
    example = document["paths"]["/recommend"]["post"]["requestBody"]["content"]["application/json"]["example"]
    assert ListQuery.model_validate(example).n == 5


def _references(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"]] if "$ref" in node else []
        return own + [each for value in node.values() for each in _references(value)]
    return [each for value in node for each in _references(value)] if isinstance(node, list) else []
