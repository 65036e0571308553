"""Scores of other systems for users of the dataset, and cases in the formats that these systems read."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from core.errors import DataError
from evaluation.protocols.cases import Cases

EXAMPLES = 10  # lines named of each kind of problem


@dataclass(frozen=True)
class Layout:
    """How a format writes a score: the separator of its fields, and which of them are user, item and score."""

    title: str
    separator: str
    columns: tuple[str, str, str]  # names in the header, or numbers of the fields where there is none


LAYOUTS: Mapping[str, Layout] = MappingProxyType(
    {
        "trec": Layout("TREC run: user, Q0, item, rank, score, tag", r"\s+", ("0", "2", "4")),
        "recbole": Layout("RecBole: user_id:token, item_id:token, score:float", "\t", ("user_id", "item_id", "score")),
        "lenskit": Layout("LensKit: user_id, item_id, score", ",", ("user_id", "item_id", "score")),
    }
)


def read_scores(path: Path, user_ids: NDArray[np.str_], item_ids: NDArray[np.str_]) -> csr_array:
    """Read the scores of a file whose first line tells its format.

    `user_ids`, `item_ids`: str arrays, shape (n_users,), (n_items,); the dataset's own ids. Returns a sparse float64
    array, shape (n_users, n_items): a stored entry is a score (higher is better, 0 is one too), any other pair has
    none. Raises DataError with all problems, each with its first lines: unknown ids, pairs that come twice, scores that
    are not finite numbers; or the file cannot be read.
    """
    layout, rows = _rows(path)
    lines = np.arange(len(rows)) + (1 if layout.columns[0] == "0" else 2)
    user_texts, item_texts, texts = (rows[name] for name in layout.columns)
    users, items = _indexes(user_texts, user_ids), _indexes(item_texts, item_ids)
    values = _numbers(texts)
    pairs = users * len(item_ids) + items
    order = np.argsort(pairs, kind="stable")
    is_again = np.zeros(len(pairs), dtype=np.bool_)
    is_again[order[1:]] = pairs[order[1:]] == pairs[order[:-1]]
    is_known = (users >= 0) & (items >= 0)
    problems = [
        *_problem(users < 0, lines, user_texts, "no user of the dataset"),
        *_problem(items < 0, lines, item_texts, "no item of the dataset"),
        *_problem(~np.isfinite(values), lines, texts, "no finite number"),
        *_problem(is_again & is_known, lines, item_texts, "an item that the user has in an earlier line"),
    ]
    if problems:
        raise DataError(f"{path.name}: {' '.join(problems)} Correct these lines, or remove them.")
    return csr_array((values[order], (users[order], items[order])), shape=(len(user_ids), len(item_ids)))


def _rows(path: Path) -> tuple[Layout, Any]:
    """The layout, and a frame of texts whose columns are named as the layout has them."""
    import pandas as pd

    try:
        with path.open(encoding="utf-8-sig") as file:
            first = file.readline().strip()
        layout = _layout(first, path.name)
        has_header = layout.columns[0] != "0"
        frame = pd.read_csv(
            path,
            sep=layout.separator,
            header=0 if has_header else None,
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
            quoting=csv.QUOTE_MINIMAL if layout.separator == "," else csv.QUOTE_NONE,
            encoding="utf-8-sig",
        )
    except OSError as problem:
        raise DataError(f"The file {path} cannot be read: {problem.strerror}.") from problem
    except (UnicodeDecodeError, pd.errors.ParserError) as problem:
        raise DataError(f"{path.name} cannot be read: {str(problem).strip()}.") from problem
    frame.columns = [str(name).partition(":")[0] for name in frame.columns]
    if frame.empty:
        raise DataError(f"{path.name} has no scores.")
    return layout, frame


def _layout(first: str, name: str) -> Layout:
    fields = first.split()
    if len(fields) == 6 and fields[1].upper() == "Q0":
        return LAYOUTS["trec"]
    for key, separator in (("recbole", "\t"), ("lenskit", ",")):
        names = {field.partition(":")[0] for field in first.split(separator)}
        if set(LAYOUTS[key].columns) <= names:
            return LAYOUTS[key]
    known = "; ".join(layout.title for layout in LAYOUTS.values())
    raise DataError(f"The first line of {name} is of none of the formats that can be read ({known}): {first[:80]!r}.")


def _indexes(names: Any, ids: NDArray[np.str_]) -> NDArray[np.int64]:
    """The place of each name among the ids, -1 for unknown ones."""
    import pandas as pd

    return np.asarray(pd.Index(ids).get_indexer(names.str.strip()), dtype=np.int64)


def _numbers(texts: Any) -> NDArray[np.float64]:
    import pandas as pd

    return np.asarray(pd.to_numeric(texts, errors="coerce"), dtype=np.float64)


def _problem(is_wrong: NDArray[np.bool_], lines: NDArray[np.int64], texts: Any, what: str) -> Iterator[str]:
    wrong = np.flatnonzero(is_wrong)
    if wrong.size:
        examples = ", ".join(f"line {lines[row]}: {texts.iloc[row][:40]!r}" for row in wrong[:EXAMPLES])
        more = f" and {wrong.size - EXAMPLES:,} more" if wrong.size > EXAMPLES else ""
        yield f"{what[0].upper()}{what[1:]} in {examples}{more}."


def write_qrels(file: TextIO, cases: Cases, user_ids: NDArray[np.str_], item_ids: NDArray[np.str_]) -> None:
    """Write the cases as TREC qrels: user, 0, item, and 1 where the item is relevant, else 0. Raises DataError for an
    id with a space, which the format cannot have.
    """
    for ids in (user_ids, item_ids):
        if spaced := next((name for name in ids.tolist() if len(name.split()) != 1), None):
            raise DataError(f"TREC's format separates fields by spaces, and the id {spaced!r} has one.")
    for user, item, is_relevant in zip(cases.users, cases.items, cases.is_relevant, strict=True):
        file.write(f"{user_ids[user]} 0 {item_ids[item]} {int(is_relevant)}\n")


def write_interactions(
    file: TextIO,
    ratings: csr_array,
    users: NDArray[np.int64],
    user_ids: NDArray[np.str_],
    item_ids: NDArray[np.str_],
) -> None:
    """Write training ratings as an atomic file of RecBole (.inter). Row i of `ratings` belongs to the user `users[i]`
    of the dataset.
    """
    file.write("user_id:token\titem_id:token\trating:float\n")
    for row, user in enumerate(users):
        entries = slice(ratings.indptr[row], ratings.indptr[row + 1])
        for item, rating in zip(ratings.indices[entries], ratings.data[entries], strict=True):
            file.write(f"{user_ids[user]}\t{item_ids[item]}\t{rating:g}\n")
