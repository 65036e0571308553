"""Runs by every protocol and split, through the real services."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from catalog.selectors.ratings import item_ids_of, user_ids_of
from catalog.services import import_parsed
from core import artefacts
from core.errors import NotAllowedInState, ParallaxError
from evaluation.enums import PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, MetricResult
from evaluation.protocols import case_arrays
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.paired_tests import (
    chosen_on_development,
    intervals,
    kinds_of_test,
    paired_tests,
    run_tests_of,
)
from evaluation.selectors.results import case_counts, metrics_by_user, model_rows, user_values
from evaluation.selectors.run_comparison import compare_runs
from evaluation.services.case_files import export_cases, store_cases_file, store_probe_list
from evaluation.services.parts import lease_part, remove_leftover_parts, remove_parts
from evaluation.services.runs import cancel_run, resume_run
from evaluation.services.worker_loop import execute, sweep
from tests.factories.catalog import make_parsed, make_version
from tests.factories.evaluation import make_run, make_run_at, work_off
from tests.sentences import assert_refused_as_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
LIMITS = {"relevant": 4.0, "irrelevant": 2.0}
PROTOCOLS = ["full-ranking", "test-observations", "rating-prediction", "unconstrained"]


def numbers(run: EvaluationRun) -> dict[tuple[str, int, str], Any]:
    return {
        (one.algorithm.label, one.profile_length, one.metric): (one.value, one.reason, one.users_digest)
        for one in MetricResult.objects.filter(algorithm__run=run).select_related("algorithm")
    }


@pytest.mark.parametrize("name", [*PROTOCOLS, "one-plus-random"])
def test_numbers_of_every_protocol_are_the_same_however_the_run_is_cut(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for module in ("runs", "measurement"):
        monkeypatch.setattr(f"evaluation.services.{module}.BLOCK_USERS", 40)
    version = make_version(n_users=110, n_items=60, per_user=12)
    given = {
        "version": version,
        "protocol": {"name": name, **LIMITS},
        "profile_lengths": (3,),
        "algorithms": "toppop,random",
    }
    whole = work_off(make_run(part_users=4000, **given))
    cut = work_off(make_run(part_users=1, **given))
    assert whole.status == cut.status == RunStatus.SUCCEEDED, (whole.error, cut.error)
    assert cut.parts.count() > whole.parts.count()
    assert numbers(whole) == numbers(cut) != {}


@pytest.mark.parametrize(
    "split",
    [
        {"name": "holdout", "share": 0.3, "within": "user"},
        {"name": "random-per-user"},
        {"name": "given-n", "n": 3},
        {"name": "all-but-n", "n": 4},
        {"name": "strangers", "share": 0.3, "given": 3},
        {"name": "leave-one-out", "which": "random"},
        {"name": "cold-start-items", "share": 0.3},
        {"name": "cold-start-items", "share": 0.3, "outcome": "explicit"},
        {"name": "dev-eval", "of": "cold-start-items", "share": 0.3, "development": 0.4},
    ],
)
@pytest.mark.parametrize("name", ["one-plus-random", "test-observations", "full-ranking"])
def test_run_takes_every_split_that_trains_once(split: dict[str, Any], name: str) -> None:
    run = work_off(make_run(split=split, protocol={"name": name, **LIMITS}, profile_lengths=(), algorithms="toppop"))
    assert run.status == RunStatus.SUCCEEDED, run.error
    found = cases_of(run)
    cold = split["name"] == "cold-start-items" or split.get("of") == "cold-start-items"
    assert (len(found.cases.closed) > 0) == cold
    if cold:
        trained = np.unique(training_rows(found.training_digest).user_items.indices)
        assert not np.isin(found.cases.items, trained).any()
        assert np.isin(trained, found.cases.closed).all()
    assert (found.development is not None) == (split["name"] == "dev-eval")


def test_implicit_cold_start_observes_every_pair_of_test_users_and_cold_items() -> None:
    run = work_off(
        make_run(
            split={"name": "cold-start-items", "share": 0.2},
            protocol={"name": "test-observations", **LIMITS},
            profile_lengths=(),
            algorithms="random,toppop",
        )
    )
    found = cases_of(run).cases
    n_cold = found.n_items - len(found.closed)
    assert len(found) == n_cold * len(np.unique(found.users))
    rows = {row.label: row.cells for row in model_rows(run)}
    assert rows["Random"]["kendall(least=2)"].reason
    croc = next(cell.value for name, cell in rows["Random"].items() if name.startswith("croc-area"))
    assert croc == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("outcome", ["implicit", "explicit"])
def test_random_recommendation_runs_along_the_diagonal_where_all_users_have_the_same_candidates(outcome: str) -> None:
    run = work_off(
        make_run(
            version=make_version(n_users=150, n_items=80, per_user=20),
            split={"name": "cold-start-items", "share": 0.5, "outcome": outcome, "candidates": "all"},
            protocol={"name": "test-observations", **LIMITS},
            metrics=("croc-area",),
            profile_lengths=(),
            algorithms="random",
        )
    )
    cases = cases_of(run).cases
    n, n_pairs, n_good = cases.n_items - len(cases.closed), len(cases), cases.n_relevant
    _, n_good_of_user = np.unique(cases.users[cases.is_relevant], return_counts=True)
    assert set(np.unique(cases.users, return_counts=True)[1]) == {n}
    curve = artefacts.load("results", model_rows(run)[0].users_digest).arrays
    distances = np.asarray(curve["croc_y"]) - np.asarray(curve["croc_x"])
    share = np.arange(len(distances)) / n
    hits = share * (1 - share) * (n_good_of_user * (n - n_good_of_user)).sum() / (n - 1)  # variance, hypergeometric
    errors = np.sqrt(hits) / n_good * n_pairs / (n_pairs - n_good)
    assert len(distances) == n + 1
    assert (np.abs(distances) <= 3.5 * errors + 1e-12).all()
    assert errors.max() < 0.03


def test_split_by_time_needs_times_and_says_so() -> None:
    run = work_off(make_run(split={"name": "temporal-global"}))
    assert run.status == RunStatus.FAILED
    assert "time" in run.error


def test_algorithm_is_chosen_on_some_users_and_tested_on_the_others() -> None:
    run = work_off(
        make_run(
            split={"name": "dev-eval", "of": "holdout", "share": 0.3},
            algorithms="toppop,random,puresvd:factors=4",
            profile_lengths=(),
        )
    )
    choice = chosen_on_development(run)
    assert choice is not None
    found = cases_of(run)
    tested = user_values(run, "recall").user_ids
    assert not np.isin(tested, found.development).any()
    assert choice.n_development + choice.n_evaluation == len(np.unique(found.cases.users))
    values = {row.label: row.cells["development:recall"].value for row in model_rows(run)}
    assert choice.value == values[choice.label] == max(values.values())
    assert chosen_on_development(make_run_at("succeeded", seed=3, profile_lengths=())) is None


def test_development_without_a_value_chooses_nothing() -> None:
    run = work_off(
        make_run(
            split={"name": "dev-eval", "of": "holdout", "share": 0.3},
            protocol={"name": "rating-prediction", **LIMITS},
            algorithms="toppop",
            profile_lengths=(),
        )
    )
    assert chosen_on_development(run) is None


def exported(run: EvaluationRun, path: Path) -> dict[str, Any]:
    export_cases(run=run, path=path)
    with np.load(path, allow_pickle=False) as opened:
        return {name: opened[name] for name in opened.files}


def test_cases_that_are_written_and_read_give_the_same_counts_case_by_case(tmp_path: Path) -> None:
    version = make_version()
    first = make_run_at("succeeded", version=version, profile_lengths=())
    arrays = exported(first, tmp_path / "cases.npz")
    assert arrays["case_user"].dtype.kind == "i"
    assert set(arrays["case_item"].astype(str)) <= set(item_ids_of(version).tolist())
    # Another system may write the rows in any order.
    order = np.random.default_rng(1).permutation(len(arrays["case_user"]))
    shuffled = {name: array[order] if name.startswith("case_") else array for name, array in arrays.items()}
    np.savez(tmp_path / "again.npz", **shuffled)
    digest = store_cases_file(version=version, path=tmp_path / "again.npz", seed=1)
    again = work_off(
        make_run(version=version, split={"name": "file", "cases": digest}, reserve=0.0, profile_lengths=(), seed=7)
    )
    assert again.status == RunStatus.SUCCEEDED, again.error
    for (above, tied), (new_above, new_tied) in zip(case_counts(first), case_counts(again), strict=True):
        assert np.array_equal(new_above, above[order])
        assert np.array_equal(new_tied, tied[order])
    assert [row.cells["recall"].by_n for row in model_rows(again)] == [
        row.cells["recall"].by_n for row in model_rows(first)
    ]
    assert "recall(mode=exact)" not in model_rows(again)[0].cells
    assert compare_runs(first, again).has_same_cases
    assert (
        compare_runs(first, make_run_at("succeeded", version=version, seed=5, profile_lengths=())).has_same_cases
        is False
    )


def trained_on(arrays: dict[str, Any]) -> None:
    """Test a rating that is trained on."""
    for name in ("user", "item"):
        arrays[f"case_{name}"][-1] = arrays[f"train_{name}"][-1]


MALFORMED: dict[str, Callable[[dict[str, Any]], object]] = {
    "an array missing": lambda a: a.pop("case_item"),
    "an array more": lambda a: a.update(more=np.zeros(1)),
    "a dimension missing": lambda a: a.update(case_candidates=a["case_candidates"][:, 0]),
    "texts for ratings": lambda a: a.update(train_rating=a["train_rating"].astype(str)),
    "relevance of 3": lambda a: a.update(case_relevant=a["case_relevant"] * 3),
    "an item missing": lambda a: a.update(train_item=a["train_item"][1:]),
    "no case": lambda a: a.update({name: a[name][:0] for name in a if name.startswith("case_")}),
    "unknown users": lambda a: a.update(case_user=a["case_user"] + 100_000),
    "rating NaN": lambda a: a["train_rating"].__setitem__(3, np.nan),
    "rating off the scale": lambda a: a["train_rating"].__setitem__(3, 9.5),
    "a pair twice": lambda a: a["train_item"].__setitem__(1, a["train_item"][0]),
    "item among its candidates": lambda a: a["case_candidates"].__setitem__((2, 0), a["case_item"][2]),
    "candidate twice": lambda a: a["case_candidates"].__setitem__((2, 0), a["case_candidates"][2, 1]),
    "no candidate": lambda a: a["case_candidates"].__setitem__(2, -1),
    "unknown candidate": lambda a: a["case_candidates"].__setitem__((2, 0), 77_777),
    "tested and trained on": trained_on,
    "a user without a profile": lambda a: a.update(
        {name: a[name][a["train_user"] != a["case_user"][0]] for name in ("train_item", "train_rating", "train_user")}
    ),
}


def test_cases_and_probe_lists_that_are_refused(tmp_path: Path) -> None:
    version = make_version()
    sound = exported(make_run_at("succeeded", version=version, profile_lengths=()), tmp_path / "cases.npz")
    sound["case_relevant"] = sound["case_relevant"].astype(np.int64)
    store = partial(store_cases_file, version=version, seed=1)

    def malformed(change: Callable[[dict[str, Any]], object]) -> None:
        arrays = {name: array.copy() for name, array in sound.items()}
        change(arrays)
        np.savez(tmp_path / "bad.npz", **arrays)
        store(path=tmp_path / "bad.npz")

    (tmp_path / "text.npz").write_bytes(b"not a zip")
    np.savez(tmp_path / "objects.npz", train_user=np.array([{"a": 1}], dtype=object))
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe")
    (tmp_path / "single.csv").write_bytes(b"1\n")
    cases = {name: partial(malformed, change) for name, change in MALFORMED.items()}
    cases |= {f"file {name}": partial(store, path=tmp_path / name) for name in ("gone.npz", "text.npz", "objects.npz")}
    cases |= {
        f"list {name}": partial(store_probe_list, version=version, path=tmp_path / name)
        for name in ("gone.csv", "bytes.csv", "single.csv")
    }
    cases |= {
        "list of a dataset without one": partial(make_run, version=version, split={"name": "probe", "list": "dataset"})
    }
    assert_refused_as_approved("cases", cases, tmp_path)


def test_files_of_too_many_cases_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "cases.npz", train_user=np.zeros(9))
    monkeypatch.setattr("evaluation.services.case_files.MAX_BYTES", 10)
    with pytest.raises(ParallaxError) as refused:
        store_cases_file(version=make_version(), path=tmp_path / "cases.npz", seed=1)
    assert refused.value.code == "cases.bad_file"


def test_cases_cannot_be_written_where_there_is_no_folder(tmp_path: Path) -> None:
    run = make_run_at("succeeded", profile_lengths=())
    with pytest.raises(ParallaxError, match="not be written"):
        export_cases(run=run, path=tmp_path / "none" / "cases.npz")


def test_probe_list_hides_the_pairs_it_names(tmp_path: Path) -> None:
    version = make_version()
    users, items = user_ids_of(version), item_ids_of(version)
    run = make_run_at("succeeded", version=version, profile_lengths=())
    hidden = cases_of(run).cases
    pairs = [(users[u], items[i]) for u, i in zip(hidden.users, hidden.items, strict=True)]
    file = tmp_path / "probe.csv"
    file.write_text("user,item\n\n" + "".join(f"{user},{item},ignored\n" for user, item in pairs) + "nobody,1\n")
    digest = store_probe_list(version=version, path=file)
    again = work_off(
        make_run(version=version, split={"name": "probe", "list": digest}, reserve=0.0, profile_lengths=())
    )
    assert again.status == RunStatus.SUCCEEDED, again.error
    found = cases_of(again).cases
    assert (found.users.tolist(), found.items.tolist()) == (hidden.users.tolist(), hidden.items.tolist())
    assert [count for name, count in again.counted.items() if name.startswith("listed")] == [1]


def test_probe_list_of_the_dataset_is_hidden_by_its_name() -> None:
    parsed = make_parsed()
    pairs = np.column_stack([parsed.users, parsed.items_rated])[::7].astype(np.int64)
    given = {"name": "listed", "title": "Listed", "source_format": "factory", "is_synthetic": True}
    version = import_parsed(parsed=replace(parsed, probe=pairs), **given)
    run = work_off(
        make_run(
            version=version,
            split={"name": "probe", "list": "dataset"},
            protocol={"name": "rating-prediction", "relevant": 4.0, "irrelevant": 2.0},
            algorithms="toppop",
            reserve=0.0,
            profile_lengths=(),
        )
    )
    assert run.status == RunStatus.SUCCEEDED, run.error
    found = cases_of(run).cases
    assert sorted(zip(found.users.tolist(), found.items.tolist(), strict=True)) == sorted(map(tuple, pairs.tolist()))


def test_stored_parts_go_once_they_are_added_up(django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=False):
        run = work_off(make_run(profile_lengths=()))
    parts = run.parts.filter(kind=PartKind.MEASURE)
    digests = list(parts.values_list("result_digest", flat=True))
    assert all(digests)
    assert remove_leftover_parts() == 1  # what the killed worker had no time for
    for digest in digests:
        with pytest.raises(ParallaxError, match="missing"):
            artefacts.load("parts", digest)
    assert set(parts.values_list("result_digest", flat=True)) == {""}
    assert remove_parts(run=run) == 0
    artefacts.remove("parts", digests[0])  # twice is no fault
    assert model_rows(run)


def test_run_that_stopped_is_taken_up_where_it_was_and_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    version = make_version()
    whole = make_run_at("succeeded", version=version)
    run = make_run_at("failed", version=version)
    done = list(run.parts.filter(status=PartStatus.DONE).values_list("pk", flat=True))
    resume_run(run=run)
    assert (run.status, run.error, run.queue) == (RunStatus.QUEUED, "", "")
    run = work_off(run)
    assert run.status == RunStatus.SUCCEEDED
    assert set(done) <= set(run.parts.filter(status=PartStatus.DONE, attempts=1).values_list("pk", flat=True))
    assert numbers(run) == numbers(whole)
    with pytest.raises(NotAllowedInState):
        resume_run(run=run)


def test_parts_of_a_stopped_run_are_kept_for_a_week_and_measured_again_after_that() -> None:
    run = make_run_at("running")
    while not run.parts.filter(kind=PartKind.MEASURE, status=PartStatus.DONE).exists():
        part = lease_part(run=run)
        assert part is not None
        execute(part=part)
    run.refresh_from_db()
    cancel_run(run=run)
    sweep()
    stored = run.parts.exclude(result_digest="").filter(kind=PartKind.MEASURE)
    assert stored.count() == 1
    EvaluationRun.objects.filter(pk=run.pk).update(finished_at=timezone.now() - timedelta(days=8))
    sweep()
    assert stored.count() == 0
    assert not run.parts.filter(kind=PartKind.MEASURE, status=PartStatus.DONE).exists()
    run.refresh_from_db()
    assert work_off(resume_run(run=run)).status == RunStatus.SUCCEEDED


def test_tests_and_intervals_of_a_run() -> None:
    run = work_off(make_run(algorithms="toppop,random,puresvd:factors=4", profile_lengths=()))
    found = run_tests_of(run)
    assert [one.metric for one in found] == ["recall", "fallout"]
    best = found[0].lines[0]
    assert best.interval is not None
    assert best.interval.low <= best.value <= best.interval.high
    assert {line.label for line in found[0].lines} == {"TopPop", "Random", "PureSVD4"}
    f = intervals(run, "f")
    assert {label: value for label, (value, _) in f.items()} == {
        row.label: row.cells["f"].value for row in model_rows(run)
    }
    assert paired_tests(work_off(make_run(algorithms="toppop", seed=2, profile_lengths=())), "recall") is None
    with pytest.raises(ParallaxError, match="no results yet"):
        run_tests_of(make_run(seed=4))


def test_intervals_are_given_to_means_over_users_alone() -> None:
    protocol = {"name": "test-observations", **LIMITS}
    run = work_off(make_run(protocol=protocol, algorithms="toppop,random", profile_lengths=()))
    assert not [name for name in metrics_by_user(run) if name.startswith("croc")]
    kendall = intervals(run, "kendall(least=2)")["TopPop"]
    assert kendall[1] is not None
    croc = next(name for name in model_rows(run)[0].cells if name.startswith("croc-area"))
    assert intervals(run, croc)["TopPop"][1] is None
    half_life = next(name for name in model_rows(run)[0].cells if name.startswith("half-life"))
    assert intervals(run, half_life)["TopPop"][1] is None  # a ratio of sums is no mean over users
    with pytest.raises(ParallaxError, match="values by user"):
        user_values(run, "recall")
    with pytest.raises(ParallaxError, match="one-plus-random"):
        case_counts(run)


def test_runs_that_cannot_be_compared_are_refused() -> None:
    a = make_run_at("succeeded", profile_lengths=())
    protocol = {"name": "full-ranking", **LIMITS}
    others = {
        "queued": make_run(seed=2),
        "no users in common": work_off(make_run(version=make_version(name="other", seed=3), profile_lengths=())),
        "no metric in common": work_off(make_run(version=a.version, protocol=protocol, profile_lengths=())),
        "no algorithm in common": work_off(make_run(version=a.version, algorithms="random", profile_lengths=())),
    }
    cases = {name: partial(compare_runs, a, other) for name, other in others.items()}
    assert_refused_as_approved("compared-runs", cases, {r"Runs \d+ and \d+": "Runs N and N"})


def test_comparison_tests_each_algorithm_over_the_users_of_both_runs() -> None:
    version = make_version()
    a = make_run_at("succeeded", version=version, profile_lengths=())
    b = make_run_at("succeeded", version=version, profile_lengths=(), seed=2)
    found = compare_runs(a, b)
    assert {(one.label, one.metric) for one in found.differences} == {
        (label, metric) for label in ("TopPop", "PureSVD4") for metric in ("recall", "fallout")
    }
    assert found.settings == {"seed": (1, 2)}
    for one in found.differences:
        assert one.difference == pytest.approx(one.a - one.b)
        assert one.interval.low <= one.difference <= one.interval.high
        assert one.p is None or one.p_adjusted >= one.p


def test_hits_are_tested_by_users_where_there_are_hits() -> None:
    run = work_off(make_run(algorithms="toppop,random,puresvd:factors=4", profile_lengths=(3,)))
    assert set(kinds_of_test(run)) == {"sign", "signed-rank", "nemenyi", "sign-flip", "mcnemar"}
    recall, fallout = run_tests_of(run, test="sign-flip")
    rates = {row.label: row.cells["recall"].value for row in model_rows(run)}
    by_pair = {(pair.a, pair.b): pair.difference for pair in recall.pairs}
    assert by_pair["TopPop", "Random"] == pytest.approx(rates["TopPop"] - rates["Random"])
    assert fallout.metric == "fallout"
    assert recall.lines[0].value == max(rates.values())
    assert run_tests_of(run, test="mcnemar") == ()  # users own several cases
    assert paired_tests(run, "recall@3", 3, test="sign-flip") is not None


def test_mcnemar_tests_one_case_a_user() -> None:
    run = work_off(
        make_run(
            split={"name": "leave-one-out", "which": "random"},
            protocol={"name": "one-plus-random", "mode": "sampled", "negatives": 20, **LIMITS},
            algorithms="random,puresvd:factors=4",
            profile_lengths=(),
        )
    )
    found = run_tests_of(run, test="mcnemar")
    assert found
    assert found[0].lines[0].n_users == run.n_relevant
    other = work_off(make_run(version=run.version, protocol={"name": "full-ranking", **LIMITS}, profile_lengths=()))
    assert "sign-flip" not in kinds_of_test(other)
    with pytest.raises(ParallaxError, match="single cases"):
        paired_tests(other, "recall@5", test="sign-flip")


@pytest.mark.parametrize("ids", [["7", "07"], ["7", "-1"], ["7", "item"], ["7", "9" * 19]])
def test_ids_that_are_not_all_whole_numbers_stay_text(ids: list[str]) -> None:
    written, padding = case_arrays._as_numbers(np.array(ids))
    assert written.tolist() == ids
    assert padding == ""
