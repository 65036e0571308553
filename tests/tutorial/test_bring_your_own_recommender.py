"""The tutorial of an own recommender, followed to its last line in a checkout of its own."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.tutorial.steps import steps
from tests.tutorial.terminal import ROOT, Terminal

TUTORIAL = ROOT / "docs" / "tutorials" / "bring-your-own-recommender.md"
PER_CONDITION = 3
SUBSTITUTIONS = {
    "--per-condition 10": f"--per-condition {PER_CONDITION}",
    # The kernels of this checkout were compiled under another path; compiling them again takes longer than all else.
    ".venv/bin/python -m pytest": "NUMBA_DISABLE_JIT=1 .venv/bin/python -m pytest",
}
# What the participants of the algorithm's condition were given.
READ_LISTS = """
import json
from studies.models import RecommendationList
lists = RecommendationList.objects.filter(participant__condition__label="AsymCos (alpha=0.3)")
print(json.dumps([[one.model_digest, list(one.slots.values_list("score", "is_filled"))] for one in lists]))
"""
pytestmark = [pytest.mark.integration, pytest.mark.slow]


def test_an_own_recommender_is_tested_measured_and_served_in_a_study(tmp_path: Path) -> None:
    """As written, but for three participants a condition and a free port."""
    with Terminal(tmp_path, SUBSTITUTIONS) as terminal:
        for step in steps(TUTORIAL):
            terminal.do(step)
        assert terminal.site is None
        assert f"{3 * PER_CONDITION} of {3 * PER_CONDITION} simulated participants completed" in terminal.output
        assert "Warning" not in terminal.output
        terminal.output = ""
        assert terminal.type(f".venv/bin/python manage.py shell --verbosity 0 -c {shlex.quote(READ_LISTS)}") == 0
        lists = json.loads(terminal.output)
    assert len(lists) == PER_CONDITION
    report = json.loads((terminal.folder / "var" / "my-report" / "report.json").read_text())
    for model_digest, slots in lists:
        assert model_digest in json.dumps(report)
        assert len(slots) == 5
        assert all(score > 0 and not is_filled for score, is_filled in slots)
