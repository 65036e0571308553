from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass

import pytest

from core.errors import ParameterError
from recommenders import registry
from recommenders.parameters import ParameterInfo, Parameters, parameter

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


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"number": 3}, "no parameter number here; the parameters are: count, share, is_loud, mode"),
        ({"count": "many"}, "count must be a whole number; 'many' is not"),
        ({"count": "1.5"}, "count must be a whole number"),
        ({"share": "half"}, "share must be a number; 'half' is not"),
        ({"is_loud": "very"}, "'very' is neither true nor false"),
        ({"count": 1.5}, "count must be of type int; 1.5 is float"),
        ({"count": True}, "count must be of type int; True is bool"),
        ({"is_loud": 1}, "is_loud must be of type bool; 1 is int"),
        ({"mode": 3}, "mode must be of type str"),
        ({"mode": "odd"}, "mode must be one of plain, fancy; it is 'odd'"),
        ({"count": 0}, "count must be at least 1; it is 0"),
        ({"count": 10}, "count must be at most 9; it is 10"),
        ({"share": float("nan")}, "share must be a finite number"),
        ({"share": "inf"}, "share must be a finite number"),
        ({"share": None}, "share must be of type float; None is NoneType"),
    ],
)
def test_value_that_is_not_allowed_is_refused(values, complaint):
    with pytest.raises(ParameterError, match=complaint):
        Example.from_mapping(values)


def test_parameters_without_any_say_so():
    with pytest.raises(ParameterError, match="the parameters are: none"):
        Parameters.from_mapping({"factors": 3})


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
