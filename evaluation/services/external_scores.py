"""Scores of other systems, measured on the cases of a run as its models were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from catalog.selectors.ratings import item_ids_of, user_ids_of
from core import artefacts
from core.errors import DataError, ParallaxError
from evaluation.enums import RunStatus
from evaluation.models import LONGEST_LABEL, EvaluationRun, ExternalScores
from evaluation.protocols.blocks import Arrays
from evaluation.protocols.cases import Cases
from evaluation.protocols.external_scores import interactions, qrels, read_scores
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.results import no_results, scored_share, share_of
from evaluation.services.case_files import case_arrays, export_cases
from evaluation.services.measurement import measure_scores
from evaluation.services.numerics import numeric_threads
from evaluation.services.reduction import outcomes_of_run, store_outcomes, training_sides

EXACT = "mode=exact"
CASE_ARRAYS = "cases.npz"
CASE_FILES = {
    CASE_ARRAYS: "Training ratings, cases and their candidates, as arrays of NumPy",
    "train.inter": "Training ratings, as RecBole reads them",
    "profiles.inter": "Profiles of the test users, where these are not trained on, as RecBole reads them",
    "cases.qrels": "Cases with their relevance, as TREC qrels",
}
MOST_CANDIDATES = 10**7  # of all cases together in a download: 3 seconds and 80 MB


def case_lines(run: EvaluationRun) -> dict[str, Iterable[str]]:
    """The cases, training ratings and profiles of a run as lines of the text files that other systems read, by name.

    Raises ParallaxError as `cases_of`; reading the lines raises DataError: an id does not fit a format.
    """
    run_cases, users, items = cases_of(run), user_ids_of(run.version), item_ids_of(run.version)
    rows = {"train.inter": (run_cases.training_digest, run_cases.trained)}
    if run_cases.profiles_digest != run_cases.training_digest:  # test users who are not trained on
        rows["profiles.inter"] = (run_cases.profiles_digest, run_cases.profiled)
    files: dict[str, Iterable[str]] = {
        name: interactions(training_rows(digest).user_items, of_rows, users, items)
        for name, (digest, of_rows) in rows.items()
    }
    return files | {"cases.qrels": qrels(run_cases.cases, users, items)}


def export_for_systems(*, run: EvaluationRun, folder: Path) -> list[str]:
    """Write the files of `case_lines` and the cases as arrays; return their names. Raises ParallaxError as
    `export_cases`, or with code ``cases.cannot_write``: an id does not fit a format.
    """
    export_cases(run=run, path=folder / CASE_ARRAYS)
    files = case_lines(run)
    try:
        for name, lines in files.items():
            with (folder / name).open("w", encoding="utf-8") as file:
                file.writelines(lines)
    except (DataError, OSError) as problem:
        raise ParallaxError("cases.cannot_write", f"{folder / name} could not be written. {problem}") from problem
    return [CASE_ARRAYS, *files]


def case_files(run: EvaluationRun) -> list[str]:
    """The names of the files of a run that may be downloaded: `CASE_ARRAYS` only with few candidates."""
    cases = cases_of(run).cases
    is_small = len(cases) * int(cases.n_candidates.max(initial=0)) <= MOST_CANDIDATES
    return [*([CASE_ARRAYS] if is_small else []), *case_lines(run)]


def case_file(*, run: EvaluationRun, name: str) -> Iterator[str] | Iterator[bytes]:
    """The contents of one of `case_files` piece by piece.

    Raises ParallaxError with code ``cases.no_such_file``; ``cases.cannot_write``: an id does not fit the format; or as
    `cases_of`.
    """
    if name not in (names := case_files(run)):
        raise ParallaxError(
            "cases.no_such_file",
            f"Run {run.pk} has the files {', '.join(names)} for a download, and no {name}. The command export_run "
            f"{run.pk} --cases writes {CASE_ARRAYS} of any size.",
        )
    if name == CASE_ARRAYS:
        file = BytesIO()
        np.savez_compressed(file, allow_pickle=False, **case_arrays(run))
        return iter([file.getvalue()])
    lines = iter(case_lines(run)[name])
    try:
        return chain([next(lines, "")], lines)
    except DataError as problem:
        raise ParallaxError("cases.cannot_write", f"{name} cannot be written. {problem}") from problem


def check_measurable(run: EvaluationRun, name: str) -> None:
    """Refuse scores before they are read. Raises ParallaxError with code ``run.no_results``: the run has not succeeded;
    ``scores.bad_name``; or as `cases_of`.
    """
    if run.status != RunStatus.SUCCEEDED:
        raise no_results(run)
    if not 0 < len(name) <= LONGEST_LABEL or run.algorithms.filter(label=name).exists():
        raise ParallaxError(
            "scores.bad_name",
            f"{name!r} is empty, longer than {LONGEST_LABEL} characters, or the label of an algorithm of run {run.pk}. "
            "Choose another name.",
        )
    cases_of(run)


def measure_external_scores(*, run: EvaluationRun, path: Path, name: str, are_ratings: bool = False) -> ExternalScores:
    """Measure the scores of a file on the cases of a run, and store them with their results; those of the same name are
    replaced. Items without a score come last, as those of models do.

    `are_ratings`: the scores are predicted ratings on the dataset's scale. Raises ParallaxError as `check_measurable`,
    or with code ``scores.bad_file``: the file cannot be used (all problems at once, with their lines).
    """
    check_measurable(run, name)
    run_cases = cases_of(run)
    cases = run_cases.cases
    try:
        scores = read_scores(path, user_ids_of(run.version), item_ids_of(run.version))
    except DataError as problem:
        raise ParallaxError("scores.bad_file", f"{path.name} cannot be used on run {run.pk}. {problem}") from problem
    sides = training_sides(run, [run_cases])
    if are_ratings:
        sides = sides.of_kind("rating", is_comparable=True)
    popularity = training_rows(run_cases.training_digest).item_counts

    def scores_of(block: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        some = scores[block]
        dense = np.full(some.shape, -np.inf)
        dense[np.repeat(np.arange(len(block)), np.diff(some.indptr)), some.indices] = some.data
        return dense

    with numeric_threads(run.threads):
        arrays = measure_scores(run, cases, np.unique(cases.users), scores_of, popularity) | sides.case_facts[0]
    whole = outcomes_of_run(run, arrays, run_cases, sides)
    stored = {"indptr": scores.indptr, "indices": scores.indices, "values": scores.data}
    scores_digest = artefacts.store("scores", stored, {"cases": run.cases_digest, "are_ratings": are_ratings})
    results: dict[str, dict[str, Any]] = {
        result.metric: {"value": result.value, "reason": result.reason, "by_n": list(result.by_n)}
        for result in whole.values
    }
    if run.protocol.get("mode") == "sampled" and share_of(arrays, "all_") != 1:
        # They rank all items, which would flatter a system that scored the candidates alone.
        undefined: dict[str, Any] = {"value": None, "reason": "not all items have a score", "by_n": []}
        results |= {metric: undefined for metric in results if EXACT in metric}
    row, _ = ExternalScores.objects.update_or_create(
        run=run,
        name=name,
        defaults={
            "scores_digest": scores_digest,
            "users_digest": store_outcomes(run, arrays, whole, {"scores": scores_digest, "profile_length": 0}),
            "results": results,
            "coverage": _coverage(run, cases, scores, arrays),
        },
    )
    return row


def _coverage(run: EvaluationRun, cases: Cases, scores: csr_array, arrays: Arrays) -> str:
    rows = np.repeat(np.arange(cases.n_users), np.diff(scores.indptr))
    is_scored = np.isin(
        cases.users.astype(np.int64) * cases.n_items + cases.items, rows * cases.n_items + scores.indices
    )
    users = np.unique(cases.users)
    n_users = int((np.diff(scores.indptr)[users] > 0).sum())
    n_scored = f"{is_scored.sum():,} of {len(is_scored):,} cases ({is_scored.mean():.1%})"
    text = f"scores for {n_scored}, {n_users:,} of {len(users):,} users"
    ranked = scored_share(run, arrays)
    if ranked is None:
        return text
    return f"{text}, {ranked:.1%} of ranked items{'; items without a score come last' if ranked < 1 else ''}"
