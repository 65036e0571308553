"""Sample reports: reports of simulated participants that anyone may read without an account."""

from __future__ import annotations

from django.db.models import BooleanField, QuerySet, Value

from analysis.models import Report
from studies.enums import Mode


def sample_reports() -> QuerySet[Report]:
    """Return the sample reports, newest first, as the public reads them; none is of participants, or of
    a project's data."""
    samples = Report.objects.filter(
        is_sample=True, mode=Mode.SIMULATED, run__project=None, run__version__dataset__project=None
    )
    samples = samples.annotate(is_public=Value(True, output_field=BooleanField()))
    return samples.select_related("study", "run", "bayesian").order_by("-created_at", "-pk")
