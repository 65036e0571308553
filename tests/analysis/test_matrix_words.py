"""Sentences, table and chart of the matrix, exact for given numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analysis.charts.matrix import matrix_chart
from analysis.narrative import matrix as sentences
from analysis.results.codec import decode, encode
from analysis.results.matrix import Matrix, MatrixCell, MatrixMetric
from analysis.tables.matrix import matrix_table, orientation, values_table
from inference.results import AgreementResult, Interval, Undefined

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


def cell(key: str, variable: str, tau: float | None, p: float = 1.0, **changes: Any) -> MatrixCell:
    return MatrixCell(
        metric=key,
        variable_key=variable,
        tau=Undefined("A has no value.") if tau is None else AgreementResult(tau, p, "exact permutation", 7, 0.714),
        interval=Undefined("No values by user.") if tau is None else Interval(-0.2, 0.5),
        **{"p_holm": None if tau is None else min(1.0, 5 * p), **changes},
    )


def matrix(**of_cells: tuple[float | None, float]) -> Matrix:
    """Three metrics by accuracy and novelty; all correlations are .1 but for those named ``metric_measure``."""
    cells = []
    for own in METRICS:
        for variable in ("accuracy", "fon"):
            tau, p = of_cells.get(f"{own.key}_{variable}", (0.1, 0.8))
            is_primary = (own.key, variable) == ("recall", "accuracy")
            made = cell(own.key, variable, tau, p, is_primary=is_primary)
            cells.append(replace(made, p_holm=None) if is_primary else made)
    n_family = sum(one.p_holm is not None for one in cells)
    return Matrix(alpha=0.05, n_family=n_family, variable_keys=("accuracy", "fon"), metrics=METRICS, cells=tuple(cells))


def test_nothing_significant_names_the_family_and_all_metrics() -> None:
    assert sentences.exploratory(matrix()) == (
        "No exploratory correlation of a metric with a measure was significant at α = .05 after Holm's correction over "
        "5 pairs."
    )
    assert sentences.prediction(matrix()) == (
        "No objective metric of these runs was significantly correlated with perceived accuracy or first-order novelty."
    )
    own = replace(matrix(), metrics=METRICS[:2], cells=matrix().cells[:4])
    assert sentences.prediction(own).startswith("No objective metric of this run was")


def test_nothing_is_said_of_all_metrics_where_one_was_not_tested() -> None:
    found = matrix(diversity_accuracy=(None, 1), diversity_fon=(None, 1))
    assert sentences.prediction(found) == (
        "No metric that could be compared was significantly correlated with perceived accuracy or first-order novelty; "
        "2 pairs of a metric and a measure have no rank correlation, among them all of diversity at 5 (full ranking)."
    )


def test_findings_come_with_direction_and_without_a_word_of_quality_of_novelty() -> None:
    found = matrix(fallout_accuracy=(-0.9, 0.002), diversity_fon=(1.0, 0.0004))
    assert sentences.exploratory(found) == (
        "Significant exploratory correlations after Holm's correction over 5 pairs of a metric and a measure: "
        "diversity at 5 (full ranking) with first-order novelty (τ_b = 1.00, corrected p = .002: algorithms with "
        "higher diversity at 5 had higher first-order novelty) and fallout at 5 with profiles of 5 ratings with "
        "perceived accuracy (τ_b = −.90, corrected p = .010: algorithms with lower fallout at 5 had lower perceived "
        "accuracy). First- and second-order novelty describe the lists and do not measure their quality."
    )
    assert sentences.title(found) == "Two of 5 exploratory rank correlations are significant after Holm's correction"
    assert sentences.prediction(found) == ""
    assert sentences.prediction(matrix(fallout_fon=(-0.9, 0.001))) == "No significant correlation was positive."


def test_many_pairs_with_few_algorithms_could_not_be_significant() -> None:
    found = replace(matrix(), n_family=200)
    assert sentences.exploratory(found).endswith(
        "With seven algorithms and so many pairs no correlation could have been significant."
    )


def test_table_has_the_primary_pair_first_and_reasons_instead_of_numbers() -> None:
    found = matrix(diversity_accuracy=(None, 1))
    table = matrix_table(found)
    assert [cell.text for cell in table.rows[0].cells] == [
        "Recall at 5", "higher", "Perceived accuracy", ".10", "[−.20, .50]", ".800", "primary", "",
    ]  # fmt: skip
    assert [row.group for row in table.rows[:2]] == ["Primary pair", "Exploratory pairs"]
    (missing,) = [row for row in table.rows if row.is_quiet]
    assert [cell.text for cell in missing.cells][-5:] == ["–", "–", "–", "–", "A has no value."]
    assert "over the 4 exploratory pairs" in table.note
    assert orientation(found).endswith(
        "Lower is better for fallout at 5, whose sign is reversed. Diversity at 5 has no better direction: higher "
        "values rank first."
    )
    assert [cell.text for cell in values_table(found, ["B", "A"]).rows[1].cells] == [
        "Fallout at 5, profiles of 5 ratings", "lower", "0.200", "0.100",
    ]  # fmt: skip


def test_chart_frames_the_primary_pair_and_marks_what_is_significant() -> None:
    spec = matrix_chart(matrix(diversity_fon=(1.0, 0.0004), fallout_fon=(None, 1)), "Diversity goes with novelty")
    assert spec is not None
    assert "Diversity at 5, full ranking: Perceived accuracy .10, First-order novelty 1.00." in spec["description"]
    assert (
        "Fallout at 5, profiles of 5 ratings: Perceived accuracy .10, First-order novelty none." in spec["description"]
    )
    shown = [row["shown"] for rows in spec["datasets"].values() for row in rows if "shown" in row]
    assert "1.00*" in shown
    assert "–" in shown
    nothing = replace(matrix(), cells=tuple(cell(one.key, "accuracy", None) for one in METRICS))
    assert matrix_chart(nothing, "Nothing") is None


def test_matrix_is_stored_and_read() -> None:
    found = matrix(diversity_accuracy=(None, 1))
    assert decode(Matrix, encode(Matrix, found)) == found
