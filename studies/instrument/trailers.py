"""Questionnaires for items without trailers."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from studies.instrument.flow import TRAILER_SEEN


def without_trailers(questionnaire: Mapping[str, Any]) -> dict[str, Any]:
    """Return a questionnaire, as plain data, without the question about trailers and the wordings that follow it.

    Examples
    --------
    >>> asked = {"items": [{"key": "trailer_seen"}, {"key": "rating", "wordings": {"trailer_seen": {}, "neither": {}}}]}
    >>> without_trailers(asked)
    {'items': [{'key': 'rating', 'wordings': {'neither': {}}}]}
    """
    shorter: dict[str, Any] = copy.deepcopy(dict(questionnaire))
    shorter["items"] = [question for question in shorter.get("items", ()) if question.get("key") != TRAILER_SEEN]
    for question in shorter["items"]:
        question.get("wordings", {}).pop(TRAILER_SEEN, None)
    return shorter
