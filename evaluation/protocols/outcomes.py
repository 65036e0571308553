"""What a run's measurements come to: metrics by name, with the values by user that tests need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from evaluation.metrics import beyond_accuracy, listed, orders, rating
from evaluation.metrics.curves import Curve, area_until
from evaluation.metrics.customer_curves import croc
from evaluation.metrics.ranks import Ranks
from evaluation.metrics.registry import Metric, metric
from evaluation.metrics.user_curves import eleven_points, roc_areas
from evaluation.protocols.cases import Cases
from evaluation.protocols.facts import ModelFacts
from evaluation.protocols.hits import one_plus_random
from evaluation.protocols.observation_curves import observation_curves
from evaluation.protocols.observations import predictions
from evaluation.protocols.unconstrained import NOT_COMPARABLE, Pool, global_curve, pooled_precision_recall

Arrays = dict[str, NDArray[Any]]
Values = tuple[float | None, ...]
POINTS = 501  # of a curve that is kept for drawing


@dataclass(frozen=True, slots=True)
class Outcome:
    """One metric.

    Parameters
    ----------
    metric : str
        Its name.
    value : float or None
    by_n : tuple
        At list lengths 1, 2, 3, …, where it has them.
    reason : str
        Why there is no value, or what to mind about it, where the model is the cause.
    """

    metric: str
    value: float | None
    by_n: Values = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """All metrics of one model, and arrays to keep beside them (values by user, curves)."""

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

    Parameters
    ----------
    cases : Cases
    arrays : mapping
        As `evaluation.protocols.blocks.joined` gives them.
    protocol : mapping
        Its name and settings, complete.
    names : sequence of str
        Metrics, by name.
    n, longest : int
        The list length that tables report, and the longest that curves go to.
    model : ModelFacts
    are_curves_kept : bool
        Whether the points of the curves of "test-observations" are computed beside the metrics.

    Returns
    -------
    Outcomes
        Undefined values are None, never NaN. `arrays` has, but for "one-plus-random", `user_ids` and
        `user_values` (a column for each of `names`, NaN where a user has no value).

    Raises
    ------
    ParameterError, DataError
        A metric that the protocol has no numbers for.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.cases import make_cases
    >>> train = csr_array(np.array([[4.0, 0, 0]]))
    >>> cases = make_cases(train, np.array([0, 0]), np.array([1, 2]), np.array([5.0, 3.0]),
    ...                    relevant=5, irrelevant=1, seed=1, every=True, barred="trained")
    >>> facts = ModelFacts("rating", True, 1.0, 5.0, np.array([1, 0, 0]), 1)
    >>> outcomes(cases, {"scores": np.array([4.5, 3.0])}, {"name": "rating-prediction", "clip": "scale"},
    ...          names=["mae"], n=5, longest=5, model=facts).values[0].value
    0.25
    """
    match protocol["name"]:
        case "one-plus-random":
            return _hits(cases, arrays, protocol, names=names, n=n, longest=longest)
        case "unconstrained":
            return _pooled(arrays, names, model)
        case "full-ranking":
            found = _ranked(cases, arrays)
            measured = [_of_lists(metric(name), cases, arrays, found, model) for name in names]
        case "test-observations":
            found = _observed(cases, arrays["scores"], model)
            measured = [_of_observations(metric(name), cases, arrays["scores"], found) for name in names]
            rows, n_users = _rows(cases)
            drawn = None
            if are_curves_kept:
                drawn = observation_curves(rows, arrays["scores"], cases.is_relevant, n_users=n_users)
            return _by_user(cases, names, measured, drawn)
        case "rating-prediction":
            measured = _predicted(cases, arrays["scores"], protocol, names, model)
        case other:
            raise ParameterError(f"There is no protocol {other!r} to add up.")
    return _by_user(cases, names, measured)


