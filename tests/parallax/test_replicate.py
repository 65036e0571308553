"""The whole paper replicated on a small dataset, and again without doing anything twice."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from celery import current_app
from django.core.management import CommandError, call_command

from analysis.models import Report
from analysis.read.inputs import Person
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.services.claim_evidence import RunsEvidence
from inference.claims import AS, NOT_AS, OPEN, Finding, judge, verdict
from parallax.replication.claims import ACCURACY, FON, MEDIAN, NOVELTIES_R, SON, StudyEvidence
from parallax.replication.published import Check, Published, papers, published
from parallax.replication.stages import report_of_study
from studies.design.services.launch import close_study
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, Study
from tests.factories.accounts import UserFactory
from tests.factories.analysis import planted_person
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.parallax.paper_evidence import PaperEvidence

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True), pytest.mark.slow]

N = 2


@pytest.fixture(autouse=True)
def researcher() -> None:
    """The owner of the studies."""
    UserFactory(email="me@example.org")


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tasks run where they are sent; the Bayesian analysis, which tests/analysis tests, says that it needs NumPyro."""
    monkeypatch.setitem(sys.modules, "numpyro", None)
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False


def call(folder: Path, url: str, *more: str) -> str:
    out = io.StringIO()
    given = (
        "--dataset",
        "small",
        "--out",
        str(folder),
        "--per-condition",
        str(N),
        "--factors",
        "3,5",
    )
    call_command("replicate", "cremonesi-2011", *given, "--reserve", "0.3", "--base-url", url, *more, stdout=out)
    return out.getvalue()


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.slow
def test_the_whole_paper_and_nothing_twice(eager: None, live_server: Any, tmp_path: Path) -> None:
    make_version()
    said = call(tmp_path / "first", live_server.url)
    study = Study.objects.get()
    done = Participant.objects.filter(study=study, mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED)
    assert done.count() == 7 * N
    for words in (
        "Table 1. Partial orders",
        "Table 2. At lists of 5",
        "Figure 2.",
        "Figure 5.",
        "is no evidence about people",
    ):
        assert words in said
    for step in ("seven algorithms: done", "Launch the study: done", "Build the report: done", "Write files: done"):
        assert step in said
    counts = (EvaluationRun.objects.count(), TrainedModel.objects.count(), Report.objects.count())
    again = call(tmp_path / "again", live_server.url)
    assert "is reused" in again
    assert f"all {7 * N} exist" in again
    assert counts == (EvaluationRun.objects.count(), TrainedModel.objects.count(), Report.objects.count())
    first, second = files(tmp_path / "first"), files(tmp_path / "again")
    assert first == second
    page = first["replication.html"].decode()
    assert page.count("imulated") > 10
    assert "Synthetic ratings".lower() in page.lower()
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org", "").replace("over HTTP", "")
    numbers = json.loads(first["replication.json"])
    assert numbers["is_simulated"] is True
    assert numbers["published"]["table_2"]["PureSVD50"] == {"recall": 0.29, "fallout": 0.005, "f": 0.45}
    report = Report.objects.get()
    assert numbers["here"]["table_2"] == report.results["objective"]["lengths"][0]["table"]
    verdicts = [claim["verdict"] for claim in numbers["claims"]]
    assert (len(verdicts), verdicts.count("not scored")) == (31, 1)
    # Two participants a condition are too few for intervals; the run has users enough.
    open_ones = {claim["where"] for claim in numbers["claims"] if claim["verdict"] == OPEN}
    assert {"section 4.1 and Figure 2", "section 7, finding (iii)"} <= open_ones
    assert "Collaborative, latent factors" in first["tables/table-2.csv"].decode()
    assert {"figure-2.svg", "table-2-recall.png"} <= {Path(name).name for name in first}
    assert "PureSVD50" in first["tables/table-2.csv"].decode()


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no dataset called"):
        call(tmp_path, "http://127.0.0.1:1/")
    make_version()
    for wrong, words in ((("--factors", "50"), "two whole numbers"), (("--per-condition", "1"), "at least 2"),
                         (("--owner", "nobody@example.org"), "no active account")):  # fmt: skip
        with pytest.raises(CommandError, match=words):
            call(tmp_path, "http://127.0.0.1:1/", *wrong)
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="is a file"):
        call(tmp_path / "file", "http://127.0.0.1:1/")


SEVEN = "lsa:factors=3,toppop,puresvd:factors=5,corngr,nncosngr,puresvd:factors=3,asysvd:factors=3"


def compared(study: str, folder: Path) -> str:
    out = io.StringIO()
    call_command("replicate", "cremonesi-2011", "--study", study, "--out", str(folder), stdout=out)
    return out.getvalue()


