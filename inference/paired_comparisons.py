r"""Judgements of two conditions side by side: how much each is worth, with ties and an effect of the side.

.. math::
    \log p_\mathrm{left} = \lambda_i + \tfrac{\sigma}{2} + c, \quad
    \log p_\mathrm{right} = \lambda_j - \tfrac{\sigma}{2} + c, \quad
    \log p_\mathrm{tie} = \nu + \tfrac{\lambda_i + \lambda_j}{2} + c, \qquad \sum_i \lambda_i = 0

for condition i on the left and j on the right. Judgements of one participant are alike, so the variance is that of sums
over participants. Where each participant judges two conditions once, `inference.paired.sign_test` and `sign_effect`
need no model: a preference is 1 or -1, and a tie 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import DataError
from inference.ancova import FTest
from inference.average_advantage import MeanEstimates
from inference.covariates import numbered
from inference.posthoc import pairs_of_means
from inference.results import Floats, PairwiseResult, Undefined
from inference.t_tests import Contrast, t_test

DAVIDSON = "Davidson model, Tukey"
STEPS = 50  # of Newton's method; a handful where there is a maximum
LARGEST = 12.0  # of a coefficient: beyond, a preference is a certainty
CONVERGED = 1e-10
SMALLEST = 1e-8  # influence of a participant that is none


@dataclass(frozen=True)
class Judgements:
    """Two conditions side by side and which one was preferred; sequences of shape (n_judgements,)."""

    left: Sequence[str]
    right: Sequence[str]
    preferred: Sequence[str | None]  # one of the two; None where no difference was seen
    participants: Sequence[Hashable]
    names: Sequence[str] = ()  # conditions in the wished order; those of the data in order of appearance unless given


@dataclass(frozen=True)
class DavidsonResult:
    """Log-worths of conditions that were judged in pairs."""

    means: MeanEstimates  # the log-worths, whose sum is 0; with the number of participants less one as df
    pairs: PairwiseResult  # differences of log-worths: log odds of a preference, ties aside
    test: FTest  # of all conditions, by Hotelling's T²
    side: Contrast  # log odds of the left side between equal conditions, ties aside
    tie: float | None  # ν: log odds of a tie against either of two equal conditions; None without any tie
    n_participants: int


def davidson(judgements: Judgements, *, alpha: float = 0.05) -> DavidsonResult | Undefined:
    """Fit Davidson's model by maximum likelihood, with a variance clustered by participant.

    Undefined with fewer than two conditions, where side and conditions cannot be separated, where a condition was
    always or never preferred so that its worth has no limit, and with too few participants for the variance. Raises
    DataError for a condition beside itself and for a preference that is neither of the two. Sources: Davidson (1970),
    Journal of the American Statistical Association 65(329):317-328; for the order of presentation Davidson & Beaver
    (1977), Biometrics 33(4):693-702; for clusters Liang & Zeger (1986), Biometrika 73(1):13-22.

    Examples
    --------
    >>> left, right, preferred = ["A", "B"] * 6, ["B", "A"] * 6, ["A", "A", "B", None, "A", "B"] * 2
    >>> found = davidson(Judgements(left, right, preferred, range(12)))
    >>> found.means.means.round(3).tolist(), round(found.pairs.pairs[0].p, 3)
    ([0.21, -0.21], 0.562)
    """
    from scipy import special

    rows = zip(judgements.left, judgements.right, judgements.preferred, strict=True)
    if any(left == right or preferred not in (left, right, None) for left, right, preferred in rows):
        raise DataError("A judgement is of two different conditions, and prefers one of these or neither.")
    shown = [*judgements.left, *judgements.right]
    wished = tuple(judgements.names or dict.fromkeys(shown))
    names = tuple(name for name in wished if name in shown)
    if len(names) < 2:
        return Undefined("A comparison needs two conditions that were judged side by side.")
    k, participant = len(names), numbered(judgements.participants)
    effects = np.vstack([np.eye(k - 1), -np.ones(k - 1)])
    features, chosen = _features(judgements, names, effects)
    spread = features - features.mean(axis=1, keepdims=True)
    if np.linalg.matrix_rank(spread.reshape(-1, spread.shape[2])) < spread.shape[2]:
        return Undefined("Sides and conditions go together, so that their effects cannot be separated.")
    fitted = _maximum(features, chosen)
    if fitted is None:
        return Undefined("A condition or a side was always or never preferred: its worth has no limit.")
    coefficients, scores, inverse = fitted
    n_participants = int(participant.max()) + 1
    sums = np.zeros((n_participants, len(coefficients)))
    np.add.at(sums, participant, scores)
    influences, df = sums @ inverse, n_participants - 1
    if np.linalg.matrix_rank(influences[:, : k - 1], tol=SMALLEST) < k - 1:
        return Undefined("The participants are too few, or judged too much alike, for a variance between them.")
    covariance = influences.T @ influences * n_participants / df
    worths, own = coefficients[: k - 1], covariance[: k - 1, : k - 1]
    means = MeanEstimates(names, effects @ worths, effects @ own @ effects.T, lambda _contrast: float(df))
    df_within = df - k + 2
    f = float(worths @ np.linalg.solve(own, worths)) * df_within / (df * (k - 1))
    side, side_se = float(coefficients[k - 1]), float(np.sqrt(covariance[k - 1, k - 1]))
    n = {name: shown.count(name) for name in names}
    return DavidsonResult(
        means=means,
        pairs=pairs_of_means(DAVIDSON, alpha, means, n, tuple(name for name in wished if name not in names)),
        test=FTest(f, k - 1, df_within, float(special.fdtrc(k - 1, df_within, f))),
        side=Contrast(side, side_se, df, *t_test(side, side_se, df)),
        tie=float(coefficients[k]) if len(coefficients) > k else None,
        n_participants=n_participants,
    )


def _features(judgements: Judgements, names: Sequence[str], effects: Floats) -> tuple[Floats, Floats]:
    """Of each judgement what speaks for left, right and, if there is any, a tie; and which of them was chosen. Shapes
    (n_judgements, n_answers, n_coefficients) and (n_judgements, n_answers).
    """
    rows = {name: effects[at] for at, name in enumerate(names)}
    left, right = (np.array([rows[name] for name in of]) for of in (judgements.left, judgements.right))
    n = len(left)
    answers = [np.column_stack([left, np.full(n, 0.5)]), np.column_stack([right, np.full(n, -0.5)])]
    chosen = [
        [side == own for side, own in zip(of, judgements.preferred, strict=True)]
        for of in (judgements.left, judgements.right)
    ]
    if None in judgements.preferred:
        answers = [np.column_stack([of, np.zeros(n)]) for of in answers]
        answers.append(np.column_stack([(left + right) / 2, np.zeros(n), np.ones(n)]))
        chosen.append([own is None for own in judgements.preferred])
    return np.stack(answers, axis=1), np.array(chosen, dtype=np.float64).T


def _maximum(features: Floats, chosen: Floats) -> tuple[Floats, Floats, Floats] | None:
    """Coefficients, scores of the judgements and the inverse information; None without a maximum."""
    from scipy import special

    coefficients = np.zeros(features.shape[2])
    for _step in range(STEPS):
        chances = special.softmax(features @ coefficients, axis=1)
        scores = np.einsum("na,nap->np", chosen - chances, features)
        centred = features - np.einsum("na,nap->np", chances, features)[:, np.newaxis]
        information = np.einsum("na,nap,naq->pq", chances, centred, centred)
        step = np.linalg.solve(information, scores.sum(axis=0))
        # Short steps, because a long one may pass the maximum.
        coefficients = coefficients + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < CONVERGED:
            return coefficients, scores, np.linalg.inv(information)
        if np.abs(coefficients).max() > LARGEST:
            break
    return None
