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
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from accounts.services import create_token
from analysis.services import build_report
from studies.enums import Role
from studies.models import Study
from tests.factories.studies import completed, make_study

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
        assert {"400", "401", "403", "404", "405", "406", "409", "429"} <= set(one["responses"])
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


@pytest.fixture
def study(db: None) -> Study:
    study = make_study()
    for number in range(2):
        completed(study, number=number)
    return study


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


@pytest.mark.slow
def test_no_request_finds_a_fault_or_a_deviation(study: Study, unthrottled: None) -> None:
    owner = study.memberships.get(role=Role.OWNER).researcher
    report = build_report(study=study)
    _token, text = create_token(owner=owner, name="schemathesis", scope="report")
    headers = {"Authorization": f"Bearer {text}"}
    named = {"name": "Theirs"}
    real: dict[str, dict[str, Any]] = {
        "studies": {"slug": study.slug},
        "datasets": {"name": study.dataset_version.dataset.name},
        "models": {"id": study.conditions.earliest("position").model_id},
        "runs": {
            "id": study.run_id,
            "name": "train.inter",
            "job": study.run.jobs.create(kind="scores-upload", owner=owner, payload=named).pk,
        },
        "uploads": {"id": study.dataset_version.jobs.create(kind="model-upload", owner=owner).pk},
        "reports": {"id": report.pk, "pk": report.pk, "name": "report.json"},
    }
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", WSGIHandler(), headers=headers)
    seen: dict[str, set[int]] = {}
    for found in schema.get_all_operations():
        operation = found.ok()
        # What keeps to the description asks for what is there; what breaks it may break the address too.
        ask(operation, GenerationMode.POSITIVE, real, headers, seen, study.slug)
        ask(operation, GenerationMode.NEGATIVE, {}, headers, seen, study.slug)
    assert seen
    for label, statuses in seen.items():
        # With the addresses of what is there every operation has answered, or said that its outcomes are shut.
        # The token does not reach as far as erasing, and uploading.
        is_beyond = "withdrawals" in label or label.startswith(("POST /api/v1/models/", "POST /api/v1/runs/"))
        assert statuses & ({403} if is_beyond else {200, 202, 409}), label


def ask(
    operation: Any, mode: GenerationMode, real: dict[str, Any], headers: Any, seen: dict[str, set[int]], study: str
) -> None:
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
        parts = operation.path.split("/")
        known = real.get(parts[4] if parts[4] == "uploads" else parts[3], {})
        # That a cursor has to come from a page is more than a description can say.
        excluded = [positive_data_acceptance] if "cursor" in (case.query or {}) else []
        for name in known.keys() & (case.path_parameters or {}).keys():
            case.path_parameters[name] = known[name]
            excluded.append(negative_data_rejection)  # what was wrong may have been just that
        if known and isinstance(case.body, dict) and "study" in case.body:
            case.body["study"] = study
            excluded.append(negative_data_rejection)
        response = case.call_and_validate(headers=headers, excluded_checks=excluded)
        seen.setdefault(operation.label, set()).add(response.status_code)

    send()
