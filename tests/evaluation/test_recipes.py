"""Recipes of stored models: another recipe of the same inputs would orphan every model of an installation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from catalog.selectors.ratings import ratings_of
from evaluation.services.training import recipe_of, store_training_rows
from recommenders import registry
from tests.factories.catalog import make_version

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

# As they were when stored models first relied on them; a line is added for a new algorithm, and none is changed.
RECIPES = {
    "training": "ed3c9a4be1c6b081a0a4494cc02fe210d6e2e55bdb669ecc8c950b91b666720d",
    "toppop": "24b348bf57ca52cb9c6b3eaf7fed4eda896d142ad5fdee5503fca994090e9223",
    "corngr": "dd71f0e0806ad69a661df8f499f7f41b14b0fd9a884e42874fc03e8b5e05e825",
    "nncosngr": "5a8640aa5fa43136bc7e200e465ed0d78d6949a8578e3e95454c4579545b534a",
    "asysvd": "fedcee9a5808e860f233b2cd9671d86f1653279ac354820c1729db177890ecdb",
    "puresvd": "a6abbe783fc0bb5c283666e3c2eb2ab494feb1cb9fafb93e673af001e8f9e146",
    "lsa": "adafc26251e7ffe073cd64c90d3ac72f0d4f132264baeaa8bd86e723067e70a6",
    "userknn-pearson": "99da66b3d089711a4e3a087e41a3fdceb7d0828775a700ad26c69547618d3f75",
    "userknn-cosine": "a89596673b97b3b48dfe4c6dc37af98b3fd9cca3aa8f9c89cfe83c3add5f0086",
    "itemitem": "ee36f6b985c70f4cf3fd5ab747af8494cb2d7481f83523117915b09238766d9e",
    "expected-utility": "17f6aea2599d58580362950ee9c74e93b2f51b8537d535ccee7a9f18957ef85a",
    "popularity-likes": "f1d4514f6a2351ce6ac29b4b04c417a2b3581a21eeb43e20dce0d2de1df8324b",
    "lpca": "eacf75321f7e54902d6f62b505f70aa401fb5f0d759ada08b0f3129ff95a873c",
    "aspect": "4711d0c500b292487b77b61cec3f26d127606b3343dff84cc5c1e52c1becf4f7",
    "aspect-content": "83ad6217471d7deef41d1c9839c158dcd451b0e1a1a13d8826f6d6f41d4e8f72",
    "naive-bayes": "43cbf2efa0ac696349cff4585f39b0a001b1e3748a385ea176d54ce0da4a0835",
    "random": "6fda8f229eeab15102a13f9c0fa781984f97868e01ea6b2ca14684fb3ca73cdd",
    "ease": "c3aa6ca1fddb92c4ac04c1b50fa0773f1f95228f6ba21e7a6fc4e4cdc17d7cee",
    "ials": "9f958f9be7631d734637d6fbe0f3e74abba9e47a48031c9a73560054ddaa724d",
    "p3alpha": "75052bace21aa8cdb635ecd163d5dd068eb6c5a0941fea362e10f40d998f9a82",
}


EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "your-own-algorithm"


@pytest.fixture
def p3alpha(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The example package, as if it were installed."""
    monkeypatch.syspath_prepend(EXAMPLE)
    point = EntryPoint("p3alpha", "parallax_p3alpha:P3Alpha", registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    yield "p3alpha"
    sys.modules.pop("parallax_p3alpha", None)


def test_recipes_of_all_algorithms_stay_as_they_are(p3alpha: str) -> None:
    version = make_version()
    digest = store_training_rows(ratings=ratings_of(version))
    recipes = {"training": digest}
    for key in registry.keys():  # noqa: SIM118 — a function, not a mapping's
        # The versions of other libraries, and those that are installed, are part of the recipe.
        if not registry.algorithm(key).libraries:
            params = registry.params_of(key).as_dict()
            recipes[key] = recipe_of(
                version=version, training_digest=digest, algorithm=key, params=params, seed=1, threads=2
            )
    assert p3alpha in recipes
    assert recipes == RECIPES
