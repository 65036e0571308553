"""Selection of a model size on a dataset or on the training side of a run. Stores nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from catalog.models import DatasetVersion
from catalog.selectors.ratings import features_of, ratings_of
from core.errors import DataError, ParallaxError, ParameterError
from core.provenance import derived_seed
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.services.memory import check_memory
from evaluation.services.numerics import load_kernels, numeric_threads
from recommenders import registry
from recommenders.choosing import SIZES, Choice, choose, usual_sizes
from recommenders.progress import Progress, silent


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
    progress: Progress = silent,
) -> Choice:
    """Compare sizes of an algorithm on all ratings of a dataset, on the training ratings of a run, or on stored ones
    of the dataset (`training_digest`).

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
            sizes = usual_sizes(algorithm, ratings, features) if values is None else values
            largest = {**params, SIZES[algorithm].parameter: max(sizes, default=1)}
            check_memory(algorithm=algorithm, params=largest, ratings=ratings, features=features)
            load_kernels(algorithm)
        with numeric_threads(threads):
            return choose(
                ratings,
                algorithm,
                values=values,
                params=params,
                share=share,
                rule=rule,
                features=features,
                rng=np.random.Generator(np.random.PCG64(derived_seed(seed, "choose", algorithm))),
                progress=progress,
            )
    except (ParameterError, DataError) as refusal:
        raise ParallaxError("choice.bad_input", str(refusal)) from refusal
