"""What a check finds, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RESTORE = "Compare with a backup, and restore what is missing; exclude the participant from analyses until then."
AGAIN = "Start the run again with the same settings: it gives the same numbers, and reuses its models."
SET_RIGHT = "Pause the study, compare the log with the participants' rows, and set the row right that differs."
# What to do, by code; advice that depends on the fault is given where it is found.
ADVICE = {
    "answer.doubled": "Keep the newest row and delete the others; then find out which constraint the database lacks.",
    "answer.stray": "Compare the frozen questionnaire with the study's own; the answer is in no export.",
    "participant.incomplete": RESTORE,
    "participant.unlogged": "A status was written past the log: find the cause, and restore it.",
    "list.wrong": "A list is stored once and never changed: restore it from a backup, or exclude the participant.",
    "list.lost": RESTORE,
    "erasure.unfinished": "Erase them now: the participant was promised it.",
    "export.differs": "Use no export of this study until the cause is found.",
    "artefact": "Restore the folder from a backup; studies that pin it stay paused until then.",
    "model.other_base": "Train the model again, and choose it anew in studies that are drafts; pause the others.",
    "pin.differs": "Pause the study: participants would meet a model that the design does not name.",
    "design.differs": "A frozen design changes by a new version alone: find out who wrote past it.",
    "design.bad_setting": "Save the design of a draft again, which stores every setting anew. Of a study that was "
    "launched, restore the settings from a backup or from its frozen version.",
    "run.parts_undone": AGAIN,
    "run.no_model": AGAIN,
    "run.no_results": AGAIN,
    "run.no_parts": "Cancel it and start it again.",
    "run.part_failed": "Cancel it; the parts say why they failed.",
    "run.parts_differ": "Start the run again: its numbers cannot be relied on.",
    "allocation.not_replayed": SET_RIGHT,
    "allocation.wrong": SET_RIGHT,
    "slot.differs": SET_RIGHT,
    "slot.missing": SET_RIGHT,
    "slot.kept": SET_RIGHT,
    "target.overrun": "Turn no participant away for it; report the number, and find out how the slot was assigned.",
}


@dataclass(frozen=True)
class Finding:
    """Something that is wrong: a stable code, where it is, what it is, and what to do.

    `ids` are the keys of the rows concerned, by their model.
    """

    code: str
    where: str
    what: str
    advice: str
    ids: dict[str, list[Any]]


def finding(code: str, where: str, what: str, *, advice: str = "", **ids: list[Any]) -> Finding:
    """A finding, with the advice of its code unless another is given."""
    return Finding(code, where, what, advice or ADVICE[code], ids)
