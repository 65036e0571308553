"""Experiments: each plan becomes a run, or finds the one it had; what they measured becomes files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_utilities, utilities_of
from charting import render
from charting.theme import Spec
from core.errors import ParallaxError, ParameterError
from evaluation import charts
from evaluation.enums import RUN_STOPPED, RunStatus
from evaluation.experiments.document import Grid, Picture, grid_markdown, markdown, page
from evaluation.experiments.judging import Judgement, judged
from evaluation.experiments.outcome import document, grid_of
from evaluation.experiments.reading import load
from evaluation.experiments.schema import NEEDS, Experiment, Figure, Place, PlannedRun
from evaluation.exports import run_document
from evaluation.models import EvaluationRun
from evaluation.selectors import experiments as selectors
from evaluation.selectors.experiments import Measured
from evaluation.services.inputs import Inputs, checked, digest_of_inputs
from evaluation.services.runs import create_run, resume_run


@dataclass(frozen=True)
class Planned:
    """A plan of an experiment whose inputs have been checked on a dataset, and their hash."""

    plan: PlannedRun
    inputs: Inputs
    inputs_hash: str


@dataclass(frozen=True)
class Written:
    """What an experiment came to: its claims as judged, and the files it was written to."""

    judgements: tuple[Judgement, ...]
    files: tuple[Path, ...]


def read_experiment(*, name: str) -> Experiment:
    """Read a shipped experiment by its name, or anybody's by the path of its file.

    Raises
    ------
    ParallaxError
        Code ``experiment.bad_file``: the file, the place in it, and what is wrong there.
    """
    try:
        return load(name)
    except ParameterError as wrong:
        raise ParallaxError("experiment.bad_file", str(wrong)) from wrong


def plan_experiment(
    *, experiment: Experiment, version: DatasetVersion, seed: int | None = None, threads: int | None = None
) -> dict[str, Planned]:
    """Check everything about an experiment on a dataset before any of it is started.

    Raises
    ------
    ParallaxError
        Code ``experiment.other_data``: the dataset lacks what the experiment needs. Code
        ``experiment.bad_input``: what a run of it, a table, a figure or a claim asks for and cannot have.
    """
    _check_data(experiment, version)
    planned = {}
    for key, plan in experiment.runs.items():
        own_seed = experiment.seed if seed is None else seed
        try:
            inputs = checked(
                version=version,
                algorithms=_algorithms(experiment, plan),
                split=plan.split,
                protocol=plan.protocol,
                task=plan.task,
                metrics=plan.metrics,
                reserve=plan.reserve,
                seed=own_seed,
                n=plan.n,
                profile_lengths=plan.profile_lengths,
            )
        except ParameterError as wrong:
            raise ParallaxError("experiment.bad_input", f"{experiment.key}, at runs.{key}: {wrong}") from wrong
        digest = digest_of_inputs(
            version=version,
            inputs=inputs,
            task=plan.task,
            reserve=plan.reserve,
            seed=own_seed,
            n=plan.n,
            threads=threads or settings.NUMERIC_THREADS,
        )
        planned[key] = Planned(plan, inputs, digest)
    _check_places(experiment)
    return planned


def run_of_plan(
    *,
    experiment: Experiment,
    planned: Planned,
    version: DatasetVersion,
    seed: int | None = None,
    threads: int | None = None,
    queue: str = "",
) -> EvaluationRun:
    """Give the run of a plan: the finished one with the same inputs, the one that stopped taken up again, or a new one.

    `queue` is the name of workers of the run's own; a run that is under way keeps those it has.
    """
    found = selectors.existing_run(planned.inputs_hash)
    if found is not None:
        return resume_run(run=found, queue=queue) if found.status in RUN_STOPPED else found
    plan = planned.plan
    return create_run(
        version=version,
        algorithms=_algorithms(experiment, plan),
        split=plan.split,
        protocol=plan.protocol,
        task=plan.task,
        metrics=plan.metrics,
        reserve=plan.reserve,
        seed=experiment.seed if seed is None else seed,
        n=plan.n,
        profile_lengths=plan.profile_lengths,
        threads=threads,
        queue=queue,
    )


def judged_claims(*, measured: Measured) -> tuple[Judgement, ...]:
    """Hold every claim of an experiment against what its finished runs measured."""
    places = [place for claim in measured.experiment.claims for place in claim.check.places]

    def sign_p(place: Place, higher: str, lower: str) -> float | None:
        return selectors.sign_p(measured, place, higher, lower)

    return judged(measured.experiment, selectors.numbers_at(measured, places), sign_p)


def write_experiment(*, experiment: Experiment, runs: Mapping[str, EvaluationRun], folder: Path) -> Written:
    """Write tables, figures, every number, and which claims came out, into a folder. The same runs give the same bytes.

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
    contents: dict[str, bytes] = {}
    pictures = []
    for figure in experiment.figures:
        spec = _drawn(figure, measured)
        if spec is None:
            continue
        drawing = render.svg(spec)
        contents[f"figures/{figure.key}.svg"] = drawing.encode()
        contents[f"figures/{figure.key}.png"] = render.png(spec, ppi=144)
        pictures.append(Picture(f"figures/{figure.key}.svg", figure.title, drawing))
    for table in experiment.tables:
        grid = grid_of(experiment, table, numbers)
        exact = _exact_rows(grid, list(table.columns.values()), numbers)
        contents[f"tables/{table.key}.csv"] = _csv(grid.head, exact)
        contents[f"tables/{table.key}.md"] = f"{grid.caption}\n\n{grid_markdown(grid.head, grid.rows)}\n".encode()
    facts = {key: selectors.run_facts(measured, key) for key in experiment.runs}
    blocks = document(experiment, selectors.dataset_facts(measured), judgements, numbers, pictures, facts)
    contents["outcome.md"] = markdown(blocks).encode()
    contents["outcome.html"] = page(experiment.title, blocks).encode()
    contents["experiment.json"] = _json(experiment, measured, judgements)
    return Written(judgements, _write(folder, contents))


