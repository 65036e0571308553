"""The shipped experiments on real data, in the directions and near the figures that were noted.

The figures are those of an independent implementation: on MovieLens latest-small (probe of 10 %, three seeds, another
split may differ by .05) and on Online Retail II, 2009 to 2010.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from catalog.models import DatasetVersion
from catalog.services import import_dataset
from evaluation.experiments.schema import Judgement, Quantity
from evaluation.selectors.experiments import ExperimentResults, numbers_at
from evaluation.services import experiment_files as files
from evaluation.services import experiments as services
from tests.evaluation.test_experiments_services import finished

pytestmark = [pytest.mark.reference, pytest.mark.slow, pytest.mark.django_db]


def measured(name: str, version: DatasetVersion) -> tuple[ExperimentResults, dict[str, Judgement]]:
    """Run a shipped experiment on `version` in this process; judgements by what they say."""
    experiment = services.read_experiment(name=name)
    runs = finished(experiment, version)
    found = ExperimentResults(experiment, runs)
    return found, {one.claim.says: one for one in files.claim_judgements(results=found)}


def number(found: ExperimentResults, run: str, metric: str, name: str) -> float:
    place = Quantity(run, metric)
    value = numbers_at(found, [place])[place, name]
    assert value is not None
    return value


@pytest.fixture
def movies(movielens_small: Path) -> DatasetVersion:
    return import_dataset(path=movielens_small, name="movies")


@pytest.fixture
def baskets(shared_dir: Path, tmp_path: Path) -> DatasetVersion:
    """Invoices with the median price of each item bought."""
    folder = shared_dir / "data" / "online-retail"
    with gzip.open(folder / "orII_0910_median_price.csv.gz", "rt", newline="") as file:
        prices = {row["StockCode"]: row["Price"] for row in csv.DictReader(file)}
    joined = tmp_path / "baskets.csv"
    with (
        gzip.open(folder / "orII_0910_baskets.csv.gz", "rt", newline="") as source,
        joined.open("w", newline="") as target,
    ):
        writer = csv.writer(target)
        writer.writerow(["user", "item", "price"])
        writer.writerows([row["Invoice"], row["StockCode"], prices[row["StockCode"]]] for row in csv.DictReader(source))
    options = {"user": "user", "item": "item", "utility": "price", "usage": True}
    return import_dataset(path=joined, name="baskets", source_format="delimited", options=options)


def test_table_2_comes_out_as_noted_on_movielens(movies: DatasetVersion) -> None:
    found, claims = measured("cremonesi-2011-table-2", movies)
    noted = {"PureSVD50": 0.417, "PureSVD300": 0.135, "NNCosNgr": 0.312, "TopPop": 0.266, "CorNgr": 0.149}
    for name, recall in noted.items():
        assert number(found, "probe", "recall", name) == pytest.approx(recall, abs=0.055), name
    assert number(found, "probe", "recall", "LSA") == pytest.approx(0.025, abs=0.015)
    expected = {
        "By recall the order is PureSVD50, PureSVD300, AsySVD, NNCosNgr, TopPop, CorNgr, LSA.": "not as in the paper",
        "Both PureSVD have the highest recall and F.": "not as in the paper",  # 300 are too many here
        "LSA has the lowest recall and F.": "as in the paper",
        "AsySVD, NNCosNgr, TopPop and CorNgr have a similar recall.": "not as in the paper",
        "AsySVD and LSA have the lowest fallout.": "as in the paper",
        "NNCosNgr and TopPop have the highest fallout.": "not as in the paper",  # PureSVD50 is above both
        "PureSVD50 has a far higher recall than TopPop.": "as noted",
        "On small sets 300 factors have a lower recall than 50.": "as noted",
        "PureSVD50 has a higher fallout than TopPop, against the published order.": "as noted",
        "CorNgr and NNCosNgr have next to no fallout.": "open",  # .003 and .017, few cases
    }
    assert {name: claim.verdict for name, claim in claims.items()} == expected


def test_rmse_hangs_on_what_missing_counts_as(movies: DatasetVersion) -> None:
    _, claims = measured("survey-rmse", movies)
    assert [one.verdict for one in claims.values()] == [
        "as in the paper",
        "not as in the paper",
        "as noted",
        "as noted",
    ]


def test_expected_profit_loses_lists_and_wins_money(baskets: DatasetVersion) -> None:
    found, claims = measured("survey-utility", baskets)
    # The interval of the ratio of sums decides, although most users fare better with item to item.
    assert [one.verdict for one in claims.values()] == ["as in the paper", "as in the paper"]
    profit = claims["Expected profit has the higher half-life utility."].findings[0]
    assert profit.interval is not None
    assert profit.interval.low > 0
    money = "half-life(alpha=5)"
    # Noted: .19 to .155; which items are hidden moves both by some hundredths.
    assert number(found, "baskets", money, "Expected profit") == pytest.approx(0.19, abs=0.03)
    assert number(found, "baskets", money, "Item to item") == pytest.approx(0.155, abs=0.03)


def test_cosine_wins_on_baskets_by_little_or_by_much(baskets: DatasetVersion) -> None:
    found, claims = measured("survey-baskets", baskets)
    noted = "From lists of 10 on cosine has a higher precision and recall than Pearson over common items."
    assert claims[noted].verdict in ("as in the paper", "as noted")
    for name in ("precision", "recall"):
        for n in (1, 3, 5, 10, 25, 50):
            one, other = (number(found, "baskets", f"{name}@{n}", who) for who in ("Cosine", "Pearson over all items"))
            assert one == pytest.approx(other, abs=0.012)


def test_croc_and_groc_disagree_and_random_runs_along_the_diagonal(movies: DatasetVersion) -> None:
    found, claims = measured("croc-cold", movies)
    assert claims["CROC and GROC order the algorithms differently (implicit)."].verdict in (
        "as in the paper",
        "as noted",
    )
    assert claims["GROC rewards recommending to those who rate much (implicit)."].verdict in (
        "as in the paper",
        "as noted",
    )
    assert number(found, "implicit-croc", "croc-area", "Random") == pytest.approx(0.5, abs=0.01)
    assert number(found, "explicit-croc", "croc-area", "Random") == pytest.approx(0.5, abs=0.015)
    assert number(found, "implicit-groc", "groc-area", "Random") == pytest.approx(0.5, abs=0.01)
    (diagonal,) = (one for says, one in claims.items() if says.startswith("Random recommendation has an area of .5"))
    assert diagonal.verdict == "as in the paper"
