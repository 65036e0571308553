"""Files of an experiment's outcome: judged claims, tables, figures and every number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from catalog.models import DatasetVersion
from charting import render
from core.errors import ParallaxError
from documents.blocks import Figure
from documents.delimited import table_csv
from documents.html import page
from documents.markdown import document_markdown, table_markdown
from evaluation.charts import score_by_size
from evaluation.enums import RunStatus
from evaluation.experiments.schema import Experiment, Judgement
from evaluation.exports import run_document
from evaluation.models import EvaluationRun
from evaluation.selectors import experiments as selectors
from evaluation.selectors.experiments import ExperimentResults
from evaluation.services.claim_evidence import RunsEvidence
from evaluation.services.experiment_figures import drawn_figure
from evaluation.services.experiment_outcome import data_note, document, filled_table, run_facts
from inference.claims import judge


@dataclass(frozen=True)
class WrittenOutcome:
    """The written outcome of an experiment: its judgements and files."""

    judgements: tuple[Judgement, ...]
    files: tuple[Path, ...]
    is_synthetic: bool


def claim_judgements(*, results: ExperimentResults) -> tuple[Judgement, ...]:
    """Judge every claim of an experiment by tests on the results of its finished runs."""
    experiment = results.experiment
    evidence = RunsEvidence(
        {key: (run, experiment.names_in(key)) for key, run in results.runs.items()},
        partial(selectors.measured_name, experiment),
    )
    checks = [claim.check for claim in experiment.claims]
    judgements = (judge(check.rule, evidence, check.places, check.algorithms, **check.numbers) for check in checks)
    return tuple(Judgement(*judged) for judged in zip(experiment.claims, map(tuple, judgements), strict=True))


def write_experiment(*, experiment: Experiment, runs: Mapping[str, EvaluationRun], folder: Path) -> WrittenOutcome:
    """Write tables, figures, every number and the verdicts to a folder. The same runs produce the same bytes.

    Raises ParallaxError with code ``experiment.not_finished``: a run has not succeeded. Code ``experiment.bad_folder``:
    the folder is not writable.
    """
    for key, run in runs.items():
        if run.status != RunStatus.SUCCEEDED:
            raise ParallaxError(
                "experiment.not_finished",
                f"The run {key} of {experiment.key} is {run.get_status_display().lower()}. Run the experiment again "
                "to resume it.",
            )
    results = ExperimentResults(experiment, runs)
    quantities = [quantity for table in experiment.tables.values() for quantity in table.columns.values()]
    numbers = selectors.numbers_at(results, quantities)
    judgements = claim_judgements(results=results)
    version = next(iter(runs.values())).version
    note = data_note(version)
    contents: dict[str, bytes] = {}
    specs = {
        key: drawn_figure(figure.model_copy(update={"title": f"{figure.title}{note}"}), results)
        for key, figure in experiment.figures.items()
    }
    for number, (name, _, choice) in enumerate(experiment.choices, start=1):
        specs[f"sizes-{number}"] = score_by_size(f"{name}{note}", choice)["light"]
    figures = [Figure(key, spec, drawing=render.svg(spec)) for key, spec in specs.items() if spec is not None]
    for figure in figures:
        contents[f"figures/{figure.key}.svg"] = figure.drawing.encode()
        contents[f"figures/{figure.key}.png"] = render.png(figure.spec, ppi=144)
    for key in experiment.tables:
        filled = filled_table(experiment, key, numbers, version)
        contents[f"tables/{key}.csv"] = table_csv(filled).encode()
        contents[f"tables/{key}.md"] = table_markdown(filled).encode()
    facts = {key: run_facts(results, key) for key in experiment.runs}
    sections = document(experiment, version, judgements=judgements, numbers=numbers, figures=figures, runs=facts)
    heading = f"{experiment.title}{note}"
    contents["outcome.md"] = document_markdown(heading, sections).encode()
    contents["outcome.html"] = page(experiment.title, heading, sections).encode()
    contents["experiment.json"] = _json(results, version, judgements)
    return WrittenOutcome(judgements, _write(folder, contents), version.is_synthetic)


def _json(results: ExperimentResults, version: DatasetVersion, judgements: tuple[Judgement, ...]) -> bytes:
    experiment = results.experiment
    contents: dict[str, Any] = {
        "experiment": experiment.key,
        "title": experiment.title,
        "source": experiment.source,
        "question": experiment.question,
        "dataset": {
            "name": version.dataset.name,
            "content": version.content_hash,
            "is_synthetic": version.is_synthetic,
        },
        "claims": [
            {
                "says": judgement.claim.says,
                "by": judgement.claim.by,
                "where": judgement.claim.where,
                "read_as": judgement.claim.read_as,
                "verdict": judgement.verdict,
                "findings": [
                    {
                        **asdict(finding.quantity),
                        "words": finding.words,
                        "is_as_claimed": finding.outcome,
                        "interval": finding.interval and asdict(finding.interval),
                        "confidence": finding.confidence,
                    }
                    for finding in judgement.findings
                ],
            }
            for judgement in judgements
        ],
        "algorithms": {
            name: {"algorithm": contender.algorithm, "params": contender.params}
            for name, contender in experiment.algorithms.items()
        },
        "runs": {key: run_document(run) for key, run in results.runs.items()},
    }
    if experiment.choices:
        contents["sizes"] = [
            {"name": name, "runs": list(runs)} | asdict(choice) for name, runs, choice in experiment.choices
        ]
    return (json.dumps(contents, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _write(folder: Path, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    files = []
    try:
        for name, content in contents.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            files.append(file)
    except OSError as problem:
        raise ParallaxError(
            "experiment.bad_folder", f"Cannot write to {folder}: {problem.strerror or problem}."
        ) from problem
    return tuple(files)
