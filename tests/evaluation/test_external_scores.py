"""Scores of other systems: read from their files, measured on the cases of a run, and kept out of studies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from scipy.sparse import csr_array

from catalog.selectors.ratings import item_ids_of, user_ids_of
from core.errors import DataError
from evaluation.exports import figure, metric_rows, run_document
from evaluation.models import EvaluationRun, ExternalScores
from evaluation.protocols.external_scores import read_scores
from evaluation.run_pages import results_of
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.paired_tests import run_tests_of
from evaluation.selectors.results import model_rows, table_rows
from evaluation.services.serving import opened_model
from parallax.integrity.artefacts import check_artefacts
from recommenders.data import Profiles
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, work_off

USERS, ITEMS = np.array(["u1", "u2", "7"]), np.array(["a", "b", "10"])
FILES = {
    "trec": "u1 Q0 b 1 0.5 mine\nu1 Q0 a 2 0 mine\n7 Q0 10 1 -2e-1 mine\n",
    "recbole": "user_id:token\titem_id:token\tscore:float\nu1\tb\t0.5\nu1\ta\t0\n7\t10\t-0.2\n",
    "lenskit": "item_id,user_id,score,rank\nb,u1,0.5,1\na,u1,0,2\n10,7,-0.2,1\n",
    "windows": "\ufeffuser_id,item_id,score\r\nu1,b,0.5\r\nu1,a,0\r\n7,10,-0.2\r\n",
}


@pytest.mark.unit
@pytest.mark.parametrize("name", FILES)
def test_scores_are_read_whatever_their_format_and_zero_is_one(tmp_path: Path, name: str) -> None:
    file = tmp_path / "scores.txt"
    file.write_bytes(FILES[name].encode())
    scores = read_scores(file, USERS, ITEMS)
    assert scores.shape == (3, 3)
    parts = [each.tolist() for each in (scores.indptr, scores.indices, scores.data)]
    assert parts == [[0, 2, 2, 3], [0, 1, 2], [0.0, 0.5, -0.2]]


@pytest.mark.unit
def test_all_problems_are_named_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("user_id,item_id,score\nu1,a,1\nu9,a,2\nu1,c,nan\nu2,b,high\nu1,a,3\n")
    with pytest.raises(DataError) as refusal:
        read_scores(file, USERS, ITEMS)
    assert str(refusal.value) == (
        "Unknown users (1): line 3 ('u9'). Unknown items (1): line 4 ('c'). "
        "Scores that are not finite numbers (2): line 4 ('nan'); line 5 ('high'). "
        "Items that the user has already (1): line 6 ('a'). "
        "Correct these places, or leave them out, and upload the file again."
    )
    file.write_text("user_id,item_id,score\n" + "u9,a,1\n" * 1234)
    with pytest.raises(DataError, match=r"Unknown users \(1,234\): .*line 11 \('u9'\) and 1,224 more\."):
        read_scores(file, USERS, ITEMS)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"u1;a;1\n", "none of the formats"),
        (b"user_id,item_id,score\n", "has no scores"),
        (b"", "none of the formats"),
        (b"\xff\xfe", "cannot be read"),
        (None, "cannot be read"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    file = tmp_path / "scores.csv"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_scores(file, USERS, ITEMS)


Writer = Callable[[str, str, float], str]
TREC: tuple[str, Writer] = ("", lambda user, item, score: f"{user} Q0 {item} 1 {score!r} mine\n")
RECBOLE: tuple[str, Writer] = (
    "user_id:token\titem_id:token\tscore:float\n",
    lambda user, item, score: f"{user}\t{item}\t{score!r}\n",
)
LENSKIT: tuple[str, Writer] = ("user_id,item_id,score,rank\n", lambda user, item, score: f"{user},{item},{score!r},1\n")
RANKING = {"name": "full-ranking", "relevant": 4.0}
RATINGS = {"name": "rating-prediction", "relevant": 4.0}


def scores_of(run: EvaluationRun) -> list[tuple[str, str, float]]:
    """The finite scores of the run's first model for its test users, by the dataset's ids."""
    run_cases = cases_of(run)
    model = opened_model(model_rows(run)[0].model_hash)
    users = np.unique(run_cases.cases.users)
    rows = np.searchsorted(run_cases.profiled, users)
    scores = model.score(Profiles.of(training_rows(run_cases.profiles_digest), rows))
    user_ids, item_ids = user_ids_of(run.version), item_ids_of(run.version)
    return [
        (str(user_ids[users[row]]), str(item_ids[item]), float(scores[row, item]))
        for row, item in np.argwhere(np.isfinite(scores))
    ]


def written(path: Path, form: tuple[str, Writer], scores: list[tuple[str, str, float]]) -> Path:
    path.write_text(form[0] + "".join(form[1](*each) for each in scores))
    return path


def uploaded(run: EvaluationRun, path: Path, *options: str, name: str = "Theirs") -> str:
    out = StringIO()
    call_command("upload_scores", run.pk, path, "--name", name, *options, stdout=out)
    return out.getvalue()


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("form", "protocol", "algorithm", "options"),
    [
        (TREC, {"name": "one-plus-random", "negatives": 8}, "puresvd:factors=3", ()),
        (RECBOLE, RANKING, "ease", ()),
        (LENSKIT, RATINGS, "corngr:neighbours=5", ("--ratings",)),
    ],
    ids=["trec", "recbole", "lenskit"],
)
def test_scores_of_a_model_give_its_metrics_in_every_format(
    tmp_path: Path, form: tuple[str, Writer], protocol: dict[str, object], algorithm: str, options: tuple[str, ...]
) -> None:
    run = work_off(make_run(algorithms=f"{algorithm},toppop", protocol=protocol, profile_lengths=(3,)))
    said = uploaded(run, written(tmp_path / "scores", form, scores_of(run)), *options)
    ours, _, theirs = table_rows(run)
    assert theirs.remark.startswith("not servable: scores for ")
    assert theirs.remark in said
    assert set(ours.cells) >= set(theirs.cells)
    for metric, cell in theirs.cells.items():
        assert cell.value == pytest.approx(ours.cells[metric].value, rel=0, abs=1e-9), metric
        assert cell.by_n == pytest.approx(ours.cells[metric].by_n, rel=0, abs=1e-9), metric
    assert [row.label for row in table_rows(run, 3)] == [row.label for row in model_rows(run)]


@pytest.fixture
def run(db: None) -> EvaluationRun:
    protocol = {"name": "one-plus-random", "negatives": 8}
    return work_off(make_run(version=make_version(), algorithms="puresvd:factors=3,toppop", protocol=protocol))


@pytest.mark.integration
def test_partial_scores_state_their_coverage_and_have_no_exact_metrics(run: EvaluationRun, tmp_path: Path) -> None:
    case = cases_of(run).cases
    first, item = user_ids_of(run.version)[case.users[0]], item_ids_of(run.version)[case.items[0]]
    uploaded(run, written(tmp_path / "scores", TREC, [(str(first), str(item), 0.0)]))
    (row,) = ExternalScores.objects.all()
    n_users = len(np.unique(case.users))
    assert row.coverage.startswith(f"scores for 1 of {len(case)} cases ({1 / len(case):.1%}), 1 of {n_users:,} users, ")
    exact = [name for name in row.results if "exact" in name]
    assert exact
    assert all((row.results[name]["value"], row.results[name]["by_n"]) == (None, []) for name in exact)
    uploaded(run, written(tmp_path / "scores", TREC, scores_of(run)))
    assert ExternalScores.objects.get().coverage != row.coverage  # the same name is replaced


@pytest.mark.integration
def test_scores_without_most_candidates_are_in_the_table_and_not_in_charts(
    run: EvaluationRun, tmp_path: Path, admin_client: Client
) -> None:
    cases, users, items = cases_of(run).cases, user_ids_of(run.version), item_ids_of(run.version)
    hidden = [(str(users[u]), str(items[i]), 1.0) for u, i in zip(cases.users, cases.items, strict=True)]
    everything = [(user, str(item), 0.0) for user in {user for user, *_ in hidden} for item in items]
    uploaded(run, written(tmp_path / "scores", TREC, hidden), name="Hidden only")
    uploaded(run, written(tmp_path / "scores", TREC, everything), name="All alike")
    *_, flattered, _ = table_rows(run)
    assert flattered.cells["recall"].value == 1.0  # every candidate comes after the hidden rating
    shown = results_of(run, {})
    for chart in ("chart_main", "chart_recall", "chart_fallout"):
        assert "All alike" in str(shown[chart]), chart
        assert "Hidden only" not in str(shown[chart]), chart
    assert "Hidden only" not in str(figure(run, "recall"))
    assert "Hidden only" in {line["label"] for line in shown["lines"]}
    page = admin_client.get(reverse("evaluation:detail", args=[run.pk])).text
    assert re.search(r"less than 80% of the ranked items have a score: Hidden only \(1\d\.\d%\)\.", page)


@pytest.mark.integration
def test_external_rows_are_exported_and_compared_but_are_no_models(run: EvaluationRun, tmp_path: Path) -> None:
    run_tests_of(run)  # kept in memory until there are other scores
    uploaded(run, written(tmp_path / "scores", LENSKIT, scores_of(run)))
    assert [row.label for row in model_rows(run)] == ["PureSVD3", "TopPop"]
    *_, exported = run_document(run, has_cases=True)["algorithms"]
    assert (exported["label"], exported["origin"], exported["is_servable"]) == ("Theirs", "external", False)
    remarks = [line[5] for line in metric_rows(run) if line[0] == "Theirs"]
    assert remarks
    assert all(remark.startswith("not servable: ") for remark in remarks)
    tested, *_ = run_tests_of(run)
    assert {line.label for line in tested.lines} == {"PureSVD3", "TopPop", "Theirs"}
    results_of(run, {})  # with the charts of the page
    assert list(check_artefacts()) == []


@pytest.mark.integration
def test_uploads_that_are_refused(run: EvaluationRun, tmp_path: Path) -> None:
    file = written(tmp_path / "scores.csv", LENSKIT, [("u0", "nothing", float("nan"))])
    with pytest.raises(
        CommandError, match=r"scores\.csv .* users .* line 2.* items .* line 2.* not finite numbers .* line 2"
    ):
        uploaded(run, file)
    for name in ("TopPop", "", "x" * 81):
        with pytest.raises(CommandError, match="Choose another name"):
            uploaded(run, file, name=name)
    with pytest.raises(CommandError, match="has no results yet"):
        uploaded(make_run(seed=9), file)
    folds = work_off(make_run(algorithms="toppop", split={"name": "k-fold", "k": 2}, profile_lengths=()))
    with pytest.raises(CommandError, match="trained 2 models"):
        uploaded(folds, file)
    assert not ExternalScores.objects.exists()


@pytest.mark.integration
def test_cases_are_written_for_other_systems(run: EvaluationRun, tmp_path: Path, monkeypatch) -> None:
    out = StringIO()
    call_command("export_run", run.pk, "--out", tmp_path / "cases", "--cases", stdout=out)
    assert "cases.npz, train.inter, cases.qrels" in out.getvalue()
    cases, users, items = cases_of(run).cases, user_ids_of(run.version), item_ids_of(run.version)
    lines = [line.split() for line in (tmp_path / "cases" / "cases.qrels").read_text().splitlines()]
    assert [line[0] for line in lines] == users[cases.users].tolist()
    ours, _ = json.loads((tmp_path / "cases" / "run.json").read_text())["algorithms"]
    assert len(ours["above"]) == len(ours["tied"]) == len(cases)
    assert [line[2] for line in lines] == items[cases.items].tolist()
    assert [line[3] for line in lines] == [str(int(each)) for each in cases.is_relevant]
    head, *rows = (tmp_path / "cases" / "train.inter").read_text().splitlines()
    assert head == "user_id:token\titem_id:token\trating:float"
    training = training_rows(cases_of(run).training_digest).user_items
    assert len(rows) == training.nnz
    read = np.array([line.split("\t") for line in rows])
    index = {str(each): at for at, each in enumerate(items)}
    assert csr_array((read[:, 2].astype(float), [index[each] for each in read[:, 1]], training.indptr)).sum() == (
        pytest.approx(training.sum())
    )
    spaced = "evaluation.services.external_scores.item_ids_of"
    monkeypatch.setattr(spaced, lambda version: np.array([f"a {each}" for each in items]))
    with pytest.raises(CommandError, match=r"cases\.qrels could not be written\. TREC"):
        call_command("export_run", run.pk, "--out", tmp_path / "cases", "--cases", stdout=out)


@pytest.mark.integration
def test_profiles_of_strangers_are_written_beside_the_training_ratings(tmp_path: Path, db: None) -> None:
    split = {"name": "strangers", "share": 0.3, "given": 0, "given_share": 0.8}
    run = work_off(make_run(algorithms="toppop", split=split, protocol=RANKING, reserve=0.0, profile_lengths=()))
    call_command("export_run", run.pk, "--out", tmp_path, "--cases", stdout=StringIO())
    trained, profiled = (
        {line.split("\t")[0] for line in (tmp_path / name).read_text().splitlines()[1:]}
        for name in ("train.inter", "profiles.inter")
    )
    assert trained
    assert profiled >= set(user_ids_of(run.version)[cases_of(run).cases.users].tolist())
    assert trained.isdisjoint(profiled)
