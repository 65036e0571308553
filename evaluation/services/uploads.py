"""Models that were learned elsewhere: files of weights, factors or lists, checked and matched to a dataset."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from catalog.models import DatasetVersion
from catalog.selectors.ratings import genre_names, genre_terms, item_ids_of, mean_utilities, ratings_of
from catalog.services.item_facts import installed_languages
from core import artefacts
from core.errors import DataError, ParallaxError, ParameterError
from core.file_problems import FileProblems, csv_lines
from evaluation.models import TrainedModel
from evaluation.selectors.cases import training_rows
from evaluation.selectors.uploads import KIND, TEXT, catalogue_of
from evaluation.services.case_files import MAX_BYTES, plain_arrays
from evaluation.services.training import store_training_rows, train_or_reuse
from recommenders import registry
from recommenders.explanation import LONGEST_TEXT
from recommenders.uploaded_lists import ANSWER, EVERYONE, KEY, PARTICIPANT, PROFILE, SEGMENT, answer_keys

Arrays = dict[str, NDArray[Any]]
WEIGHT_COLUMNS = 3
OTHER_KEYS = "Keys of another form than *, segment:NAME, profile:SHA-256 and participant:ID"


@dataclass(frozen=True)
class Upload:
    """A stored upload: its digest, the number of items of the dataset that it covers, facts in words, and what was
    stated of its training, as of `store_upload`.
    """

    digest: str
    n_items: int
    facts: tuple[str, ...]
    learned_from: str
    are_strangers_unseen: bool


def store_upload(
    *,
    version: DatasetVersion,
    kind: str,
    path: Path,
    learned_from: str = "",
    are_strangers_unseen: bool = False,
    collected_from: str = "",
) -> Upload:
    """Check a file of weights, factors or lists against the items of a dataset, and store it.

    `kind` is a key of `registry.uploaded_keys`. `learned_from` is the digest of the training rows that the model was
    learned from, as runs export it; `are_strangers_unseen` the statement that it saw no rating of the test users of
    splits by user; `collected_from` the digest of the remote recommender whose lists they are. Raises ParallaxError
    with code ``upload.bad_file``: the file cannot be used (all problems at once, each with its locations);
    ``upload.unknown_rows``: no run on this dataset has stored these rows.
    """
    if learned_from:
        _check_rows(version, learned_from)
    try:
        arrays, facts = _READERS[kind](path, version)
    except DataError as error:
        raise ParallaxError("upload.bad_file", f"{path.name} cannot be used on {version}. {error}") from error
    project = version.dataset.project_id
    meta = {
        "kind": kind,
        "catalogue": catalogue_of(version),
        "learned_from": learned_from,
        **({"are_strangers_unseen": True} if are_strangers_unseen else {}),
        **({"collected_from": collected_from} if collected_from else {}),
        **({} if project is None else {"project": project}),
    }
    digest, n_items = artefacts.store(KIND, arrays, meta), int(arrays["is_known"].sum())
    return Upload(digest, n_items, tuple(facts), learned_from, are_strangers_unseen)


def model_of_upload(
    *, version: DatasetVersion, kind: str, params: Mapping[str, Any], learned_from: str, seed: int, threads: int
) -> TrainedModel:
    """Return the model of a stored upload, whose popularity is that of the rows it learned from, or of all ratings.

    Raises ParallaxError with code ``model.bad_input``: the parameters are invalid.
    """
    try:
        complete = registry.params_of(kind, params).as_dict()
        rows = learned_from or store_training_rows(ratings=ratings_of(version), utilities=mean_utilities(version))
        inputs: dict[str, Any] = {"algorithm": kind, "params": complete, "seed": seed, "threads": threads}
        return train_or_reuse(version=version, training_digest=rows, **inputs).model
    except (ParameterError, DataError) as refusal:
        raise ParallaxError("model.bad_input", str(refusal)) from refusal


def _check_rows(version: DatasetVersion, digest: str) -> None:
    is_known = TrainedModel.objects.filter(version=version, training_digest=digest).exists()
    if not is_known or training_rows(digest).n_items != version.n_items:
        raise ParallaxError(
            "upload.unknown_rows",
            f"No model on {version} was trained on the rows {digest}. A run exports the digest of its training rows "
            "as training_hash; omit it if the model was learned from other ratings.",
        )


def _matrix(path: Path, version: DatasetVersion) -> tuple[Arrays, list[str]]:
    if path.suffix == ".npz":
        columns, matrix = _weights_of_arrays(plain_arrays(path), version)
    else:
        columns, matrix = _weights_of_csv(path, version)
    is_known = np.zeros(version.n_items, dtype=np.bool_)
    is_known[columns] = True
    matrix.sort_indices()
    arrays = {
        "is_known": is_known,
        "indptr": matrix.indptr.astype(np.int64),
        "indices": matrix.indices.astype(np.int32),
        "weights": matrix.data.astype(np.float64),
    }
    return arrays, [f"{matrix.nnz:,} weights other than 0"]


def _weights_of_arrays(arrays: Arrays, version: DatasetVersion) -> tuple[NDArray[np.int64], sparse.csr_array]:
    problems = FileProblems()
    is_sparse = "indptr" in arrays or "indices" in arrays
    _check_names(arrays, ("items", "weights", *(("indptr", "indices") if is_sparse else ())), (), problems)
    columns, weights = _columns_of(arrays, version, problems), _numbers(arrays, "weights", problems)
    size = columns.size
    matrix = sparse.csr_array((size, size))
    if is_sparse:
        matrix = _csr(arrays, weights, size, problems)
    elif size and weights.size and weights.shape != (size, size):
        problems.say(f"weights has the shape {weights.shape}; {size} items need ({size}, {size}).")
    elif size and weights.size:
        matrix = sparse.csr_array(weights)
    problems.refuse()
    whole = sparse.coo_array(matrix)
    shape = (version.n_items, version.n_items)
    entries = sparse.coo_array((whole.data, (columns[whole.row], columns[whole.col])), shape=shape)
    return columns, sparse.csr_array(entries)


def _csr(arrays: Arrays, weights: NDArray[np.float64], size: int, problems: FileProblems) -> sparse.csr_array:
    """The sparse matrix of a file; empty where it cannot be one, which is a problem."""
    nothing = sparse.csr_array((size, size))
    if not size or not weights.size or not {"indptr", "indices"} <= set(arrays):
        return nothing
    try:
        matrix = sparse.csr_array((weights, arrays["indices"], arrays["indptr"]), shape=(size, size))
        matrix.check_format(full_check=True)
    except (ValueError, IndexError, TypeError) as problem:
        problems.say(f"weights, indices and indptr are not a sparse matrix (CSR) of {size} items: {problem}.")
        return nothing
    pairs = np.repeat(np.arange(size), np.diff(matrix.indptr)) * size + matrix.indices
    order = np.argsort(pairs, kind="stable")
    again = np.sort(order[1:][np.diff(pairs[order]) == 0])
    problems.add("Pairs that come twice", (f"weights[{at}]" for at in again.tolist()))
    return matrix


def _weights_of_csv(path: Path, version: DatasetVersion) -> tuple[NDArray[np.int64], sparse.csr_array]:
    column_of = _column_of(version)
    problems = FileProblems()
    weights: dict[tuple[int, int], float] = {}
    for line, fields in csv_lines(path, MAX_BYTES):
        if len(fields) != WEIGHT_COLUMNS:
            problems.add("Lines that are not item,item,weight", [f"line {line}"])
            continue
        pair = [column_of.get(external_id, -1) for external_id in fields[:2]]
        weight = _number(fields[2])
        if line == 1 and weight is None and pair == [-1, -1]:
            continue  # headings
        unknown = [name for name, column in zip(fields, pair, strict=False) if column < 0]
        problems.add("Unknown items", [f"line {line} ({name!r})" for name in dict.fromkeys(unknown)])
        if weight is None or not np.isfinite(weight):
            problems.add("Weights that are not finite numbers", [f"line {line} ({fields[2]!r})"])
        elif (pair[0], pair[1]) in weights and not unknown:
            problems.add("Pairs that come twice", [f"line {line} ({fields[0]!r}, {fields[1]!r})"])
        elif not unknown:
            weights[pair[0], pair[1]] = weight
    problems.refuse()
    if not weights:
        raise DataError("It has no weights.")
    pairs = np.array(list(weights), dtype=np.int64)
    shape = (version.n_items, version.n_items)
    matrix = sparse.csr_array((np.array(list(weights.values())), (pairs[:, 0], pairs[:, 1])), shape=shape)
    return np.unique(pairs), matrix


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _factors(path: Path, version: DatasetVersion) -> tuple[Arrays, list[str]]:
    arrays, problems = plain_arrays(path), FileProblems()
    _check_names(arrays, ("items", "Q"), ("reg", "P"), problems)
    columns, factors = _columns_of(arrays, version, problems), _numbers(arrays, "Q", problems)
    size, shape = columns.size, factors.shape
    if size and factors.size and (factors.ndim != 2 or shape[0] != size):
        problems.say(f"Q has the shape {shape}; {size} items need ({size}, factors).")
    reg = _numbers(arrays, "reg", problems) if "reg" in arrays else np.empty(0)
    if reg.size and not (reg.shape == (1,) and reg[0] > 0):
        problems.say("reg (λ) must be one finite number above 0.")
    if "P" in arrays and "reg" not in arrays:
        problems.say("P, the factors of users, comes with reg: profiles get their factors by a ridge regression.")
    if "P" in arrays and factors.ndim == 2 and arrays["P"].shape[1:] != shape[1:]:
        problems.say(f"P has the shape {arrays['P'].shape}; it needs the {shape[1]} factors of Q.")
    problems.refuse()
    is_known = np.zeros(version.n_items, dtype=np.bool_)
    is_known[columns] = True
    whole = np.zeros((version.n_items, shape[1]))
    whole[columns] = factors
    score = f"ridge regression with λ = {reg[0]:g}" if reg.size else "projection r Q Qᵀ"
    facts = [f"{shape[1]} factors", f"profiles are scored by {score}"]
    if "P" in arrays:
        facts.append("P is not used: participants are not among its users")
    return {"is_known": is_known, "item_factors": whole, "reg": reg}, facts


def _check_names(arrays: Arrays, needed: Sequence[str], optional: Sequence[str], problems: FileProblems) -> None:
    missing = [name for name in needed if name not in arrays]
    if missing:
        problems.say(f"It lacks {', '.join(missing)} of the arrays {', '.join(needed)}.")
    unknown = sorted(set(arrays) - {*needed, *optional})
    if unknown:
        problems.say(
            f"It has arrays that are not read: {', '.join(unknown)}. Leave them out, or name them as one of "
            f"{', '.join([*needed, *optional])}."
        )


def _columns_of(arrays: Arrays, version: DatasetVersion, problems: FileProblems) -> NDArray[np.int64]:
    """The column of each item that the array ``items`` names; empty where it names none, which is a problem, as are
    unknown ids and ids that come twice.
    """
    items = arrays.get("items", np.empty(0))
    if items.ndim != 1 or not items.size or items.dtype.kind not in "iuU":
        if "items" in arrays:
            problems.say("items must be the dataset's own id of each item, as text or whole numbers in one row.")
        return np.empty(0, dtype=np.int64)
    column_of = _column_of(version)
    names = items.astype(np.str_).tolist()
    columns = np.array([column_of.get(name, -1) for name in names], dtype=np.int64)
    problems.add("Unknown items", (f"items[{at}] ({names[at]!r})" for at in np.flatnonzero(columns < 0).tolist()))
    first = dict(zip(reversed(names), reversed(range(len(names))), strict=True))
    twice = [at for at, name in enumerate(names) if first[name] != at]
    problems.add("Items that come twice", (f"items[{at}] ({names[at]!r})" for at in twice))
    return columns


def _column_of(version: DatasetVersion) -> dict[str, int]:
    return {external_id: column for column, external_id in enumerate(item_ids_of(version).tolist())}


def _numbers(arrays: Arrays, name: str, problems: FileProblems) -> NDArray[np.float64]:
    """An array of finite numbers of at least one dimension; empty where it has none, which is a problem."""
    array = arrays.get(name, np.empty(0))
    if not array.size or array.dtype.kind not in "iuf":
        if name in arrays:
            problems.say(f"{name} must be an array of numbers; it has the shape {array.shape} and type {array.dtype}.")
        return np.empty(0)
    numbers = np.atleast_1d(array).astype(np.float64)
    bad = np.argwhere(~np.isfinite(numbers)).tolist()
    problems.add("Numbers that are not finite", (f"{name}[{', '.join(map(str, at))}]" for at in bad))
    return numbers


def _lists(path: Path, version: DatasetVersion) -> tuple[Arrays, list[str]]:
    column_of, genres, problems = _column_of(version), set(genre_names(version)), FileProblems()
    numbers: dict[str, int] = {}
    rows: dict[str, array[Any]] = {name: array("q") for name in ("list", "item", "line")} | {"score": array("d")}
    n_columns, languages, texts = 3, list[str](), list[list[str]]()
    for line, fields in csv_lines(path, MAX_BYTES):
        if line == 1 and fields[0].lower() == "key":  # headings
            languages = _text_languages(fields, version)
            n_columns = len(fields) - len(languages) if languages else n_columns
            continue
        fields, own_texts = fields[:n_columns], fields[n_columns:]
        if len(fields) not in {2, 3} or not all(fields[:2]) or len(own_texts) != len(languages):
            problems.add("Lines that are not key,item or key,item,score, then a text per language", [f"line {line}"])
            continue
        if any(len(text) > LONGEST_TEXT for text in own_texts) or any(own_texts) != all(own_texts or [""]):
            problems.add(f"Texts longer than {LONGEST_TEXT} characters, or not in all languages", [f"line {line}"])
        key, item = fields[:2]
        score = _number(fields[2]) if fields[2:] else np.nan
        if not KEY.fullmatch(key):
            problems.add(OTHER_KEYS, [f"line {line} ({key!r})"])
        elif key.startswith(SEGMENT) and key.removeprefix(SEGMENT) not in genres and not ANSWER.fullmatch(key):
            problems.add(
                "Segments that are neither a genre of the dataset nor QUESTION=ANSWER", [f"line {line} ({key!r})"]
            )
        if item not in column_of:
            problems.add("Unknown items", [f"line {line} ({item!r})"])
        if fields[2:] and (score is None or not np.isfinite(score)):
            problems.add("Scores that are not finite numbers", [f"line {line} ({fields[2]!r})"])
        elif item in column_of:
            values = {
                "list": numbers.setdefault(key, len(numbers)),
                "item": column_of[item],
                "line": line,
                "score": score,
            }
            texts += [own_texts] if languages else []
            for name, value in values.items():
                rows[name].append(value)
    entries = {name: np.array(values) for name, values in rows.items()}
    _check_lists(entries, problems)
    if not numbers:
        raise DataError("It has no lists.")
    keys = np.array(list(numbers))
    order = np.argsort(entries["list"], kind="stable")  # the order of the lines is the rank
    sizes = np.bincount(entries["list"], minlength=keys.size)
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    ranks = np.arange(order.size) - np.repeat(indptr[:-1], sizes)
    scores = entries["score"][order]
    is_known = np.zeros(version.n_items, dtype=np.bool_)
    is_known[entries["item"]] = True
    arrays = {
        "is_known": is_known,
        "list_keys": keys,
        "list_indptr": indptr.astype(np.int64),
        "list_items": entries["item"][order].astype(np.int32),
        "list_scores": np.where(np.isnan(scores), -1.0 - ranks, scores),
        **_genre_arrays(version, numbers),
        **{f"{TEXT}{each}": np.array([texts[row][at] for row in order]) for at, each in enumerate(languages)},
    }
    starts = {"everyone": EVERYONE, "segments": SEGMENT, "profiles": PROFILE, "participants": PARTICIPANT}
    counts = {kind: sum(key.startswith(start) for key in numbers) for kind, start in starts.items()}
    kinds = "; ".join(f"{kind}: {count:,}" for kind, count in counts.items() if count)
    shortest, longest = f"{sizes.min():,}", f"{sizes.max():,}"
    of_items = longest if shortest == longest else f"{shortest} to {longest}"
    facts = [f"{keys.size:,} list{'s' if keys.size > 1 else ''}, for {kinds}", f"of {of_items} items each"]
    if languages:
        facts.append(f"{sum(map(any, texts)):,} rows of them with a text in {', '.join(languages)}")
    if answered := answer_keys(numbers, genres):
        questions = ", ".join(dict.fromkeys(question for question, _answer in answered.values()))
        facts.append(f"{len(answered):,} of the segments by answers to {questions}: they cover participants alone")
    if EVERYONE not in numbers:
        facts.append("no list for everyone (*): a study cannot serve them to all participants")
    return arrays, facts


def _text_languages(headings: Sequence[str], version: DatasetVersion) -> list[str]:
    """The language of each column of texts, the last ones of a file; none where no heading begins with ``text``.

    Raises DataError: a column or its language is unknown.
    """
    names = [name.lower() for name in headings]
    first = next((at for at, name in enumerate(names) if name.startswith("text")), len(names))
    own = version.dataset.item_language
    languages = [own if name == "text" else name.removeprefix(TEXT) for name in names[first:]]
    known = installed_languages()
    if len(set(languages)) < len(languages) or not set(languages) <= set(known):
        raise DataError(
            f"Its last columns are {', '.join(headings[first:])}. Those of texts are called {TEXT}LANGUAGE, once for "
            f"each of {', '.join(known)}, or text in the language of the dataset's titles ({own or 'unknown'})."
        )
    return languages


def _check_lists(entries: Mapping[str, NDArray[Any]], problems: FileProblems) -> None:
    """Refuse items that come twice in a list, and scores that are missing or ascend, with all other problems."""
    lines, scores = entries["line"], entries["score"]
    by_item = np.lexsort((entries["item"], entries["list"]))
    is_twice = (np.diff(entries["item"][by_item]) == 0) & (np.diff(entries["list"][by_item]) == 0)
    problems.add("Items that come twice in a list", [f"line {line}" for line in np.sort(lines[by_item[1:][is_twice]])])
    by_list = np.argsort(entries["list"], kind="stable")
    is_same, missing = np.diff(entries["list"][by_list]) == 0, np.isnan(scores[by_list])
    is_mixed, is_higher = is_same & (missing[1:] != missing[:-1]), is_same & (np.diff(scores[by_list]) > 0)
    later = lines[by_list[1:]]
    problems.add("Lists with and without scores", [f"line {line}" for line in later[is_mixed]])
    problems.add("Scores above the one before in the list", [f"line {line}" for line in later[is_higher]])
    problems.refuse()


def _genre_arrays(version: DatasetVersion, keys: Iterable[str]) -> Arrays:
    terms = genre_terms(version) if any(key.startswith(SEGMENT) for key in keys) else None
    matrix = sparse.csr_array((version.n_items, 0)) if terms is None else terms
    return {
        "genres": np.array([] if terms is None else genre_names(version), dtype=np.str_),
        "genre_indptr": matrix.indptr.astype(np.int64),
        "genre_indices": matrix.indices.astype(np.int32),
    }


_READERS = {"matrix": _matrix, "factors": _factors, "lists": _lists}
