"""Scores of other systems for the cases of a run, and cases in the formats that these systems read."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from core.errors import DataError
from core.file_problems import FileProblems
from evaluation.protocols.cases import Cases

# Of each format: what a line holds, the separator, and the columns of user, item and score: names, or places without a
# header.
FORMATS: Mapping[str, tuple[str, str, tuple[str, str, str]]] = MappingProxyType(
    {
        "TREC run": ("user Q0 item rank score tag", r"\s+", ("0", "2", "4")),
        "RecBole": ("user_id:token, item_id:token, score:float", "\t", ("user_id", "item_id", "score")),
        "LensKit": ("user_id,item_id,score", ",", ("user_id", "item_id", "score")),
    }
)


def read_scores(path: Path, user_ids: NDArray[np.str_], item_ids: NDArray[np.str_]) -> csr_array:
    r"""Read the scores of a file whose first line tells its format.

    `user_ids`, `item_ids`: str arrays, shape (n_users,), (n_items,); the dataset's own ids. Returns a sparse float64
    array, shape (n_users, n_items): a stored entry is a score (higher is better, 0 is one too), any other pair has
    none. Raises DataError with all problems, each with its first lines: unknown ids, pairs that come twice, scores that
    are not finite numbers; or the file cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "scores.csv")
    ...     _ = file.write_text("user_id,item_id,score\n7,50,0.5\n")
    ...     read_scores(file, np.array(["7"]), np.array(["40", "50"])).toarray().tolist()
    [[0.0, 0.5]]
    """
    import pandas as pd

    first_line, (users_of, items_of, texts) = _columns(path)
    users, items = pd.Index(user_ids).get_indexer(users_of), pd.Index(item_ids).get_indexer(items_of)  # -1: unknown
    values = np.asarray(pd.to_numeric(texts, errors="coerce"), dtype=np.float64)
    pairs = users * len(item_ids) + items
    order = np.argsort(pairs, kind="stable")
    is_again = np.zeros(len(pairs), dtype=np.bool_)
    is_again[order[1:]] = pairs[order[1:]] == pairs[order[:-1]]
    problems = FileProblems()
    problems.add("Unknown users", _positions(users < 0, first_line, users_of))
    problems.add("Unknown items", _positions(items < 0, first_line, items_of))
    problems.add("Scores that are not finite numbers", _positions(~np.isfinite(values), first_line, texts))
    twice = is_again & (users >= 0) & (items >= 0)
    problems.add("Items that the user has already", _positions(twice, first_line, items_of))
    problems.refuse()
    return csr_array((values[order], (users[order], items[order])), shape=(len(user_ids), len(item_ids)))


def _columns(path: Path) -> tuple[int, list[Any]]:
    """The number of the first line with a score, and the texts of users, items and scores."""
    import pandas as pd

    try:
        with path.open(encoding="utf-8-sig") as file:
            separator, names = _format(file.readline().strip())
        has_header = names[0] != "0"
        frame = pd.read_csv(
            path,
            sep=separator,
            header=0 if has_header else None,
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
            quoting=csv.QUOTE_MINIMAL if separator == "," else csv.QUOTE_NONE,
            encoding="utf-8-sig",
        )
    except OSError as problem:
        raise DataError(f"It cannot be read: {problem.strerror}.") from problem
    except (UnicodeDecodeError, pd.errors.ParserError) as problem:
        raise DataError(f"It cannot be read: {str(problem).strip()}.") from problem
    if frame.empty:
        raise DataError("It has no scores.")
    frame.columns = [str(name).partition(":")[0] for name in frame.columns]
    return (2 if has_header else 1), [frame[name].str.strip() for name in names]


def _format(first: str) -> tuple[str, tuple[str, str, str]]:
    fields = first.split()
    for _, separator, columns in FORMATS.values():
        is_trec = columns[0] == "0" and len(fields) == 6 and fields[1].upper() == "Q0"
        if is_trec or set(columns) <= {field.partition(":")[0] for field in first.split(separator)}:
            return separator, columns
    known = "; ".join(f"{title}: {line}" for title, (line, _, _) in FORMATS.items())
    raise DataError(f"Its first line is of none of the formats that can be read ({known}): {first[:80]!r}.")


def _positions(is_wrong: NDArray[np.bool_], first_line: int, texts: Any) -> Iterator[str]:
    wrong = np.flatnonzero(is_wrong)
    for row, text in zip(wrong.tolist(), texts[wrong], strict=True):
        yield f"line {first_line + row} ({text[:40]!r})"


def qrels(cases: Cases, user_ids: NDArray[np.str_], item_ids: NDArray[np.str_]) -> Iterator[str]:
    """Yield the cases as lines of TREC qrels: user, 0, item, and 1 where the item is relevant, else 0. Raises DataError
    for an id with a space, which the format cannot have.
    """
    for ids in (user_ids, item_ids):
        if spaced := next((name for name in ids.tolist() if len(name.split()) != 1), None):
            raise DataError(f"TREC's format separates fields by spaces, and the id {spaced!r} has one.")
    for user, item, is_relevant in zip(cases.users, cases.items, cases.is_relevant, strict=True):
        yield f"{user_ids[user]} 0 {item_ids[item]} {int(is_relevant)}\n"


def interactions(
    ratings: csr_array, users: NDArray[np.int64], user_ids: NDArray[np.str_], item_ids: NDArray[np.str_]
) -> Iterator[str]:
    """Yield training ratings as lines of RecBole's .inter. Row i of `ratings` belongs to the user `users[i]`."""
    yield "user_id:token\titem_id:token\trating:float\n"
    rows = np.repeat(users, np.diff(ratings.indptr))
    for user, item, rating in zip(rows, ratings.indices, ratings.data, strict=True):
        yield f"{user_ids[user]}\t{item_ids[item]}\t{rating:g}\n"
