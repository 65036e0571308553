"""Points beside boxes, answers in steps, forests and strips of ranks: what each shows, and what it refuses to show."""

from __future__ import annotations

from typing import Any

import pytest

from charting import render
from charting.boxes import MOST_POINTS, swarm, values_per_point
from charting.likert import shades
from charting.marks import Difference, box_plot, forest, likert_bars, matrix
from charting.theme import DARK, LIGHT, Palette, Spec
from core.errors import DataError
from tests.charting.test_theme import contrast
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.unit
FIVE = [1, 2, 3, 4, 5]


def rows_of(spec: Spec, mark_type: str, **look: Any) -> list[dict[str, Any]]:
    """The rows that layers with this mark and look draw."""
    found: list[dict[str, Any]] = []
    for layer in spec["layer"]:
        if layer["mark"]["type"] == mark_type and look.items() <= layer["mark"].items():
            found += spec["datasets"][layer["data"]["name"]]
    return found


def blended(colour: str, opacity: float, paper: str) -> str:
    parts = zip((colour, paper), (opacity, 1 - opacity), strict=True)
    sums = [[int(one[at : at + 2], 16) * share for at in (1, 3, 5)] for one, share in parts]
    return "#" + "".join(f"{round(a + b):02x}" for a, b in zip(*sums, strict=True))


# Points beside boxes


