"""One plausible drawing of every chart, with the paper's seven algorithms."""

from __future__ import annotations

from collections.abc import Callable

from charting.marks import (
    Counts,
    bars,
    box_plot,
    curves,
    hasse,
    histogram,
    long_tail,
    progress,
    scatter,
    slope,
)
from charting.theme import Spec

NAMES = ("TopPop", "CorNgr", "NNCosNgr", "AsySVD", "PureSVD50", "PureSVD300", "LSA")
