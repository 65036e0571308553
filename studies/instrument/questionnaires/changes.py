"""What differs between two questionnaires, question by question and scale by scale.

The questionnaires are plain data: a preset's YAML or a study's JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studies.instrument.questionnaires.schema import blocks_in

ADDED, REMOVED, CHANGED, MOVED = "added", "removed", "changed", "moved"
SCALES = "scales"


@dataclass(frozen=True)
class Change:
    """One difference."""

    kind: str  # `ADDED`, `REMOVED`, `CHANGED` or `MOVED`
    block: str  # name of the block, "scales" or "attention"; of an added or moved question the new one
    key: str  # key of the question or scale; empty for the settings of attention checks
    text: str  # its first wording; empty for the settings of attention checks
    fields: tuple[str, ...] = ()  # names of the fields that differ, for `CHANGED`


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return the differences, in the order of the questionnaire `after`; what it no longer has comes last.

    A question is moved if it is in another block, or if its order among the questions that both have differs.

    Examples
    --------
    >>> why = {"key": "why", "kind": "text", "text": {"en": "Why?"}}
    >>> changes_between({"after": [why]}, {"after": [{**why, "required": False}]})
    [Change(kind='changed', block='after', key='why', text='Why?', fields=('required',))]
    """
    old, new = _entries(before), _entries(after)
    moved = _moved(before, after)
    changes = []
    for key, (block, entry) in new.items():
        if key not in old:
            changes.append(Change(ADDED, block, key[1], _words(entry)))
            continue
        former_block, former = old[key]
        if fields := tuple(name for name in {**entry, **former} if former.get(name) != entry.get(name)):
            changes.append(Change(CHANGED, block, key[1], _words(entry), fields))
        if block != former_block or key[1] in moved.get(block, ()):
            changes.append(Change(MOVED, block, key[1], _words(entry)))
    if before.get("attention") != after.get("attention"):
        changes.append(Change(CHANGED, "attention", "", "", ("attention",)))
    changes += [Change(REMOVED, block, key[1], _words(entry)) for key, (block, entry) in old.items() if key not in new]
    return changes


def _entries(data: Mapping[str, Any]) -> dict[tuple[bool, str], tuple[str, Mapping[str, Any]]]:
    """Questions and scales, which have keys of their own, with their block."""
    return {
        (block == SCALES, entry["key"]): (block, entry)
        for block in (*blocks_in(data), SCALES)
        for entry in data.get(block) or ()
    }


def _words(entry: Mapping[str, Any]) -> str:
    return str(next(iter((entry.get("text") or entry["name"]).values()), ""))


def _moved(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, set[str]]:
    """Keys, by block, whose order among the questions of both differs."""
    moved = {}
    for block in blocks_in(before, after):
        old = [entry["key"] for entry in before.get(block) or ()]
        new = [entry["key"] for entry in after.get(block) or ()]
        both = set(old) & set(new)
        pairs = zip((key for key in old if key in both), (key for key in new if key in both), strict=True)
        moved[block] = {now for was, now in pairs if was != now}
    return moved
