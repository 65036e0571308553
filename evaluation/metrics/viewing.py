"""Known probabilities that each rank is viewed, as the name of a metric writes them."""

from __future__ import annotations

import re
from itertools import groupby

import numpy as np

from core.errors import ParameterError
from evaluation.metrics.ranks import Floats

MOST_RANKS = 1000
_STEP = re.compile(r"(?P<probability>[0-9]*\.?[0-9]+)(?:x(?P<ranks>[0-9]{1,4}))?")


def probabilities(text: str) -> Floats:
    """Parse probabilities by rank, separated by colons; ``x`` and a number repeat one.

    Raises ParameterError for another spelling, a probability outside (0, 1] or above the one before it, or more than
    `MOST_RANKS` ranks. Returns a float array, shape (n_ranks,).

    Examples
    --------
    >>> probabilities("1x3:.5").tolist()
    [1.0, 1.0, 1.0, 0.5]
    """
    values: list[float] = []
    for piece in text.split(":"):
        step = _STEP.fullmatch(piece.strip())
        if step is None:
            raise ParameterError(
                f"{piece!r} is no probability by rank; write 1x3:.5 for 1 at ranks 1 to 3, .5 at rank 4."
            )
        probability, ranks = float(step["probability"]), int(step["ranks"] or 1)
        if not 0 < probability <= 1 or ranks < 1:
            raise ParameterError(f"{piece!r}: probabilities must be above 0 and at most 1, for at least one rank each.")
        if values and probability > values[-1]:
            raise ParameterError(f"{piece!r}: no rank can be viewed more often than the rank above it.")
        values += [probability] * ranks
        if len(values) > MOST_RANKS:
            raise ParameterError(f"{text!r} has more than {MOST_RANKS:,} ranks.")
    return np.array(values)


def canonical(text: str) -> str:
    """Return the shortest spelling of probabilities by rank. Raises ParameterError as `probabilities` does.

    Examples
    --------
    >>> canonical("1.0:1:0.50")
    '1x2:.5'
    """
    runs = [(value, len(list(ranks))) for value, ranks in groupby(probabilities(text).tolist())]
    return ":".join(f"{_written(value)}x{n}" if n > 1 else _written(value) for value, n in runs)


def _written(probability: float) -> str:
    return "1" if probability == 1 else np.format_float_positional(probability).removeprefix("0")
