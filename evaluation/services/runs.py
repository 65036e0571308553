"""The life of a run: made, started, cancelled, failed."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from catalog.models import DatasetVersion
from core.errors import NotAllowedInState, ParallaxError, ParameterError
from core.provenance import digest_of
from core.transitions import move
from evaluation.enums import RUN_MOVES, PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunAlgorithm, RunPart
from evaluation.protocols.one_plus_random import SCORING_VERSION
from evaluation.services.hints import hint
from recommenders import registry

logger = logging.getLogger(__name__)

BLOCK_USERS = 256  # users scored at once, counted from the first test user: never a matter of how a run is cut
PART_USERS = 16 * BLOCK_USERS
SPLIT_DEFAULTS: dict[str, dict[str, Any]] = {"probe": {"share": 0.1}}
PROTOCOL_DEFAULTS: dict[str, dict[str, Any]] = {
    "one-plus-random": {"negatives": 1000, "relevant": 5.0, "irrelevant": 1.0, "mode": "sampled", "ties": "expected", "g": None}
}
MAX_N = 100
