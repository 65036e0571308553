"""Metrics by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ParameterError
from evaluation.metrics.ranking import measure_ranking
from evaluation.metrics.registry import METRICS, Metric, definition, metric

pytestmark = pytest.mark.unit


def result_with(**options):
    return measure_ranking(
        np.array([0, 0, 2]),
        np.array([True, False, True]),
        np.array([0, 3, 8]),
        np.array([0, 3, 0]),
        [5, 10],
        **options,
    )


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("recall@5", "recall@5"),
        (" fallout@05 ", "fallout@5"),
        ("precision-raghavan@5(g=0.80)", "precision-raghavan@5(g=.8)"),
        ("f@10( ties = worst , g = .01 )", "f@10(g=.01,ties=worst)"),
        ("f@5(g=1)", "f@5(g=1)"),
        ("f@5(g=0)", "f@5(g=0)"),
        ("recall@5(ties=expected)", "recall@5"),
        ("recall@5(ties=best)", "recall@5(ties=best)"),
    ],
)
def test_metric_has_one_canonical_name(written, canonical):
    assert str(metric(written)) == canonical
    assert metric(canonical) == metric(written)


@settings(deadline=None)
@given(
    st.sampled_from(sorted(METRICS)),
    st.integers(1, 1000),
    st.none() | st.floats(0, 1).map(abs),
    st.sampled_from(["expected", "worst", "best"]),
)
def test_metric_name_reads_back(key, n, g, ties):
    one = Metric(key, n, g if "g" in definition(key).choices else None, ties)
    assert metric(str(one)) == one


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recall", "as 'recall@5'"),
        ("recall@5.5", "as 'recall@5'"),
        ("recall@5(g=.8", "as 'recall@5'"),
        ("accuracy@5", "no metric 'accuracy': the metrics are recall, fallout, precision-raghavan, f"),
        ("recall@0", "at least 1"),
        ("recall@5(g=.8)", "recall takes ties"),
        ("recall@5()", "cannot be read"),
        ("f@5(g=)", "f takes g and ties"),
        ("f@5(g=.8,g=.9)", "each once"),
        ("f@5(g=many)", "has to be a number"),
        ("f@5(g=1.5)", "between 0 and 1"),
        ("f@5(g=nan)", "between 0 and 1"),
        ("f@5(ties=none)", "not 'none'"),
    ],
)
def test_metric_refuses_other_spellings(name, message):
    with pytest.raises(ParameterError, match=message):
        metric(name)


def test_metric_refuses_choices_it_has_not():
    with pytest.raises(ParameterError, match="recall has no choice of g"):
        Metric("recall", 5, g=0.5)
    with pytest.raises(ParameterError, match="not 'middling'"):
        Metric("recall", 5, ties="middling")


def test_value_picks_its_list_length():
    result = result_with(g=0.8)
    assert metric("recall@5").value(result) == 0.5
    assert metric("recall@10").value(result) == 1.0
    assert metric("fallout@5").value(result) == 0.5
    assert metric("precision-raghavan@5(g=.8)").value(result) == result.precision[0] == pytest.approx(0.8)
    assert metric("f@10(g=.8)").value(result) == result.f[1]


def test_value_of_an_empty_case_is_none():
    result = measure_ranking(np.array([0]), np.array([True]), np.array([0]), np.array([0]), [5])
    assert metric("recall@5").value(result) == 1.0
    assert metric("fallout@5").value(result) is None
    assert metric("f@5").value(result) is None


def test_value_refuses_a_result_with_other_choices():
    with pytest.raises(ParameterError, match=r"\[5, 10\] were measured"):
        metric("recall@7").value(result_with())
    with pytest.raises(ParameterError, match="the result as worst"):
        metric("recall@5").value(result_with(ties="worst"))
    with pytest.raises(ParameterError, match="is the share of relevant cases"):
        metric("f@5(g=.8)").value(result_with())
    with pytest.raises(ParameterError, match=r"the g of the result is 0\.8"):
        metric("f@5").value(result_with(g=0.8))


def test_every_definition_is_whole():
    for key, known in METRICS.items():
        assert known.key == key == metric(f"{key}@5").definition.key
        assert known.low < known.high
        assert all(text.strip() for text in (known.title, known.formula, known.empty, known.task))
        assert known.direction == ("lower" if key == "fallout" else "higher")
        assert set(known.choices) <= {"g", "ties"}
