"""Every metric's definition by its key, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evaluation.metrics.curve_definitions import BEYOND_ACCURACY, CURVES
from evaluation.metrics.definition import Definition
from evaluation.metrics.list_definitions import HITS, LISTS
from evaluation.metrics.rating_definitions import RATINGS, WHOLE_LISTS

METRICS: Mapping[str, Definition] = MappingProxyType(
    {definition.key: definition for definition in (*HITS, *LISTS, *RATINGS, *WHOLE_LISTS, *CURVES, *BEYOND_ACCURACY)}
)
