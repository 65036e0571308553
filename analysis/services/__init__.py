"""Build reports, and offer their files as downloads."""

from analysis.services.downloads import Download, download
from analysis.services.report_builder import build_report

__all__ = ["Download", "build_report", "download"]