def test_answers_of_a_finished_study_are_set_beside_the_paper(tmp_path: Path) -> None:
    study = make_study(run=make_run_at("succeeded", algorithms=SEVEN), settings={"plan": {"resamples": 1000}})
    with pytest.raises(CommandError, match="good-films is live"):
        compared("good-films", tmp_path)
    close_study(study=study)
    with pytest.raises(CommandError, match="No participant"):
        compared("good-films", tmp_path)
    for number, condition in enumerate(study.conditions.order_by("position")):
        for answer in (1 + number % 5, 1 + (number + 1) % 5, 3):
            planted_person(study, condition.label, [answer] * 5, answer, n_watched=answer % 3, n_heard=number % 3)
    printed = compared("good-films", tmp_path)
    page = (tmp_path / "replication.html").read_text()
    for text in (printed, page, *((tmp_path / "tables" / name).read_text() for name in ("table-1.md", "figure-2.md"))):
        assert "imulat" not in text
    assert "21 people in 7 conditions" in page
    assert "3 and 5 factors<" in page
    numbers = json.loads((tmp_path / "replication.json").read_text())
    assert numbers["is_simulated"] is False
    assert numbers["study"] == "good-films"
    assert numbers["names"] == {
        "PureSVD3": "PureSVD50", "PureSVD5": "PureSVD300", "AsySVD (factors=3)": "AsySVD", "NNCosNgr": "NNCosNgr",
        "TopPop": "TopPop", "CorNgr": "CorNgr", "LSA (factors=3)": "LSA",
    }  # fmt: skip
    report = Report.objects.get()
    assert report.mode == Mode.LIVE
    assert numbers["here"]["table_2"] == report.results["objective"]["lengths"][0]["table"]
    correlations = {(row["a"], row["b"]): row["overall"] for row in report.results["correlations"]}
    assert numbers["novelty_r"] == correlations["fon", "son"]["coefficient"]
    assert (tmp_path / "report" / "report.html").exists()
    assert report_of_study(study=study, progress=lambda words: None) == report  # the same answers, nothing new
    assert Report.objects.count() == 1


def test_study_that_is_not_the_papers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="called other"):
        compared("other", tmp_path)
    study = make_study(status="closed")
    planted_person(study, "TopPop", [3] * 5, 3)
    with pytest.raises(CommandError, match=r"puresvd, toppop; .* asysvd, corngr"):
        compared(study.slug, tmp_path)
    assert not Report.objects.exists()
    EvaluationRun.objects.update(n=10)
    with pytest.raises(CommandError, match=r"of 10, .* of 5"):
        compared(study.slug, tmp_path)


@pytest.mark.unit
def test_the_published_numbers_are_whole() -> None:
    assert papers() == ("cremonesi-2011",)
    paper = published("cremonesi-2011")
    assert set(paper.table_2) == set(paper.algorithms)
    recalls = [paper.table_2[name]["recall"] for name in paper.algorithms]
    assert recalls == sorted(recalls, reverse=True)  # Table 2 stands in decreasing order of recall
    for tiers in paper.table_1.values():
        assert sorted(name for names in tiers.values() for name in names) == sorted(paper.algorithms)
    for values in paper.table_2.values():
        # Of each row F is the harmonic mean of recall and a precision of about 1, to what two decimals allow.
        assert 2 * values["recall"] / (1 + values["recall"]) == pytest.approx(values["f"], abs=0.012)


def of_paper(check: Check, names: Sequence[str], paper: Published) -> tuple[str, list[Finding]]:
    findings = judge(check.rule, PaperEvidence(paper), check.quantities, names, **check.options)
    return verdict(findings), findings


REST = ("AsySVD", "CorNgr", "NNCosNgr", "PureSVD300", "PureSVD50", "TopPop")  # the algorithms but for LSA


@pytest.mark.unit
def test_every_scored_statement_is_as_in_the_paper_on_the_printed_values() -> None:
    paper = published("cremonesi-2011")
    scored = [(claim, claim.check) for claim in paper.claims if claim.check is not None]
    assert [claim.says for claim, check in scored if of_paper(check, claim.names, paper)[0] != AS] == []
    assert (len(scored), len(paper.claims)) == (30, 31)
    (shown,) = (claim for claim in paper.claims if claim.check is None)
    assert shown.says == "TopPop and PureSVD300 satisfied the users most. Table 1 names PureSVD50 and TopPop."


@pytest.mark.unit
def test_the_printed_tables_contradict_recall_on_one_pair_and_fallout_on_three() -> None:
    paper = published("cremonesi-2011")
    (claim,) = (claim for claim in paper.claims if claim.check is not None and claim.check.rule == "contradicted")
    assert claim.check is not None
    recall, fallout = of_paper(claim.check, claim.names, paper)[1]
    assert recall.words == "D = 1, TopPop over NNCosNgr"
    assert fallout.words == "D = 3, TopPop over CorNgr, TopPop over LSA, TopPop over NNCosNgr"


