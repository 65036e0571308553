"""Two colours that carry meaning, in both modes, and the same as those of the pages."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from charting import theme
from charting.theme import DARK, LIGHT, Spec

pytestmark = pytest.mark.unit
TOKENS = Path(__file__).parents[2] / "static" / "css" / "tokens.css"


def colours_in(value: Any, key: str = "") -> set[str]:
    if key in ("data", "datasets"):
        return set()
    if isinstance(value, dict):
        return set().union(*(colours_in(inner, name) for name, inner in value.items()))
    if isinstance(value, list):
        return set().union(*(colours_in(inner) for inner in value))
    return set(re.findall(r"#[0-9a-fA-F]{3,8}\b", value)) if isinstance(value, str) else set()


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize(
    "token", ["paper", "ink", "quiet", "line", "perceived", "objective", "perceived_interval", "objective_interval"]
)
def test_colour_token_as_on_the_pages(token: str) -> None:
    found = re.search(rf"--{token.replace('_', '-')}: light-dark\((#\w+), (#\w+)\)", TOKENS.read_text())
    assert found
    assert (getattr(LIGHT, token), getattr(DARK, token)) == found.groups()


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_words_on_paper_have_contrast(palette: theme.Palette) -> None:
    for colour in (palette.ink, palette.quiet, palette.perceived, palette.objective):
        assert contrast(colour, palette.paper) >= 4.5


def test_palette_colours_all_differ() -> None:
    # Modes are exchanged colour by colour: two equal ones could not be told apart in the other.
    for palette in (LIGHT, DARK):
        assert len(set(dataclasses.astuple(palette))) == len(dataclasses.fields(palette))
    assert not set(dataclasses.astuple(LIGHT)) & set(dataclasses.astuple(DARK))


def test_chart_wears_only_colours_of_its_mode(draw: Any) -> None:
    spec = draw()
    assert colours_in(spec) <= set(dataclasses.astuple(LIGHT))
    assert colours_in(theme.both_modes(spec)["dark"]) <= set(dataclasses.astuple(DARK))


def test_modes_differ_in_colours_alone(draw: Any) -> None:
    spec = draw()
    modes = theme.both_modes(spec)
    assert modes["light"] == spec
    assert modes["dark"] != spec
    assert modes["dark"]["datasets"] == spec["datasets"]
    assert modes["dark"]["usermeta"]["mode"] == "dark"


def test_mode_leaves_words_in_data_alone() -> None:
    spec: Spec = {"usermeta": {"mode": "light"}, "data": {"values": [{"title": LIGHT.ink}]}}
    assert theme.both_modes(spec)["dark"]["data"] == spec["data"]
