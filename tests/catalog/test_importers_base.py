"""Problems, refusals, policies and scales."""

from __future__ import annotations

import json

import numpy as np
import pytest

from catalog.importers.base import (
    ImportProblem,
    ImportRefused,
    ImportReport,
    ParsedDataset,
    ParsedItem,
    Policy,
    RatingScale,
)
from catalog.importers.problems import Problems
from core.errors import DataError, ParameterError
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.unit


def problem(line: int, file: str = "a.csv") -> ImportProblem:
    return ImportProblem(file, line, "rating", "it is wrong")


def test_refusals_name_the_first_problem_and_count_the_others():
    refusals = {
        "more than are kept": ImportRefused([problem(7), problem(9)], total=12, advice="Mend it."),
        "of a file": ImportRefused([ImportProblem("a.csv", None, None, "it is wrong")]),
        "two": ImportRefused([problem(7), problem(9)]),
    }
    assert isinstance(refusals["two"], DataError)
    assert (len(refusals["more than are kept"].problems), refusals["more than are kept"].total) == (2, 12)
    assert_sentences_approved(
        "sentences/problems-refused", {name: [str(refusal)] for name, refusal in refusals.items()}
    )


def test_problems_count_all_and_keep_ten_of_a_kind():
    problems = Problems()
    for line in range(1, 15):
        problems.add("off", problem(line))
    problems.add_rows("odd", np.arange(30), lambda row: problem(row, "b.csv"))
    problems.add_rows("never", np.arange(0), problem)
    assert problems.counts == {"off": 14, "odd": 30}
    assert problems.total == 44
    assert [len(kept) for kept in problems.examples.values()] == [10, 10]
    others = Problems()
    others.add("off", problem(99))
    others.add("new", problem(1))
    others.merge(problems)
    assert others.counts == {"off": 15, "new": 1, "odd": 30}
    assert [kept.line for kept in others.examples["off"]] == [99, *range(1, 10)]


def test_problems_refuse_in_order_of_file_and_line():
    problems = Problems()
    problems.refuse("Nothing is wrong yet.")
    problems.add("off", problem(9))
    problems.add("odd", problem(4, "b.csv"))
    problems.add("odd", problem(2))
    with pytest.raises(ImportRefused) as refused:
        problems.refuse("Mend it.")
    # b.csv was met after a.csv, and would come first if it had been met before.
    assert [(found.file, found.line) for found in refused.value.problems] == [
        ("a.csv", 2),
        ("a.csv", 9),
        ("b.csv", 4),
    ]


@pytest.mark.parametrize("options", [{"on_bad_row": "ignore"}, {"duplicates": "median"}])
def test_policy_refuses_what_it_does_not_know(options):
    with pytest.raises(ParameterError, match="refuse"):
        Policy(**options)


@pytest.mark.parametrize(
    ("low", "high", "step"), [(5, 1, 1), (1, 5, -1), (1, 5, 3), (1, float("nan"), 1), (1, 5, float("inf"))]
)
def test_scale_refuses_numbers_that_make_none(low, high, step):
    with pytest.raises(ParameterError):
        RatingScale(low, high, step)


def test_scale_knows_its_own_values():
    half_stars = RatingScale(0.5, 5.0, 0.5)
    values = np.array([0.5, 3.5, 5.0, 0.0, 5.5, 3.25, np.nan, np.inf, -np.inf])
    assert half_stars.is_on(values).tolist() == [True, True, True] + [False] * 6
    assert RatingScale(0, 1, 0.1).is_on(np.array([0.1 * 3, 0.7], dtype=np.float32)).all()
    continuous = RatingScale(-10, 10, 0)
    assert continuous.is_on(np.array([-10, 3.14, 10, 10.1, np.nan])).tolist() == [True, True, True, False, False]
    scales = (half_stars, RatingScale(1, 5, 1, is_declared=False), continuous.shifted(11))
    assert_sentences_approved("sentences/scales", {"scales": map(str, scales)})


def test_policy_fixes_what_it_names():
    assert Policy(fix=("missing-field",)).fixes("missing field")
    assert not Policy(fix=("missing-field",)).fixes("unknown item")
    assert Policy(fix=("all",)).fixes("unknown item")
    assert Policy(on_bad_row="drop").fixes("unknown item")


def test_report_is_json():
    report = ImportReport(
        source_format="delimited",
        files=("a.csv",),
        rows_read=3,
        rows_kept=2,
        dropped={"off": 1},
        examples={"off": (problem(4),)},
        warnings=("Mind.",),
        scale="1 to 5",
    )
    assert json.loads(json.dumps(report.as_json())) == {
        "source_format": "delimited",
        "files": ["a.csv"],
        "rows_read": 3,
        "rows_kept": 2,
        "dropped": {"off": 1},
        "examples": {
            "off": [
                {"file": "a.csv", "line": 4, "column": "rating", "reason": "it is wrong", "unit": "line", "kind": ""}
            ]
        },
        "warnings": ["Mind."],
        "scale": "1 to 5",
    }
    dataset = ParsedDataset(
        user_ids=np.array(["u"]),
        items=(ParsedItem("x", "X"), ParsedItem("y", "Y")),
        users=np.zeros(1, dtype=np.int32),
        items_rated=np.ones(1, dtype=np.int32),
        values=np.ones(1, dtype=np.float32),
        timestamps=None,
        scale=RatingScale(1, 5, 1),
        report=report,
    )
    assert (dataset.n_users, dataset.n_items, dataset.n_ratings) == (1, 2, 1)
    assert dataset.item_ids.tolist() == ["x", "y"]
