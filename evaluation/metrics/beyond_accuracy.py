"""Beyond-accuracy metrics of lists: coverage, exposure, novelty, popularity, diversity, calibration and more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.metrics.ranks import Ranks
from evaluation.metrics.top_n import where_relevant

Floats = NDArray[np.float64]
Lists = NDArray[np.integer[Any]]
SMOOTHING = 0.01  # α of Steck (2018): keeps the divergence finite for genres that a list lacks


def exposure(lists: Lists, n_items: int, n: int) -> NDArray[np.int64]:
    """Count how often each item is among the top n of any list. Returns an int64 array, shape (n_items,).

    `lists`: int array, shape (n_users, depth); item indices, best first; -1 fills the end of a short list.

    Examples
    --------
    >>> exposure(np.array([[0, 1], [0, -1]]), 3, 2).tolist()
    [2, 1, 0]
    """
    cut = lists[:, :n]
    return np.bincount(cut[cut >= 0], minlength=n_items).astype(np.int64)


def catalogue_coverage(lists: Lists, n_items: int, n: int) -> float | None:
    """Share of the catalogue that is among the top n of any list; None without a catalogue.

    Parameters as for `exposure`.

    Examples
    --------
    >>> catalogue_coverage(np.array([[0, 1], [0, 2]]), 6, 2)
    0.5
    """
    counts = exposure(lists, n_items, n)
    return int(np.count_nonzero(counts)) / n_items if n_items else None


def gini(counts: NDArray[np.integer[Any]]) -> float | None:
    r"""Gini index of items' exposure: 0 where all are equal, (n - 1)/n where one item has everything.

    .. math:: G = \frac{\sum_i (2 i - n - 1) e_{(i)}}{n \sum_i e_i}

    None where nothing is recommended.

    `counts`: int array, shape (n_items,); from `exposure`, >= 0; items that are never recommended belong to it.

    Examples
    --------
    >>> gini(np.array([1, 1, 1, 1])), gini(np.array([0, 0, 0, 9]))
    (0.0, 0.75)
    """
    total = int(counts.sum())
    if total == 0:
        return None
    n = len(counts)
    weights = 2 * np.arange(1, n + 1) - n - 1
    # Whole numbers up to the one division: equal exposures then give 0 exactly.
    return int((weights * np.sort(counts).astype(np.int64)).sum()) / (n * total)


def novelty(lists: Lists, item_counts: NDArray[np.integer[Any]], n_users: int, n: int) -> Floats:
    r"""Mean self-information of the first n items of each list, in bits.

    .. math:: -\frac{1}{|L|} \sum_{i \in L} \log_2 \frac{c_i}{U}

    Source: Zhou, Kuscsik, Liu, Medo, Wakeling & Zhang (2010), PNAS 107(10):4511-4515, doi:10.1073/pnas.1000488107.

    `lists`: int array, shape (n_lists, depth). `item_counts`: int array, shape (n_items,); training users who rated
    each item, 0 to n_users. Returns a float array, shape (n_lists,): >= 0. Items without a training rating are excluded
    from the mean; NaN if no other item is left.

    Examples
    --------
    >>> novelty(np.array([[0, 1], [2, -1]]), np.array([4, 1, 0]), 4, 2).tolist()
    [1.0, nan]
    """
    cut = lists[:, :n]
    bits = np.full(len(item_counts) + 1, np.nan)  # the last entry is for empty slots, -1
    is_rated = np.asarray(item_counts) > 0
    bits[:-1][is_rated] = np.log2(n_users) - np.log2(item_counts[is_rated])
    of = bits[cut]
    known = ~np.isnan(of)
    sums, sizes = np.where(known, of, 0.0).sum(axis=1), known.sum(axis=1)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)


def recommendation_popularity(lists: Lists, item_counts: NDArray[np.integer[Any]], n: int) -> Floats:
    r"""Average recommendation popularity (ARP): mean number of training ratings of the first n items of each list.

    .. math:: \frac{1}{|L|} \sum_{i \in L} c_i

    Source: Yin, Cui, Li, Yao & Chen (2012), PVLDB 5(9):896-907, doi:10.14778/2311906.2311916.

    `lists`: int array, shape (n_lists, depth). `item_counts`: int array, shape (n_items,). Returns a float array, shape
    (n_lists,): >= 0; NaN for an empty list.

    Examples
    --------
    >>> recommendation_popularity(np.array([[0, 1], [2, -1]]), np.array([4, 1, 0]), 2).tolist()
    [2.5, 0.0]
    """
    cut = lists[:, :n]
    sizes = (cut >= 0).sum(axis=1)
    sums = np.append(item_counts, 0)[cut].sum(axis=1)  # the last entry is for empty slots, -1
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)


def popularity_lift(recommended: Floats, profile: Floats) -> Floats:
    r"""Relative difference between the mean popularity of a user's recommendations and that of their profile.

    .. math:: \frac{\bar c(L_u) - \bar c(D_u)}{\bar c(D_u)}

    Of means over users it is the lift of a group. Source: Abdollahpouri, Mansoury, Burke & Mobasher (2019), RMSE
    workshop at RecSys, arXiv:1907.13286, where it is the change of the group average popularity.

    `recommended`, `profile`: float array, same shape; >= 0, or NaN. Returns a float array, same shape: >= -1; NaN where
    one of them is, or where the popularity of the profile is 0.

    Examples
    --------
    >>> popularity_lift(np.array([6.0, 1.0, 3.0]), np.array([4.0, 2.0, 0.0])).tolist()
    [0.5, -0.5, nan]
    """
    return (recommended - profile) / np.where(profile > 0, profile, np.nan)


def diversity(lists: Lists, item_terms: Any, n: int) -> Floats:
    r"""Intra-list diversity: one minus the mean cosine similarity of all pairs of the top n items.

    .. math:: 1 - \frac{2}{m (m - 1)} \sum_{i < j} \frac{x_i \cdot x_j}{|x_i| |x_j|}

    Source: Ziegler, McNee, Konstan & Lausen (2005), WWW, section 3.2. Deviation: one minus the mean, instead of a sum.

    `lists`: int array, shape (n_lists, depth). `item_terms`: sparse float array, shape (n_items, n_terms); >= 0, as
    `recommenders.data.ItemFeatures` has them. Returns a float array, shape (n_lists,), in [0, 1]. Items without
    features are excluded; NaN with fewer than two others.

    Examples
    --------
    >>> diversity(np.array([[0, 1], [0, 2]]), sparse.csr_array([[1.0, 0.0], [3.0, 0.0], [0.0, 1.0]]), 2).tolist()
    [0.0, 1.0]
    """
    cut = lists[:, :n]
    matrix = sparse.csr_array(item_terms, dtype=np.float64)
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    has_terms = lengths > 0
    unit = sparse.diags_array(np.where(has_terms, 1.0 / np.where(has_terms, lengths, 1.0), 0.0)) @ matrix
    rows, columns = np.nonzero(cut >= 0)
    items = cut[rows, columns]
    rows, items = rows[has_terms[items]], items[has_terms[items]]
    membership = sparse.csr_array((np.ones(len(rows)), (rows, items)), shape=(len(cut), matrix.shape[0]))
    together = sparse.csr_array(membership @ unit)
    sizes = np.bincount(rows, minlength=len(cut))
    # The squared length of a sum of unit vectors is their number and twice their cosines.
    squares = np.asarray(together.multiply(together).sum(axis=1)).ravel()
    pairs = sizes * (sizes - 1)
    means = np.where(pairs > 0, (squares - sizes) / np.maximum(pairs, 1), np.nan)
    # Cosines of counts are not negative; rounding may take their mean just outside [0, 1].
    return 1.0 - np.clip(means, 0.0, 1.0)


def genre_shares(item_genres: Any) -> Any:
    """Distribution of each item over its genres: equal shares, as in Steck (2018), section 3. Returns a csr_array,
    shape (n_items, n_genres), whose rows sum to 1, or to 0 for items without a genre.

    `item_genres`: sparse array, shape (n_items, n_genres); not 0 where an item has a genre.

    Examples
    --------
    >>> genre_shares(sparse.csr_array([[1, 1], [0, 3], [0, 0]])).toarray().tolist()
    [[0.5, 0.5], [0.0, 1.0], [0.0, 0.0]]
    """
    matrix = _indicator(item_genres)
    sizes = np.asarray(matrix.sum(axis=1)).ravel()
    return sparse.csr_array(sparse.diags_array(1.0 / np.maximum(sizes, 1.0)) @ matrix)


def _indicator(matrix: Any) -> sparse.csr_array:
    indicators = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    indicators.eliminate_zeros()
    indicators.data[:] = 1.0
    return indicators


def genre_distribution(user_items: Any, item_genres: Any) -> Floats:
    """Mean distribution over genres of the items of each row: a float array, shape (n_users, n_genres), whose rows sum
    to 1; NaN for a row without an item that has a genre. Items without a genre do not count.

    `user_items`: sparse array, shape (n_users, n_items); not 0 where an item belongs to the user. `item_genres`: as for
    `genre_shares`.

    Examples
    --------
    >>> genre_distribution(sparse.csr_array([[5, 4], [0, 0]]), sparse.csr_array([[1, 1], [0, 1]])).tolist()
    [[0.25, 0.75], [nan, nan]]
    """
    sums = sparse.csr_array(_indicator(user_items) @ genre_shares(item_genres)).toarray()
    totals = sums.sum(axis=1, keepdims=True)
    shares: Floats = sums / np.where(totals > 0, totals, np.nan)
    return shares


def calibration(lists: Lists, profile_genres: Floats, item_genres: Any, n: int) -> Floats:
    r"""Divergence of the genres of each list from those of the user's profile, in nats; 0 if they are calibrated.

    .. math:: C_{KL} = \sum_g p(g|u) \ln \frac{p(g|u)}{(1 - \alpha)\, q(g|u) + \alpha\, p(g|u)}, \quad \alpha = 0.01

    p and q are the mean distributions over genres of the profile and of the list, all items with equal weight. Source:
    Steck (2018), RecSys, doi:10.1145/3240323.3240372, section 3.

    `lists`: int array, shape (n_lists, depth). `profile_genres`: float array, shape (n_lists, n_genres); from
    `genre_distribution`. `item_genres`: as for `genre_shares`. Returns a float array, shape (n_lists,), in [0, -ln α];
    NaN where the profile or the list has no item with a genre.

    Examples
    --------
    >>> genres = sparse.csr_array([[1, 0], [0, 1]])
    >>> calibration(np.array([[0, 1], [0, -1]]), np.array([[0.5, 0.5], [0.5, 0.5]]), genres, 2).round(3).tolist()
    [0.0, 1.959]
    """
    cut = lists[:, :n]
    n_items = item_genres.shape[0]
    rows, columns = np.nonzero(cut >= 0)
    listed = sparse.csr_array((np.ones(len(rows)), (rows, cut[rows, columns])), shape=(len(cut), n_items))
    blurred = (1 - SMOOTHING) * genre_distribution(listed, item_genres) + SMOOTHING * profile_genres
    is_in = profile_genres > 0
    ratios = np.where(is_in, profile_genres, 1.0) / np.where(is_in, blurred, 1.0)
    divergence = (np.where(is_in, profile_genres, 0.0) * np.log(ratios)).sum(axis=1)
    has_both = ~(np.isnan(profile_genres) | np.isnan(blurred)).any(axis=1)
    # A divergence is never negative on paper; of equal distributions rounding may make it so.
    return np.where(has_both, np.maximum(divergence, 0.0), np.nan)


def serendipity(ranks: Ranks, primitive: NDArray[np.integer[Any]], n: int) -> Floats:
    r"""Share of the first n places that hold a relevant item which a primitive recommender does not place there too.

    .. math:: \frac{|\{i \in L_u \setminus P_u : \mathrm{rel}_i = 1\}|}{n}

    Sources: Ge, Delgado-Battenfeld & Jannach (2010), RecSys, doi:10.1145/1864708.1864761; Murakami, Mori &
    Orihara (2008), JSAI 2007, LNAI 4914, doi:10.1007/978-3-540-78197-4_5.

    `primitive`: int array, shape (n_relevant,); the rank of each relevant item of `ranks` in the primitive
    recommender's list of the same user, 0 for an item that is not in it. Returns a float array, shape (n_users,), in
    [0, 1]; NaN for users without a relevant item.

    Examples
    --------
    >>> serendipity(Ranks.of([0, 0], [1, 2], n_listed=[9]), np.array([3, 1]), 2).tolist()
    [0.5]
    """
    is_listed, is_expected = ((ranked >= 1) & (ranked <= n) for ranked in (ranks.ranks, np.asarray(primitive)))
    counts = np.bincount(ranks.users[is_listed & ~is_expected], minlength=ranks.n_users)
    return where_relevant(ranks, counts / n)


def overlap(first: Lists, second: Lists, n: int) -> Floats:
    """Share of the top n items that the lists of two algorithms have in common, by user.

    `first`, `second`: int array, shape (n_users, depth); of the same users; -1 fills the end of a short list. An item
    occurs once in a list. Returns a float array, shape (n_users,), in [0, 1]; NaN where both lists are empty.

    Examples
    --------
    >>> overlap(np.array([[0, 1, 2]]), np.array([[2, 9, 0]]), 3).round(4).tolist()
    [0.6667]
    """
    of_first, of_second = first[:, :n], second[:, :n]
    shared = np.zeros(len(of_first))
    for column in range(of_first.shape[1]):
        item = of_first[:, column, None]
        shared += ((of_second == item) & (item >= 0)).any(axis=1)
    is_empty = (of_first < 0).all(axis=1) & (of_second < 0).all(axis=1)
    return np.where(is_empty, np.nan, shared / n)
