"""Uploaded lists: from the exported profiles through a batch program to runs, their bounds and their coverage."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_ids_of
from core import artefacts
from evaluation.exports import run_document
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.selectors.cases import cases_of
from evaluation.selectors.paired_tests import intervals
from evaluation.selectors.results import ModelRow, model_rows, user_values
from evaluation.services.case_files import export_cases
from evaluation.services.serving import opened_model
from evaluation.services.user_jackknife import values_without_groups
from recommenders.data import Profiles, Scale
from recommenders.uploaded_lists import profile_key
from tests.evaluation.test_uploads import upload
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

EXACT = {"name": "one-plus-random", "negatives": 12, "mode": "exact"}
SAMPLED = {**EXACT, "mode": "sampled"}
FULL = {"name": "full-ranking", "relevant": 4.0}
STRANGERS = {"name": "strangers", "share": 0.3, "given": 0, "given_share": 0.6}
PUBLISHED = "puresvd:factors=4"


def measured(
    version: DatasetVersion, algorithms: str, protocol: Mapping[str, Any] = EXACT, **more: Any
) -> EvaluationRun:
    settings = {"split": STRANGERS, "protocol": protocol, "profile_lengths": (3,), **more}
    return work_off(make_run(version=version, algorithms=algorithms, **settings))


def exported(run: EvaluationRun, folder: Path) -> dict[str, list[tuple[str, float]]]:
    """The profiles of a run by key, as any program reads them."""
    call_command("export_run", str(run.pk), "--out", str(folder), "--profiles", stdout=io.StringIO())
    profiles: dict[str, list[tuple[str, float]]] = defaultdict(list)
    with (folder / "profiles.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            profiles[row["key"]].append((row["item"], float(row["rating"])))
    return profiles


def batch(
    version: DatasetVersion, run: EvaluationRun, path: Path, depth: int = 100, keep: Callable[[int], bool] = bool
) -> Path:
    """Lists of a program that has learned the run's first model, for exported profiles; `keep` chooses by number."""
    model, ids = opened_model(model_rows(run)[0].model_hash), item_ids_of(version).tolist()
    lines = ["key,item,score"]
    for number, (key, rated) in enumerate(exported(run, path.parent).items(), start=1):
        items = [ids.index(item) for item, _ in rated]
        profile = Profiles.single(items, [rating for _, rating in rated], version.n_items, model.scale)
        best = model.answer_profile(profile, depth)
        if keep(number):
            listed = zip(best.items, best.scores, best.is_filled, strict=True)
            lines += [f"{key},{ids[item]},{float(score)!r}" for item, score, is_filled in listed if not is_filled]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def written(model: TrainedModel) -> str:
    return f"lists:upload={model.params['upload']},name={model.params['name']}"


def value(row: ModelRow, name: str) -> float | None:
    return row.cells[name].value


@pytest.fixture
def fitted() -> EvaluationRun:
    return measured(make_version(), PUBLISHED)


def uploaded(fitted: EvaluationRun, path: Path, name: str, learned: bool = True, **how: Any) -> TrainedModel:
    file = batch(fitted.version, fitted, path / f"{name}.csv", **how)
    digest = run_document(fitted)["training_hash"] if learned else ""
    return upload(fitted.version, "lists", file, digest, name=name)


def test_whole_lists_have_the_fitted_recall_and_short_ones_have_bounds(fitted: EvaluationRun, tmp_path: Path) -> None:
    whole, short = uploaded(fitted, tmp_path, "Whole"), uploaded(fitted, tmp_path, "Short", depth=8)
    run = measured(fitted.version, f"{PUBLISHED},{written(whole)},{written(short)}")
    assert not [comment for comment in run.comments if "test ratings" in comment]
    for length in (0, 3):
        own, all_of_it, start = model_rows(run, length)
        for name in ("recall", "fallout"):
            for ours, theirs in zip(all_of_it.cells[name].by_n, own.cells[name].by_n, strict=True):
                assert ours == pytest.approx(theirs, abs=1e-9)
            low, high = (value(start, f"{name}(unlisted={how})") for how in ("worst", "best"))
            known = value(own, name)
            assert low is not None and high is not None and known is not None  # noqa: PT018 — for the types
            assert low < high
            assert low <= known <= high
            assert start.cells[name].reason == (
                f"{name}@5 lies between {low:.4f} and {high:.4f}, whatever follows its lists".replace(" 0.", " .")
            )
        assert not all_of_it.cells["recall"].reason
        assert value(all_of_it, "recall(mode=sampled)") is None
        assert all_of_it.cells["recall(mode=sampled)"].reason == "not measurable from lists"
        assert value(start, "covered-profiles") == value(all_of_it, "covered-cases") == 1.0
        assert "covered-profiles" not in own.cells
    assert intervals(run, "recall")["Short"][1] is not None
    assert values_without_groups(run) == () or True


