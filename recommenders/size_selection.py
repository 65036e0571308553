"""How many dimensions or classes: models of several sizes, compared on ratings kept from their learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import Flags, Floats, ItemFeatures, Profiles, Ratings
from recommenders.holdout import draw_flags, split
from recommenders.positives import FIVE_POINTS, positives
from recommenders.progress import Progress, no_progress, within

# A probability that underflowed counts as this much.
SMALLEST = 1e-300

# Sums over the held-out ratings of each person of a block, and how many these are: scores, whether an item was
# seen, and the held-out ratings, all of shape (n_people, n_items), 0 where there is none.
Measure = Callable[[Floats, Flags, Floats], tuple[Any, Any]]


@dataclass(frozen=True)
class Criterion:
    """How the sizes of an algorithm are compared."""

    parameter: str  # the parameter that is chosen
    values: tuple[int, ...]  # what is tried unless told otherwise
    words: str  # the criterion as tables and charts name it
    is_higher_better: bool  # which end of it is the good one
    of_likes: bool  # whether only positive ratings are held out, or all
    measure: Measure  # the criterion, summed over each person's held-out ratings
    is_root: bool = False  # whether the square root of the mean is reported
    # Whether people are kept from the learning, and half of what they rated is held out; else single ratings are. For
    # an algorithm that learns from what is absent too: the absent ones of a person it learned from are nothing new to
    # it.
    by_people: bool = False


def _squared_errors(scores: Floats, is_seen: Flags, held_out: Floats) -> tuple[Any, Any]:
    is_held = held_out != 0
    return np.where(is_held, (np.where(is_held, scores, 0.0) - held_out) ** 2, 0.0).sum(axis=1), is_held.sum(axis=1)


def _log_shares(scores: Floats, is_seen: Flags, held_out: Floats) -> tuple[Any, Any]:
    """Sum log P(m|p) over held-out likes; the scores are these probabilities, -inf where there is none."""
    is_held = held_out != 0
    # One item without any probability would otherwise make every mean minus infinity.
    logs = np.log(np.maximum(np.where(is_held, scores, 1.0), SMALLEST))
    return logs.sum(axis=1), is_held.sum(axis=1)


def _log_odds(scores: Floats, is_seen: Flags, held_out: Floats) -> tuple[Any, Any]:
    """Sum the likelihood of all that the profile does not show, held-out likes and the absence of others.

    Per held-out like, so that the number does not sink to nothing with the size of the catalogue.
    """
    is_held = held_out != 0
    counts = np.isfinite(scores) & ~is_seen
    theta = np.where(counts, scores, 0.0)
    cells = np.where(counts, np.where(is_held, theta, 0.0) - np.logaddexp(0.0, theta), 0.0)
    return cells.sum(axis=1), is_held.sum(axis=1)


def _areas(scores: Floats, is_seen: Flags, held_out: Floats) -> tuple[Any, Any]:
    """Give each person's share of (held-out like, unrated item) pairs in the right order, ties by half."""
    areas, is_some = np.zeros(scores.shape[0]), np.zeros(scores.shape[0])
    for row in range(scores.shape[0]):
        is_held = held_out[row] != 0
        negatives = np.sort(scores[row][~is_seen[row] & ~is_held])
        if negatives.size:
            own = scores[row][is_held]
            # Left and right of equal scores: together they count a tie as half of a pair, twice over.
            below = np.searchsorted(negatives, own, side="left") + np.searchsorted(negatives, own, side="right")
            areas[row], is_some[row] = below.mean() / (2.0 * negatives.size), 1.0
    return areas, is_some


# What counts as a like for algorithms that have no say in it themselves.
POSITIVE_FROM = float(FIVE_POINTS.high) - 1.0

SIZES: dict[str, Criterion] = {
    "lpca": Criterion(
        "factors",
        (1, 2, 5, 10, 20, 50),
        "Log likelihood of what profiles of people kept apart do not show, per held-out like",
        is_higher_better=True,
        of_likes=True,
        measure=_log_odds,
        by_people=True,
    ),
    "aspect": Criterion(
        "classes",
        (2, 5, 10, 20, 50),
        "Mean log probability of held-out likes",
        is_higher_better=True,
        of_likes=True,
        measure=_log_shares,
    ),
    "asysvd": Criterion(
        "factors",
        (2, 5, 10, 20, 50, 100),
        "RMSE of held-out ratings",
        is_higher_better=False,
        of_likes=False,
        measure=_squared_errors,
        is_root=True,
    ),
    "lsa": Criterion(
        "factors",
        (5, 10, 20, 50, 100, 200, 400),
        "Area under the ROC curve: held-out likes against unrated items, mean over people",
        is_higher_better=True,
        of_likes=True,
        measure=_areas,
    ),
}


# People scored at a time: bounds the working memory, not the result.
BLOCK_USERS = 256
# What is held out of a person kept from the learning.
HIDDEN_OF_PERSON = 0.5
RULES = ("best", "smallest-near")


