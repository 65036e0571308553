"""Rates: what is drawn of each line, and what cannot be drawn."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from charting import planes as module
from charting.marks import rates
from charting.render import svg
from core.errors import DataError
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.unit


def test_example_of_the_rates_holds() -> None:
    assert doctest.testmod(module).failed == 0


def test_lines_are_thinned_named_and_told_apart() -> None:
    x = np.linspace(0, 1, 1000)
    lines = {"A": (x, np.sqrt(x)), "B": (x, x), "random": ([0, 1], [0, 1])}
    spec = rates(lines, title="A is best", emphasised=("A",), quiet=("random", "omniscient"))
    assert_sentences_approved("sentences/chart-rates", {"two lines": [spec["usermeta"]["description"]]})
    drawn = svg(spec)
    for name in lines:
        assert f">{name}<" in drawn
    assert len(str(spec)) < 100_000


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ({}, "no line to draw"),
        ({"A": ([0, 1], [0, float("nan")])}, "y of A"),
    ],
)
def test_rates_refuse_what_cannot_be_drawn(lines: dict, words: str) -> None:
    with pytest.raises(DataError, match=words):
        rates(lines, title="None")