def of_users(cases: Cases, arrays: Mapping[str, NDArray[Any]], users: NDArray[np.integer[Any]]) -> tuple[Cases, Arrays]:
    """The cases and measurements of some users.

    Parameters
    ----------
    cases : Cases
    arrays : mapping
        As `evaluation.protocols.blocks.joined` gives them; a pool of all pairs cannot be parted.
    users : int array

    Returns
    -------
    Cases, dict of arrays

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.cases import make_cases
    >>> train = csr_array(np.array([[4.0, 0], [4.0, 0]]))
    >>> cases = make_cases(train, np.array([0, 1]), np.array([1, 1]), np.array([5.0, 3.0]),
    ...                    relevant=5, irrelevant=1, seed=1, every=True, barred="trained")
    >>> some, arrays = of_users(cases, {"scores": np.array([4.5, 3.0])}, np.array([1]))
    >>> some.values.tolist(), arrays["scores"].tolist()
    ([3.0], [3.0])
    """
    some, kept = cases.of_users(users)
    is_in = np.isin(arrays["list_users"], users) if "list_users" in arrays else kept
    return some, {name: array[is_in if name.startswith("list_") else kept] for name, array in arrays.items()}


def _hits(
    cases: Cases,
    arrays: Mapping[str, NDArray[Any]],
    protocol: Mapping[str, Any],
    *,
    names: Sequence[str],
    n: int,
    longest: int,
) -> Outcomes:
    found = one_plus_random(cases, arrays, protocol, range(1, longest + 1))
    main = found.main
    lines: dict[str, Values] = {
        "recall": main.recall or (None,) * longest,
        "fallout": main.fallout or (None,) * longest,
        "precision-raghavan": main.precision or (None,) * longest,
        "f": main.f or (None,) * longest,
        **found.beside,
    }
    values = [Outcome(name, line[n - 1], line) for name, line in lines.items()]
    values += [Outcome(name, metric(name).value(main)) for name in names]
    kept: Arrays = {
        "recall_users": main.user_recall.groups,
        "recall_n_cases": main.user_recall.n_cases,
        "recall_values": main.user_recall.values,
        "fallout_users": main.user_fallout.groups,
        "fallout_n_cases": main.user_fallout.n_cases,
        "fallout_values": main.user_fallout.values,
    }
    return Outcomes(tuple(values), kept)


Measured = tuple[float | None, NDArray[np.float64] | None, str]  # the value, values by user, what to mind


def _by_user(cases: Cases, names: Sequence[str], measured: Sequence[Measured], curve: Arrays | None = None) -> Outcomes:
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
    """The row of each case's user among the test users, and how many of these there are."""
    users, rows = np.unique(cases.users, return_inverse=True)
    return rows.astype(np.int64), len(users)


def _gains(cases: Cases) -> NDArray[np.float64] | None:
    """Ratings of the relevant cases as gains; None (each is worth 1) where one is not above 0."""
    gains = cases.values[cases.is_relevant].astype(np.float64)
    return gains if len(gains) and gains.min() > 0 else None


def _ranked(cases: Cases, arrays: Mapping[str, NDArray[Any]]) -> Ranks:
    """Ranks of the relevant items in everyone's whole list, as it is served."""
    rows, n_users = _rows(cases)
    size = np.zeros(n_users, dtype=np.int64)
    size[rows] = arrays["all_n_items"] + 1
    chosen = cases.is_relevant
    return Ranks.of(rows[chosen], arrays["all_before"][chosen] + 1, _gains(cases), n_listed=size, n_candidates=size)


def _observed(cases: Cases, scores: NDArray[np.float64], model: ModelFacts) -> Ranks:
    """Ranks of the relevant items among everyone's own test observations, as a list of them would be served."""
    rows, n_users = _rows(cases)
    size = np.bincount(rows, minlength=n_users)
    order = np.lexsort((cases.items, -model.popularity_of(cases.users, cases.items), -scores, rows))
    places = np.empty(len(rows), dtype=np.int64)
    places[order] = np.arange(len(rows)) - np.repeat(np.cumsum(size) - size, size) + 1
    chosen = cases.is_relevant
    return Ranks.of(rows[chosen], places[chosen], _gains(cases), n_listed=size, n_candidates=size)


