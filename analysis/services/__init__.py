"""Build reports, and offer their files as downloads."""

from analysis.services.packages import Download, download
from analysis.services.report_builder import build_report

__all__ = ["Download", "build_report", "download"]
