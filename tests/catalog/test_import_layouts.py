"""Every layout and every way of writing that is detected: examples, and what they become."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from catalog.importers.auto import parse
from catalog.importers.base import ImportRefused, ParsedItem, Policy
from catalog.importers.detector.layouts import LAYOUTS
from catalog.importers.items import equal_titles
from catalog.importers.options import Options
from catalog.importers.proposal import of_json
from catalog.importers.scales import text_of
from tests.sentences import assert_sentences_approved

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "data" / "imports"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "expected.toml").read_text())


def source_of(name: str) -> Path:
    """The folder of an example, or the one file in it."""
    files = list((FOLDER / name).iterdir())
    return files[0] if len(files) == 1 else FOLDER / name


@pytest.mark.unit
def test_every_layout_has_an_example() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == set(EXPECTED)
    assert set(LAYOUTS) <= set(EXPECTED)
    assert all(EXPECTED[name].get("layout", name) == name for name in LAYOUTS)


@pytest.mark.unit
@pytest.mark.parametrize(("name", "expected"), EXPECTED.items(), ids=EXPECTED)
def test_an_example_becomes_what_is_expected(name: str, expected: dict[str, Any]) -> None:
    options = Options(**{option: tuple(value) for option, value in expected.get("options", {}).items()})
    if "refused" in expected:
        with pytest.raises(ImportRefused) as refused:
            parse(source_of(name), options=options)
        assert str(refused.value) == expected["refused"]
        return
    dataset = parse(source_of(name), options=options)
    scale = "" if dataset.scale.low == dataset.scale.high else text_of(dataset.scale)
    assert {
        "layout": dataset.report.source_format,
        "users": dataset.n_users,
        "items": dataset.n_items,
        "ratings": dataset.n_ratings,
        "scale": scale,
        "warnings": list(dataset.report.warnings),
    } == {key: expected[key] for key in ("layout", "users", "items", "ratings", "scale", "warnings")}
    ids = [item.external_id for item in dataset.items]
    rows = [
        [str(dataset.user_ids[user]), ids[item], round(float(value), 4)]
        for user, item, value in zip(dataset.users, dataset.items_rated, dataset.values, strict=True)
    ]
    assert expected["rating"] in rows
    assert "title" not in expected or expected["title"] in [[item.external_id, item.title] for item in dataset.items]
    assert (None if dataset.counts is None else dataset.counts.tolist()) == expected.get("weights")


@pytest.mark.reference
@pytest.mark.slow
def test_the_shared_cases_import_right_by_the_command(shared_dir: Path, tmp_path: Path) -> None:
    checker = shared_dir / "cases" / "check_import.py"
    if not checker.is_file():
        pytest.skip("the cases of imports are not among the shared data")
    verdicts = tmp_path / "verdicts.json"
    arguments = [str(ROOT), str(checker.parent / "import"), "--python", sys.executable, "--json", str(verdicts)]
    done = subprocess.run(
        [sys.executable, str(checker), *arguments], capture_output=True, text=True, timeout=1800, env=dict(os.environ),
        check=False,
    )  # fmt: skip
    assert verdicts.is_file(), done.stdout + done.stderr
    wrong = {case["case"]: case for case in json.loads(verdicts.read_text()) if case["verdict"] != "right"}
    assert wrong == {}


def test_editions_of_a_work_are_merged() -> None:
    options, policy = Options(merge_titles=True), Policy(duplicates="mean")
    with pytest.raises(ImportRefused, match=r"marks\.csv, line 11"):
        parse(source_of("editions"), options=options)
    dataset = parse(source_of("editions"), options=options, policy=policy)
    assert [(item.external_id, item.title) for item in dataset.items] == [
        ("1001", "Orchard"), ("1003", "Orchard"), ("1004", "Tides"), ("1005", "Lamps"),
    ]  # fmt: skip
    of_r4 = dataset.values[dataset.users == dataset.user_ids.tolist().index("r4")]
    assert sorted(of_r4.tolist()) == [1.0, 3.5, 5.0]
    assert_sentences_approved("warnings/editions", {"editions merged": dataset.report.warnings})
    again = parse(source_of("editions"), policy=policy, proposal=of_json(dataset.report.recipe))
    assert again.n_items == 4


def test_days_months_and_years_in_columns_are_times(tmp_path: Path) -> None:
    dataset = parse(source_of("days-in-columns"))
    assert dataset.timestamps is not None
    assert dataset.timestamps[0] == datetime(2019, 4, 5, tzinfo=UTC).timestamp()
    text = source_of("days-in-columns").read_text().replace("3,5,4,2019", "3,31,4,2019")
    (tmp_path / "visits.csv").write_text(text)
    with pytest.raises(ImportRefused) as refused:
        parse(tmp_path / "visits.csv")
    (problem,) = refused.value.problems
    assert (problem.line, problem.column) == (2, "day")


@pytest.mark.parametrize("is_same", [True, False])
def test_a_description_is_the_item_s_where_every_row_says_the_same(tmp_path: Path, is_same: bool) -> None:
    rows = ["user,item,rating,title,description"]
    for user in range(6):
        for item in range(5):
            said = f"The story of {item}." if is_same else f"Story {item} as told by {user}."
            rows.append(f"u{user},i{item},{1 + (user * item) % 5},The book {item},{said}")
    (tmp_path / "ratings.csv").write_text("\n".join(rows) + "\n")
    plots = [item.plot for item in parse(tmp_path / "ratings.csv").items]
    assert plots == ([f"The story of {item}." for item in range(5)] if is_same else [""] * 5)


def test_remakes_and_namesakes_share_no_title() -> None:
    def item(number: int, year: int | None = None, author: str = "") -> ParsedItem:
        return ParsedItem(str(number), "The Ferry", year, features=(("author", author),) if author else ())

    assert equal_titles([item(1, 1951), item(2, 1984)]) == []
    assert equal_titles([item(1, author="A. Reed"), item(2, author="B. Moss")]) == []
    assert equal_titles([item(1, 1951, "A. Reed"), item(2, 1984, "A. Reed"), item(3, 1984)]) == [("The Ferry", 2)]
