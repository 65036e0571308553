"""What a reader chooses on a chapter: shown at once, and nothing of what is stored changes."""

from __future__ import annotations

import re
from typing import Any

import lxml.html
import pytest
from django.test import Client

from analysis.files.choices import Chosen, chosen_body
from analysis.models import Drawing, Report
from analysis.services.report_cache import chapter_of, page_of
from studies.models import StudyMembership
from tests.factories.analysis import report_page

pytestmark = pytest.mark.slow

METRICS = ("recall", "fallout")
HEAD = "<thead><tr><th>A</th><th>B</th><th>p, two-sided</th><th>p, Holm</th></tr></thead>"
ROWS = (
    "<tr><th>TopPop</th><td>LSA</td><td>.010</td><td>.030</td></tr>"
    "<tr><th>TopPop</th><td>CorNgr</td><td>.020</td><td>.060</td></tr>"
    "<tr><th>LSA</th><td>CorNgr</td><td>&lt; .001</td><td>&lt; .001</td></tr>"
)


def folded(key: str) -> str:
    return (
        f'<details class="data-table"><summary>Pairs</summary><div class="scroll table-{key}"><table>{HEAD}'
        f"<tbody>{ROWS}</tbody></table></div></details>"
    )


FIGURES = ("hasse-recall", "hasse-fallout", "bars-recall")
BODY = (
    '<p class="notice">Simulated</p><section id="variable-accuracy"><p>1 &lt; 2</p></section>'
    '<section id="variable-fon"><p>novelty</p></section><section id="objective">'
    + "".join(f'<figure id="{name}"></figure>' for name in FIGURES)
    + "".join(map(folded, ("order-recall", "order-recall-5", "order-fallout", "accuracy-pairs", "table-2")))
    + "</section>"
)


def shown(**chosen: Any) -> lxml.html.HtmlElement:
    body = chosen_body(BODY, Chosen(**chosen), metrics=METRICS, alpha=0.05)
    return lxml.html.fragment_fromstring(body, create_parent="div")


def keys(root: lxml.html.HtmlElement) -> list[str]:
    return [*root.xpath(".//figure/@id"), *(name.split("table-", 1)[1] for name in root.xpath(".//div/@class"))]


@pytest.mark.unit
def test_nothing_chosen_shows_the_stored_chapter() -> None:
    assert chosen_body(BODY, Chosen(), metrics=METRICS, alpha=0.05) == BODY


@pytest.mark.unit
def test_measure_keeps_its_section_and_every_caveat() -> None:
    root = shown(measure="fon")
    assert root.xpath("./section/@id") == ["variable-fon", "objective"]
    assert root.xpath("string(./p)") == "Simulated"


@pytest.mark.unit
def test_metric_and_length_keep_their_figures_and_tables() -> None:
    assert keys(shown(metric="fallout")) == ["hasse-fallout", "order-fallout", "accuracy-pairs", "table-2"]
    assert keys(shown(metric="recall", length="5")) == [
        "hasse-recall", "bars-recall", "order-recall-5", "accuracy-pairs", "table-2",
    ]  # fmt: skip
    assert keys(shown(length="0")) == [
        *FIGURES, "order-recall", "order-fallout", "accuracy-pairs", "table-2",
    ]  # fmt: skip


@pytest.mark.unit
def test_only_significant_pairs_by_the_corrected_p() -> None:
    root = shown(is_significant=True)
    pairs = root.xpath(".//div[@class='scroll table-accuracy-pairs']//tbody/tr")
    assert [row.text_content() for row in pairs] == ["TopPopLSA.010.030", "LSACorNgr< .001< .001"]
    assert len(root.xpath(".//div[@class='scroll table-table-2']//tbody/tr")) == 3


@pytest.mark.unit
def test_highlight_marks_the_rows_of_an_algorithm() -> None:
    root = shown(highlight="LSA")
    assert {row[0].text for row in root.xpath(".//tr[@class='highlighted']")} == {"LSA"}


@pytest.fixture
def owner(stored_report: Report) -> Client:
    client = Client()
    client.force_login(StudyMembership.objects.get(study=stored_report.study).researcher)
    return client


def chapter(report: Report, key: str) -> str:
    return report_page(report, "chapter", key)


@pytest.mark.integration
@pytest.mark.django_db
def test_choices_are_what_the_report_compares(stored_report: Report) -> None:
    choices = page_of(stored_report).choices
    assert ("accuracy", "Perceived accuracy") in choices.measures
    assert choices.metrics == (("recall", "Recall"), ("fallout", "Fallout"))
    assert choices.lengths[0] == ("0", "Whole profiles")
    assert choices.algorithms == ("TopPop", "CorNgr", "PureSVD4")


@pytest.mark.integration
@pytest.mark.django_db
def test_every_pair_of_measures_can_be_looked_at(stored_report: Report, owner: Client) -> None:
    address = chapter(stored_report, "comparison")
    assert 'id="pair"' not in owner.get(address).text
    html = owner.get(address, {"measure": "fon", "metric": "fallout", "length": "5"}).text
    section = html.split('<section id="pair"')[1].split("</section>")[0]
    assert "5 ratings" in section
    assert section.count("<figure") == 1  # no grid of pairs with fewer than five participants in a condition
    primary = owner.get(address, {"measure": "accuracy"}).text
    assert "recall at 5" in primary


@pytest.mark.integration
@pytest.mark.django_db
def test_choices_do_not_change_what_is_stored(stored_report: Report, owner: Client) -> None:
    before = chapter_of(stored_report, "supplement")
    results = Report.objects.values_list("results", flat=True).get(pk=stored_report.pk)
    html = owner.get(chapter(stored_report, "supplement"), {"metric": "fallout", "significant": "on"}).text
    assert "table-order-fallout" in html
    assert "table-order-recall" not in html
    assert html.count("<tr") < before.count("<tr")
    assert chapter_of(stored_report, "supplement") == before
    assert Report.objects.values_list("results", flat=True).get(pk=stored_report.pk) == results
    names = set(Drawing.objects.filter(report=stored_report).values_list("name", flat=True))
    assert not any("fallout" in name for name in names if "pair" not in name)


@pytest.mark.integration
@pytest.mark.django_db
def test_perceived_chapter_of_one_measure(stored_report: Report, owner: Client) -> None:
    html = owner.get(chapter(stored_report, "supplement"), {"measure": "son", "highlight": "TopPop"}).text
    assert re.findall(r'<section id="variable-(\w+)"', html) == ["son"]
    assert '<tr class="highlighted">' in html
    assert "<option selected>TopPop</option>" in html


@pytest.mark.integration
@pytest.mark.django_db
def test_unknown_choice_is_said_beside_the_field_and_ignored(stored_report: Report, owner: Client) -> None:
    html = owner.get(chapter(stored_report, "supplement"), {"measure": "sales", "highlight": "nothing"}).text
    assert "sales is not" in html
    assert 'id="variable-accuracy"' in html
    assert "highlighted" not in html
