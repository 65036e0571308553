"""The path diagram of the structural model."""

from __future__ import annotations

from charting import marks
from charting.theme import Spec
from inference import apa
from inference.structural import StructuralModel

LEVEL = 0.05


def path_diagram(model: StructuralModel, title: str) -> Spec:
    """All conditions as one source, with the test that they differ in each quality."""
    mediators = [
        marks.Mediator(
            path.start,
            marks.Path(apa.p_value(test.p), test.p < LEVEL),
            marks.Path(f"β = {apa.number(path.estimate, 2)}".replace("-", "−"), path.p < LEVEL),
        )
        for test, path in zip(model.tests, model.on_outcome, strict=True)
    ]
    smallest = min(path.p for path in model.direct)
    adjusted = min(1.0, smallest * len(model.direct))
    direct = marks.Path(apa.p_value(adjusted), adjusted < LEVEL)
    return marks.path_diagram(
        "Algorithm", mediators, model.outcome, direct, title=title,
        subtitle="Wald tests of algorithms; standardised paths of qualities",
    )  # fmt: skip
