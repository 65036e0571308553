"""The matrix: every metric that a run stored against every measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.enums import Variable, scale_variables
from analysis.read.metrics import StoredMetric
from analysis.results.comparison import Comparison, Matrix, MatrixCell, MatrixMetric
from analysis.results.rankings import ALPHA, Ranking
from evaluation.metrics.definition import written
from evaluation.metrics.registry import METRICS, metric
from inference.agreement import kendall
from inference.results import AgreementResult, Undefined

SERVED = "(ties=served)"
DIGITS = 10  # decimals in which two algorithms differ, as in the scripts of the package


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
    values = dict(measure.options)
    changed = [
        f"{option.name}={written(value)}"
        for option in measure.definition.options
        if (value := values.get(option.name)) is not None and value != option.default
    ]
    label = measure.definition.short or measure.key.replace("-", " ")
    length = "" if measure.n is None else f" at {measure.n}"
    served = " as served" if name.endswith(SERVED) else ""
    return f"{label}{length}{served}" + (f" ({', '.join(changed)})" if changed else "")


def comparison_matrix(
    metrics: Sequence[StoredMetric],
    perceived: Mapping[Variable, Ranking],
    comparisons: Sequence[Comparison],
    *,
    alpha: float = ALPHA,
) -> Matrix | None:
    """Every metric with every measure, by Kendall's τ_b; None without metrics or without measures.

    `comparisons` are those of `analysis.compute.comparison.all_comparisons`, whose coefficients are those of the same
    pairs here. A metric that lacks a value for a condition, or is the same for all, gives cells with the reason.
    """
    if not metrics or not perceived:
        return None
    tested = {(comparison.metric_key, comparison.variable_key): comparison for comparison in comparisons}
    rows = [
        MatrixMetric(
            key=stored.key,
            name=stored.name,
            label=metric_label(stored.name, stored.n),
            protocol=stored.protocol.replace("-", " "),
            profile_length=stored.profile_length,
            direction=METRICS[stored.name.partition("@")[0].partition("(")[0]].direction,
            values=dict(stored.values),
        )
        for stored in metrics
    ]
    cells = []
    for stored, row in zip(metrics, rows, strict=True):
        for variable, ranking in perceived.items():
            comparison = tested.get((row.key, variable.key))
            tau = _tau(stored, row, variable, ranking, alpha=alpha) if comparison is None else comparison.tau
            is_primary = comparison is not None and comparison.is_primary
            cells.append(MatrixCell(metric=row.key, variable_key=variable.key, tau=tau, is_primary=is_primary))
    return Matrix(
        variable_keys=tuple(variable.key for variable in perceived),
        scale_variables=scale_variables(perceived),
        metrics=tuple(rows),
        cells=tuple(cells),
    )


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
