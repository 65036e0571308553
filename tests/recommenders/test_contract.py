"""What every algorithm of the registry owes, whoever wrote it: the checks of `recommenders.testing`, and labels.

A third party's algorithm is in the registry once its package is installed, and so it is in here.
"""

from __future__ import annotations

import numpy as np
import pytest

from recommenders import registry
from recommenders.testing import CHECKS, Trial
from recommenders.testing.score_checks import count_explained, tastes_are_learned

pytestmark = pytest.mark.unit

# What a check needs beyond the class's `small`.
MORE = {("asysvd", tastes_are_learned): {"epochs": 200, "patience": 200, "learning_rate": 0.02}}


@pytest.mark.parametrize("key", registry.keys())
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_algorithm_keeps_the_contract(key, check):
    found = registry.algorithm(key)
    assert found.key == key
    check(Trial(found, MORE.get((key, check), {})))


# Everything that changes how an algorithm explains itself, beside its defaults.
EXPLAINED_FORMS = [
    *((key, {}) for key in registry.keys()),  # noqa: SIM118 — a function, not a mapping's
    ("corngr", {"neighbours": 2}),
    ("corngr", {"neighbours": 2, "neighbourhood": "item", "correlate": "residuals"}),
    ("nncosngr", {"neighbours": 2}),
    ("nncosngr", {"sum_of": "ratings"}),
    ("nncosngr", {"sum_of": "ratings", "neighbours": 3, "neighbourhood": "item"}),
    ("itemitem", {"aggregate": "sum"}),
    ("itemitem", {"aggregate": "noisy-or"}),
    ("ease", {"reg": 2.0}),
    ("lsa", {"centre": "mean"}),
    ("expected-utility", {"scorer": "itemitem:aggregate=sum"}),
    ("expected-utility", {"scorer": "corngr"}),
    ("expected-utility", {"scorer": "ease"}),
    ("expected-utility", {"scorer": "toppop"}),
    ("expected-utility", {"scorer": "itemitem:aggregate=noisy-or"}),
]


@pytest.mark.parametrize(("key", "options"), EXPLAINED_FORMS)
@pytest.mark.parametrize("n_users", [14, 8])  # more and fewer than items: EASE keeps another matrix for each
def test_every_score_is_explained(key, options, n_users, make_ratings):
    trial = Trial(registry.algorithm(key), options, ratings=make_ratings(1, n_users=n_users, n_items=10))
    model = trial.fit()
    scores = model.score(trial.profiles)
    n_explained = count_explained(model, trial.profiles)
    has_answer = model.explains and options.get("scorer") not in {"toppop", "itemitem:aggregate=noisy-or"}
    if key == "expected-utility":
        has_positive = has_answer * int((scores > 0).sum())
        assert has_positive <= n_explained <= has_answer * np.isfinite(scores).sum()
    else:
        assert n_explained == has_answer * np.isfinite(scores).sum()


@pytest.mark.parametrize(
    ("key", "options", "label"),
    [
        ("toppop", {}, "TopPop"),
        ("corngr", {}, "CorNgr"),
        ("nncosngr", {}, "NNCosNgr"),
        ("asysvd", {}, "AsySVD"),
        ("puresvd", {"factors": 50}, "PureSVD50"),
        ("puresvd", {"factors": 300}, "PureSVD300"),
        ("lsa", {}, "LSA"),
        ("nncosngr", {"sum_of": "ratings"}, "NNCosNgr (sum_of=ratings)"),
        ("corngr", {"neighbours": 50, "shrinkage": 0.5}, "CorNgr (neighbours=50, shrinkage=0.5)"),
    ],
)
def test_label_names_the_condition(key, options, label):
    assert registry.label(key, options) == label
