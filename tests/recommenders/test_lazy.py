"""The door to heavy imports: each name opens the module it says."""

import sys
from types import ModuleType

import pytest

from recommenders import lazy

pytestmark = pytest.mark.unit


def test_data_frames_are_those_of_pandas():
    assert lazy.pandas().__name__ == "pandas"


def test_a_module_of_lenskit_is_asked_for_by_its_name(monkeypatch):
    als = ModuleType("lenskit.als")
    monkeypatch.setitem(sys.modules, "lenskit", ModuleType("lenskit"))
    monkeypatch.setitem(sys.modules, "lenskit.als", als)
    assert lazy.lenskit("als") is als
