"""Build reports, and offer their files as downloads."""

from analysis.services.downloads import Download, download, download_if_ready
from analysis.services.report_builder import build_report

__all__ = ["Download", "build_report", "download", "download_if_ready"]
