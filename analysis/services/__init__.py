"""Reports are built here."""

from analysis.services.building import build_report

__all__ = ["build_report"]
