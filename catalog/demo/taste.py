r"""A seeded model of taste that makes the ratings of the demo catalogues.

**The ratings are synthetic.** No person gave them. They say nothing about the works or about people, and
every page that shows them has to say so. They let you try the platform without a dataset of your own, on a
study in which personalised algorithms have something to learn.

User :math:`u` is drawn to work :math:`i`, a film or a book, with the affinity

.. math:: a_{ui} = w_g \, g_u \cdot G_i + w_r \, r_u \cdot R_i + w_e \, e_u y_i + w_d \, d_u \cdot D_i
          + w_h \, h_u \cdot H_i

from its genres :math:`G_i`, region :math:`R_i`, year :math:`y_i` and directors or authors :math:`D_i`,
which content can explain, and from hidden traits :math:`H_i` (tone, pace), which only ratings reveal. Tastes
in genres are correlated, as they come from a few factors that all users share. Then:

- *what is rated* is not missing at random: :math:`n_u` works are drawn without replacement with weights
  :math:`\exp(p_i + \gamma a_{ui} + \delta q_i)`, where :math:`p_i` is a long-tailed popularity and
  :math:`q_i` the quality of the work, both of which grow with its renown;
- *how it is rated*: :math:`\mu + b_u + q_i + \beta a_{ui} + \varepsilon`, rounded to the nearest of 1 to 5.

References
----------
Marlin & Zemel (2009), Collaborative prediction and ranking with non-random missing data, RecSys '09, 5-12,
doi:10.1145/1639714.1639717: why ratings are not missing at random. The equations above are the project's own.
Efraimidis & Spirakis (2006), Weighted random sampling with a reservoir, IPL 97(5):181-185,
doi:10.1016/j.ipl.2005.11.003: the largest keys are a weighted draw without replacement (here in Gumbel form).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog.demo.works import Catalogue, Work, demo_films
from core.errors import ParameterError

DEFAULT_USERS = 1500
DEFAULT_SEED = 2012

FEWEST_RATINGS = 20
MOST_RATINGS = 120
TYPICAL_RATINGS = 58
SPREAD_OF_RATINGS = 0.45  # standard deviation of the logarithm of a user's number of ratings

GENRE_FACTORS = 5  # shared factors behind the tastes in genres
HIDDEN_TRAITS = 6
GENRE_WEIGHT = 0.60
REGION_WEIGHT = 0.30
ERA_WEIGHT = 0.35
CREATOR_WEIGHT = 0.25
HIDDEN_WEIGHT = 0.70

DRAW_TO_AFFINITY = 1.50  # how much more often people rate what they are drawn to
DRAW_TO_QUALITY = 0.80
POPULARITY_PER_RENOWN = 0.90  # on the log scale, a step of renown
POPULARITY_SPREAD = 0.65
QUALITY_SPREAD = 0.45
QUALITY_PER_RENOWN = 0.28  # rating points, a step of renown
MIDDLE_RATING = 2.62
GENEROSITY_SPREAD = 0.35
AFFINITY_EFFECT = 0.75
NOISE_SPREAD = 0.75

REGIONS: dict[str, frozenset[str]] = {
    "North America": frozenset({"United States", "Canada"}),
    "British Isles and Oceania": frozenset({"United Kingdom", "Ireland", "Australia", "New Zealand"}),
    "Romance-language Europe": frozenset({"France", "Italy", "Spain", "Belgium", "Romania"}),
    "East Asia": frozenset({"Japan", "South Korea", "China", "Hong Kong", "Taiwan", "Thailand"}),
}
OTHER_REGION = "Elsewhere"


class SyntheticRatings(NamedTuple):
    """Ratings as three aligned arrays, by user and then item; each user × item pair at most once."""

    users: NDArray[np.int64]  # shape (n_ratings,); user index, 0 to n_users - 1
    items: NDArray[np.int64]  # shape (n_ratings,); position of the work in its catalogue
    values: NDArray[np.int64]  # shape (n_ratings,); ratings 1 to 5


@dataclass(frozen=True, slots=True)
class Tastes:
    """What a population likes: the planted truth behind the ratings."""

    # Shape (n_users, n_genres); liking of each genre; mean 0, standard deviation 1 over the population.
    genres: NDArray[np.float64]
    # `regions`, `creators`, `hidden`: shape (n_users, ...); the same for regions, directors or authors (in order of
    # first appearance) and hidden traits.
    regions: NDArray[np.float64]
    creators: NDArray[np.float64]
    hidden: NDArray[np.float64]
    eras: NDArray[np.float64]  # shape (n_users,); liking of recent over old works
    generosity: NDArray[np.float64]  # shape (n_users,); rating points added to everything the user rates


def synthetic_ratings(
    n_users: int = DEFAULT_USERS, seed: int = DEFAULT_SEED, catalogue: Catalogue | None = None
) -> SyntheticRatings:
    """Ratings of a catalogue, by default the films, by made-up users; the same arguments always give the same arrays.

    Users keep their tastes and their ratings when the population grows. Each user has 20 to 120 ratings, about 60 on
    average. Raises ParameterError for `n_users` < 1 or `seed` < 0.

    Examples
    --------
    >>> ratings = synthetic_ratings(n_users=3, seed=1)
    >>> np.unique(ratings.users).tolist(), bool(((ratings.values >= 1) & (ratings.values <= 5)).all())
    ([0, 1, 2], True)
    """
    catalogue = demo_films() if catalogue is None else catalogue
    works = catalogue.works
    tastes = draw_tastes(n_users=n_users, seed=seed, catalogue=catalogue)
    affinity = _affinity(catalogue, tastes, seed)
    renown = np.array([work.renown for work in works], dtype=np.float64)
    # Popularity is log-normal, higher for what is known today; and what is still known is better on average.
    own = {name: _stream(seed, name).standard_normal(len(works)) for name in ("popularity", "quality")}
    popularity = POPULARITY_PER_RENOWN * renown + POPULARITY_SPREAD * own["popularity"]
    quality = QUALITY_PER_RENOWN * (renown - renown.mean()) + QUALITY_SPREAD * own["quality"]
    wished = TYPICAL_RATINGS * np.exp(SPREAD_OF_RATINGS * _stream(seed, "counts").standard_normal(n_users))
    counts = np.clip(np.rint(wished), FEWEST_RATINGS, MOST_RATINGS).astype(np.int64)

    # The n_u largest of log weight + Gumbel noise are a weighted draw of n_u works without replacement.
    keys = (
        popularity
        + DRAW_TO_QUALITY * quality
        + DRAW_TO_AFFINITY * affinity
        + _stream(seed, "choice").gumbel(size=affinity.shape)
    )
    ranks = np.empty(keys.shape, dtype=np.int64)
    np.put_along_axis(ranks, np.argsort(-keys, axis=1, kind="stable"), np.arange(len(works))[None, :], axis=1)
    users, items = np.nonzero(ranks < counts[:, None])

    latent = (
        MIDDLE_RATING
        + tastes.generosity[:, None]
        + quality
        + AFFINITY_EFFECT * affinity
        + NOISE_SPREAD * _stream(seed, "noise").standard_normal(affinity.shape)
    )
    values = np.clip(np.rint(latent[users, items]), 1, 5).astype(np.int64)
    return SyntheticRatings(users.astype(np.int64), items.astype(np.int64), values)


def draw_tastes(n_users: int = DEFAULT_USERS, seed: int = DEFAULT_SEED, catalogue: Catalogue | None = None) -> Tastes:
    """Tastes of the population that `synthetic_ratings` lets rate: tests compare the two. Raises ParameterError for
    `n_users` < 1 or `seed` < 0.
    """
    if n_users < 1:
        raise ParameterError(f"n_users is {n_users}; the model of taste needs at least one user.")
    if seed < 0:
        raise ParameterError(f"seed is {seed}; it must be a whole number of at least 0.")
    catalogue = demo_films() if catalogue is None else catalogue
    n_genres = len(catalogue.genres)
    loadings = _stream(seed, "genre loadings").standard_normal((GENRE_FACTORS, n_genres))
    loadings /= np.linalg.norm(loadings, axis=0)
    shared = _stream(seed, "genre factors").standard_normal((n_users, GENRE_FACTORS)) @ loadings
    own = _stream(seed, "genres").standard_normal((n_users, n_genres))
    n_creators = len(_creators(catalogue.works))
    return Tastes(
        genres=np.sqrt(0.7) * shared + np.sqrt(0.3) * own,
        regions=_stream(seed, "regions").standard_normal((n_users, len(REGIONS) + 1)),
        creators=_stream(seed, "directors").standard_normal((n_users, n_creators)),
        hidden=_stream(seed, "hidden tastes").standard_normal((n_users, HIDDEN_TRAITS)),
        eras=_stream(seed, "eras").standard_normal(n_users),
        generosity=GENEROSITY_SPREAD * _stream(seed, "generosity").standard_normal(n_users),
    )


def _affinity(catalogue: Catalogue, tastes: Tastes, seed: int) -> NDArray[np.float64]:
    """Affinity of every user to every work, shape (n_users, n_items), before any rating is drawn."""
    works = catalogue.works
    genres = _membership([work.genres for work in works], catalogue.genres)
    regions = _membership([_regions(work) for work in works], (*REGIONS, OTHER_REGION))
    created = _membership([work.creators for work in works], _creators(works))
    traits = _stream(seed, "hidden traits").standard_normal((len(works), HIDDEN_TRAITS))
    years = np.array([work.year for work in works], dtype=np.float64)
    eras = (years - years.mean()) / years.std()
    affinity: NDArray[np.float64] = (
        GENRE_WEIGHT * tastes.genres @ genres.T
        + REGION_WEIGHT * tastes.regions @ regions.T
        + ERA_WEIGHT * np.outer(tastes.eras, eras)
        + CREATOR_WEIGHT * tastes.creators @ created.T
        + HIDDEN_WEIGHT / np.sqrt(HIDDEN_TRAITS) * tastes.hidden @ traits.T
    )
    return affinity


def _membership(lists: Sequence[Sequence[str]], names: Sequence[str]) -> NDArray[np.float64]:
    """Rows of unit length that spread over the names a work has, shape (n_items, n_names)."""
    column = {name: index for index, name in enumerate(names)}
    member = np.zeros((len(lists), len(names)))
    for row, entries in enumerate(lists):
        for entry in entries:
            member[row, column[entry]] = 1.0
    unit: NDArray[np.float64] = member / np.linalg.norm(member, axis=1, keepdims=True)
    return unit


def _regions(work: Work) -> tuple[str, ...]:
    """The one region of the work's first country: later ones are mostly co-producers."""
    first = work.countries[0]
    return tuple(region for region, countries in REGIONS.items() if first in countries) or (OTHER_REGION,)


def _creators(works: Sequence[Work]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for work in works for name in work.creators))


def _stream(seed: int, name: str) -> np.random.Generator:
    """One generator a purpose, so that no draw depends on what else is drawn or in which order."""
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, key])))
