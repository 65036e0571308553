"""Judgements of two conditions side by side, against R, on 36 random studies."""

from __future__ import annotations

import csv
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from inference.paired import sign_effect, sign_test
from inference.paired_comparisons import Judgements, davidson
from inference.results import Undefined

DATA = Path(__file__).parents[1] / "data" / "statistics"
N_STUDIES = 36
pytestmark = pytest.mark.reference


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


STUDIES = {study.name: study for study in _loaded(DATA / "judgement_designs.py").studies()}


@cache
def references() -> dict[str, dict[str, np.ndarray]]:
    found: dict[str, dict[str, np.ndarray]] = {}
    with (DATA / "judgements.csv").open() as stream:
        for row in csv.DictReader(stream):
            found.setdefault(row["design"], {})[row["statistic"]] = np.array(row["values"].split(";"), dtype=float)
    return found


def judgements_of(name: str) -> Judgements:
    _name, participants, left, right, preferred = zip(*STUDIES[name].rows, strict=True)
    return Judgements(left, right, [own or None for own in preferred], participants, sorted({*left, *right}))


def test_every_study_has_reference_values() -> None:
    assert set(references()) == set(STUDIES)
    assert len(STUDIES) == N_STUDIES


@pytest.mark.parametrize("name", STUDIES)
def test_davidsons_model_is_that_of_glm_and_sandwich(name: str) -> None:
    found, stored = davidson(judgements_of(name)), references()[name]
    assert not isinstance(found, Undefined)
    assert found.means.means == pytest.approx(stored["worths"], abs=1e-6)
    side = [found.side.value, found.side.se, found.side.df, found.side.p]
    assert side == pytest.approx(stored["side"], rel=1e-5, abs=1e-7)
    assert (found.tie is None) is ("tie" not in stored)
    if found.tie is not None:
        assert found.tie == pytest.approx(stored["tie"][0], abs=1e-6)
    for field in ("difference", "se", "p"):
        values = [getattr(pair, field) for pair in found.pairs.pairs]
        assert values == pytest.approx(stored[field], rel=1e-5, abs=1e-7), field
    test = [found.test.f, found.test.df, found.test.df_within, found.test.p]
    assert test == pytest.approx(stored["test"], rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", STUDIES)
def test_the_sign_test_of_the_first_pair_is_that_of_binom_test(name: str) -> None:
    judgements, stored = judgements_of(name), references()[name]["sign"]
    a, b = judgements.names[:2]
    rows = zip(judgements.left, judgements.right, judgements.preferred, strict=True)
    own = [preferred for left, right, preferred in rows if {left, right} == {a, b}]
    n_a, n_b, n_ties = own.count(a), own.count(b), own.count(None)
    assert [n_a, n_b, n_ties] == stored[:3].tolist()
    judged = [1] * n_a + [-1] * n_b + [0] * n_ties
    tested, effect = sign_test(judged, [0] * len(judged)), sign_effect(n_a, n_b, n_ties)
    assert not isinstance(tested, Undefined)
    assert not isinstance(effect, Undefined)
    values = [tested.p, effect.superiority, effect.interval.low, effect.interval.high]
    assert values == pytest.approx(stored[3:], rel=1e-6)
