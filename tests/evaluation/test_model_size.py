"""The command that compares sizes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from catalog.selectors.ratings import features_of
from core.errors import ParallaxError
from evaluation import charts
from evaluation.management import progress_line
from evaluation.management.commands.tune import size_lines
from evaluation.models import TrainedModel
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.services.model_size import choose_size
from recommenders.data_limits import TrainingSize
from recommenders.search_space import possible_sizes
from recommenders.size_selection import Choice, Size
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, make_run_at
from tests.sentences import assert_sentences_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

GIVEN: dict[str, Any] = {
    "algorithm": "aspect",
    "values": [2, 4],
    "params": {"iterations": "20"},
    "share": 0.1,
    "rule": "best",
    "seed": 1,
    "threads": 1,
}


def call(*arguments: str) -> str:
    out = io.StringIO()
    call_command("tune", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.slow
def test_command_prints_the_table_and_what_to_pass_and_stores_nothing(tmp_path: Path) -> None:
    version = make_version()
    file, drawing, written = tmp_path / "choice.json", tmp_path / "choice.svg", tmp_path / "choice.csv"
    said = call(
        *("small", "aspect:iterations=20", "--sizes", "2,4"),
        *("--json", str(file), "--figure", str(drawing), "--csv", str(written)),
    )
    found = json.loads(file.read_text())
    assert found["dataset_hash"] == version.content_hash
    assert [size["value"] for size in found["sizes"]] == [2, 4]
    assert found["params"] == {"iterations": "20"}
    assert f"Train or measure aspect:iterations=20,classes={found['chosen']}" in said
    with written.open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [int(line["classes"]) for line in lines if line["is_chosen"] == "1"] == [found["chosen"]]
    assert [float(line["score"]) for line in lines] == [size["score"] for size in found["sizes"]]
    rows = [line.split() for line in said.splitlines() if line.strip()[:1].isdigit() and "held out" not in line]
    assert [row[:4] for row in rows] == [
        [str(size["value"]), f"{size['score']:.5f}", f"{size['standard_error']:.5f}", str(size["epochs"])]
        for size in found["sizes"]
    ]
    assert [row[4:] for row in rows] == [["chosen"] if int(row[0]) == found["chosen"] else [] for row in rows]
    assert f"on {found['n_held_out']:,} held-out ratings of" in said
    assert "<svg" in drawing.read_text()
    assert not TrainedModel.objects.exists()


def test_content_and_usual_sizes() -> None:
    version = make_version()
    said = call("small", "lsa", "--sizes", "--rule", "smallest-near")
    size = TrainingSize(version.n_users, version.n_items, features_of(version))
    tried = [int(line.split()[0]) for line in said.splitlines() if line[:10].strip().isdigit()]
    assert tried == possible_sizes("lsa", size) == [5, 10, 20]


def test_run_gives_its_training_side_alone() -> None:
    run = make_run_at("running")
    run.refresh_from_db()
    on_run = choose_size(version=run.version, run=run, **GIVEN)
    on_all = choose_size(version=run.version, **GIVEN)
    training = training_rows(cases_of(run).training_digest)
    assert on_run.n_held_out <= 0.1 * training.n_ratings
    assert on_run != on_all
    said = call("small", "aspect:iterations=20", "--sizes", "2,4", "--run", str(run.pk))
    assert f"{on_run.n_held_out:,} held-out ratings of" in said


def test_run_that_does_not_serve_is_refused() -> None:
    run = make_run()
    with pytest.raises(ParallaxError, match="no test cases"):
        choose_size(version=run.version, run=run, **GIVEN)
    other = make_version(name="other", seed=9)
    with pytest.raises(ParallaxError) as refused:
        choose_size(version=other, run=run, **GIVEN)
    assert refused.value.code == "choice.other_dataset"


def test_too_large_a_size_is_refused_before_anything(settings: Any) -> None:
    version = make_version()
    settings.MEMORY_LIMIT = 1000
    with pytest.raises(ParallaxError) as refused:
        choose_size(version=version, **GIVEN)
    assert refused.value.code == "model.too_large"


def test_command_that_is_interrupted_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    make_version()

    def interrupt(self: object, share: float, what: str, /) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(progress_line.ProgressLine, "update", interrupt)
    with pytest.raises(CommandError, match="Stopped") as ended:
        call("small", "aspect", "--sizes", "2,4")
    assert ended.value.returncode == 130


def test_lines_hint_at_other_values_only_at_an_end() -> None:
    def said(scores: list[float], rule: str = "best") -> list[str]:
        sizes = tuple(Size(value, score, 0.1, None) for value, score in zip((2, 5, 9), scores, strict=True))
        best = max(sizes, key=lambda size: size.score).value
        choice = Choice("lsa", "factors", "Area", True, sizes, 10, 5, rule, best)
        return size_lines(choice, {})

    lines = {
        "best at the upper end": said([0.1, 0.2, 0.3]),
        "best at the lower end": said([0.3, 0.2, 0.1]),
        "best in between": said([0.1, 0.3, 0.2]),
        "smallest near the best": said([0.1, 0.3, 0.2], "smallest-near"),
    }
    assert_sentences_approved("sentences/sizes", lines)


def test_chart_is_on_the_objective_side_and_not_forced_to_begin_at_zero() -> None:
    sizes = (Size(2, -7.4, 0.1, None), Size(5, -7.3, 0.1, None))
    spec = charts.score_by_size("Aspect", Choice("aspect", "classes", "Log", True, sizes, 10, 5, "best", 5))
    assert set(spec) == {"light", "dark"}
    assert "classes=5" in spec["light"]["usermeta"]["title"]
    assert '"domain": [-7.4, -7.3]' in json.dumps(spec["light"])
