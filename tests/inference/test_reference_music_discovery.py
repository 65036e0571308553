"""Human answers of a published user study: its printed slopes, and its counts of likes analysed as overdispersed.

Nonnemaker (2024), TU Delft: 21 participants in three conditions between subjects, the baseline BS against SSP and SSA,
which lead to a new genre step by step.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

import pytest
from scipy import special

from inference.contrasts import planned_contrast
from inference.counts import overdispersion
from inference.rank_tests import kruskal_wallis

pytestmark = pytest.mark.reference
BASELINE, GRADUAL = "BS", "SSP or SSA"
# Ordinary least squares on an indicator of SSP and SSA: slope and p, both as printed.
PUBLISHED_MEANS = {
    "helpfulness": (2.1222, 0.002731),
    "affinity": (2.9222, 4.49e-05),
    "direction": (2.1139, 0.000605),
    "personalization": (2.0204, 0.000235),
}
PUBLISHED_SHARE = (0.2156, 0.018007)
PUBLISHED_LIKES = (1.1396, 2.5e-23)  # Poisson: log of the ratio of mean counts, and p
LAST_STEP = 6

Row = dict[str, str]


@pytest.fixture(scope="module")
def rows(shared_dir: Path) -> dict[str, list[Row]]:
    """The rows of both tables of the study."""
    folder = shared_dir / "data" / "human-music-discovery"
    texts = {name: (folder / f"{name}.csv").read_text(encoding="utf-8") for name in ("answers", "likes")}
    return {name: list(csv.DictReader(text.splitlines())) for name, text in texts.items()}


def grouped(by_participant: Mapping[tuple[str, str], float], *, is_pooled: bool = True) -> dict[str, list[float]]:
    """Values by condition, keyed (participant, condition); SSP and SSA together, as published, if pooled."""
    groups: dict[str, list[float]] = defaultdict(list)
    for (_participant, condition), value in by_participant.items():
        groups[GRADUAL if is_pooled and condition != BASELINE else condition].append(value)
    return groups


def scale_means(answers: list[Row], scale: str) -> dict[tuple[str, str], float]:
    """Each participant's mean over steps of the mean answer of a step; affinity at the last step, as published."""
    by_step: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in answers:
        if row["factor"] == scale and (scale != "affinity" or int(row["step"]) == LAST_STEP):
            by_step[row["participant"], row["condition"]][row["step"]].append(float(row["value"]))
    return {key: fmean(fmean(values) for values in steps.values()) for key, steps in by_step.items()}


def sums(likes: list[Row], column: str) -> dict[tuple[str, str], int]:
    """Each participant's sum over steps."""
    totals: dict[tuple[str, str], int] = defaultdict(int)
    for row in likes:
        totals[row["participant"], row["condition"]] += int(row[column])
    return totals


def shares_of_target(likes: list[Row]) -> dict[tuple[str, str], float]:
    """Each participant's share of liked songs among those of the target genre."""
    liked, shown = sums(likes, "target_likes"), sums(likes, "target_songs")
    return {key: liked[key] / shown[key] for key in shown}


@pytest.mark.parametrize(("scale", "published"), PUBLISHED_MEANS.items())
def test_the_slopes_of_the_scales_are_those_published(
    rows: dict[str, list[Row]], scale: str, published: tuple[float, float]
) -> None:
    result = planned_contrast(grouped(scale_means(rows["answers"], scale)), [GRADUAL], [BASELINE])
    assert result.n == 21
    assert result.difference == pytest.approx(published[0], abs=5e-5)
    assert result.pooled.p == pytest.approx(published[1], rel=2e-3)


def test_the_slope_of_the_share_of_likes_is_that_published_and_depends_on_the_test(
    rows: dict[str, list[Row]],
) -> None:
    by_participant = shares_of_target(rows["likes"])
    result = planned_contrast(grouped(by_participant), [GRADUAL], [BASELINE])
    assert result.difference == pytest.approx(PUBLISHED_SHARE[0], abs=5e-5)
    assert result.pooled.p == pytest.approx(PUBLISHED_SHARE[1], abs=5e-7)
    assert kruskal_wallis(grouped(by_participant, is_pooled=False)).p == pytest.approx(0.111, abs=5e-4)


def test_the_p_of_likes_that_is_published_neglects_overdispersion(rows: dict[str, list[Row]]) -> None:
    likes = grouped(sums(rows["likes"], "likes"))
    result = overdispersion(likes)
    assert result.dispersion == pytest.approx(3.52, abs=5e-3)
    assert result.p < 1e-6

    (others,) = (name for name in likes if name != GRADUAL)
    log_ratio = math.log(fmean(likes[GRADUAL]) / fmean(likes[others]))
    assert log_ratio == pytest.approx(PUBLISHED_LIKES[0], abs=5e-5)
    poisson_se = math.sqrt(sum(1 / sum(own) for own in likes.values()))
    assert 2 * special.ndtr(-log_ratio / poisson_se) == pytest.approx(PUBLISHED_LIKES[1], rel=0.01)
    # statsmodels refers the same statistic to the normal distribution.
    se = poisson_se * math.sqrt(result.dispersion)
    assert 2 * special.ndtr(-log_ratio / se) == pytest.approx(1.1e-07, rel=0.05)
