"""The leases of a run's parts: leased, renewed and finished only while the run is open."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from evaluation.enums import PART_MOVES, RUN_OPEN, PartStatus
from evaluation.models import EvaluationRun, RunPart
from jobs.leases import Leases

# A subquery, not a join: when a row changed meanwhile, PostgreSQL checks the row's own columns again, but not those of
# a joined copy, so that with a join two workers could both lease one part.
RUN_IS_OPEN = Q(Exists(EvaluationRun.objects.filter(pk=OuterRef("run_id"), status__in=RUN_OPEN)))

PARTS = Leases(RunPart, PART_MOVES, leased=PartStatus.LEASED, condition=RUN_IS_OPEN, is_logged=False)
