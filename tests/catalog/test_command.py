"""The import command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command

from catalog.models import DatasetVersion
from catalog.selectors.items import facts_of_item
from catalog.selectors.ratings import ratings_of

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

PURCHASES = "who;what;how much\nann;x;1\nann;y;5\nbob;x;3\nbob;y;2\nbob;z;7\n"
THINGS = "code,name,made,kinds\nx,Étoile,1999,Drama/War\ny,Yonder,,Comedy\nz,Zed,1980,\n"


def delimited(folder: Path) -> Path:
    (folder / "things.csv").write_text(THINGS)
    file = folder / "ratings.csv"
    file.write_text(PURCHASES.replace("z;7", "z;4"))
    return file


def options(folder: Path) -> list[str]:
    return [
        *("--user-column", "who", "--item-column", "what", "--rating-column", "how much", "--scale", "1:5:1"),
        *("--items-file", str(folder / "things.csv"), "--items-id-column", "code", "--title-column", "name"),
        *("--year-column", "made", "--feature", "genre=kinds", "--feature-separator", "/"),
    ]


def test_the_command_imports_delimited_files_by_named_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = delimited(tmp_path)
    call_command("import_dataset", str(file), "--name", "things", "--title", "Things", *options(tmp_path))
    version = DatasetVersion.objects.get()
    assert version.source_format == "delimited"
    assert ratings_of(version).user_items.toarray().tolist() == [[1, 5, 0], [3, 2, 4]]
    star = version.items.get(external_id="x")
    assert (star.title, star.year, facts_of_item(star.version, star)["genre"]) == ("Étoile", 1999, ("Drama", "War"))
    printed = capsys.readouterr().out
    assert "things, version 1 (delimited)" in printed
    table = dict(line.split(maxsplit=1) for line in printed.splitlines() if line.startswith("  "))
    assert (table["users"], table["items"], table["ratings"]) == ("2", "3", "5")
    assert table["scale"].startswith("1 to 5")
    assert "\r" not in printed


def test_the_command_writes_its_numbers_with_hashes(tmp_path: Path) -> None:
    file = delimited(tmp_path)
    out = tmp_path / "import.json"
    call_command("import_dataset", str(file), "--name", "things", "--json", str(out), *options(tmp_path))
    written = json.loads(out.read_text())
    version = DatasetVersion.objects.get()
    assert written["dataset_hash"] == version.content_hash
    assert (written["n_users"], written["n_items"], written["n_ratings"]) == (2, 3, 5)
    assert written["scale"] == {"low": 1.0, "high": 5.0, "step": 1.0}
    assert written["report"]["dropped"] == {}


def test_the_command_says_what_it_dropped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = delimited(tmp_path)
    file.write_text(PURCHASES)
    call_command("import_dataset", str(file), "--name", "things", "--drop-bad-rows", *options(tmp_path))
    printed = capsys.readouterr().out
    assert re.search(r"rows dropped +1\n", printed)
    assert "ratings.csv, line 6" in printed
