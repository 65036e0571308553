"""Runs and their parts: that a finished run is whole, and an unfinished one can go on."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator

from evaluation.enums import PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunPart
from parallax.integrity.findings import Finding


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
    advice = "Start the run again with the same settings: it gives the same numbers, and reuses its models."
    failed = {algorithm.pk for algorithm in run.algorithms.all() if algorithm.error}
    undone = [part.pk for part in parts if part.status != PartStatus.DONE and part.algorithm_id not in failed]
    if undone:
        yield Finding("run.parts_undone", f"run {run.pk}", f"It succeeded with {len(undone)} parts not done.", advice,
                      {"part": undone})  # fmt: skip
    measured = {(part.algorithm_id, part.profile_length) for part in parts if part.kind == PartKind.MEASURE}
    for algorithm in run.algorithms.all():
        if algorithm.pk in failed:
            continue
        if algorithm.model_id is None and not run.folds:  # with folds, each fold's fit has a model
            yield Finding("run.no_model", f"run {run.pk}", f"{algorithm.label} has no model.", advice,
                          {"algorithm": [algorithm.pk]})  # fmt: skip
        lengths = {result.profile_length for result in algorithm.results.all()}
        lacking = sorted({length for owner, length in measured if owner == algorithm.pk} - lengths)
        if lacking or not lengths:
            yield Finding("run.no_results", f"run {run.pk}",
                          f"{algorithm.label} has no results for profile lengths {lacking or 'of any size'}.", advice,
                          {"algorithm": [algorithm.pk]})  # fmt: skip


def _open(run: EvaluationRun, parts: list[RunPart]) -> Iterator[Finding]:
    if not parts:
        yield Finding("run.no_parts", f"run {run.pk}", f"It is {run.status} and has nothing to do.",
                      "Cancel it and start it again.", {"run": [run.pk]})  # fmt: skip
    excused = {algorithm.pk for algorithm in run.algorithms.all() if algorithm.error}
    failed = [part.pk for part in parts if part.status == PartStatus.FAILED and part.algorithm_id not in excused]
    if failed:
        yield Finding("run.part_failed", f"run {run.pk}", f"It is {run.status}, and {len(failed)} of its parts failed.",
                      "Cancel it; the parts say why they failed.", {"part": failed})  # fmt: skip


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
                what = "overlap" if start < stop else "leave a gap"
                yield Finding(
                    "run.parts_differ",
                    f"run {run.pk}",
                    f"Parts {first} and {second} {what}.",
                    "Start the run again: its numbers cannot be relied on.",
                    {"part": [first, second]},
                )
