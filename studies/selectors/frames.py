"""Answers as frames of pandas, for whoever works with them further; no page needs them, and pandas is large."""

from __future__ import annotations

from typing import Any

import pandas as pd

from studies.enums import Mode
from studies.models import Study
from studies.selectors.responses import Recommended, Record, records

PARTICIPANT_COLUMNS = (
    "code", "public_id", "mode", "status", "condition", "stratum", "n_items", "accuracy_sum", "fon_sum",
    "son_sum", "satisfaction", "accuracy", "fon", "son", "n_liking", "liking_sum", "n_interest", "interest_sum",
    "n_answers", "n_modelled", "share_modelled", "source_user", "language", "consented_at", "completed_at",
)  # fmt: skip
ITEM_COLUMNS = (
    "code", "public_id", "mode", "status", "condition", "rank", "item", "title", "watched", "heard",
    "trailer_seen", "rating", "fon", "son", "branch", "score", "is_filled", "rating_provenance",
)  # fmt: skip


def _label(record: Record) -> str | None:
    return record.participant.condition.label if record.participant.condition else None


def _of_participant(record: Record) -> dict[str, Any]:
    participant, found = record.participant, record.measures
    return {
        "code": participant.code,
        "public_id": record.public_id,
        "mode": participant.mode,
        "status": participant.status,
        "condition": _label(record),
        "stratum": participant.stratum,
        "n_items": found.n_items if found else None,
        "accuracy_sum": found.accuracy_sum if found else None,
        "fon_sum": found.fon_sum if found else None,
        "son_sum": found.son_sum if found else None,
        "satisfaction": found.satisfaction if found else None,
        "accuracy": found.accuracy if found else None,
        "fon": found.fon if found else None,
        "son": found.son if found else None,
        "n_liking": found.n_liking if found else None,
        "liking_sum": found.liking_sum if found else None,
        "n_interest": found.n_interest if found else None,
        "interest_sum": found.interest_sum if found else None,
        "n_answers": record.n_answers,
        "n_modelled": record.n_modelled,
        "share_modelled": record.n_modelled / record.n_answers if record.n_answers else None,
        "source_user": participant.source_user,
        "language": participant.language,
        "consented_at": participant.consented_at,
        "completed_at": participant.completed_at,
    }


def _of_item(record: Record, item: Recommended) -> dict[str, Any]:
    found = item.measures
    return {
        "code": record.participant.code,
        "public_id": record.public_id,
        "mode": record.participant.mode,
        "status": record.participant.status,
        "condition": _label(record),
        "rank": item.slot.rank,
        "item": item.slot.item.external_id,
        "title": str(item.slot.item),
        "watched": item.answers.get("watched"),
        "heard": item.answers.get("heard"),
        "trailer_seen": item.answers.get("trailer_seen"),
        "rating": item.answers.get("rating"),
        "fon": found.fon if found else None,
        "son": found.son if found else None,
        "branch": found.branch if found else None,
        "score": item.slot.score,
        "is_filled": item.slot.is_filled,
        "rating_provenance": item.provenance.get("rating"),
    }


def participants_frame(study: Study, mode: str = Mode.LIVE, *, completed_only: bool = True) -> pd.DataFrame:
    """One row a participant of that mode, in order of entry, with the sums of whole numbers behind each mean."""
    rows = [_of_participant(record) for record in records(study, [mode], completed_only=completed_only)]
    return pd.DataFrame(rows, columns=list(PARTICIPANT_COLUMNS))


def items_frame(study: Study, mode: str = Mode.LIVE, *, completed_only: bool = True) -> pd.DataFrame:
    """One row a participant and recommended item, in order of entry and rank."""
    rows = [
        _of_item(record, item)
        for record in records(study, [mode], completed_only=completed_only)
        for item in record.items
    ]
    return pd.DataFrame(rows, columns=list(ITEM_COLUMNS))
