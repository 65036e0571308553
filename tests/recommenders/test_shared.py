from __future__ import annotations

import gc

import pytest

from recommenders.products import LastProduct

pytestmark = pytest.mark.unit


class Owner:
    pass


def test_the_last_owner_is_remembered_and_no_other():
    held, first, second, made = LastProduct(), Owner(), Owner(), []
    for owner in (first, first, second, first):
        held.of(owner, lambda: made.append(1) or len(made))
    assert len(made) == 3


def test_a_product_goes_with_its_owner():
    held, owner = LastProduct(), Owner()
    product = Owner()
    watched = held.of(owner, lambda: product)
    assert watched is product
    del owner
    gc.collect()
    assert held._product is None


def test_an_earlier_owner_takes_nothing_along():
    held, first, second = LastProduct(), Owner(), Owner()
    held.of(first, lambda: "first")
    held.of(second, lambda: "second")
    del first
    gc.collect()
    assert held.of(second, lambda: "made again") == "second"
