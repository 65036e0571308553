"""What Django needs to know of this app."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.apps import AppConfig

from jobs.kinds import Kind, register


class AnalysisConfig(AppConfig):
    """The analysis app."""

    name = "analysis"

    def ready(self) -> None:
        """Listen for erasures, so that no report outlives the answers of a person in it."""
        register(
            Kind(
                "report",
                "Report",
                work="analysis.services.requests.build_requested",
                address="analysis.api.result_address",
            ),
            Kind(
                "package",
                "Study package",
                work="analysis.services.packages.store_files",
                kept_days=7,
                keeps_file="analysis.services.packages.may_be_downloaded",
                address="analysis.api.result_address",
            ),
            Kind(
                "bayesian",
                "Bayesian analysis",
                work="analysis.services.bayesian_jobs.compute_requested",
                is_long=True,
                after="analysis.services.bayesian_jobs.draw_again",
                address="analysis.api.result_address",
            ),
        )
        erased = import_module("studies.participation.services.withdrawal").answers_erased
        erased.connect(_erase_scores, dispatch_uid="analysis.erase_scores")


def _erase_scores(**facts: Any) -> None:
    """Import what erases only then: it brings in every report's computation."""
    import_module("analysis.services.erasure").erase_scores(**facts)
