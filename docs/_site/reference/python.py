"""Python API: the docstrings of the algorithms' and the metrics' modules, which Sphinx reads."""

from __future__ import annotations

import recommenders
from evaluation import metrics
from recommenders import testing
from reference.statistics import documented, modules_of


def entries() -> str:
    """Every module with its public functions and classes."""
    return documented([*modules_of(recommenders), testing.__name__, *modules_of(metrics)])
