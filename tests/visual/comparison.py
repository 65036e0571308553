"""Two pictures compared pixel by pixel: a little antialiasing is no difference, another colour or place is one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageChops

# A pixel differs if one of its channels does by more than this, of 255. The two colours of a theme that are nearest to
# each other, paper and card in light, are 8 apart. Letters have no soft edges (fonts.conf); those of stars and charts
# are the same to the bit with one Chromium on one processor, and may be off by 1 or 2 on another.
TOLERANCE = 3
MOST_PIXELS = 12  # that may differ in a picture; a button shifted by two pixels changes more than a hundred


@dataclass(frozen=True)
class Difference:
    """What two pictures differ in; `marked` shows the differing pixels in red upon the pale baseline."""

    reason: str
    marked: Image.Image


def difference(picture: Path, baseline: Path) -> Difference | None:
    """Compare a picture with its baseline; None if they show the same."""
    with Image.open(picture) as first, Image.open(baseline) as second:
        taken, expected = first.convert("RGB"), second.convert("RGB")
    if taken.size != expected.size:
        sizes = [f"{width} × {height}" for width, height in (taken.size, expected.size)]
        return Difference(f"is {sizes[0]} pixels and not {sizes[1]}", _marked(*_on_one_size(taken, expected)))
    mask = _differing(taken, expected)
    n_pixels = mask.histogram()[255]
    if n_pixels <= MOST_PIXELS:
        return None
    return Difference(f"differs in {n_pixels:,} pixels, within {mask.getbbox()}", _marked(taken, expected))


def optimised(picture: Path, target: Path) -> None:
    """Store a picture as a small PNG without loss: with a palette where it has few colours."""
    with Image.open(picture) as first:
        taken = first.convert("RGB")
    if taken.getcolors(256) is not None:
        indexed = taken.quantize(256, dither=Image.Dither.NONE)
        if indexed.convert("RGB").tobytes() == taken.tobytes():
            taken = indexed
    target.parent.mkdir(parents=True, exist_ok=True)
    taken.save(target, optimize=True)


def _differing(taken: Image.Image, expected: Image.Image) -> Image.Image:
    """White where a channel differs by more than the tolerance, else black."""
    channels = ImageChops.difference(taken, expected).split()
    most = ImageChops.lighter(ImageChops.lighter(channels[0], channels[1]), channels[2])
    return most.point(lambda value: 255 if value > TOLERANCE else 0)


def _marked(taken: Image.Image, expected: Image.Image) -> Image.Image:
    pale = Image.blend(expected, Image.new("RGB", expected.size, "white"), 0.7)
    pale.paste("red", mask=_differing(taken, expected))
    return pale


def _on_one_size(taken: Image.Image, expected: Image.Image) -> tuple[Image.Image, Image.Image]:
    size = (max(taken.width, expected.width), max(taken.height, expected.height))
    sheets = [Image.new("RGB", size, "magenta") for _each in range(2)]
    for sheet, picture in zip(sheets, (taken, expected), strict=True):
        sheet.paste(picture)
    return sheets[0], sheets[1]
