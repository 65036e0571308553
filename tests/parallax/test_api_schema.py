"""The interface keeps to its own description: requests of every kind, drawn from it, find no fault and no deviation."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import yaml
from django.conf import settings as site
from django.core.cache import cache
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.urls import resolve
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from accounts.services import create_token
from analysis.services import build_report
from tests.parallax.api_writes import WRITES
from tests.parallax.api_writes.write import make_scene
from tests.parallax.test_api_roles import address_of, route_of

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "reference" / "api.yaml"
pytestmark = [pytest.mark.integration]
EXAMPLES = 6  # of each operation and kind


def _generated() -> str:
    out = StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=out)
    return out.getvalue()


def test_the_description_is_valid_and_the_committed_one_is_up_to_date() -> None:
    committed = DOCUMENT.read_text(encoding="utf-8").splitlines()
    differing = list(unified_diff(committed, _generated().splitlines(), lineterm="", n=1))
    assert not differing, "Write it anew: .venv/bin/python manage.py spectacular --file docs/reference/api.yaml"


def test_every_operation_says_how_it_refuses_and_that_it_wants_a_token() -> None:
    document = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))
    operations = [one for path in document["paths"].values() for one in path.values()]
    assert operations
    for one in operations:
        assert {"token": []} in one["security"]
        assert one["summary"]
        assert len(one["tags"]) == 1
        assert one["tags"][0] in {tag["name"] for tag in document["tags"]}  # or the page would leave it out
        assert {"400", "401", "403", "404", "405", "406", "409", "429"} <= set(one["responses"])
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


@pytest.fixture
def unthrottled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Thousands of requests on the test's own connection, which stays open as for Django's own client."""
    monkeypatch.setattr(site, "API_RATE", "1000000/min")
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)
    cache.clear()


def closed(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """The site as a WSGI application whose answers are closed, as a server does: else files would stay open."""
    response = WSGIHandler()(environ, start_response)
    try:
        return [b"".join(response)]
    finally:
        response.close()


@pytest.mark.slow
def test_no_request_finds_a_fault_or_a_deviation(db: None, unthrottled: None) -> None:
    scene = make_scene()
    report = build_report(study=scene.study)
    _token, text = create_token(owner=scene.owner, name="schemathesis", scope="read data write")
    headers = {"Authorization": f"Bearer {text}"}
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", closed, headers=headers)
    rows = {(write.method, write.id): write for write in WRITES}
    seen: dict[str, set[int]] = {}
    for found in schema.get_all_operations():
        operation, study = found.ok(), scene.study
        write = rows.get((operation.method, operation.definition.raw["operationId"]))
        with transaction.atomic():
            # What keeps to the description asks for what is there; what breaks it may break the address too.
            if write is None:
                known = dict(resolve(address_of(route_of(operation.path), study, report)).kwargs)
            else:
                known = dict(write.prepare(scene))
            known = {{"pk": "id"}.get(name, name): value for name, value in known.items()} | known
            ask(operation, GenerationMode.POSITIVE, known, headers, seen)
            ask(operation, GenerationMode.NEGATIVE, {}, headers, seen)
            transaction.set_rollback(True)
        scene.study = study
    for label, statuses in seen.items():
        # Each operation has answered something that its access allows; a drawn change names another state (412).
        assert statuses & {200, 201, 202, 204, 400, 409, 412}, label


def ask(operation: Any, mode: GenerationMode, known: dict[str, Any], headers: Any, seen: dict[str, set[int]]) -> None:
    """Draw requests of one kind for one operation, send them, and hold the answers to the description."""

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        # That a cursor has to come from a page, and what a body refers to has to be there, is more than a description
        # can say.
        excluded = [positive_data_acceptance] if "cursor" in (case.query or {}) or case.method != "GET" else []
        for name in known.keys() & (case.path_parameters or {}).keys():
            case.path_parameters[name] = known[name]
            excluded.append(negative_data_rejection)  # what was wrong may have been just that
        with transaction.atomic():
            response = case.call_and_validate(headers=headers, excluded_checks=excluded)
            seen.setdefault(operation.label, set()).add(response.status_code)
            transaction.set_rollback(True)

    send()