def _of_lists(
    one: Metric, cases: Cases, arrays: Mapping[str, NDArray[Any]], found: Ranks, model: ModelFacts
) -> Measured:
    lists, n = arrays["list_items"], one.n or 0
    match one.key:
        case "catalogue-coverage":
            return beyond_accuracy.catalogue_coverage(lists, cases.n_items, n), None, ""
        case "gini":
            return beyond_accuracy.gini(beyond_accuracy.exposure(lists, cases.n_items, n)), None, ""
        case "novelty":
            each = model.novelty(arrays["list_users"], lists, n)
            return listed.mean_of_users(each).value, each, ""
        case "diversity" if model.item_terms is None:
            return None, None, "the items have no features"
        case "diversity":
            each = beyond_accuracy.diversity(lists, model.item_terms, n)
            return listed.mean_of_users(each).value, each, ""
        case _:
            return listed.overall(one, found).value, listed.user_values(one, found), ""


def _of_observations(one: Metric, cases: Cases, scores: NDArray[np.float64], found: Ranks) -> Measured:
    rows, n_users = _rows(cases)
    match one.key:
        case "croc-area":
            curves = croc(rows, scores, cases.is_relevant)
            return (_area(one, curves.curve) if curves else None), None, ""
        case "roc-area":
            each = roc_areas(
                rows,
                scores,
                cases.is_relevant,
                n_users=n_users,
                until=float(one.option("until")),
                scale=str(one.option("scale")),  # type: ignore[arg-type]
            )
        case "precision-recall-11":
            averaged = eleven_points(rows, scores, cases.is_relevant, n_users=n_users)
            if averaged is None:
                return None, None, ""
            each = averaged.user_values.mean(axis=1)
        case "spearman" | "kendall" if np.isnan(cases.values).any():
            return None, None, "not every observation has a rating"
        case "spearman" | "kendall":
            each = orders.user_values(one, rows, scores, cases.values, n_users=n_users)
        case _:
            return listed.overall(one, found).value, listed.user_values(one, found), ""
    return listed.mean_of_users(each).value, each, ""


def _area(one: Metric, curve: Curve) -> float:
    return area_until(curve, float(one.option("until")), str(one.option("scale")))  # type: ignore[arg-type]


def _predicted(
    cases: Cases, scores: NDArray[Any], protocol: Mapping[str, Any], names: Sequence[str], model: ModelFacts
) -> list[Measured]:
    read = predictions(
        scores,
        score_kind=model.score_kind,
        low=model.low,
        high=model.high,
        is_clipped=protocol["clip"] == "scale",
    )
    if read.predicted is None:
        return [(None, None, read.why_none)] * len(names)
    rows, n_users = _rows(cases)
    given = rating.Predictions.of(rows, cases.values, read.predicted, n_users=n_users, low=model.low, high=model.high)
    return [(rating.overall(one, given).value, rating.user_values(one, given), "") for one in map(metric, names)]


def _pooled(arrays: Mapping[str, NDArray[Any]], names: Sequence[str], model: ModelFacts) -> Outcomes:
    pool = Pool(arrays["scores"], arrays["n_relevant"], arrays["n_others"])
    curve, steps = global_curve(pool), pooled_precision_recall(pool)
    said = "" if model.is_comparable else NOT_COMPARABLE
    kept: Arrays = {}
    if curve is not None:
        x, y = curve.false_alarm_rate, curve.hit_rate
        drawn = Curve("GROC", "False-alarm rate", "Hit rate", x, y, curve.area)
        shown = np.unique(np.linspace(0, len(x) - 1, POINTS).round().astype(np.int64))
        kept |= {"groc_x": x[shown], "groc_y": y[shown]}
    if steps is not None:
        kept["precision-recall_x"], kept["precision-recall_y"] = steps.line(POINTS)
    values = []
    for one in map(metric, names):
        value: float | None = None
        if one.key == "average-precision":
            value = None if steps is None else steps.area
        elif curve is not None:
            is_whole = one.option("until") == 1.0 and one.option("scale") == "raw"
            value = curve.area if is_whole else _area(one, drawn)
        values.append(Outcome(str(one), value, reason=said))
    return Outcomes(tuple(values), kept)
