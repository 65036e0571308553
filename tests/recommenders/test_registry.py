from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, distribution

import pytest

from core.errors import ParameterError
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data_limits import TrainingSize
from recommenders.popularity import TopPop
from recommenders.puresvd import PureSVD
from tests.sentences import assert_refused_as_approved

pytestmark = pytest.mark.unit
KEYS = (
    *("toppop", "corngr", "nncosngr", "asysvd", "puresvd", "lsa"),
    *("userknn-pearson", "userknn-cosine", "itemitem", "expected-utility", "popularity-likes"),
    *("lpca", "aspect", "aspect-content", "naive-bayes", "random", "ease", "ials"),
)


class FromElsewhere(TopPop):
    key = "elsewhere"
    name = "Elsewhere"


NotAnAlgorithm = "just a word"


@pytest.fixture
def entry_point(monkeypatch):
    """Pretend that packages with these (key, object) entry points are installed."""

    def install(*points):
        made = [EntryPoint(key, f"{module}:{name}", registry.ENTRY_POINT_GROUP) for key, module, name in points]
        monkeypatch.setattr(registry, "entry_points", lambda group: made if group == made[0].group else [])

    monkeypatch.setitem(sys.modules, "elsewhere_package", sys.modules[__name__])
    return install


def test_every_algorithm_of_the_sources_is_there():
    assert registry.keys()[: len(KEYS)] == KEYS
    assert all(issubclass(registry.algorithm(key), Algorithm) for key in KEYS)


def test_parameters_are_read():
    assert registry.params_of("puresvd", {"factors": "7"}) == PureSVD.Params(factors=7)
    assert registry.params_of("puresvd") == PureSVD.Params(factors=50)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("toppop", [("toppop", {})]),
        ("puresvd:factors=50,puresvd:factors=300", [("puresvd", {}), ("puresvd", {"factors": 300})]),
        (
            "asysvd:factors=8,reg=0.1, toppop ,",
            [("asysvd", {"factors": 8, "reg": 0.1}), ("toppop", {})],
        ),
        ("nncosngr,neighbours=20", [("nncosngr", {"neighbours": 20})]),
    ],
)
def test_commands_are_parsed(text, expected):
    assert [(key, params.changed()) for key, params in map(registry.parse, registry.specifications(text))] == expected


WRONG = (
    "",
    " , ",
    "puresvd:factors",
    "puresvd:factors=",
    "puresvd:=4",
    "puresvd:factors=4,factors=5",
    "factors=5",
    "toppop:factors=5",
    "top",
    "puresvd:factors=0",
    "asysvd:reg=none",
    "userknn-cosine:similarity=mean",
)


def test_specifications_that_are_refused():
    size = TrainingSize(n_users=30, n_items=12)
    many = TrainingSize(n_users=9, n_items=20_001)
    feasible = registry.feasible_params
    cases = {
        text: lambda text=text: [registry.parse(piece) for piece in registry.specifications(text)] for text in WRONG
    }
    cases |= {
        "50 factors of 30 users and 12 items": lambda: feasible("puresvd", {"factors": "50"}, size),
        "a scorer of 50 factors": lambda: feasible("expected-utility", {"scorer": "puresvd:factors=50"}, size),
        "all pairs of 20,001 items by correlation": lambda: feasible("corngr", {}, many),
        "all pairs of 20,001 items by cosine": lambda: feasible("nncosngr", {}, many),
    }
    # The library implicit is not installed in every environment.
    assert_refused_as_approved("algorithms", cases, {r"(, implicit-[\w-]+)+": ", …"})
    assert feasible("corngr", {"neighbourhood": "item"}, many).neighbourhood == "item"


def test_third_party_algorithm_is_found_by_its_entry_point(entry_point):
    entry_point(("elsewhere", "elsewhere_package", "FromElsewhere"))
    assert registry.keys()[-1] == "elsewhere"
    assert registry.algorithm("elsewhere") is FromElsewhere
    assert registry.parse("elsewhere")[0] == "elsewhere"


def test_third_party_entry_point_is_not_imported_before_it_is_asked_for(entry_point):
    entry_point(("broken", "no_such_package_anywhere", "Thing"))
    listed = registry.keys()
    assert listed[-1] == "broken"
    assert registry.algorithm("toppop") is TopPop
    with pytest.raises(ModuleNotFoundError):
        registry.algorithm("broken")


@pytest.mark.parametrize(
    ("key", "name"),
    [("elsewhere", "NotAnAlgorithm"), ("other", "FromElsewhere"), ("elsewhere", "entry_point")],
)
def test_entry_point_that_is_no_algorithm_of_its_key_is_refused(entry_point, key, name):
    entry_point((key, "elsewhere_package", name))
    with pytest.raises(ParameterError, match=f"with key '{key}'"):
        registry.algorithm(key)


def test_taken_key_is_refused(entry_point):
    for key in ("toppop", "implicit-als"):  # a library's key is taken whether its library is installed or not
        entry_point((key, "elsewhere_package", "FromElsewhere"))
        with pytest.raises(ParameterError, match=f"'{key}'"):
            registry.keys()
    entry_point(("new", "elsewhere_package", "FromElsewhere"), ("new", "elsewhere_package", "NotAnAlgorithm"))
    with pytest.raises(ParameterError, match="which is taken"):
        registry.keys()


def test_import_of_the_registry_is_light():
    """A process that only lists algorithms never loads the compiler or linear algebra."""
    heavy = ("numba", "scipy.linalg", "scipy.sparse.linalg", "pandas", "recommenders.kernels", "implicit", "lenskit")
    program = f"import sys, recommenders.registry; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_default_above_the_limit_of_the_data_is_lowered():
    size = TrainingSize(n_users=30, n_items=12)
    assert registry.feasible_params("puresvd", {}, size) == PureSVD.Params(factors=12)
    assert registry.feasible_params("puresvd", {"factors": "7"}, size) == PureSVD.Params(factors=7)
    assert registry.feasible_params("puresvd", {}, TrainingSize(60, 50)) == PureSVD.Params()


def test_package_of_a_third_partys_algorithm_has_name_and_version(entry_point, monkeypatch):
    installed = distribution("pytest")
    (point, *_) = installed.entry_points
    monkeypatch.setattr(registry, "entry_points", lambda group: installed.entry_points)
    assert registry.package_of(point.name) == ("pytest", installed.version)
    assert registry.package_of("toppop") is None
    entry_point(("elsewhere", "elsewhere_package", "FromElsewhere"))  # of no distribution
    assert registry.package_of("elsewhere") is None
