"""What was exported, read back by other hands, gives the report's own analysis of variance."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from analysis.services import build_report
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.models import Participant, Study
from studies.monitoring.services.exclusions import exclude
from tests.factories.analysis import planted_person

pytestmark = pytest.mark.integration
MEASURES = {"accuracy": "item.rating", "fon": "item.fon", "son": "item.son"}


@pytest.fixture
def answered(study: Study) -> Study:
    """People whose answers differ within and between conditions in every variable: where all means are alike, the
    last bit of F is rounding, and scipy finds no p for one just below 0."""
    ratings = {"TopPop": (5, 4, 5, 3, 4), "CorNgr": (2, 3, 1, 2, 4), "PureSVD4": (3, 3, 2, 4, 1)}
    for place, (label, given) in enumerate(ratings.items()):
        for number in range(6):
            turned = [1 + (rating - 1 + (number * (rank + 1)) // 4) % 5 for rank, rating in enumerate(given)]
            planted_person(study, label, turned, 1 + (number + place) % 5, n_watched=1 + (number + place) % 3,
                           n_heard=int(number % (place + 2) == 0))  # fmt: skip
    return study


def _read(study: Study, kind: str, folder: Path) -> pd.DataFrame:
    write_export(study, kind, folder, Options(without_excluded=True))
    return pd.read_csv(folder / f"study-{study.slug}_{kind}_data.csv")


def _check(study: Study, folder: Path) -> None:
    reported = {one["key"]: one["anova"] for one in build_report(study=study).results["variables"]}
    wide = _read(study, "wide", folder)
    wide = wide[wide["participant.status"] == "completed"]
    long = _read(study, "long", folder)
    for key, anova in reported.items():
        whole = wide[["participant.id", "participant.condition", f"measure.{key}"]]
        frames = {"wide": whole.rename(columns={f"measure.{key}": "value"})}
        if key in MEASURES:
            means = long.groupby(["participant.id", "participant.condition"])[MEASURES[key]].mean()
            frames["long"] = means.rename("value").reset_index()
        for kind, frame in frames.items():
            groups = [own["value"].to_numpy(dtype=float) for _, own in frame.groupby("participant.condition")]
            found = stats.f_oneway(*groups)
            assert found.statistic == pytest.approx(anova["f"], rel=1e-9), (kind, key)
            assert found.pvalue == pytest.approx(anova["p"], rel=1e-9), (kind, key)
            assert (anova["df_between"], anova["df_within"]) == (len(groups) - 1, len(frame) - len(groups))


def test_the_export_gives_the_same_anova_table_as_the_report(answered: Study, tmp_path: Path) -> None:
    _check(answered, tmp_path)


def test_both_leave_out_the_same_people(answered: Study, tmp_path: Path) -> None:
    before = build_report(study=answered)
    for person in Participant.objects.order_by("pk")[:12:6]:  # of two conditions, which keep five each
        exclude(participant=person, reason="Answered at random")
    _check(answered, tmp_path)
    after = build_report(study=answered)
    assert after.pk != before.pk
    assert (before.results["flow"]["analysed"], after.results["flow"]["analysed"]) == (18, 16)
    assert after.results["flow"]["excluded_for"] == [{"how": "hand", "reason": "Answered at random", "n": 2}]
