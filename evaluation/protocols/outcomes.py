"""Metrics of a run by name, computed from its measurements, with values by user for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from evaluation.metrics import beyond_accuracy, list_values, rank_correlation, rating
from evaluation.metrics.curves import Curve, area_until
from evaluation.metrics.customer_curves import croc
from evaluation.metrics.ranks import Ranks
from evaluation.metrics.registry import Metric, metric
from evaluation.metrics.user_curves import eleven_points, roc_areas
from evaluation.protocols.cases import Cases
from evaluation.protocols.facts import ModelFacts
from evaluation.protocols.hit_metrics import UNLISTED, by_name, one_plus_random
from evaluation.protocols.observation_curves import observation_curves
from evaluation.protocols.observations import NOT_A_PREDICTOR, predictions
from evaluation.protocols.unconstrained import NOT_COMPARABLE, Pool, global_curve, pooled_precision_recall

Arrays = dict[str, NDArray[Any]]
Values = tuple[float | None, ...]
POINTS = 501  # of a stored curve
NOT_FROM_LISTS = "not measurable from lists"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One metric."""

    metric: str  # its name
    value: float | None
    by_n: Values = ()  # at list lengths 1, 2, 3, …, if available
    reason: str = ""  # the reason for a missing value or a caveat, if it is due to the model


@dataclass(frozen=True, slots=True)
class Outcomes:
    """All metrics of one model, and arrays to store with them (values by user, curves)."""

    values: tuple[Outcome, ...]
    arrays: Arrays = field(default_factory=dict)


def outcomes(
    cases: Cases,
    arrays: Mapping[str, NDArray[Any]],
    protocol: Mapping[str, Any],
    *,
    names: Sequence[str],
    n: int,
    longest: int,
    model: ModelFacts,
    are_curves_kept: bool = True,
) -> Outcomes:
    """Compute the metrics of one model under a protocol.

    Undefined values are None, never NaN. Except for "one-plus-random", `arrays` has `user_ids` and `user_values` (one
    column per metric in `names`, NaN for users without a value). Raises ParameterError or DataError for a metric that
    the protocol does not measure.

    `arrays`: those of `evaluation.protocols.blocks.joined`, and those of `facts` that a metric needs. `n`,
    `longest`: the list length in tables, and the longest in curves. `are_curves_kept`: whether the points of the curves
    of "test-observations" are computed too.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.cases import build_cases
    >>> train = csr_array(np.array([[4.0, 0, 0]]))
    >>> cases = build_cases(train, np.array([0, 0]), np.array([1, 2]), np.array([5.0, 3.0]),
    ...                    relevant=5, irrelevant=1, seed=1, every=True, excluded="trained")
    >>> facts = ModelFacts("rating", True, 1.0, 5.0, np.array([1, 0, 0]), 1)
    >>> outcomes(cases, {"scores": np.array([4.5, 3.0])}, {"name": "rating-prediction", "clip": "scale"},
    ...          names=["mae"], n=5, longest=5, model=facts).values[0].value
    0.25
    """
    match protocol["name"]:
        case "one-plus-random":
            return _hits(cases, arrays, protocol, names=names, n=n, longest=longest, is_partial=model.is_partial)
        case "unconstrained" if model.is_partial:
            return Outcomes(tuple(Outcome(name, None, reason=NOT_FROM_LISTS) for name in names))
        case "unconstrained":
            return _pooled(arrays, names, model)
        case "full-ranking":
            ranks = _ranked(cases, arrays, is_partial=model.is_partial)
            of_lists = _of_partial_lists if model.is_partial else _of_lists
            measured = [of_lists(metric(name), cases, arrays, ranks, model) for name in names]
        case "test-observations" | "rating-prediction" if model.is_partial:
            measured = [(None, None, NOT_FROM_LISTS)] * len(names)
        case "test-observations":
            ranks = _observed(cases, arrays["scores"], model)
            measured = [_of_observations(metric(name), cases, arrays["scores"], ranks, model) for name in names]
            rows, n_users = _rows(cases)
            curves = None
            if are_curves_kept:
                curves = observation_curves(rows, arrays["scores"], cases.is_relevant, n_users=n_users)
            return _by_user(cases, names, measured, curves)
        case "rating-prediction":
            measured = _predicted(cases, arrays["scores"], protocol, names, model)
        case other:
            raise ParameterError(f"Unknown protocol {other!r}.")
    return _by_user(cases, names, measured)