@dataclass(frozen=True)
class Size:
    """One size that was tried.

    `score` is the criterion, `standard_error` its error over people, `epochs` the steps that the algorithm itself
    found best (by ratings of its own, kept from what it was given); None where it has no such thing.
    """

    value: int
    score: float
    standard_error: float
    epochs: int | None


@dataclass(frozen=True)
class Choice:
    """What was tried, and what came out."""

    # `algorithm`, `parameter`: key of the algorithm, name of its parameter.
    algorithm: str
    parameter: str
    criterion: str  # what `Size.score` is, in words
    is_higher_better: bool  # which end of it is the good one
    sizes: tuple[Size, ...]  # in ascending order
    # `n_held_out`, `n_people`: held-out ratings that counted, and the people they are of; the same for every size.
    n_held_out: int
    n_people: int
    # "best" or "smallest-near"; the best size, or the smallest one that is no worse than it by more than its standard
    # error.
    rule: str
    chosen: int  # the outcome

    @property
    def best(self) -> Size:
        """The size with the best score; of equal ones the smallest."""
        sign = 1.0 if self.is_higher_better else -1.0
        return max(self.sizes, key=lambda size: (sign * size.score, -size.value))

    @property
    def in_words(self) -> str:
        """The chosen size, why, and among which, as sentences that begin with the parameter."""
        why = "the best" if self.rule == "best" else "the smallest within one standard error of the best"
        ends = {self.sizes[0].value: "smaller", self.sizes[-1].value: "larger"}
        edge = (
            f" It is at the end of the range: a {ends[self.chosen]} one may be better." if self.chosen in ends else ""
        )
        return (
            f"{self.parameter} = {self.chosen}, {why} of {', '.join(str(size.value) for size in self.sizes)} on "
            f"{self.n_held_out:,} held-out ratings of {self.n_people:,} users.{edge}"
        )


