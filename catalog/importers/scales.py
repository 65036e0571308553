"""Detects the scale of ratings when none is declared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import RatingScale
from catalog.importers.sources import refuse
from core.errors import ParameterError

_MOST_DETECTED_STEPS = 200
_VALUES_AT_A_TIME = 1 << 16  # what a cache holds


def detected_scale(file: str, values: NDArray[np.floating[Any]]) -> RatingScale:
    """The scale that the ratings seem to be on: their lowest, their highest, and their smallest gap. Raises
    ImportRefused: one value only, or more than a scale has.
    """
    parts = [np.unique(values[start : start + _VALUES_AT_A_TIME]) for start in range(0, len(values), _VALUES_AT_A_TIME)]
    distinct = np.unique(np.concatenate(parts).astype(np.float64))
    advice = "Say which scale they are on (lowest, highest and step)."
    if len(distinct) < 2:
        raise refuse(
            file, f"all ratings are {distinct[0]:g}, so no scale can be seen", advice=advice, options=("scale",)
        )
    if len(distinct) <= _MOST_DETECTED_STEPS + 1:
        low, high, step = float(distinct[0]), float(distinct[-1]), float(np.diff(distinct).min())
        steps = round((high - low) / step)
        # The gap as the whole range divides it: .1 and not .09999999999999964.
        scale_step = (high - low) / steps
        if steps <= _MOST_DETECTED_STEPS and abs(scale_step - step) <= 1e-4 * step:
            scale = RatingScale(low, high, float(f"{scale_step:.12g}"), is_declared=False)
            if scale.is_on(distinct).all():
                return scale
    raise refuse(
        file, f"the {len(distinct)} different ratings are on no evident scale", advice=advice, options=("scale",)
    )


def scale_of_text(text: str) -> RatingScale:
    """The scale that a text such as ``1:10:1`` declares. Raises ParameterError.

    Examples
    --------
    >>> scale_of_text("0.5:5:0.5").values()[:3]
    (0.5, 1.0, 1.5)
    """
    try:
        low, high, step = (float(number) for number in text.split(":"))
    except ValueError:
        raise ParameterError(f"A scale is LOWEST:HIGHEST:STEP, as in 1:10:1; {text!r} is not.") from None
    return RatingScale(low, high, step)
