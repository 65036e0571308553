"""What the console draws of a study: a bar a condition, power against participants, the flow of participants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from charting.frame import number
from charting.marks import Stage, consort, curves
from charting.theme import Spec, both_modes

WIDTH = 400
STYLES = {"completed": "1", "active": "0.45", "abandoned": "0.12"}


@dataclass(frozen=True)
class Part:
    """A piece of a bar: where it starts, how wide it is, and how dark."""

    name: str
    n: int
    x: float
    width: float
    opacity: str


@dataclass(frozen=True)
class Bar:
    """A condition's bar with the place of its target, or None where there is none."""

    label: str
    parts: tuple[Part, ...]
    target_x: float | None


def progress_bars(counts: Sequence[tuple[str, int | None, int, int, int]]) -> list[Bar]:
    """Bars on one scale from (label, target, completed, active, abandoned) of each condition."""
    longest = max((max(target or 0, done + active + gone) for _l, target, done, active, gone in counts), default=0)
    unit = WIDTH / max(longest, 1)
    bars = []
    for label, target, *numbers in counts:
        x, parts = 0.0, []
        for (name, opacity), n in zip(STYLES.items(), numbers, strict=True):
            parts.append(Part(name, n, round(x, 2), round(n * unit, 2), opacity))
            x += n * unit
        bars.append(Bar(label, tuple(parts), None if target is None else round(target * unit, 2)))
    return bars


def power_curve(
    by_effect: Mapping[str, Sequence[float]], *, n_values: Sequence[int], planned: int, emphasised: str, title: str
) -> dict[str, Spec]:
    """Power against the participants in each condition, a line an effect, in light and dark."""
    at_planned = ", ".join(
        f"{name} {number(line[n_values.index(planned)], 2, is_share=True)}" for name, line in by_effect.items()
    )
    return both_modes(
        curves(
            by_effect,
            title=title,
            y_title="Power",
            n_values=n_values,
            at_n=planned,
            emphasised=(emphasised,),
            side="neutral",
            x_title="Participants per condition",
            description=(
                f"Line chart, power by participants per condition, {n_values[0]} to {n_values[-1]}. "
                f"At the planned {planned}: {at_planned}."
            ),
        )
    )


@dataclass(frozen=True, kw_only=True)
class Flow:
    """The flow of participants. `opened` is None where openings were not counted.

    consented = assigned + the sum of `left_before`; assigned = completed + the sum of `left_after`;
    completed = analysed + the sum of `excluded`.
    """

    opened: int | None
    declined: int
    consented: int
    left_before: Mapping[str, int]
    assigned: int
    left_after: Mapping[str, int]
    completed: int
    excluded: Mapping[str, int]
    analysed: int


def consort_diagram(flow: Flow, *, badge: str = "") -> Spec:
    """The CONSORT diagram of a flow. Without a count of openings it begins with those who were asked."""
    declined = {"Declined": flow.declined}
    stages = [
        Stage("Consented", flow.consented, flow.left_before),
        Stage("Assigned to a condition", flow.assigned, flow.left_after),
        Stage("Completed", flow.completed, {f"Excluded: {reason}": n for reason, n in flow.excluded.items()}),
        Stage("Analysed", flow.analysed, {}),
    ]
    if flow.opened is not None:
        stages.insert(0, Stage("Opened the link", flow.opened, declined))
    elif flow.declined:
        stages.insert(0, Stage("Were asked for consent", flow.consented + flow.declined, declined))
    title = f"{flow.analysed:,} of {flow.consented:,} who consented can be analysed"
    return consort(stages, title=f"{title} ({badge})" if badge else title)
