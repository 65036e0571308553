"""The report on paper: its words, its badges, its pages, and figures whose bytes stay the same."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from analysis.files.document import document_of
from analysis.files.formats import printed
from analysis.files.listing import Outputs
from analysis.models import Report
from analysis.services import build_report
from studies.enums import Mode, Provenance
from studies.models import Study
from tests.analysis.scene import TITLE
from tests.factories.analysis import plant

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]


def words_of(pdf: bytes, folder: Path) -> list[str]:
    """The text of each page."""
    path = folder / "report.pdf"
    path.write_bytes(pdf)
    made = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, check=True, text=True)
    return made.stdout.split("\f")[:-1]


def report_as_pdf(report: Report) -> bytes:
    return next(file for file in Outputs(report).whole() if file.name == "report.pdf").make()


def test_page_one_is_the_verdict_and_the_main_report_is_printed(
    stored_report: Report, poppler: None, tmp_path: Path
) -> None:
    Study.objects.update(title=TITLE)
    report = Report.objects.get(pk=stored_report.pk)
    pages = words_of(report_as_pdf(report), tmp_path)
    first = re.sub(r"\s+", " ", pages[0])
    assert TITLE in first
    document = document_of(report)
    assert "".join(run.text for run in document.headline) in first
    whole = re.sub(r"\s+", " ", " ".join(pages))
    for chapter in document.main_chapters:
        assert chapter.title in whole
    for section in document.main_sections:
        assert section.key in ("pairs", "summary") or section.title in whole  # the first screen has no headings
        for block in section.blocks:
            assert block.table is None or re.sub(r"\s+", " ", block.table.title) in whole
            for figure in block.figures:
                assert re.sub(r"\s+", " ", figure.spec["usermeta"]["title"].split(". ")[-1])[:30] in whole, figure.key
    assert "Metrics in detail" not in whole
    for place, page in enumerate(pages, start=1):
        assert f"{place}/{len(pages)}" in page
    assert "Simulated" not in whole


@pytest.mark.slow
def test_simulated_and_synthetic_stand_on_every_page(study: Study, poppler: None, tmp_path: Path) -> None:
    plant(study, {"TopPop": [4, 5], "CorNgr": [1, 2], "PureSVD4": [3, 3]}, mode=Mode.SIMULATED,
          provenance=Provenance.MODELLED)  # fmt: skip
    for page in words_of(report_as_pdf(build_report(study=study)), tmp_path):
        assert "Simulated participants" in page
        assert "Synthetic ratings" in page


@pytest.mark.slow
@pytest.mark.parametrize(
    "answers",
    [
        pytest.param({"TopPop": [3]}, id="one participant"),
        pytest.param({"TopPop": [3, 3], "CorNgr": [3, 3], "PureSVD4": [3, 3]}, id="all alike"),
    ],
)
def test_little_to_analyse_prints_too(
    study: Study, answers: dict[str, list[int]], poppler: None, tmp_path: Path
) -> None:
    plant(study, answers)
    report = build_report(study=study)
    for file in Outputs(report).files():
        if file.suffix in {"md", "tex", "txt", "qmd", "csv"}:
            assert not re.search(r"\b([nN]a[nN]|Infinity|None)\b", file.make().decode()), file.name
    whole = " ".join(words_of(report_as_pdf(report), tmp_path))
    assert not re.search(r"\b([nN]a[nN]|Infinity|None|undefined)\b", whole)


@pytest.mark.slow
def test_figures_as_pdf_are_the_same_bytes_again(stored_report: Report) -> None:
    one, two = (
        {file.name: file.make() for file in Outputs(stored_report).of_figures() if file.suffix == "pdf"}
        for _ in range(2)
    )
    assert len(one) >= 8
    assert one == two
    assert all(content.startswith(b"%PDF") for content in one.values())


def test_wide_tables_are_set_smaller_and_long_words_get_the_room(stored_report: Report) -> None:
    made = printed(document_of(stored_report))
    tables = {
        re.sub(r"\s", " ", "".join(words for words, _ in block["title"])): block
        for chapter in made["chapters"]
        for section in chapter["sections"]
        for block in section["blocks"]
        if block["kind"] == "table"
    }
    assert tables["Table 2. Objective measures at N = 5"]["size"] < tables["Measures by algorithm"]["size"]
    plan = tables["The plan, and where the report departs from it"]
    assert [column["wide"] for column in plan["columns"]] == [False, True]
