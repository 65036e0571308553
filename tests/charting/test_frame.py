"""What stands around the marks, whatever they are."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from charting import frame, render
from charting.marks import histogram
from core.errors import ParameterError

pytestmark = pytest.mark.unit


def words(picture: str) -> list[str]:
    root = ElementTree.fromstring(picture)  # noqa: S314 - our own drawing
    return [line for text in root.iter("{http://www.w3.org/2000/svg}text") for line in text.itertext()]


def test_specification_is_plain_json_without_nan(draw: Any) -> None:
    spec = draw()
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec


def test_what_is_finished_is_vega_lite(draw: Any) -> None:
    import altair
    import jsonschema

    # Vega breaks subtitles by an expression too, which the schema does not know.
    spec = {**draw(), "title": "In one line"}
    altair.LayerChart.from_dict(spec)
    with pytest.raises(jsonschema.ValidationError):
        altair.LayerChart.from_dict({**spec, "autosize": {**spec["autosize"], "resize": "no"}})


@pytest.mark.slow
def test_specification_same_whatever_was_drawn_before(all_drawings: Any) -> None:
    forward = {name: json.dumps(draw()) for name, draw in all_drawings.items()}
    backward = {name: json.dumps(all_drawings[name]()) for name in reversed(all_drawings)}
    assert forward == backward
    for specification in forward.values():
        assert not re.search(r'"(view|param)_\w+"', specification)
    assert '"views": ["charted_1"]' in forward["curves"]


def test_specification_keeps_title_and_description_for_readers(draw: Any) -> None:
    spec = draw()
    assert spec["description"] == spec["usermeta"]["description"]
    assert len(spec["description"]) > 40


def test_width_of_its_element_by_default(draw: Any) -> None:
    assert draw()["width"] == "container"


def test_width_given_leaves_nothing_to_the_element(draw: Any) -> None:
    spec = frame.sized(draw(), 480)
    assert spec["width"] == 480
    assert "containerSize" not in json.dumps(spec)


@pytest.mark.parametrize("width", [300, 720])
def test_picture_is_as_wide_as_asked(draw: Any, width: int) -> None:
    assert f'width="{width}"' in render.svg(draw(), width=width)


def test_title_missing_refused() -> None:
    with pytest.raises(ParameterError, match="needs a title"):
        histogram({1: 2}, title="  ", x_title="Rating")


def test_title_breaks_into_lines_by_width(all_drawings: Any) -> None:
    spec = all_drawings["box_plot"]()
    wide, narrow = words(render.svg(spec, width=800)), words(render.svg(spec, width=358))
    assert spec["usermeta"]["title"] in wide
    assert spec["usermeta"]["title"] not in narrow
    assert any("Participants find" in word for word in narrow)


def test_title_lines_are_about_equally_long() -> None:
    lines = frame._balanced("PureSVD finds twice as much as any other", 35)
    assert lines == ["PureSVD finds twice", "as much as any other"]


def test_names_on_a_phone_lose_their_second_line(all_drawings: Any) -> None:
    spec = all_drawings["box_plot"]()
    assert words(render.svg(spec, width=800)).count("n = 30") == 7
    assert "n = 30" not in words(render.svg(spec, width=358))


@pytest.mark.parametrize(
    ("low", "high", "about", "expected"),
    [(0, 1, 5, [0, 1]), (0, 7, 5, [0, 2, 4, 6]), (1, 9000, 5, [2000, 4000, 6000, 8000]), (3, 3, 5, [3])],
)
def test_whole_ticks_are_round(low: int, high: int, about: int, expected: list[int]) -> None:
    assert frame.whole_ticks(low, high, about=about) == expected


def test_a_stamp_stands_before_title_and_description(draw: Any) -> None:
    spec = draw()
    stamped = frame.stamped(spec, "PILOT")
    assert stamped["usermeta"]["title"] == f"PILOT. {spec['usermeta']['title']}"
    assert stamped["usermeta"]["description"] == f"PILOT. {spec['usermeta']['description']}"
    assert "PILOT" in " ".join(words(render.svg(stamped)))
    assert "PILOT" not in " ".join(words(render.svg(spec)))