def choose(
    ratings: Ratings,
    key: str,
    *,
    values: Sequence[int],
    params: Mapping[str, Any] | None = None,
    share: float = 0.1,
    rule: str = "best",
    features: ItemFeatures | None = None,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> Choice:
    """Fit an algorithm in several sizes on a part of the ratings, and see which one foretells the rest best.

    One split serves all sizes, and all fits begin with the same seed, so that sizes differ by their size alone.
    Everything that is held out is scored as a profile of what was left of the person's ratings. Nothing but `ratings`
    is looked at: where these are the training side of a run, its hidden ratings take no part. Raises ParameterError
    when the algorithm has no size to choose, or a value, the share or the rule cannot be used. Raises DataError when no
    rating is left to hold out.

    `values`: sizes to try, any order. `share`: share of the ratings that is held out, or
    of the people (see `Criterion.by_people`), in (0, 0.5]. `rule`: {"best", "smallest-near"}; see `Choice.rule`; the
    second is the "one standard error rule". `rng`: draws what is held out, then the seed of the fits.

    Sources: Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 4.1: "validation on
    a portion of the training data"; they do not say which portion, nor by which criterion. One standard error:
    Breiman, Friedman, Olshen & Stone (1984), Classification and Regression Trees, section 3.4.3.

    Examples
    --------
    >>> from recommenders.data import Scale
    >>> rng = np.random.default_rng(0)
    >>> users, items = np.divmod(np.flatnonzero(rng.random(40 * 30) < 0.5), 30)
    >>> values = np.where((users + items) % 2, 5, 1)  # two tastes
    >>> ratings = Ratings.from_triples(users, items, values, n_users=40, n_items=30, scale=Scale(1, 5, 1))
    >>> choose(ratings, "aspect", values=[1, 2, 5], rng=np.random.default_rng(1)).chosen
    2
    """
    if key not in SIZES:
        raise ParameterError(f"There is no size to choose for {key!r}; there is for {', '.join(SIZES)}.")
    criterion, algorithm = SIZES[key], registry.algorithm(key)
    wanted = sorted(set(values))
    fixed = dict(params or {})
    if criterion.parameter in fixed:
        raise ParameterError(f"{criterion.parameter} is what is chosen; give the values to try instead of one.")
    if len(wanted) < 2:
        raise ParameterError("Give at least two values to choose from.")
    if not 0.0 < share <= 0.5:
        raise ParameterError(f"The share that is held out must lie above 0 and be at most 0.5; it is {share:g}.")
    if rule not in RULES:
        raise ParameterError(f"The rule is one of {', '.join(RULES)}; this is {rule!r}.")
    chosen_params = [registry.params_of(key, fixed | {criterion.parameter: value}) for value in wanted]
    # Before the loop: were every size compared on ratings of its own, chance would choose among them.
    split = _split(ratings, criterion, chosen_params[0], share, rng)
    seed = int(rng.integers(2**63))
    sizes: list[Size] = []
    for number, (value, of_value) in enumerate(zip(wanted, chosen_params, strict=True)):
        part = within(progress, number / len(wanted), (number + 1) / len(wanted))
        model = algorithm.fit(
            split.training,
            of_value,
            features=features,
            # Anew from one seed: a shared generator would give each size another start.
            rng=np.random.default_rng(seed),
            progress=_with_label(within(part, 0.0, 0.9), f"{criterion.parameter}={value}"),
        )
        score, error = _score(model, split, criterion, _with_label(within(part, 0.9, 1.0), f"Comparing {value}"))
        sizes.append(Size(value, score, error, getattr(model, "n_epochs", None)))
    progress(1.0, "Compared all sizes")
    choice = Choice(
        algorithm=key,
        parameter=criterion.parameter,
        criterion=criterion.words,
        is_higher_better=criterion.is_higher_better,
        sizes=tuple(sizes),
        n_held_out=int(split.held_out.nnz),
        n_people=int(split.held_out.shape[0]),
        rule=rule,
        chosen=0,
    )
    best = choice.best
    # Of the best size's error, as Breiman et al. define the rule.
    near = [size.value for size in sizes if abs(size.score - best.score) <= best.standard_error]
    return replace(choice, chosen=best.value if rule == "best" else min(near))


def _with_label(progress: Progress, name: str) -> Progress:
    def report(share: float, what: str, /) -> None:
        progress(share, f"{name}: {what[:1].lower()}{what[1:]}")

    return report


@dataclass(frozen=True, eq=False)
class _Split:
    """What is learned from, and for each person compared on (a row) what is shown of them and what is held out."""

    training: Ratings
    shown: sparse.csr_array
    held_out: sparse.csr_array


def _split(ratings: Ratings, criterion: Criterion, params: Any, share: float, rng: np.random.Generator) -> _Split:
    """Hold out ratings, or people with a half of their ratings; what counts are people and items with others."""
    if criterion.by_people:
        is_apart = draw_flags(ratings.n_users, share, rng, least=1)
        is_hidden = is_apart[ratings.triples()[0]] & (rng.random(ratings.n_ratings) < HIDDEN_OF_PERSON)
        training = Ratings(ratings.user_items[np.flatnonzero(~is_apart)], ratings.scale)
        shown, hidden = split(ratings.user_items, is_hidden)
    else:
        is_hidden = draw_flags(ratings.n_ratings, share, rng, least=1)
        counts = None if ratings.counts is None else ratings.counts[~is_hidden]
        shown, hidden = split(ratings.user_items, is_hidden)
        training = Ratings(shown, ratings.scale, counts)
    # What the algorithm itself takes for evidence of a person or an item.
    evidence, learned = shown, training.user_items
    if criterion.of_likes:
        positive_from = float(getattr(params, "positive_from", POSITIVE_FROM))
        hidden, evidence, learned = (
            positives(matrix, ratings.scale, positive_from) for matrix in (hidden, evidence, learned)
        )
    is_known = np.bincount(learned.indices, minlength=ratings.n_items) > 0
    has_profile = (evidence @ is_known.astype(np.float64)) > 0
    rows = np.repeat(np.arange(ratings.n_users), np.diff(hidden.indptr))
    counts = has_profile[rows] & is_known[hidden.indices]
    if not counts.any():
        raise DataError(
            "None of the held-out ratings can be predicted: none has both a user and an item with other ratings. "
            "Hold out a larger share, or use more data."
        )
    people, of_row = np.unique(rows[counts], return_inverse=True)
    held_out = sparse.csr_array(
        (hidden.data[counts], (of_row, hidden.indices[counts])), shape=(people.size, ratings.n_items)
    )
    return _Split(training, sparse.csr_array(shown[people]), held_out)


def _score(model: Algorithm, split: _Split, criterion: Criterion, progress: Progress) -> tuple[float, float]:
    n_people = int(split.held_out.shape[0])
    sums, counts = np.empty(n_people), np.empty(n_people)
    for first in range(0, n_people, BLOCK_USERS):
        progress(first / n_people, f"people {first + 1:,} and on of {n_people:,}")
        block = slice(first, first + BLOCK_USERS)
        shown = sparse.csr_array(split.shown[block])
        scores = model.score(Profiles(shown, split.training.scale))
        sums[block], counts[block] = criterion.measure(scores, shown.toarray() != 0, split.held_out[block].toarray())
    mean = float(sums.sum() / counts.sum())
    # The error of a ratio of sums over people, who are drawn at random while their ratings are not.
    spread = float(np.sqrt(((sums - mean * counts) ** 2).sum() * n_people / max(n_people - 1, 1)))
    error = spread / float(counts.sum())
    if criterion.is_root:
        # The error of a root by the delta method: the derivative of √x is 1/(2√x).
        return float(np.sqrt(mean)), error / (2.0 * float(np.sqrt(mean))) if mean > 0 else 0.0
    return mean, error
