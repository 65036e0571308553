"""Models that were learned elsewhere: files, refusals, runs and lists."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from scipy import sparse

from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_ids_of
from core import artefacts
from core.errors import DataError, ParallaxError, ParameterError
from evaluation.exports import run_document
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.results import model_rows
from evaluation.services.feasibility import feasible_algorithms
from evaluation.services.serving import explain, opened_model, recommend
from evaluation.services.uploads import model_of_upload, store_upload
from parallax.integrity.artefacts import check_artefacts
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import Profiles
from recommenders.positives import positives
from recommenders.testing.score_checks import count_explained
from recommenders.uploaded import Factors, Matrix
from recommenders.uploaded_lists import Lists
from tests.factories.catalog import make_usage_version, make_version
from tests.factories.evaluation import make_run, work_off
from tests.sentences import assert_refused_as_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

FULL = {"name": "full-ranking", "relevant": 4.0}
SPLITS = [
    {"name": "probe", "share": 0.2},
    {"name": "strangers", "share": 0.2, "given": 0, "given_share": 0.8},
]


def measured(version: DatasetVersion, algorithms: str, split: Mapping[str, Any] = SPLITS[0]) -> EvaluationRun:
    run = make_run(version=version, algorithms=algorithms, split=split, protocol=FULL, profile_lengths=(3,))
    return work_off(run)


def saved(path: Path, **arrays: Any) -> Path:
    np.savez_compressed(path, **{name: np.asarray(array) for name, array in arrays.items()})
    return path


def ease_weights(liked: sparse.csr_array, reg: float) -> np.ndarray:
    """The weights of EASE as Steck (2019) writes them, computed here and not by the project."""
    inverse = np.linalg.inv((liked.T @ liked).toarray() + reg * np.eye(liked.shape[1]))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0.0)
    return weights


def upload(version: DatasetVersion, kind: str, path: Path, learned_from: str = "", **params: Any) -> TrainedModel:
    stored = store_upload(version=version, kind=kind, path=path, learned_from=learned_from)
    return model_of_upload(
        version=version,
        kind=kind,
        params={"upload": stored.digest, **params},
        learned_from=learned_from,
        seed=1,
        threads=1,
    )


@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split["name"])
def test_uploads_of_ease_and_puresvd_have_their_lists_and_metrics(split: dict[str, Any], tmp_path: Path) -> None:
    version = make_version()
    fitted = measured(version, "ease:reg=20,puresvd:factors=4", split)
    rows = training_rows(cases_of(fitted).training_digest)
    ids = item_ids_of(version)
    liked = positives(rows.user_items, rows.scale, 4.0)
    known = np.flatnonzero(np.bincount(liked.indices, minlength=version.n_items))
    matrix = saved(tmp_path / "ease.npz", items=ids[known], weights=ease_weights(liked[:, known], 20.0))
    puresvd = opened_model(model_rows(fitted)[1].model_hash)
    rated = np.flatnonzero(rows.item_counts)
    factors = saved(tmp_path / "svd.npz", items=ids[rated], Q=puresvd.item_factors[rated])
    digest = run_document(fitted)["training_hash"]
    models = [
        upload(version, "matrix", matrix, digest, profile="likes"),
        upload(version, "factors", factors, digest, name="SVD of R"),
    ]
    written = ",".join(
        f"{model.algorithm}:" + ",".join(f"{name}={value}" for name, value in model.params.items() if value)
        for model in models
    )
    run = measured(version, written, split)
    assert [row.label for row in model_rows(run)] == [models[0].label, "SVD of R"]
    assert [row.model_hash for row in model_rows(run)] == [model.digest for model in models]
    for length in (0, 3):
        for ours, theirs in zip(model_rows(run, length), model_rows(fitted, length), strict=True):
            values = [{name: cell.value for name, cell in row.cells.items()} for row in (ours, theirs)]
            assert values[0] == pytest.approx(values[1], abs=1e-9)
            lists = [artefacts.load("results", row.users_digest).arrays["list_items"] for row in (ours, theirs)]
            assert np.array_equal(*lists)
    for model, row in zip(models, model_rows(fitted), strict=True):
        opened, original = opened_model(model.digest), opened_model(row.model_hash)
        profiles = Profiles.of(rows, np.arange(rows.n_users))
        np.testing.assert_allclose(opened.score(profiles), original.score(profiles), rtol=0, atol=1e-9)
    assert not [comment for comment in run.comments if "test ratings" in comment]
    assert not list(check_artefacts())


def test_tables_say_what_may_have_seen_the_test_ratings(tmp_path: Path) -> None:
    version = make_version()
    ids = item_ids_of(version)
    file = saved(tmp_path / "w.npz", items=ids, weights=np.ones((40, 40)))
    model = upload(version, "matrix", file, name="Elsewhere")
    run = measured(version, f"toppop,matrix:upload={model.params['upload']},name=Elsewhere")
    said = "Elsewhere may have seen the test ratings: its upload does not name the training rows of this run."
    assert run.comments.count(said) == 1
    assert not [comment for comment in run.comments if comment.startswith("TopPop")]
    assert said in run_document(run)["comments"]
    # The popularity is that of the run's training rows, not of all ratings.
    (_, row) = model_rows(run)
    rows = training_rows(cases_of(run).training_digest)
    assert np.array_equal(opened_model(row.model_hash).popularity, rows.item_counts)
    folds = measured(version, f"matrix:upload={model.params['upload']},name=Elsewhere", {"name": "k-fold", "k": 3})
    assert said in folds.comments


def written_csv(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_and_both_forms_of_arrays_are_the_same_model(tmp_path: Path) -> None:
    version = make_version()
    rng = np.random.default_rng(3)
    ids = item_ids_of(version)[:12]
    weights = rng.normal(size=(12, 12)) * (rng.random((12, 12)) < 0.4)
    weights[np.arange(12), (np.arange(12) + 1) % 12] = 0.5  # each item has a weight
    entries = sparse.csr_array(weights)
    lines = [f"{ids[a]},{ids[b]},{weights[a, b]!r}" for a, b in zip(*np.nonzero(weights), strict=True)]
    lines = [line.replace("np.float64(", "").replace(")", "") for line in lines]
    files = [
        written_csv(tmp_path / "w.csv", "\n".join(["item,neighbour,weight", *reversed(lines)])),
        saved(tmp_path / "dense.npz", items=ids, weights=weights),
        saved(
            tmp_path / "sparse.npz",
            items=ids.astype(np.int64),
            weights=entries.data,
            indices=entries.indices,
            indptr=entries.indptr,
        ),
    ]
    stored = [store_upload(version=version, kind="matrix", path=file) for file in files]
    assert len({each.digest for each in stored}) == 1
    assert stored[0].n_items == 12
    model = upload(version, "matrix", files[0])
    scale = (1.0, 5.0, 1.0)
    opened = opened_model(model.digest)
    scores = opened.score(Profiles.single([0, 3, 30], [5, 2, 4], 40, opened.scale))[0]
    np.testing.assert_allclose(scores[:12], 5 * weights[0] + 2 * weights[3], atol=1e-12)
    assert np.isneginf(scores[12:]).all()
    served = recommend(model=model, items=[0, 3, 30], ratings=[5.0, 2.0, 4.0], scale=scale, n=11)
    assert served.is_filled == (False,) * 10 + (True,)
    parts = explain(model=model, items=[0, 3, 30], ratings=[5.0, 2.0, 4.0], scale=scale, of=served.items)
    assert parts[0] is not None
    assert parts[0].score == pytest.approx(served.scores[0])
    assert parts[10] is None


@pytest.mark.parametrize("reg", [None, 0.7])
def test_factors_are_folded_in_and_explained(reg: float | None, tmp_path: Path) -> None:
    version = make_version()
    rng = np.random.default_rng(5)
    factors = rng.normal(size=(40, 3))
    more = {} if reg is None else {"reg": reg, "P": rng.normal(size=(7, 3))}
    model = opened_model(
        upload(version, "factors", saved(tmp_path / "f.npz", items=item_ids_of(version), Q=factors, **more)).digest
    )
    profile = Profiles.single([4, 9], [5, 2], 40, model.scale)
    own, values = factors[[4, 9]], np.array([5.0, 2.0])
    if reg is None:
        expected = values @ own @ factors.T
    else:  # as an ordinary regression with λ as rows of data
        rows = np.vstack([own, np.sqrt(reg) * np.eye(3)])
        expected = factors @ np.linalg.lstsq(rows, np.concatenate([values, np.zeros(3)]), rcond=None)[0]
    np.testing.assert_allclose(model.score(profile)[0], expected, atol=1e-9)
    assert count_explained(model, profile) == 40


def test_likes_count_once_and_profiles_without_one_have_no_scores(tmp_path: Path) -> None:
    version = make_version()
    file = saved(tmp_path / "f.npz", items=item_ids_of(version), Q=np.ones((40, 1)))
    model = opened_model(upload(version, "factors", file, profile="likes", positive_from=5).digest)
    scored = [model.score(Profiles.single([1, 2], values, 40, model.scale))[0] for values in ([5, 5], [5, 4], [4, 3])]
    assert [float(scores[0]) for scores in scored] == [2.0, 1.0, -np.inf]


def test_uploads_are_not_offered_where_something_is_fitted() -> None:
    assert registry.uploaded_keys() == ("matrix", "factors", "lists")
    listed = {key for members in registry.families().values() for key in members}
    assert not (set(registry.keys()) | listed) & set(registry.uploaded_keys())
    kinds: list[type[Algorithm]] = [Matrix, Factors, Lists]
    assert not [kind for kind in kinds if kind.is_fitted]
    assert all(registry.algorithm(key).is_fitted for key in registry.keys())  # noqa: SIM118 — a function


def test_unusable_files_are_refused_with_every_problem(tmp_path: Path) -> None:
    version = make_version()
    items = ["1", "2"]

    def of(kind: str, path: Path, learned_from: str = "") -> Callable[[], object]:
        return lambda: store_upload(version=version, kind=kind, path=path, learned_from=learned_from)

    def arrays(number: int, kind: str = "matrix", **given: Any) -> Callable[[], object]:
        return of(kind, saved(tmp_path / f"f{number}.npz", **given))

    def text(number: int, content: str) -> Callable[[], object]:
        return of("matrix", written_csv(tmp_path / f"w{number}.csv", content))

    def lists(number: int, content: str) -> Callable[[], object]:
        return of("lists", written_csv(tmp_path / f"l{number}.csv", content))

    many = "\n".join(f"{line + 1},x{line},1" for line in range(13))
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, items=np.array([{"a": 1}], dtype=object))
    cases = {
        "csv: every problem": text(1, "item,other,weight\n1,2,0.5\nx,2,1\n1,2,.1\n1,3,nan\n1,4\n2,y,two"),
        "csv: more than ten unknown items": text(2, many),
        "csv: nothing": text(3, "item,item,weight\n"),
        "csv: another encoding": of("matrix", tmp_path / "latin.csv"),
        "no file": of("matrix", tmp_path / "none.npz"),
        "pickled": of("factors", pickled),
        "no items": arrays(4, weights=np.eye(2)),
        "items of numbers with fractions": arrays(5, items=[1.5, 2.0], weights=np.eye(2)),
        "unknown and repeated items, NaN": arrays(6, items=["1", "1", "z"], weights=np.full((3, 3), np.nan)),
        "no weights": arrays(7, items=items),
        "another shape": arrays(8, items=items, weights=np.eye(3)),
        "words as weights": arrays(9, items=items, weights=np.array([["a", "b"], ["c", "d"]])),
        "a broken sparse matrix": arrays(10, items=items, weights=[1.0], indices=[5], indptr=[0, 1, 1]),
        "a pair twice": arrays(11, items=items, weights=[1.0, 2.0], indices=[1, 1], indptr=[0, 2, 2]),
        "no factors": arrays(12, "factors", items=items),
        "factors of other items": arrays(13, "factors", items=items, Q=np.ones((3, 2))),
        "an infinite factor": arrays(14, "factors", items=items, Q=[[1.0, np.inf], [1.0, 1.0]]),
        "users without λ": arrays(15, "factors", items=items, Q=np.ones((2, 2)), P=np.ones((4, 2))),
        "other factors of users": arrays(16, "factors", items=items, Q=np.ones((2, 2)), P=np.ones((4, 3)), reg=1.0),
        "matrix: every problem": arrays(
            20,
            items=["1", "1", "x"],
            weights=[1.0, np.nan, 2.0, 1.0],
            lam=[1.0],
            indices=[1, 1, 9, 0],
            indptr=[0, 2, 3, 4],
        ),
        "sparse: a part is missing, and the items": arrays(21, weights=[1.0, np.inf], indptr=[0, 1, 2]),
        "factors: every problem": arrays(
            22, "factors", items=["1", "x"], Q=np.full((3, 2), np.nan), P=np.ones((4, 3)), reg=[0.1, 0.2], lam=1.0
        ),
        "λ of 0": arrays(17, "factors", items=items, Q=np.ones((2, 2)), reg=0.0),
        "lists: every problem": lists(
            18,
            "key,item,score\n*,1,3\n*,2,4\n*,1,1\n*,x,1\n*,3,nan\nsegment:Musical,1\nsegment:Drama,1\nprofile:12,1\n"
            "everyone,2\n*,\n*\nparticipant:A,1,2\nparticipant:A,2",
        ),
        "lists: nothing": lists(19, "key,item\n"),
        "rows that no run has": of("factors", tmp_path / "f14.npz", "0" * 64),
    }
    (tmp_path / "latin.csv").write_bytes("1,é,1".encode("latin-1"))
    assert_refused_as_approved("uploads", cases, tmp_path)


def test_texts_are_stored_beside_their_rows_and_files_without_any_keep_their_digest(tmp_path: Path) -> None:
    version, file = make_version(), tmp_path / "lists.csv"

    def stored(text: str) -> Any:
        file.write_text(text, encoding="utf-8")
        return store_upload(version=version, kind="lists", path=file)

    plain = stored("key,item,score\n*,2,4\n*,1,3\nsegment:Drama,1,1\n")
    assert plain.digest == "554bb2a27d5609f0d420aecdbbdeb0405ec9ec9d581ff6e8c31474d911d66514"  # before there were texts
    assert stored("*,2,4\n*,1,3\nsegment:Drama,1,1\n").digest == plain.digest
    texts = stored('key,item,text_en,text_it\n*,2,"Good, really","Bello, davvero"\nsegment:Drama,1,,\n*,1,Fine,Bene\n')
    assert "2 rows of them with a text in en, it" in texts.facts
    arrays = artefacts.load("uploads", texts.digest).arrays
    assert arrays["list_items"].tolist() == [1, 0, 0]
    assert arrays["text_en"].tolist() == ["Good, really", "Fine", ""]
    assert arrays["text_it"].tolist() == ["Bello, davvero", "Bene", ""]
    version.dataset.item_language = "it"
    assert "1 rows of them with a text in it" in stored("key,item,score,text\n*,2,4,Bello\n").facts
    for text, problem in {
        "key,item,text_en,text_it\n*,2,Good,\n": r"not in all languages \(1\): line 2",
        f"key,item,text_en\n*,2,{'x' * 161}\n": r"Texts longer than 160 characters, .* line 2",
        "key,item,text_en\n*,2\n": r"Lines that are not key,item .* line 2",
        "key,item,text_xx\n": r"last columns are text_xx\. Those of texts are called text_LANGUAGE",
        "key,item,text_en,score\n": r"last columns are text_en, score\.",
        "key,item,text_en,text_en\n": r"last columns are text_en, text_en\.",
    }.items():
        with pytest.raises(ParallaxError, match=problem):
            stored(text)


def test_parameters_that_name_no_upload_of_the_dataset_are_refused(tmp_path: Path) -> None:
    version = make_version()
    stored = store_upload(
        version=version, kind="factors", path=saved(tmp_path / "f.npz", items=["1"], Q=np.ones((1, 1)))
    )

    def feasible(key: str, on: DatasetVersion = version, **params: Any) -> object:
        return feasible_algorithms(version=on, algorithms=[(key, params)], split={"name": ""}, reserved=0.0, seed=1)

    assert feasible("factors", upload=stored.digest)
    smaller = make_version(name="smaller", n_items=30)
    for words, call in {
        "store one with the command upload_model": lambda: feasible("factors"),
        "is not the digest of an upload": lambda: feasible("factors", upload="../../etc/passwd"),
        "is missing a file": lambda: feasible("factors", upload="0" * 64),
        "is an upload of kind factors": lambda: feasible("matrix", upload=stored.digest),
        "matched to the items of another dataset": lambda: feasible("factors", smaller, upload=stored.digest),
        "longer than 60 characters": lambda: feasible("factors", upload=stored.digest, name="n" * 61),
        "one of the characters": lambda: feasible("factors", upload=stored.digest, name="a=b"),
    }.items():
        with pytest.raises(ParameterError, match=words):
            call()
    with pytest.raises(DataError, match="learns nothing from ratings"):
        Factors.fit(
            training_rows(cases_of(measured(version, "toppop")).training_digest),
            Factors.Params(upload=stored.digest),
            rng=np.random.default_rng(0),
        )
    with pytest.raises(ParallaxError, match="must be one of ratings, likes"):
        model_of_upload(
            version=version,
            kind="factors",
            params={"upload": stored.digest, "profile": "other"},
            learned_from="",
            seed=1,
            threads=1,
        )


def call(*arguments: str) -> str:
    out = io.StringIO()
    call_command("upload_model", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_says_what_it_understood(tmp_path: Path) -> None:
    version = make_version(name="films")
    call_command("train", "films", "--algorithm", "puresvd", "--param", "factors=4", stdout=io.StringIO())
    fitted = TrainedModel.objects.get()
    opened = opened_model(fitted.digest)
    file = saved(tmp_path / "svd.npz", items=item_ids_of(version), Q=opened.item_factors)
    said = call(
        "films", str(file), "--kind", "factors", "--name", "Mine", "--beside", fitted.digest[:10],
        "--learned-from", fitted.training_digest,
    )  # fmt: skip
    lines = said.splitlines()
    assert lines[0].startswith("Mine on Films · version 1: upload ")
    assert "  40 of 40 items of the dataset; 0 unknown items" in lines
    assert "  4 factors" in lines
    assert "may have seen" not in said
    assert sum(line.startswith("User ") for line in lines) == 5
    assert sum(line.split() == ["Mine", "PureSVD4"] for line in lines) == 5
    for line in (line for line in lines if line[:5] in {f"  {rank}. " for rank in range(1, 6)}):
        ours, theirs = line[5:49].strip(), line[49:].strip()
        assert ours == theirs != ""
    assert "may have seen the test ratings" in call("films", str(file), "--kind", "factors")
    assert TrainedModel.objects.filter(algorithm="factors").count() == 2
    with pytest.raises(Exception, match="There is no model abc"):
        call("films", str(file), "--kind", "factors", "--beside", "abc")


def test_usage_data_are_profiles_of_ones(tmp_path: Path) -> None:
    version = make_usage_version()
    file = written_csv(tmp_path / "w.csv", "1,2,0.5\n3,2,0.25\n")
    model = opened_model(upload(version, "matrix", file).digest)
    assert model.score(Profiles.single([0, 2], [1, 1], 40, model.scale))[0, 1] == 0.75
