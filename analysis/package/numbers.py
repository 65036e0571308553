"""The report's numbers that the package's scripts recompute: one a line, under the names that both scripts use."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from analysis.enums import Metric
from studies.codebook.cells import cell

Result = Mapping[str, Any]
Line = tuple[str, str, str, str, str, float]
HEADS = ("of", "test", "a", "b", "statistic", "value")
DESCRIBED = ("n", "mean", "sd", "median", "q1", "q3")
PER_TEST = {
    "anova": ("f", "df_between", "df_within", "p", "eta_squared"),
    "welch": ("f", "df_between", "df_within", "p"),
    "brown_forsythe": ("f", "df_between", "df_within", "p"),
    "kruskal": ("h", "df", "p"),
}
PER_PAIR = {
    "tukey": ("difference", "p", "ci_low", "ci_high"),
    "games_howell": ("difference", "df", "p", "ci_low", "ci_high"),
}
PER_CONTRAST = ("t", "df", "p", "ci_low", "ci_high")
PER_SIGN_TEST = ("n_a", "n_b", "n_ties", "p_unadjusted", "p")


def numbers_csv(results: Result) -> str:
    """Every such number with all its digits; what has no value has no line."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADS)
    for of, test, a, b, statistic, value in lines_of(results):
        writer.writerow([of, test, cell(a), cell(b), statistic, value])
    return stream.getvalue()


def lines_of(results: Result) -> Iterator[Line]:
    """The lines of the file: variables, what was measured, both sides together."""
    n = results["objective"]["n"]
    yield from chain.from_iterable(map(_of_variable, results["variables"]))
    for length in results["objective"]["lengths"]:
        for kind in ("recall", "fallout"):
            yield from _of_metric(length, kind, Metric(kind, length["profile_length"], n).key)
    yield from _of_contrast(results.get("contrast"))
    for one in results["comparisons"]:
        if one["tau"]["is_defined"]:
            for statistic in ("coefficient", "p"):
                if statistic == "coefficient" or one["tau"]["p_method"].startswith("exact"):
                    yield one["variable"], "tau_b", one["metric"], "", statistic, one["tau"][statistic]


def _of_variable(variable: Result) -> Iterator[Line]:
    key = variable["key"]
    for name in variable["conditions"]:
        found = variable["described"].get(name)
        if found is not None:
            yield from (
                (key, "described", name, "", statistic, found[statistic])
                for statistic in DESCRIBED
                if found[statistic] is not None
            )
    for test, statistics in PER_TEST.items():
        if variable[test]["is_defined"]:
            yield from ((key, test, "", "", statistic, variable[test][statistic]) for statistic in statistics)
    for test, statistics in PER_PAIR.items():
        yield from _of_pairs(key, test, variable["tests"][test], statistics)


def _of_contrast(found: Result | None) -> Iterator[Line]:
    if found is None or not found["is_defined"]:
        return
    key = found["variable"]
    yield key, "contrast", "", "", "difference", found["difference"]
    for test, one in (("contrast", found["pooled"]), ("contrast_welch", found["welch"])):
        if one is not None:
            yield from ((key, test, "", "", name, one[name]) for name in PER_CONTRAST if one[name] is not None)


def _of_metric(length: Result, kind: str, key: str) -> Iterator[Line]:
    for line in length["table"]:
        if line[kind] is not None:
            yield key, "value", line["condition"], "", kind, line[kind]
    yield from _of_pairs(key, "sign_test", length[kind]["sign_tests"], PER_SIGN_TEST)


def _of_pairs(key: str, test: str, found: Result, statistics: tuple[str, ...]) -> Iterator[Line]:
    if not found["is_defined"]:
        return
    for pair in found["pairs"]:
        if pair["p"] is not None:
            yield from ((key, test, pair["a"], pair["b"], statistic, pair[statistic]) for statistic in statistics)
