"""Scales seen in ratings: usual ones, outliers, marks of what is not rated, and what has to be asked."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.importers.proposal import Values
from catalog.importers.scales import ScaleFinding, detect_scale, distinct_values, scale_of_text, text_of
from core.errors import ParameterError
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.unit


def finding_of(values, chosen: Values | None = None) -> ScaleFinding:
    return detect_scale(*distinct_values(np.array(values, dtype=np.float64)), chosen or Values())


@pytest.mark.parametrize(
    ("values", "scale", "unused"),
    [
        ([1, 5, 3, 3], "1:5:1", [2, 4]),
        ([2, 3, 4, 5], "1:5:1", [1]),
        ([1, 2, 3], "1:3:1", []),
        ([0.5, 4, 3.5], "0.5:4:0.5", [1, 1.5, 2, 2.5, 3]),
        ([1, 1.5, 3, 4.5, 5], "1:5:0.5", [2, 2.5, 3.5, 4]),
        ([*range(2, 11)], "1:10:1", [1]),
        ([-1, 1], "-1:1:2", []),
        ([0, 1], "0:1:1", []),
        ([1, 4, 5, 6, 8, 10, 12] * 20, "1:12:1", [2, 3, 7, 9, 11]),
        ([0.5, 4, 5], "0.5:5:0.5", [1, 1.5, 2, 2.5, 3, 3.5, 4.5]),
        ([0.1 * number for number in range(1, 11)], "0.1:1:0.1", []),
        ([1, 1.001, 5], "1:5:none", []),
        ([-9.81, 0.03, 3.14159, 8.77, 9.2], "-10:10:none", []),
        (np.arange(300) / 7, "0:43:none", []),
    ],
)
def test_the_scale_is_the_smallest_usual_one_or_the_one_observed(values, scale, unused):
    finding = finding_of(values)
    assert text_of(finding.scale) == scale
    assert list(finding.unused) == unused
    assert finding.scale.is_on(np.array(values, dtype=np.float64)).all()
    assert not finding.scale.is_declared


@pytest.mark.parametrize(
    ("values", "marks", "scale"),
    [
        ([-1, 2, 3, 4, 5], (-1,), "1:5:1"),
        ([0, 5, 6, 7, 8, 9, 10], (0,), "1:10:1"),
        ([1, 2, 3, 99], (99,), "1:3:1"),
        ([0, 50, 90, 100, 255], (255,), "0:100:10"),
        ([-3.51, 0.257, 1.531, 2.7501, 4.2513, 99], (99,), "-4:5:none"),
    ],
)
def test_values_beyond_a_gap_are_no_ratings(values, marks, scale):
    finding = finding_of(values * 20)
    assert finding.not_rated == marks
    assert text_of(finding.scale) == scale


def test_few_ratings_off_a_usual_scale_are_asked_about():
    finding = finding_of([*range(1, 11)] * 500 + [12])
    assert finding.question.about == "scale"
    assert_sentences_approved("sentences/questions-scales", {"one row off the scale": [finding.question.text]})
    assert [value for _, value in finding.question.answers] == ["1:10:1", "1:12:1"]


@pytest.mark.parametrize(
    ("values", "about"), [([0, 1, 2, 3, 4, 5], "zero"), ([*range(11)], "zero"), ([3, 3], "scale"), ([], "scale")]
)
def test_what_changes_the_result_is_asked(values, about):
    assert finding_of(values).question.about == about


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (Values(not_rated=(0.0,)), ("1:5:1", 0)),
        (Values(zero="rating"), ("0:5:1", 1)),
        (Values(scale="0:5:1"), ("0:5:1", 1)),
        (Values(scale="-10:10:none"), ("-10:10:none", 11)),
    ],
)
def test_a_zero_is_what_was_answered_and_scales_are_shifted_above_it(chosen, expected):
    finding = finding_of([0, 1, 2, 3, 4, 5], chosen)
    assert finding.question is None
    assert (text_of(finding.scale), finding.add) == expected


@pytest.mark.parametrize("text", ["nonsense", "1", "1:5:1:1", "1:2:x", "5:1", "1:5:3"])
def test_texts_that_declare_no_scale_are_refused(text):
    with pytest.raises(ParameterError, match=r"scale|Steps"):
        scale_of_text(text)
