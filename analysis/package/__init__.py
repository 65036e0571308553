"""Everything that a report offers: its files, and the study package with all of them, the data and scripts."""

from __future__ import annotations

from analysis.package.archive import Progress, silent
from analysis.package.listing import PACKAGE, Offer, file_of, files_of, offers_of, write_report

__all__ = ["PACKAGE", "Offer", "Progress", "file_of", "files_of", "offers_of", "silent", "write_report"]
