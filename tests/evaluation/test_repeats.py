"""Repetitions of a run: the same inputs with seeds derived by name, and values pooled over them."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from core.errors import ParallaxError
from core.provenance import derived_seed
from evaluation.models import EvaluationRun, RunAlgorithm
from evaluation.selectors.repeats import repeat_seed, repeated_values, repeats_of, results_digest
from evaluation.selectors.results import metrics_by_user, model_rows
from evaluation.services.runs import check_repeats, create_repeat
from tests.factories.evaluation import make_run, make_run_at, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_repetitions_differ_in_their_seed_alone() -> None:
    run = make_run_at("succeeded")
    assert repeats_of(run) == []
    third, second = (work_off(create_repeat(run=run, number=number)) for number in (3, 2))
    make_run(version=run.version, seed=repeat_seed(run, 4))  # has not finished
    work_off(make_run(version=run.version, seed=repeat_seed(run, 5), n=3))
    work_off(make_run(version=run.version, seed=repeat_seed(run, 5), algorithms="toppop"))
    assert second.seed == derived_seed(run.seed, "repeat", 2)
    assert repeats_of(run) == [second, third]
    assert create_repeat(run=run, number=2) == second
    assert second.inputs_hash != run.inputs_hash
    assert second.cases_digest != run.cases_digest  # another split
    assert len({results_digest(each) for each in (run, second, third)}) == 3
    RunAlgorithm.objects.filter(run=second, position=0).update(error="It failed.")
    assert repeats_of(run) == [third]


def test_sums_by_user_give_the_value_of_every_run() -> None:
    run = make_run_at("succeeded")
    runs = [run, work_off(create_repeat(run=run, number=2))]
    for metric in ("recall", "fallout"):
        values = repeated_values(runs, metric, 5)
        assert values.hits.shape == (*values.cases.shape, 2)
        for number, each in enumerate(runs):
            pooled = values.hits[number].sum(axis=0) / values.cases[number].sum()
            assert pooled == pytest.approx([row.cells[metric].value for row in model_rows(each, 5)])


def test_other_protocols_count_every_user_once() -> None:
    protocol = {"name": "full-ranking", "relevant": 4.0, "irrelevant": 2.0}
    run = work_off(make_run(protocol=protocol, profile_lengths=()))
    values = repeated_values([run], metrics_by_user(run)[0])
    assert set(np.unique(values.cases)) <= {0.0, 1.0}
    assert values.cases.sum() > 0


@pytest.mark.parametrize("repeats", [0, 51])
def test_a_number_of_repetitions_that_cannot_be_is_refused(repeats: int) -> None:
    with pytest.raises(ParallaxError, match="between 1 and 50"):
        check_repeats(repeats=repeats)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("eager")
def test_the_command_adds_repetitions_and_prints_pooled_values() -> None:
    run = make_run_at("succeeded")
    out = io.StringIO()
    call_command("evaluate", "--resume", str(run.pk), "--repeats", "2", stdout=out)
    said = out.getvalue()
    assert "Repetition 2 of 2." in said
    assert EvaluationRun.objects.count() == 2
    (second,) = repeats_of(run)
    block = said[said.index("recall over 2 repetitions") :].splitlines()
    assert block[1].split("  ")[0] == "algorithm"
    values = repeated_values([run, second], "recall")
    for line, pooled in zip(block[2:4], values.hits.sum(axis=(0, 1)) / values.cases.sum(), strict=True):
        assert re.search(rf" {pooled:.3f}".replace("0.", r"\."), line)
    assert "clusters" in said
    with pytest.raises(CommandError, match="has already succeeded"):
        call_command("evaluate", "--resume", str(run.pk))
    with pytest.raises(CommandError, match="between 1 and 50"):
        call_command("evaluate", "--resume", str(run.pk), "--repeats", "51")