def test_full_ranking_counts_what_is_in_the_lists(fitted: EvaluationRun, tmp_path: Path) -> None:
    whole, short = uploaded(fitted, tmp_path, "Whole"), uploaded(fitted, tmp_path, "Short", depth=3)
    names = "rr@3,recall@3,recall@10,catalogue-coverage@10,half-life"
    run = measured(fitted.version, f"{PUBLISHED},{written(whole)},{written(short)}", FULL, metrics=names)
    own, all_of_it, start = model_rows(run)
    for name in ("rr@3", "recall@3", "recall@10"):
        assert value(all_of_it, name) == pytest.approx(value(own, name), abs=1e-12)
    assert value(start, "rr@3") == pytest.approx(value(own, "rr@3"), abs=1e-12)
    assert value(start, "recall@10") == value(start, "recall@3")
    n = len(artefacts.load("results", start.users_digest).arrays["user_ids"])
    assert start.cells["recall@10"].reason == f"{n} of {n} lists have fewer than 10 items"
    (half_life,) = (cell for name, cell in start.cells.items() if name.startswith("half-life"))
    assert (half_life.value, half_life.reason) == (None, "not measurable from lists")
    ours, theirs = (artefacts.load("results", row.users_digest).arrays for row in (all_of_it, own))
    is_compared = np.isin(ours["list_users"], ours["user_ids"])
    assert np.array_equal(ours["list_items"][is_compared], theirs["list_items"][is_compared])


def test_algorithms_are_compared_on_the_profiles_that_all_lists_cover(fitted: EvaluationRun, tmp_path: Path) -> None:
    whole = uploaded(fitted, tmp_path, "Whole", learned=False)
    half = uploaded(fitted, tmp_path, "Half", learned=False, keep=lambda number: number % 2 == 0)
    run = measured(fitted.version, f"{PUBLISHED},{written(whole)},{written(half)}")
    own, all_of_it, some = model_rows(run)
    n_covered = len(np.unique(user_values(run, "recall").user_ids))
    n = len(np.unique(cases_of(run).cases.users))
    assert 0 < n_covered < n
    assert value(some, "covered-profiles") == pytest.approx(n_covered / n, abs=1 / n)
    assert some.cells["covered-profiles"].reason.startswith(f"its lists cover {n_covered} of {n} test profiles, ")
    assert value(all_of_it, "covered-profiles") == 1.0
    assert value(own, "recall") == pytest.approx(value(some, "recall"), abs=1e-9)
    assert value(own, "recall") != pytest.approx(value(model_rows(fitted)[0], "recall"), abs=1e-6)
    said = "Half may have seen the test ratings: its upload does not name the training rows of this run."
    assert said in run.comments
    rest = uploaded(fitted, tmp_path, "Rest", learned=False, keep=lambda number: number % 2 == 1)
    apart = model_rows(measured(fitted.version, f"{PUBLISHED},{written(half)},{written(rest)}"))
    assert value(apart[0], "recall") == pytest.approx(value(model_rows(fitted)[0], "recall"))
    assert {row.cells["recall"].reason for row in apart[1:]} == {"no test profile has a list of every algorithm"}
    assert {value(row, "recall") for row in apart[1:]} == {None}
    folds = measured(fitted.version, f"toppop,{written(half)}", FULL, split={"name": "k-fold", "k": 3, "over": "users"})
    assert value(model_rows(folds)[1], "covered-profiles") is not None


