"""Fits that would not find room are refused before they begin."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from catalog.selectors.ratings import features_of, ratings_of
from core.errors import ParallaxError
from evaluation.enums import RunStatus
from evaluation.models import MetricResult, TrainedModel
from evaluation.services import memory
from evaluation.services.memory import available_bytes, check_memory, container_bytes, in_words
from evaluation.services.training import train_on_everything
from recommenders import registry
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def stored_models(settings: Any) -> int:
    folder = Path(settings.STORAGES["artefacts"]["OPTIONS"]["location"]) / "models"
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_fit_that_has_no_room_is_refused_with_estimate_and_ways_out(settings: Any) -> None:
    version = make_version()
    params = registry.params_of("puresvd", {"factors": 8})
    ratings = ratings_of(version)
    whole = memory.needed_bytes(kind=registry.algorithm("puresvd"), params=params, ratings=ratings, features=None)
    settings.MEMORY_LIMIT = whole - 1
    before = stored_models(settings)
    with pytest.raises(ParallaxError) as refused:
        train_on_everything(version=version, algorithm="puresvd", params={"factors": 8}, seed=1, threads=1)
    assert refused.value.code == "model.too_large"
    assert refused.value.extra == {
        "needed_bytes": whole,
        "available_bytes": whole - 1,
        "algorithm": "puresvd",
    }
    words = str(refused.value)
    assert words.startswith(f"PureSVD8 on {ratings.n_users:,} users")
    assert "PARALLAX_MEMORY_LIMIT" in words
    assert "factors=4 (about" in words
    assert not TrainedModel.objects.exists()
    assert stored_models(settings) == before
    # With the smaller parameter it does fit, as was promised.
    train_on_everything(version=version, algorithm="puresvd", params={"factors": 4}, seed=1, threads=1)


def test_neighbours_can_be_bounded(settings: Any) -> None:
    ratings = ratings_of(make_version())
    found, params = registry.algorithm("nncosngr"), {"neighbours": 2}
    less = registry.params_of("nncosngr", params | {"neighbourhood": "item"})
    settings.MEMORY_LIMIT = memory.needed_bytes(kind=found, params=less, ratings=ratings, features=None)
    with pytest.raises(ParallaxError, match="neighbourhood=item"):
        check_memory(algorithm="nncosngr", params=params, ratings=ratings, features=None)
    check_memory(algorithm="nncosngr", params=less.as_dict(), ratings=ratings, features=None)


def test_what_nothing_helps_says_so_and_features_count(settings: Any) -> None:
    version = make_version()
    settings.MEMORY_LIMIT = 10
    with pytest.raises(ParallaxError, match="No smaller value"):
        check_memory(algorithm="naive-bayes", params={}, ratings=ratings_of(version), features=features_of(version))


def test_run_fails_before_any_fit_with_the_reason(settings: Any) -> None:
    run = make_run(algorithms="puresvd:factors=4,puresvd:factors=6")
    settings.MEMORY_LIMIT = 1000
    work_off(run)
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "1 MB are" in run.error
    assert run.error_detail == ""
    assert run.cases_digest == ""
    assert run.parts.count() == 1
    assert not TrainedModel.objects.exists()
    assert not MetricResult.objects.exists()


def test_algorithm_without_room_fails_before_any_fit_and_the_others_are_measured(settings: Any) -> None:
    run = make_run(algorithms="toppop,puresvd:factors=4")
    settings.MEMORY_LIMIT = 1000
    work_off(run)
    assert (run.status, run.error) == (RunStatus.SUCCEEDED, "")
    failed = run.algorithms.get(algorithm="puresvd")
    assert "1 MB are" in failed.error
    assert not failed.parts.exists()
    assert TrainedModel.objects.get().algorithm == "toppop"


def test_run_whose_models_are_there_needs_no_room(settings: Any) -> None:
    work_off(make_run())
    settings.MEMORY_LIMIT = 1000
    again = make_run(version=TrainedModel.objects.all()[0].version)
    work_off(again)
    again.refresh_from_db()
    assert again.status == RunStatus.SUCCEEDED


def test_train_command_refuses_in_a_sentence(settings: Any) -> None:
    make_version()
    settings.MEMORY_LIMIT = 1000
    with pytest.raises(CommandError, match="would need about"):
        call_command("train", "small", "--algorithm", "puresvd", "--param", "factors=4", stdout=io.StringIO())
    assert not TrainedModel.objects.exists()


def test_without_a_setting_the_machine_says_what_is_left(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEMORY_LIMIT = None
    monkeypatch.setattr(memory, "PROC", Path("/nowhere"))
    facts = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    there = int(facts["MemAvailable"].split()[0]) * 1024
    assert abs(available_bytes() - there) < 0.2 * there
    with pytest.raises(ParallaxError, match=r"GB are available here\."):
        check_memory(
            algorithm="puresvd",
            params={},
            ratings=Vast(),  # type: ignore[arg-type]
            features=None,
        )


class Vast:
    """The sizes of a data set that no machine holds."""

    n_users, n_items, n_ratings = 10**7, 10**7, 10**10


@pytest.mark.parametrize(
    ("line", "folder", "names"),
    [
        ("0::/a/b", ".", ("memory.max", "memory.current", "inactive_file")),
        (
            "7:cpu,memory:/a/b",
            "memory",
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ),
    ],
)
def test_container_leaves_the_least_of_its_groups(
    line: str, folder: str, names: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def group(path: str, limit: str, used: int, cached: int) -> None:
        place = tmp_path / folder / path
        place.mkdir(parents=True, exist_ok=True)
        (place / names[0]).write_text(f"{limit}\n")
        (place / names[1]).write_text(f"{used}\n")
        (place / "memory.stat").write_text(f"anon 5\n{names[2]} {cached}\n")

    (tmp_path / "cgroup").write_text(f"3:pids:/a\n{line}\n")
    monkeypatch.setattr(memory, "PROC", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path)
    assert container_bytes() is None
    group("a/b", "max" if folder == "." else str(2**63 - 4096), 100, 0)
    assert container_bytes() is None
    group("a", "1000", 700, 250)
    assert container_bytes() == 550
    group(".", "900", 500, 0)
    assert container_bytes() == 400
    group(".", "900", 950, 0)
    assert container_bytes() == 1
    assert available_bytes() == 1


def test_sizes_in_words() -> None:
    assert [in_words(size) for size in (3, 5 * 1024**2, 3 * 1024**3)] == ["1 MB", "5 MB", "3.0 GB"]
