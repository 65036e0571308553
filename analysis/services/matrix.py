"""The matrix: every metric that a run stored against every measure, corrected as one family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.enums import Metric, Variable
from analysis.results.comparison import Comparison
from analysis.results.matrix import Matrix, MatrixCell, MatrixMetric
from analysis.results.variables import scale_variables
from analysis.selectors.metrics import StoredMetric
from analysis.services.agreement import aligned, tau_bootstrap
from analysis.services.objective import precision_and_f
from analysis.services.rankings import ALPHA, RESAMPLES, Ranking
from evaluation.metrics.definition import written
from evaluation.metrics.registry import METRICS, metric
from inference.agreement import kendall
from inference.bootstrap import user_means
from inference.corrections import holm
from inference.results import AgreementResult, Interval, Undefined

Floats = NDArray[np.float64]
SERVED = "(ties=served)"
DERIVED = ("precision-raghavan", "f")  # whose resamples follow from those of recall and fallout
CLOSE = 1e-9
DIGITS = 10  # decimals in which two algorithms differ, as in the scripts of the package
SHORT = {
    "precision-raghavan": "precision",
    "f": "F",
    "f-beta": "F",
    "ap": "AP",
    "rr": "RR",
    "dcg": "DCG",
    "ndcg": "nDCG",
    "fpr": "false-positive rate",
    "fdr": "false discovery rate",
    "mae": "MAE",
    "mse": "MSE",
    "rmse": "RMSE",
    "nmae": "NMAE",
    "mae-extremes": "MAE of extreme ratings",
    "gini": "Gini index",
    "arp": "average recommendation popularity",
    "calibration": "miscalibration of genres",
    "roc-area": "ROC area",
    "croc-area": "CROC area",
    "groc-area": "GROC area",
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ_b",
    "precision-recall-11": "11-point precision",
}


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """How users are resampled: the random stream of a name, the number of resamples, and the share of relevant cases
    of the report's run, None where it has none.
    """

    stream: Callable[[str], np.random.Generator]
    generality: float | None
    resamples: int = RESAMPLES


def metric_label(name: str, n: int) -> str:
    """The name of a stored metric within a sentence; `n` is the list length of names that state none.

    Examples
    --------
    >>> metric_label("ndcg@10(gain=linear)", 5), metric_label("recall(ties=served)", 5), metric_label("rmse", 5)
    ('nDCG at 10', 'recall at 5 as served', 'RMSE')
    >>> metric_label("f-beta@5(beta=.5,of=users)", 5)
    'F at 5 (beta=.5)'
    """
    stated = name.removesuffix(SERVED)
    measure = metric(f"{stated}@{n}" if stated in METRICS and METRICS[stated].needs_n else stated)
    values = {"g": measure.g, "ties": measure.ties, **dict(measure.options)}
    changed = [
        f"{option.name}={written(value)}"
        for option in measure.definition.options
        if (value := values[option.name]) is not None and value != option.default
    ]
    label = SHORT.get(measure.key, measure.key.replace("-", " "))
    length = "" if measure.n is None else f" at {measure.n}"
    served = " as served" if name.endswith(SERVED) else ""
    return f"{label}{length}{served}" + (f" ({', '.join(changed)})" if changed else "")


def resampled_name(stored: StoredMetric) -> str:
    """The name of the random stream that resamples the users of a metric."""
    return f"matrix-{stored.key}"


def comparison_matrix(
    metrics: Sequence[StoredMetric],
    perceived: Mapping[Variable, Ranking],
    objective: Mapping[Metric, Ranking],
    comparisons: Sequence[Comparison],
    *,
    resampling: Resampling,
    alpha: float = ALPHA,
) -> Matrix | None:
    """Every metric with every measure, by Kendall's τ_b; None without metrics or without measures.

    `comparisons` are those of `analysis.services.agreement.all_comparisons`, whose coefficients, p values and
    intervals are those of the same pairs here. All pairs
    but the primary one, where it is tested alone, are one family with Holm's correction. A metric that lacks a value
    for a condition, or is the same for all, gives cells with the reason.
    """
    if not metrics or not perceived:
        return None
    tested = {(comparison.metric_key, comparison.variable_key): comparison for comparison in comparisons}
    rows = [_row(stored) for stored in metrics]
    cells: list[MatrixCell] = []
    for stored, row in zip(metrics, rows, strict=True):
        draws = None
        for variable, ranking in perceived.items():
            comparison = tested.get((row.key, variable.key))
            tau = _tau(stored, row, variable, ranking, alpha=alpha) if comparison is None else comparison.tau
            interval: Interval | Undefined = Undefined("There is no rank correlation.")
            if not isinstance(tau, Undefined) and comparison is not None:
                interval = _limits(comparison)
            elif not isinstance(tau, Undefined):
                draws = _draws(stored, row, objective, resampling) if draws is None else draws
                interval = _stability(draws, ranking, row, list(stored.values))
            is_primary = comparison is not None and comparison.is_primary
            cells.append(
                MatrixCell(
                    metric=row.key,
                    variable_key=variable.key,
                    tau=tau,
                    interval=interval,
                    is_primary=is_primary,
                    p_holm=None,
                )
            )
    is_alone = any(comparison.is_primary and comparison.is_tested for comparison in comparisons)
    corrected = _corrected(cells, is_alone=is_alone)
    return Matrix(
        alpha=alpha,
        n_family=sum(cell.p_holm is not None for cell in corrected),
        variable_keys=tuple(variable.key for variable in perceived),
        scale_variables=scale_variables(perceived),
        metrics=tuple(rows),
        cells=corrected,
    )


def corrected_together(comparisons: Sequence[Comparison], matrix: Matrix) -> tuple[Comparison, ...]:
    """The comparisons with the corrected p of the same pairs in the matrix, which is the larger family."""
    p_holm = {(cell.metric, cell.variable_key): cell.p_holm for cell in matrix.cells}
    return tuple(
        replace(comparison, p_holm=p_holm[comparison.metric_key, comparison.variable_key])
        if (comparison.metric_key, comparison.variable_key) in p_holm
        else comparison
        for comparison in comparisons
    )


def _row(stored: StoredMetric) -> MatrixMetric:
    key = stored.name.partition("@")[0].partition("(")[0]
    return MatrixMetric(
        key=stored.key,
        name=stored.name,
        label=metric_label(stored.name, stored.n),
        protocol=stored.protocol.replace("-", " "),
        profile_length=stored.profile_length,
        direction=METRICS[key].direction,
        values=dict(stored.values),
    )


def _corrected(cells: Sequence[MatrixCell], *, is_alone: bool) -> tuple[MatrixCell, ...]:
    """The cells with Holm's correction over all that have a p, without the primary pair where it stands alone."""
    family = {
        index: cell.tau.p
        for index, cell in enumerate(cells)
        if not isinstance(cell.tau, Undefined) and not (cell.is_primary and is_alone)
    }
    p_holm = dict(zip(family, holm(list(family.values())), strict=True))
    return tuple(replace(cell, p_holm=p_holm.get(index)) for index, cell in enumerate(cells))