def of_users(cases: Cases, arrays: Mapping[str, NDArray[Any]], users: NDArray[np.integer[Any]]) -> tuple[Cases, Arrays]:
    """Select the cases and measurements of some users. `arrays` are those of `evaluation.protocols.blocks.joined`; a
    pool of all pairs cannot be divided.
    """
    some, is_kept = cases.of_users(users)
    is_in = np.isin(arrays["list_users"], users) if "list_users" in arrays else is_kept
    return some, {name: array[is_in if name.startswith("list_") else is_kept] for name, array in arrays.items()}


def _hits(
    cases: Cases,
    arrays: Mapping[str, NDArray[Any]],
    protocol: Mapping[str, Any],
    *,
    names: Sequence[str],
    n: int,
    longest: int,
    is_partial: bool,
) -> Outcomes:
    hits = one_plus_random(cases, arrays, protocol, range(1, longest + 1), is_partial=is_partial)
    main, is_exact = hits.main, protocol.get("mode") == "exact" and not cases.is_given
    lines, reasons = by_name(main, longest) | hits.secondary, {}
    if is_partial:
        reasons = _bounds(lines, n, "" if is_exact else "(mode=exact)") | {
            name: NOT_FROM_LISTS for name in lines if _is_sampled(name, is_exact=is_exact)
        }
        lines |= {name: (None,) * longest for name, reason in reasons.items() if reason == NOT_FROM_LISTS}
    values = [Outcome(name, line[n - 1], line, reasons.get(name, "")) for name, line in lines.items()]
    # Their ties and generality are those of the protocol.
    values += [
        Outcome(str(measure), lines[measure.key][(measure.n or n) - 1], reason=reasons.get(measure.key, ""))
        for measure in map(metric, names)
    ]
    arrays_by_user: Arrays = {}
    for kind, means in (("recall", main.user_recall), ("fallout", main.user_fallout)):
        of_users = np.full_like(means.values, np.nan) if is_partial and not is_exact else means.values
        by_part = {"users": means.groups, "n_cases": means.n_cases, "values": of_users}
        arrays_by_user |= {f"{kind}_{part}": array for part, array in by_part.items()}
    return Outcomes(tuple(values), arrays_by_user)


def _is_sampled(name: str, *, is_exact: bool) -> bool:
    """Whether a metric of "one plus random" counts drawn candidates, which may be outside a list."""
    if is_exact or name == "filled-slots":
        return name.endswith("(mode=sampled)")
    return not name.endswith(("(mode=exact)", *UNLISTED.values()))


def _bounds(lines: Mapping[str, Values], n: int, suffix: str) -> dict[str, str]:
    """What is known of the exact recall and fallout, by name, where items outside the lists could change them."""
    reasons = {}
    for name in ("recall", "fallout"):
        low, high = (lines.get(f"{name}{end}", (None,) * n)[n - 1] for end in UNLISTED.values())
        if low is not None and high is not None and low != high:
            least, most = (f"{value:.4f}".removeprefix("0") for value in (low, high))
            reasons[f"{name}{suffix}"] = f"{name}@{n} lies between {least} and {most}, whatever follows its lists"
    return reasons


MetricValue = tuple[float | None, NDArray[np.float64] | None, str]  # the value, values by user, a caveat


def _by_user(
    cases: Cases, names: Sequence[str], measured: Sequence[MetricValue], curve: Arrays | None = None
) -> Outcomes:
    users = np.unique(cases.users)
    table = np.full((len(users), len(names)), np.nan)
    for column, (_, of_users, _) in enumerate(measured):
        if of_users is not None:
            table[:, column] = of_users
    values = tuple(
        Outcome(name, value, reason=reason) for name, (value, _, reason) in zip(names, measured, strict=True)
    )
    return Outcomes(values, {"user_ids": users.astype(np.int64), "user_values": table, **(curve or {})})


def _rows(cases: Cases) -> tuple[NDArray[np.int64], int]:
    users, rows = np.unique(cases.users, return_inverse=True)
    return rows.astype(np.int64), len(users)


