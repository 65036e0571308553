"""The commands, with Celery in this process."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import signal
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from catalog.importers.base import ParsedItem
from catalog.services import import_parsed
from core import artefacts
from evaluation.enums import PartKind, PartStatus, RunStatus
from evaluation.exports import run_document
from evaluation.management import run_monitor
from evaluation.models import EvaluationRun, RunAlgorithm, RunPart, TrainedModel
from evaluation.selectors.runs import progress
from evaluation.services.parts import lease_part
from evaluation.services.runs import cancel_run
from evaluation.services.worker_loop import execute
from evaluation.tables import share
from tests.factories.catalog import make_items, make_parsed, make_version
from tests.factories.evaluation import make_run, make_run_at, work_off
from tests.sentences import assert_refused_as_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True)]

ARGUMENTS = [
    "--algorithms",
    "toppop,puresvd:factors=4",
    "--split",
    "probe:share=0.2",
    "--reserve",
    "0.1",
    "--protocol",
    "one-plus-random",
    "--negatives",
    "20",
    "--n",
    "5",
    "--relevant",
    "4",
    "--irrelevant",
    "2",
    "--seed",
    "1",
]
ALGORITHM_KEYS = {
    "key",
    "label",
    "params",
    "model_hash",
    "recipe",
    "was_reused",
    "recall",
    "fallout",
    "precision",
    "f_measure",
    "fit_seconds",
    "score_seconds",
    "users_hash",
    "values",
    "by_n",
}
DOCUMENT_KEYS = {
    "run",
    "dataset",
    "dataset_version",
    "dataset_hash",
    "inputs_hash",
    "cases_hash",
    "training_hash",
    "split",
    "protocol",
    "task",
    "metrics",
    "comments",
    "reserve",
    "seed",
    "n",
    "threads",
    "g",
    "n_relevant",
    "n_irrelevant",
    "candidates",
    "left_out",
    "counted",
    "environment",
    "algorithms",
    "at_profile_length",
}


def call(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_evaluate_prints_a_table_and_writes_every_number(eager: None, tmp_path: Path) -> None:
    version = make_version()
    file = tmp_path / "run.json"
    said = call("evaluate", "small", *ARGUMENTS, "--json", str(file))
    document = json.loads(file.read_text())
    assert set(document) == DOCUMENT_KEYS
    assert document["dataset_hash"] == version.content_hash
    assert document["split"] == {"name": "probe", "share": 0.2}
    assert document["protocol"]["negatives"] == 20
    assert document["seed"] == 1
    assert document["g"] == document["n_relevant"] / (document["n_relevant"] + document["n_irrelevant"])
    assert set(document["at_profile_length"]) == {"5"}
    for rows in (document["algorithms"], document["at_profile_length"]["5"]):
        assert [row["key"] for row in rows] == ["toppop", "puresvd"]
        for row in rows:
            assert set(row) == ALGORITHM_KEYS
            by_n = row["by_n"]
            assert by_n["n"] == list(range(1, 21))
            for name in ("recall", "fallout", "precision", "f_measure"):
                assert row[name] == by_n[name][4]
            assert artefacts.load("models", row["model_hash"]).meta["algorithm"] == row["key"]
            above = artefacts.load("results", row["users_hash"]).arrays["above"]
            assert len(above) == document["n_relevant"] + document["n_irrelevant"]
    lines = said.splitlines()
    head = next(line for line in lines if line.startswith("algorithm"))
    assert head.split() == [
        "algorithm",
        "recall@5",
        "fallout@5",
        "precision@5",
        "F@5",
        "recall@5,",
        "exact",
        "fallout@5,",
        "exact",
        "recall@5,",
        "as",
        "served",
        "filled",
        "slots",
        "fit",
        "s",
        "score",
        "s",
        "recall@5,",
        "5",
        "ratings",
    ]
    toppop = next(line for line in lines if line.startswith("TopPop")).split()
    recall = f"{document['algorithms'][0]['recall']:.3f}".removeprefix("0")
    assert toppop[1] == recall
    assert f"{document['n_relevant']:,} relevant" in said
    assert "6 reserved users" in said
    assert "Reused models" not in said


def test_evaluate_again_is_a_new_run_with_the_same_numbers_and_models(eager: None, tmp_path: Path) -> None:
    make_version()
    call("evaluate", "small", *ARGUMENTS, "--json", str(tmp_path / "one.json"))
    said = call("evaluate", "small", *ARGUMENTS, "--json", str(tmp_path / "two.json"))
    assert "TopPop, PureSVD4." in said
    one, two = (json.loads((tmp_path / name).read_text()) for name in ("one.json", "two.json"))
    assert (one["run"], one["inputs_hash"]) != (two["run"], None)
    assert one["inputs_hash"] == two["inputs_hash"]
    assert [row["by_n"] for row in one["algorithms"]] == [row["by_n"] for row in two["algorithms"]]
    assert TrainedModel.objects.count() == 2


def test_evaluate_ends_with_the_reason_when_the_run_failed(eager: None) -> None:
    make_version()
    with pytest.raises(CommandError, match="AsySVD diverged"):
        call("evaluate", "small", *ARGUMENTS, "--algorithms", "asysvd:factors=5,learning_rate=1e6")
    assert EvaluationRun.objects.get().status == RunStatus.FAILED


def test_evaluate_that_is_interrupted_cancels_its_run(running_worker: None, monkeypatch: pytest.MonkeyPatch) -> None:
    make_version()

    def interrupt(seconds: float) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(run_monitor.time, "sleep", interrupt)
    with pytest.raises(CommandError, match=r"evaluate --resume \d+`") as ended:
        call("evaluate", "small", *ARGUMENTS)
    assert ended.value.returncode == 130
    assert signal.getsignal(signal.SIGTERM) is before
    assert EvaluationRun.objects.get().status == RunStatus.CANCELLED


def test_evaluate_takes_up_a_run_that_stopped(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    version = make_version()
    stopped = make_run(version=version, algorithms="toppop,puresvd:factors=4", seed=7)
    prepare = lease_part(run=stopped)
    assert prepare is not None
    execute(part=prepare)
    stopped.refresh_from_db()
    cancel_run(run=stopped)
    prepared = stopped.parts.get(kind="prepare").updated_at
    request.getfixturevalue("eager")
    said = call("evaluate", "--resume", str(stopped.pk), "--json", str(tmp_path / "run.json"))
    stopped.refresh_from_db()
    assert stopped.status == RunStatus.SUCCEEDED
    assert stopped.parts.filter(kind="prepare", updated_at=prepared).exists()  # what was done was not done again
    assert f"Run {stopped.pk} on {version}" in said
    whole = work_off(make_run(version=version, algorithms="toppop,puresvd:factors=4", seed=7))
    told = json.loads((tmp_path / "run.json").read_text())
    assert [row["by_n"] for row in told["algorithms"]] == [row["by_n"] for row in run_document(whole)["algorithms"]]
    with pytest.raises(CommandError, match=r"manage\.py export_run"):
        call("evaluate", "--resume", str(stopped.pk))


def test_evaluate_takes_up_a_run_whose_command_was_killed(request: pytest.FixtureRequest) -> None:
    killed = make_run(algorithms="toppop", queue="parallax-run-gone")
    part = lease_part(run=killed)
    assert part is not None
    with pytest.raises(CommandError, match="is in progress"):
        call("evaluate", "--resume", str(killed.pk))
    request.getfixturevalue("eager")
    killed.parts.filter(pk=part.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    call("evaluate", "--resume", str(killed.pk))
    killed.refresh_from_db()
    assert killed.status == RunStatus.SUCCEEDED
    assert killed.queue != "parallax-run-gone"


def test_evaluate_on_a_terminal_keeps_one_line_up_to_date(eager: None) -> None:
    make_version()

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    call_command("evaluate", "small", *ARGUMENTS, stdout=out)
    assert "\r\x1b[2KRun " in out.getvalue()
    assert "succeeded after" in out.getvalue()


def test_progress_line_says_parts_work_speed_and_time_left() -> None:
    run = make_run_at("running", version=make_version())
    run.activity = "Fitting TopPop"
    line = run_monitor.progress_line(run, progress(run))
    assert line == "1/10 parts · Fitting TopPop"
    done = make_run_at("succeeded", version=make_version(), seed=5)
    assert run_monitor.progress_line(done, progress(done)).endswith("10 of 10 parts.")


def test_time_left_is_not_shown_of_a_run_that_waits_or_is_over() -> None:
    run = make_run()
    assert progress(run).seconds_left is None
    done = make_run_at("succeeded", seed=2)
    found = progress(done)
    assert (found.done, found.total, found.seconds_left) == (10, 10, None)
    assert found.cases_per_second is not None


def test_time_left_waits_for_the_models() -> None:
    run = make_run()
    left = []
    while (part := lease_part(run=run)) is not None:
        execute(part=part)
        run.refresh_from_db()
        left.append(progress(run).seconds_left)
    # Nothing before every model has been measured for a while; at last the second reduction, and the end.
    assert [seconds is not None for seconds in left] == [False] * 7 + [True, True, False]


def test_time_left_is_judged_by_the_speed_of_each_model() -> None:
    run = make_run_at("running")
    fast, slow = run.algorithms.all()
    run.parts.exclude(kind=PartKind.FIT).delete()
    run.parts.update(status=PartStatus.DONE)

    def part(algorithm: RunAlgorithm, start: int, stop: int, status: str, seconds: float | None = None) -> RunPart:
        return RunPart(
            run=run, algorithm=algorithm, kind=PartKind.MEASURE, start=start, stop=stop, status=status, seconds=seconds
        )

    RunPart.objects.bulk_create(
        [
            part(fast, 0, 100, PartStatus.DONE, 1.0),
            part(fast, 100, 200, PartStatus.LEASED),
            part(slow, 0, 100, PartStatus.DONE, 20.0),
            part(slow, 100, 200, PartStatus.LEASED),
            part(slow, 200, 400, PartStatus.QUEUED),
        ]
    )
    assert progress(run).seconds_left == pytest.approx((1.0 + 60.0) / 2)  # by the two workers that hold a part


def test_train_fits_once_and_says_which_model() -> None:
    make_version()
    said = call("train", "small", "--algorithm", "puresvd", "--param", "factors=4")
    model = TrainedModel.objects.get()
    assert model.params == {"factors": 4}
    assert f"model {model.digest}, recipe {model.recipe}" in said
    assert "was fitted in" in said
    assert "was reused" in call("train", "small", "--algorithm", "puresvd", "--param", "factors=4")


def test_a_run_has_at_least_one_worker(eager: None) -> None:
    with pytest.raises(Exception, match="one worker"):
        run_monitor.RunWorkers(size=0, queue="q", threads=1)


@pytest.mark.parametrize(
    ("options", "stored"),
    [
        (("--mode", "exact"), {"name": "one-plus-random", "mode": "exact", "relevant": 4.0}),
        (("--protocol", "full-ranking"), {"name": "full-ranking", "relevant": 4.0}),
        (("--protocol", "test-observations"), {"name": "test-observations", "relevant": 4.0}),
        (("--protocol", "unconstrained"), {"name": "unconstrained", "relevant": 4.0}),
    ],
)
def test_options_of_the_protocol_are_those_of_the_run(
    eager: None, options: tuple[str, ...], stored: dict[str, Any]
) -> None:
    make_version()
    call("evaluate", "small", "--algorithms", "toppop", "--split", "probe:share=0.2", "--relevant", "4", *options)
    run = EvaluationRun.objects.get()
    assert stored.items() <= run.protocol.items()


def test_table_says_who_predicts_no_ratings_and_keeps_its_columns(eager: None) -> None:
    make_version()
    said = call("evaluate", "small", "--algorithms", "toppop,corngr", "--protocol", "rating-prediction")
    table = [line for line in said.splitlines() if line.startswith(("algorithm ", "TopPop ", "CorNgr "))]
    assert len(table) == 3
    assert len({len(line) for line in table}) == 1
    assert table[1].endswith("rating predictor")  # of the short profiles as well
    assert " other cases." in said


def test_table_shows_a_dash_where_a_metric_has_no_value(eager: None, tmp_path: Path) -> None:
    make_version()
    file = tmp_path / "run.json"
    # No hidden rating is that low, so fallout has no case.
    said = call(
        "evaluate",
        "small",
        *ARGUMENTS,
        "--irrelevant",
        "1",
        "--relevant",
        "1.5",
        "--seed",
        "4",
        "--split",
        "probe:share=0.01",
        "--json",
        str(file),
    )
    row: dict[str, Any] = json.loads(file.read_text())["algorithms"][0]
    assert row["fallout"] is None
    assert row["precision"] is None
    assert "–" in said


def test_recommend_prints_a_list_for_a_profile(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    version = make_version(name="films")
    target = tmp_path / "list.json"
    arguments = ["films", "--algorithm", "puresvd:factors=4", "--profile", "1:5, 2:4", "-n", "3", "--threads", "1"]
    call_command("recommend", *arguments, "--json", str(target))
    out = capsys.readouterr().out
    assert "PureSVD" in out
    document = json.loads(target.read_text())
    assert document["model"] == TrainedModel.objects.get().digest
    assert [line["rank"] for line in document["list"]] == [1, 2, 3]
    for line in document["list"]:
        item = version.items.get(external_id=line["item"])
        assert line["n_ratings"] == item.n_ratings > 0
        assert item.external_id not in {"1", "2"}
        assert f"{item.title} ({item.year})" in out
    assert [line["score"] for line in document["list"]] == sorted(
        (row["score"] for row in document["list"]), reverse=True
    )
    call_command("recommend", *arguments, "--unrated-only")
    assert "All items" in capsys.readouterr().out


@pytest.mark.parametrize("algorithm", ["lsa:factors=5", "naive-bayes", "aspect-content:classes=2"])
def test_recommend_lists_items_that_nobody_rated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, algorithm: str
) -> None:
    """The last two items are copies of the first, and of nothing; no user rated either."""
    films = make_items(20)
    twin = dataclasses.replace(films[0], external_id="twin", title="T" * 60)
    items = (*films, twin, ParsedItem("blank", "Blank"))
    rated = make_parsed(n_items=20, items=films)
    import_parsed(parsed=dataclasses.replace(rated, items=items), name="films", source_format="factory")
    target = tmp_path / "list.json"
    arguments = ["films", "--algorithm", algorithm, "--profile", "1:5,2:1,3:2", "--threads", "1", "--json", str(target)]
    call_command("recommend", *arguments)
    assert "twin" in {line["item"] for line in json.loads(target.read_text())["list"]}
    call_command("recommend", *arguments, "--unrated-only")
    (line,) = json.loads(target.read_text())["list"]  # nothing is known of the blank one
    assert (line["item"], line["rank"], line["n_ratings"], line["is_filled"]) == ("twin", 1, 0, False)
    assert "T" * 47 + "… " in capsys.readouterr().out
    call_command("recommend", *arguments, "-n", "30")
    filled = [line for line in json.loads(target.read_text())["list"] if line["is_filled"]]
    assert [(line["item"], line["score"]) for line in filled] == [("blank", None)]
    assert "by popularity" in capsys.readouterr().out


def test_two_runs_are_compared_in_a_table_and_as_a_file(tmp_path: Path) -> None:
    a = make_run_at("succeeded", algorithms="toppop,puresvd:factors=4")
    b = make_run_at("succeeded", version=a.version, algorithms="toppop,random", seed=2)
    said = call("compare_runs", str(a.pk), str(b.pk), "--json", str(tmp_path / "compared.json"))
    assert "(Holm)" in said
    told = json.loads((tmp_path / "compared.json").read_text())
    assert (told["only_in_a"], told["only_in_b"]) == (["PureSVD4"], ["Random"])
    (row,) = (one for one in told["differences"] if one["metric"] == "recall")
    (line,) = (words for one in said.splitlines() if (words := one.split())[:2] == ["TopPop", "recall"])
    assert line[2:4] == [share(row["a"]), share(row["b"])]
    assert row["difference"] == pytest.approx(row["a"] - row["b"])


def test_evaluate_says_what_was_chosen_on_the_development_users(eager: None) -> None:
    make_version()
    said = call("evaluate", "small", *ARGUMENTS, "--split", "dev-eval:of=holdout,share=0.3")
    assert re.search(r"\d+ development users, \w+ .* \(\.\d{3}\)", said)


def test_run_is_written_as_files(tmp_path: Path) -> None:
    run = make_run_at("succeeded", protocol={"name": "test-observations", "relevant": 4.0, "irrelevant": 2.0})
    call_command("export_run", str(run.pk), "--out", str(tmp_path / "new" / "out"))
    folder = tmp_path / "new" / "out"
    assert sorted(file.name for file in folder.iterdir()) == [
        "croc.svg", "eleven-points.svg", "groups.csv", "mean-roc.svg", "metrics.csv", "notes.svg", "run.json",
        "users.csv",
    ]  # fmt: skip
    told = json.loads((folder / "run.json").read_text())
    table = (folder / "metrics.csv").read_text().splitlines()
    value = told["algorithms"][0]["values"]["croc-area(until=1,scale=raw)"]["value"]
    assert f'{told["algorithms"][0]["label"]},whole,"croc-area(until=1,scale=raw)",,{value!r},' in table
    assert (folder / "users.csv").read_text().startswith("user,metric,algorithm,profile_length,value")
    assert "Mean hit rate" in (folder / "mean-roc.svg").read_text()
    sampled = make_run_at("succeeded", seed=2)
    call_command("export_run", str(sampled.pk), "--out", str(tmp_path / "sampled"))
    assert {"recall.svg", "fallout.svg"} <= {file.name for file in (tmp_path / "sampled").iterdir()}


def test_run_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    queued = make_run()
    done = make_run_at("succeeded", algorithms="toppop", profile_lengths=(), seed=3)
    (tmp_path / "file").write_text("")
    export = partial(call_command, "export_run")
    cases = {
        "an unknown run": partial(export, "77777", "--out", str(tmp_path)),
        "a queued run": partial(export, str(queued.pk), "--out", str(tmp_path)),
        "a file for a folder": partial(export, str(done.pk), "--out", str(tmp_path / "file")),
        "an unknown run to compare with": partial(call_command, "compare_runs", str(done.pk), "77777"),
    }
    assert_refused_as_approved("exported-runs", cases, tmp_path)
