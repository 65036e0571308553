"""The algorithms of a run that become the recommenders of a new study, as its template needs them."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import ParallaxError
from evaluation.models import EvaluationRun, RunAlgorithm
from evaluation.run_spec import settings_text, written
from evaluation.selectors.runs import measured_algorithms
from recommenders import registry
from recommenders.reranking import BAR
from studies.design.presets.loader import Preset


def algorithms_for(preset: Preset, run: EvaluationRun, labels: Sequence[str]) -> list[RunAlgorithm]:
    """The algorithms with these labels, by default those that the template can use, in the run's order.

    With re-rankings they are one recommender, the first that has them all, and these. Raises `study.bad_conditions`.
    """
    measured = list(measured_algorithms(run))
    known = [algorithm.label for algorithm in measured]
    if unknown := [label for label in labels if label not in known]:
        raise ParallaxError(
            "study.bad_conditions",
            f"Run {run.pk} measured no {', '.join(unknown)}. Choose among {', '.join(known)}.",
        )
    chosen = [algorithm for algorithm in measured if not labels or algorithm.label in labels]
    if preset.rerankings:
        return _with_rerankings(preset, run, measured, chosen)
    if labels or not preset.explains:
        return chosen
    explaining = [algorithm for algorithm in chosen if registry.algorithm(algorithm.algorithm).explains]
    if not explaining:
        raise ParallaxError(
            "study.bad_conditions",
            f"None of {', '.join(known)} explains its recommendations by ratings, as {preset.key} needs. Evaluate "
            f"others, such as {preset.compared}.",
        )
    return explaining


def _with_rerankings(
    preset: Preset, run: EvaluationRun, measured: Sequence[RunAlgorithm], chosen: Sequence[RunAlgorithm]
) -> list[RunAlgorithm]:
    bases = [algorithm for algorithm in chosen if BAR not in algorithm.algorithm]
    if not bases:
        raise ParallaxError("study.bad_conditions", f"Name the recommender whose lists {preset.key} re-ranks.")
    by_parameters = {(each.algorithm, registry.params_of(each.algorithm, each.params)): each for each in measured}
    wanted = {base: [registry.parse(text) for text in _texts(preset, base)] for base in bases}
    usual, _, _options = preset.compared.partition(":")
    base = max(bases, key=lambda each: (sum(key in by_parameters for key in wanted[each]), each.algorithm == usual))
    if missing := [
        registry.label(key, params.as_dict()) for key, params in wanted[base] if (key, params) not in by_parameters
    ]:
        raise ParallaxError(
            "study.bad_conditions",
            f"{preset.key} compares {base.label} with its re-rankings, and run {run.pk} did not measure "
            f"{', '.join(missing)}. Evaluate them in one run, and create the study on that run:\n"
            f"{_command(run, _texts(preset, base))}",
        )
    return [by_parameters[key] for key in wanted[base]]


def _texts(preset: Preset, base: RunAlgorithm) -> list[str]:
    alone = settings_text(base.algorithm, base.params)
    return [alone, *(f"{alone}{BAR}{reranking}" for reranking in preset.rerankings)]


def _command(run: EvaluationRun, algorithms: Sequence[str]) -> str:
    """The command that measures these algorithms as the run did its own."""
    split = "" if run.split["name"] == "file" else f" --split '{written(run.split)}'"
    lengths = "".join(f" --profile-length {length}" for length in run.profile_lengths or [0])
    return (
        f".venv/bin/python manage.py evaluate {run.version.dataset.name} --algorithms '{', '.join(algorithms)}'{split} "
        f"--protocol '{written(run.protocol)}' --reserve {run.reserve:g} --n {run.n} --seed {run.seed}{lengths}"
    )
