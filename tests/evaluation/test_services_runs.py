"""Making, cancelling and failing runs."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import NotAllowedInState, ParallaxError, ParameterError
from core.models import LogEntry
from evaluation.enums import RUN_MOVES, PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunPart
from evaluation.run_spec import RunSpec, named_settings
from evaluation.services.parts import lease_part
from evaluation.services.runs import BLOCK_USERS, cancel_run, create_run, fail_part
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, make_run_at, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_run_starts_as_one_part_and_a_list_of_algorithms() -> None:
    run = make_run(algorithms="toppop,puresvd:factors=4,puresvd:factors=6")
    assert list(run.algorithms.values_list("position", "label")) == [(0, "TopPop"), (1, "PureSVD4"), (2, "PureSVD6")]
    assert list(run.parts.values_list("kind", "status")) == [(PartKind.PREPARE, PartStatus.QUEUED)]
    assert run.status == RunStatus.QUEUED


def test_run_takes_algorithms_as_pairs_with_text_values() -> None:
    run = make_run(algorithms=[("puresvd", {"factors": "7"})])
    assert run.algorithms.get().params == {"factors": 7}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"algorithms": ""}, "at least one algorithm"),
        ({"algorithms": "toppop,best"}, "no algorithm 'best'"),
        ({"algorithms": [("toppop", {}), ("toppop", {})]}, "TopPop is listed twice"),
        ({"algorithms": "puresvd:factors=many"}, "must be a whole number"),
        ({"split": {"name": "fold"}}, "Unknown split 'fold'"),
        ({"split": {"name": "probe", "size": 3}}, "no parameter size"),
        ({"split": {"name": "probe", "share": 1.0}}, "share"),
        ({"split": {"name": "probe", "share": "some"}}, "share"),
        ({"protocol": {"name": "full-rank"}}, "Unknown protocol 'full-rank'"),
        ({"protocol": {"name": "full-ranking", "negatives": 7}}, "no setting negatives"),
        ({"protocol": {"name": "full-ranking", "known": "maybe"}}, "one of left-out, again"),
        ({"task": "please"}, "Unknown task 'please'"),
        ({"metrics": ["rmse"]}, "does not measure rmse"),
        ({"metrics": ["recall@101"]}, "longer than 100"),
        (
            {
                "protocol": {"name": "full-ranking"},
                "metrics": ["half-life(viewed=.99:.98:.97:.96:.95:.94:.93:.92:.91:.89:.88:.87:.86:.85)"],
            },
            "has 8[0-9] characters; at most 80 are stored",
        ),
        ({"metrics": ["recall@5(ties=worst)"]}, "counts ties as worst, the run as expected"),
        ({"metrics": ["f@5(g=.5)"]}, "The generality g"),
        ({"protocol": {"name": "one-plus-random", "negatives": 0}}, "at least 1"),
        ({"protocol": {"name": "one-plus-random", "negatives": True}}, "type int"),
        ({"protocol": {"name": "one-plus-random", "relevant": 9}}, "outside the dataset's scale"),
        ({"protocol": {"name": "one-plus-random", "relevant": 2, "irrelevant": 2}}, "must be below"),
        ({"protocol": {"name": "one-plus-random", "g": 1}}, "generality g is 1"),
        ({"protocol": {"name": "one-plus-random", "ties": "lucky"}}, "ties must be one of"),
        ({"reserve": 1.0}, "reserve: Expected a number below 1"),
        ({"n": 0}, "n: Expected a number of at least 1; got 0"),
        ({"threads": 0}, "threads: Expected a number of at least 1"),
        ({"seed": -1}, "seed: Expected a number of at least 0"),
        ({"profile_lengths": (0,)}, "profile_lengths.0.: Expected a number of at least 1"),
        ({"part_users": 0}, "at least one test user"),
    ],
)
def test_run_refuses_what_cannot_be_with_the_reason(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ParallaxError, match=words) as refused:
        make_run(**change)
    assert refused.value.code == "run.bad_input"
    assert not EvaluationRun.objects.exists()


def test_inputs_hash_depends_on_every_input_and_on_nothing_else() -> None:
    version = make_version()
    first = make_run(version=version).inputs_hash
    assert make_run(version=version, queue="own", part_users=BLOCK_USERS).inputs_hash == first
    changes: list[dict[str, Any]] = [
        {"seed": 2},
        {"reserve": 0.2},
        {"n": 6},
        {"threads": 2},
        {"profile_lengths": (3, 5)},
        {"algorithms": "puresvd:factors=4,toppop"},
        {"split": {"name": "probe", "share": 0.25}},
        {"protocol": {"name": "one-plus-random", "negatives": 21, "relevant": 4.0, "irrelevant": 2.0}},
        {"version": make_version(name="other", seed=2)},
    ]
    hashes = [make_run(**{"version": version, **change}).inputs_hash for change in changes]
    assert len({first, *hashes}) == 1 + len(changes)


def test_part_size_is_rounded_up_to_whole_blocks() -> None:
    assert make_run(part_users=1).part_users == BLOCK_USERS
    assert make_run(part_users=BLOCK_USERS + 1).part_users == 2 * BLOCK_USERS


def test_cancelled_run_gives_no_more_work_and_is_logged() -> None:
    run = make_run_at("running")
    cancel_run(run=run, reason="enough")
    assert run.status == RunStatus.CANCELLED
    assert run.finished_at is not None
    assert lease_part(run=run) is None
    entry = LogEntry.objects.filter(object_id=run.pk, kind="evaluation.evaluationrun").last()
    assert entry is not None
    assert (entry.from_status, entry.to_status, entry.reason) == ("running", "cancelled", "enough")


@pytest.mark.parametrize("start", RunStatus.values)
@pytest.mark.parametrize("end", [RunStatus.CANCELLED, RunStatus.FAILED])
def test_run_moves_only_as_its_table_says(start: str, end: str) -> None:
    run = make_run_at(start)
    if end == RunStatus.CANCELLED:
        if end in RUN_MOVES.get(start, frozenset()):
            assert cancel_run(run=run).status == end
        else:
            with pytest.raises(NotAllowedInState):
                cancel_run(run=run)
    else:
        part = run.parts.first()
        assert part is not None
        RunPart.objects.filter(pk=part.pk).update(status=PartStatus.LEASED, lease="me")
        part.refresh_from_db()
        assert fail_part(part=part, reason="Because.") is (start == RunStatus.RUNNING)


def test_failed_part_fails_its_run_with_the_reason() -> None:
    run = make_run_at("failed")
    assert (run.status, run.error) == (RunStatus.FAILED, "The test wanted it so.")
    assert run.parts.get(status=PartStatus.FAILED).error == "The test wanted it so."
    assert not work_off(run).parts.filter(status=PartStatus.LEASED).exists()


def test_only_algorithm_that_refuses_fails_the_run_in_a_sentence() -> None:
    run = work_off(make_run(algorithms="asysvd:factors=5,learning_rate=1e6"))
    assert run.status == RunStatus.FAILED
    assert run.error.startswith("AsySVD (factors=5, learning_rate=1e+06)")
    assert run.error_detail == ""


def test_split_without_a_relevant_case_fails_the_run_in_a_sentence() -> None:
    version = make_version(n_users=3, n_items=6, per_user=2)
    run = work_off(
        make_run(
            version=version,
            algorithms="toppop",
            reserve=0.0,
            split={"name": "probe", "share": 0.01},
            protocol={"name": "one-plus-random", "relevant": 5.0, "irrelevant": 1.0},
        )
    )
    assert run.status == RunStatus.FAILED
    assert "nothing to measure" in run.error


def test_named_settings_read_numbers_and_words() -> None:
    assert named_settings("probe:share=0.1") == {"name": "probe", "share": 0.1}
    assert named_settings("one-plus-random") == {"name": "one-plus-random"}
    assert named_settings("x:ties=worst, g=.8") == {"name": "x", "ties": "worst", "g": 0.8}


@pytest.mark.parametrize("text", ["probe:share", "probe:=1", "probe:share=", "probe:share=.1,share=.2"])
def test_named_settings_refuse_what_they_cannot_read(text: str) -> None:
    with pytest.raises(ParameterError, match="valid setting"):
        named_settings(text)


def test_run_on_the_same_inputs_is_a_new_run_with_the_old_models() -> None:
    version = make_version()
    first, second = work_off(make_run(version=version)), work_off(make_run(version=version))
    assert first.pk != second.pk
    assert first.inputs_hash == second.inputs_hash
    assert list(first.algorithms.values_list("model", "was_reused")) == [
        (model, False) for model in second.algorithms.values_list("model", flat=True)
    ]
    assert set(second.algorithms.values_list("was_reused", flat=True)) == {True}


def test_create_run_wants_its_defaults_from_the_settings(settings: Any) -> None:
    settings.NUMERIC_THREADS = 3
    run = create_run(
        version=make_version(), spec=RunSpec.of(algorithms="toppop", split="probe", protocol="one-plus-random")
    )
    assert run.threads == 3
    assert run.split == {"name": "probe", "share": 0.014}
    assert run.protocol == {
        "name": "one-plus-random",
        "negatives": 1000,
        "relevant": 5.0,
        "irrelevant": 1.0,
        "ties": "expected",
        "g": None,
        "mode": "sampled",
    }
    assert run.profile_lengths == [5]
