"""Splits of a matrix of ratings."""

from __future__ import annotations

from typing import Any

from evaluation.splitting.holdout import share_of_all
from evaluation.splitting.partition import Split
from evaluation.splitting.rows import RatingRows


def probe(user_items: Any, *, share: float, seed: int) -> Split:
    return share_of_all(RatingRows.of(user_items), share=share, seed=seed, purpose="probe").split(user_items)
