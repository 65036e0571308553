"""Small Parquet files that unfold into much are refused before they fill the memory or take long."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from catalog.importers.base import ImportRefused
from catalog.importers.problems import Problems
from catalog.importers.reading import read
from catalog.importers.reading.parquet import parquet_columns, parquet_head
from catalog.importers.reading.tables import Written
from catalog.importers.sources import SourceFile, open_source

pytestmark = pytest.mark.unit
ROWS = 200_000


def packed(path: Path, columns: dict[str, pa.Array]) -> SourceFile:
    parquet.write_table(pa.table(columns), path, compression="zstd")
    return open_source(path).files[path.name]


def read_all(file: SourceFile) -> dict[str, np.ndarray]:
    return read(file, Written(("user", "rating"), "parquet"), {"user": "id", "rating": "number"}, Problems()).columns


def repeated(text: str) -> pa.Array:
    """A text in every row, which the file holds once."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(ROWS, dtype=np.int32)), pa.array([text]))


@pytest.mark.parametrize("step", ["head", "read"])
def test_a_long_text_repeated_in_every_row_is_refused_before_it_is_unfolded(tmp_path: Path, step: str) -> None:
    bomb = packed(tmp_path / "bomb.parquet", {"user": repeated("u" * 1_000_000), "rating": pa.array([4.0] * ROWS)})
    assert (tmp_path / "bomb.parquet").stat().st_size < 20_000
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    with pytest.raises(ImportRefused, match="16,777,216 bytes"):
        parquet_head(bomb, 50) if step == "head" else read_all(bomb)
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert pa.total_allocated_bytes() - before < 50_000_000


def test_short_texts_repeated_in_every_row_are_read(tmp_path: Path) -> None:
    table = packed(tmp_path / "sound.parquet", {"user": repeated("ada"), "rating": pa.array([4.0] * ROWS)})
    assert parquet_head(table, 2) == [("ada", "4.0")] * 2
    assert set(read_all(table)["user"]) == {"ada"}


def test_a_file_of_very_many_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match="20,000 columns"):
        parquet_columns(packed(tmp_path / "wide.parquet", {f"c{number}": pa.array([1]) for number in range(20_000)}))
