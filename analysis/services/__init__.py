"""Reports are built here, and their files given away."""

from analysis.services.building import build_report
from analysis.services.giving import Given, give_file, ready_file

__all__ = ["Given", "build_report", "give_file", "ready_file"]
