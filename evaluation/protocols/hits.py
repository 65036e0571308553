"""The metrics of "one plus random": in both modes, and as lists are served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.ranking import RankingResult, measure_ranking
from evaluation.protocols.cases import Cases
from evaluation.protocols.exact import (
    Pooled,
    exact_hit_probability,
    filled_share,
    measure_probabilities,
    pooled,
)

Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Hits:
    """The metrics of "one plus random" of one model.

    Parameters
    ----------
    main : RankingResult
        In the mode asked for, with values by user.
    beside : mapping of str to tuple
        By name, at every list length: the same in the other mode, named ``recall(mode=exact)``; with ties
        and empty slots as people meet them, ``recall(ties=served)``; and ``filled-slots``, the share of
        slots filled by popularity in a list of all unrated items.
    """

    main: RankingResult
    beside: Mapping[str, Values]


def one_plus_random(
    cases: Cases, arrays: Mapping[str, NDArray[Any]], protocol: Mapping[str, Any], ns: Sequence[int]
) -> Hits:
    """Compute the metrics of "one plus random" from the counts of all cases.

    Parameters
    ----------
    cases : Cases
    arrays : mapping
        As `evaluation.protocols.blocks.joined` gives them.
    protocol : mapping
        Its settings, complete.
    ns : sequence of int
        List lengths.

    Returns
    -------
    Hits
        Where candidates were given, only what was sampled: the file says nothing of other unrated items.

    Raises
    ------
    ParameterError, DataError
        Settings or arrays that cannot be.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.blocks import measure_block
    >>> from evaluation.protocols.cases import make_cases
    >>> from evaluation.protocols.registry import protocol
    >>> settings = protocol("one-plus-random").completed({"negatives": 2})
    >>> train = csr_array(np.array([[4.0, 0, 0, 0, 0]]))
    >>> cases = make_cases(train, np.array([0]), np.array([1]), np.array([5.0]),
    ...                    relevant=5, irrelevant=1, seed=1, negatives=2)
    >>> counts = measure_block(settings, cases, slice(None), np.zeros((1, 5)), np.array([0]), np.zeros(5), longest=5)
    >>> found = one_plus_random(cases, counts, settings, [1, 3])
    >>> found.main.recall, found.beside["recall(mode=exact)"], found.beside["filled-slots"]
    ((0.3333333333333333, 1.0), (0.3333333333333333, 1.0), (0.0, 0.0))
    """
    ties, g, negatives = protocol["ties"], protocol["g"], int(protocol["negatives"])

    def exactly(above: str, tied: NDArray[Any], how: Any) -> NDArray[np.float64]:
        return exact_hit_probability(arrays[above], tied, arrays["all_n_items"], negatives, ns, ties=how)

    sampled = measure_ranking(cases.users, cases.is_relevant, arrays["above"], arrays["tied"], ns, g=g, ties=ties)
    beside: dict[str, Values] = {}
    if cases.is_given:
        main, before = sampled, _served(arrays["before"], ns)
    else:
        chances = exactly("all_above", arrays["all_tied"], ties)
        if protocol.get("mode") == "exact":
            main = measure_probabilities(cases.users, cases.is_relevant, chances, ns, g=g, ties=ties)
            beside |= _named("mode=sampled", sampled, len(ns))
            before = exactly("all_before", np.zeros_like(arrays["all_tied"]), "expected")
        else:
            main = sampled
            beside |= _named("mode=exact", pooled(cases.is_relevant, chances, g=g), len(ns))
            before = _served(arrays["before"], ns)
    beside |= _named("ties=served", pooled(cases.is_relevant, before, g=g), len(ns))
    filled = filled_share(arrays["all_scored"], arrays["all_n_items"], ns)
    beside["filled-slots"] = tuple(float(share) for share in filled)
    return Hits(main, beside)


def _served(before: NDArray[Any], ns: Sequence[int]) -> NDArray[np.float64]:
    hits: NDArray[np.float64] = (before[:, None] < np.asarray(ns)[None, :]).astype(np.float64)
    return hits


def _named(how: str, found: RankingResult | Pooled, n_lengths: int) -> dict[str, Values]:
    values = {
        "recall": found.recall,
        "fallout": found.fallout,
        "precision-raghavan": found.precision,
        "f": found.f,
    }
    return {f"{name}({how})": (None,) * n_lengths if line is None else tuple(line) for name, line in values.items()}
