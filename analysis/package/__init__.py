"""Everything a report gives away: its files, and all of them with the data and scripts as the study package."""

from __future__ import annotations

from analysis.package.archive import Progress, silent
from analysis.package.offered import PACKAGE, Offer, file_of, files_of, offers_of, write_report

__all__ = ["PACKAGE", "Offer", "Progress", "file_of", "files_of", "offers_of", "silent", "write_report"]
