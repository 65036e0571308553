"""Runs in tests, made and brought to a state by the real services."""

from __future__ import annotations

import json
from typing import Any

from catalog.models import DatasetVersion
from evaluation.models import EvaluationRun
from evaluation.run_spec import RunSpec, named_settings
from evaluation.services.parts import lease_part
from evaluation.services.runs import cancel_run, create_run, fail_part
from evaluation.services.worker_loop import execute, work_on
from evaluation.splitting.registry import SplitSpec, split_spec
from tests.factories.catalog import make_version
from tests.factories.replay import replayed

ALGORITHMS = "toppop,puresvd:factors=4"


def make_run(*, version: DatasetVersion | None = None, **kwargs: Any) -> EvaluationRun:
    """A queued run on a small dataset, unless told otherwise."""
    given = {
        "algorithms": ALGORITHMS,
        "split": {"name": "probe", "share": 0.2},
        "protocol": {"name": "one-plus-random", "negatives": 20, "relevant": 4.0, "irrelevant": 2.0},
        "reserve": 0.1,
        "seed": 1,
    }
    told = {name: kwargs.pop(name) for name in ("owner", "queue", "part_users") if name in kwargs}
    return create_run(version=version or make_version(), spec=RunSpec.of(**{**given, **kwargs}), **told)


def work_off(run: EvaluationRun) -> EvaluationRun:
    """Do all of a run's work in this process."""
    while work_on(run_id=run.pk):
        pass
    run.refresh_from_db()
    return run


def make_run_at(status: str, **kwargs: Any) -> EvaluationRun:
    """A run in the state `status`, which it reached as real ones do."""
    if status == "succeeded":
        return _succeeded(**kwargs)
    run = make_run(**kwargs)
    if status == "queued":
        return run
    if status == "cancelled":
        return cancel_run(run=run)
    part = lease_part(run=run)
    assert part is not None
    if status == "running":
        execute(part=part)
    elif status == "failed":
        fail_part(part=part, reason="The test wanted it so.")
    else:
        raise ValueError(f"No run can be brought to {status!r}.")
    run.refresh_from_db()
    return run


def written_split(text: str) -> SplitSpec:
    """Read a split as commands write it."""
    settings = named_settings(text)
    return split_spec(settings.pop("name"), settings)


def _succeeded(*, version: DatasetVersion | None = None, **kwargs: Any) -> EvaluationRun:
    version = version or make_version()
    try:
        key = json.dumps(kwargs, sort_keys=True)
    except TypeError:  # it has an owner, or something else that is not a plain value
        return work_off(make_run(version=version, **kwargs))
    return replayed(
        EvaluationRun,
        ("evaluation", "core"),
        (key, version.pk, version.content_hash, version.dataset.project_id),
        lambda: work_off(make_run(version=version, **kwargs)),
    )


def run_fields(**changes: Any) -> dict[str, Any]:
    """The fields of a new run as its page posts them, on the dataset ``small``."""
    return {
        "dataset": "small",
        "kind": "custom",
        "disliked": "2",
        "liked": "4",
        "row": ["0:toppop"],
        "split": "probe",
        "split-probe-share": 0.2,
        "protocol": "one-plus-random",
        "protocol-one-plus-random-negatives": 20,
        "task": "some",
        "metrics": "",
        "reserve": 0.1,
        "n": 5,
        "profile_length": 5,
        "seed": 1,
        "repeats": 1,
        **changes,
    }
