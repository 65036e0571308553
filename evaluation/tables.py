"""Formatting of results for pages and the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from documents import numbers
from documents.numbers import NONE, Limits, number
from evaluation.protocols.registry import PROTOCOLS
from evaluation.splitting.registry import SPLITS


def share(value: float | None) -> str:
    """Format a value between 0 and 1 with three decimals and no leading zero; a dash if there is none.

    Examples
    --------
    >>> share(0.41666), share(1.0), share(-0.0101), share(None)
    ('.417', '1.000', '−.010', '–')
    """
    return number(value, 3, is_share=True)


def duration(value: float) -> str:
    """Format a duration in seconds, minutes or hours.

    Examples
    --------
    >>> duration(8.4), duration(95), duration(7260)
    ('8 s', '1 min 35 s', '2 h 1 min')
    """
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def seconds(value: float | None) -> str:
    """Format the seconds that a fit or a measurement took; a dash if there was none here."""
    return NONE if value is None else f"{value:.2f}"


def score(value: float | None, decimals: int = 3) -> str:
    """Format a model's score in any unit; a dash if there is none.

    Examples
    --------
    >>> score(4.25), score(-0.0004), score(-1234.5), score(None)
    ('4.250', '0.000', '−1,234.500', '–')
    >>> score(302.0, decimals=0)
    '302'
    """
    if value is None:
        return NONE
    text = f"{abs(value):,.{decimals}f}"
    return f"−{text}" if value < 0 and float(text.replace(",", "")) else text


def signed(value: float) -> str:
    """Format a signed contribution to a score.

    Examples
    --------
    >>> signed(0.5), signed(-0.25), signed(0.0)
    ('+0.500', '−0.250', '+0.000')
    """
    return f"{'−' if value < 0 else '+'}{abs(value):,.3f}"


def p_value(value: float | None, *, has_sign: bool = False) -> str:
    """Format a p value with three decimals and no leading zero; a dash if nothing was tested.

    Examples
    --------
    >>> p_value(0.0321), p_value(0.0000002), p_value(None)
    ('.032', '< .001', '–')
    """
    if value is not None and value < 0.001:
        return "< .001"
    return f"= {share(value)}" if has_sign else share(value)


def cell(value: float | None, reason: str) -> str:
    """Format a metric's value, or the reason why there is none.

    Examples
    --------
    >>> cell(0.25, ""), cell(None, "not a rating predictor"), cell(None, "")
    ('.250', 'not a rating predictor', '–')
    """
    return reason if value is None and reason else share(value)


def difference(value: float | None, baseline: float | None) -> str:
    """Format the difference of two values as printed; empty if one is missing.

    Examples
    --------
    >>> difference(0.25, 0.3), difference(0.3, 0.3), difference(None, 0.3)
    ('−.050', '±.000', '')
    """
    if value is None or baseline is None:
        return ""
    gap = round(value, 3) - round(baseline, 3)
    sign = "±" if abs(gap) < 0.0005 else "−" if gap < 0 else "+"
    return f"{sign}{share(abs(gap))}"


def columns(
    protocol: Mapping[str, Any], names: Sequence[str], requested: Sequence[str], *, n: int | None, is_given: bool
) -> dict[str, str]:
    """Return the metrics of a run's table with their column headings.

    Headings include `n` unless it is None. `names` are the run's metrics, `requested` those explicitly requested;
    `is_given` means that candidates came from a file, so that there is no second mode.

    Examples
    --------
    >>> columns({"name": "full-ranking"}, ["rr@5"], [], n=5, is_given=False)
    {'rr@5': 'rr@5'}
    """
    if protocol["name"] != "one-plus-random":
        return {name: name for name in names}
    main = {"recall": "recall", "fallout": "fallout", "precision-raghavan": "precision", "f": "F"}
    at = "" if n is None else f"@{n}"
    shown = {name: f"{title}{at}" for name, title in main.items()}
    if not is_given:
        alternative = "sampled" if protocol.get("mode") == "exact" else "exact"
        shown |= {f"{name}(mode={alternative})": f"{name}{at}, {alternative}" for name in ("recall", "fallout")}
    shown["recall(ties=served)"] = f"recall{at}, as served"
    shown["filled-slots"] = "filled slots"
    return shown | {name: name for name in requested}


POOLED = "pooled over cases"


def aggregation(protocol: Mapping[str, Any]) -> str:
    """Return how recall and fallout are aggregated over cases; empty if each metric's definition determines it.

    Examples
    --------
    >>> aggregation({"name": "one-plus-random"}), aggregation({"name": "full-ranking"})
    ('pooled over cases', '')
    """
    return POOLED if protocol["name"] == "one-plus-random" else ""


def means_note(protocols: Iterable[Mapping[str, Any]]) -> str:
    """Return a note on the values in a comparison of runs, and how they differ from the pages of the runs.

    Examples
    --------
    >>> means_note([{"name": "full-ranking"}])
    'Means over the users of both runs, whole profiles.'
    """
    text = "Means over the users of both runs, whole profiles."
    if any(map(aggregation, protocols)):
        text += f" The results of each run are {POOLED} instead, so recall and fallout may differ."
    return text


def order_summary(n_pairs: int, n_reversed: int) -> str:
    """Summarise how many pairs of algorithms two runs order differently.

    Examples
    --------
    >>> order_summary(1, 0), order_summary(3, 0)
    ('the one pair of algorithms has the same order', 'all 3 pairs of algorithms have the same order')
    >>> order_summary(3, 1)
    '1 of 3 pairs of algorithms has the opposite order'
    """
    if not n_reversed:
        if n_pairs == 1:
            return "the one pair of algorithms has the same order"
        return f"all {n_pairs} pairs of algorithms have the same order"
    if n_pairs == 1:
        return "the one pair of algorithms has the opposite order"
    return f"{n_reversed} of {n_pairs} pairs of algorithms {'has' if n_reversed == 1 else 'have'} the opposite order"


def between(interval: Limits | None) -> str:
    """Format an interval; a dash if there is none."""
    return NONE if interval is None else numbers.interval(interval.low, interval.high, 3, is_share=True)


def difference_lines(differences: Iterable[Any]) -> list[dict[str, str]]:
    """Format the differences between two runs for a page or the terminal."""
    return [
        {
            "label": difference.label,
            "metric": difference.metric,
            "a": share(difference.a),
            "b": share(difference.b),
            "difference": share(difference.difference),
            "interval": between(difference.interval),
            "users": f"{difference.n_users:,}",
            "p": p_value(difference.p_adjusted),
            "verdict": "differs" if difference.is_significant else "",
        }
        for difference in differences
    ]


TITLES = {**{key: kind.title for key, kind in SPLITS.items()}, **{key: kind.title for key, kind in PROTOCOLS.items()}}


def title_of(key: str) -> str:
    """Return the title of a split or a protocol.

    Examples
    --------
    >>> title_of("one-plus-random"), title_of("probe"), title_of("file")
    ('One plus random', 'Probe', 'File')
    """
    return TITLES.get(key) or key.capitalize()


def in_words(settings: Any) -> str:
    """Format an input of a run as text.

    Examples
    --------
    >>> in_words({"name": "probe", "share": 0.1}), in_words([5, 10]), in_words(7)
    ('Probe, share 0.1', '5, 10', '7')
    """
    if isinstance(settings, Mapping):
        rest = [
            f"{label_of(key).lower()} {_value(key, value)}"
            for key, value in settings.items()
            if key != "name" and value is not None
        ]
        return ", ".join([title_of(settings["name"]), *rest] if "name" in settings else rest)
    if isinstance(settings, list | tuple):
        return ", ".join(map(str, settings)) or "none"
    return str(settings)


LABELS = {  # of parameters whose names alone do not say what they are
    "g": "Generality (g)",
    "alpha": "Confidence (α)",
    "reg": "Regularisation",
    "reg_item": "Damping of items",
    "reg_user": "Damping of people",
    "correlate": "Correlation of",
    "negative": "Negative correlations",
    "held_out": "Share held out",
    "spread": "Initial spread",
    "other": "Other features",
}


def label_of(name: str) -> str:
    """Return the label of a parameter of an algorithm, a split or a protocol.

    Examples
    --------
    >>> label_of("learning_rate"), label_of("g")
    ('Learning rate', 'Generality (g)')
    """
    return LABELS.get(name) or name.replace("_", " ").capitalize()


def parameters_in_words(values: Mapping[str, Any]) -> str:
    """Format the parameters of a model by their labels.

    Examples
    --------
    >>> parameters_in_words({"reg_item": 25.0, "sum_of": "residuals", "normalised": True})
    'Damping of items 25, Sum of residuals, Normalised yes'
    """
    return ", ".join(f"{label_of(name)} {_parameter(value)}" for name, value in values.items())


def _parameter(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _value(key: str, value: Any) -> str:
    if key == "of":
        return title_of(str(value))
    return str(value)[:12] if key == "cases" else str(value)  # the start of a digest identifies a file


def pairwise_lines(tests: Iterable[Any]) -> list[dict[str, Any]]:
    """Format paired tests for the page."""
    return [
        {
            "metric": result.metric,
            "order": "Best (lowest) first" if result.is_lower_better else "Best (highest) first",
            "lines": [
                {
                    "label": line.label,
                    "value": share(line.value),
                    "interval": between(line.interval),
                    "letters": line.letters,
                    "n_users": line.n_users,
                }
                for line in result.lines
            ],
            "pairs": [_pair_line(pair) for pair in result.pairs],
            "together": _omnibus(result.together),
        }
        for result in tests
    ]


def group_lines(groups: Iterable[Any]) -> list[dict[str, Any]]:
    """Format the metrics by group of users for the page."""
    return [
        {
            "title": table.title,
            "metric": table.metric,
            "reason": table.reason,
            "definition": _group_definition(table),
            "lines": [
                {
                    "label": line.label,
                    "means": [
                        (name.capitalize(), share(mean)) for name, mean in zip(table.names, line.means, strict=True)
                    ],
                    "pair": f"{line.highest} −\N{NO-BREAK SPACE}{line.lowest}" if line.highest else NONE,
                    "difference": share(line.gap.value if line.gap else None),
                    "interval": between(line.gap),
                    "ratio": share(line.ratio.value if line.ratio else None),
                    "ratio_interval": between(line.ratio),
                }
                for line in table.lines
            ],
        }
        for table in groups
    ]


def _group_definition(table: Any) -> str:
    if not table.limits:
        sizes = ", ".join(f"{name}: {n:,}" for name, n in zip(table.names, table.n_users, strict=False))
        return f"By an {table.unit} ({sizes})." if sizes else ""
    ends = [f"{limit:,.0f}" if max(table.limits) > 1 else share(limit) for limit in table.limits]
    pieces = [f"{name}, up to {end}" for name, end in zip(table.names, ends, strict=False)]
    return f"By the {table.unit}: {'; '.join(pieces)}; {table.names[-1]}, above that."


def _omnibus(result: Any | None) -> str:
    if result is None:
        return ""
    text = f"χ²({result.df}) = {result.chi_squared:.2f}, p {p_value(result.p, has_sign=True)}"
    return text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def _pair_line(pair: Any) -> dict[str, str]:
    counts = [getattr(pair, name, None) for name in ("n_a", "n_b", "n_ties")]
    return {
        "a": pair.a,
        "b": pair.b,
        **{name: "" if n is None else f"{n:,}" for name, n in zip(("n_a", "n_b", "n_ties"), counts, strict=True)},
        "difference": score(pair.difference),
        "p": p_value(pair.p),
        "p_unadjusted": p_value(pair.p_unadjusted),
    }
