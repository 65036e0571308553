"""Rows of the tables: ours, the peer's, the machine's limit, and whether the goals are reached."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class Row:
    task: str
    ours: dict[str, float]  # seconds, and "cpu" seconds of all threads where they mean something
    peer: str
    theirs: dict[str, float]
    goal: float
    limit: float | None = None
    limit_goal: float | None = None
    limit_is: str = ""
    repetitions: int | None = None  # where they are fewer than the table's

    HEAD: ClassVar[str] = (
        "| task | ours s | peer | peer s | ours/peer | goal | | CPU s/CPU s | limit s | ours/limit | goal | | n |\n"
        + "|---" * 13
        + "|"
    )

    def text(self, repetitions: int) -> str:
        """The row as Markdown; `repetitions` are the table's."""
        ours, theirs = self.ours["seconds"], self.theirs["seconds"]
        ratio = ours / theirs
        cells = [self.task, f"{ours:.3g}", self.peer, f"{theirs:.3g}", f"{ratio:.3g}", f"≤ {self.goal:g}"]
        cells.append("reached" if ratio <= self.goal else "missed")
        used = [side.get("cpu", 0.0) for side in (self.ours, self.theirs)]
        cells.append(f"{used[0]:.3g}/{used[1]:.3g} = {used[0] / used[1]:.3g}" if all(used) else "")
        if self.limit is None:
            cells += ["", "", "", ""]
        else:
            against = ours / self.limit
            cells += [f"{self.limit:.3g} ({self.limit_is})", f"{against:.2f}"]
            if self.limit_goal is None:
                cells += ["", ""]
            else:
                cells += [f"≤ {self.limit_goal:g}", "reached" if against <= self.limit_goal else "missed"]
        return f"| {' | '.join([*cells, str(self.repetitions or repetitions)])} |"


def in_turn(
    ours: Callable[[], dict[str, float]], theirs: Callable[[], dict[str, Any]], repetitions: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Medians of ours and theirs, one after the other, so that both meet the same machine."""
    pairs = [(ours(), theirs()) for _ in range(repetitions)]
    medians = [{key: statistics.median(one[side][key] for one in pairs) for key in pairs[0][side]} for side in (0, 1)]
    return medians[0], medians[1]
