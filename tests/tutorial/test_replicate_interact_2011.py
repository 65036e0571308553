"""The tutorial of the replication, followed to its last line in a checkout of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inference.claims import AS, NOT_AS, OPEN
from parallax.replication.claims import NOT_SCORED
from tests.tutorial.steps import Act, steps
from tests.tutorial.terminal import ROOT, Terminal

TUTORIAL = ROOT / "docs" / "tutorials" / "replicate-interact-2011.md"
QUOTED = {"PureSVD50": "highest recall (.29)", "PureSVD300": "second highest (.25)", "LSA": "the lowest (.01)"}
pytestmark = [pytest.mark.integration, pytest.mark.slow]


def test_the_study_of_2011_is_replicated_on_movielens(movielens_small: Path, tmp_path: Path) -> None:
    """As written, but for a folder in place of the download, and three participants a condition."""
    substitutions = {
        "download_dataset ml-latest-small": "download_dataset --help",
        "var/downloads/ml-latest-small.zip": str(movielens_small),
        "--per-condition 30": "--per-condition 3",
    }
    with Terminal(tmp_path, substitutions) as terminal:
        for step in steps(TUTORIAL):
            if isinstance(step, Act):
                assert (step.verb, step.name in {AS, NOT_AS, OPEN}) == ("see", True)
            else:
                terminal.do(step)
    out = terminal.folder / "var" / "replication"
    numbers = json.loads((out / "replication.json").read_text())
    assert "Warning" not in terminal.output
    assert numbers["is_simulated"] is True
    assert len(numbers["claims"]) == 31
    assert {claim["verdict"] for claim in numbers["claims"]} <= {AS, NOT_AS, OPEN, NOT_SCORED}
    # What the tutorial quotes of the paper, and where it sends the reader.
    text = " ".join(TUTORIAL.read_text().split())
    published = numbers["published"]
    for name, quoted in QUOTED.items():
        assert quoted in text
        assert f"({published['table_2'][name]['recall']:.2f})".replace("0.", ".") in quoted
    assert published["table_1"]["accuracy"]["maximal"] == ["TopPop"]
    assert sorted(published["table_1"]["novelty"]["minimal"]) == ["PureSVD50", "TopPop"]
    page = (out / "replication.html").read_text()
    assert page.index("Statements of the paper") < page.index("Table 1: ") < page.index("Table 2: ")
    assert (out / "report" / "report.html").is_file()
