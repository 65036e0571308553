"""Operations that change runs, models and experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.models import RemoteRecommender
from evaluation.services.run_inputs import spec_of_run
from evaluation.services.runs import cancel_run, create_run
from tests.parallax.api_writes.write import ROLES, Scene, Write

ANYONE = dict.fromkeys(ROLES, 202)  # on a public dataset


def _nothing(_scene: Scene) -> Mapping[str, Any]:
    return {}


def _run_of_owner(scene: Scene) -> int:
    spec = spec_of_run(run=scene.study.run, seed=9)
    return create_run(version=scene.study.dataset_version, spec=spec, owner=scene.owner).pk


def _open_run(scene: Scene) -> Mapping[str, Any]:
    return {"pk": _run_of_owner(scene)}


def _stopped_run(scene: Scene) -> Mapping[str, Any]:
    run = type(scene.study.run).objects.get(pk=_run_of_owner(scene))
    return {"pk": cancel_run(run=run).pk}


def _measured_run(scene: Scene) -> Mapping[str, Any]:
    RemoteRecommender.objects.create(name="Neighbours", operator="A. University", address="https://r.example.org")
    return {"pk": scene.study.run_id}


def _settings(scene: Scene) -> Any:
    split, protocol = {"name": "probe", "share": 0.2}, {"name": "one-plus-random", "negatives": 20}
    name = scene.study.dataset_version.dataset.name
    return {"dataset": name, "algorithms": "toppop", "split": split, "protocol": protocol}


def _experiment(scene: Scene) -> Any:
    return {"experiment": "survey-rmse", "dataset": scene.study.dataset_version.dataset.name}


def _changers(success: int) -> dict[str, int]:
    """A run is seen by everyone who sees its dataset; its owner and staff change it."""
    return {**dict.fromkeys(ROLES, 403), "owner": success, "administrator": success}


def _model(scene: Scene) -> Mapping[str, Any]:
    return {"pk": scene.study.conditions.earliest("position").model_id}


def _file(**fields: str) -> Callable[[Scene], Mapping[str, Any]]:
    return lambda _scene: {**fields, "file": SimpleUploadedFile("scores.csv", b"user,item,score\n")}


WRITES = [
    Write(
        *("model_upload", "post", "models-list", ANYONE, _nothing),
        *(_file(dataset="small", kind="matrix"),),
        is_form=True,
    ),
    Write(
        *("model_recommendations", "post", "models-recommendations", dict.fromkeys(ROLES, 200), _model),
        lambda scene: {"profile": {scene.study.dataset_version.items.earliest("index").external_id: 5}, "n": 3},
        needs=frozenset({"read"}),
    ),
    Write(
        *("run_scores_upload", "post", "runs-scores", _changers(202), lambda scene: {"pk": scene.study.run_id}),
        *(_file(name="Theirs"),),
        is_form=True,
    ),
    Write("run_create", "post", "runs-list", ANYONE, _nothing, _settings),
    Write("run_cancel", "post", "runs-cancel", _changers(200), _open_run),
    Write("run_resume", "post", "runs-resume", _changers(202), _stopped_run),
    Write(
        "run_lists_collect", "post", "runs-lists", ANYONE, _measured_run, lambda _scene: {"recommender": "Neighbours"}
    ),
    Write("experiment_start", "post", "experiments-list", ANYONE, _nothing, _experiment),
]
