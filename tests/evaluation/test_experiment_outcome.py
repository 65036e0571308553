"""The outcome of an experiment is printed whatever it is."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.models import Dataset, DatasetVersion
from documents.blocks import Figure, Section
from documents.html import page
from documents.markdown import document_markdown
from evaluation.experiments.schema import Check, Claim, Judgement, Quantity
from evaluation.experiments.yaml_loader import parse
from evaluation.models import EvaluationRun
from evaluation.services.experiment_outcome import RunFacts, document, filled_table, summary
from inference.claims import Finding
from inference.results import Interval
from tests.approval import assert_approved
from tests.evaluation.test_yaml_loader import SMALL
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.unit

HERE = Quantity("main", "recall")


def version(title: str, *, is_synthetic: bool = False) -> DatasetVersion:
    dataset = Dataset(name="small", title=title)
    facts = {"content_hash": "b" * 64, "n_users": 60, "n_items": 40, "n_ratings": 900}
    return DatasetVersion(dataset=dataset, is_synthetic=is_synthetic, **facts)


def markdown(sections: list[Section]) -> str:
    return document_markdown("Two algorithms", sections)


def judged(outcome: bool | None, origin: Any = "noted", says: str = "Factors finds more.") -> Judgement:
    claim = Claim(
        says=says,
        by=origin,
        where="elsewhere",
        check=Check(kind="order", places=(HERE,), algorithms=("Factors", "Popular")),
    )
    return Judgement(claim, (Finding(HERE, "Factors .400, Popular .300", outcome, Interval(0.098, 0.102), 0.95),))


def outcome(is_as_claimed: bool | None, *, is_synthetic: bool = False) -> list[Section]:
    short = Quantity("main", "recall", 5)
    numbers = {(HERE, "Popular"): 0.3, (HERE, "Factors"): 0.4, (short, "Popular"): 0.3, (short, "Factors"): None}
    run = EvaluationRun(
        pk=7,
        inputs_hash="a" * 64,
        n_relevant=1200,
        n_irrelevant=3,
        left_out={"reserved users": 0, "hidden ratings": 2},
        counted={"short cases": 0},
        comments=["Mind the task.", "Mind the task."],
    )
    facts = RunFacts(run, {("Factors", "recall"): "not comparable"})
    dataset = version("Small <set>", is_synthetic=is_synthetic)
    figures = [Figure("bars", {"usermeta": {"title": "Recall"}}, drawing="<svg></svg>")]
    judgements = [judged(is_as_claimed)]
    experiment = parse(SMALL, "mine.yaml")
    return document(experiment, dataset, judgements=judgements, numbers=numbers, figures=figures, runs={"main": facts})


def test_outcome_tells_claims_tables_figures_and_how_it_was_run() -> None:
    text = markdown(outcome(True))
    assert_approved("experiments/outcome", text)
    assert text.count("Mind the task.") == 1
    assert "Popular .300 (open)" in markdown(outcome(None))


def test_outcome_on_synthetic_ratings_says_so() -> None:
    assert_approved("experiments/outcome-synthetic", markdown(outcome(True, is_synthetic=True)))
    assert "ynthetic" not in markdown(outcome(True))


def test_page_stands_alone_and_escapes() -> None:
    html = page("Two & two", "Two & two", outcome(None))
    assert "<title>Two &amp; two</title>" in html
    assert "Small &lt;set&gt;" in html
    assert '<figure class="chart" id="bars">\n<svg></svg>\n</figure>' in html
    assert '<th scope="row">Factors</th><td class="n">.400</td><td class="n">–</td>' in html
    assert "http" not in html.replace('lang="en"', "")


@pytest.mark.parametrize(
    ("outcome", "origin", "verdict"),
    [
        (True, "published", "as in the paper"),
        (False, "inferred", "not as in the paper"),
        (None, "published", "open"),
        (True, "noted", "as noted"),  # elsewhere, not in the paper
        (False, "noted", "not as noted"),
    ],
)
def test_verdicts_name_the_paper_where_it_makes_the_claim(outcome: bool | None, origin: str, verdict: str) -> None:
    assert judged(outcome, origin).verdict == verdict


def test_summary_counts_verdicts_of_every_origin() -> None:
    said = summary([judged(True), judged(True, "published"), judged(False), judged(False, "inferred"), judged(None)])
    assert_sentences_approved("sentences/claims", {"five claims": [said]})


def test_a_reading_of_a_claim_is_printed_and_an_inference_is_not_called_published() -> None:
    text = SMALL.replace("    by: noted\n", "    by: inferred\n    read_as: by any margin\n")
    experiment = parse(text, "mine.yaml")
    dataset = version("Small")
    facts = RunFacts(EvaluationRun(pk=7, inputs_hash="a" * 64, n_relevant=1, n_irrelevant=1), {})
    judgements = [Judgement(experiment.claims[0], ())]
    said = markdown(document(experiment, dataset, judgements=judgements, numbers={}, figures=[], runs={"main": facts}))
    assert_approved("experiments/outcome-inferred", said)


def test_notes_may_have_words_and_figures_or_either() -> None:
    text = SMALL.replace("  - where: Elsewhere\n", "  - {where: There, says: It was so.}\n  - where: Elsewhere\n")
    experiment = parse(text, "mine.yaml")
    assert [bool(note.says) for note in experiment.found_elsewhere] == [True, False]
    dataset = version("Small")
    rows = filled_table(experiment, "all", {}, dataset).rows
    assert [[cell.text for cell in row.cells] for row in rows] == [["Popular", "–", "–"], ["Factors", "–", "–"]]
