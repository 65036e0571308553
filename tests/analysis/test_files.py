"""What a report is written as: one file that needs nothing, tables with all digits, figures, and typeset numbers."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.template.loader import render_to_string

from analysis.enums import VARIABLE_OF
from analysis.files.document import document_of
from analysis.files.listing import Outputs
from analysis.models import Report
from analysis.present.perceived import table_1
from analysis.present.words import decimal, interval_cell
from analysis.results.perceived import PerceivedVariable
from analysis.services import build_report
from analysis.templatetags.typeset import typeset
from documents.delimited import table_csv
from documents.tables import Column, Row, Table, text
from studies.enums import Mode, Provenance
from studies.models import Study
from tests.factories.analysis import plant
from tests.factories.results import partial

pytestmark = pytest.mark.slow

PLANTED = {"TopPop": [4, 5, 4, 5, 4], "CorNgr": [2, 1, 2, 1, 1], "PureSVD4": [2, 1, 1, 2, 2]}


MEASURED = ("bars-", "curves-", "hasse-recall", "hasse-fallout", "ranks-objective")


class Links(HTMLParser):
    """Everything that a page would fetch, and what its policy forbids."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.scripts = 0
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        for name, value in attrs:
            if name in ("src", "srcset", "data") or (name == "href" and not str(value).startswith("#")):
                self.fetched.append(str(value))
            if name == "id":
                self.ids.append(str(value))


@pytest.fixture(scope="module")
def page(stored_report: Report) -> str:
    """The report as one file."""
    return Outputs(stored_report).files()[0].make().decode()


@pytest.mark.integration
def test_html_needs_nothing_else(page: str) -> None:
    links = Links()
    links.feed(page)
    assert links.fetched == []
    assert links.scripts == 0
    assert len(links.ids) == len(set(links.ids))
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/)", page)
    assert "var(--perceived)" in page
    assert '"#b4490f"' not in page  # a colour that would not follow dark paper


@pytest.mark.integration
def test_figures_say_what_is_simulated_and_what_is_synthetic(study: Study) -> None:
    plant(study, PLANTED, mode=Mode.SIMULATED, provenance=Provenance.MODELLED)
    report = build_report(study=study)
    document = document_of(report)
    assert len(document.figures()) >= 8
    marks = {figure.key: figure.spec["usermeta"]["title"].split(". ")[0] for figure in document.figures()}
    measured = {key for key in marks if key.startswith(MEASURED)}
    assert {marks[key] for key in measured} == {"Synthetic ratings"}
    both = "Simulated participants, synthetic ratings"
    assert {marks[key] for key in set(marks) - measured} == {"Simulated participants", both}
    assert marks["slope"] == both
    outputs = Outputs(report)
    for file in outputs.files():
        if file.suffix in ("svg", "csv", "tex", "md", "txt"):
            assert re.search("simulated participants|synthetic ratings", file.make().decode(), re.IGNORECASE), file.name
        if file.name == "apa.txt":
            sentences = [line for line in file.make().decode().splitlines()[5:] if line.endswith(".")]
            assert len(sentences) > 10
            assert {line.startswith(f"{both}: ") for line in sentences} == {True}
    assert document.notice.endswith("100% are modelled.")
    undrawn = document.with_drawings(lambda figure: "")
    page = render_to_string(
        "analysis/file.html", {"document": undrawn, "body": "analysis/parts/_body.html", "styles": ""}
    )
    body = page[page.index("<h1>") :]
    headline = body[body.index('class="headline"') :]
    assert "Simulated participants" in headline[: headline.index("</p>")]


@pytest.mark.integration
def test_a_phone_has_its_own_drawings_of_the_verdict(page: str) -> None:
    assert page.count('<div class="drawn wide">') == page.count('<div class="drawn narrow">') == 2
    assert 'width="340"' in page.split('<div class="drawn narrow">')[1][:200]


@pytest.mark.integration
def test_peoples_figures_wear_none(page: str) -> None:
    assert "Simulated" not in page


