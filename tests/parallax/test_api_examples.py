"""The examples of the OpenAPI document are real: `make approve` records them, and each test run compares them."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from accounts.services import create_token
from analysis.services import build_report
from evaluation.models import RemoteRecommender
from parallax.api.operations import EXAMPLES
from tests.parallax.api_writes import WRITES
from tests.parallax.api_writes.write import make_scene, send
from tests.parallax.test_api_roles import address_of, route_of

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
ADDRESS = "https://parallax.example.org"
LONG = {"study_design", "run_results", "report_numbers"}  # documents without a fixed form, of which the head is shown
KEYS, DEEPEST = 8, 4


def shortened(value: Any, *, is_long: bool = False, depth: int = 0) -> Any:
    """A value whose lists have their first entry; a long document loses its further keys too."""
    if isinstance(value, dict):
        items = list(value.items())[: KEYS if is_long and depth else None]
        return {} if is_long and depth > DEEPEST else {
            key: shortened(part, is_long=is_long, depth=depth + 1) for key, part in items
        }  # fmt: skip
    if isinstance(value, list):
        return [shortened(part, is_long=is_long, depth=depth + 1) for part in value[:1]]
    return value


def form_of(value: Any) -> Any:
    """The keys and types of a value."""
    if isinstance(value, dict):
        return {key: form_of(part) for key, part in value.items()}
    if isinstance(value, list):
        return [form_of(part) for part in value]
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


@pytest.fixture
def recorded(db: None) -> dict[str, Any]:
    """The response, and request, of each operation to a real program of the study's owner."""
    scene = make_scene()
    owner = scene.owner
    type(owner).objects.filter(pk=owner.pk).update(email="ada@example.org", name="Ada")
    report = build_report(study=scene.study)
    RemoteRecommender.objects.create(name="Others", operator="A. University", address="https://r.example.org")
    text = create_token(owner=owner, name="R on my laptop", scope="read data write")[1]
    program = Client(headers={"Authorization": f"Bearer {text}"})
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    rows = {write.id: write for write in WRITES}
    found = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name, study = operation["operationId"], scene.study
            with transaction.atomic():
                if method == "get":
                    response = program.get(address_of(route_of(path), study, report))
                else:
                    response = send(rows[name], scene, "owner")
                found[name] = _example(name, response)
                transaction.set_rollback(True)
            scene.study = study
    return found


def _example(name: str, response: Any) -> dict[str, Any]:
    content = (b"".join(response.streaming_content) if response.streaming else response.content).decode(
        "utf-8", "replace"
    )
    assert response.status_code in (200, 201, 202, 204), (name, content)
    media = response.get("Content-Type", "").partition(";")[0]
    example: dict[str, Any] = {"status": str(response.status_code)}
    if media == "application/json":
        body = json.dumps(shortened(json.loads(content), is_long=name in LONG))
        example |= {"type": media, "body": json.loads(body.replace("http://testserver", ADDRESS))}
    elif media.startswith("text/"):
        example |= {"type": media, "body": "".join(content.splitlines(keepends=True)[:3])}
    if sent := getattr(response, "sent", None):
        example["request"] = sent
    return example


@pytest.mark.slow
def test_each_operation_has_an_example_of_the_form_that_programs_get(recorded: dict[str, Any]) -> None:
    if os.environ.get("PARALLAX_APPROVE"):
        EXAMPLES.write_text(json.dumps(recorded, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    assert set(examples) == set(recorded)
    for name, example in examples.items():
        assert form_of(example) == form_of(recorded[name]), name
        assert not re.search(r"plx_[\w-]{20,}|testserver", json.dumps(example)), name


def test_the_document_shows_them_and_is_open_to_everyone() -> None:
    answer = Client().get("/api/v1/schema/", {"format": "json"})
    assert answer["Content-Type"].startswith("application/vnd.oai.openapi+json")
    document = json.loads(answer.content)
    assert document["openapi"].startswith("3.1.")
    for methods in document["paths"].values():
        for operation in methods.values():
            contents = [
                (media, content)
                for code, response in operation["responses"].items()
                for media, content in response.get("content", {}).items()
                if code.startswith("2")
            ]
            is_shown = any("example" in content for _media, content in contents)
            is_of_text = any(media == "application/json" or media.startswith("text/") for media, _content in contents)
            assert is_shown == is_of_text, operation["operationId"]
    assert Client().get("/api/v1/schema/").content.startswith(b"openapi: 3.1.")
