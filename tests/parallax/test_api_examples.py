"""The examples of the OpenAPI document are real: `make approve` records them, and each test run compares them."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from accounts.services import create_token
from analysis.services import build_report
from evaluation.models import RemoteRecommender
from parallax.api.operations import EXAMPLES
from studies.enums import Role
from tests.factories.studies import completed, make_study

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
def recorded() -> dict[str, Any]:
    """The response, and request, of each operation to a real program."""
    study = make_study()
    for number in range(2):
        completed(study, number=number)
    owner = study.memberships.get(role=Role.OWNER).researcher
    type(owner).objects.filter(pk=owner.pk).update(email="ada@example.org", name="Ada")
    type(study.run).objects.update(owner=owner)
    report = build_report(study=study)
    named = {"name": "Theirs"}
    parts = {
        "slug": study.slug,
        "name": study.dataset_version.dataset.name,
        "table": "wide",
        "job": study.run.jobs.create(kind="scores-upload", owner=owner, payload=named).pk,
    }
    ids = {
        "model": study.conditions.earliest("position").model_id,
        "model_upload_state": study.dataset_version.jobs.create(kind="model-upload", owner=owner).pk,
        "run": study.run_id,
        "report": report.pk,
    }
    names = {"run_cases": "train.inter", "report_file": "tables/table-1.csv"}
    bodies = {
        "report_build": {"study": study.slug, "mode": "live"},
        "study_withdraw": {"participant": study.participants.earliest("pk").code, "reason": "Asked by e-mail."},
    }
    forms = {
        "model_upload": {"dataset": "small", "kind": "matrix"},
        "run_scores_upload": {"name": "Theirs"},
    }

    RemoteRecommender.objects.create(name="Neighbours", operator="A. University", address="https://r.example.org")
    text = create_token(owner=owner, name="R on my laptop", scope="read data write")[1]
    program = Client(headers={"Authorization": f"Bearer {text}"})
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    operations = {
        operation["operationId"]: (path, method)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    found = {}
    for name, (path, method) in sorted(operations.items(), key=lambda item: item[0] == "study_withdraw"):
        kind = next((known for known in (name, name.partition("_")[0]) if known in ids), "")
        address = path.format(
            **{**parts, "name": names.get(name, parts["name"]), "id": ids.get(kind), "pk": ids.get(kind)}
        )
        if method == "get":
            response = program.get(address)
        elif name in bodies:
            response = program.post(address, bodies[name], "application/json")
        else:
            file = SimpleUploadedFile("file.csv", b"user,item,score\n")
            response = program.post(address, {**forms[name], "file": file})
        content = (b"".join(response.streaming_content) if response.streaming else response.content).decode()
        assert response.status_code in (200, 202), (name, content)
        media = response["Content-Type"].partition(";")[0]
        body = json.loads(content) if media == "application/json" else "".join(content.splitlines(keepends=True)[:3])
        body = json.loads(json.dumps(shortened(body, is_long=name in LONG)).replace("http://testserver", ADDRESS))
        found[name] = {"status": str(response.status_code), "type": media, "body": body}
        if name in bodies:
            found[name]["request"] = bodies[name]
    return found


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
            contents = [content for response in operation["responses"].values()
                        for content in response.get("content", {}).values()]  # fmt: skip
            assert any("example" in content for content in contents), operation["operationId"]
    assert Client().get("/api/v1/schema/").content.startswith(b"openapi: 3.1.")
