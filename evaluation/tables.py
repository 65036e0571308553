"""How numbers of a run are written: pure, the same on pages and in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol


def share(value: float | None) -> str:
    """Write a value between 0 and 1 with three decimals and no leading zero; a dash where there is none.

    Examples
    --------
    >>> share(0.41666), share(1.0), share(-0.0101), share(None)
    ('.417', '1.000', '-.010', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.3f}".replace("-0.", "-.")
    return text[1:] if text.startswith("0") else text.replace("-.000", ".000")


def seconds(value: float) -> str:
    """Write a time that something took, in seconds.

    Examples
    --------
    >>> seconds(0.00312), seconds(12.345)
    ('0.00', '12.35')
    """
    return f"{value:.2f}"


def duration(value: float) -> str:
    """Write a time as people say it.

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


def facts(counts: dict[str, int]) -> list[tuple[str, str]]:
    """Write counts in words as (what, how many), nothing left out.

    Examples
    --------
    >>> facts({"reserved users": 1200})
    [('reserved users', '1,200')]
    """
    return [(what, f"{count:,}") for what, count in counts.items()]


def score(value: float | None, decimals: int = 3) -> str:
    """Write a model's score, whatever its unit; a dash where there is none.

    Examples
    --------
    >>> score(4.25), score(-0.0004), score(-1234.5), score(None)
    ('4.250', '0.000', '−1,234.500', '–')
    >>> score(302.0, decimals=0)
    '302'
    """
    if value is None:
        return "–"
    text = f"{abs(value):,.{decimals}f}"
    return f"−{text}" if value < 0 and float(text.replace(",", "")) else text


def signed(value: float) -> str:
    """Write what is added to a score, or taken from it.

    Examples
    --------
    >>> signed(0.5), signed(-0.25), signed(0.0)
    ('+0.500', '−0.250', '+0.000')
    """
    return f"{'−' if value < 0 else '+'}{abs(value):,.3f}"


def p_value(value: float | None, *, has_sign: bool = False) -> str:
    """Write a p with three decimals and no leading zero; a dash where nothing was tested.

    Examples
    --------
    >>> p_value(0.0321), p_value(0.0000002), p_value(None)
    ('.032', '< .001', '–')
    """
    if value is None:
        return "–"
    if value < 0.001:
        return "< .001"
    return f"= {share(value)}" if has_sign else share(value)


def cell(value: float | None, reason: str) -> str:
    """Write a metric's value, or why there is none.

    Examples
    --------
    >>> cell(0.25, ""), cell(None, "not a rating predictor"), cell(None, "")
    ('.250', 'not a rating predictor', '–')
    """
    return reason if value is None and reason else share(value)


def columns(
    protocol: Mapping[str, Any], names: Sequence[str], asked: Sequence[str], *, n: int | None, is_given: bool
) -> dict[str, str]:
    """Name the metrics that a run's table shows, and what stands above each.

    `n` is said beside each, unless it is None. `names` are the run's metrics, `asked` those that were asked for, and
    `is_given` says that its candidates came from a file (so that there is no other mode).

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
        other = "sampled" if protocol.get("mode") == "exact" else "exact"
        shown |= {f"{name}(mode={other})": f"{name}{at}, {other}" for name in ("recall", "fallout")}
    shown["recall(ties=served)"] = f"recall{at}, as served"
    shown["filled-slots"] = "filled slots"
    return shown | {name: name for name in asked}


POOLED = "pooled over cases"


def aggregation(protocol: Mapping[str, Any]) -> str:
    """Name how recall and fallout are computed from the cases; empty where each metric's own name or definition says.

    Examples
    --------
    >>> aggregation({"name": "one-plus-random"}), aggregation({"name": "full-ranking"})
    ('pooled over cases', '')
    """
    return POOLED if protocol["name"] == "one-plus-random" else ""


