"""Selection of a model size on a dataset, on the training side of a run, or on that of each run of an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from catalog.models import DatasetVersion
from catalog.selectors.ratings import features_of, ratings_of
from core.errors import DataError, ParallaxError, ParameterError
from core.provenance import derived_seed, digest_of
from evaluation.experiments.schema import Contender, Experiment
from evaluation.models import EvaluationRun, SizeChoice
from evaluation.run_spec import RunSpec
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.services.experiments import CheckedPlan
from evaluation.services.memory import check_memory
from evaluation.services.numerics import load_kernels, numeric_threads
from evaluation.services.run_holdout import build_holdouts
from evaluation.services.training import features_for, recipe_of, store_training_rows
from evaluation.splitting.registry import spec_of
from recommenders import registry
from recommenders.data_limits import TrainingSize
from recommenders.progress import Progress, no_progress
from recommenders.search_space import possible_sizes
from recommenders.size_selection import SIZES, Choice, Size, choose


def choose_size(
    *,
    version: DatasetVersion,
    algorithm: str,
    values: Sequence[int] | None,
    params: Mapping[str, Any],
    share: float,
    rule: str,
    seed: int,
    threads: int,
    run: EvaluationRun | None = None,
    training_digest: str = "",
    progress: Progress = no_progress,
) -> Choice:
    """Compare sizes of an algorithm on all ratings of a dataset, on the training ratings of a run, or on stored ones
    of the dataset (`training_digest`). Stores nothing.

    Raises ParallaxError with code ``choice.bad_input``: invalid parameters or data; ``model.too_large``: the largest
    size exceeds the memory; ``run.not_prepared``: the run has no training side yet; ``choice.other_dataset``: the run
    uses another dataset.
    """
    if run is not None and run.version_id != version.pk:
        raise ParallaxError(
            "choice.other_dataset", f"Run {run.pk} uses {run.version}. Choose on that dataset, or omit the run."
        )
    if run is not None:
        training_digest = cases_of(run).training_digest
    ratings = training_rows(training_digest) if training_digest else ratings_of(version)
    features = None
    try:
        if algorithm in SIZES:
            kind = registry.algorithm(algorithm)
            if kind.needs_features:
                features = features_of(version, kind.title_words(registry.params_of(algorithm, params)))
            if values is None:
                values = possible_sizes(algorithm, TrainingSize(ratings.n_users, ratings.n_items, features))
            largest = {**params, SIZES[algorithm].parameter: max(values, default=1)}
            check_memory(algorithm=algorithm, params=largest, ratings=ratings, features=features)
            load_kernels(algorithm)
        with numeric_threads(threads):
            return choose(
                ratings,
                algorithm,
                values=values or (),
                params=params,
                share=share,
                rule=rule,
                features=features,
                rng=np.random.Generator(np.random.PCG64(derived_seed(seed, "choose", algorithm))),
                progress=progress,
            )
    except (ParameterError, DataError) as refusal:
        raise ParallaxError("choice.bad_input", str(refusal)) from refusal


def with_chosen_sizes(
    *,
    experiment: Experiment,
    version: DatasetVersion,
    planned: Mapping[str, CheckedPlan],
    progress: Progress = no_progress,
) -> Experiment:
    """Return the experiment with the size that each search chose in each run; hidden ratings take no part.

    A choice is stored and found again, as it depends only on the training rows, the search, the seed and the threads.
    Raises ParallaxError with code ``experiment.bad_input``: a search in a run whose split trains several models; or as
    `choose_size` does.
    """
    searched = [(key, name) for key in planned for name in experiment.names_in(key) if name in experiment.searched]
    for key, _ in searched:
        split = planned[key].complete.split
        if split["name"] != "file" and spec_of(split).trains_many:
            raise ParallaxError(
                "experiment.bad_input",
                f"{experiment.key}, at runs.{key}: no size can be chosen for a run whose split trains several "
                f"models ({split['name']}). State the size, or use another split.",
            )
    training = {key: _training_side(version, planned[key].complete) for key in dict(searched)}
    return experiment.with_sizes(
        {
            (key, name): _choice(
                version, name, experiment.algorithms[name], training[key], planned[key].complete, progress
            )
            for key, name in searched
        }
    )


def _training_side(version: DatasetVersion, spec: RunSpec) -> str:
    run = EvaluationRun(version=version, **spec.model_dump(exclude={"algorithms"}))
    holdout = next(iter(build_holdouts(run=run)))
    return store_training_rows(ratings=holdout.training, utilities=holdout.utilities)


def _choice(
    version: DatasetVersion, name: str, contender: Contender, digest: str, spec: RunSpec, progress: Progress
) -> Choice:
    search, key = contender.choose, contender.algorithm
    seed, threads = spec.seed, spec.threads or 1
    assert search is not None  # noqa: S101 — of the contenders that are searched  # nosec B101
    fixed = registry.params_of(key, contender.params).as_dict()
    del fixed[SIZES[key].parameter]
    rows = training_rows(digest)
    features = features_for(version=version, training_digest=digest, algorithm=key, params=contender.params)
    values = possible_sizes(key, TrainingSize(rows.n_users, rows.n_items, features), search.values)
    if len(values) < 2:
        raise ParallaxError(
            "experiment.bad_input",
            f"{name}: these data allow {values or 'none'} of the sizes {list(search.values)}, and a choice "
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
