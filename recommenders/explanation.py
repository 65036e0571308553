"""Why an item was recommended: what each of the profile's ratings did to its score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # studies need the length of a text alone, and every process would wait for these
    from scipy import sparse

    from recommenders.data import Floats, Integers

How = Literal["sum", "max", "noisy-or"]
LONGEST_TEXT = 160  # characters of an explanation: the space that pages reserve holds about as much


@dataclass(frozen=True, eq=False, slots=True)
class Explanation:
    r"""The score of one item for one profile, taken apart by the ratings it came from.

    With :math:`c_j` the contribution of rated item j and :math:`o` the offset,

    .. math::
        \mathrm{score} = o + \sum_j c_j, \quad o + \max_j c_j \quad\text{or}\quad o + 1 - \prod_j (1 - c_j)

    for "sum", "max" and "noisy-or".

    A contribution holds for this profile only. A rating may also move the contributions of the others: through
    the person's usual rating, through a mean over neighbours, or through factors solved for all at once.

    Examples
    --------
    >>> Explanation(np.array([2, 5]), np.array([0.75, -0.25]), offset=3.0, how="sum").score
    3.5
    >>> Explanation(np.array([2, 5]), np.array([0.5, 0.25]), offset=0.0, how="noisy-or").score
    0.625
    """

    items: Integers  # shape (n_rated,); the profile's items, in its order: rising numbers
    # Shape (n_rated,); what each of them did, in the unit of the score; below 0 where it counts against the item, 0
    # where it adds nothing of its own. Probabilities where they combine by noisy-or.
    contributions: Floats
    offset: float  # what the score would be without any contribution; 0 for algorithms that start from nothing
    how: How  # how the contributions make the score

    @classmethod
    def over(
        cls,
        user_items: sparse.csr_array,
        items: NDArray[Any],
        contributions: Floats,
        *,
        offset: float = 0.0,
        how: How = "sum",
    ) -> Self:
        """Make the explanation from the items that played a part; the profile's others contribute 0.

        `user_items`: sparse array, shape (1, n_all_items); the profile, with sorted indices. `items`: int array, shape
        (n,); some of the profile's items, none twice, in any order.
        """
        own = user_items.indices.astype(np.int64)
        filled = np.zeros(own.size)
        filled[np.searchsorted(own, items)] = contributions
        return cls(own, filled, float(offset), how)

    @property
    def score(self) -> float:
        """The score that the parts make, up to the last bits the model's own."""
        if self.how == "max":
            return self.offset + float(self.contributions.max(initial=0.0))
        if self.how == "noisy-or":
            return self.offset + 1.0 - float(np.prod(1.0 - self.contributions))
        return self.offset + float(self.contributions.sum())
