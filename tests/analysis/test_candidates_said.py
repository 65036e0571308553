"""The method section states the real number of candidates of the run."""

from __future__ import annotations

import pytest

from analysis.files.document import document_of
from analysis.services import build_report
from tests.factories.analysis import plant
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.mark.parametrize(
    ("negatives", "said", "stored"),
    [
        (1000, "among 25 (1,000 requested) items", {"fewest": 25, "most": 25, "asked": 1000}),
        (20, "among 20 items", None),
    ],
)
def test_method_states_the_candidates_there_were(negatives: int, said: str, stored: dict[str, int] | None) -> None:
    protocol = {"name": "one-plus-random", "negatives": negatives, "relevant": 4.0, "irrelevant": 2.0}
    study = make_study(run=make_run_at("succeeded", protocol=protocol))
    plant(study, {"TopPop": [5, 4, 5], "PureSVD4": [2, 3, 2]})
    report = build_report(study=study)
    method = next(section for section in document_of(report).sections if section.key == "method")
    words = " ".join(block.text for block in method.blocks if block.text)
    assert f"{said} that its" in words
    assert report.results["objective"].get("candidates") == stored
