"""The outcome of an experiment: claims judged, tables, figures and every number, as files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from charting import render
from core.errors import ParallaxError
from evaluation.enums import RunStatus
from evaluation.experiments.document import Grid, Picture, grid_markdown, markdown, page
from evaluation.experiments.judging import Judgement, judged
from evaluation.experiments.outcome import DatasetFacts, document, grid_of
from evaluation.experiments.schema import Experiment, Place
from evaluation.exports import run_document
from evaluation.models import EvaluationRun
from evaluation.selectors import experiments as selectors
from evaluation.selectors.experiments import Measured
from evaluation.services.claim_tests import ClaimTests
from evaluation.services.experiment_figures import drawn_figure


@dataclass(frozen=True)
class Written:
    """The outcome of an experiment: its claims as judged, and the files it was written to."""

    judgements: tuple[Judgement, ...]
    files: tuple[Path, ...]
    is_synthetic: bool


def judged_claims(*, measured: Measured) -> tuple[Judgement, ...]:
    """Judge every claim of an experiment by the tests of what its finished runs measured."""
    places = [place for claim in measured.experiment.claims for place in claim.check.places]
    return judged(measured.experiment, selectors.numbers_at(measured, places), ClaimTests(measured))


def write_experiment(*, experiment: Experiment, runs: Mapping[str, EvaluationRun], folder: Path) -> Written:
    """Write tables, figures, every number, and which claims hold, into a folder. The same runs give the same bytes.

    Raises
    ------
    ParallaxError
        Code ``experiment.not_finished``: a run has not succeeded. Code ``experiment.bad_folder``: nothing can be
        written there.
    """
    for key, run in runs.items():
        if run.status != RunStatus.SUCCEEDED:
            raise ParallaxError(
                "experiment.not_finished",
                f"The run {key} of {experiment.key} is {run.get_status_display().lower()}. Run the experiment again "
                "to go on with it.",
            )
    measured = Measured(experiment, runs)
    places = [place for table in experiment.tables for place in table.columns.values()]
    numbers = selectors.numbers_at(measured, places)
    judgements = judged_claims(measured=measured)
    dataset = selectors.dataset_facts(measured)
    contents: dict[str, bytes] = {}
    pictures = []
    for figure in experiment.figures:
        title = f"{figure.title}{dataset.data_note}"
        spec = drawn_figure(replace(figure, title=title), measured)
        if spec is None:
            continue
        drawing = render.svg(spec)
        contents[f"figures/{figure.key}.svg"] = drawing.encode()
        contents[f"figures/{figure.key}.png"] = render.png(spec, ppi=144)
        pictures.append(Picture(f"figures/{figure.key}.svg", title, drawing))
    for table in experiment.tables:
        grid = grid_of(experiment, table, numbers, dataset)
        exact = _exact_rows(grid, list(table.columns.values()), numbers)
        contents[f"tables/{table.key}.csv"] = _csv(grid.head, exact)
        contents[f"tables/{table.key}.md"] = f"{grid.caption}\n\n{grid_markdown(grid.head, grid.rows)}\n".encode()
    facts = {key: selectors.run_facts(measured, key) for key in experiment.runs}
    blocks = document(experiment, dataset, judgements, numbers, pictures, facts)
    contents["outcome.md"] = markdown(blocks).encode()
    contents["outcome.html"] = page(experiment.title, blocks).encode()
    contents["experiment.json"] = _json(experiment, measured, dataset, judgements)
    return Written(judgements, _write(folder, contents), dataset.is_synthetic)


def _exact_rows(grid: Grid, places: list[Place], numbers: Any) -> list[list[str]]:
    """The rows of a table with every digit; empty where there is no value."""
    rows = []
    for row in grid.rows:
        values = [numbers.get((place, row[0])) for place in places]
        rows.append([row[0], *("" if value is None else repr(value) for value in values)])
    return rows


def _csv(head: tuple[str, ...], rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue().encode()


def _json(
    experiment: Experiment, measured: Measured, dataset: DatasetFacts, judgements: tuple[Judgement, ...]
) -> bytes:
    told = {
        "experiment": experiment.key,
        "title": experiment.title,
        "source": experiment.source,
        "question": experiment.question,
        "dataset": {"name": dataset.name, "content": dataset.content_hash, "is_synthetic": dataset.is_synthetic},
        "claims": [
            {
                "says": one.claim.says,
                "by": one.claim.origin,
                "where": one.claim.where,
                "read_as": one.claim.read_as,
                "verdict": one.verdict,
                "findings": [
                    {
                        "run": finding.place.run,
                        "metric": finding.place.metric,
                        "profile_length": finding.place.profile_length,
                        "words": finding.words,
                        "holds": finding.holds,
                        "sign_test_p": finding.p,
                        "interval": None if finding.span is None else asdict(finding.span),
                    }
                    for finding in one.findings
                ],
            }
            for one in judgements
        ],
        "algorithms": {
            name: {"algorithm": one.algorithm, "params": dict(one.params)}
            for name, one in experiment.contenders.items()
        },
        "runs": {key: run_document(run) for key, run in measured.runs.items()},
    }
    return (json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


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
            "experiment.bad_folder", f"{folder} cannot be written to: {problem.strerror or problem}."
        ) from problem
    return tuple(files)
