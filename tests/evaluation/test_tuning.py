"""The search for parameters on development users."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from catalog.models import Feature, Item
from catalog.selectors import ratings
from core.errors import ParallaxError
from evaluation.management import progress_line
from evaluation.management.commands.tune import drawing
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.run_spec import RunSpec
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import model_rows
from evaluation.services import tuning
from evaluation.services.tuning import INTERRUPTED, OUT_OF_FITS, OUT_OF_TIME, Budget, Search, search
from recommenders import registry
from recommenders.search_space import Space
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, work_off
from tests.sentences import assert_sentences_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

PROTOCOL = {"name": "one-plus-random", "negatives": 20, "relevant": 4.0, "irrelevant": 2.0}
SPLIT = {"name": "holdout", "share": 0.3}
FULL = {"name": "full-ranking", "relevant": 4.0}
OBSERVED = {"name": "test-observations"}


def call(*arguments: str) -> str:
    out = io.StringIO()
    call_command("tune", *arguments, stdout=out)
    return out.getvalue()


def searched(**kwargs: Any) -> Search:
    version = kwargs.pop("version", None) or make_version()
    spec = RunSpec.of(
        algorithms=kwargs.pop("algorithm", "puresvd"),
        split=kwargs.pop("split", SPLIT),
        protocol=kwargs.pop("protocol", PROTOCOL),
        metrics=kwargs.pop("metric", ""),
        reserve=0.1,
        threads=1,
    )
    return search(version=version, spec=spec, **{"space": Space(grid="factors=2,4,8"), "budget": Budget(), **kwargs})


@pytest.mark.parametrize(
    ("protocol", "metric"),
    [(PROTOCOL, ""), (PROTOCOL, "f@3"), (FULL, "ndcg@5"), (FULL, "serendipity@5"), (OBSERVED, "kendall")],
)
def test_values_are_those_of_a_run_on_its_development_users(protocol: dict[str, Any], metric: str) -> None:
    version = make_version()
    result = searched(version=version, protocol=protocol, metric=metric)
    run = work_off(
        make_run(
            version=version,
            algorithms="puresvd:factors=2,puresvd:factors=4,puresvd:factors=8",
            split={"name": "dev-eval", "of": "holdout", "share": 0.3},
            protocol=protocol,
            metrics=[result.metric],
            profile_lengths=(),
        )
    )
    values = [row.cells[f"development:{result.metric}"].value for row in model_rows(run)]
    assert [trial.value for trial in result.trials] == pytest.approx(values, abs=1e-12)
    assert result.best.value == max(trial.value for trial in result.trials if trial.value is not None)
    assert all(trial.low <= trial.value <= trial.high for trial in result.trials)  # type: ignore[operator]
    cases = cases_of(run)
    assert cases.development is not None
    evaluated = np.setdiff1d(cases.cases.users, cases.development)
    assert (result.n_development, result.n_evaluation) == (
        len(np.intersect1d(cases.cases.users, cases.development)),
        len(evaluated),
    )


def test_hidden_ratings_of_the_other_test_users_have_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their test cases could be anything: the search comes out the same."""
    version = make_version()
    expected = searched(version=version)
    make = tuning.build_holdouts

    def falsified(*, run: EvaluationRun) -> Any:
        for holdout in make(run=run):
            others = ~np.isin(holdout.cases.users, holdout.development)
            holdout.cases.is_relevant[others] = ~holdout.cases.is_relevant[others]
            yield holdout

    monkeypatch.setattr(tuning, "build_holdouts", falsified)
    found = searched(version=version)
    assert [trial.value for trial in found.trials] == [trial.value for trial in expected.trials]


@pytest.mark.slow
@pytest.mark.parametrize("key", registry.keys())
def test_every_algorithm_can_be_searched(key: str) -> None:
    infos = registry.algorithm(key).Params.described()
    if not infos:
        with pytest.raises(ParallaxError, match="are: none"):
            searched(algorithm=key, space=Space(grid="factors=2"))
        return
    info = next((info for info in infos if info.type is int), infos[0])
    values = info.choices or {int: ("2", "3"), float: (str(info.default),), str: (str(info.default),)}[info.type]
    result = searched(
        algorithm=key, space=Space(grid=f"{info.name}={','.join(values)}"), protocol=FULL, metric="ndcg@5"
    )
    assert result.code.startswith(f"{key}:{info.name}=")
    assert [trial.reason for trial in result.trials] == [""] * len(values)