def means_said(protocols: Iterable[Mapping[str, Any]]) -> str:
    """Say what the values of a comparison of runs are, and where the pages of the runs have others.

    Examples
    --------
    >>> means_said([{"name": "full-ranking"}])
    'Means over the users that both runs have, whole profiles.'
    """
    said = "Means over the users that both runs have, whole profiles."
    if any(map(aggregation, protocols)):
        said += f" The results of each run are {POOLED} instead, so that their recall and fallout may differ."
    return said


def pairs_said(n_pairs: int, n_turned: int) -> str:
    """Say how many pairs of algorithms two runs order in opposite ways.

    Examples
    --------
    >>> pairs_said(1, 0), pairs_said(3, 0)
    ('the one pair of algorithms has the same order', 'all 3 pairs of algorithms have the same order')
    >>> pairs_said(3, 1)
    '1 of 3 pairs of algorithms has the opposite order'
    """
    if not n_turned:
        if n_pairs == 1:
            return "the one pair of algorithms has the same order"
        return f"all {n_pairs} pairs of algorithms have the same order"
    if n_pairs == 1:
        return "the one pair of algorithms has the opposite order"
    return f"{n_turned} of {n_pairs} pairs of algorithms {'has' if n_turned == 1 else 'have'} the opposite order"


class Bounds(Protocol):
    """An interval."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...


def between(interval: Bounds | None) -> str:
    """Write an interval; a dash where there is none."""
    return "–" if interval is None else f"{share(interval.low)} to {share(interval.high)}"


def difference_lines(differences: Iterable[Any]) -> list[dict[str, str]]:
    """Write the differences between two runs as a page and a terminal show them."""
    return [
        {
            "label": one.label,
            "metric": one.metric,
            "a": share(one.a),
            "b": share(one.b),
            "difference": share(one.difference),
            "interval": between(one.interval),
            "users": f"{one.n_users:,}",
            "p": p_value(one.p_adjusted),
            "verdict": "differs" if one.is_significant else "",
        }
        for one in differences
    ]


def in_words(settings: Any) -> str:
    """Write an input of a run so that people can read it.

    Examples
    --------
    >>> in_words({"name": "probe", "share": 0.1}), in_words([5, 10]), in_words(7)
    ('probe, share 0.1', '5, 10', '7')
    """
    if isinstance(settings, Mapping):
        rest = [
            f"{key} {str(value)[:12] if key == 'cases' else value}"  # a digest's beginning tells files apart
            for key, value in settings.items()
            if key != "name" and value is not None
        ]
        return ", ".join([str(settings["name"]), *rest] if "name" in settings else rest)
    if isinstance(settings, list | tuple):
        return ", ".join(map(str, settings)) or "none"
    return str(settings)


def pairwise_lines(tests: Iterable[Any]) -> list[dict[str, Any]]:
    """Write paired tests as the page shows them."""
    return [
        {
            "metric": one.metric,
            "order": "Best (lowest) first" if one.is_lower_better else "Best (highest) first",
            "lines": [
                {
                    "label": line.label,
                    "value": share(line.value),
                    "interval": between(line.interval),
                    "letters": line.letters,
                    "n_users": line.n_users,
                }
                for line in one.lines
            ],
            "pairs": [_pair_line(pair) for pair in one.pairs],
            "together": ""
            if one.together is None
            else f"χ²({one.together.df}) = {one.together.chi_squared:.2f}, p {p_value(one.together.p, has_sign=True)}",
        }
        for one in tests
    ]


def _pair_line(pair: Any) -> dict[str, str]:
    """A pair of algorithms; the sign test also counts who is better served by which."""
    counts = [getattr(pair, name, None) for name in ("n_a", "n_b", "n_ties")]
    return {
        "a": pair.a,
        "b": pair.b,
        **{name: "" if n is None else f"{n:,}" for name, n in zip(("n_a", "n_b", "n_ties"), counts, strict=True)},
        "difference": f"{pair.difference:.3f}",
        "p": p_value(pair.p),
        "p_unadjusted": p_value(pair.p_unadjusted),
    }
