from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import DataError
from inference.groups import ExactGroups, Groups, exact, in_words

fifths = st.lists(st.integers(0, 25), min_size=2, max_size=40)


@given(fifths, st.randoms())
def test_means_of_fifths_are_equal_exactly_when_their_integer_sums_are(counts: list[int], shuffler) -> None:
    other = list(counts)
    shuffler.shuffle(other)
    # Move one fifth between two observations: another composition with the same sum.
    if other[-1] > 0:
        other[0], other[-1] = other[0] + 1, other[-1] - 1
    groups = Groups.read({"a": [count / 5 for count in counts], "b": [count / 5 for count in other]})
    assert groups.members[0].mean == groups.members[1].mean == Fraction(sum(counts), 5 * len(counts))


@given(st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-9), st.integers(2, 30))
def test_variance_of_equal_values_is_exactly_zero(value: float, n: int) -> None:
    (group,) = Groups.read({"a": [value] * n}).members
    assert group.squares == 0
    assert group.is_constant


@pytest.mark.parametrize(
    "value",
    [0.2, np.float64(0.2), np.float32(0.2), Decimal("0.2"), Fraction(1, 5)],
    ids=["float", "float64", "float32", "decimal", "fraction"],
)
def test_exact_reads_every_kind_of_number_as_it_was_written(value: object) -> None:
    assert exact(value) == Fraction(1, 5)


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), True + 2])
def test_exact_reads_integers(value: object) -> None:
    assert exact(value) == 3


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float64("nan"), Decimal("NaN")])
def test_exact_refuses_what_is_not_finite_and_says_where(value: object) -> None:
    with pytest.raises(DataError, match=r"condition 'LSA'.*exclude missing answers"):
        Groups.read({"TopPop": [1, 2], "LSA": [3, value]})


@pytest.mark.parametrize("value", ["4", None, [1.0]])
def test_exact_refuses_what_is_not_a_number(value: object) -> None:
    with pytest.raises(DataError, match="is not a number"):
        exact(value)


@pytest.mark.parametrize("value", [1e200, -1e61, 1e-61])
def test_exact_refuses_sizes_whose_squares_leave_the_range_of_a_float(value: float) -> None:
    with pytest.raises(DataError, match="use another unit"):
        exact(value)


def test_read_leaves_small_conditions_out_by_name() -> None:
    groups = Groups.read({"a": [1], "b": [], "c": [1, 2, 3]}, least_n=2)
    assert groups.names == ("c",)
    assert groups.left_out == ("a", "b")


def test_sums_of_squares_add_up_to_the_total_one() -> None:
    groups = Groups.read({"a": [0.1, 0.7, 0.4], "b": [1.9, 2.2]})
    everything = Groups.read({"all": [0.1, 0.7, 0.4, 1.9, 2.2]})
    assert groups.ss_within + groups.ss_between == pytest.approx(everything.members[0].squares, rel=1e-15)


def test_names_are_listed_as_in_a_sentence() -> None:
    assert in_words(["A"]) == "A"
    assert in_words(["A", "B"]) == "A and B"


def test_some_conditions_keep_their_values_and_sizes() -> None:
    groups = ExactGroups({"a": [3, 1], "b": [2], "c": []}, 5)
    assert groups.sizes == {"a": 2, "b": 1, "c": 0}
    some = groups.among(["c", "a"])
    assert dict(some) == {"a": (Fraction(3, 5), Fraction(1, 5)), "c": ()}
    assert (list(some), some.scale) == (["a", "c"], 5)
