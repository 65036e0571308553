"""No address of the programs' interface overlooks what it does not know."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator

from jobs.models import Job
from parallax.api.urls import urlpatterns
from studies.models import Study
from tests.factories.accounts import UserFactory
from tests.factories.studies import make_study
from tests.sentences import assert_sentences_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

# An unknown parameter is refused before anything is looked up, so none of these has to be there.
KWARGS = {
    "slug": "any",
    "table": "wide",
    "name": "any",
    "number": "1",
    "pk": "1",
    "job": "1",
    "form": "osf",
    "code": "ANY",
    "outcome": "complete",
}
NEEDED = {"runs-proposals": {"dataset": "any"}}
NOT_STRICT = {"docs", "nothing"}  # a page for people, and the response for unknown addresses
NAMES = sorted({str(pattern.name) for pattern in urlpatterns} - NOT_STRICT)


@pytest.fixture
def program() -> Client:
    client = Client()
    client.force_login(UserFactory())
    return client


def refused(response: Any) -> dict[str, list[str]]:
    told = response.json()
    assert (response.status_code, told["code"], told["extra"]) == (400, "invalid", {}), told
    fields: dict[str, list[str]] = {}
    for fault in told["errors"]:
        place = fault["parameter"] if "parameter" in fault else fault["pointer"].removeprefix("/")
        fields.setdefault(place, []).append(fault["detail"])
    return fields


@pytest.mark.parametrize("name", NAMES)
def test_every_address_refuses_an_unknown_parameter(program: Client, name: str) -> None:
    for pattern in urlpatterns:
        if pattern.name != name:
            continue
        groups = pattern.pattern.regex.groupindex
        address = reverse(f"api:{name}", kwargs={key: KWARGS[key] for key in groups})
        query = {"nonsense": "1", "more": "2", **NEEDED.get(name, {})}
        send = program.post if name in ("studies-withdrawals", "runs-scores") else program.get
        assert set(refused(send(address, query_params=query))) == {
            "nonsense",
            "more",
        }
        assert Client().get(address, {"nonsense": 1}).status_code == (400 if name == "schema" else 401)


def test_the_parameters_that_are_known_are_those_of_the_description(program: Client) -> None:
    document = SchemaGenerator(api_version="v1").get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    known = {
        (path, method): {given["name"] for given in operation.get("parameters", ()) if given["in"] == "query"}
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    names = set().union(*known.values())
    assert {"status", "algorithm", "page_size", "format", "without_excluded"} <= names
    for (path, method), declared in known.items():
        address = path.format(**KWARGS, id=1)
        response = program.generic(method.upper(), address, query_params=dict.fromkeys([*names, "nonsense"], "?"))
        unknown = {name for name, (text,) in refused(response).items() if text.startswith("There is no parameter")}
        assert unknown == names - declared | {"nonsense"}, (method, path)


def test_a_refusal_names_every_problem_and_what_is_allowed(program: Client) -> None:
    query = {"include_simulated": "perhaps", "without_excuded": "true", "format": "xlsx", "zzz": ""}
    body = {"study": "any", "mood": "live", "mode": "preview"}
    answers = {
        "answers": program.get("/api/v1/studies/any/answers/wide/", query),
        "runs": program.get("/api/v1/runs/?status=lost&page_size=x&pagesize=1&dataset=a&dataset=b"),
        "me": program.get("/api/v1/me/?mode=live"),
        "a report with an unknown field": program.post("/api/v1/reports/", body, content_type="application/json"),
    }
    said = {
        name: [f"{field}: {text}" for field, texts in refused(answer).items() for text in texts]
        for name, answer in answers.items()
    }
    assert_sentences_approved("sentences/api-parameters", said)
    assert not Job.objects.exists()


def test_studies_and_models_are_found_by_what_they_are(program: Client) -> None:
    live = make_study()
    owner = live.memberships.get().researcher
    make_study(slug="draft", status="draft", run=live.run, owner=owner)
    program.force_login(owner)
    found = program.get("/api/v1/studies/", {"status": "draft"}).json()["results"]
    assert [study["slug"] for study in found] == ["draft"]
    assert set(refused(program.get("/api/v1/studies/", {"status": "draught"}))) == {"status"}
    assert Study.objects.count() == 2
    everything = program.get("/api/v1/models/").json()["results"]
    assert {(model["origin"], model["base"]) for model in everything} == {("fitted", None)}
    key = everything[0]["algorithm"]
    found = program.get("/api/v1/models/", {"algorithm": key}).json()["results"]
    assert found == [model for model in everything if model["algorithm"] == key] != everything
