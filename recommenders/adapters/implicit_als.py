"""Implicit alternating least squares as the library implicit learns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from recommenders.adapters.folding import FoldedLikes
from recommenders.adapters.library import IMPLICIT, by_epochs, int32_matrix
from recommenders.data import ItemFeatures, Ratings
from recommenders.memory import binary_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.positives import liked_items, positive_from_parameter, positives
from recommenders.progress import Progress


class ImplicitALS(FoldedLikes):
    r"""``implicit.als.AlternatingLeastSquares``: binary data with confidences, by conjugate gradients.

    The criterion is that of the key ``ials``: a like has confidence :math:`1 + \alpha`, an absence 1. The library
    learns in float32, by three steps of conjugate gradients a sweep, from factors drawn at random, on one thread. A
    profile is folded in by solving for its factors exactly, as the library's ``recalculate_user`` does. No score for
    items without likes, nor for profiles that like none of the others. Sources: Hu, Koren & Volinsky (2008), ICDM,
    equations 3 to 5, doi:10.1109/ICDM.2008.22; Takács, Pilászy & Tikk (2011), RecSys, doi:10.1145/2043932.2043987, for
    the conjugate gradients. Defaults are the library's, save that its α is stated as 1 + α and is 1 there.

    Cost: each sweep takes time proportional to (likes + users + items) × factors, three times over, and factors² for
    each user and item.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 2, 3], [1] * 4, n_users=2, n_items=4, scale=used)
    >>> params = ImplicitALS.Params(factors=2, alpha=40)
    >>> model = ImplicitALS.fit(ratings, params, rng=np.random.default_rng(0))
    >>> best = model.score(Profiles.single([0], [1], n_items=4, scale=used))[0]
    >>> bool(best[1] > 0.9 and abs(best[2:]).max() < 0.1)
    True
    """

    key = "implicit-als"
    name = "implicit iALS"
    title = "Implicit alternating least squares of the library implicit (implicit iALS)"
    version = 1
    library = IMPLICIT
    small = {"factors": 2, "alpha": 40.0}

    @dataclass(frozen=True)
    class Params(Parameters):
        """Parameters of `ImplicitALS`."""

        positive_from: float = positive_from_parameter()
        factors: int = parameter(100, description="Number of latent factors; at most min(users, items).", minimum=1)
        alpha: float = parameter(0.0, description="Confidence α that a like adds to that of an absence.", minimum=0.0)
        reg: float = parameter(0.01, description="Pull λ of all factors towards 0.", minimum=1e-6)
        epochs: int = parameter(15, description="Times that both sides are solved for.", minimum=1)

    params: Params

    @classmethod
    def _fit(
        cls,
        ratings: Ratings,
        params: Params,
        features: ItemFeatures | None,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Self:
        from implicit.als import AlternatingLeastSquares

        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        # The library asks for one BLAS thread beside its own, and warns of more.
        with threadpool_limits(limits=1, user_api="blas"):
            learner = AlternatingLeastSquares(
                factors=params.factors,
                alpha=1.0 + params.alpha,
                regularization=params.reg,
                iterations=params.epochs,
                num_threads=1,
                random_state=int(rng.integers(2**31)),
            )
            learner.fit(int32_matrix(liked), show_progress=False, callback=by_epochs(progress, params.epochs))
        is_liked = liked_items(liked)
        return cls._with(item_factors=learner.item_factors, is_liked=is_liked)

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Any, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """The likes from both sides, and both sides' factors."""
        n_bytes: int = binary_bytes(n_users, n_ratings) + 24 * n_ratings + 8 * params.factors * (n_users + n_items)
        return n_bytes
