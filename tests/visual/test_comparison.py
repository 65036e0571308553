"""Comparison of pictures: soft edges are tolerated, and colours, places and sizes are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from tests.visual.comparison import MOST_PIXELS, TOLERANCE, difference, optimised

pytestmark = pytest.mark.unit

PAPER, INK = (251, 250, 247), (27, 30, 37)


def drawn(path: Path, *, left: int = 20, ink: tuple[int, int, int] = INK, size: tuple[int, int] = (200, 80)) -> Path:
    """A button upon paper."""
    picture = Image.new("RGB", size, PAPER)
    ImageDraw.Draw(picture).rounded_rectangle((left, 20, left + 100, 60), 8, fill=ink)
    picture.save(path)
    return path


def test_the_same_picture_does_not_differ(tmp_path: Path) -> None:
    assert difference(drawn(tmp_path / "a.png"), drawn(tmp_path / "b.png")) is None


def test_a_shift_of_a_pixel_differs_and_is_marked(tmp_path: Path) -> None:
    found = difference(drawn(tmp_path / "a.png", left=21), drawn(tmp_path / "b.png"))
    assert found is not None
    assert found.reason.startswith("differs in ")
    assert (255, 0, 0) in {colour for _n, colour in found.marked.getcolors(1000)}


def test_a_slightly_different_colour_differs(tmp_path: Path) -> None:
    baseline = drawn(tmp_path / "b.png")
    within = drawn(tmp_path / "a.png", ink=(27 + TOLERANCE, 30, 37))
    assert difference(within, baseline) is None
    beyond = drawn(tmp_path / "c.png", ink=(27 + TOLERANCE + 1, 30, 37))
    found = difference(beyond, baseline)
    assert found is not None


def test_a_few_pixels_are_tolerated(tmp_path: Path) -> None:
    baseline = drawn(tmp_path / "b.png")
    with Image.open(baseline) as first:
        spotted = first.copy()
    for place in range(MOST_PIXELS):
        spotted.putpixel((place, 0), (255, 0, 0))
    spotted.save(tmp_path / "a.png")
    assert difference(tmp_path / "a.png", baseline) is None
    spotted.putpixel((MOST_PIXELS, 0), (255, 0, 0))
    spotted.save(tmp_path / "a.png")
    found = difference(tmp_path / "a.png", baseline)
    assert found is not None
    assert found.reason == f"differs in {MOST_PIXELS + 1} pixels, within (0, 0, {MOST_PIXELS + 1}, 1)"


def test_another_size_differs(tmp_path: Path) -> None:
    found = difference(drawn(tmp_path / "a.png", size=(200, 82)), drawn(tmp_path / "b.png"))
    assert found is not None
    assert found.reason == "is 200 × 82 pixels and not 200 × 80"
    assert found.marked.size == (200, 82)


def test_stored_pictures_lose_nothing(tmp_path: Path) -> None:
    few = drawn(tmp_path / "few.png")
    many = Image.linear_gradient("L").convert("RGB")
    many.putdata([(x % 256, x // 256, 7) for x in range(256 * 256)])
    many.save(tmp_path / "many.png")
    for name in ("few.png", "many.png"):
        optimised(tmp_path / name, tmp_path / "stored" / name)
        with Image.open(tmp_path / name) as first, Image.open(tmp_path / "stored" / name) as second:
            assert second.convert("RGB").tobytes() == first.convert("RGB").tobytes()
    with Image.open(tmp_path / "stored" / "few.png") as stored:
        assert stored.mode == "P"
    assert (tmp_path / "stored" / "few.png").stat().st_size <= few.stat().st_size
