"""Development and evaluation users: an algorithm is chosen on one group and tested on the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.errors import DataError
from evaluation.splitting.draws import check_share, draw_keys, smallest, stream_key
from evaluation.splitting.partition import Partition


def with_development(partition: Partition, *, development: float, seed: int) -> Partition:
    """Return the partition with round(development · n) of its n test users drawn for development.

    `development`: share of the test users in the development group. Raises ParameterError or DataError for a share out
    of range; one of the two groups would be empty. Source: Gunawardana & Shani (2009), JMLR 10:2935-2962, section 4.3.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.splitting.per_user import all_but_n
    >>> from evaluation.splitting.rows import RatingRows
    >>> inner = all_but_n(RatingRows.of(csr_array(np.ones((10, 4), dtype=np.float32))), n=1, test_users=0, seed=1)
    >>> made = with_development(inner, development=0.3, seed=1)
    >>> made.development_users.shape, made.test_users.shape
    ((3,), (10,))
    """
    share = check_share(development, "test users for development")
    users = partition.test_users
    words = draw_keys(stream_key(seed, "dev-eval"), users) if len(users) else np.empty(0, dtype=np.uint64)
    is_for_development = smallest(words, round(share * len(users)))
    n_development = int(is_for_development.sum())
    if n_development in (0, len(users)):
        raise DataError(
            f"Of {len(users)} test users, {n_development} would be for development and {len(users) - n_development} "
            "for evaluation; neither group may be empty. Test more users, or choose another share."
        )
    counted = {**partition.counted, "test users for development": n_development}
    return replace(partition, development_users=users[is_for_development], counted=counted)
