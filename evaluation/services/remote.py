"""Recommenders behind HTTP: registered by administrators, and stored as models by version and catalogue."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError

from catalog.models import DatasetVersion
from catalog.selectors.item_lines import digest_of_lines
from core import artefacts
from core.errors import ParallaxError
from core.provenance import digest_of
from evaluation.enums import ModelOrigin, Sent
from evaluation.models import RemoteRecommender, TrainedModel
from evaluation.remote.client import Service, about
from evaluation.remote.messages import PROTOCOL, About

PROTOCOL_VERSION = int(PROTOCOL.rpartition("/")[2])


def register(
    *, name: str, address: str, operator: str, token_variable: str = "", seconds: int, sent: str = Sent.IDS
) -> RemoteRecommender:
    """Register a recommender, or change what is registered under its name.

    Raises ParallaxError with code ``remote.bad_registration``, with all problems.
    """
    recommender = RemoteRecommender.objects.filter(name=name).first() or RemoteRecommender(name=name)
    recommender.address, recommender.operator = address, operator
    recommender.token_variable, recommender.seconds, recommender.sent = token_variable, seconds, sent
    try:
        recommender.full_clean()
    except ValidationError as refusal:
        problems = [f"{field}: {' '.join(texts)}" for field, texts in refusal.message_dict.items()]
        raise ParallaxError("remote.bad_registration", " ".join(problems), {"problems": problems}) from refusal
    recommender.save()
    return recommender


def recommender_named(name: str) -> RemoteRecommender:
    """The registered recommender of this name. Raises ParallaxError with code ``remote.unknown``."""
    recommender = RemoteRecommender.objects.filter(name=name).first()
    if recommender is None:
        names = ", ".join(RemoteRecommender.objects.values_list("name", flat=True)) or "none"
        raise ParallaxError(
            "remote.unknown",
            f"No recommender is registered as {name}; registered: {names}. An administrator registers one with the "
            "command register_recommender.",
        )
    return recommender


def service_of(recommender: RemoteRecommender) -> Service:
    """How a registered recommender is asked. Raises ParallaxError with code ``remote.no_token``: the variable with its
    token is not set in this process, or no token.
    """
    variable = recommender.token_variable
    token = os.environ.get(variable, "").strip() if variable else ""
    if variable and not (token.isascii() and token.isprintable() and token):
        raise ParallaxError(
            "remote.no_token",
            f"The token of {recommender.name} is not there: set {variable} to one line of text for the web server and "
            "the workers, and restart them.",
        )
    return Service(
        name=recommender.name,
        address=recommender.address,
        hosts=frozenset(settings.RECOMMENDER_HOSTS),
        token=token,
        seconds=recommender.seconds,
        sent=recommender.sent,
    )


def described_for(service: Service, version: DatasetVersion) -> About:
    """What a service says of itself, if it recommends the items of this dataset.

    Raises ParallaxError with code ``remote.other_catalogue``, or as `evaluation.remote.client.about` does.
    """
    described, catalogue = about(service).content, digest_of_lines(version)
    if described.catalogue != catalogue:
        raise ParallaxError(
            "remote.other_catalogue",
            f"The recommender {service.name} has read another file of items (digest {described.catalogue[:12]}) than "
            f"that of {version} (digest {catalogue[:12]}). Write the file again with the command export_items, let the "
            "service read it, and start the service again.",
        )
    return described


def model_of_service(*, service: Service, described: About, version: DatasetVersion) -> TrainedModel:
    """The model of one version of a service on a dataset, stored once; its digest is over `facts_of`."""
    provenance = facts_of(service, described)
    digest = artefacts.store(
        "models", {}, {"algorithm": ModelOrigin.REMOTE.value, "version": PROTOCOL_VERSION, **provenance}
    )
    project = version.dataset.project_id
    recipe = digest_of(
        {"model": digest, "data": version.content_hash, **({} if project is None else {"project": project})}
    )
    fields = {
        "digest": digest,
        "version": version,
        "algorithm": ModelOrigin.REMOTE,
        "algorithm_version": PROTOCOL_VERSION,
        "label": service.name,
        "seed": 0,
        "threads": 1,
        "fit_seconds": 0.0,
        "origin": ModelOrigin.REMOTE,
        "provenance": provenance,
    }
    return TrainedModel.objects.get_or_create(recipe=recipe, defaults=fields)[0]


def facts_of(service: Service, described: About) -> dict[str, Any]:
    """All that tells the lists of a service from those of another, or of another version."""
    return {
        "service": service.name,
        **described.model_dump(include={"catalogue", "deterministic"}),
        "release": described.version,
        **({} if service.sent == Sent.IDS else {"sent": service.sent}),  # as models before this choice
    }
