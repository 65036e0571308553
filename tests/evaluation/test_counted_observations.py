"""Repeated observations: imported as counts, kept beside the training rows, used by the aspect model alone."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from catalog.models import DatasetVersion
from catalog.selectors.ratings import are_counted, ratings_of, user_ids_of
from catalog.services.dataset_import import import_dataset
from catalog.services.subset import create_subset
from catalog.subsetting.recipe import Recipe
from core import artefacts
from core.errors import ParallaxError
from evaluation.enums import RunStatus
from evaluation.selectors.cases import cases_of, training_rows
from tests.factories.evaluation import make_run, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
N_USERS, N_ITEMS = 30, 12


def observed() -> np.ndarray:
    """How often each person took each item; half of them never."""
    rng = np.random.default_rng(4)
    return rng.integers(1, 5, (N_USERS, N_ITEMS)) * (rng.random((N_USERS, N_ITEMS)) < 0.5)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    users, items = np.nonzero(observed())
    times = observed()[users, items]
    rows = np.repeat(np.column_stack([users + 1, items + 1]), times, axis=0)
    rows = np.random.default_rng(5).permutation(rows)
    file = tmp_path / "visits.csv"
    file.write_text("user,item\n" + "".join(f"{user},{item}\n" for user, item in rows))
    return file


def imported(file: Path, name: str = "visits", **options: object) -> DatasetVersion:
    return import_dataset(path=file, name=name, source_format="delimited", options={"usage": True, **options})


def test_counts_are_rows_of_each_pair_and_only_where_asked_for(visits: Path) -> None:
    counted, plain = imported(visits, duplicates="count"), imported(visits, "plain")
    table = ratings_of(counted).user_items.copy()
    table.data = np.asarray(ratings_of(counted).counts, dtype=float)
    assert np.array_equal(table.toarray(), observed())
    assert (are_counted(counted), are_counted(plain)) == (True, False)
    assert ratings_of(plain).counts is None
    assert "counts" not in artefacts.load("ratings", plain.ratings_digest).arrays
    assert counted.ratings_digest != plain.ratings_digest
    n_again = observed().sum() - np.count_nonzero(observed())
    assert any(f"{n_again:,} rows repeat" in warning for warning in counted.report["warnings"])
    assert not any("rows repeat" in warning for warning in plain.report["warnings"])


def test_pairs_in_order_count_once_each(tmp_path: Path) -> None:
    file = tmp_path / "ordered.csv"
    file.write_text("user,item\n1,1\n1,2\n2,1\n")
    counts = ratings_of(imported(file, duplicates="count")).counts
    assert counts is not None
    assert counts.tolist() == [1, 1, 1]


def test_baskets_count_items_that_a_line_repeats(tmp_path: Path) -> None:
    file = tmp_path / "baskets.dat"
    file.write_text("7 3 7 7\n3\n")
    options = {"duplicates": "count"}
    counts = ratings_of(import_dataset(path=file, name="baskets", source_format="fimi", options=options)).counts
    assert counts is not None
    assert counts.tolist() == [1, 3, 1]


def test_ratings_are_not_counted(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text("user,item,rating\n1,1,4\n1,1,5\n")
    with pytest.raises(ParallaxError, match="in usage data"):
        import_dataset(path=file, name="rated", source_format="delimited", options={"duplicates": "count"})


def test_run_trains_on_the_counts_of_what_is_not_hidden(visits: Path) -> None:
    version = imported(visits, duplicates="count")
    algorithms = "aspect:classes=2,iterations=5,counts=use,aspect:classes=2,iterations=5"
    split = {"name": "holdout", "share": 0.2}
    run = work_off(
        make_run(version=version, algorithms=algorithms, split=split, protocol={"name": "full-ranking"}, reserve=0.2)
    )
    assert (run.status, run.error) == (RunStatus.SUCCEEDED, "")
    found = cases_of(run)
    training = training_rows(found.training_digest)
    users, items, _ = training.triples()
    assert training.counts is not None
    assert training.counts.tolist() == observed()[found.trained[users], items].tolist()
    assert len(found.trained) < N_USERS
    used, ignored = (algorithm.model for algorithm in run.algorithms.order_by("position"))
    assert used is not None
    assert ignored is not None
    assert "counts" not in ignored.params
    assert used.digest != ignored.digest


def test_subset_keeps_the_counts_of_its_pairs(visits: Path) -> None:
    half = create_subset(version=imported(visits, duplicates="count"), recipe=Recipe(random_users=15, seed=4)).version
    ratings = ratings_of(half)
    kept = [int(user) - 1 for user in user_ids_of(half)]
    assert ratings.counts is not None
    table = ratings.user_items.toarray()
    table[table > 0] = ratings.counts
    assert np.array_equal(table, observed()[kept])


def test_counts_are_refused_before_the_run_where_there_are_none(visits: Path) -> None:
    with pytest.raises(ParallaxError, match="counts=use") as refused:
        make_run(
            version=imported(visits),
            algorithms="toppop,aspect:classes=2,counts=use",
            protocol={"name": "full-ranking"},
            split={"name": "holdout", "share": 0.2},
        )
    assert refused.value.code == "run.bad_input"


def test_command_counts_repeats(visits: Path) -> None:
    arguments = [str(visits), "--name", "visits", "--format", "delimited", "--usage", "--count-repeats"]
    call_command("import_dataset", *arguments, stdout=io.StringIO())
    assert are_counted(DatasetVersion.objects.get())
    with pytest.raises(CommandError, match="not allowed with"):
        call_command("import_dataset", *arguments, "--keep-last", stdout=io.StringIO())
