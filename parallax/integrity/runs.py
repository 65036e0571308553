"""Runs and their parts: that a finished run is whole, and an unfinished one can go on."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator

from evaluation.enums import PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunPart
from parallax.integrity.findings import Finding, finding


def check_runs() -> Iterator[Finding]:
    """Parts and results of every run."""
    for run in EvaluationRun.objects.order_by("pk").prefetch_related("algorithms__results", "parts"):
        parts = list(run.parts.all())
        if run.status == RunStatus.SUCCEEDED:
            yield from _succeeded(run, parts)
        elif run.status in (RunStatus.QUEUED, RunStatus.RUNNING):
            yield from _open(run, parts)
        yield from _overlaps(run, parts)


def _succeeded(run: EvaluationRun, parts: list[RunPart]) -> Iterator[Finding]:
    where = f"run {run.pk}"
    failed = {algorithm.pk for algorithm in run.algorithms.all() if algorithm.error}
    undone = [part.pk for part in parts if part.status != PartStatus.DONE and part.algorithm_id not in failed]
    if undone:
        yield finding("run.parts_undone", where, f"It succeeded with {len(undone)} parts not done.", part=undone)
    measured = {(part.algorithm_id, part.profile_length) for part in parts if part.kind == PartKind.MEASURE}
    for algorithm in run.algorithms.all():
        if algorithm.pk in failed:
            continue
        if algorithm.model_id is None and not run.folds:  # with folds, each fold's fit has a model
            yield finding("run.no_model", where, f"{algorithm.label} has no model.", algorithm=[algorithm.pk])
        lengths = {result.profile_length for result in algorithm.results.all()}
        lacking = sorted({length for owner, length in measured if owner == algorithm.pk} - lengths)
        if lacking or not lengths:
            what = f"{algorithm.label} has no results for profile lengths {lacking or 'of any size'}."
            yield finding("run.no_results", where, what, algorithm=[algorithm.pk])


def _open(run: EvaluationRun, parts: list[RunPart]) -> Iterator[Finding]:
    if not parts:
        yield finding("run.no_parts", f"run {run.pk}", f"It is {run.status} and has nothing to do.", run=[run.pk])
    excused = {algorithm.pk for algorithm in run.algorithms.all() if algorithm.error}
    failed = [part.pk for part in parts if part.status == PartStatus.FAILED and part.algorithm_id not in excused]
    if failed:
        what = f"It is {run.status}, and {len(failed)} of its parts failed."
        yield finding("run.part_failed", f"run {run.pk}", what, part=failed)


def _overlaps(run: EvaluationRun, parts: list[RunPart]) -> Iterator[Finding]:
    """Measurements of one algorithm, fold and length cover each case once."""
    ranges: dict[tuple[int | None, int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for part in parts:
        if part.kind == PartKind.MEASURE:
            ranges[part.algorithm_id, part.fold, part.profile_length].append((part.start, part.stop, part.pk))
    for spans in ranges.values():
        spans.sort()
        for (_, stop, first), (start, _, second) in itertools.pairwise(spans):
            if start != stop:
                what = f"Parts {first} and {second} {'overlap' if start < stop else 'leave a gap'}."
                yield finding("run.parts_differ", f"run {run.pk}", what, part=[first, second])
