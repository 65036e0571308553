"""Erase single participants' scores from reports when their answers are erased; the reports remain."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from analysis.models import Report
from core.transitions import record
from studies.models import Participant, Study
from studies.monitoring.selectors.exclusions import REASON_ERASED

POINTS = "points"  # the scores of single participants, by condition


def erase_scores(*, study: Study, participants: Sequence[Participant], reasons: Sequence[str], **_more: Any) -> None:
    """Erase individual scores, and the words of exclusions, from every report that may hold one of the participants.

    Reports store scores by value and not by person, so all scores of a report are erased. Means and tests stay as they
    were reported, with the number, the hashes and the provenance of the report; its drawings are drawn again.
    """
    numbers = []
    for mode in sorted({participant.mode for participant in participants}):
        completed = [row.completed_at for row in participants if row.mode == mode and row.completed_at is not None]
        if not completed:
            continue
        reports = Report.objects.select_for_update(of=("self",)).filter(
            study=study, mode=mode, created_at__gt=min(completed)
        )
        for report in reports.order_by("number"):
            erased = _without_people(report.results, frozenset(reasons))
            if erased == report.results:
                continue
            report.results = erased
            report.save(update_fields=["results", "updated_at"])
            report.drawings.all().delete()
            numbers.append(report.number)
    if numbers:
        listed = ", ".join(map(str, numbers))
        which = f"report {listed}" if len(numbers) == 1 else f"reports {listed}"
        record(study, reason=f"Individual scores in {which} were erased with participants' answers.", reports=numbers)


def _without_people(results: Any, reasons: Collection[str]) -> Any:
    """The same results without individual scores and without these words."""
    if isinstance(results, dict):
        return {
            key: {} if key == POINTS and isinstance(value, dict) else _without_people(value, reasons)
            for key, value in results.items()
        }
    if isinstance(results, list):
        return [_without_people(value, reasons) for value in results]
    return REASON_ERASED if isinstance(results, str) and results in reasons else results
