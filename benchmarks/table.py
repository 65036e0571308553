"""Rows of the tables: ours, the peer's, the machine's limit, and whether the goals are reached."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar


@dataclass(frozen=True)
class Row:
    task: str
    ours: dict[str, float]  # seconds, and "cpu" seconds of all threads where they mean something
    peer: str = ""  # some tasks have none, or none that does the same
    theirs: dict[str, float] | None = None
    goal: float | None = None
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
        ours = self.ours["seconds"]
        cells = [self.task, f"{ours:.3g}", self.peer]
        if self.theirs is None:
            cells += ["", ""]
        else:
            cells += [f"{self.theirs['seconds']:.3g}", f"{ours / self.theirs['seconds']:.3g}"]
        cells += self._judged(ours, self.theirs and self.theirs["seconds"], self.goal)
        used = [side.get("cpu", 0.0) for side in (self.ours, self.theirs or {})]
        if all(used):
            cells.append(f"{used[0]:.3g}/{used[1]:.3g} = {used[0] / used[1]:.3g}")
        else:
            cells.append(f"{used[0]:.3g}" if used[0] else "")
        if self.limit is None:
            cells += ["", ""]
        else:
            cells += [f"{self.limit:.3g} ({self.limit_is})", f"{ours / self.limit:.2f}"]
        cells += self._judged(ours, self.limit, self.limit_goal)
        return f"| {' | '.join([*cells, str(self.repetitions or repetitions)])} |"

    @staticmethod
    def _judged(ours: float, reference: float | None, goal: float | None) -> list[str]:
        if reference is None or goal is None:
            return ["", ""]
        return [f"≤ {goal:g}", "reached" if ours / reference <= goal else "missed"]


def write_rows(file: Path | None, description: str, rows: Sequence[Row], repetitions: int) -> None:
    """Store rows for the table of all benchmarks (`benchmarks/bench.py`), if a file is given."""
    if file is not None:
        records = [{**asdict(row), "repetitions": row.repetitions or repetitions} for row in rows]
        file.write_text(json.dumps({"description": description, "rows": records}))


def read_rows(file: Path) -> tuple[str, list[Row]]:
    """Read the description and rows of a file."""
    stored = json.loads(file.read_text())
    return str(stored["description"]), [Row(**row) for row in stored["rows"]]


def in_turn(
    ours: Callable[[], dict[str, float]], theirs: Callable[[], dict[str, Any]], repetitions: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Medians of ours and theirs, one after the other, so that both meet the same machine."""
    pairs = [(ours(), theirs()) for _ in range(repetitions)]
    medians = [{key: statistics.median(pair[side][key] for pair in pairs) for key in pairs[0][side]} for side in (0, 1)]
    return medians[0], medians[1]
