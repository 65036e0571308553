"""Charts in both colours of meaning and in neither, drawn by the page as on the pages of reports."""

from __future__ import annotations

from charting.marks import (
    Difference,
    bars,
    box_plot,
    curves,
    forest,
    histogram,
    likert_bars,
    scatter,
)
from charting.pairs import Ranked, ranked_lists
from charting.theme import Spec
from documents.blocks import Figure
from documents.blocks import Section as DocumentSection
from documents.tables import plain_table
from parallax.design.components import Section, State

MEANS = {"TopPop": 3.92, "PureSVD50": 3.61, "NNCosNgr": 3.05, "CorNgr": 3.09}
RECALL = {"TopPop": 0.11, "PureSVD50": 0.29, "NNCosNgr": 0.12, "CorNgr": 0.08}
ANSWERS = {
    name: [min(5.0, max(1.0, mean + (number % 7 - 3) / 2)) for number in range(28)] for name, mean in MEANS.items()
}
STEPS = {name: {1: 1, 2: 2 + number, 3: 9 - number, 4: 12, 5: 6} for number, name in enumerate(MEANS)}


def sections() -> tuple[Section, ...]:
    """Charts of one side."""
    return (
        _section(
            "perceived",
            "Perceived",
            box_plot(
                ANSWERS,
                title="TopPop is perceived as most accurate",
                y_title="Perceived accuracy, 1 to 5",
                domain=(1, 5),
            ),
            likert_bars(STEPS, steps=[1, 2, 3, 4, 5], title="Most answer 4 or 5", x_title="Satisfaction, 1 to 5"),
        ),
        _section(
            "objective",
            "Objective",
            bars(
                {"all users": _around(RECALL, 0.02)}, title="PureSVD50 finds most", x_title="Recall at 10, with 95% CIs"
            ),
            curves(
                {name: [value * n / 10 for n in range(1, 11)] for name, value in RECALL.items()},
                title="PureSVD50 leads at every length",
                y_title="Recall",
                at_n=5,
                emphasised=["PureSVD50"],
            ),
            intervals=1,
        ),
        _section(
            "neutral",
            "Neither",
            histogram(
                {1: 1370, 2: 2811, 3: 7551, 4: 20047, 5: 26818}, title="Most ratings are 4 or more", x_title="Rating"
            ),
        ),
    )


def comparisons() -> tuple[Section, ...]:
    """Charts of both sides and of pairs."""
    pairs = [
        Difference("TopPop", name, MEANS["TopPop"] - mean, 0.1, 1.2, "= .031", mean < 3.5)
        for name, mean in MEANS.items()
    ]
    return (
        _section(
            "both",
            "Both sides",
            scatter(
                _around(MEANS, 0.25),
                _around(RECALL, 0.02),
                title="Recall and perceived accuracy",
                perceived_title="Perceived accuracy",
                objective_title="Recall at 10",
            ),
            ranked_lists(
                _ranked(RECALL),
                _ranked(MEANS),
                title="1 of 6 orders reverses significantly",
                sides=("recall at 10", "perceived accuracy"),
                reversed_pairs=[("PureSVD50", "TopPop")],
            ),
            intervals=1,
        ),
        _section(
            "pairs",
            "Pairs",
            forest(pairs[1:], title="2 of 3 pairs differ significantly", x_title="Difference of means, with 95% CIs"),
            intervals=1,
        ),
    )


def _around(values: dict[str, float], half: float) -> dict[str, tuple[float, float, float]]:
    return {name: (value, value - half, value + half) for name, value in values.items()}


def _ranked(values: dict[str, float]) -> list[Ranked]:
    """Ranks that each algorithm may have: its own and the one below."""
    names = sorted(values, key=lambda name: -values[name])
    return [Ranked(name, f"{values[name]:.2f}", n, min(n + 1, len(names))) for n, name in enumerate(names, start=1)]


def _section(key: str, title: str, *specs: Spec, intervals: int = 0) -> Section:
    """Specifications as figures, the first ones with a caption on their intervals, and the first with its numbers."""
    section = DocumentSection(f"{key}-charts", "As in a report")
    table = plain_table(
        f"{key}-numbers", "Means", ["Algorithm", "M"], [[name, f"{mean:.2f}"] for name, mean in MEANS.items()]
    )
    section.draw(
        *(
            Figure(
                f"{key}-{n}",
                spec,
                "Bars are 95% confidence intervals." if n < intervals else "",
                None if n else table,
            )
            for n, spec in enumerate(specs)
        )
    )
    return Section(key, title, (State("", "design/sections.html", {"sections": [section]}),), wide=True)
