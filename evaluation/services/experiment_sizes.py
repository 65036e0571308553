"""The sizes of an experiment's models, chosen on the training side of each of its runs before any of them starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace

from catalog.models import DatasetVersion
from core.errors import ParallaxError
from core.provenance import digest_of
from evaluation.experiments.schema import Contender, Experiment, PlannedRun, SizeSearch
from evaluation.models import EvaluationRun, SizeChoice
from evaluation.selectors.cases import training_rows
from evaluation.services.experiments import CheckedPlan
from evaluation.services.model_size import choose_size
from evaluation.services.run_holdout import make_holdouts, spec_of
from evaluation.services.training import features_for, recipe_of, store_training_rows
from recommenders import registry
from recommenders.choosing import SIZES, Choice, Size
from recommenders.data_limits import TrainingSize
from recommenders.progress import Progress, silent


def with_chosen_sizes(
    *,
    experiment: Experiment,
    version: DatasetVersion,
    planned: Mapping[str, CheckedPlan],
    seed: int | None = None,
    threads: int,
    progress: Progress = silent,
) -> Experiment:
    """Return the experiment with the size that each search chose in each run; hidden ratings take no part.

    A choice is stored and found again, as it depends only on the training rows, the search, the seed and the threads.
    Raises ParallaxError with code ``experiment.bad_input``: a search in a run whose split trains several models; or as
    `choose_size` does.
    """
    for key, plan in experiment.runs.items():
        split = planned[key].inputs.split
        if _searched(experiment, plan) and split["name"] != "file" and spec_of(split).trains_many:
            raise ParallaxError(
                "experiment.bad_input",
                f"{experiment.key}, at runs.{key}: no size can be chosen for a run whose split trains several "
                f"models ({split['name']}). State the size, or use another split.",
            )
    own_seed = experiment.seed if seed is None else seed
    runs = {}
    for key, plan in experiment.runs.items():
        chosen = {}
        if searched := _searched(experiment, plan):
            digest = _training_side(version, planned[key], own_seed)
            for name in searched:
                chosen[name] = _choice(version, experiment.contenders[name], digest, own_seed, threads, progress)
        runs[key] = replace(plan, chosen=chosen)
    return replace(experiment, runs=runs)


def _searched(experiment: Experiment, plan: PlannedRun) -> list[str]:
    return [name for name in plan.contenders if name in experiment.searched]


def _training_side(version: DatasetVersion, planned: CheckedPlan, seed: int) -> str:
    """Split as the run will, and store its training rows."""
    plan, inputs = planned.plan, planned.inputs
    run = EvaluationRun(
        version=version, split=inputs.split, protocol=inputs.protocol, reserve=plan.reserve, seed=seed, n=plan.n
    )
    holdout = next(iter(make_holdouts(run=run)))
    return store_training_rows(ratings=holdout.training, utilities=holdout.utilities)


def _choice(
    version: DatasetVersion, contender: Contender, digest: str, seed: int, threads: int, progress: Progress
) -> Choice:
    """Find the stored choice, or compare the sizes and store it."""
    search, key = contender.search, contender.algorithm
    assert search is not None  # noqa: S101 — of the contenders that are searched  # nosec B101
    fixed = registry.params_of(key, contender.params).as_dict()
    del fixed[SIZES[key].parameter]
    values = _possible(version, contender, search, digest)
    if len(values) < 2:
        raise ParallaxError(
            "experiment.bad_input",
            f"{contender.name}: these data allow {values or 'none'} of the sizes {list(search.values)}, and a choice "
            "needs at least two. Give smaller sizes, or use the default ones (--default-sizes).",
        )
    model = recipe_of(version=version, training_digest=digest, algorithm=key, params=fixed, seed=seed, threads=threads)
    recipe = digest_of({"model": model, "values": values, "share": search.share, "rule": search.rule})
    stored = SizeChoice.objects.filter(recipe=recipe).first()
    if stored is not None:
        return Choice(**{**stored.choice, "sizes": tuple(Size(**size) for size in stored.choice["sizes"])})
    choice = choose_size(
        version=version,
        algorithm=key,
        values=values,
        params=fixed,
        share=search.share,
        rule=search.rule,
        seed=seed,
        threads=threads,
        training_digest=digest,
        progress=progress,
    )
    # Another process may have made the same choice meanwhile.
    SizeChoice.objects.get_or_create(recipe=recipe, defaults={"choice": asdict(choice)})
    return choice


def _possible(version: DatasetVersion, contender: Contender, search: SizeSearch, digest: str) -> list[int]:
    """Return the sizes that the training rows can have."""
    kind, rows = registry.algorithm(contender.algorithm), training_rows(digest)
    features = features_for(
        version=version, training_digest=digest, algorithm=contender.algorithm, params=contender.params
    )
    limit = kind.limits(TrainingSize(rows.n_users, rows.n_items, features))[SIZES[contender.algorithm].parameter]
    return [value for value in search.values if value <= limit.largest]
