"""Statistical procedures: the docstrings of `inference`, which Sphinx reads."""

from __future__ import annotations

import inference
from reference.python import documented


def entries() -> str:
    """Every module with its public functions and results."""
    return documented(inference)
