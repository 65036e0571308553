"""What each chart shows, and what it refuses to show."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from charting import render
from charting.consort import Stage
from charting.marks import (
    Mediator,
    Path,
    bars,
    box_plot,
    consort,
    curves,
    hasse,
    histogram,
    long_tail,
    path_diagram,
    plane,
    scatter,
    trace,
)
from charting.theme import LIGHT, OBJECTIVE, PERCEIVED, Spec
from core.errors import DataError
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.unit
ONE = {"LSA": (2.0, 1.0, 3.0)}
EQUAL = dict.fromkeys(("TopPop", "LSA", "AsySVD"), (2.0, 1.0, 3.0))


def data_of(spec: Spec) -> list[dict[str, Any]]:
    return [row for values in spec["datasets"].values() for row in values]


def rows_of(spec: Spec, mark_type: str, **look: Any) -> list[dict[str, Any]]:
    """The rows that layers with this mark and look draw."""
    found: list[dict[str, Any]] = []
    for layer in spec["layer"]:
        if layer["mark"]["type"] == mark_type and look.items() <= layer["mark"].items():
            found += spec["datasets"][layer["data"]["name"]]
    return found


# Every chart


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "attempt",
    [
        lambda bad: box_plot({"LSA": [1, bad]}, title="t", y_title="y", domain=(1, 5)),
        lambda bad: hasse({"LSA": (bad, 1, 2)}, [], title="t", y_title="y"),
        lambda bad: bars({"s": {"LSA": (0.1, bad, 0.2)}}, title="t", x_title="x"),
        lambda bad: curves({"LSA": [0.1, bad]}, title="t", y_title="y"),
        lambda bad: scatter(ONE, {"LSA": (bad, 0, 1)}, title="t", perceived_title="p", objective_title="o"),
        lambda bad: histogram({bad: 1}, title="t", x_title="x"),
    ],
)
def test_number_that_is_not_finite_refused_by_name(attempt: Any, bad: float) -> None:
    with pytest.raises(DataError, match=r"cannot draw (nan|-?inf)"):
        attempt(bad)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: box_plot({}, title="t", y_title="y", domain=(1, 5)),
        lambda: box_plot({"LSA": []}, title="t", y_title="y", domain=(1, 5)),
        lambda: hasse({}, [], title="t", y_title="y"),
        lambda: bars({"s": {}}, title="t", x_title="x"),
        lambda: curves({}, title="t", y_title="y"),
        lambda: scatter({}, {}, title="t", perceived_title="p", objective_title="o"),
        lambda: histogram({}, title="t", x_title="x"),
        lambda: long_tail([], title="t"),
        lambda: long_tail([0, 0], title="t"),
    ],
)
def test_nothing_to_draw_refused(attempt: Any) -> None:
    with pytest.raises(DataError, match=r"no |No "):
        attempt()


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: box_plot({"TopPop": [3.0] * 30, "LSA": [3.0] * 30}, title="t", y_title="y", domain=(1, 5)),
        lambda: box_plot({"TopPop": [3.0], "LSA": []}, title="t", y_title="y", domain=(1, 5)),
        lambda: hasse(EQUAL, [], title="t", y_title="y"),
        lambda: hasse({"LSA": (2.0, 2.0, 2.0)}, [], title="t", y_title="y"),
        lambda: bars({"s": {"LSA": (0.0, 0.0, 0.0)}}, title="t", x_title="x"),
        lambda: curves({"LSA": [0.0], "TopPop": [0.0]}, title="t", y_title="y", at_n=1),
        lambda: scatter(EQUAL, EQUAL, title="t", perceived_title="p", objective_title="o"),
        lambda: histogram({1: 0}, title="t", x_title="x"),
        lambda: long_tail([5], title="t"),
    ],
)
def test_degenerate_data_drawn_without_nan(attempt: Any) -> None:
    picture = render.svg(attempt())
    assert "NaN" not in picture
    assert "Infinity" not in picture


def test_value_outside_its_interval_refused() -> None:
    with pytest.raises(DataError, match="outside its interval"):
        hasse({"LSA": (3, 1, 2)}, [], title="t", y_title="y")


# Box plot


def test_box_plot_points_stand_apart_and_keep_their_values() -> None:
    values = [3.0] * 5 + [3.2] * 2 + [4.0]
    spec = box_plot({"LSA": values}, title="t", y_title="y", domain=(1, 5))
    points = rows_of(spec, "point", opacity=0.55)
    assert sorted(point["y"] for point in points) == values
    assert len({(point["x"], point["y"]) for point in points}) == len(values)
    assert all(0 < point["x"] < 0.5 for point in points)


def test_box_plot_outliers_are_open_circles() -> None:
    spec = box_plot({"LSA": [2, 3, 3, 3, 3, 5]}, title="t", y_title="y", domain=(1, 5))
    assert sorted(row["y"] for row in rows_of(spec, "point", filled=False)) == [2, 5]


def test_box_plot_of_an_empty_condition_says_so() -> None:
    spec = box_plot({"LSA": [], "TopPop": [3.0]}, title="t", y_title="y", domain=(1, 5))
    assert "no values" in render.svg(spec)
    assert "LSA: no values." in spec["usermeta"]["description"]


def test_box_plot_value_off_the_scale_refused() -> None:
    with pytest.raises(DataError, match="outside the scale"):
        box_plot({"LSA": [6]}, title="t", y_title="y", domain=(1, 5))


# Hasse diagram


def boxes_of(spec: Spec) -> dict[str, dict[str, Any]]:
    return {row["condition"]: row for row in rows_of(spec, "rect")}


def test_hasse_places_the_dominated_in_lower_layers_and_prints_means(all_drawings: Any) -> None:
    spec = all_drawings["hasse"]()
    boxes = boxes_of(spec)
    assert (boxes["TopPop"]["mean"], boxes["TopPop"]["printed"]) == (3.92, "3.92")
    edges = rows_of(spec, "rule", color=LIGHT.ink)
    assert len(edges) == 3
    for edge in edges:
        upper, lower = boxes[edge["upper"]], boxes[edge["lower"]]
        assert edge["pair"] == f"{upper['condition']} above {lower['condition']}"
        assert (edge["x"], edge["y"]) == (upper["x"], upper["bottom"])
        assert (edge["x2"], edge["y2"]) == (lower["x"], lower["top"])
        assert upper["bottom"] > lower["top"]


def test_hasse_prints_shares_without_a_leading_zero() -> None:
    spec = hasse({"LSA": (0.85, 0.8, 0.9)}, [], title="t", y_title="y", is_share=True)
    assert boxes_of(spec)["LSA"]["printed"] == ".85"
    assert "Means: LSA .85." in spec["usermeta"]["description"]


def test_hasse_unordered_are_dashed_and_below(all_drawings: Any) -> None:
    boxes = boxes_of(all_drawings["hasse"]())
    dashed = {row["condition"] for row in rows_of(all_drawings["hasse"](), "rect", strokeDash=[3, 2])}
    assert dashed == {"AsySVD", "PureSVD300", "LSA"}
    assert max(boxes[name]["top"] for name in dashed) < min(boxes[name]["bottom"] for name in boxes.keys() - dashed)


def test_hasse_of_many_unordered_breaks_into_rows() -> None:
    boxes = boxes_of(hasse({f"A{n}": (n, n, n) for n in range(7)}, [], title="t", y_title="y"))
    assert [sum(box["y"] == y for box in boxes.values()) for y in (0, -0.7, -1.4)] == [3, 3, 1]


def test_hasse_line_passes_beside_the_layer_between() -> None:
    estimates = {name: (n, n, n) for n, name in enumerate("DCBA")}
    spec = hasse(estimates, [("A", "B"), ("B", "C"), ("C", "D"), ("A", "D")], title="t", y_title="y")
    boxes = boxes_of(spec)
    pieces = [row for row in rows_of(spec, "rule") if row["pair"] == "A above D"]
    assert len(pieces) == 5  # down, past B, down, past C, down
    upright = [row for row in pieces if row["x"] == row["x2"]]
    assert all(not boxes[name]["left"] <= row["x"] <= boxes[name]["right"] for row in upright for name in "BC")


def test_hasse_of_two_chains_draws_them_uncrossed() -> None:
    estimates = {"A": (4, 4, 4), "B": (3.9, 3.9, 3.9), "C": (1, 1, 1), "D": (0.9, 0.9, 0.9)}
    boxes = boxes_of(hasse(estimates, [("A", "D"), ("B", "C")], title="t", y_title="y"))
    assert (boxes["A"]["x"] - boxes["B"]["x"]) * (boxes["D"]["x"] - boxes["C"]["x"]) > 0


def test_hasse_of_fallout_has_the_lowest_on_top() -> None:
    estimates = {"TopPop": (0.025, 0.024, 0.026), "LSA": (0.002, 0.001, 0.003)}
    spec = hasse(estimates, [("LSA", "TopPop")], title="t", y_title="y", higher_is_better=False)
    assert boxes_of(spec)["LSA"]["y"] > boxes_of(spec)["TopPop"]["y"]


# Bars


def test_bars_second_series_is_an_outline(all_drawings: Any) -> None:
    spec = all_drawings["bars"]()
    assert len(rows_of(spec, "rect", fill=OBJECTIVE)) == 7 + 1  # the bars and their patch in the key
    assert len(rows_of(spec, "rect", fill=LIGHT.objective_wash, stroke=OBJECTIVE)) == 7 + 1


def test_bars_print_shares_without_a_leading_zero_and_other_numbers_with_it() -> None:
    values = {"LSA": (0.29, 0.28, 0.30)}
    assert ">.29<" in render.svg(bars({"s": values}, title="t", x_title="x"))
    picture = render.svg(bars({"s": values}, title="t", x_title="x", is_share=False, decimals=3))
    assert ">0.290<" in picture
    assert ">.29<" not in picture


# Curves and tail


def test_curves_lines_are_told_apart_without_colour(all_drawings: Any) -> None:
    spec = all_drawings["curves"]()
    lines = [layer["mark"] for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    ends = [layer["mark"] for layer in spec["layer"] if layer["mark"].get("size") == 62]
    assert len({tuple(line["strokeDash"]) for line in lines}) == 7
    assert len({end["shape"] for end in ends}) == 7
    assert [line["strokeWidth"] for line in lines] == [1.6, 1.6, 1.6, 1.6, 3.0, 1.6, 1.6]


def test_curves_names_at_line_ends_stand_apart() -> None:
    spec = curves({name: [0.0, 0.5] for name in "ABCDE"}, title="t", y_title="y")
    places = sorted(row["label_at"] for row in data_of(spec) if "label_at" in row)
    assert all((after - before) * spec["height"] / 0.5 >= 14.9 for before, after in itertools.pairwise(places))


def test_curves_of_counts_keep_their_numbers() -> None:
    spec = curves({"LSA": [10.5, 20.5]}, title="t", y_title="Items", is_share=False, decimals=1)
    assert spec["usermeta"]["description"].endswith("At 2: LSA 20.5.")


def test_long_tail_marks_the_fewest_items_with_half_of_the_ratings() -> None:
    spec = long_tail([1, 5, 2, 2, 0], title="t")
    assert rows_of(spec, "rule")[0]["item"] == 1
    assert rows_of(spec, "line") == [
        {"item": place, "ratings": count} for place, count in enumerate([5, 2, 2, 1, 0], start=1)
    ]


def test_long_tail_of_many_items_keeps_both_ends() -> None:
    spec = long_tail(range(60_000), title="t")
    line = rows_of(spec, "line")
    assert len(line) <= 240
    assert line[0] == {"item": 1, "ratings": 59_999}
    assert line[-1] == {"item": 60_000, "ratings": 0}


# Scatter


def test_scatter_dots_on_one_spot_share_a_label() -> None:
    spec = scatter(EQUAL, EQUAL, title="t", perceived_title="p", objective_title="o")
    assert [row["label"] for row in rows_of(spec, "point") if "label" in row] == [["TopPop", "LSA", "AsySVD"]]


def test_scatter_intervals_wear_their_sides_colours(all_drawings: Any) -> None:
    spec = all_drawings["scatter"]()
    assert len(rows_of(spec, "rule", color=LIGHT.perceived_interval)) == 7
    assert len(rows_of(spec, "rule", color=LIGHT.objective_interval)) == 7


# Counts


def test_histogram_orders_values_and_prints_shares() -> None:
    spec = histogram({5: 30, 1: 10}, title="t", x_title="Rating")
    assert [(row["value"], row["share"]) for row in rows_of(spec, "rect")] == [("1", "25%"), ("5", "75%")]


def test_histogram_distinguishes_bars_by_both_limits() -> None:
    counts = {1: 1, 2: 1, 3: 1, 4: 1, 5: 1}
    spec = histogram(counts, title="t", x_title="Rating", limits=(4, 2))
    of_fill = {
        fill: [row["value"] for row in rows_of(spec, "rect", fill=fill)]
        for fill in (LIGHT.ink, LIGHT.paper, LIGHT.line)
    }
    assert of_fill == {LIGHT.ink: ["4", "5"], LIGHT.paper: ["1", "2"], LIGHT.line: ["3"]}


# Precision against recall


def test_plane_marks_and_names_every_line():
    lines = {"A": ([0.1, 0.2], [0.5, 0.4]), "B": ([0.0, 0.0], [0.0, 0.0])}
    spec = plane(
        lines, title="A", x_title="Recall", y_title="Precision", point_labels=("n = 1", "n = 5"), emphasised=("A",)
    )
    assert [row["algorithm"] for row in rows_of(spec, "text")] == ["A", "B"]
    assert [row["point"] for row in rows_of(spec, "point")] == ["n = 1", "n = 5"] * 2
    assert len({str(layer["mark"]["strokeDash"]) for layer in spec["layer"] if layer["mark"]["type"] == "line"}) == 2
    assert render.svg(spec).count("Precision") >= 1


def test_plane_without_labels_has_no_points():
    spec = plane({"A": ([0.0], [0.0])}, title="A", x_title="Recall", y_title="Precision")
    assert rows_of(spec, "point") == []


@pytest.mark.parametrize(("lines", "message"), [({}, "no line"), ({"A": ([0.1], [math.nan])}, "Precision of A")])
def test_plane_refuses_what_cannot_be_drawn(lines, message):
    with pytest.raises(DataError, match=message):
        plane(lines, title="A", x_title="Recall", y_title="Precision")


def test_a_flow_without_steps_is_refused() -> None:
    with pytest.raises(DataError, match="no step"):
        consort([], title="Flow")


def test_a_flow_of_one_step_is_one_box() -> None:
    spec = consort([Stage("Consented", 3, {})], title="Flow")
    assert_sentences_approved("sentences/chart-flow", {"one step": [spec["usermeta"]["description"]]})
    assert "Consented" in render.svg(spec)


@pytest.mark.parametrize(("is_from_zero", "bottom"), [(True, 0.0), (False, 0.5)])
def test_curves_begin_at_zero_unless_told_otherwise(is_from_zero: bool, bottom: float) -> None:
    spec = curves({"LSA": [0.9, 0.8]}, title="t", y_title="y", is_from_zero=is_from_zero)
    (low,) = {
        layer["encoding"]["y"]["scale"]["domain"][0]
        for layer in spec["layer"]
        if "domain" in layer.get("encoding", {}).get("y", {}).get("scale", {})
    }
    assert low == pytest.approx(0.0) if is_from_zero else low >= bottom


def test_a_path_diagram_draws_significant_paths_in_colour_and_needs_a_mediator() -> None:
    trust = Mediator("Trust", Path("p = .003", True), Path("β = .42", True))
    spec = path_diagram("Algorithm", [trust], "Satisfaction", Path("p = .20", True), title="t", subtitle="s")
    rules = [layer["mark"] for layer in spec["layer"] if layer["mark"]["type"] == "rule"]
    assert [rule["stroke"] for rule in rules] == [PERCEIVED]
    with pytest.raises(DataError, match="no mediator"):
        path_diagram("Algorithm", [], "Satisfaction", Path("", False), title="t", subtitle="s")


# Traces


def test_trace_fills_the_chosen_dot_and_draws_intervals(all_drawings: Any) -> None:
    spec = all_drawings["trace"]()
    assert [row["at"] for row in rows_of(spec, "point", color=OBJECTIVE)] == [50]
    assert [row["at"] for row in rows_of(spec, "point", color=LIGHT.paper)] == [10, 300]
    assert [(row["low"], row["high"]) for row in rows_of(spec, "rule")] == [(0.18, 0.22), (0.27, 0.31), (0.23, 0.27)]
    (scale,) = {layer["encoding"]["x"]["scale"]["type"] for layer in spec["layer"]}
    assert scale == "log"


def test_trace_of_the_best_so_far_rises_by_steps() -> None:
    dots = [(at, (0.1 * at % 0.3,) * 3) for at in range(1, 15)]
    best = [max(value for _, (value, *_) in dots[:at]) for at in range(1, 15)]
    spec = trace(dots, title="t", x_title="x", y_title="y", chosen=1, line=best)
    (line,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    assert line["mark"]["interpolate"] == "step-after"
    assert [row["value"] for row in rows_of(spec, "line")] == best
    assert "tickCount" in line["encoding"]["x"]["axis"]
    assert "[" not in spec["usermeta"]["description"]


def test_trace_of_one_dot_that_is_no_share_is_drawn() -> None:
    spec = trace([(3, (0.0, 0.0, 0.0))], title="t", x_title="x", y_title="y", chosen=0, is_share=False)
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [2.0, 4.0]
