"""Test cases as files: imported before a run is created, exported after its preparation."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_ids_of, scale_of, user_ids_of
from core import artefacts
from core.errors import DataError, ParallaxError
from evaluation.models import EvaluationRun
from evaluation.protocols.case_arrays import case_file_arrays, read_cases
from evaluation.selectors.cases import cases_of, training_rows
from recommenders.data import Ratings

MAX_BYTES = 8 * 2**30  # total size of the arrays in one file, uncompressed


def store_cases_file(*, version: DatasetVersion, path: Path, seed: int) -> str:
    """Read a file of cases, store it, and return the digest of the artefact ``given``. Raises ParallaxError with code
    ``cases.bad_file``: the file is not a valid .npz file of cases.
    """
    try:
        arrays = plain_arrays(path)
        cases = read_cases(arrays, user_ids_of(version), item_ids_of(version), seed=seed)
        matrix = Ratings(cases.train, scale_of(version)).user_items
    except DataError as error:
        raise ParallaxError(
            "cases.bad_file", f"The cases in {path.name} cannot be used on {version}. {error}"
        ) from error
    meta = {
        "n_items": cases.cases.n_items,
        "negatives": cases.cases.negatives,
        "seed": seed,
        "counted": dict(cases.counted),
    }
    if cases.cases.bits is None:
        raise ParallaxError("cases.no_candidates", "Cases read from a file must have candidates.")
    stored: dict[str, NDArray[Any]] = {
        "train_indptr": np.asarray(matrix.indptr, dtype=np.int64),
        "train_indices": np.asarray(matrix.indices, dtype=np.int32),
        "train_values": np.asarray(matrix.data, dtype=np.float32),
        **cases.cases.arrays(),
        "file_rows": cases.file_rows,
    }
    return artefacts.store("given", stored, meta)


def store_probe_list(*, version: DatasetVersion, path: Path) -> str:
    """Read a probe list (one pair of user and item per line, by the dataset's own ids) and store it.

    Fields are separated by commas or tabs; a header line and any further fields are ignored. Returns the digest of the
    artefact ``probes``. The run counts ids that the dataset does not contain. Raises ParallaxError with code
    ``probe.bad_file``: the file cannot be read, or a line is not a pair.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise ParallaxError("probe.bad_file", f"The probe list {path} cannot be read: {problem}.") from problem
    users = {external_id: index for index, external_id in enumerate(user_ids_of(version).tolist())}
    items = {external_id: index for index, external_id in enumerate(item_ids_of(version).tolist())}
    pairs = []
    for number, line in enumerate(lines, start=1):
        fields = [field.strip() for field in line.replace("\t", ",").split(",")]
        if not line.strip():
            continue
        if len(fields) < 2:
            raise ParallaxError(
                "probe.bad_file", f"Line {number} of {path.name} is not a pair of user and item: {line!r}."
            )
        pair = users.get(fields[0], -1), items.get(fields[1], -1)
        if number == 1 and pair == (-1, -1):
            continue  # headings
        pairs.append(pair)
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return artefacts.store("probes", {"users": table[:, 0].copy(), "items": table[:, 1].copy()}, {})


def plain_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Load the arrays of a .npz file without executing anything in it; refuse a file that unpacks to too much.

    Raises DataError.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(member.file_size for member in packed.infolist()) > MAX_BYTES:
                raise DataError(f"Its arrays are larger than {MAX_BYTES // 2**30} GB; split it into several files.")
        with np.load(path, allow_pickle=False) as opened:
            return {name: opened[name] for name in opened.files}
    except FileNotFoundError:
        raise DataError(f"The file {path} does not exist.") from None
    except (OSError, zipfile.BadZipFile, EOFError, KeyError) as error:
        raise DataError(f"It is not a .npz file, or it is damaged ({error}).") from error
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"It contains something other than plain arrays ({error}).") from error


def case_arrays(run: EvaluationRun) -> dict[str, NDArray[Any]]:
    """The training ratings and the cases of a run as arrays, with the dataset's own ids. Raises ParallaxError with code
    ``run.not_prepared``: the run has no cases yet.
    """
    run_cases = cases_of(run)
    return case_file_arrays(
        training_rows(run_cases.training_digest).user_items,
        run_cases.cases,
        user_ids_of(run.version),
        item_ids_of(run.version),
        run_cases.trained,
    )


def export_cases(*, run: EvaluationRun, path: Path) -> None:
    """Write the arrays of a prepared run. Raises ParallaxError as `case_arrays`, or with ``cases.cannot_write``."""
    arrays = case_arrays(run)
    temporary = path.with_name(f".part-{path.name}")
    try:
        with temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        temporary.replace(path)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise ParallaxError("cases.cannot_write", f"The cases could not be written to {path}: {problem}.") from problem
