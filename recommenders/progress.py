"""Progress of a fit: reported by the algorithm to a callback, which can also stop the fit.

It calls ``progress(share, what)``: `share` is the part of the work done so far, from 0 to 1 and never less than before;
`what` says in words what comes next. It is called often (up to thousands of times a second) and should return at once.
Whatever it raises ends the fit there and reaches the caller of the fit; that is how a fit is cancelled. It must not
change anything the fit works on: numbers do not depend on who listens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

Progress = Callable[[float, str], None]


def no_progress(share: float, what: str, /) -> None:
    """Take no note."""


def within(progress: Progress, first: float, last: float) -> Progress:
    """The progress of a piece of work that takes the whole from `first` to `last`. Both are in [0, 1].

    Examples
    --------
    >>> half = within(lambda share, what: print(f"{share:.2f} {what}"), 0.5, 1.0)
    >>> half(0.5, "Epoch 3 of 4")
    0.75 Epoch 3 of 4
    """

    def report(share: float, what: str, /) -> None:
        progress(first + (last - first) * min(max(share, 0.0), 1.0), what)

    return report


def blocks(costs: ArrayLike, limit: float) -> Iterator[tuple[int, int, float]]:
    """Cut consecutive rows into blocks that cost at most `limit` each, or hold a single row. Yields the first row, the
    row after the last, and the share of all costs that lies before the block.

    `costs`: float array, shape (n_rows,); what each row costs, >= 0, in any unit. `limit`: in the same unit, > 0.

    Examples
    --------
    >>> list(blocks([2, 2, 5, 1], limit=4))
    [(0, 2, 0.0), (2, 3, 0.4), (3, 4, 0.9)]
    """
    ends = np.cumsum(np.asarray(costs, dtype=np.float64))
    start = 0
    while start < ends.size:
        done = float(ends[start - 1]) if start else 0.0
        stop = max(start + 1, int(np.searchsorted(ends, done + limit, side="right")))
        yield start, stop, done / float(ends[-1]) if ends[-1] else start / ends.size
        start = stop