def test_without_a_covered_profile_there_is_coverage_alone(fitted: EvaluationRun, tmp_path: Path) -> None:
    file = tmp_path / "others.csv"
    file.write_text("participant:ABC,1\nparticipant:ABC,2\n", encoding="utf-8")
    model = upload(fitted.version, "lists", file, name="Others")
    run = measured(fitted.version, f"toppop,{written(model)}")
    other, lists = model_rows(run)
    assert value(lists, "covered-profiles") == 0.0
    assert value(lists, "covered-items") == 2 / 40
    assert (value(lists, "recall"), lists.cells["recall"].reason) == (None, "no test profile has a list")
    assert value(other, "recall") is not None
    call_command("export_run", str(run.pk), "--out", str(tmp_path / "out"), stdout=io.StringIO())


@pytest.mark.parametrize(
    ("protocol", "metrics", "is_known"),
    [
        (
            SAMPLED,
            "",
            {"recall": False, "recall(mode=exact)": True, "filled-slots": True, "recall(ties=served)": False},
        ),
        ({"name": "rating-prediction"}, "rmse,mae", {}),
        ({"name": "test-observations", "relevant": 4.0}, "roc-area", {}),
        ({"name": "unconstrained", "relevant": 4.0}, "", {}),
    ],
    ids=["sampled", "rating-prediction", "test-observations", "unconstrained"],
)
def test_what_needs_scores_is_not_measurable(
    fitted: EvaluationRun, tmp_path: Path, protocol: dict[str, Any], metrics: str, is_known: dict[str, bool]
) -> None:
    model = uploaded(fitted, tmp_path, "Whole", depth=8)
    run = measured(fitted.version, f"{PUBLISHED},{written(model)}", protocol, metrics=metrics)
    _, row = model_rows(run)
    for name, known in (is_known or dict.fromkeys(row.cells, False)).items():
        assert (value(row, name) is not None) == known, name
        assert (row.cells[name].reason == "not measurable from lists") != known, name


def test_unseen_users_may_be_stated_for_the_split_by_user(fitted: EvaluationRun, tmp_path: Path) -> None:
    file = batch(fitted.version, fitted, tmp_path / "w.csv")
    out = io.StringIO()
    arguments = [fitted.version.dataset.name, str(file), "--kind", "lists", "--name", "Batch", "--unseen-users"]
    call_command("upload_model", *arguments, stdout=out)
    lines = out.getvalue().splitlines()
    n, n_lists = len(np.unique(cases_of(fitted).cases.users)), len(exported(fitted, tmp_path / "again"))
    assert f"  {n_lists} lists, for profiles: {n_lists}" in lines
    assert "  no list for everyone (*): a study cannot serve them to all participants" in lines
    assert f"  lists for {n} of {n} test profiles of run {fitted.pk} as a whole" in lines
    assert f"  lists for {n} of {n} test profiles of run {fitted.pk} of 3 ratings" in lines
    assert sum(line.startswith("User ") for line in lines) == 5
    assert not [line for line in lines if "by popularity" in line]
    model = TrainedModel.objects.get(algorithm="lists")
    by_user = measured(fitted.version, f"{PUBLISHED},{written(model)}")
    by_rating = measured(fitted.version, f"{PUBLISHED},{written(model)}", split={"name": "probe", "share": 0.2})
    assert [any("test ratings" in comment for comment in run.comments) for run in (by_user, by_rating)] == [False, True]


def test_the_batch_of_the_guide_makes_lists_that_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = make_version()
    run = measured(version, "toppop")
    exported(run, tmp_path / "run")
    export_cases(run=run, path=tmp_path / "run" / "cases.npz")
    guide = (Path(__file__).parents[2] / "docs/how-to/upload-a-model.md").read_text(encoding="utf-8")
    blocks = [textwrap.dedent(block) for block in re.findall(r"```python\n(.*?)```", guide, flags=re.DOTALL)]
    (program,) = (block for block in blocks if "profiles.csv" in block)
    (own_key,) = (block for block in blocks if "hashlib" in block)
    monkeypatch.chdir(tmp_path)
    exec(program, {})  # noqa: S102 — the guide's own program
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(own_key, {})  # noqa: S102
    assert printed.getvalue().strip() == profile_key(["50", "318"], [5, 4], Scale(1, 5, 1))
    assert f"# {printed.getvalue().strip()}" in own_key
    model = upload(version, "lists", tmp_path / "lists.csv", run_document(run)["training_hash"], name="Batch")
    (ours,) = model_rows(measured(version, written(model)))
    assert value(ours, "covered-profiles") == 1.0
    assert (value(ours, "recall") or 0.0) > 0.5
