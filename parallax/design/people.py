"""The frame of participant pages, their buttons, consent and ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.safestring import mark_safe

from parallax.design.components import Section, State
from parallax.design.items import HERE
from studies.instrument import flow
from studies.participation.selectors.pages import progress_at

BOXES = (
    {"key": "adult", "text": "I am at least 18 years old."},
    {"key": "voluntary", "text": "I take part voluntarily and can stop at any time without giving a reason."},
    {"key": "data", "text": "I agree that my answers are stored without my name and analysed for research."},
)
FRAME: Mapping[str, Any] = {
    "study": {"public_title": "Recommendations for films"},
    "progress": progress_at(flow.RATE, has_after=True),
    "languages": [
        {"code": "en", "name": "English", "url": HERE, "is_current": True},
        {"code": "it", "name": "Italiano", "url": HERE, "is_current": False},
    ],
    "participant": {"mode": "preview", "code": "K7F3-9XQ2"},
    "withdraw_url": HERE,
    "contact": mark_safe('<p><a href="#specimen">study@example.org</a></p>'),
}


def sections() -> tuple[Section, ...]:
    """Buttons, consent, messages, completion and hand-back."""
    ends = (
        _end("code of a panel", {"way_out": {"code": "C1A2B3D4", "panel": "Prolific"}, "exit_url": HERE}),
        _end("code alone", {"way_out": {"code": "C1A2B3D4", "panel": "the panel"}}),
        _end("link alone", {"way_out": {}, "exit_url": HERE}),
    )
    return (
        Section("buttons", "Buttons and problems", (State("", "design/participant_buttons.html"),)),
        Section(
            "consent",
            "Consent",
            (
                _consent("first shown", ticked=()),
                _consent("two boxes missing", ticked=("adult",), unticked=BOXES[1:]),
                _consent("disabled while previewing a task", ticked=(), is_looking=True),
            ),
        ),
        Section("saved", "Saved", (State("", "participant/parts/saved.html", {"has_saved": True}),)),
        Section("exits", "Completion", ends),
        Section("returning", "Hand-back", (State("", "participant/parts/hand_back.html", {"hand_back_url": HERE}),)),
    )


def _consent(label: str, **fields: Any) -> State:
    prefix = label.partition(" ")[0]
    boxes = tuple({**box, "key": f"{prefix}-{box['key']}"} for box in BOXES)
    missing = tuple(box for box, old in zip(boxes, BOXES, strict=True) if old in fields.get("unticked", ()))
    ticked = tuple(f"{prefix}-{key}" for key in fields["ticked"])
    error = "Please tick every box to take part."
    context = {**fields, "boxes": boxes, "unticked": missing, "ticked": ticked, "error": error}
    return State(label, "participant/parts/consent_boxes.html", context)


def _end(label: str, context: Mapping[str, Any]) -> State:
    return State(label, "participant/parts/way_out.html", context)
