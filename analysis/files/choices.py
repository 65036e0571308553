"""What a reader can choose on the pages of a report, and a rendered chapter with only what was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import lxml.html
from lxml.html import HtmlElement

from analysis.present.words import length_words
from analysis.results.report import Results
from evaluation.reported_kinds import kind_name

Choice = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Pairs of key and name; `alpha` is the level of the tests."""

    measures: tuple[Choice, ...]
    metrics: tuple[Choice, ...]
    lengths: tuple[Choice, ...]
    algorithms: tuple[str, ...]
    alpha: float


def choices_of(results: Results) -> Choices:
    """The choices of a report: what its comparisons hold."""
    compared = results.comparisons
    keys = dict.fromkeys(comparison.variable_key for comparison in compared)
    names = {comparison.variable_key: comparison.variable.name for comparison in compared}
    lengths = sorted({comparison.profile_length for comparison in compared})
    return Choices(
        measures=tuple((key, names[key]) for key in keys),
        metrics=tuple((kind, kind_name(kind)) for kind in dict.fromkeys(pair.kind for pair in compared)),
        lengths=tuple((str(length), length_words(length).removeprefix("with ").capitalize()) for length in lengths),
        algorithms=tuple(condition.label for condition in results.conditions),
        alpha=compared[0].alpha if compared else 0.05,
    )


# Figures and tables of one profile length; others show several.
_OF_ONE_LENGTH = ("order-", "effects-")


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The choices of a reader; empty means everything. `length` 0 as text means whole profiles."""

    measure: str = ""
    metric: str = ""
    length: str = ""
    is_significant: bool = False
    highlight: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the chapter is shown as it is stored."""
        return self == Chosen()


def chosen_body(body: str, chosen: Chosen, *, metrics: tuple[str, ...], alpha: float) -> str:
    """The sections of a chapter as chosen. `metrics` are the kinds that the report knows, `alpha` the level below which
    a difference is significant.
    """
    if chosen.is_empty:
        return body
    root = lxml.html.fragment_fromstring(body, create_parent="div")
    for section in root.xpath(".//section[starts-with(@id, 'variable-')]"):
        if chosen.measure and section.get("id") != f"variable-{chosen.measure}":
            parent = section.getparent()
            (parent if parent.tag == "details" else section).drop_tree()
    figures = [(figure.get("id"), figure) for figure in root.xpath(".//figure[@id]")]
    for key, element in [*figures, *_tables(root)]:
        if not _is_shown(key, chosen, metrics):
            element.drop_tree()
        elif chosen.is_significant:
            _keep_significant(key, element, alpha)
    for row in root.xpath(".//tbody/tr") if chosen.highlight else ():
        if len(row) and row[0].text_content().strip() == chosen.highlight:
            row.set("class", " ".join(filter(None, (row.get("class"), "highlighted"))))
    return "".join(lxml.html.tostring(child, encoding="unicode") for child in root)


def _tables(root: HtmlElement) -> Iterator[tuple[str, HtmlElement]]:
    """Tables outside figures, with their fold and note."""
    for scroll in root.xpath(".//div[contains(@class, 'scroll table-')][not(ancestor::figure)]"):
        key = scroll.get("class").split("table-", 1)[1]
        parent = scroll.getparent()
        yield key, parent if parent.tag == "details" else scroll


def _is_shown(key: str, chosen: Chosen, metrics: tuple[str, ...]) -> bool:
    """Whether a figure or table is of the metric and the profile length; those of several are always shown."""
    parts = key.split("-")
    own = [kind for kind in metrics if kind in parts]
    if chosen.metric and own and chosen.metric not in own:
        return False
    if not chosen.length or not key.startswith(_OF_ONE_LENGTH) or not own:
        return True
    return (parts[-1] if parts[-1].isdigit() else "0") == chosen.length


def _keep_significant(key: str, element: HtmlElement, alpha: float) -> None:
    if not key.endswith("-pairs"):
        return
    heads = [" ".join(head.text_content().split()) for head in element.xpath(".//thead//th")]
    tested = [at for at, head in enumerate(heads) if head == "p" or head.startswith("p,")]
    corrected = [at for at in tested if "Holm" in heads[at] and "Dunn" not in heads[at]]
    for row in element.xpath(".//tbody/tr"):
        cells = [cell.text_content() for cell in row]
        if len(cells) == len(heads) and not any(_below(cells[at], alpha) for at in (corrected or tested[:1])):
            row.drop_tree()


def _below(printed: str, alpha: float) -> bool:
    """Whether a printed p value, such as ".039" or "< .001", is below the level."""
    digits = printed.strip().lstrip("<= \N{NO-BREAK SPACE}")
    return digits.replace(".", "", 1).isdigit() and float(digits) < alpha
