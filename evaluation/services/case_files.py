"""Test cases as files: read before a run is made, written after its preparation."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_ids_of, scale_of, user_ids_of
from core import artefacts
from core.errors import DataError, ParallaxError
from evaluation.models import EvaluationRun
from evaluation.protocols.case_files import GivenCases, read_cases, written_cases
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.splitting.registry import SPLITS
from recommenders.data import Ratings

MOST_BYTES = 8 * 2**30  # of the arrays of one file, unpacked


def keep_cases(*, version: DatasetVersion, path: Path, seed: int) -> str:
    """Read a file of cases and keep it; returns the digest of the artefact ``given``.

    Raises
    ------
    ParallaxError
        Code ``cases.bad_file``: it is no .npz file, or what is wrong with its arrays.
    """
    try:
        arrays = _arrays(path)
        given = read_cases(arrays, user_ids_of(version), item_ids_of(version), seed=seed)
        ratings = Ratings(given.train, scale_of(version))
    except DataError as wrong:
        raise ParallaxError(
            "cases.bad_file", f"The cases in {path.name} cannot be used on {version}. {wrong}"
        ) from wrong
    return artefacts.store("given", _stored(given, ratings), _meta(given, seed))


def keep_probe(*, version: DatasetVersion, path: Path) -> str:
    """Read a probe list (a line for each pair: user and item, by the dataset's own ids) and keep it.

    Lines are parted by a comma or a tabulator; a first line of headings is passed over, and so is what follows the
    item. Returns the digest of the artefact ``probes``; ids that the dataset does not have are counted by the run.

    Raises
    ------
    ParallaxError
        Code ``probe.bad_file``: the file cannot be read, or which line is no pair.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise ParallaxError("probe.bad_file", f"The probe list {path} cannot be read: {problem}.") from problem
    users = {one: index for index, one in enumerate(user_ids_of(version).tolist())}
    items = {one: index for index, one in enumerate(item_ids_of(version).tolist())}
    pairs = []
    for number, line in enumerate(lines, start=1):
        fields = [field.strip() for field in line.replace("\t", ",").split(",")]
        if not line.strip():
            continue
        if len(fields) < 2:
            raise ParallaxError(
                "probe.bad_file", f"Line {number} of {path.name} is no pair of user and item: {line!r}."
            )
        pair = users.get(fields[0], -1), items.get(fields[1], -1)
        if number == 1 and pair == (-1, -1):
            continue  # headings
        pairs.append(pair)
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return artefacts.store("probes", {"users": table[:, 0].copy(), "items": table[:, 1].copy()}, {})


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file; nothing in it is executed, and a file that unpacks to too much is refused."""
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(one.file_size for one in packed.infolist()) > MOST_BYTES:
                raise DataError(f"Its arrays are larger than {MOST_BYTES // 2**30} GB; cut it into several files.")
        with np.load(path, allow_pickle=False) as opened:
            return {name: opened[name] for name in opened.files}
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except (OSError, zipfile.BadZipFile, EOFError, KeyError) as broken:
        raise DataError(f"It is not a .npz file, or a damaged one ({broken}).") from broken
    except DataError:
        raise
    except ValueError as refused:
        raise DataError(f"It holds something that is no plain array ({refused}).") from refused


def _stored(given: GivenCases, ratings: Ratings) -> dict[str, NDArray[Any]]:
    cases, matrix = given.cases, ratings.user_items
    if cases.bits is None:
        raise ParallaxError("cases.no_candidates", "Cases that were read from a file have their candidates.")
    return {
        "train_indptr": np.asarray(matrix.indptr, dtype=np.int64),
        "train_indices": np.asarray(matrix.indices, dtype=np.int32),
        "train_values": np.asarray(matrix.data, dtype=np.float32),
        "users": cases.users,
        "items": cases.items,
        "is_relevant": cases.is_relevant,
        "values": cases.values,
        "rated_indptr": cases.rated_indptr,
        "rated_items": cases.rated_items,
        "bits": cases.bits,
        "file_rows": given.file_rows,
    }


def _meta(given: GivenCases, seed: int) -> dict[str, Any]:
    return {
        "n_items": given.cases.n_items,
        "negatives": given.cases.negatives,
        "seed": seed,
        "counted": dict(given.counted),
    }


def check_exportable(*, split: Mapping[str, Any]) -> None:
    """Refuse to write the cases of a split that trains several models, before any is trained.

    Raises
    ------
    ParallaxError
        Code ``cases.many_models``.
    """
    name = str(split.get("name", ""))
    if name in SPLITS and SPLITS[name].trains_many:
        raise ParallaxError(
            "cases.many_models",
            f"The split {name} trains several models of each algorithm, and a file of cases has one training side. "
            "Export the cases of a split that trains once, such as probe or holdout.",
        )


def export_cases(*, run: EvaluationRun, path: Path) -> None:
    """Write the training ratings and the cases of a run that has been prepared, with the dataset's own ids.

    Raises
    ------
    ParallaxError
        Code ``cases.cannot_write``: the file cannot be written. The run has not made its cases yet.
    """
    found = cases_of(run)
    arrays = written_cases(
        training_rows(found.training_digest).user_items,
        found.cases,
        user_ids_of(run.version),
        item_ids_of(run.version),
        found.trained,
    )
    beside = path.with_name(f".part-{path.name}")
    try:
        with beside.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        beside.replace(path)
    except OSError as problem:
        beside.unlink(missing_ok=True)
        raise ParallaxError("cases.cannot_write", f"The cases could not be written to {path}: {problem}.") from problem
