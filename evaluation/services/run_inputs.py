"""The inputs of a run on a dataset: what it allows, its defaults, and their hash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.conf import settings

from catalog.importers.scales import PAPER_LIMITS, PAPER_SCALES, usual_limits
from catalog.models import DatasetVersion
from catalog.selectors.ratings import probe_of
from catalog.selectors.shape import value_counts
from core.errors import ParameterError
from core.provenance import digest_of
from evaluation.metrics.registry import metric
from evaluation.models import EvaluationRun
from evaluation.protocols import registry as protocols
from evaluation.run_spec import OWN_LIST, RunSpec, refuse_duplicates
from evaluation.selectors.runs import algorithms_of
from evaluation.services.feasibility import feasible_algorithms
from evaluation.splitting.folds import DEPENDENCE
from evaluation.splitting.registry import MANY_MODELS, SPLITS, spec_of

NO_LIST = "{} has no probe list. Pass a file of pairs to the command evaluate (probe:list=FILE), or give a share."
MAX_MODELS = 500  # trained by one run


def complete_spec(*, version: DatasetVersion, spec: RunSpec) -> tuple[RunSpec, list[str]]:
    """Fill in the defaults that inputs have on a dataset; return them with sentences about choices that do not suit the
    task or the data. Raises ParameterError for inputs that this dataset does not allow; the message says what is
    allowed.
    """
    split, protocol = _complete_split(version, spec.split), complete_protocol(version, spec.protocol)
    metrics = [metric(name).definition for name in spec.metrics]
    comments = [
        protocols.protocol(protocol["name"]).task_problem(spec.task),
        *(each.task_problem(spec.task) for each in metrics),
    ]
    comments += _check_models(split, version.n_users, len(spec.algorithms))
    comments.append(_limits_comment(version, spec.protocol))
    algorithms, about_algorithms = feasible_algorithms(
        version=version, algorithms=spec.algorithms, split=split, reserved=spec.reserve, seed=spec.seed
    )
    refuse_duplicates(algorithms)
    changes = {
        "algorithms": algorithms,
        "split": split,
        "protocol": protocol,
        "threads": settings.NUMERIC_THREADS if spec.threads is None else spec.threads,
    }
    comments += about_algorithms
    return spec.model_copy(update=changes), [comment for comment in comments if comment]


def hash_of_inputs(*, version: DatasetVersion, spec: RunSpec) -> str:
    """Return the hash of all inputs that determine the results of a run; `spec` is complete."""
    return digest_of({"dataset": version.content_hash, **spec.model_dump()})


def spec_of_run(*, run: EvaluationRun, **changes: Any) -> RunSpec:
    """Return the inputs of a stored run, with `changes`."""
    stored = {name: getattr(run, name) for name in RunSpec.model_fields if name != "algorithms"}
    algorithms = [(algorithm.algorithm, algorithm.params) for algorithm in algorithms_of(run)]
    return RunSpec.of(**{**stored, "algorithms": algorithms, **changes})


def _complete_split(version: DatasetVersion, split: Mapping[str, Any]) -> dict[str, Any]:
    name = split["name"]
    if name == "file":
        return dict(split)
    spec = spec_of(split)
    options = {**(spec.inner.options.as_dict() if spec.inner else {}), **spec.options.as_dict()}
    if options.get("list") == OWN_LIST and probe_of(version) is None:
        raise ParameterError(NO_LIST.format(version))
    inner = {"of": spec.inner.kind.key} if spec.inner else {}
    return {"name": name, **inner, **{key: value for key, value in options.items() if value != ""}}


def _check_models(split: Mapping[str, Any], n_users: int, n_algorithms: int) -> list[str]:
    if split["name"] not in SPLITS or not SPLITS[split["name"]].trains_many:
        return []
    spec = spec_of(split)
    per_algorithm = spec.n_trainings(n_users)
    if per_algorithm * n_algorithms > MAX_MODELS:
        option, _ = spec.trained_by
        most = MAX_MODELS // n_algorithms
        raise ParameterError(
            f"The split {spec} trains {per_algorithm:,} models of each algorithm, {per_algorithm * n_algorithms:,} in "
            f"total; a run trains at most {MAX_MODELS}. "
            + (f"Use {option}={most} or less." if most > 1 else "Measure fewer algorithms.")
        )
    return [*([DEPENDENCE] if split["name"] == "k-fold" else []), MANY_MODELS]


def limits_of(version: DatasetVersion) -> dict[str, float]:
    """The limits of relevant and irrelevant ratings for which nothing else is stated: those chosen at the import, else
    those of `usual_limits`; empty for usage data.
    """
    low, high = version.scale_low, version.scale_high
    if low == high:
        return {}
    if chosen := version.report.get("limits"):
        return dict(chosen)
    points, counts = np.array([(value, n) for value, n in value_counts(version) if n]).T
    return usual_limits(low, high, points, counts)


def _limits_comment(version: DatasetVersion, stated: Mapping[str, Any]) -> str:
    """The limits derived from the ratings if none were stated; empty for the paper's."""
    low, high = version.scale_low, version.scale_high
    counts = dict(value_counts(version))
    reasons: dict[str, list[str]] = {}
    for name, limit in limits_of(version).items():
        of_paper = PAPER_LIMITS[name]
        if name in stated or ((low, high) in PAPER_SCALES and limit == of_paper):
            continue
        is_high = name == "relevant"
        n = sum(count for value, count in counts.items() if (value >= limit if is_high else value <= limit))
        why = f"Scale of {low:g} to {high:g}" if counts.get(of_paper) else f"No rating of {of_paper:g} on this scale"
        why = "Chosen at the import" if version.report.get("limits") else why
        reasons.setdefault(why, []).append(
            f"{name} is {limit:g} or {'higher' if is_high else 'lower'}, which {100 * n / version.n_ratings:.0f}% of "
            "ratings reach"
        )
    return " ".join(f"{why}: {'; '.join(phrases)}." for why, phrases in reasons.items())


def complete_protocol(version: DatasetVersion, protocol: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a protocol with their defaults on a dataset. Raises ParameterError for an invalid one."""
    definition = protocols.protocol(str(protocol.get("name", "")))
    complete = definition.completed({**limits_of(version), **protocol})
    if version.scale_low == version.scale_high:
        # Every use is relevant and nothing irrelevant, because usage data contain no dislikes.
        if complete["relevant"] not in (definition.settings["relevant"], version.scale_high):
            raise ParameterError(
                f"The dataset contains usage instead of ratings, so there is no limit relevant="
                f"{complete['relevant']:g}. Leave it out."
            )
        return {**complete, "relevant": version.scale_high, "irrelevant": 0.0}
    for name in ("relevant", "irrelevant"):
        if not version.scale_low <= complete[name] <= version.scale_high:
            raise ParameterError(
                f"The limit {name}={complete[name]:g} is outside the dataset's scale "
                f"({version.scale_low:g} to {version.scale_high:g})."
            )
    if complete["irrelevant"] >= complete["relevant"]:
        raise ParameterError("The limit for irrelevant ratings must be below the limit for relevant ratings.")
    return complete
