"""The pictures of the architecture page: `python docs/_site/draw.py` writes them into `docs/images`.

The storeys are those of the import contract in pyproject.toml, so that the picture cannot say something else.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WIDTH, ROW, GAP = 720, 40, 10
STYLE = (
    "<style>rect{fill:#eef3fa;stroke:#1d4f91}text{font:15px system-ui,sans-serif;fill:#16202c;text-anchor:middle}"
    ".note{font-size:12px;fill:#44505e}path{stroke:#1d4f91;fill:none;stroke-width:1.5;marker-end:url(#end)}</style>"
    '<marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" style="fill:#1d4f91;stroke:none;marker-end:none"/></marker>'
)
RATING = (
    ("file", "ratings and items"),
    ("catalog", "immutable arrays, named by their hash"),
    ("evaluation", "split: what is hidden from training"),
    ("recommenders", "a fitted model, stored as arrays"),
    ("evaluation · studies", "measured offline · pinned by a study"),
    ("list", "metric of a run · list of a participant"),
)
ANSWER = (
    ("page", "next step of the frozen design"),
    ("studies · view", "permission and form"),
    ("studies · service", "answer, status and log in one transaction"),
    ("database", "rows of answers; arrays stay where they are"),
    ("studies · data", "tidy table and codebook"),
    ("analysis", "report: joined with the run's metrics"),
)


def storeys() -> list[list[str]]:
    """The packages of each storey, top to bottom, from the first import contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    return [re.split(r"\s*[|:]\s*", layer) for layer in contracts[0]["layers"]]


def _picture(title: str, height: int, shapes: Sequence[str]) -> str:
    body = "\n".join(shapes)
    size = f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n'
        f'{STYLE}\n<rect width="{WIDTH}" height="{height}" style="fill:#ffffff;stroke:none"/>\n{body}\n</svg>\n'
    )


def _box(x: float, y: float, width: float, label: str, note: str = "") -> str:
    middle = x + width / 2
    lines = f'<text x="{middle:g}" y="{y + (17 if note else 25):g}">{escape(label)}</text>'
    if note:
        lines += f'<text class="note" x="{middle:g}" y="{y + 33:g}">{escape(note)}</text>'
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{ROW}" rx="4"/>{lines}'


def storey_picture() -> str:
    """One row per storey; packages side by side do not import each other."""
    shapes, y = [], GAP
    for packages in storeys():
        width = (WIDTH - GAP * (len(packages) + 1)) / len(packages)
        shapes += [_box(GAP + number * (width + GAP), y, width, name) for number, name in enumerate(packages)]
        y += ROW + GAP
    return _picture("Storeys: imports point down only", y, shapes)


def way_picture(title: str, steps: Sequence[tuple[str, str]]) -> str:
    """Steps below each other, joined by arrows."""
    shapes, y = [], GAP
    for number, (label, note) in enumerate(steps):
        shapes.append(_box(160, y, 400, label, note))
        if number:
            shapes.append(f'<path d="M360 {y - 22} L360 {y - 1}"/>')
        y += ROW + 22
    return _picture(title, y - 12, shapes)


def pictures() -> dict[str, str]:
    """Every picture by the name of its file."""
    return {
        "storeys.svg": storey_picture(),
        "rating.svg": way_picture("The way of a rating", RATING),
        "answer.svg": way_picture("The way of an answer", ANSWER),
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        (ROOT / "docs" / "images" / name).write_text(picture, encoding="utf-8")