@pytest.mark.parametrize("n", [30, 300, 301, 3000])
def test_large_conditions_draw_points_for_several(n: int) -> None:
    per_point = values_per_point([n, 5])
    points = swarm([3.0] * n, (1, 5), (0.1, 0.4), per_point=per_point)
    assert len(points) == -(-n // per_point) <= MOST_POINTS
    assert max(across for across, _ in points) <= 0.4 + 1e-9
    spec = box_plot({"LSA": [2.0] + [3.0] * (n - 1)}, title="t", y_title="Accuracy", domain=(1, 5))
    assert ("each point is" in str(spec["title"]["subtitle"])) == (per_point > 1)


# Answers in steps


def test_pieces_fill_the_bar_in_order() -> None:
    spec = likert_bars({"LSA": {1: 1, 3: 2, 5: 7}}, steps=FIVE, title="t", x_title="x")
    pieces = rows_of(spec, "rect", strokeWidth=0.8)
    pieces = [one for one in pieces if "start" in one]
    assert [one["n"] for one in pieces] == [1, 2, 7]
    assert [(one["start"], one["end"]) for one in pieces] == [(0.0, 0.1), (0.1, 0.3), (0.3, 1.0)]
    assert [one["long"] for one in pieces] == ["10%", "20%", "70%"]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("steps", [2, 5, 7, 11])
def test_words_on_every_piece_have_contrast_and_steps_differ_in_grey(palette: Palette, steps: int) -> None:
    grounds = [blended(palette.perceived, opacity, palette.paper) for opacity in shades(steps)]
    for place, ground in enumerate(grounds):
        words = palette.paper if place == steps - 1 else palette.ink
        assert contrast(words, ground) >= 4.5, (place, ground)
    against_paper = [contrast(ground, palette.paper) for ground in grounds]
    assert against_paper == sorted(against_paper)
    assert len(set(against_paper)) == steps


def test_no_answer_at_all_refused() -> None:
    with pytest.raises(DataError, match="an answer"):
        likert_bars({"LSA": {1: 0}}, steps=FIVE, title="t", x_title="x")


def test_nobodys_bar_is_said() -> None:
    spec = likert_bars({"LSA": {1: 1}, "TopPop": {}}, steps=FIVE, title="t", x_title="x")
    assert "TopPop: no answers." in spec["usermeta"]["description"]
    assert "no answers" in render.svg(spec)


# Forest


def told(value: float, *, is_told: bool) -> Difference:
    return Difference("A", "B", value, value - 0.5, value + 0.5, "= .010", is_told)


def test_told_apart_differs_by_fill_and_weight_not_colour() -> None:
    spec = forest([told(0.7, is_told=True), told(0.2, is_told=False)], title="t", x_title="x")
    points = [layer["mark"] for layer in spec["layer"] if layer["mark"]["type"] == "point"]
    assert [point["fill"] for point in points] == [LIGHT.perceived, LIGHT.paper]
    assert {point["stroke"] for point in points} == {LIGHT.perceived}
    texts = [layer["mark"]["fontWeight"] for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    assert texts == [600, "normal"]


def test_zero_is_always_in_sight() -> None:
    spec = forest([told(5.0, is_told=True)], title="t", x_title="x")
    low, high = spec["layer"][0]["encoding"]["x"].get("scale", spec["layer"][1]["encoding"]["x"]["scale"])["domain"]
    assert low < 0 < high


def test_difference_outside_its_interval_or_none_refused() -> None:
    with pytest.raises(DataError, match="outside its interval"):
        forest([Difference("A", "B", 2.0, 0.0, 1.0, "= .010", True)], title="t", x_title="x")
    with pytest.raises(DataError, match="no difference"):
        forest([], title="t", x_title="x")


# Every chart


def test_every_chart_says_how_its_marks_are_read(draw: Any) -> None:
    spec = draw()
    assert spec["usermeta"]["reading"] in ("across", "down", "drawn")
    assert spec["usermeta"]["title"]
    assert spec["usermeta"]["description"].endswith((".", "…"))
    # Whatever a pointer meets the keyboard meets too; without a tooltip neither would meet anything.
    assert any("tooltip" in layer["encoding"] for layer in spec["layer"])


def test_files_leave_out_what_only_a_pointer_meets(all_drawings: Any) -> None:
    spec = all_drawings["curves"]()
    unseen = [layer for layer in spec["layer"] if layer["mark"].get("opacity") == 0]
    assert len(unseen) == 7
    assert 'opacity="0"' not in render.svg(spec)


def test_pdf_is_a_page_with_selectable_words(all_drawings: Any) -> None:
    made = render.svg_as_pdf(render.svg(all_drawings["forest"]()))
    assert made.startswith(b"%PDF-")
    assert b"/Font" in made


def test_matrix_bars_point_to_the_sign_and_missing_cells_have_a_dash() -> None:
    spec = matrix(
        {"Recall": {"Accuracy": 0.5, "Novelty": -0.25}, "RMSE": {"Accuracy": None, "Novelty": 0.0}},
        title="t",
        subtitle="s",
        outlined=[("Recall", "Accuracy")],
        emphasised=[("Recall", "Novelty")],
        reasons={("RMSE", "Accuracy"): "TopPop has no RMSE."},
    )
    cells = list(spec["datasets"][spec["layer"][0]["data"]["name"]])
    assert [cell["shown"] for cell in cells] == [".50", "−.25*", "–", ".00"]
    assert [cell["end"] - cell["middle"] for cell in cells] == pytest.approx([0.235, -0.1175, 0, 0])
    assert "RMSE" in cells[2]["coefficient"]
    assert [cell["shade"] for cell in cells] == [0.5, 0.375, 0, 0]
    assert_sentences_approved("sentences/chart-matrix", {"a missing cell": [spec["description"]]})


@pytest.mark.parametrize(("n", "is_turned"), [(6, False), (7, True)])
def test_matrix_turns_the_headings_of_many_columns(n: int, is_turned: bool) -> None:
    spec = matrix({"Recall": {f"Scale {number}": 0.1 for number in range(n)}}, title="t", subtitle="s")
    axis = spec["layer"][0]["encoding"]["x"]["axis"]
    assert (axis["labelAngle"] == -90) is is_turned
    assert all(f"Scale {number}" in axis["labelExpr"] for number in range(n))


@pytest.mark.parametrize(
    ("values", "message"), [({}, "no correlation to draw"), ({"A": {"x": 1.2}}, "between -1 and 1")]
)
def test_matrix_refuses_what_it_cannot_draw(values: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        matrix(values, title="t", subtitle="s")