def test_titles_alone_are_features_as_in_a_run() -> None:
    version = make_version()
    Feature.objects.filter(item__version=version).delete()
    Item.objects.filter(version=version).update(plot="")
    ratings._features.cache_clear()
    found = searched(version=version, algorithm="lsa", space=Space(grid="factors=1"))
    ratings._features.cache_clear()  # other tests have the same content with features
    assert [trial.reason for trial in found.trials] == [""]


def test_random_settings_are_reproducible_and_nested() -> None:
    version = make_version()
    space = Space(n_random=3, ranges="neighbours=2..30;shrinkage=0..200;negative=keep,drop")
    first = searched(version=version, algorithm="corngr", space=space)
    again = searched(version=version, algorithm="corngr", space=space)
    values = [(trial.setting, trial.value, trial.low) for trial in first.trials]
    assert values == [(trial.setting, trial.value, trial.low) for trial in again.trials]
    longer = Space(n_random=4, ranges=space.ranges)
    more = searched(version=version, algorithm="corngr", space=longer, budget=Budget(fits=3))
    assert [(trial.setting, trial.value, trial.low) for trial in more.trials] == values
    assert (len(more.left), more.stopped_by) == (1, OUT_OF_FITS)


def test_ranges_default_to_the_limits_of_schema_and_data() -> None:
    result = searched(space=Space(n_random=3))
    assert all(1 <= int(trial.setting["factors"]) <= 40 for trial in result.trials)
    with pytest.raises(ParallaxError, match=r"free parameters: smoothing\.$"):
        searched(algorithm="naive-bayes:positive_from=4,against=all", space=Space(n_random=2))


def test_infeasible_and_repeated_settings_are_listed_and_cost_no_fit() -> None:
    result = searched(space=Space(grid="factors=9999,0,4,04,2"), budget=Budget(fits=2))
    reasons = [trial.reason for trial in result.trials]
    assert [bool(reason) for reason in reasons] == [True, True, False, True, False]
    assert_sentences_approved("sentences/settings-not-tried", {"factors 9999, 0, 4, 04 and 2": filter(None, reasons)})
    assert (result.left, result.stopped_by) == ((), "")


def test_equal_values_are_decided_for_the_first() -> None:
    # Damping has no effect on the order by number.
    tied = searched(algorithm="popularity-likes", space=Space(grid="damping=25,5"))
    assert tied.trials[0].value == tied.trials[1].value
    assert tied.code == "popularity-likes:damping=25"


def test_lower_is_better_for_errors_and_unfit_metrics_say_so() -> None:
    version = make_version()
    result = searched(
        version=version,
        algorithm="corngr:reg_user=5",
        space=Space(grid="shrinkage=0,100"),
        protocol={"name": "rating-prediction"},
        metric="mae",
    )
    assert not result.is_higher_better
    assert result.best.value == min(trial.value for trial in result.trials if trial.value is not None)
    assert result.code.startswith("corngr:reg_user=5,shrinkage=")
    assert result.trials[-1].best_so_far == result.best.value
    with pytest.raises(ParallaxError, match="rating predict") as refused:
        searched(version=version, protocol={"name": "rating-prediction"}, metric="rmse")
    assert refused.value.code == "tuning.no_value"


def test_metric_without_values_by_user_has_no_interval() -> None:
    result = searched(protocol=FULL, metric="catalogue-coverage@5")
    assert [trial.low for trial in result.trials] == [None] * 3
    assert drawing(result)["light"]["usermeta"]["description"].count("[") == 0


def test_time_budget_measures_one_setting_at_least() -> None:
    result = searched(budget=Budget(seconds=1e-9))
    assert (len(result.trials), len(result.left), result.stopped_by) == (1, 2, OUT_OF_TIME)


def test_time_that_runs_out_during_a_fit_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(np.arange(0.0, 1e6, 1.0))
    monkeypatch.setattr(tuning.time, "monotonic", lambda: float(next(now)))
    result = searched(budget=Budget(seconds=3.0))
    assert (len(result.trials), len(result.left), result.stopped_by) == (1, 2, OUT_OF_TIME)


