"""Every exported variable, declared once: the declaration makes the columns and the codebook alike."""

from __future__ import annotations

from studies.data.codebook.cells import cell
from studies.data.codebook.items import item_variables, long_variables, wide_variables
from studies.data.codebook.participants import participant_variables
from studies.data.codebook.variable import INDIRECTLY, NO, YES, Variable, shown

__all__ = [
    "INDIRECTLY",
    "NO",
    "YES",
    "Variable",
    "cell",
    "item_variables",
    "long_variables",
    "participant_variables",
    "shown",
    "wide_variables",
]
