"""What of a questionnaire is wording, which may be mended while a study runs, and what decides what answers mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.questionnaires.schema import BLOCKS

SAID = frozenset(
    {"text", "wordings", "help", "unit", "ends", "label", "name"}
)  # by language, or by branch and language
COUNTED = frozenset({"labels"})  # one wording a point: how many there are counts
PRESENT = frozenset({"other"})  # its being there opens an answer


def _bare(node: Any) -> Any:
    """A part of a questionnaire without what is said in it."""
    if isinstance(node, Mapping):
        kept: dict[str, Any] = {}
        for name, value in node.items():
            if name in SAID:
                continue
            if name in COUNTED:
                kept[name] = sorted({len(points) for points in value.values()})
            elif name in PRESENT:
                kept[name] = bool(value)
            else:
                kept[name] = _bare(value)
        return kept
    return [_bare(part) for part in node] if isinstance(node, list | tuple) else node


def reworded(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Keys of the questions and scales whose wording differs.

    Parameters
    ----------
    before, after : mapping
        Two questionnaires that `other_than_wording` finds nothing between.

    Returns
    -------
    list of str
        In the order asked; empty where they say the same.
    """
    return [
        str(one["key"])
        for part in (*BLOCKS, "scales")
        for one, other in zip(before.get(part, ()), after.get(part, ()), strict=True)
        if one != other
    ]


def other_than_wording(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two questionnaires beside their wording, in sentences.

    Parameters
    ----------
    before, after : mapping
        Questionnaires as a study keeps them, both checked.

    Returns
    -------
    list of str
        One sentence a question, scale or setting; empty where answers to both mean the same.
    """
    found = []
    for part in (*BLOCKS, "scales"):
        was = {str(one["key"]): one for one in before.get(part, ())}
        now = {str(one["key"]): one for one in after.get(part, ())}
        what = "The scale" if part == "scales" else "The question"
        found += [f"{what} {key!r} is gone." for key in was if key not in now]
        found += [f"{what} {key!r} is new." for key in now if key not in was]
        shared = [key for key in was if key in now]
        if shared != [key for key in now if key in was]:
            found.append(f"The order in the block {part!r} is another.")
        for key in shared:
            bare, other = _bare(was[key]), _bare(now[key])
            names = sorted(name for name in {*bare, *other} if bare.get(name) != other.get(name))
            if names:
                found.append(f"{what} {key!r} differs in {', '.join(names)}.")
    rest = sorted({*before, *after} - {*BLOCKS, "scales"})
    found += [f"The setting {name!r} differs." for name in rest if before.get(name) != after.get(name)]
    return found