def _check_data(experiment: Experiment, version: DatasetVersion) -> None:
    lacks = ""
    if experiment.needs == "ratings" and version.scale_low == version.scale_high:
        lacks = "It says what was taken, and nobody rated."
    if experiment.needs == "utility" and utilities_of(version) is None and item_utilities(version) is None:
        lacks = (
            "It does not say what anything is worth; import it with a column of utilities (--utility-column, or "
            "--item-utility-column of the items)."
        )
    if lacks:
        raise ParallaxError(
            "experiment.other_data",
            f"The experiment {experiment.key} needs {NEEDS[experiment.needs]}, and the dataset {version.dataset.name} "
            f"has no such thing. {lacks}",
        )


def _check_places(experiment: Experiment) -> None:
    """Refuse a table, a figure or a claim that asks for a number which its run does not measure."""
    for where, place in _places(experiment):
        try:
            selectors.measured_name(experiment.runs[place.run], place.metric)
        except ParameterError as wrong:
            raise ParallaxError("experiment.bad_input", f"{experiment.key}, at {where}: {wrong}") from wrong
    protocols = {"croc": "test-observations", "groc": "unconstrained", "lengths": "one-plus-random"}
    for figure in experiment.figures:
        needed = protocols.get(figure.kind)
        has = experiment.runs[figure.run].protocol["name"]
        if needed is not None and has != needed:
            raise ParallaxError(
                "experiment.bad_input",
                f"{experiment.key}, at figures.{figure.key}: a figure of the kind {figure.kind} is drawn of a run of "
                f"{needed}; {figure.run} is one of {has}.",
            )


def _places(experiment: Experiment) -> Iterator[tuple[str, Place]]:
    for table in experiment.tables:
        for heading, place in table.columns.items():
            yield f"tables.{table.key}.columns.{heading}", place
    for figure in experiment.figures:
        if figure.metric:
            yield f"figures.{figure.key}", Place(figure.run, figure.metric)
        for length in figure.lengths:
            for name in ("precision", "recall"):
                yield f"figures.{figure.key}", Place(figure.run, f"{name}@{length}")
    for at, claim in enumerate(experiment.claims, start=1):
        for place in claim.check.places:
            yield f"claims[{at}]", place


def _algorithms(experiment: Experiment, plan: PlannedRun) -> list[tuple[str, dict[str, Any]]]:
    chosen = [experiment.contenders[name] for name in plan.contenders]
    return [(one.algorithm, dict(one.params)) for one in chosen]


def _drawn(figure: Figure, measured: Measured) -> Spec | None:
    draw: dict[str, Callable[[Figure, Measured], Spec | None]] = {
        "bars": _bars,
        "lengths": _lengths,
        "precision-recall": _precision_recall,
        "croc": _hit_curves,
        "groc": _hit_curves,
    }
    return draw[figure.kind](figure, measured)


def _bars(figure: Figure, measured: Measured) -> Spec | None:
    plan = measured.experiment.runs[figure.run]
    name = selectors.measured_name(plan, figure.metric)
    beside: dict[str, tuple[float, float, float]] = {}
    if plan.profile_lengths:
        beside = selectors.estimates(measured, figure.run, name, plan.profile_lengths[0])
    whole = selectors.estimates(measured, figure.run, name)
    return charts.measured_bars(whole, beside, title=figure.title, metric=figure.metric, is_share=figure.is_share)


def _lengths(figure: Figure, measured: Measured) -> Spec | None:
    name = selectors.measured_name(measured.experiment.runs[figure.run], figure.metric)
    values = selectors.by_length(measured, figure.run, name)
    n = measured.experiment.runs[figure.run].n
    return charts.by_length(values, title=figure.title, metric=figure.metric, n=n)


def _precision_recall(figure: Figure, measured: Measured) -> Spec | None:
    lines = {}
    for kind in ("precision", "recall"):
        places = [Place(figure.run, f"{kind}@{length}") for length in figure.lengths]
        numbers = selectors.numbers_at(measured, places)
        names = measured.experiment.runs[figure.run].contenders
        lines[kind] = {name: [numbers[place, name] for place in places] for name in names}
    return charts.precision_recall(lines["precision"], lines["recall"], title=figure.title, lengths=figure.lengths)


def _hit_curves(figure: Figure, measured: Measured) -> Spec | None:
    lines = selectors.curve_points(measured, figure.run, figure.kind)
    references = {}
    for line in ("omniscient", "random"):
        # These depend on the people and their test items alone: any algorithm's will do. GROC has none.
        for points in selectors.curve_points(measured, figure.run, line).values():
            references[line] = points
            break
    return charts.hit_curves(lines, references, title=figure.title)


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


def _json(experiment: Experiment, measured: Measured, judgements: tuple[Judgement, ...]) -> bytes:
    told = {
        "experiment": experiment.key,
        "title": experiment.title,
        "source": experiment.source,
        "question": experiment.question,
        "claims": [
            {
                "says": one.claim.says,
                "by": one.claim.origin,
                "where": one.claim.where,
                "verdict": one.verdict,
                "findings": [
                    {
                        "run": finding.place.run,
                        "metric": finding.place.metric,
                        "profile_length": finding.place.profile_length,
                        "words": finding.words,
                        "holds": finding.holds,
                        "p": finding.p,
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
