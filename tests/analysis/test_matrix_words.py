"""Sentences, table and chart of the matrix, exact for given numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analysis.present import matrix as sentences
from analysis.present.matrix import matrix_chart, matrix_table, orientation
from analysis.results.codec import decode, encode
from analysis.results.comparison import Matrix, MatrixCell, MatrixMetric
from inference.results import AgreementResult, Undefined
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.unit
VALUES = {"A": 0.1, "B": 0.2}


def metric(key: str, **changes: Any) -> MatrixMetric:
    given = {"name": key, "label": f"{key} at 5", "profile_length": 0, "direction": "higher", "values": VALUES}
    return MatrixMetric(key=key, **{**given, **changes})


METRICS = (
    metric("recall"),
    metric("fallout", direction="lower", profile_length=5),
    metric("diversity", direction="neither", protocol="full ranking"),
)


def cell(key: str, variable: str, tau: float | None, *, is_primary: bool = False) -> MatrixCell:
    return MatrixCell(
        metric=key,
        variable_key=variable,
        tau=Undefined("A has no value.") if tau is None else AgreementResult(tau, 0.8, "exact permutation", 7, 0.714),
        is_primary=is_primary,
    )


def matrix(**of_cells: float | None) -> Matrix:
    """Three metrics by accuracy and novelty; all correlations are .1 but for those named ``metric_measure``."""
    cells = tuple(
        cell(own.key, variable, of_cells.get(f"{own.key}_{variable}", 0.1), is_primary=is_primary)
        for own in METRICS
        for variable in ("fon", "accuracy")
        for is_primary in [(own.key, variable) == ("recall", "accuracy")]
    )
    return Matrix(variable_keys=("fon", "accuracy"), metrics=METRICS, cells=cells)


def test_title_counts_metrics_and_measures() -> None:
    assert matrix_chart(matrix())["usermeta"]["title"] == "3 metrics with 2 measures"
    cells = tuple(own for own in matrix().cells if (own.metric, own.variable_key) == (METRICS[0].key, "fon"))
    one = replace(matrix(), variable_keys=("fon",), metrics=METRICS[:1], cells=cells)
    assert matrix_chart(one)["usermeta"]["title"] == "1 metric with 1 measure"


def test_sentences_of_the_matrix() -> None:
    assert sentences.other_test_users_note(matrix()) == ""
    of_others = {
        protocol: [
            sentences.other_test_users_note(replace(matrix(), metrics=(*METRICS, metric("ndcg", protocol=protocol))))
        ]
        for protocol in ("strangers", "known users")
    }
    spec = matrix_chart(matrix(diversity_fon=1.0, fallout_fon=None))
    assert spec is not None
    drawn = {"chart": [spec["description"]], "orientation": [orientation(matrix(diversity_accuracy=None))]}
    assert_sentences_approved("sentences/matrix", of_others | drawn)


def test_table_has_the_primary_pair_first_no_p_and_reasons_instead_of_numbers() -> None:
    found = matrix(diversity_accuracy=None)
    table = matrix_table(found)
    assert [column.name for column in table.columns] == ["Metric", "Better", "Measure", "τ_b", "Without a value"]
    assert [cell.text for cell in table.rows[0].cells] == ["Recall at 5", "higher", "Perceived accuracy", ".10", ""]
    assert len(table.rows) == 6
    (missing,) = [row for row in table.rows if row.is_quiet]
    assert [cell.text for cell in missing.cells][-2] == "–"


def test_chart_has_every_coefficient_and_no_mark_of_significance() -> None:
    spec = matrix_chart(matrix(diversity_fon=1.0, fallout_fon=None))
    assert spec is not None
    shown = [row["shown"] for rows in spec["datasets"].values() for row in rows if "shown" in row]
    assert "1.00" in shown
    assert not [text for text in shown if "*" in text]
    assert "–" in shown
    nothing = replace(matrix(), cells=tuple(cell(one.key, "accuracy", None) for one in METRICS))
    assert matrix_chart(nothing) is None


def test_matrix_is_stored_and_read() -> None:
    found = matrix(diversity_accuracy=None)
    assert decode(Matrix, encode(Matrix, found)) == found
