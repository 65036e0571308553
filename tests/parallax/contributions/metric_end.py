"""The contributed metric in a run and on its page; run within a copy of the project."""

from __future__ import annotations

import pytest
from reference import metrics as metric_entries

from evaluation.selectors.results import model_rows
from tests.factories.evaluation import make_run, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_a_run_has_values_of_it_and_the_reference_names_it() -> None:
    protocol = {"name": "full-ranking", "relevant": 4.0, "irrelevant": 2.0}
    run = work_off(make_run(protocol=protocol, metrics=["jaccard@5", "recall@5"]))
    assert run.error == ""
    rows = list(model_rows(run))
    assert rows
    assert all({"jaccard@5", "recall@5"} <= set(row.cells) for row in rows)
    assert "### `jaccard@10`" in metric_entries.entries()
