"""The grid of pairs and the ranked lists: every pair and every rank is drawn, described and marked."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from charting import render
from charting.frame import stamped
from charting.pairs import KINDS, Difference, GridCell, Ranked, pairs_grid, plain_lists, ranked_lists
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.unit
NAMES = ["LSA", "TopPop", "CorNgr", "AsySVD"]
CELLS = [
    GridCell(a, b, kind, "Said <b>.", objective=Difference(".10 [.05, .15]", 0.1, 0.05, 0.15))
    for (a, b), kind in zip(combinations(NAMES, 2), [*KINDS, "agree"], strict=True)
]
GRID = pairs_grid(NAMES, dict.fromkeys(NAMES, ".123"), CELLS, title="2 of 6 pairs agree")
LISTS = ranked_lists(
    [Ranked(name, ".1", 1, 3) for name in NAMES],
    [Ranked(name, "3.0", 2, 4) for name in reversed(NAMES)],
    title="One order reverses",
    sides=("recall at 5", "perceived accuracy"),
    reversed_pairs=[("LSA", "AsySVD")],
)


@pytest.mark.parametrize("width", [340, 700])
def test_every_pair_is_a_cell_with_what_both_sides_say(width: int) -> None:
    picture = render.svg(GRID, width=width)
    cells = re.findall(r'<g class="cell" [^>]*data-kind="([^"]+)"', picture)
    assert cells == [cell.kind for cell in CELLS]
    assert "Said &lt;b&gt;." in picture
    assert picture.count("data-objective=") == len(CELLS)
    assert "data-perceived=" not in picture  # these pairs were not tested on that side
    assert (">.123<" in picture) == (width == 700)  # a phone has no room for values


def test_counts_beneath_the_grid_are_those_of_the_classes() -> None:
    counts = re.findall(r'font-size="18"[^>]*>(\d+)<', render.svg(GRID, width=700))
    assert counts == ["2", "1", "1", "1", "1"]
    assert_sentences_approved("sentences/chart-pairs", {"a grid": [GRID["usermeta"]["description"]]})


def test_only_reversed_pairs_are_coloured() -> None:
    picture = render.svg(LISTS, width=700)
    heavy = re.findall(r'<path data-algorithms="([^"]+)"[^>]*url\(#', picture)
    assert heavy == ["LSA", "AsySVD"]
    plain = render.svg({**LISTS, "data": {**LISTS["data"], "reversed": []}}, width=700)
    assert "linearGradient" not in plain


@pytest.mark.parametrize("width", [300, 700])
def test_plain_lists_are_two_columns_of_the_same_names_with_lines_between(width: int) -> None:
    picture = render.svg(plain_lists(LISTS), width=width)
    assert "rank" not in picture.partition("</desc>")[2]
    assert picture.count("<circle") - picture.count('r="11"') == 2 * len(NAMES)
    left = re.findall(rf'<text [^>]*text-anchor="end"[^>]*>({"|".join(NAMES)})', picture)
    assert left == NAMES
    lines = re.findall(r'<path data-algorithms="[^"]+" d="M([\d.]+) [\d.]+L([\d.]+) ', picture)
    assert len(lines) == len(NAMES)
    assert all(float(end) - float(start) >= 100 for start, end in lines)


def test_descriptions_name_the_ranks_of_both_sides() -> None:
    said = LISTS["usermeta"]["description"]
    assert "LSA 1 to 3" in said
    assert "AsySVD 2 to 4" in said


@pytest.mark.parametrize("spec", [GRID, LISTS], ids=["grid", "lists"])
def test_a_mark_is_inside_every_picture(spec: dict[str, object]) -> None:
    marked = stamped(spec, "Simulated participants")
    assert marked["usermeta"]["title"].startswith("Simulated participants. ")
    for width in (340, 700):
        assert "Simulated participants" in render.svg(marked, width=width)
        assert "Simulated participants" not in render.svg(spec, width=width)


LONG = [
    "PureSVD50 + MMR 0.3",
    "PureSVD50 + MMR 0.6",
    "PureSVD50 + Popularity 0.5 · explained",
    "Antidisestablishmentarianism",
]


@pytest.mark.parametrize("width", [340, 700])
def test_long_names_are_whole_and_inside_the_picture(width: int) -> None:
    cells = [GridCell(a, b, "agree", "Agree.") for a, b in combinations(LONG, 2)]
    ranked = [Ranked(name, "3.812", 1, 3) for name in LONG]
    lists = ranked_lists(ranked, ranked[::-1], title="Two", sides=("recall at 5", "perceived accuracy"))
    for spec, times in ((pairs_grid(LONG, dict.fromkeys(LONG, ".123"), cells, title="All"), 1), (lists, 2)):
        picture = render.svg(spec, width=width)
        names: list[str] = []
        for look, text in re.findall(r"(<text [^>]*)>((?:(?!</text>).)*)</text>", picture):
            lines = re.split(r'<tspan x="[\d.]+" dy="14">', text)
            x = float(re.findall(r' x="([\d.]+)"', look)[0])
            for line in (re.sub(r"<[^>]*>", "", line) for line in lines):
                reach = 6.6 * len(line)
                assert (x - reach if 'anchor="end"' in look else width - x - reach) >= -1, line
            without_value = [re.sub(r"<tspan[^>]*fill[^>]*>[^<]*</tspan>", "", line) for line in lines]
            names.append("".join(re.sub(r"<[^>]*>| ", "", line) for line in without_value))
        for name in LONG:
            assert names.count(name.replace(" ", "")) == times, name
