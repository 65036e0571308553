from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from functools import partial

import pytest

from recommenders import registry
from recommenders.parameters import ParameterInfo, Parameters, parameter
from tests.sentences import assert_refused_as_approved

pytestmark = pytest.mark.unit


@dataclass(frozen=True)
class Example(Parameters):
    count: int = parameter(3, description="How many.", minimum=1, maximum=9)
    share: float = parameter(0.5, description="How much.", minimum=0.0, maximum=1.0)
    is_loud: bool = parameter(False, description="How loud.")
    mode: str = parameter("plain", description="How.", choices=("plain", "fancy"))


def test_description_carries_what_a_form_needs():
    assert Example.described()[0] == ParameterInfo("count", int, 3, "How many.", 1, 9, ())
    assert [info.type for info in Example.described()] == [int, float, bool, str]
    assert Example.described()[3].choices == ("plain", "fancy")


def test_text_is_read_as_the_type():
    read = Example.from_mapping({"count": " 4 ", "share": "1e-1", "is_loud": "Yes", "mode": "fancy"})
    assert read == Example(count=4, share=0.1, is_loud=True, mode="fancy")
    assert Example.from_mapping({"is_loud": "off"}).is_loud is False


def test_whole_number_is_taken_for_a_fraction():
    share = Example(share=1).share
    assert share == 1.0
    assert isinstance(share, float)


WRONG = (
    {"number": 3},
    {"count": "many"},
    {"count": "1.5"},
    {"share": "half"},
    {"is_loud": "very"},
    {"count": 1.5},
    {"count": True},
    {"is_loud": 1},
    {"mode": 3},
    {"mode": "odd"},
    {"count": 0},
    {"count": 10},
    {"share": float("nan")},
    {"share": "inf"},
    {"share": None},
)


def test_values_that_are_refused():
    cases = {f"{values}": partial(Example.from_mapping, values) for values in WRONG}
    assert_refused_as_approved("parameters", cases | {"of none": partial(Parameters.from_mapping, {"factors": 3})})


def test_values_are_frozen_and_listed():
    example = Example(count=5)
    with pytest.raises(FrozenInstanceError):
        example.count = 6
    assert example.as_dict() == {"count": 5, "share": 0.5, "is_loud": False, "mode": "plain"}
    assert example.changed() == {"count": 5}


def test_parameter_added_later_is_listed_only_where_it_differs():
    @dataclass(frozen=True)
    class Longer(Example):
        tone: str = parameter("low", description="Tone.", choices=("low", "high"), is_added=True)

    assert Longer().as_dict() == Example().as_dict()
    assert Longer(tone="high").as_dict() == {**Example().as_dict(), "tone": "high"}
    assert Longer.from_mapping(Longer(tone="high").as_dict()).tone == "high"


def test_a_whole_number_is_taken_where_a_decimal_is_meant():
    params = registry.params_of("ials", {"reg": 100})
    assert (params.reg, type(params.reg)) == (100.0, float)
