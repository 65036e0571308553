"""The metrics of "one plus random": in both modes, and as lists are served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.hits import GroupMeans
from evaluation.metrics.ranking import (
    MeanHits,
    Pooled,
    RankingResult,
    measure_ranking,
    pooled,
    pooled_and_by_user,
)
from evaluation.protocols.cases import Cases
from evaluation.protocols.exact import exact_hit_probability, filled_share, mean_probabilities

Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Hits:
    """The metrics of "one plus random" of one model."""

    main: RankingResult  # in the requested mode, with values by user
    # By name, at every list length: the same metrics in the other mode, such as ``recall(mode=exact)``; with ties and
    # empty slots as in served lists, ``recall(ties=served)``; and ``filled-slots``, the share of slots filled by
    # popularity in a list of all unrated items.
    secondary: dict[str, Values]


def one_plus_random(
    cases: Cases, arrays: Mapping[str, NDArray[Any]], protocol: Mapping[str, Any], ns: Sequence[int]
) -> Hits:
    """Compute the metrics of "one plus random" from the counts of all cases.

    `arrays` are those of `evaluation.protocols.blocks.joined`. Candidates from a file give only the sampled metrics:
    the file does not list other unrated items. Raises ParameterError or DataError for invalid settings or arrays.

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
    >>> counts = measure_block(settings, cases, slice(None), np.zeros((1, 5)), np.array([0]), popularity=np.zeros(5),
    ...                        longest=5)
    >>> found = one_plus_random(cases, counts, settings, [1, 3])
    >>> found.main.recall, found.secondary["recall(mode=exact)"], found.secondary["filled-slots"]
    ((0.3333333333333333, 1.0), (0.3333333333333333, 1.0), (0.0, 0.0))
    """
    ties, g, negatives = protocol["ties"], protocol["g"], int(protocol["negatives"])

    def exact(above: str, tied: NDArray[Any], how: Any) -> NDArray[np.float64]:
        return exact_hit_probability(arrays[above], tied, arrays["all_n_items"], negatives, ns, ties=how)

    sampled = measure_ranking(cases.users, cases.is_relevant, arrays["above"], arrays["tied"], ns, g=g, ties=ties)
    secondary: dict[str, Values] = {}
    if cases.is_given:
        main, before = sampled, _served(arrays["before"], ns)
    else:
        chances = exact("all_above", arrays["all_tied"], ties)
        if protocol.get("mode") == "exact":
            main = pooled_and_by_user(cases.users, cases.is_relevant, _means_of(chances), g=g)
            secondary |= by_name(sampled, len(ns), "(mode=sampled)")
            before = exact("all_before", np.zeros_like(arrays["all_tied"]), "expected")
        else:
            main = sampled
            secondary |= by_name(pooled(cases.is_relevant, _means_of(chances), g=g), len(ns), "(mode=exact)")
            before = _served(arrays["before"], ns)
    secondary |= by_name(pooled(cases.is_relevant, _means_of(before), g=g), len(ns), "(ties=served)")
    filled = filled_share(arrays["all_scored"], arrays["all_n_items"], ns)
    secondary["filled-slots"] = tuple(float(share) for share in filled)
    return Hits(main, secondary)


def _served(before: NDArray[Any], ns: Sequence[int]) -> NDArray[np.float64]:
    hits: NDArray[np.float64] = (before[:, None] < np.asarray(ns)[None, :]).astype(np.float64)
    return hits


def _means_of(hits: NDArray[np.float64]) -> MeanHits:
    def mean_of(groups: NDArray[np.integer[Any]], side: NDArray[np.bool_]) -> GroupMeans:
        return mean_probabilities(groups, hits[side])

    return mean_of


def by_name(result: RankingResult | Pooled, n_lengths: int, suffix: str = "") -> dict[str, Values]:
    """The four metrics by the names under which they are stored."""
    values = {
        "recall": result.recall,
        "fallout": result.fallout,
        "precision-raghavan": result.precision,
        "f": result.f,
    }
    return {f"{name}{suffix}": (None,) * n_lengths if line is None else tuple(line) for name, line in values.items()}