def test_interrupted_search_reports_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    fits: list[int] = []
    fit = tuning.fit

    def second_is_interrupted(**kwargs: Any) -> Any:
        fits.append(1)
        if len(fits) > 1:
            raise KeyboardInterrupt
        return fit(**kwargs)

    monkeypatch.setattr(tuning, "fit", second_is_interrupted)
    version = make_version()
    result = searched(version=version)
    assert (len(result.trials), len(result.left), result.stopped_by) == (1, 2, INTERRUPTED)
    with pytest.raises(KeyboardInterrupt):
        searched(version=version)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"space": Space()}, "Search either a grid"),
        ({"space": Space(grid="factors=2", n_random=2)}, "Search either a grid"),
        ({"space": Space(grid="factors=2", ranges="factors=2..4")}, "Ranges are for random settings"),
        ({"space": Space(grid="speed=2")}, "puresvd has no parameter speed"),
        ({"algorithm": "puresvd:factors=4"}, "both fixed and searched"),
        ({"algorithm": "nothing"}, "no algorithm 'nothing'"),
        ({"protocol": FULL, "metric": "arp@5"}, "Neither high nor low values"),
        ({"metric": "ndcg@5"}, "does not measure"),
        ({"split": {"name": "k-fold", "k": 3}}, "k-fold trains several"),
        ({"protocol": {"name": "unconstrained"}}, "dev-eval is not possible"),
        ({"development": 0.9999}, "at most"),
    ],
)
def test_invalid_input_is_refused_in_a_sentence(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ParallaxError, match=words) as refused:
        searched(**changes)
    # An algorithm, or a metric, that no run can have is refused before the search.
    assert refused.value.code in ("tuning.bad_input", "run.bad_input")


def test_command_prints_and_writes_the_search(tmp_path: Path) -> None:
    version = make_version()
    files = [tmp_path / name for name in ("all.json", "table.csv", "curve.svg")]
    arguments = (
        *("small", "puresvd", "--grid", "factors=2,999,4,8", "--fits", "2", "--split", "holdout:share=0.3"),
        *("--protocol", "one-plus-random:negatives=20,relevant=4,irrelevant=2", "--reserve", "0.1"),
        *("--json", str(files[0]), "--csv", str(files[1]), "--figure", str(files[2])),
    )
    said = call(*arguments)
    document = json.loads(files[0].read_text())
    best = document["trials"][document["chosen"]]
    assert document["dataset_hash"] == version.content_hash
    assert document["code"] == f"puresvd:factors={best['setting']['factors']}"
    assert f"2 settings: {document['code']}" in said
    assert f"    {document['evaluate']}" in said
    assert "(1): factors=8." in said
    assert "factors=999" in said
    table = list(csv.DictReader(files[1].read_text().splitlines()))
    assert [row["factors"] for row in table] == ["2", "999", "4", "8"]
    assert [row["is_tried"] for row in table] == ["1", "1", "1", "0"]
    assert float(table[0]["value"]) == document["trials"][0]["value"]
    assert "recall@5" in files[2].read_text()
    assert not TrainedModel.objects.exists()
    assert not EvaluationRun.objects.exists()
    # The printed command is one that `evaluate` understands, and its split excludes the development users.
    assert "--split 'dev-eval:of=holdout,development=0.5,share=0.3,within=all'" in document["evaluate"]
    assert "--protocol 'one-plus-random:relevant=4.0,irrelevant=2.0,negatives=20'" in document["evaluate"]


def test_command_draws_the_best_so_far_of_several_parameters(tmp_path: Path) -> None:
    make_version()
    file = tmp_path / "search.png"
    said = call(
        *("small", "corngr", "--random", "2", "--range", "neighbours=2..30;negative=keep,drop"),
        *("--split", "holdout:share=0.3", "--protocol", "full-ranking", "--metric", "recall@5", "--figure", str(file)),
    )
    assert "2 settings: corngr:neighbours=" in said
    assert file.read_bytes().startswith(b"\x89PNG")


def test_command_interrupted_before_a_value_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    make_version()

    def interrupt(self: object, share: float, what: str, /) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(progress_line.ProgressLine, "update", interrupt)
    with pytest.raises(CommandError, match="Stopped") as ended:
        call("small", "puresvd", "--grid", "factors=2,4", "--split", "holdout:share=0.3")
    assert ended.value.returncode == 130
