"""Separates wording, which may be corrected while a study runs, from everything that changes what answers mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.instrument.questionnaires.schema import BLOCKS

WORDING = frozenset(
    {"text", "wordings", "help", "unit", "ends", "label", "name"}
)  # by language, or by branch and language
COUNTED = frozenset({"labels"})  # one text per scale point: only their number matters
PRESENT = frozenset({"other"})  # adds an answer option if present


def _bare(node: Any) -> Any:
    """Return part of a questionnaire without its wording."""
    if isinstance(node, Mapping):
        bare: dict[str, Any] = {}
        for name, value in node.items():
            if name in WORDING:
                continue
            if name in COUNTED:
                bare[name] = sorted({len(points) for points in value.values()})
            elif name in PRESENT:
                bare[name] = bool(value)
            else:
                bare[name] = _bare(value)
        return bare
    return [_bare(part) for part in node] if isinstance(node, list | tuple) else node


def reworded(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the keys of the questions and scales whose wording differs.

    Between the two `other_than_wording` finds no difference. In questionnaire order; empty if the wording is identical.
    """
    return [
        str(old["key"])
        for part in (*BLOCKS, "scales")
        for old, new in zip(before.get(part, ()), after.get(part, ()), strict=True)
        if old != new
    ]


def other_than_wording(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Describe the differences between two questionnaires other than wording.

    One sentence per question, scale or setting; empty if answers to both mean the same. Both questionnaires are valid.
    """
    differences = []
    for part in (*BLOCKS, "scales"):
        was = {str(entry["key"]): entry for entry in before.get(part, ())}
        now = {str(entry["key"]): entry for entry in after.get(part, ())}
        what = "The scale" if part == "scales" else "The question"
        differences += [f"{what} {key!r} is gone." for key in was if key not in now]
        differences += [f"{what} {key!r} is new." for key in now if key not in was]
        shared = [key for key in was if key in now]
        if shared != [key for key in now if key in was]:
            differences.append(f"The order in the block {part!r} is another.")
        for key in shared:
            old, new = _bare(was[key]), _bare(now[key])
            names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
            if names:
                differences.append(f"{what} {key!r} differs in {', '.join(names)}.")
    rest = sorted({*before, *after} - {*BLOCKS, "scales"})
    differences += [f"The setting {name!r} differs." for name in rest if before.get(name) != after.get(name)]
    return differences