def _gains(cases: Cases) -> NDArray[np.float64] | None:
    """Return the ratings of the relevant cases as gains; None (all 1) if any is not positive."""
    gains = cases.values[cases.is_relevant].astype(np.float64)
    # Gains of a scale that reaches 0 or below cannot be discounted; relevant is then relevant.
    return gains if len(gains) and gains.min() > 0 else None


def _ranked(cases: Cases, arrays: Mapping[str, NDArray[Any]], *, is_partial: bool) -> Ranks:
    rows, n_users = _rows(cases)
    size = np.zeros(n_users, dtype=np.int64)
    size[rows] = arrays["all_n_items"] + 1
    chosen = cases.is_relevant
    ranks = arrays["all_before"] + 1
    if is_partial:  # popularity puts no item into these lists
        ranks = np.where(arrays["all_above"] == arrays["all_scored"], 0, ranks)
    return Ranks.of(rows[chosen], ranks[chosen], _gains(cases), n_listed=size, n_candidates=size)


def _observed(cases: Cases, scores: NDArray[np.float64], model: ModelFacts) -> Ranks:
    rows, n_users = _rows(cases)
    size = np.bincount(rows, minlength=n_users)
    # Ties as in served lists: by popularity, then by item number.
    order = np.lexsort((cases.items, -model.popularity_of(cases.users, cases.items), -scores, rows))
    positions = np.empty(len(rows), dtype=np.int64)
    positions[order] = np.arange(len(rows)) - np.repeat(np.cumsum(size) - size, size) + 1
    chosen = cases.is_relevant
    return Ranks.of(rows[chosen], positions[chosen], _gains(cases), n_listed=size, n_candidates=size)


def _of_lists(
    measure: Metric, cases: Cases, arrays: Mapping[str, NDArray[Any]], ranks: Ranks, model: ModelFacts
) -> MetricValue:
    lists, n = arrays["list_items"], measure.n or 0
    match measure.key:
        case "catalogue-coverage":
            return beyond_accuracy.catalogue_coverage(lists, cases.n_items, n), None, ""
        case "gini":
            return beyond_accuracy.gini(beyond_accuracy.exposure(lists, cases.n_items, n)), None, ""
        case "novelty":
            each = model.novelty(arrays["list_users"], lists, n)
            return list_values.mean_of_users(each).value, each, ""
        case "arp":
            each = model.recommendation_popularity(arrays["list_users"], lists, n)
            return list_values.mean_of_users(each).value, each, ""
        case "popularity-lift":
            recommended = model.recommendation_popularity(arrays["list_users"], lists, n)
            return _popularity_lift(recommended, cases, arrays["profile_popularity"])
        case "diversity" if model.item_terms is None:
            return None, None, "the items have no features"
        case "diversity":
            each = beyond_accuracy.diversity(lists, model.item_terms, n)
            return list_values.mean_of_users(each).value, each, ""
        case "calibration" if model.item_genres is None:
            return None, None, "the items have no genres"
        case "calibration":
            each = beyond_accuracy.calibration(lists, arrays["list_profile_genres"], model.item_genres, n)
            return list_values.mean_of_users(each).value, each, ""
        case "serendipity":
            each = beyond_accuracy.serendipity(ranks, arrays["popularity_ranks"][cases.is_relevant], n)
            return list_values.mean_of_users(each).value, each, ""
        case _:
            return list_values.overall(measure, ranks).value, list_values.user_values(measure, ranks), ""


def _of_partial_lists(
    measure: Metric, cases: Cases, arrays: Mapping[str, NDArray[Any]], ranks: Ranks, model: ModelFacts
) -> MetricValue:
    """As `_of_lists`, of lists as they are: slots after their last item stay empty."""
    if measure.n is None:
        return None, None, NOT_FROM_LISTS
    n_scored, lists = arrays["list_scored"], arrays["list_items"]
    listed = np.where(np.arange(lists.shape[1]) < n_scored[:, None], lists, -1).astype(np.int32)
    value, each, reason = _of_lists(measure, cases, {**arrays, "list_items": listed}, ranks, model)
    n_short = int((n_scored < measure.n).sum())
    if n_short and not reason:
        reason = f"{n_short:,} of {len(n_scored):,} lists have fewer than {measure.n} items"
    return value, each, reason