def _tau(
    stored: StoredMetric, row: MatrixMetric, variable: Variable, ranking: Ranking, *, alpha: float
) -> AgreementResult | Undefined:
    """τ_b over the conditions that participants judged, the larger better on both sides."""
    names = [name for name in stored.values if name in ranking.values]
    if len(names) < 2:
        return Undefined("Fewer than two conditions have both measures.")
    missing = [name for name in names if stored.values[name] is None]
    if missing:
        reasons = dict.fromkeys(stored.reasons[name] for name in missing if name in stored.reasons)
        because = f": {'; '.join(reasons)}" if reasons else ""
        return Undefined(f"No value of {row.in_text} for {', '.join(missing)}{because}.")
    y = [row.sign * round(value, DIGITS) for name in names if (value := stored.values[name]) is not None]
    x = [ranking.values[name] for name in names]
    if len(set(y)) == 1:
        return Undefined(f"All algorithms have the same {row.in_text}.")
    if len(set(x)) == 1:
        return Undefined(f"All algorithms have the same mean of {variable.in_text}.")
    return kendall(x, y, alpha)


def _limits(comparison: Comparison) -> Interval | Undefined:
    """The interval that the comparison of this pair already has."""
    bootstrap = comparison.tau_bootstrap
    return bootstrap if isinstance(bootstrap, Undefined) else Interval(bootstrap.ci_low, bootstrap.ci_high)


def _stability(
    draws: Floats | Undefined, ranking: Ranking, row: MatrixMetric, conditions: list[str]
) -> Interval | Undefined:
    """τ_b in 95% of the resamples of both sides; resamples without a value of the metric do not count."""
    if isinstance(draws, Undefined):
        return draws
    names = [name for name in conditions if name in ranking.values]
    y = row.sign * draws[:, [conditions.index(name) for name in names]]
    x = aligned(names, ranking)
    if x is None:
        return Undefined("Participants were not resampled.")
    n = min(len(x), len(y))
    has_values = ~np.isnan(y[:n]).any(axis=1)
    if not has_values.any():
        return Undefined("No resample has a value of the metric under every algorithm.")
    bootstrap = tau_bootstrap(x[:n][has_values], y[:n][has_values])
    return bootstrap if isinstance(bootstrap, Undefined) else Interval(bootstrap.ci_low, bootstrap.ci_high)


def _draws(
    stored: StoredMetric, row: MatrixMetric, objective: Mapping[Metric, Ranking], resampling: Resampling
) -> Floats | Undefined:
    """The metric in every resample of users, shape (resamples, n_conditions); or why users cannot be resampled."""
    if stored.users is not None:
        return _user_draws(stored, row, resampling)
    if stored.name not in DERIVED or stored.protocol:
        return Undefined(f"The run stores no values by user of {row.in_text}.")
    sides = [objective.get(Metric(kind, stored.profile_length, stored.n)) for kind in ("recall", "fallout")]
    recall, fallout = (None if side is None else side.resampled for side in sides)
    if recall is None or fallout is None or resampling.generality is None or len(recall) != len(fallout):
        return Undefined("Not every resample has cases of both kinds.")
    precision, f = precision_and_f(recall, fallout, resampling.generality)
    return f if stored.name == "f" else precision


def _user_draws(stored: StoredMetric, row: MatrixMetric, resampling: Resampling) -> Floats | Undefined:
    """Means over resampled users, where the printed value is such a mean."""
    users = np.empty((0, 0)) if stored.users is None else stored.users
    complete = users[~np.isnan(users).any(axis=1)]
    values = np.array([np.nan if value is None else value for value in stored.values.values()])
    if not len(complete) or not np.allclose(complete.mean(axis=0), values, rtol=CLOSE, atol=CLOSE):
        return Undefined(f"The value of {row.in_text} is not a mean over the same users under every algorithm.")
    return user_means(complete, resampling.resamples, resampling.stream(resampled_name(stored)))