@pytest.mark.unit
@pytest.mark.parametrize(
    ("part", "changes", "says"),
    [
        ("printed", {"perceived accuracy": {"all": [4.1, 4.6]}}, "lies between 3 and 4"),
        ("printed", {"second-order novelty": {"all": [0.5, 0.6]}}, "more than 40% unheard of"),
        ("pairs", {"perceived accuracy": {"LSA": ("TopPop",)}}, "TopPop has the highest perceived accuracy."),
        ("pairs", {"first-order novelty": {"LSA": REST}}, "No algorithm is significantly better"),
        ("pairs", {"first-order novelty": {"TopPop": ("LSA",)}}, "Both novelties give the same partial order."),
        ("table_2", {"LSA": {"recall": 0.3, "fallout": 0.002, "f": 0.4}}, "LSA has the lowest recall and F."),
    ],
)  # fmt: skip
def test_other_printed_values_would_not_be_as_in_the_paper(part: str, changes: Any, says: str) -> None:
    paper = published("cremonesi-2011")
    other = replace(paper, **{part: {**getattr(paper, part), **changes}})
    (claim,) = (claim for claim in paper.claims if says in claim.says)
    assert claim.check is not None
    assert of_paper(claim.check, claim.names, other)[0] == NOT_AS


def person(accuracy: int, satisfaction: int, n_watched: int = 2, n_heard: int = 2) -> tuple[Person, list[int]]:
    """A participant who rates five items alike, all but one of them `accuracy`."""
    ratings = [accuracy] * 4 + [3]
    fon = 5 - n_watched
    return Person(5, sum(ratings), fon, max(0, fon - n_heard), 0, 0, 0, 0, satisfaction, ""), ratings


def evidence(**answers: Sequence[tuple[Person, list[int]]]) -> StudyEvidence:
    people = [(name, *answer) for name, of_name in answers.items() for answer in of_name]
    return StudyEvidence(people, RunsEvidence({}), {"recall": {("B", "A")}, "fallout": None}, 0.05)


def judged_on(evidence: StudyEvidence, rule: str, of: Sequence[str], names: str, **options: Any) -> str:
    return verdict(judge(rule, evidence, of, names, **options))


@pytest.mark.unit
def test_answers_are_judged_by_their_own_intervals() -> None:
    rng = np.random.default_rng(3)
    drawn = {
        "A": [person(int(a), int(a), n_watched=1) for a in rng.integers(4, 6, 40)],
        "B": [person(int(a), int(a), n_watched=4, n_heard=1) for a in rng.integers(1, 4, 40)],
        "C": [person(2, 2)] * 4,  # too few
    }
    found = evidence(**drawn)
    assert found.pairs(ACCURACY) == {("A", "B")}
    assert judged_on(found, "top", [ACCURACY], "A") == AS
    assert judged_on(found, "bottom", [ACCURACY], "A") == NOT_AS
    assert judged_on(found, "top", [ACCURACY], "C") == OPEN
    assert judged_on(found, "near", [ACCURACY], "A", value=4.2, margin=0.6) == AS
    assert judged_on(found, "near", [ACCURACY], "AB", value=4.2, margin=0.6) == NOT_AS
    assert judged_on(found, "near", [ACCURACY], "C", value=2.0, margin=0.6) == OPEN
    assert judged_on(found, "least", ["perceived accuracy of 3 or more"], "A", value=0.75, margin=0.15) == AS
    assert judged_on(found, "least", ["perceived accuracy of 3 or more"], "B", value=0.75, margin=0.15) == NOT_AS
    assert judged_on(found, "least", [MEDIAN], "A", value=3) == AS
    assert judged_on(found, "near", ["items rated 3 or more"], "A", value=5, margin=0.1) == AS
    assert judged_on(found, "top", ["ratings of 2 or less"], "B") == AS
    assert judged_on(found, "least", ["no unheard-of item"], "B", value=0.75, margin=0.15) == AS
    assert judged_on(found, "tiers", [ACCURACY], "A", minimal="B") == AS
    assert judged_on(found, "tiers", [ACCURACY], "B", minimal="A") == NOT_AS
    assert judged_on(found, "differs", ["effect on perceived accuracy"], "", negligible=0.1) == AS
    assert judged_on(found, "contradicted", [ACCURACY, "recall"], "AB") == AS
    assert judged_on(found, "contradicted", [ACCURACY, "recall", "fallout"], "AB") == OPEN
    # Every answer but one equals satisfaction, so that it varies less; novelty is the same within a condition.
    assert judged_on(found, "least", ["log ratio of the SDs of satisfaction and accuracy"], "", value=0) == AS
    follows = [f"r of satisfaction with accuracy less |r| with {novelty}" for novelty in (FON, SON)]
    assert judged_on(found, "least", follows, "", value=0) == AS
    spread = found.value("log ratio of the SDs of satisfaction and accuracy", "")
    assert spread == pytest.approx(np.log(5 / 4))  # the mean moves by four fifths of satisfaction


@pytest.mark.unit
def test_answers_that_do_not_vary_leave_statements_open() -> None:
    same = evidence(A=[person(3, 3)] * 6, B=[person(3, 3)] * 6)
    assert judged_on(same, "near", [NOVELTIES_R], "", value=0.8, margin=0.1) == OPEN
    assert judged_on(same, "differs", ["effect on perceived accuracy"], "", negligible=0.1) == OPEN
    assert judged_on(same, "least", ["log ratio of the SDs of satisfaction and accuracy"], "", value=0) == OPEN
    assert judged_on(same, "top", [ACCURACY], "A") == OPEN
