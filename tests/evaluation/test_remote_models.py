"""Recommenders behind HTTP: registered by administrators, and models by version and catalogue."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from misbehaving import InOrder
from service import Catalogue, Server

from catalog.models import DatasetVersion
from core import artefacts
from core.errors import ArtefactError, ParallaxError
from evaluation.models import RemoteRecommender, TrainedModel
from evaluation.remote.client import Service, about
from evaluation.selectors.models import models_on
from evaluation.services.remote import described_for, model_of_service, recommender_named, register, service_of
from evaluation.services.remote_check import check_service
from evaluation.services.serving import opened_model, recommend
from parallax.integrity.artefacts import check_algorithms, check_artefacts
from studies.design.services.conditions import choose_conditions
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.remote import running, service_that_is, write_items
from tests.factories.studies import make_study
from tests.sentences import assert_refused_as_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
OPERATOR = "Example University"
ADDRESS = "https://rec.example.org/gru"
ADD = "/admin/evaluation/remoterecommender/add/"


@pytest.fixture(autouse=True)
def hosts(settings: Any) -> None:
    settings.RECOMMENDER_HOSTS = ["127.0.0.1", "rec.example.org"]


@pytest.fixture
def version() -> DatasetVersion:
    return make_version()


@pytest.fixture
def items(version: DatasetVersion, tmp_path: Path) -> Path:
    call_command("export_items", version.dataset.name, tmp_path / "items.jsonl")
    return tmp_path / "items.jsonl"


@pytest.fixture
def service(items: Path) -> Iterator[Service]:
    with service_that_is("well", items) as well:
        yield well


def test_exported_items_have_the_digest_that_a_service_has_to_state(
    items: Path, service: Service, version: DatasetVersion, tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in items.read_text().splitlines()]
    assert len(lines) == version.n_items
    text = "A short story about number 1."
    assert lines[0] == {"item": "1", "title": "Film 01", "year": 1980, "text": text}
    described = described_for(service, version)
    assert described.catalogue == hashlib.sha256(items.read_bytes()).hexdigest()
    other = tmp_path / "other.jsonl"
    write_items(other)
    with service_that_is("well", other) as elsewhere, pytest.raises(ParallaxError, match="export_items") as refusal:
        described_for(elsewhere, version)
    assert refusal.value.code == "remote.other_catalogue"


def test_a_version_of_a_service_is_one_model_with_a_digest_of_its_own(
    service: Service, version: DatasetVersion
) -> None:
    described = described_for(service, version)
    model = model_of_service(service=service, described=described, version=version)
    assert (model.label, model.origin, model.training_digest) == ("GRU", "remote", "")
    assert model_of_service(service=service, described=described, version=version) == model
    changed = ({"version": "2"}, {"deterministic": False}, {"catalogue": "0" * 64})
    others = [described.model_copy(update=update) for update in changed]
    digests = {model_of_service(service=service, described=each, version=version).digest for each in others}
    digests.add(model_of_service(service=replace(service, name="Other"), described=described, version=version).digest)
    assert len(digests | {model.digest}) == 5
    # How deep its lists are changes no list.
    deeper = described.model_copy(update={"max_depth": 9})
    assert model_of_service(service=service, described=deeper, version=version) == model
    assert artefacts.load("models", model.digest).meta["release"] == "1"
    assert not [*check_artefacts(), *check_algorithms()]


def test_a_remote_model_is_offered_to_studies_once_a_run_has_measured_its_lists(
    service: Service, client: Client
) -> None:
    study = make_study(status="draft")
    model = model_of_service(service=service, described=about(service).content, version=study.dataset_version)
    with pytest.raises(ArtefactError, match="version 1 of the recommender GRU, which answers over HTTP"):
        opened_model(model.digest)
    researcher = UserFactory()
    assert model not in [line.model for line in models_on(study.dataset_version, researcher)]
    before = list(study.conditions.values_list("model_digest", flat=True))
    with pytest.raises(ParallaxError, match="that a report can use measured") as refusal:
        choose_conditions(study=study, digests=[*before, model.digest])
    assert refusal.value.code == "study.bad_conditions"
    client.force_login(researcher)
    (shown,) = client.get("/api/v1/models/", {"digest": model.digest}).json()["results"]
    assert shown["label"] == "GRU"


def test_registered_recommenders_are_asked_with_the_token_of_the_environment(
    items: Path, version: DatasetVersion, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    variable = "PARALLAX_RECOMMENDER_TOKEN_GRU"
    with service_that_is("well", items, token="s3cret") as token_service:
        call_command("register_recommender", "GRU", token_service.address, OPERATOR, token_variable=variable, seconds=3)
        with pytest.raises(ParallaxError, match=variable) as refusal:
            service_of(recommender_named("GRU"))
        assert refusal.value.code == "remote.no_token"
        monkeypatch.setenv(variable, "s3cret\n")
        caplog.set_level("DEBUG")
        service = service_of(recommender_named("GRU"))
        assert described_for(service, version).version == "1"
    assert (service.seconds, service.hosts) == (3, {"127.0.0.1", "rec.example.org"})
    assert "s3cret" not in caplog.text + repr(service) + repr(RemoteRecommender.objects.values())
    # The same name is changed and not registered twice.
    register(name="GRU", address=ADDRESS, operator=OPERATOR, seconds=10)
    assert RemoteRecommender.objects.get().address == ADDRESS


def test_what_cannot_be_registered_is_refused_with_all_problems() -> None:
    def case(**changes: Any) -> Any:
        return lambda: register(**{"name": "GRU", "address": ADDRESS, "operator": OPERATOR, "seconds": 10, **changes})

    assert_refused_as_approved(
        "register_recommender",
        {
            "another host": case(address="https://elsewhere.example.org"),
            "no address": case(address="rec.example.org"),
            "everything": case(name="G R U", address="", seconds=61, token_variable="SECRET_KEY"),
            "unknown name": lambda: recommender_named("GRU4Rec"),
        },
    )
    assert not RemoteRecommender.objects.exists()
    assert not TrainedModel.objects.exists()


def test_administrators_register_recommenders_in_the_administration(client: Client) -> None:
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    form = {
        "name": "GRU",
        "address": "https://elsewhere.example.org",
        "operator": OPERATOR,
        "token_variable": "",
        "seconds": 10,
        "sent": "titles",
    }
    assert "is not among those that this installation may ask" in client.post(ADD, form).text
    assert client.post(ADD, form | {"address": ADDRESS}).status_code == 302
    assert RemoteRecommender.objects.get().sent == "titles"


def test_titles_and_texts_are_sent_only_where_the_registration_says_so(items: Path, version: DatasetVersion) -> None:
    profiles: list[dict[str, Any]] = []

    class Noting(InOrder):
        def recommend(self, request: dict[str, Any]) -> Any:
            profiles.append(request["profile"][0])
            return super().recommend(request)

    models = {}
    with running(Server(Noting(Catalogue(items)), 0)) as address:
        for sent in ("ids", "titles", "texts"):
            call_command("register_recommender", "GRU", address, OPERATOR, sent=sent)
            call_command("check_recommender", "GRU", version.dataset.name, stdout=StringIO())
            checked = profiles[0]
            service = service_of(recommender_named("GRU"))
            models[sent] = model_of_service(service=service, described=about(service).content, version=version)
            recommend(model=models[sent], items=[0, 1], ratings=[5.0, 3.0], scale=(1.0, 5.0, 1.0), n=3)
            fields = {"item", "rating", "order", *({"title", "text"} if sent == "texts" else {"title"} & {sent[:-1]})}
            assert set(checked) == set(profiles[-1]) == fields
            assert profiles[-1].get("title", "Film 01") == "Film 01"
            assert profiles[-1].get("text", "A short story about number 1.") == "A short story about number 1."
            profiles.clear()
        assert len({model.digest for model in models.values()}) == 3  # other requests, other lists
        with pytest.raises(ParallaxError, match="--send titles again") as refusal:
            recommend(model=models["titles"], items=[0], ratings=[5.0], scale=(1.0, 5.0, 1.0), n=3)
        assert refusal.value.code == "remote.other_registration"
        assert not profiles
    assert not [*check_artefacts(), *check_algorithms()]


FAILING = {
    "well": set(),
    "random": {"determinism"},
    "careless": {"wrong requests"},
    "short": {"lists", "exclusion", "depth", "determinism", "20 at once", "recommend-many"},
    "dead": {"lists", "exclusion", "depth", "determinism", "20 at once", "recommend-many", "wrong requests"},
}


@pytest.mark.parametrize("how", FAILING)
def test_the_check_finds_each_fault_where_it_is(
    how: str, items: Path, version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARALLAX_RECOMMENDER_TOKEN", "secret")
    out = StringIO()
    with service_that_is(how, items, token="secret") as faulty:
        register(
            name="GRU",
            address=faulty.address,
            operator=OPERATOR,
            token_variable="PARALLAX_RECOMMENDER_TOKEN",
            seconds=10,
        )
        n = len(FAILING[how])
        failing = pytest.raises(CommandError, match=f"{n} of the checks failed") if n else nullcontext()
        with failing:
            call_command("check_recommender", "GRU", version.dataset.name, stdout=out)
    lines = [line.split() for line in out.getvalue().splitlines() if line.startswith("  ")]
    assert {" ".join(line[1:]).partition(":")[0] for line in lines if line[0] == "FAIL"} == FAILING[how]
    assert len(lines) == 8
    stored = [f"stored as model {digest}." for digest in TrainedModel.objects.values_list("digest", flat=True)]
    assert len(stored) == (not FAILING[how])
    assert all(text in out.getvalue() for text in stored)


def test_a_slow_service_and_one_that_takes_any_token_do_not_pass(items: Path, version: DatasetVersion) -> None:
    with service_that_is("well", items) as running:
        described = about(running).content
        slow = {
            each.what for each in check_service(replace(running, seconds=0.0005), described, version) if not each.holds
        }
        unchecked = check_service(replace(running, token="unchecked"), described, version)
        (token,) = [each for each in unchecked if not each.holds]
    assert {"lists", "20 at once"} <= slow
    assert "A request without the token was answered with 200" in token.text
