"""Item to item against expected profit on baskets with prices, in the directions that are published.

Gunawardana & Shani (2009), section 6.3.2: ordering by expected profit loses precision and recall at every list
length and wins half-life utility (half-life 5). On these baskets an independent implementation gives about .155
for item to item and .19 for expected profit, as share of the best possible.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from recommenders import registry
from recommenders.association import ItemItem
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale

pytestmark = [pytest.mark.reference, pytest.mark.slow]

USED = Scale(1, 1, 1)
LENGTHS = (1, 3, 5, 10, 25, 50)
HALF_LIFE = 5
ExpUtility = registry.algorithm("expected-utility")


@pytest.fixture(scope="module")
def split(shared_dir):
    """Training baskets; 1,000 others of which a random part is seen and the rest hidden; the items' prices."""
    folder = shared_dir / "data" / "online-retail"
    pairs = pd.read_csv(folder / "orII_0910_baskets.csv.gz", dtype=str).drop_duplicates()
    prices = pd.read_csv(folder / "orII_0910_median_price.csv.gz", dtype={"StockCode": str}).set_index("StockCode")
    invoices, users = np.unique(pairs["Invoice"], return_inverse=True)
    codes, items = np.unique(pairs["StockCode"], return_inverse=True)
    price = prices["Price"].reindex(codes).fillna(0).clip(lower=0).to_numpy(dtype=np.float32)
    matrix = sparse.csr_array((np.ones(users.size, np.float32), (users, items)), shape=(invoices.size, codes.size))
    rng = np.random.default_rng(0)
    tested = rng.permutation(np.flatnonzero(np.diff(matrix.indptr) >= 2))[:1000]
    training = Ratings(matrix[np.setdiff1d(np.arange(invoices.size), tested)], USED)
    baskets = matrix[tested].toarray() > 0
    is_seen = np.zeros_like(baskets)
    for row, basket in enumerate(baskets):
        inside = np.flatnonzero(basket)
        is_seen[row, rng.choice(inside, rng.integers(1, inside.size), replace=False)] = True
    return training, is_seen, baskets & ~is_seen, price


def hits_in_order(model, is_seen, is_hidden, price):
    """Whether each place of each list is a hit, and the price of what is there."""
    scores = model.score(Profiles(sparse.csr_array(is_seen.astype(np.float32)), USED))
    # As the ranking does: without a score by popularity, after everything that has one; what is seen last.
    scores = np.where(np.isfinite(scores), scores, model.popularity - 1e9)
    scores[is_seen] = -np.inf
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(is_hidden, order, axis=1), price[order]


def test_expected_profit_loses_hits_and_wins_profit(split):
    training, is_seen, is_hidden, price = split
    table = ItemFeatures(sparse.csr_array(price[:, np.newaxis]), (("utility", "price"),))
    rng = np.random.default_rng(0)
    likely = ItemItem.fit(training, rng=rng)
    profitable = ExpUtility.fit(training, ExpUtility.Params(utility="given"), features=table, rng=rng)
    discount = 2.0 ** (-np.arange(training.n_items) / (HALF_LIFE - 1))
    best = (-np.sort(-(is_hidden * price), axis=1) @ discount).sum()
    (likely_hits, likely_price), (profit_hits, profit_price) = (
        hits_in_order(model, is_seen, is_hidden, price) for model in (likely, profitable)
    )
    n_hidden = is_hidden.sum(axis=1)
    for n in LENGTHS:
        assert likely_hits[:, :n].sum() > profit_hits[:, :n].sum()  # precision
        recalls = [(hits[:, :n].sum(axis=1) / n_hidden).mean() for hits in (likely_hits, profit_hits)]
        assert recalls[0] > recalls[1]
    assert ((likely_hits * likely_price) @ discount).sum() / best == pytest.approx(0.155, abs=0.03)
    assert ((profit_hits * profit_price) @ discount).sum() / best == pytest.approx(0.19, abs=0.03)