def _popularity_lift(
    recommended: NDArray[np.float64], cases: Cases, profile_popularity: NDArray[np.float64]
) -> MetricValue:
    profile = profile_popularity[np.unique(cases.users, return_index=True)[1]]
    each = beyond_accuracy.popularity_lift(recommended, profile)
    known = ~np.isnan(each)
    if not known.any():
        return None, each, ""
    means = (of_users[known].mean(keepdims=True) for of_users in (recommended, profile))
    return float(beyond_accuracy.popularity_lift(*means)[0]), each, ""


def _of_observations(
    measure: Metric, cases: Cases, scores: NDArray[np.float64], ranks: Ranks, model: ModelFacts
) -> MetricValue:
    rows, n_users = _rows(cases)
    match measure.key:
        case "croc-area":
            curves = croc(rows, scores, cases.is_relevant)
            return (_area(measure, curves.curve) if curves else None), None, ""
        case "roc-area":
            each = roc_areas(
                rows,
                scores,
                cases.is_relevant,
                n_users=n_users,
                until=float(measure.option("until")),
                scale=str(measure.option("scale")),  # type: ignore[arg-type]
            )
        case "precision-recall-11":
            averaged = eleven_points(rows, scores, cases.is_relevant, n_users=n_users)
            if averaged is None:
                return None, None, ""
            each = averaged.user_values.mean(axis=1)
        case "spearman" | "kendall" if np.isnan(cases.values).any():
            return None, None, "not every observation has a rating"
        case "spearman" | "kendall":
            each = rank_correlation.user_values(measure, rows, scores, cases.values, n_users=n_users)
        case "serendipity":
            popular = _observed(cases, np.zeros(len(cases)), model)
            each = beyond_accuracy.serendipity(ranks, popular.ranks, measure.n or 0)
        case _:
            return list_values.overall(measure, ranks).value, list_values.user_values(measure, ranks), ""
    return list_values.mean_of_users(each).value, each, ""


def _area(measure: Metric, curve: Curve) -> float:
    return area_until(curve, float(measure.option("until")), str(measure.option("scale")))  # type: ignore[arg-type]


def _predicted(
    cases: Cases, scores: NDArray[Any], protocol: Mapping[str, Any], names: Sequence[str], model: ModelFacts
) -> list[MetricValue]:
    low, high, is_clipped = model.low, model.high, protocol["clip"] == "scale"
    predicted = predictions(scores, score_kind=model.score_kind, low=low, high=high, is_clipped=is_clipped)
    if predicted is None:
        return [(None, None, NOT_A_PREDICTOR)] * len(names)
    rows, n_users = _rows(cases)
    ratings = rating.Predictions.of(rows, cases.values, predicted, n_users=n_users, low=low, high=high)
    return [
        (rating.overall(measure, ratings).value, rating.user_values(measure, ratings), "")
        for measure in map(metric, names)
    ]


def _pooled(arrays: Mapping[str, NDArray[Any]], names: Sequence[str], model: ModelFacts) -> Outcomes:
    pool = Pool(arrays["scores"], arrays["n_relevant"], arrays["n_others"])
    curve, steps = global_curve(pool), pooled_precision_recall(pool)
    reason = "" if model.is_comparable else NOT_COMPARABLE
    points: Arrays = {}
    if curve is not None:
        # The area is computed from all points; what is stored is for drawing.
        shown = np.unique(np.linspace(0, len(curve.x) - 1, POINTS).round().astype(np.int64))
        points |= {"groc_x": curve.x[shown], "groc_y": curve.y[shown]}
    if steps is not None:
        points["precision-recall_x"], points["precision-recall_y"] = steps.line(POINTS)
    values = []
    for measure in map(metric, names):
        value: float | None = None
        if measure.key == "average-precision":
            value = None if steps is None else steps.area
        elif curve is not None:
            is_whole = measure.option("until") == 1.0 and measure.option("scale") == "raw"
            value = curve.area if is_whole else _area(measure, curve)
        values.append(Outcome(str(measure), value, reason=reason))
    return Outcomes(tuple(values), points)