@pytest.mark.integration
@pytest.mark.slow
@pytest.mark.usefixtures("pictures_once")
def test_command_writes_every_file_and_the_same_bytes_again(
    planted: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("report", planted.slug, out=tmp_path / "one")
    printed = capsys.readouterr().out
    assert "have not changed" not in printed
    assert "TopPop" in printed
    assert "Report 1 of good-films" in printed
    call_command("report", planted.slug, out=tmp_path / "two")
    assert "have not changed" in capsys.readouterr().out
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert {Path("report.html"), Path("report.json"), Path("figures/box-accuracy.svg")} <= set(files)
    assert Path("tables/table-1.csv") in files
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    numbers = json.loads((tmp_path / "one" / "report.json").read_text())
    assert set(numbers) == {"$schema", "study", "report", "mode", "inputs_hash", "plan", "provenance", "results"}
    ET.fromstring((tmp_path / "one" / "figures/box-accuracy.svg").read_text())  # noqa: S314 - our own file
    assert (tmp_path / "one" / "figures/box-accuracy.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.integration
def test_command_refuses_in_sentences(planted: Study) -> None:
    with pytest.raises(CommandError, match="nowhere"):
        call_command("report", "nowhere")
    with pytest.raises(CommandError, match="run 999"):
        call_command("report", planted.slug, run=999)
    planted.conditions.update(model_digest="0" * 64)
    with pytest.raises(CommandError, match="not measure"):
        call_command("report", planted.slug)


@pytest.mark.integration
def test_tables_hold_what_the_results_hold(stored_report: Report) -> None:
    files = {file.name: file for file in Outputs(stored_report).files()}
    rows = list(csv.DictReader(io.StringIO(files["tables/table-2.csv"].make().decode())))
    lines = stored_report.results["objective"]["lengths"][0]["table"]
    assert [float(row["Recall, pooled"]) for row in rows] == [line["recall"] for line in lines]
    pairs = list(csv.DictReader(io.StringIO(files["tables/accuracy-pairs.csv"].make().decode())))
    tested = stored_report.results["variables"][0]["tests"]["games_howell"]["pairs"]
    assert [float(row["Simultaneous 95% CI, low"]) for row in pairs] == [pair["ci_low"] for pair in tested]
    assert [float(row["p, Games-Howell"]) for row in pairs] == [pair["p"] for pair in tested]


@pytest.mark.unit
def test_csv_defuses_formulas_and_splits_intervals() -> None:
    table = Table(
        "t",
        "T",
        (Column("Item"), Column("M", True), Column("CI", True)),
        (
            Row((text("=1+1"), decimal(-0.25), interval_cell(-0.5, 0.125)), group="Some"),
            Row((text("plain"), decimal(None), interval_cell(None, None)), group="Some"),
        ),
        group_name="Group",
    )
    rows = list(csv.reader(io.StringIO(table_csv(table))))
    assert rows == [
        ["Group", "Item", "M", "CI, low", "CI, high"],
        ["Some", "'=1+1", "-0.25", "-0.5", "0.125"],
        ["Some", "plain", "", "", ""],
    ]


@pytest.mark.unit
def test_table_1_has_a_row_of_its_own_for_those_without_a_place() -> None:
    def variable(key: str) -> PerceivedVariable:
        rows = [
            {"tier": "maximal", "names": ["A"], "unordered": []},
            {"tier": "intermediate", "names": ["B", "C"], "unordered": ["C"]},
            {"tier": "minimal", "names": [], "unordered": []},
        ]
        found: PerceivedVariable = partial(
            PerceivedVariable,
            {"key": key, "name": VARIABLE_OF[key].name, "alpha": 0.05, "orders": {"tukey": {"rows": rows}}},
        )
        return found

    table = table_1([variable(key) for key in ("accuracy", "fon")], by_tukey=True)
    assert [column.name for column in table.columns] == ["Algorithms", "Perceived accuracy", "First-order novelty"]
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["Maximal", "A", "A"], ["Intermediate", "B", "B"], ["Minimal", "–", "–"], ["No place in the order", "C", "C"],
    ]  # fmt: skip


@pytest.mark.unit
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("F(6, 203) = 7.41, p < .001", "<i>F</i>(6,\u00a0203)\u00a0=\u00a07.41, <i>p</i>\u00a0&lt;\u00a0.001"),
        ("p, Holm", "<i>p</i>, Holm"),
        ("τ_b = .14", "<i>τ<sub>b</sub></i>\u00a0=\u00a0.14"),
        ("<b>M</b> of Up", "&lt;b&gt;M&lt;/b&gt; of Up"),
        ("95% CI", "95% CI"),
    ],
)
def test_statistics_are_typeset_and_everything_else_escaped(written: str, expected: str) -> None:
    assert typeset(written) == expected
