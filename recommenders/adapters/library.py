"""What adapters of other libraries' algorithms share: their library, being there only with it, and folding in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.errors import ParameterError
from recommenders.base import Algorithm
from recommenders.data import Flags, Floats
from recommenders.ials import gram_of, solve
from recommenders.positives import positives
from recommenders.progress import Progress


@dataclass(frozen=True, slots=True)
class Library:
    """A library as its package is called, and the version that the adapters are tested with."""

    package: str
    tested: str
    requirements: str = ""  # a file of ours that installs it, where it brings pins of its own

    @property
    def is_installed(self) -> bool:
        """Whether the library could be imported; nothing of it is."""
        if self.package in sys.modules:
            return sys.modules[self.package] is not None
        return find_spec(self.package) is not None

    def how_to_install(self) -> str:
        """The command that installs it."""
        what = f"-r {self.requirements}" if self.requirements else f"{self.package}=={self.tested}"
        return f".venv/bin/pip install {what}"


IMPLICIT = Library("implicit", "0.7.3")
LENSKIT = Library("lenskit", "2025.8.1", "requirements-lenskit.txt")


class Adapter(Algorithm):
    """An algorithm whose model another library's code learns.

    The library is imported when a model is fitted, and only then: the model is arrays, and profiles are scored
    from them here, in float64, by the equations that the library folds strangers in by. So a stored model is
    served alike by whatever version of the library is installed, and the version that learned it is part of its
    recipe.
    """

    library: ClassVar[Library]  # whose code it is

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if hasattr(cls, "library"):  # what adapters of several libraries share has none
            cls.libraries = (cls.library.package,)

    @classmethod
    def refusal(cls) -> ParameterError:
        """The error for a request of the algorithm while its library is not installed."""
        return ParameterError(
            f"The algorithm {cls.key!r} is that of the library {cls.library.package}, which is not installed; "
            f"install version {cls.library.tested} with: {cls.library.how_to_install()}"
        )


def int32_matrix(matrix: sparse.csr_array) -> sparse.csr_matrix:
    """The same matrix as the libraries' compiled loops take it: float32 values, int32 indices, ``csr_matrix``."""
    arrays: tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]] = (
        matrix.data.astype(np.float32),
        matrix.indices.astype(np.int32),
        matrix.indptr.astype(np.int32),
    )
    return sparse.csr_matrix(arrays, shape=matrix.shape)


def by_epochs(progress: Progress, epochs: int) -> Callable[..., None]:
    """What implicit is to call after each epoch: it tells of the next one, or stops the fit."""

    def report(epoch: int, *rest: object) -> None:
        progress((epoch + 1) / epochs, f"Epoch {min(epoch + 2, epochs)} of {epochs}")

    return report


class FoldedLikes(Adapter):
    """A model of likes by alternating least squares, into which profiles are folded as those of `recommenders.ials`.

    Its parameters name `positive_from`, `alpha` and `reg`.
    """

    score_kind = "order"
    rank_parameter = "factors"
    asks_numbers = True
    arrays = ("item_factors", "is_liked")

    item_factors: NDArray[np.float32]  # shape (n_items, factors); as the library learned them
    is_liked: Flags  # shape (n_items,); whether the item has any like

    def _score(self, user_items: sparse.csr_array) -> Floats:
        profiles = positives(user_items, self.scale, self.params.positive_from)
        items = self.item_factors.astype(np.float64)
        folded = solve(profiles, items, gram_of(items, self.params.reg), self.params.alpha)
        return self._silence(folded @ items.T, profiles, self.is_liked)
